"""Identity preference optimisation."""

from __future__ import annotations

from typing import Any

import pytest

from jackfield_preference.ipo import Ipo


def test_hand_computed(make_batch: Any) -> None:
    """β = 0.25, target 2. Chosen: −3 against −4, 1; rejected: −1.5 against −0.5, −1; h = 2 would be the target, so take h = 1.5.

    Chosen −1 −2.5 against −2 −2: 0.5, rejected −1: h = 1.5, (1.5 − 2)² = 0.25; slope 2·(−0.5) = −1 a chosen token.
    """
    batch = make_batch([[(1, [-1.0, -2.5]), (-1, [-1.5])]], ref_logp=[-2.0, -2.0, -0.5])
    terms = Ipo(beta=0.25).terms(batch)
    assert terms.term.tolist() == pytest.approx([0.25], abs=1e-12)
    metrics = {name: values.tolist() for name, values in terms.metrics.items()}
    assert metrics == {"accuracy": [1.0], "margin": [1.5], "log_ratio_chosen": [0.5], "log_ratio_rejected": [-1.0]}
    terms.term.sum().backward()
    assert batch.logp_N.grad.tolist() == pytest.approx([-1.0, -1.0, 1.0], abs=1e-12)


def test_per_token_hand_computed(make_batch: Any) -> None:
    """Pitfall 55: means over each member's own tokens: 0.5 / 2 − (−1) = 1.25, (1.25 − 2)² = 0.5625; slope −1.5 / 2 a chosen token."""
    batch = make_batch([[(1, [-1.0, -2.5]), (-1, [-1.5])]], ref_logp=[-2.0, -2.0, -0.5])
    terms = Ipo(beta=0.25, per_token=True).terms(batch)
    assert terms.term.tolist() == pytest.approx([0.5625], abs=1e-12)
    terms.term.sum().backward()
    assert batch.logp_N.grad.tolist() == pytest.approx([-0.75, -0.75, 1.5], abs=1e-12)


def test_beyond_its_target_the_margin_is_pulled_back(make_batch: Any) -> None:
    """h = 3 with target 2: the gradient makes the chosen member less likely, unlike DPO's."""
    batch = make_batch([[(1, [-1.0]), (-1, [-3.0])]], ref_logp=[-2.0, -1.0])
    Ipo(beta=0.25).terms(batch).term.sum().backward()
    assert batch.logp_N.grad.tolist() == pytest.approx([2.0, -2.0], abs=1e-12)


def test_a_policy_equal_to_its_reference(make_batch: Any) -> None:
    """A14: (1 / 2β)² at the start, 25 for the default β = 0.1, with a gradient."""
    batch = make_batch([[(1, [-1.0]), (-1, [-3.0])]], ref_logp=[-1.0, -3.0])
    term = Ipo().terms(batch).term
    assert term.tolist() == pytest.approx([25.0], abs=1e-12)
    term.sum().backward()
    assert batch.logp_N.grad.tolist() == pytest.approx([-10.0, 10.0], abs=1e-12)
