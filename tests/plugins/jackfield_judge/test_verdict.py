from __future__ import annotations

import time

import pytest

from jackfield_judge.verdict import YES_OR_NO, read_verdict, wrong_pattern

OUT_OF_TEN = r"(?i)score:? *(?P<score>-?\d+(?:\.\d+)?)"


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("It is four.\nVerdict: yes", 1.0),
        ("Verdict: no", 0.0),
        ("**Verdict:** Yes.", 1.0),
        ("VERDICT - **NO**", 0.0),
        ("Verdict: yes? Let me see.\nVerdict: no", 0.0),
        ("I end with Verdict: yes or no. Verdict: yes", 1.0),
    ],
)
def test_the_last_verdict_counts(said, value):
    """Whatever letters and marks it is written with; the whole answer is kept as the reason."""
    verdict = read_verdict(said, YES_OR_NO, 10.0)
    assert (verdict.kind, verdict.value, verdict.reason) == ("score", value, said)
    assert verdict.parsed is not None
    assert verdict.parsed.lower() == ("yes" if value else "no")


@pytest.mark.parametrize(
    "said", ["", "yes", "Verdict: not sure", "Verdict: nobody knows", "Verdict: maybe", "The verdict is out. Yes"]
)
def test_what_does_not_parse_is_an_abstention(said):
    """Never a 0; the raw text is in the reason."""
    verdict = read_verdict(said, YES_OR_NO, 10.0)
    assert verdict.kind == "abstain"
    assert said in verdict.reason


@pytest.mark.parametrize(
    ("said", "value"), [("Score: 7", 0.7), ("score 3, no: Score: 10/10", 1.0), ("Score: 0", 0.0), ("Score: 2.5", 0.25)]
)
def test_a_number_is_a_share_of_the_best(said, value):
    """0 to 10 becomes 0 to 1."""
    assert read_verdict(said, OUT_OF_TEN, 10.0).value == pytest.approx(value)


@pytest.mark.parametrize("said", ["Score: 11", "Score: -1"])
def test_a_number_outside_is_an_abstention(said):
    """It is not clipped to what it may have meant."""
    verdict = read_verdict(said, OUT_OF_TEN, 10.0)
    assert verdict.kind == "abstain"
    assert "a number from 0 to 10" in verdict.reason


def test_other_words_and_numbers_of_a_pattern_are_abstentions():
    """A group may match what is neither yes nor no, or no finite number."""
    assert read_verdict("Verdict: perhaps", r"Verdict: (?P<verdict>\w+)", 10.0).kind == "abstain"
    assert read_verdict("Score: nan", r"Score: (?P<score>\w+)", 10.0).kind == "abstain"
    assert read_verdict("Score: inf", r"Score: (?P<score>\w+)", 10.0).kind == "abstain"


def test_long_answers_are_read_quickly():
    """Case S10: 100,000 characters without an end."""
    start = time.process_time()
    for text in ("verdict " * 12_500, "verdict" + "*" * 100_000, "a" * 100_000):
        assert read_verdict(text, YES_OR_NO, 10.0).kind == "abstain"
    assert time.process_time() - start < 5


def test_a_wrong_pattern_is_told():
    """No regular expression, no group, or both groups."""
    assert "no regular expression" in (wrong_pattern("(") or "")
    assert "found none" in (wrong_pattern("yes|no") or "")
    assert "must have one group" in (wrong_pattern("(?P<score>1)(?P<verdict>yes)") or "")
    assert wrong_pattern(OUT_OF_TEN) is None
