"""What an earlier run sampled and judged, as data for the next: preferences, good attempts, verdicts."""

from __future__ import annotations

from jackfield import hookimpl
from jackfield.hookspecs import Register


@hookimpl
def jackfield_data(register: Register) -> None:
    register(
        "sampled_pairs",
        "jackfield_rollouts.data:SampledPairs",
        "A better and a worse attempt at each task, out of a run's rollouts.",
    )
    register("sampled_best", "jackfield_rollouts.data:SampledBest", "The attempts that were judged good, out of a run's rollouts.")
    register(
        "sampled_verdicts",
        "jackfield_rollouts.data:SampledVerdicts",
        "Is this answer right? Questions for a judge, out of a run's rollouts.",
    )
