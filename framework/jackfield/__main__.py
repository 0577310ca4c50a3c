"""``python -m jackfield`` is the ``jackfield`` command."""

from __future__ import annotations

import sys

from jackfield.cli.main import main

sys.exit(main())
