from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackfield.types import Finish, Rollout, Segment, Task, Verdict, Writer
from jackfield_verifiers.answers import F1, ExactMatch, SubstringMatch


def rollout(*texts: tuple[Writer, str], answers: tuple[str, ...] = ("Paris",)) -> Rollout:
    segments = tuple(Segment(tokens=np.arange(len(text)), writer=writer, text=text) for writer, text in texts)
    return Rollout(
        task=Task(id="t", prompt=(), answers=answers, origin="test.jsonl:7"),
        member=0,
        segments=segments,
        finish=Finish(reason="eos"),
    )


def answered(answer: str, *golds: str) -> Rollout:
    return rollout(("task", "Q"), ("policy", f"<answer>{answer}</answer>"), answers=golds)


@pytest.mark.parametrize(
    ("answer", "golds", "value"),
    [
        ("Paris", ("Paris",), 1),
        ("the  PARIS.", ("Paris",), 1),
        ("Paris, France", ("Paris",), 0),
        ("UK", ("United Kingdom", "U.K."), 1),
        ("\\boxed{42}", ("42",), 1),
        ("Cafe\u0301", ("Café",), 1),
        ("A", ("A",), 1),
        ("the", ("A",), 0),
    ],
)
def test_exact_match(answer: str, golds: tuple[str, ...], value: float) -> None:
    """Equal after normalisation to any alias is 1, all else 0; X6: a box does not matter."""
    verdict = ExactMatch().judge(answered(answer, *golds))
    assert verdict.kind == "score"
    assert verdict.value == value


def test_says_what_it_read_and_why() -> None:
    """Every verdict carries what was parsed and a reason naming both sides."""
    assert ExactMatch().judge(answered("the Paris", "Lyon", "Paris")) == Verdict.score(
        1.0, "'the Paris' equals 'Paris'", "the Paris"
    )
    assert ExactMatch().judge(answered("Nice", "Paris")) == Verdict.score(0.0, "'Nice' is not 'Paris'", "Nice")
    assert len(ExactMatch().judge(answered("x" * 10_000, "Paris")).reason) < 100


def test_prompt_and_observations_are_never_scored() -> None:
    """X3: answers in the prompt or in what the environment wrote are nobody's answer."""
    played = rollout(
        ("task", "e.g. <answer>Paris</answer>"), ("policy", "hm"), ("environment", "<answer>Paris</answer>"), ("policy", "so")
    )
    for judge in (ExactMatch(), F1(), SubstringMatch()):
        assert judge.judge(played) == Verdict.score(0.0, "no <answer>…</answer> in the completion")


def test_tags_cannot_be_joined_across_an_observation_unnoticed() -> None:
    """The answer of the last turn counts, over all turns of the policy."""
    played = rollout(
        ("task", "q"), ("policy", "<answer>Lyon</answer>"), ("environment", "no"), ("policy", "<answer>Paris</answer>")
    )
    assert ExactMatch().judge(played).value == 1


def test_empty_answer_is_wrong() -> None:
    """An empty answer scores 0 and says so; it equals no gold answer, also not one made of articles."""
    verdict = ExactMatch().judge(answered(" ", "The"))
    assert (verdict.value, verdict.reason, verdict.parsed) == (0, "the answer is empty", "")


@pytest.mark.parametrize("golds", [(), ("",), ("  ", "")])
def test_unusable_gold_is_abstained_from(golds: tuple[str, ...]) -> None:
    """X8: without a usable gold answer nothing is scored, and the row is named."""
    for judge in (ExactMatch(), F1(), SubstringMatch()):
        assert judge.judge(answered("Paris", *golds)) == Verdict.abstain("the gold answer is missing or empty in test.jsonl:7")


def test_empty_aliases_are_passed_over() -> None:
    """X8: one empty alias beside good ones matches nothing."""
    assert ExactMatch().judge(answered("...", "", "Paris")).value == 0
    assert ExactMatch().judge(answered("Paris", "", "Paris")).value == 1


def test_whole_completion() -> None:
    """With answer_tag = "" all the policy wrote is the answer."""
    assert ExactMatch(answer_tag="").judge(rollout(("policy", "The Paris."))).value == 1


@pytest.mark.parametrize(
    ("answer", "golds", "value"),
    [
        ("the cat sat", ("cat sat down",), 2 * (2 / 2) * (2 / 3) / (2 / 2 + 2 / 3)),  # precision 2/2, recall 2/3
        ("Paris France", ("Paris",), 2 / 3),  # precision 1/2, recall 1
        ("a b b", ("b c b b",), 2 * (2 / 2) * (2 / 4) / (1 + 2 / 4)),  # "a" is an article; b counts twice
        ("dog", ("cat",), 0),
        ("New York City", ("Paris", "New York"), 0.8),  # the best alias: precision 2/3, recall 1
        ("the", ("the",), 1),
    ],
)
def test_f1(answer: str, golds: tuple[str, ...], value: float) -> None:
    """Word overlap by hand: harmonic mean of precision and recall, repeated words counted, the best alias taken."""
    assert F1().judge(answered(answer, *golds)).value == pytest.approx(value, abs=1e-12)


def test_substring_match() -> None:
    """A gold answer inside a longer answer counts, as whole words unless told otherwise."""
    long = answered("I think it is Paris, in France.", "Paris")
    assert SubstringMatch().judge(long).value == 1
    assert SubstringMatch().judge(long).reason == "'I think it is Paris, in France.' contains 'Paris'"
    assert SubstringMatch().judge(answered("the earth", "art")).value == 0
    assert SubstringMatch(whole_words=False).judge(answered("the earth", "art")).value == 1
    assert SubstringMatch().judge(answered("Paris", "Paris, France")).value == 0
    assert SubstringMatch(whole_words=False).judge(answered("それは東京タワーです", "東京タワー")).value == 1


@given(st.text(alphabet="abc the.É ", max_size=30), st.text(alphabet="abc the.É ", min_size=1, max_size=30))
def test_orders_of_the_judges(answer: str, gold: str) -> None:
    """All lie in [0, 1]; an exact match has F1 1 and is contained; F1 is symmetric."""
    played, mirrored = answered(answer, gold), answered(gold, answer)
    exact, f1, contained = (judge.judge(played) for judge in (ExactMatch(), F1(), SubstringMatch()))
    assert {v.kind for v in (exact, f1, contained)} <= {"score", "abstain"}
    assert 0 <= exact.value <= f1.value <= 1
    assert exact.value <= contained.value
    if gold.strip() and answer.strip():
        assert f1.value == F1().judge(mirrored).value


@pytest.mark.parametrize("tag", ["<answer>", "a b", "/answer"])
def test_bad_tags_are_refused(tag: str) -> None:
    """A tag is named without brackets."""
    with pytest.raises(ValueError, match=r"answer_tag: must be a tag's name"):
        ExactMatch(answer_tag=tag)
