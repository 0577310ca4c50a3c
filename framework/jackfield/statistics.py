"""Figures of an evaluation with how sure they are: pass@k, intervals, paired tests, agreement. Pure functions on numpy arrays.

A task is the unit of every interval and test: samples of one task are no independent observations, so they are first made one number a
task, and tasks are what is resampled. Intervals say what other tasks of the kind would have given; they say nothing of other seeds of
training.

Axes: T tasks, S resamples, C categories.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from attrs import frozen

from jackfield.types import FloatArray, IntArray

CONFIDENCE = 0.95
RESAMPLES = 5000
_CHUNK = 2**21
"""Numbers drawn at once while resampling."""


@frozen
class Interval:
    """From ``low`` to ``high``, both included.

    Example: ``wilson_interval(8, 10)`` is about ``Interval(0.490, 0.943)``
    """

    low: float
    high: float


def pass_at_k(num_samples: int, num_correct: int, k: int) -> float:
    """The chance that at least one of ``k`` samples is right, without bias from ``num_samples`` ≥ k of them: 1 − C(n−c, k)/C(n, k) as
    the product over single factors (Chen et al. 2021, arXiv 2107.03374, eq. 1).

    Example: ``pass_at_k(4, 1, 2)`` is 0.5
    """
    if not 0 <= num_correct <= num_samples or not 1 <= k <= num_samples:
        raise ValueError(f"expected 0 ≤ correct ≤ samples and 1 ≤ k ≤ samples, found {num_correct}, {num_samples}, k = {k}")
    if num_samples - num_correct < k:
        return 1.0
    return float(1 - np.prod(1 - k / np.arange(num_samples - num_correct + 1, num_samples + 1)))


def wilson_interval(successes: float, trials: int, confidence: float = CONFIDENCE) -> Interval:
    """Of a share (Wilson 1927): the shares that a score test at this level would not reject. Holds its level for few trials and for
    shares near 0 and 1.

    Where each of the ``trials`` gave a number between 0 and 1 instead of 0 or 1 (``successes`` is their sum), it is too wide if anything.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"expected 0 ≤ successes ≤ trials, found {successes} of {trials}")
    z2 = _normal_quantile(confidence) ** 2
    share = successes / trials
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = math.sqrt(z2 * (share * (1 - share) / trials + z2 / (4 * trials**2))) / (1 + z2 / trials)
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == trials else centre + half
    return Interval(low, high)


def bootstrap_interval(
    values_T: npt.ArrayLike, confidence: float = CONFIDENCE, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Of the mean over tasks: percentiles of the means of resampled tasks (Efron & Tibshirani 1993, ch. 13).

    ``values_T`` has one number a task, made of all its samples (their mean, their pass@k), so that a task's samples stay together.
    """
    low, high = np.quantile(_resampled_means(np.asarray(values_T, np.float64), resamples, seed), _tails(confidence))
    return Interval(float(low), float(high))


@frozen(kw_only=True)
class Paired:
    """Two results on the same tasks, ``second − first``."""

    tasks: int
    first: float
    second: float
    difference: float
    interval: Interval
    """Of the difference, by resampling tasks."""
    p: float
    """Two-sided, of no difference."""
    test: str
    """``mcnemar`` (exact) or ``bootstrap``."""
    only_first: int
    """Tasks on which the first is above the second."""
    only_second: int


def paired(first_T: npt.ArrayLike, second_T: npt.ArrayLike, resamples: int = RESAMPLES, seed: int = 0) -> Paired:
    """Compare two results task by task: McNemar's exact test where every value is 0 or 1, else a paired bootstrap."""
    first, second = np.asarray(first_T, np.float64), np.asarray(second_T, np.float64)
    if first.shape != second.shape or first.ndim != 1 or not len(first):
        raise ValueError(f"expected one number a task from both, found shapes {first.shape} and {second.shape}")
    difference_T = second - first
    means_S = _resampled_means(difference_T, resamples, seed)
    low, high = np.quantile(means_S, _tails(CONFIDENCE))
    only_first, only_second = int((difference_T < 0).sum()), int((difference_T > 0).sum())
    binary = is_binary(first) and is_binary(second)
    return Paired(
        tasks=len(first),
        first=float(first.mean()),
        second=float(second.mean()),
        difference=float(difference_T.mean()),
        interval=Interval(float(low), float(high)),
        p=mcnemar(only_first, only_second) if binary else _bootstrap_p(means_S),
        test="mcnemar" if binary else "bootstrap",
        only_first=only_first,
        only_second=only_second,
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p of no difference between two paired shares, from the numbers of tasks that only one got right: the chance of a
    split at least so uneven when each of them is a fair coin (McNemar 1947, in its binomial form).

    Example: ``mcnemar(1, 5)`` is 2 · (1 + 6)/64 = 0.21875
    """
    discordant, fewer = only_first + only_second, min(only_first, only_second)
    ways = tail = 1
    for count in range(fewer):
        ways = ways * (discordant - count) // (count + 1)
        tail += ways
    p: float = 2 * tail / 2**discordant
    return min(1.0, p)


def is_binary(values: npt.ArrayLike) -> bool:
    """Every value is 0 or 1."""
    return bool(np.isin(np.asarray(values, np.float64), (0.0, 1.0)).all())


@frozen(kw_only=True, eq=False)
class Agreement:
    """How two judges sorted the same things. ``counts`` [C, C]: row by what the first said, column by what the second said."""

    categories: tuple[str, ...]
    counts: IntArray

    @property
    def observed(self) -> float:
        """The share on which they agree."""
        return float(np.trace(self.counts) / self.counts.sum())

    @property
    def kappa(self) -> float | None:
        """Cohen's κ (1960): agreement beyond what their own habits would give by chance, 1 if they always agree. None where both only
        ever said the same one thing, which says nothing of agreement."""
        total = self.counts.sum()
        expected = float(self.counts.sum(axis=1) @ self.counts.sum(axis=0)) / float(total) ** 2
        return None if expected == 1.0 else (self.observed - expected) / (1 - expected)


def agreement(first: Sequence[str], second: Sequence[str], categories: Sequence[str]) -> Agreement:
    """The table of what two judges said, in the same order, each one of ``categories``."""
    place = {category: index for index, category in enumerate(categories)}
    counts = np.zeros((len(categories), len(categories)), np.int64)
    for one, other in zip(first, second, strict=True):
        counts[place[one], place[other]] += 1
    if not counts.sum():
        raise ValueError("agreement of nothing")
    return Agreement(categories=tuple(categories), counts=counts)


def _resampled_means(values_T: FloatArray, resamples: int, seed: int) -> FloatArray:
    """[S] means of as many tasks as there are, drawn with replacement."""
    return np.concatenate([chunk.mean(axis=1) for chunk in _resampled(values_T, resamples, seed)])


def _resampled(values_T: FloatArray, resamples: int, seed: int) -> Iterator[FloatArray]:
    """[≤ S, T] at a time, in pieces that fit the cache."""
    if values_T.ndim != 1 or not len(values_T):
        raise ValueError(f"expected one number a task, found shape {values_T.shape}")
    rng = np.random.default_rng(seed)
    at_once = max(_CHUNK // len(values_T), 1)
    for start in range(0, resamples, at_once):
        drawn = rng.integers(len(values_T), size=(min(at_once, resamples - start), len(values_T)))
        yield values_T[drawn]


def _bootstrap_p(means_S: FloatArray) -> float:
    """Twice the share of resampled differences on the rarer side of 0, with one more on that side so that it is never 0."""
    beyond = min(int((means_S <= 0).sum()), int((means_S >= 0).sum()))
    return min(1.0, 2 * (beyond + 1) / (len(means_S) + 1))


def _tails(confidence: float) -> tuple[float, float]:
    return (1 - confidence) / 2, (1 + confidence) / 2


def _normal_quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)
