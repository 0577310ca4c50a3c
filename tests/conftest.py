"""For all tests: one thread each, since they run side by side, and property tests that give the same verdict on every machine."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything imports torch

settings.register_profile("jackfield", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("jackfield")
