"""One token a row, from exactly softmax(z / T)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from jackfield_sampler.sampling import BLOCK, draw


def _uniform(size: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).random(size))


@pytest.mark.parametrize("vocabulary", [3, BLOCK, 1000, 4 * BLOCK + 1])
@pytest.mark.parametrize("temperature", [0.7, 1.0, 2.0])
def test_the_token_is_the_inverse_cdf_of_the_uniform_number(vocabulary: int, temperature: float) -> None:
    """Drawing by blocks gives the token that one cumulative sum over the whole vocabulary gives, and its exact log-prob."""
    logits = 3 * torch.randn(50, vocabulary, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    uniform = _uniform(50)
    tokens, logp = draw(logits, torch.full((50,), temperature, dtype=torch.float64), uniform)

    expected = torch.softmax(logits / temperature, -1)
    up_to = expected.cumsum(-1)
    assert tokens.tolist() == [
        int(np.searchsorted(row, u, side="right")) for row, u in zip(up_to.numpy(), uniform.numpy(), strict=True)
    ]
    torch.testing.assert_close(logp, expected.gather(1, tokens[:, None]).squeeze(1).log(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_frequencies_are_those_of_the_softmax(dtype: torch.dtype) -> None:
    """Chi-square over 200,000 draws from one skewed distribution whose vocabulary no block divides."""
    vocabulary, draws = BLOCK + 44, 200_000
    logits = (2 * torch.randn(vocabulary, generator=torch.Generator().manual_seed(2))).to(dtype)
    expected = torch.softmax(logits.double() / 1.3, -1).numpy() * draws
    counts = np.zeros(vocabulary)
    for seed in range(10):
        uniform = _uniform(draws // 10, seed)
        tokens, _ = draw(logits.expand(len(uniform), -1), torch.full((len(uniform),), 1.3), uniform)
        counts += np.bincount(tokens.numpy(), minlength=vocabulary)
    rare = expected < 5
    counts, expected = (np.append(x[~rare], x[rare].sum()) for x in (counts, expected))
    chi_square, freedom = ((counts - expected) ** 2 / expected).sum(), len(counts) - 1
    assert abs(chi_square - freedom) < 3.5 * np.sqrt(2 * freedom)


def test_logp_in_float32_is_that_of_float64() -> None:
    """A vocabulary of 49,152 in fp32: log-probs within 1e-5 of a float64 log-softmax."""
    logits = 4 * torch.randn(8, 49_152, generator=torch.Generator().manual_seed(3))
    tokens, logp = draw(logits, torch.ones(8), _uniform(8))
    expected = logits.double().log_softmax(-1).gather(1, tokens[:, None]).squeeze(1)
    torch.testing.assert_close(logp, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("u", [0.0, 1e-300, 0.5, 1 - 1e-12, float(np.nextafter(1, 0))])
def test_a_token_of_probability_zero_is_never_drawn(dtype: torch.dtype, u: float) -> None:
    """Zero weight at both ends of the vocabulary and of the block, and the uniform number at its extremes."""
    logits = torch.full((1, 2 * BLOCK + 7), -torch.inf, dtype=dtype)
    possible = [5, BLOCK - 3, BLOCK + 1, 2 * BLOCK + 2]
    logits[0, possible] = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=dtype)
    tokens, logp = draw(logits, torch.ones(1), torch.tensor([u], dtype=torch.float64))
    assert tokens.item() in possible
    assert logp.isfinite().all()


def test_rounding_at_the_end_of_a_block_draws_nothing_impossible() -> None:
    """The largest uniform number, weights whose fp32 sum may exceed their sum in fp64, and impossible tokens behind the last possible."""
    logits = torch.randn(500, 2 * BLOCK, generator=torch.Generator().manual_seed(5))
    logits[:, BLOCK - 40 :] = -torch.inf
    uniform = torch.full((500,), float(np.nextafter(1, 0)), dtype=torch.float64)
    tokens, logp = draw(logits, torch.ones(500), uniform)
    assert tokens.max() == BLOCK - 41
    assert logp.isfinite().all()


def test_temperature_zero_takes_the_most_likely_token() -> None:
    """Greedy rows beside sampled ones: the argmax with its log-prob at temperature 1; the others are as without them."""
    logits = torch.randn(3, 300, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    uniform = _uniform(3)
    tokens, logp = draw(logits, torch.tensor([0.0, 0.5, 0.0]), uniform)
    alone, logp_alone = draw(logits[1:2], torch.tensor([0.5]), uniform[1:2])
    assert tokens.tolist() == [int(logits[0].argmax()), int(alone), int(logits[2].argmax())]
    torch.testing.assert_close(logp[[0, 2]], logits.log_softmax(-1).amax(-1)[[0, 2]], rtol=0, atol=1e-12)
    torch.testing.assert_close(logp[1:2], logp_alone, rtol=0, atol=0)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_a_diverged_policy_is_an_error(bad: float) -> None:
    """NaN or +inf in a row's logits raises instead of drawing something."""
    logits = torch.zeros(2, 300)
    logits[1, 7] = bad
    with pytest.raises(FloatingPointError, match="not finite"):
        draw(logits, torch.ones(2), _uniform(2))
