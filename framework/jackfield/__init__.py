"""Jackfield: a plugin framework for reinforcement learning of language models. Start with ``stages.py``, then ``step.py``."""

from __future__ import annotations

from pluggy import HookimplMarker

hookimpl = HookimplMarker("jackfield")
"""Marks a function of a plugin as the implementation of a hook of ``jackfield.hookspecs``."""

__version__ = "0.1.0"
