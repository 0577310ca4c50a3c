"""The engine ``torch``: sampling in this process, over the policy's own weights."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_engines(register: Register) -> None:
    register(
        "torch",
        "jackfield_sampler.engine:TorchEngine",
        "Samples in this process, many rollouts at once, from the policy's weights.",
    )
