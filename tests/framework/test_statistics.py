"""Figures of an evaluation against hand computation, enumeration and SciPy."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb, sqrt

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from jackfield.statistics import (
    Interval,
    agreement,
    bootstrap_interval,
    is_binary,
    mcnemar,
    paired,
    pass_at_k,
    wilson_interval,
)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_draws_with_a_right_one(case: tuple[int, int, int]) -> None:
    """Over every k of the n samples, enumerated."""
    n, c, k = case
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(float(Fraction(sum(map(any, draws)), len(draws))), abs=1e-12)


def test_pass_at_k_by_hand_and_at_size() -> None:
    """1 of 4 right, two draws: 1 − (3/4)(2/3) = 1/2. Numbers whose binomials no float holds agree with exact fractions."""
    assert pass_at_k(4, 1, 2) == pytest.approx(0.5)
    assert (pass_at_k(5, 0, 5), pass_at_k(5, 1, 5), pass_at_k(8, 8, 1)) == (0.0, 1.0, 1.0)
    exact = 1 - Fraction(comb(9_990, 1_000), comb(10_000, 1_000))
    assert pass_at_k(10_000, 10, 1_000) == pytest.approx(float(exact), rel=1e-12)


def test_pass_at_k_is_unbiased() -> None:
    """Averaged over all outcomes of 5 samples with chance 0.3 each, pass@2 is 1 − 0.7²; the plug-in 1 − (1 − c/n)^k is not."""
    outcomes = list(product([0, 1], repeat=5))
    chances = [0.3 ** sum(o) * 0.7 ** (5 - sum(o)) for o in outcomes]
    estimate = sum(p * pass_at_k(5, sum(o), 2) for p, o in zip(chances, outcomes, strict=True))
    plug_in = sum(p * (1 - (1 - sum(o) / 5) ** 2) for p, o in zip(chances, outcomes, strict=True))
    assert estimate == pytest.approx(1 - 0.7**2, abs=1e-12)
    assert abs(plug_in - (1 - 0.7**2)) > 0.01


@pytest.mark.parametrize(("n", "c", "k"), [(4, 5, 1), (4, 1, 5), (4, 1, 0), (4, -1, 1)])
def test_pass_at_k_refuses_what_has_no_estimate(n: int, c: int, k: int) -> None:
    """More draws than samples, or more right ones."""
    with pytest.raises(ValueError, match="expected"):
        pass_at_k(n, c, k)


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (0, 20), (1, 7), (8, 10), (500, 1500), (10, 10)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_wilson_is_scipys(successes: int, trials: int, confidence: float) -> None:
    """And by hand for 8 of 10 at 95 %: (0.8 + 1.9207/10 ± 1.96·√(0.016 + 0.9604/100)) / (1 + 3.8415/10)."""
    found = wilson_interval(successes, trials, confidence)
    expected = scipy.stats.binomtest(successes, trials).proportion_ci(confidence, "wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert wilson_interval(8, 10).low == pytest.approx((0.8 + 0.19207 - 1.95996 * sqrt(0.016 + 0.0096037)) / 1.38415, abs=1e-4)


def test_wilson_refuses_nothing() -> None:
    """No trials, no share."""
    with pytest.raises(ValueError, match="trials"):
        wilson_interval(0, 0)


def test_bootstrap_is_scipys_and_repeats() -> None:
    """Percentile interval of a mean: near SciPy's (another generator), near ±1.96 standard errors, the same for the same seed."""
    values = np.random.default_rng(5).gamma(2.0, size=300)
    found = bootstrap_interval(values)
    ends = scipy.stats.bootstrap((values,), np.mean, method="percentile", n_resamples=5000, rng=1).confidence_interval
    error = values.std() / sqrt(len(values))
    assert found.low == pytest.approx(ends.low, abs=0.1 * error)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.2 * error)
    assert found == bootstrap_interval(values) != bootstrap_interval(values, seed=1)


def test_bootstrap_by_enumeration() -> None:
    """Of 0 and 1, resampled means are 0, 1/2, 1 with chances 1/4, 1/2, 1/4: at 40 % both ends are 1/2, at 80 % 0 and 1."""
    assert bootstrap_interval([0.0, 1.0], confidence=0.4) == Interval(0.5, 0.5)
    assert bootstrap_interval([0.0, 1.0], confidence=0.8) == Interval(0.0, 1.0)


def test_bootstrap_in_pieces_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever number is drawn at once, there are as many resamples; intervals of 95 % hold the true mean in about 95 % of data sets."""
    rng = np.random.default_rng(0)
    held = 0
    for repeat in range(200):
        ends = bootstrap_interval(rng.normal(size=60), resamples=400, seed=repeat)
        held += ends.low <= 0 <= ends.high
    assert 0.90 <= held / 200 <= 0.99
    monkeypatch.setattr("jackfield.statistics._CHUNK", 30)
    assert bootstrap_interval([0.0, 1.0] * 5, resamples=100) == bootstrap_interval([0.0, 1.0] * 5, resamples=100)


def test_a_tasks_samples_stay_together() -> None:
    """Ten samples that always agree are one observation: the interval over task means is √10 times as wide as that over samples."""
    tasks = np.random.default_rng(1).integers(2, size=400).astype(float)
    clustered = bootstrap_interval(np.repeat(tasks[:, None], 10, axis=1).mean(axis=1))
    flat = bootstrap_interval(np.repeat(tasks, 10))
    assert (clustered.high - clustered.low) / (flat.high - flat.low) == pytest.approx(sqrt(10), rel=0.1)


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_is_the_binomial_test(only_first: int, only_second: int) -> None:
    """SciPy's exact two-sided one with a fair coin."""
    total = only_first + only_second
    expected = scipy.stats.binomtest(only_first, total).pvalue if total else 1.0
    assert mcnemar(only_first, only_second) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_by_hand_and_at_size() -> None:
    """1 against 5 is 2(1 + 6)/64; thousands of tasks neither overflow nor lose precision."""
    assert mcnemar(1, 5) == mcnemar(5, 1) == 14 / 64
    assert mcnemar(0, 0) == mcnemar(3, 3) == 1.0
    assert mcnemar(1400, 1600) == pytest.approx(scipy.stats.binomtest(1400, 3000).pvalue, rel=1e-9)
    assert 0 <= mcnemar(0, 5000) < 1e-300


def test_a_pair_of_shares() -> None:
    """Ten tasks, of which 1 is right only before and 4 only after: difference 3/10, McNemar's 2(1 + 5)/32."""
    before, after = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1, 1, 1, 0, 0]
    found = paired(before, after)
    assert (found.tasks, found.only_first, found.only_second, found.test) == (10, 1, 4, "mcnemar")
    assert (found.first, found.second, found.difference) == pytest.approx((0.4, 0.7, 0.3))
    assert found.p == 12 / 32
    assert found.interval.low < 0.3 < found.interval.high


def test_a_pair_of_graded_scores() -> None:
    """A bootstrap of the differences: pairing sees what two separate intervals would not. Its p falls where the interval leaves 0."""
    rng = np.random.default_rng(3)
    hard = rng.normal(size=200)
    found = paired(hard, hard + 0.1 + rng.normal(scale=0.3, size=200))
    assert found.test == "bootstrap"
    assert found.interval.low > 0
    assert found.p < 0.01
    weak = hard + 0.03 + rng.normal(scale=0.3, size=200)
    assert paired(hard, weak).p == pytest.approx(scipy.stats.ttest_rel(weak, hard).pvalue, abs=0.02)
    assert paired(hard, hard[::-1]).p > 0.9
    same = paired(hard, hard)
    assert (same.p, same.interval) == (1.0, Interval(0.0, 0.0))


def test_a_pair_needs_the_same_tasks() -> None:
    """One number a task from both."""
    with pytest.raises(ValueError, match="one number a task"):
        paired([1.0, 0.0], [1.0])


def test_kappa_by_hand() -> None:
    """Cohen's example form: 20 both yes, 15 both no, 5 and 10 apart. Observed 0.7, by chance 0.5·0.6 + 0.5·0.4 = 0.5, so κ = 0.4."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = agreement(first, second, ["yes", "no"])
    assert found.counts.tolist() == [[20, 5], [10, 15]]
    assert found.observed == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)


def test_kappa_is_a_correlation_for_equal_habits() -> None:
    """Where both say yes equally often, κ of two categories is the φ coefficient, here from NumPy's correlation."""
    one = [1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0]
    two = [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0]
    assert sum(one) == sum(two)
    found = agreement(list(map(str, one)), list(map(str, two)), ["1", "0"])
    assert found.kappa == pytest.approx(np.corrcoef(one, two)[0, 1])


def test_kappa_ends() -> None:
    """1 where they always agree, −1 where never and half and half, none where there was nothing to agree on."""
    assert agreement(["a", "b"], ["a", "b"], ["a", "b"]).kappa == 1.0
    assert agreement(["a", "b"], ["b", "a"], ["a", "b"]).kappa == -1.0
    assert agreement(["a", "a"], ["a", "a"], ["a", "b"]).kappa is None


def test_binary_means_nothing_but_0_and_1() -> None:
    """A half is graded; nothing at all is binary."""
    assert is_binary([0, 1.0, 1])
    assert is_binary([])
    assert not is_binary([0, 0.5])
