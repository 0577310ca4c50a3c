from __future__ import annotations

from typing import Any

import pytest
import torch

from jackfield.logprobs import token_logp


class Head:
    """A language model's last part, that counts the rows of logits it makes."""

    def __init__(self) -> None:
        self.weight_VH = torch.randn(7, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        self.made: list[int] = []

    def logits(self, hidden_CH: torch.Tensor) -> torch.Tensor:
        self.made.append(len(hidden_CH))
        return hidden_CH @ self.weight_VH.T


@pytest.fixture
def head() -> Any:
    return Head()


@pytest.fixture
def hidden() -> torch.Tensor:
    return torch.randn(5, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64).requires_grad_()


TARGET = torch.tensor([6, 0, 3, 3, 1])


@pytest.mark.parametrize("chunk", [1, 2, 5, 99])
def test_chunks_change_neither_values_nor_gradients(head: Any, hidden: torch.Tensor, chunk: int) -> None:
    log_p = torch.log_softmax(hidden @ head.weight_VH.T / 0.7, -1)
    want = log_p.gather(1, TARGET[:, None]).squeeze(1), -(log_p.exp() * log_p).sum(-1)
    found = token_logp(head, hidden, TARGET, temperature=0.7, chunk=chunk)
    torch.testing.assert_close(found, want)
    gradients = [torch.autograd.grad((logp * logp + entropy).sum(), hidden)[0] for logp, entropy in (found, want)]
    torch.testing.assert_close(*gradients)


def test_no_more_than_a_chunk_of_logits_exists_and_they_are_made_again(head: Any, hidden: torch.Tensor) -> None:
    logp, _ = token_logp(head, hidden, TARGET, temperature=1.0, chunk=2)
    assert head.made == [2, 2, 1]
    logp.sum().backward()
    assert sorted(head.made) == [1, 1, 2, 2, 2, 2]


def test_without_gradient_they_are_made_once(head: Any, hidden: torch.Tensor) -> None:
    with torch.no_grad():
        token_logp(head, hidden, TARGET, temperature=1.0, chunk=2)
    assert head.made == [2, 2, 1]


def test_of_no_position_there_is_nothing(head: Any) -> None:
    logp, entropy = token_logp(head, torch.zeros(0, 3), torch.zeros(0, dtype=torch.long), temperature=1.0, chunk=2)
    assert logp.shape == entropy.shape == (0,)
    assert head.made == []
