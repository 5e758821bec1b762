"""Drawing tokens: the inverted distribution is the softmax, exactly."""

from __future__ import annotations

import pytest
import torch

from models_prm.sampling.draw import BLOCK, draw


@pytest.mark.parametrize("size", [3, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 7])
def test_an_even_grid_of_numbers_gives_each_token_its_share(size: int) -> None:
    torch.manual_seed(size)
    logits = torch.randn(size) * 2
    grid = (torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000
    ids, logprobs = draw(logits.repeat(len(grid), 1), 0.7, grid)
    wanted = (logits.double() / 0.7).softmax(0)
    # Inverting the cumulative sum on a grid misses each share by at most a grid point at either end.
    shares = torch.bincount(ids, minlength=size) / len(grid)
    assert (shares - wanted).abs().max() < 2.5 / 20_000
    assert torch.allclose(logprobs, wanted[ids].log(), atol=1e-5)


def test_a_token_without_mass_is_never_drawn_not_even_at_the_ends() -> None:
    logits = torch.full((3, 600), -float("inf"))
    logits[:, 300:302] = 0.0
    ids, _ = draw(logits, 1.0, torch.tensor([0.0, 0.5, 1 - 2**-53], dtype=torch.float64))
    assert ids.tolist() == [300, 301, 301]


def test_temperature_zero_takes_the_first_of_the_likeliest() -> None:
    logits = torch.tensor([[0.0, 2.0, 2.0, 1.0]])
    ids, logprobs = draw(logits.clone(), 0, torch.tensor([0.99], dtype=torch.float64))
    assert ids.tolist() == [1]
    assert logprobs.item() == pytest.approx(logits.double().log_softmax(-1)[0, 1].item())
