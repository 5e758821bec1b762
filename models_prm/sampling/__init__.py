"""Writing solutions with a language model: local weights or an OpenAI-compatible server.

Importing this package loads nothing heavy. The parts: `records` (what goes in and out), `prompts` (the text
a model is asked with), `local` (transformers weights, own loop), `server` (HTTP), `pool` (a resumable file),
`finetune` (one epoch that teaches a model to write one step a line), `proposer` (one step at a time).
"""

from models_prm.sampling.prompts import Example, build_prompt, prefix_prompt
from models_prm.sampling.records import Sample, SampleRequest, sample_seed

__all__ = ["Example", "Sample", "SampleRequest", "build_prompt", "prefix_prompt", "sample_seed"]
