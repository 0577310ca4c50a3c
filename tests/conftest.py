"""For all tests: one thread each, since they run side by side, and property tests that give the same verdict on every machine."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything imports torch
# A shell's background job ignores it, and so would the programs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("jackfield", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("jackfield")
