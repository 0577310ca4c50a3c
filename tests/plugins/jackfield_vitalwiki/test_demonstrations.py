from __future__ import annotations

from jackfield_vitalwiki.demonstrations import demonstrate
from jackfield_vitalwiki.questions import Question

TITLES = {"a": "Lakeburg (city)", "b": "Freedonia (Economy)"}


def question(text: str, *supporting: str, relation: str = "place.country.currency") -> Question:
    return Question(relation=relation, text=text, answers=("the dollar", "dollar"), supporting=supporting, entities=("x",))


def test_half_of_the_first_queries_are_titles() -> None:
    """Question without its mark or title without brackets, always the same for the same question; then the second title."""
    turns = [demonstrate(question(f"Question {n} about Lakeburg?", "a", "b"), TITLES) for n in range(200)]
    assert all(t[1:] == ("<search> Freedonia Economy </search>", "<answer> the dollar </answer>") for t in turns)
    by_title = sum(t[0] == "<search> Lakeburg city </search>" for t in turns)
    assert 70 < by_title < 130
    assert all(
        t[0] in ("<search> Lakeburg city </search>", f"<search> Question {n} about Lakeburg </search>") for n, t in enumerate(turns)
    )


def test_a_title_that_the_question_does_not_name_is_never_the_query() -> None:
    """It would teach the policy to guess what it should find out."""
    for n in range(30):
        turns = demonstrate(question(f"Which country number {n} has .fd?", "b"), TITLES)
        assert turns[0] == f"<search> Which country number {n} has .fd </search>"


def test_comparisons_look_both_things_up() -> None:
    """One title after the other, in the order of the question."""
    turns = demonstrate(question("Which is larger, Lakeburg or Freedonia?", "a", "b", relation="compare.area"), TITLES)
    assert turns[:2] == ("<search> Lakeburg city </search>", "<search> Freedonia Economy </search>")
