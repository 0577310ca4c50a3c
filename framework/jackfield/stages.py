"""The map of the house: every part of a step with its contract in words. Read it after ``types.py``, then ``step.py``.

One step is a straight corridor; each stage takes one type and gives the next::

    data ──Task──▶ rollout ──Rollout──▶ reward ──Scored──▶ measure ──Measured──▶ advantage ──Credited──▶ pack ▶ learn ▶ report

Two kinds of component stand between stages and change no type: filters leave out groups that are ``Scored``, penalties lower the
token rewards of what is ``Measured``.

What stands in the corridor is chosen by the recipe, one protocol below a kind of component. A component is an attrs class (see
``component.py``); it may declare ``needs``, a set (or property) of names out of ``NEEDS``, and only what is needed is computed and held.

What a protocol lists, a component has. Beside that it may have, and the core asks for:

==========================================  ==============================================================================
any component                               ``check_recipe(corridor) -> list[str]``: what it finds wrong with the recipe; ``local_files``,
                                            whose content results depend on beside that of files its keys name
environments, rewards                       ``check_task(task, tokenizer) -> str | None``: why a row cannot be played or judged
environments                                ``requires_tools``, ``turn_budget``
data, rewards                               ``self_contained``
rewards                                     ``judge_all``, ``prepare``, ``close``
tools, rewards                              ``holds`` (as an engine's)
critics                                     ``reads_hidden``
losses                                      ``silent_without_advantage``, ``reads_policy``, ``counts``
filters, advantages, penalties, losses      ``after_step(metrics)``, called with the metrics of every finished step; what is learnt from
                                            step to step is given by ``state() -> dict[str, float]`` and taken back by
                                            ``restore(state)``, for checkpoints
==========================================  ==============================================================================

Axes: B rows, T tokens of a row, N policy tokens of a micro-batch (flat), S turns of the policy and R rollouts of a micro-batch, L tokens
of one rollout, H hidden size, V vocabulary. Log-probabilities are natural logarithms (nats).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from attrs import frozen

from jackfield.types import (
    Credited,
    FloatArray,
    Group,
    IntArray,
    Measured,
    Message,
    Observation,
    Passage,
    Rollout,
    Scored,
    Task,
    Verdict,
)

if TYPE_CHECKING:
    import torch

    from jackfield.loss_batch import LossBatch, LossTerms
    from jackfield.pack import Packed
    from jackfield.report import RunInfo, StepReport
    from jackfield.rollout import Episode

NEEDS = frozenset({"old_logp", "ref_logp", "value", "returns", "score"})
"""What a component may ask for. ``old_logp``: the policy's log-probs before this step's first update. ``ref_logp``: a frozen reference.
``value``: a critic. ``returns``: an advantage estimator that gives the critic's targets. ``score``: a critic, read after the last token of
every turn and of every rollout (only losses may ask for it)."""
CRITIC = frozenset({"value", "score"})
"""What a critic is held for."""


# ---------------------------------------------------------------------------------------------------------------- data


class Data(Protocol):
    """Gives the tasks. Reads and validates everything it will ever give before any model loads.

    A class whose tasks need no file, download or server may say so by a class attribute ``self_contained = True``: then
    ``jackfield run --smoke`` keeps it instead of its own stand-in.
    """

    def tasks(self, split: Literal["train", "test"]) -> Sequence[Task]:
        """All tasks of a split, in a fixed order; the core shuffles.

        Raises DataError listing every bad row with file and line.
        """
        ...


class Corpus(Protocol):
    """Gives the passages a search tool indexes."""

    def passages(self) -> Sequence[Passage]:
        """All passages in a fixed order."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the passages could; names the cached index. Must be cheap."""
        ...


# ------------------------------------------------------------------------------------------------------------- rollout


class Environment(Protocol):
    """Decides what follows a policy turn. One object serves all rollouts at once, so it keeps no state of a rollout on itself."""

    async def play(self, episode: Episode) -> Rollout:
        """Play one rollout: ``episode.start()``, ``await episode.generate(...)``, ``episode.observe(...)``, …, ``return episode.finish(...)``.

        The episode builds the segments, so an environment never touches ids, writers or masks. An exception becomes a
        rollout with ``Finish("failed", …)``; it is counted and takes no part in learning.

        An environment may also have ``check_task(task, tokenizer) -> str | None``: why it cannot play a task, asked for every row
        before anything loads; and ``turn_budget`` and ``turn_limit``, the tokens it lets a turn have and the turns it lets the policy
        have, which recorded attempts are checked against.
        """
        ...


class Tool(Protocol):
    """Something a rollout may call. ``name`` is what the environment looks it up by (``search``)."""

    @property
    def name(self) -> str: ...

    def prepare(self) -> None:
        """Load or build what calls need (an index, a connection). Called once, before the first step."""
        ...

    async def call(self, text: str) -> Observation:
        """Answer one call. Failures that the policy should read (time-out, bad query) are ``Observation(failure=…)``, not exceptions."""
        ...


class Tokenizer(Protocol):
    """Ids to text and back. Nothing a policy sampled is ever encoded again."""

    @property
    def eos_id(self) -> int:
        """Ends an assistant turn."""
        ...

    @property
    def eos_ids(self) -> frozenset[int]:
        """``eos_id`` and whatever else ends a turn when it is sampled (a base model ends texts, not turns, with another token)."""
        ...

    def encode(self, text: str) -> IntArray:
        """[L] ids of ``text`` alone: no BOS, no EOS, and the spelling of a special token is ordinary text (a retrieved passage
        that says ``<|im_end|>`` must not end anything)."""
        ...

    def decode(self, ids: IntArray) -> str:
        """Text of all of ``ids`` at once, special tokens visible, nothing cleaned up."""
        ...

    def chat(self, messages: Sequence[Message]) -> IntArray:
        """[L] ids of a prompt, ending where the assistant's answer starts; exactly one BOS if the model uses one."""
        ...


@frozen(kw_only=True, eq=False)
class Turn:
    """What the policy wrote in one go. ``logp`` [L] under the distribution sampled from, None if recorded."""

    tokens: IntArray
    text: str
    logp: FloatArray | None
    ended_by: Literal["stop", "eos", "length"]
    policy_version: int = 0


class Session(Protocol):
    """One rollout's conversation with an engine; the engine keeps its KV cache between turns."""

    def extend(self, tokens: IntArray) -> None:
        """Tokens somebody else wrote (an observation). Computed with the next ``generate``."""
        ...

    async def generate(self, max_new_tokens: int, stop: Sequence[str]) -> Turn:
        """Sample until one of ``stop`` appears in the text of this turn, EOS, or the budget ends.

        The turn ends with the token that completes a stop string; a stop string that ends inside a token keeps that whole
        token in the ids (they are what was sampled), and ``text`` shows it all. ``text`` leaves out a final EOS.
        """
        ...

    def close(self) -> None:
        """Free the cache."""
        ...


class Engine(Protocol):
    """Makes tokens for many rollouts at once. How it batches is its own affair and must not change what a rollout draws:
    all randomness comes from the session's seed."""

    @property
    def holds(self) -> str:
        """What it keeps in memory, in words, for ``check``: ``"a bfloat16 copy of the policy and the KV cache"``; "" if nothing."""
        ...

    @property
    def samples(self) -> bool:
        """False for one that plays back recorded turns: what it makes says nothing of the policy, so it cannot evaluate one."""
        ...

    def start(self, policy: LanguageModel, tokenizer: Tokenizer) -> None:
        """Called once, before the first session."""
        ...

    def refresh(self, policy_version: int) -> None:
        """The policy's weights changed: take them over and forget every cache. Called between steps, with no session open."""
        ...

    def open(self, prompt: IntArray, *, task: Task, member: int, prefix: str, seed: int, temperature: float) -> Session:
        """Start a rollout. Sessions with the same ``prefix`` have the same prompt (it may be computed once). Temperature 0 is greedy."""
        ...


# -------------------------------------------------------------------------------------------------------------- reward


class Reward(Protocol):
    """Judges a rollout. May be slow or remote: ``judge`` may also be ``async def`` and is called for all rollouts concurrently.

    A source may also have

    - ``judge_all(rollouts) -> Sequence[Verdict]`` (or ``async``), used instead of ``judge``: one verdict a rollout for all of a step,
      for a model that computes in batches;
    - ``prepare(tokenizer)``: load what judging needs; called once, before the first step, with the policy's tokenizer;
    - ``close()`` (or ``async``): let go of it at the end of the run;
    - ``self_contained = False``: it needs a server or a download, so that ``jackfield run --smoke`` does without it;
    - ``check_task(task, tokenizer) -> str | None``: why it could never judge a task (a gold answer that does not parse), asked for
      every row before anything loads.

    All calls of a run happen in one event loop, so a source may keep an async client.
    """

    def judge(self, rollout: Rollout) -> Verdict:
        """Score, abstention or error; an exception becomes an error naming this source. Read ``rollout.completion``, never the prompt."""
        ...


class Filter(Protocol):
    """Leaves scored rollouts out of the rest of the step (truncated ones, groups that say nothing); it changes none."""

    def keep(self, groups: Sequence[Group[Scored]]) -> list[Group[Scored]]:
        """The groups in their order with the members kept in theirs; a group may be left out whole. Every rollout has a reward.

        Where a filter leaves fewer groups than ``tasks_per_step``, the step plays as many more tasks, ``refill_rounds`` times at most.
        """
        ...


class Penalty(Protocol):
    """A cost per token that depends on the models, e.g. the KL to the reference; subtracted from ``token_reward`` before credit is assigned."""

    def penalty(self, rollout: Measured) -> FloatArray:
        """[L], to be subtracted from the reward. Values where the policy did not write are ignored."""
        ...


# ------------------------------------------------------------------------------------------------------------- measure


class LanguageModel(Protocol):
    """A policy (trainable) or reference (frozen). Precision is its own affair: ``logits`` come back in fp32 or better."""

    policy_version: int
    """Counts optimizer updates; the core raises it."""

    @property
    def tokenizer(self) -> Tokenizer: ...

    @property
    def module(self) -> torch.nn.Module: ...

    def hidden(self, packed: Packed) -> torch.Tensor:
        """[T, H] last hidden states of texts joined end to end: every token sees its own text up to itself, and nothing else. A model
        that knows of no pieces computes ``packed.rows()``."""
        ...

    def logits(self, hidden_NH: torch.Tensor) -> torch.Tensor:
        """[N, V] of chosen hidden states, at temperature 1, fp32 or better."""
        ...

    def parameters(self) -> list[torch.nn.Parameter]:
        """What the optimizer moves; master weights, fp32 or better."""
        ...

    def reference(self) -> LanguageModel:
        """This model as it is now, frozen for good: a copy, or with LoRA the same weights with the adapter off."""
        ...

    def save(self, folder: Path) -> None:
        """A folder that ``transformers.AutoModelForCausalLM.from_pretrained`` loads, from which ``restore`` gives the same weights bit for bit."""
        ...

    def restore(self, folder: Path) -> None:
        """Take over, in place, the weights that ``save`` wrote."""
        ...


class ModelSource(Protocol):
    """Where a language model comes from."""

    def tokenizer(self) -> Tokenizer:
        """Without loading weights."""
        ...

    def load(self) -> LanguageModel: ...

    def from_folder(self, folder: Path) -> ModelSource:
        """The same, but with the weights that ``LanguageModel.save`` wrote to ``folder``."""
        ...

    def tiny(self) -> ModelSource:
        """A tiny random model of the same architecture that needs no download, for ``jackfield run --smoke``."""
        ...


class Critic(Protocol):
    """Estimates, before every policy token, the return from there on.

    One that does not look at the policy's hidden states says ``reads_hidden = False``: where nothing else needs them, the policy is
    not run, and ``hidden_NH`` has H = 0.
    """

    def start(self, policy: LanguageModel, seed: int) -> None:
        """Build the value function for this policy. Called once. Random initial weights come from ``seed``."""
        ...

    def values(self, packed: Packed, hidden_NH: torch.Tensor) -> torch.Tensor:
        """[N] values (fp32 or better) of the states ``packed.state_N``; ``hidden_NH`` is the policy's hidden state there."""
        ...

    def parameters(self) -> list[torch.nn.Parameter]:
        """Only the critic's own."""
        ...

    def save(self, folder: Path) -> None: ...

    def restore(self, folder: Path) -> None: ...


# ----------------------------------------------------------------------------------------------------------- advantage


class Advantage(Protocol):
    """Assigns credit to tokens. Sees all groups of the step, which hold only rollouts with a reward."""

    @property
    def smallest_group(self) -> int:
        """Fewer members with a reward than this and the group is left out of the step (and counted); a smaller ``group_size`` is a recipe error."""
        ...

    @property
    def uses_reward(self) -> bool:
        """False for SFT-like estimators: such a recipe may name no reward. True and no reward named is a recipe error."""
        ...

    @property
    def gives_returns(self) -> bool:
        """Whether ``credit`` sets ``returns``, the critic's targets."""
        ...

    def credit(self, groups: Sequence[Group[Measured]]) -> list[Group[Credited]]:
        """``advantage`` [L] finite where the policy wrote (elsewhere anything: it is never read)."""
        ...


# --------------------------------------------------------------------------------------------------------------- learn


class Loss(Protocol):
    """One term of the objective. Never divides, averages or sums over units.

    Every loss also has the recipe key ``weight``, owned by the core. Besides what the protocol asks for, a loss may have

    - ``silent_without_advantage = True``: its term and gradient are 0 wherever the advantage is 0. If every loss of the recipe says
      so, rollouts (with unit "group": groups) without any are not computed; they still count in the divisor.
    - ``reads_policy = False``: it looks at no log-prob or entropy. If every loss says so, none is computed.
    - ``counts(rollout) -> bool``: False leaves a rollout out of this loss's sum and divisor. Not with unit "group".
    """

    @property
    def unit(self) -> Literal["token", "turn", "rollout", "group"]:
        """What ``terms`` has one of. With "group", whole groups meet in a micro-batch."""
        ...

    def terms(self, batch: LossBatch) -> LossTerms: ...


class Optimizer(Protocol):
    """Builds the optimizer and says the learning rate of every update."""

    def build(self, policy: Iterable[torch.nn.Parameter], critic: Iterable[torch.nn.Parameter]) -> torch.optim.Optimizer:
        """Two parameter groups, named by ``group["name"]``: ``policy`` and, if not empty, ``critic``."""
        ...

    def learning_rate(self, group: str, update: int, num_updates: int) -> float:
        """For the named parameter group at update number ``update`` (from 0) of ``num_updates``."""
        ...


# -------------------------------------------------------------------------------------------------------------- report


class Tracker(Protocol):
    """Shows or saves what happened; can never change it."""

    def start(self, run: RunInfo) -> None: ...

    def progress(self, phase: str, done: int, total: int) -> None:
        """Within a step: phase ``generate``, ``score``, ``measure`` or ``learn`` has done this much."""
        ...

    def step(self, report: StepReport) -> None: ...

    def end(self, error: BaseException | None) -> None: ...
