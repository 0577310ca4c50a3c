"""The data that flows down the corridor, one frozen type a stage.

``Task`` → ``Rollout`` → ``Scored`` → ``Measured`` → ``Credited``, always in ``Group``s of one task. Plain records and numpy
arrays only: no torch, so that a rollout can cross a process border or be written to disk as it is.

Axes: L tokens of one rollout (all its segments joined), G members of a group.
Arrays of ``[L]`` hold NaN where the policy did not write: a leak of such a position into a number shows at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from attrs import field, fields, frozen

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.floating[Any]]
BoolArray = npt.NDArray[np.bool_]

Writer = Literal["task", "policy", "environment"]
FinishReason = Literal["answer", "eos", "length", "turns", "tool_loop", "failed"]


@frozen(kw_only=True)
class Message:
    """One chat message of a prompt.

    Example: ``Message(role="user", content="What is 2 + 2?")``
    """

    role: str
    content: str


@frozen(kw_only=True)
class Task:
    """Something to attempt: a prompt, what a verifier needs to judge it, and recorded attempts if there are any.

    Example::

        Task(id="sums/train-7", prompt=(Message(role="user", content="2 + 2 = ?"),), answers=("4", "four"))
    """

    id: str
    """Unique over all data of a run, e.g. ``"vitalwiki/train-00012"``; seeds are derived from it, so it must not depend on order."""
    prompt: tuple[Message, ...]
    answers: tuple[str, ...] = ()
    """The gold answer and its aliases. Only reward sources look at it."""
    recorded: tuple[tuple[str, ...], ...] = ()
    """Recorded attempts; each is the text of its policy turns, in order (the environment answers between them as it would answer a model)."""
    labels: Mapping[str, str] = field(factory=dict)
    """What evaluation reports apart, e.g. ``{"hops": "2"}``."""
    extra: Mapping[str, Any] = field(factory=dict)
    """Whatever else a verifier of this data needs (supporting ids, tests, schema)."""
    origin: str = ""
    """Where the row stands, ``"train.jsonl:12"``, for messages."""

    @property
    def question(self) -> str:
        """The text of the last user message."""
        return next((m.content for m in reversed(self.prompt) if m.role == "user"), "")


@frozen(kw_only=True)
class Call:
    """A tool call that a turn of the policy made.

    Example: ``Call(tool="calculator", text="1 / 0", failure="divides by zero")``
    """

    tool: str
    text: str
    failure: str | None = None
    """What went wrong, as the policy read it."""


@frozen(kw_only=True, eq=False)
class Segment:
    """A run of tokens with one writer. ``logp`` [L] is set only where the policy sampled: nats, under the distribution sampled from.

    Example: ``Segment(tokens=np.array([31, 7]), writer="policy", text="4.", logp=np.array([-0.2, -0.01]))``
    """

    tokens: IntArray
    writer: Writer
    text: str = ""
    """For people and verifiers; never encoded again."""
    logp: FloatArray | None = None
    policy_version: int = 0
    calls: tuple[Call, ...] = ()
    """Of a turn of the policy: the tools it called, in order."""


@frozen(kw_only=True)
class Finish:
    """Why a rollout ended, as data.

    Example: ``Finish(reason="tool_loop", detail="search was called 3 times with 'paris'")``
    """

    reason: FinishReason
    detail: str = ""

    @property
    def truncated(self) -> bool:
        """The rollout was cut off from outside (token or turn budget), so that its value did not end with it."""
        return self.reason in ("length", "turns")


@frozen(kw_only=True)
class Verdict:
    """What a reward source says of one rollout: a score, "not applicable" or "could not judge". Never a bare float.

    Example: ``Verdict.score(1.0, parsed="Paris", reason="equals 'paris'")``
    """

    kind: Literal["score", "abstain", "error"]
    value: float = 0.0
    """Only meaningful for a score."""
    reason: str = ""
    parsed: str | None = None
    """What was read out of the completion."""
    extras: Mapping[str, float] = field(factory=dict)
    """Further numbers, logged as metrics of this source."""
    turns: tuple[float, ...] | None = None
    """How ``value`` is made up of the policy's turns, in their order (a tool call that failed costs the turn that made it); unset: all
    of it was earned at the end. What the turns do not add up to is the last one's."""

    def __attrs_post_init__(self) -> None:
        for value in (self.value, *(self.turns or ())):
            if not np.isfinite(value):
                raise ValueError(f"the score is {value}")

    @classmethod
    def score(
        cls, value: float, reason: str = "", parsed: str | None = None, turns: tuple[float, ...] | None = None, **extras: float
    ) -> Verdict:
        """A judgement. Raises ValueError for a value that is not finite (a source that raises gives an error, never a score)."""
        return cls(kind="score", value=float(value), reason=reason, parsed=parsed, turns=turns, extras=extras)

    @classmethod
    def abstain(cls, reason: str) -> Verdict:
        """This source does not apply to this rollout; the others count as usual."""
        return cls(kind="abstain", reason=reason)

    @classmethod
    def error(cls, reason: str) -> Verdict:
        """The source failed (crash, time-out): the rollout leaves group statistics and loss, and is counted. Never a score of 0."""
        return cls(kind="error", reason=reason)


@frozen(kw_only=True, eq=False)
class Rollout:
    """One attempt at a task: prompt (task), action (policy), observation (environment), action …

    Example, P prompt, A action, E environment::

        tokens       P P P | A A A A | E E E | A A
        policy_mask  . . . | x x x x | . . . | x x
        turn_ends                  ^             ^
    """

    task: Task
    member: int
    segments: tuple[Segment, ...]
    finish: Finish
    counters: Mapping[str, float] = field(factory=dict)
    """What the environment counted: ``turns``, ``search_calls``, ``search_failures`` (by tool), ``invalid_actions`` …"""

    @cached_property
    def tokens(self) -> IntArray:
        """[L] all tokens, ids as they were sampled or written."""
        return _join([s.tokens for s in self.segments], np.int64)

    @cached_property
    def policy_mask(self) -> BoolArray:
        """[L] True exactly where the policy wrote. The first token of a rollout has no context and is never True."""
        mask = _join([np.full(len(s.tokens), s.writer == "policy") for s in self.segments], np.bool_)
        mask[:1] = False
        return mask

    @cached_property
    def sampled_logp(self) -> FloatArray:
        """[L] log-probabilities of the sampler, NaN where nothing was sampled."""
        return _join(
            [s.logp if s.logp is not None else np.full(len(s.tokens), np.nan, np.float32) for s in self.segments], np.float32
        )

    @cached_property
    def turn_ends(self) -> IntArray:
        """Index of the last token of every policy segment that has tokens."""
        ends = np.cumsum([len(s.tokens) for s in self.segments], dtype=np.int64) - 1
        return np.array([e for e, s in zip(ends, self.segments, strict=True) if s.writer == "policy" and len(s.tokens)], np.int64)

    @property
    def completion(self) -> str:
        """Everything the policy wrote, turns joined, never the prompt nor an observation: what verifiers read."""
        return "".join(s.text for s in self.segments if s.writer == "policy")

    @property
    def num_policy_tokens(self) -> int:
        return int(self.policy_mask.sum())


@frozen(kw_only=True, eq=False)
class Scored(Rollout):
    """A rollout with its verdicts, by source name, and the weighted sum of their scores.

    ``reward`` is None when a source failed or when none applied: such a rollout takes no part in statistics or loss.
    """

    verdicts: Mapping[str, Verdict]
    reward: float | None
    turn_rewards: tuple[float, ...] | None = None
    """The part of ``reward`` that sources gave to single turns: one number a turn of the policy; None if none did."""


@frozen(kw_only=True, eq=False)
class Measured(Scored):
    """A scored rollout with what chosen components need of the models, each [L], None when nobody asked.

    ``token_reward`` [L] is the reward as placed on tokens: the outcome on the last policy token, penalties (KL) on theirs.
    ``bootstrap_value`` is the critic's value after the last token.
    """

    token_reward: FloatArray
    old_logp: FloatArray | None = None
    ref_logp: FloatArray | None = None
    value: FloatArray | None = None
    bootstrap_value: float | None = None


@frozen(kw_only=True, eq=False)
class Credited(Measured):
    """A measured rollout with the advantage of every policy token, [L], and the critic's target ``returns`` [L] if there is a critic."""

    advantage: FloatArray
    returns: FloatArray | None = None


R = TypeVar("R", bound=Rollout, covariant=True)


@frozen(kw_only=True, eq=False)
class Group(Generic[R]):
    """All attempts at one task instance. ``id`` is unique in the run (never a row number of a data set).

    Example: ``Group(id="12/3", task=task, members=(rollout_0, rollout_1))``
    """

    id: str
    task: Task
    members: tuple[R, ...]

    def __iter__(self) -> Iterator[R]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)


@frozen(kw_only=True)
class Passage:
    """One document of a corpus.

    Example: ``Passage(id="wiki-00001", title="Paris", text="Capital of France. Paris is …")``
    """

    id: str
    title: str
    text: str


@frozen(kw_only=True)
class Observation:
    """What a tool gives back: readable parts (documents, lines) that may be dropped whole but never cut, or a failure to be read by the policy.

    Example: ``Observation(parts=("Doc 1 (Title: Paris) Capital of France.",))``
    """

    parts: tuple[str, ...] = ()
    failure: str | None = None
    counters: Mapping[str, float] = field(factory=dict)


S = TypeVar("S", bound=Rollout)


def promote(kind: type[S], rollout: Rollout, **new: Any) -> S:
    """``rollout`` as the next stage's type, with the fields that stage adds."""
    old = {f.name: getattr(rollout, f.name) for f in fields(type(rollout)) if f.name not in new}
    return kind(**old, **new)


def _join(arrays: list[npt.NDArray[Any]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype)


__all__ = [
    "BoolArray", "Call", "Credited", "Finish", "FinishReason", "FloatArray", "Group", "IntArray", "Measured", "Message", "Observation",
    "Passage", "Rollout", "Scored", "Segment", "Task", "Verdict", "Writer", "promote",
]  # fmt: skip
