"""Low-rank adapters through peft, and the few rows of the embeddings that a reward model must learn besides.

With adapters the base's weights are frozen, also its embeddings; but the marks and labels are tokens that the
base never met. Their rows are trained beside the frozen matrices and written into them when the model is
saved.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor, nn

from models_prm.config import Lora
from models_prm.encoding.tokenizer import StepEncoder
from models_prm.errors import ModelError


class MarkRows(nn.Module):
    """Trainable copies, in float32, of rows of the embeddings: `inputs` [2, width] for the solution mark and
    the step mark, `outputs` [3, width] for the label tokens in the order -1, 0, +1.
    """

    def __init__(self, lm: Any, encoder: StepEncoder) -> None:
        super().__init__()
        self.input_ids = (encoder.solution_id, encoder.step_id)
        self.output_ids = encoder.label_ids
        weight = lm.get_input_embeddings().weight.detach()
        self.inputs = nn.Parameter(weight[list(self.input_ids)].float().clone())
        labels = lm.get_output_embeddings().weight.detach()
        self.outputs = nn.Parameter(labels[list(self.output_ids)].float().clone())

    def embed(self, lm: Any, ids: Tensor) -> Tensor:
        """Embeddings [b, t, width] of ids [b, t], with our rows at the marks."""
        states: Tensor = lm.get_input_embeddings()(ids)
        for row, token in zip(self.inputs, self.input_ids, strict=True):
            states = torch.where((ids == token)[..., None], row.to(states.dtype), states)
        return states

    @torch.no_grad()
    def write(self, lm: Any) -> None:
        """Put the rows into the model's matrices. Labels never occur in the input: a tied matrix takes
        both."""
        inputs, outputs = lm.get_input_embeddings().weight, lm.get_output_embeddings().weight
        inputs[list(self.input_ids)] = self.inputs.to(inputs.dtype)
        outputs[list(self.output_ids)] = self.outputs.to(outputs.dtype)


def attach(lm: Any, settings: Lora) -> Any:
    """Freeze the model and put adapters into it; returns peft's wrapper. Raises ModelError without peft, or
    when no layer has a name that the recipe asks for."""
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise ModelError("lora needs peft: pip install 'stepmark[lora]'") from error
    configure: Any = LoraConfig  # its types say whole numbers only where it takes fractions too
    adapters = configure(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=settings.target_modules,
    )
    try:
        with warnings.catch_warnings():
            # peft 0.21 asks for a property that Transformers 5.24 has renamed; may go when it asks no more.
            warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing", category=FutureWarning)
            return get_peft_model(lm, adapters)
    except ValueError as error:
        raise ModelError(f"lora.targets {settings.targets!r}: {error}") from error
