"""Drawing tokens from logits by inverting the cumulative distribution: one random number a token.

The usual way draws one random number per vocabulary entry (an exponential race); with 32,000 entries that
costs as much as the model. The distribution is the same softmax.
"""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK = 256


def draw(logits: Tensor, temperature: float, uniforms: Tensor) -> tuple[Tensor, Tensor]:
    """Token ids (int64 [b]) and their log-probabilities (float64 [b]) from logits [b, vocabulary].

    `uniforms`: float64 [b] in [0, 1). Temperature 0 takes the likeliest token (the first of equals, as
    argmax does) and gives its log-probability under the model itself. `logits` may be overwritten.
    """
    logits = logits.float()
    if temperature == 0:
        ids = logits.argmax(-1)
        return ids, logits.double().log_softmax(-1).gather(1, ids[:, None])[:, 0]
    if temperature != 1:
        logits = logits.div_(temperature)
    weights = logits.sub_(logits.amax(-1, keepdim=True)).exp_()
    sums = _block_sums(weights)
    steps = sums.cumsum(-1)
    total = steps[:, -1]
    target = uniforms.to(total.device) * total
    # The first block whose running sum exceeds the target: never one without mass.
    block = torch.searchsorted(steps, target[:, None], right=True).clamp_(max=sums.shape[1] - 1)
    before = (steps.gather(1, block) - sums.gather(1, block))[:, 0]
    share = ((target - before) / sums.gather(1, block)[:, 0]).clamp_(0, 1 - 1e-12)
    places = block * BLOCK + torch.arange(BLOCK, device=weights.device)
    inside = places < weights.shape[1]
    part = weights.gather(1, places.clamp(max=weights.shape[1] - 1)).double().mul_(inside)
    inner = part.cumsum(-1)
    within = torch.searchsorted(inner, (share * inner[:, -1])[:, None], right=True).clamp_(max=BLOCK - 1)
    chosen = part.gather(1, within)[:, 0]
    return places.gather(1, within)[:, 0], chosen.log() - total.log()


def _block_sums(weights: Tensor) -> Tensor:
    """Sums of consecutive blocks of BLOCK entries, float64 [b, blocks]; the last block may be short."""
    whole = weights.shape[1] // BLOCK * BLOCK
    sums = weights[:, :whole].view(len(weights), -1, BLOCK).sum(-1).double()
    if whole == weights.shape[1]:
        return sums
    rest = weights[:, whole:].sum(-1, dtype=torch.float64)
    return torch.cat([sums, rest[:, None]], 1)
