"""What rewards that are neural models have in common: loading one, reading rollouts, computing them in batches."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from attrs import define, field

from jackfield.component import at_least, option
from jackfield.stages import Tokenizer
from jackfield.types import IntArray, Rollout, Verdict

if TYPE_CHECKING:
    from jackfield_transformers.reading import Reader
    from jackfield_transformers.reward_checkpoint import RewardCheckpoint
    from jackfield_transformers.scorer import Scorer

_log = logging.getLogger(__name__)


@define(kw_only=True, eq=False)
class NeuralReward:
    """A reward source that reads a rollout's ids, scores them after some tokens and makes a verdict of the scores.

    An input longer than the model was made for is an error, never cut.
    """

    self_contained: ClassVar[bool] = False
    holds: ClassVar[str] = "a model of its own, frozen"

    path: str = option(help="checkpoint of a run that trained it, or folder or hub id of a sequence classifier")
    tokens_per_batch: int = option(4096, help="padded tokens computed at once; bounds memory, changes no result", check=at_least(1))
    compute: Literal["auto", "bfloat16", "float32"] = option(
        "auto", help="precision of matrix products; auto: bfloat16 where the hardware multiplies it, else float32"
    )
    device: Literal["auto", "cpu", "cuda"] = option("auto", help="auto: cuda if torch finds one, else cpu")

    _reader: Reader | None = field(init=False, default=None, repr=False)
    _scorer: Scorer | None = field(init=False, default=None, repr=False)
    _max_tokens: int = field(init=False, default=0, repr=False)

    def prepare(self, tokenizer: Tokenizer) -> None:
        """Load it, and find out how it can read what a policy with this tokenizer writes. Raises RecipeError if it cannot be loaded."""
        import torch

        from jackfield_transformers.preparation import chosen_compute, chosen_device
        from jackfield_transformers.reading import Reader
        from jackfield_transformers.scorer import scorer

        device = torch.device(chosen_device(self.device))
        model = self._load()
        self._reader = Reader(own=model.tokenizer, policy=tokenizer, trained_here=model.trained_here)
        self._max_tokens = model.max_tokens
        self._scorer = scorer(model, device=device, compute=chosen_compute(self.compute, device))
        _log.info(
            "reward model %s reads %s", self.path, "the policy's ids" if self._reader.by_ids else "text, by its own tokenizer"
        )

    async def judge(self, rollout: Rollout) -> Verdict:
        """One rollout alone."""
        [verdict] = await self.judge_all([rollout])
        return verdict

    async def judge_all(self, rollouts: Sequence[Rollout]) -> list[Verdict]:
        """All rollouts, the longest first, in batches of like length; other sources go on between batches."""
        if self._reader is None or self._scorer is None:
            raise RuntimeError("the reward model has not been prepared")
        read = [self._read(self._reader, rollout) for rollout in rollouts]
        found = {i: self._unreadable(ids) for i, (ids, _) in enumerate(read)}
        fitting = [i for i, verdict in found.items() if verdict is None]
        for indices in _batches({i: len(read[i][0]) for i in fitting}, self.tokens_per_batch):
            for i, scores in zip(indices, self._scorer.scores([read[i] for i in indices]), strict=True):
                found[i] = self._checked(scores, len(read[i][0]))
            await asyncio.sleep(0)
        return [verdict for _, verdict in sorted(found.items()) if verdict is not None]

    def _load(self) -> RewardCheckpoint:
        raise NotImplementedError

    def _read(self, reader: Reader, rollout: Rollout) -> tuple[IntArray, IntArray]:
        """[L] the ids, and after which of them there is a score."""
        raise NotImplementedError

    def _verdict(self, scores: list[float], length: int) -> Verdict:
        raise NotImplementedError

    def _unreadable(self, ids: IntArray) -> Verdict | None:
        if 0 < len(ids) <= self._max_tokens:
            return None
        return Verdict.error(f"the conversation has {len(ids)} tokens; the reward model reads 1 to {self._max_tokens}")

    def _checked(self, scores: list[float], length: int) -> Verdict:
        wrong = next((score for score in scores if not math.isfinite(score)), None)
        if wrong is not None:
            return Verdict.error(f"the reward model scored {wrong} ({length} tokens)")
        return self._verdict(scores, length)


def _batches(lengths: Mapping[int, int], tokens: int) -> list[list[int]]:
    """The keys in batches, the longest first, so that like meets like: keys × longest ≤ ``tokens``, or one key alone."""
    batches: list[list[int]] = []
    for key in sorted(lengths, key=lambda i: (-lengths[i], i)):
        if not batches or (len(batches[-1]) + 1) * lengths[batches[-1][0]] > tokens:
            batches.append([])
        batches[-1].append(key)
    return batches
