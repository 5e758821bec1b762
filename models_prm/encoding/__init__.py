"""From solutions to tokens and states: trees of steps, packed batches, the forward pass without padding."""
