"""What a loss promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from jackfield.loss_batch import LossBatch, LossTerms
from jackfield.stages import NEEDS, Loss
from jackfield.testing.contracts.declared import declared_needs, resumed
from jackfield.testing.material import chosen, credited_rollouts, loss_batch, places, turns

if TYPE_CHECKING:
    import torch

LEARNT = ("logp_N", "entropy_N", "value_N", "score_R", "turn_score_S")
"""What has a gradient."""


def check_loss(loss: Loss) -> None:
    """Gives one finite term a unit, undivided: of twice the batch twice the terms, of its parts the same ones, in any order, each with
    the same gradient. So the split into micro-batches changes nothing.

    What it says of itself is so: what it does not need it does not read, ``silent_without_advantage`` is silent, ``reads_policy =
    False`` reads no log-prob, ``counts`` reads only what the policy wrote.
    """
    needs = declared_needs(loss, NEEDS)
    batch = loss_batch(needs)
    unit = loss.unit
    assert unit in ("token", "turn", "rollout", "group"), f"unit is {unit!r}"
    term = _checked(loss, batch).term
    _check_same(term, batch, loss.terms(batch).term, batch, "earlier calls changed")
    every = range(batch.num_rollouts)
    _check_parts(loss, batch, term, [[*every] * 2], "twice the batch must have twice the terms, never divide: it changed")
    pieces = [[0, 1], [2, 3]] if unit == "group" else [[rollout] for rollout in every]
    _check_parts(loss, batch, term, pieces, "micro-batches of one: what a unit shares a batch with changed")
    _check_parts(loss, batch, term, [[*every][::-1]], "the order of rollouts changed")
    _check_declared(loss, batch, term, needs)
    for rollouts in ([0], [0, 1, 2]):  # a member that was left alone, as a filter or a failure leaves it
        _checked(loss, chosen(batch, rollouts))
    learnt, restored = resumed(loss)
    _check_same(learnt.terms(batch).term, batch, restored.terms(batch).term, batch, "what state() does not hold changed")


def _checked(loss: Loss, batch: LossBatch) -> LossTerms:
    """The terms, of a sound shape, and finite with their gradient."""
    import torch

    terms = loss.terms(batch)
    units = {
        "token": len(batch.rollout_N),
        "turn": len(batch.turn_end_S),
        "rollout": batch.num_rollouts,
        "group": batch.num_groups,
    }[loss.unit]
    assert terms.term.shape == (units,), (
        f"unit is {loss.unit!r}, so term must have the shape ({units},), found {tuple(terms.term.shape)}"
    )
    assert torch.isfinite(terms.term).all(), "a term is not finite"
    for name, values in terms.metrics.items():
        assert not values.requires_grad, f"metric '{name}' is not detached"
        assert values.dim() == 1, f"metric '{name}' must hold one value a unit, found the shape {tuple(values.shape)}"
        assert torch.isfinite(values).all(), f"metric '{name}' is not finite"
    for name, gradient in _gradients(terms.term, batch).items():
        assert torch.isfinite(gradient).all(), f"the gradient of {name} is not finite"
    return terms


def _check_parts(loss: Loss, batch: LossBatch, term: torch.Tensor, parts: Sequence[Sequence[int]], what: str) -> None:
    """The batch in other pieces has the same terms, at other places, with the same gradients."""
    import torch

    rollouts = [rollout for part in parts for rollout in part]
    if loss.unit in ("token", "turn"):
        wanted = term[torch.cat((places if loss.unit == "token" else turns)(batch, rollouts))]
    else:
        wanted = term[torch.tensor(rollouts if loss.unit == "rollout" else [rollout // 2 for rollout in rollouts[::2]])]
    found = torch.cat([loss.terms(chosen(batch, part)).term for part in parts])
    _check_same(wanted, batch, found, batch, what)


def _check_declared(loss: Loss, batch: LossBatch, term: torch.Tensor, needs: frozenset[str]) -> None:
    import torch

    if "old_logp" not in needs:
        other = evolve(batch, old_logp_N=batch.old_logp_N + 1)
        _check_same(term, batch, loss.terms(other).term, other, "it does not say that it needs 'old_logp', which changed")
    if not getattr(loss, "reads_policy", True):
        nothing, unread = (torch.full_like(batch.logp_N, torch.nan).requires_grad_() for _ in range(2))
        other = evolve(batch, logp_N=nothing, entropy_N=unread, old_logp_N=nothing.detach())
        _check_same(term, batch, loss.terms(other).term, other, "reads_policy is False, yet log-probs and entropy changed")
    without = evolve(batch, advantage_N=torch.zeros_like(batch.advantage_N))
    silent = _checked(loss, without).term
    if getattr(loss, "silent_without_advantage", False):
        gradients = _gradients(silent, without).values()
        assert not silent.any(), f"silent_without_advantage, yet a term without advantage is {silent[silent != 0][0]:.6g}"
        assert not any(g.any() for g in gradients), "silent_without_advantage, yet there is a gradient without advantage"
    if hasattr(loss, "counts"):
        assert loss.unit != "group", "counts() is for the units 'token', 'turn' and 'rollout'"
        answers = [[loss.counts(r) for r in credited_rollouts(needs, elsewhere=elsewhere)] for elsewhere in (np.nan, 1e9)]
        assert all(isinstance(answer, bool | np.bool_) for answer in answers[0]), f"counts() gave {answers[0]}, not True or False"
        assert answers[0] == answers[1], "counts() depends on masked positions"


def _gradients(term: torch.Tensor, batch: LossBatch) -> dict[str, torch.Tensor]:
    """Of the terms with a weight each, by what is learnt; 0 where it has none."""
    import torch

    leaves = {name: leaf for name in LEARNT if (leaf := getattr(batch, name)) is not None}
    total = (term * torch.arange(1, len(term) + 1)).sum()
    if not total.requires_grad:
        return {name: torch.zeros_like(leaf) for name, leaf in leaves.items()}
    found = torch.autograd.grad(total, [*leaves.values()], retain_graph=True, allow_unused=True, materialize_grads=True)
    return dict(zip(leaves, found, strict=True))


def _check_same(wanted: torch.Tensor, batch: LossBatch, found: torch.Tensor, other: LossBatch, what: str) -> None:
    import torch

    assert found.shape == wanted.shape, f"{what} the number of terms from {len(wanted)} to {len(found)}"
    assert torch.allclose(found, wanted), f"{what} the terms, in sum from {wanted.sum():.6g} to {found.sum():.6g}"
    gradients = _gradients(found, other)
    for name, gradient in _gradients(wanted, batch).items():
        assert torch.allclose(gradients[name], gradient), f"{what} the gradient of {name}"
