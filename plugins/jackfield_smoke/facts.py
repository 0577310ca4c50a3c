"""Eight capitals: enough to run every line of a recipe, too little to learn anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from attrs import frozen

from jackfield.component import option
from jackfield.types import Message, Passage, Task

CAPITALS = {
    "France": "Paris", "Japan": "Tokyo", "Kenya": "Nairobi", "Peru": "Lima",
    "Norway": "Oslo", "Egypt": "Cairo", "Cuba": "Havana", "Nepal": "Kathmandu",
}  # fmt: skip


@frozen(kw_only=True)
class SmokeTasks:
    """Capitals of eight countries: six to train on, two to test with. Every task has two recorded attempts, the right one first,
    with their scores, and a test of a program: what rewards may look for in a row."""

    turns: Literal[1, 2] = option(2, help="turns of a recorded attempt: 1 answers at once, 2 searches first")

    self_contained: ClassVar[bool] = True

    def tasks(self, split: Literal["train", "test"]) -> Sequence[Task]:
        """All tasks of a split."""
        countries = list(CAPITALS)[:6] if split == "train" else list(CAPITALS)[6:]
        return [_task(split, number, country, self.turns) for number, country in enumerate(countries)]


@frozen(kw_only=True)
class SmokePassages:
    """One passage a country."""

    fingerprint: ClassVar[str] = "smoke-1"

    def passages(self) -> Sequence[Passage]:
        """Eight passages."""
        return [
            Passage(id=country.lower(), title=country, text=f"{country} is a country. Its capital is {capital}.")
            for country, capital in CAPITALS.items()
        ]


def _task(split: str, number: int, country: str, turns: int) -> Task:
    capital = CAPITALS[country]
    return Task(
        id=f"smoke/{split}-{number}",
        prompt=(Message(role="user", content=f"What is the capital of {country}?"),),
        answers=(capital,),
        recorded=(
            (f"<search> {country} </search>", f"<answer> {capital} </answer>")[-turns:],
            ("<search> capital </search>", "<answer> Atlantis </answer>")[-turns:],
        ),
        labels={"hops": "1"},
        extra={"scores": (1.0, 0.0), "tests": f"assert capital == {capital!r}"},
    )
