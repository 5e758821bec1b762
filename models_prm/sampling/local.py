"""Sampling from local weights with an own decoding loop.

    sampler = LocalSampler.load("var/models/generator")
    for sample in sampler.sample(requests, max_tokens=256, temperature=1.0):
        print(sample.key, sample.index, sample.finish, sample.text)

Many prompts decode together in the rows of one fixed cache. A prompt is read once for all its samples, a
finished row goes at once to a waiting sample, and rows that nobody waits for are dropped. The distribution
is that of `transformers`' `generate` with `do_sample=True, top_k=0, top_p=1` (docs/parts/sampling.md).
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models_prm.errors import Cancelled
from models_prm.records import OnProgress, Progress, ShouldStop
from models_prm.sampling.cache import RowCache
from models_prm.sampling.draw import draw
from models_prm.sampling.prefill import PromptReader, ReadPrompt, refuse_other_caches
from models_prm.sampling.records import Finish, Sample, SampleRequest, first_stop
from models_prm.sampling.weights import encode_prompts, end_ids, load_generator


@dataclass
class _Row:
    """A sample in flight."""

    request: SampleRequest
    limit: int
    random: random.Random
    ids: list[int] = field(default_factory=list)
    logprob: float = 0.0


@dataclass
class _Waiting:
    """A prompt that has been read, and its samples that wait for a row."""

    prompt: ReadPrompt
    requests: deque[SampleRequest]


class LocalSampler:
    """A `Sampler` around a transformers causal language model and its tokenizer.

    `rows`: samples in flight; `prompt_tokens`: padded size of one batch of prompts.
    """

    def __init__(
        self, lm: Any, tokenizer: Any, name: str = "local", *, rows: int = 128, prompt_tokens: int = 4096
    ) -> None:
        self.lm = lm.eval()
        self.tokenizer = tokenizer
        self.name = name
        self.rows = rows
        self.prompt_tokens = prompt_tokens
        self.end_ids = end_ids(lm, tokenizer)
        self.context = int(getattr(lm.config, "max_position_embeddings", 0) or 1 << 30)
        self._texts: list[str] | None = None

    @classmethod
    def load(
        cls, directory: str | Path, device: str = "cpu", dtype: str = "float32", rows: int = 128
    ) -> LocalSampler:
        """Open a model directory (or hub name). Raises ModelError when it is no causal language model."""
        lm, tokenizer = load_generator(str(directory), device, dtype)
        return cls(lm, tokenizer, Path(directory).name, rows=rows)

    def sample(
        self,
        requests: Iterable[SampleRequest],
        *,
        max_tokens: int,
        temperature: float = 1.0,
        stop: Sequence[str] = (),
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> Iterator[Sample]:
        """One sample per request, as they finish. Requests are read as rows fall free: any number of them.

        Requests with the same prompt share its reading when they follow each other. Raises Cancelled when
        `should_stop` says so, after all finished samples have been given out. A prompt that leaves no room
        in the model's context comes back as an empty sample with finish "length".
        """
        loop = _Loop(self, iter(requests), max_tokens, temperature, tuple(stop))
        done = 0
        while loop.live or loop.admit():
            for sample in loop.step():
                done += 1
                yield sample
                if on_progress is not None:
                    on_progress(Progress("sample", done, 0, f"{loop.tokens} tokens"))
            if should_stop is not None and should_stop():
                raise Cancelled(f"stopped after {done} samples; the same call goes on from them")

    def decode(self, ids: Sequence[int]) -> str:
        """The text of generated ids; special tokens are left out."""
        return str(
            self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        )

    def may_end(self, stop: Sequence[str]) -> list[bool]:
        """For every id whether its text may complete one of the stop strings: the others need no look."""
        if self._texts is None:
            size = int(self.lm.get_input_embeddings().weight.shape[0])
            known = min(size, len(self.tokenizer))
            texts = self.tokenizer.batch_decode([[i] for i in range(known)])
            self._texts = [*texts, *[""] * (size - known)]
        last = {s[-1] for s in stop if s} | {"\ufffd"}
        return [not last.isdisjoint(text) for text in self._texts]


class _Loop:
    """State of one call of `LocalSampler.sample`. Rows 0 .. live - 1 of the cache are in flight."""

    def __init__(
        self,
        sampler: LocalSampler,
        requests: Iterator[SampleRequest],
        max_tokens: int,
        temperature: float,
        stop: tuple[str, ...],
    ) -> None:
        self.sampler, self.lm = sampler, sampler.lm
        self.max_tokens, self.temperature, self.stop = max_tokens, temperature, stop
        self.groups = ((prompt, deque(group)) for prompt, group in groupby(requests, lambda r: r.prompt))
        self.waiting: deque[_Waiting] = deque()
        self.early: list[Sample] = []
        self.live: list[_Row] = []
        self.last: list[int] = []
        self.tokens = 0
        self.may_end = sampler.may_end(stop) if stop else []
        pad = sampler.tokenizer.pad_token_id
        self.reader = PromptReader(sampler.lm, 0 if pad is None else int(pad))
        layers = int(sampler.lm.config.get_text_config().num_hidden_layers)
        self.cache = RowCache(layers, sampler.rows, sampler.lm.device)

    def admit(self) -> bool:
        """Fill free rows with waiting samples; whether there is anything to hand out or to decode."""
        free = self.sampler.rows - len(self.live)
        started: list[tuple[int, ReadPrompt]] = []
        while free and (self.waiting or self._read_more(free)):
            first = self.waiting[0]
            row = len(self.live)
            request = first.requests.popleft()
            limit = min(self.max_tokens, self.sampler.context - first.prompt.length)
            self.cache.fill(row, first.prompt.layers, limit)
            self.live.append(_Row(request, limit, random.Random(request.seed)))
            self.last.append(0)
            started.append((row, first.prompt))
            free -= 1
            if not first.requests:
                self.waiting.popleft()
        if started:
            rows = [row for row, _ in started]
            self._draw(rows, torch.stack([prompt.logits for _, prompt in started]))
        return bool(self.live or self.early)

    def step(self) -> list[Sample]:
        """Decode one token in every row; the samples that ended with it, their rows given on."""
        done, self.early = [*self.early, *self._collect()], []
        if self.live:
            self._forward()
            done += self._collect()
        return done

    @torch.inference_mode()
    def _forward(self) -> None:
        count = len(self.live)
        positions = self.cache.begin(count)
        out = self.lm(
            input_ids=torch.tensor(self.last, device=self.lm.device)[:, None],
            attention_mask=self.cache.attention(count, self.lm.dtype),
            position_ids=positions,
            use_cache=True,
            **{self.reader.cache_name: self.cache},
        )
        self.cache.advance(count)
        self._draw(list(range(count)), out.logits[:, -1])

    @torch.inference_mode()
    def _draw(self, rows: list[int], logits: Tensor) -> None:
        live = [self.live[row] for row in rows]
        uniforms = torch.tensor([row.random.random() for row in live], dtype=torch.float64)
        ids, logprobs = draw(logits, self.temperature, uniforms)
        for row, place, token, logprob in zip(live, rows, ids.tolist(), logprobs.tolist(), strict=True):
            row.ids.append(token)
            row.logprob += logprob
            self.last[place] = token
        self.tokens += len(rows)

    def _collect(self) -> list[Sample]:
        """Take finished samples out; the last rows move into the holes, then waiting samples come in."""
        done: list[Sample] = []
        while True:
            ended = [(i, s) for i, row in enumerate(self.live) if (s := self._ended(row)) is not None]
            if not ended:
                return done
            done += [sample for _, sample in ended]
            for place, _ in reversed(ended):
                end = len(self.live) - 1
                if place != end:
                    self.cache.move(end, place)
                    self.live[place], self.last[place] = self.live[end], self.last[end]
                self.live.pop()
                self.last.pop()
            self.admit()  # a sample may end with its very first token: look again

    def _ended(self, row: _Row) -> Sample | None:
        if row.ids[-1] in self.sampler.end_ids:
            return self._sample(row, self.sampler.decode(row.ids[:-1]), "stop")
        if self.stop and self.may_end[row.ids[-1]]:
            text = self.sampler.decode(row.ids)
            if (found := first_stop(text, self.stop)) is not None:
                return self._sample(row, text[: found[0]], "stop", found[1])
        if len(row.ids) >= row.limit:
            return self._sample(row, self.sampler.decode(row.ids), "length")
        return None

    def _sample(self, row: _Row, text: str, finish: Finish, stopped_by: str | None = None) -> Sample:
        r = row.request
        name = self.sampler.name
        return Sample(r.key, r.index, text, finish, len(row.ids), row.logprob, name, r.seed, stopped_by)

    def _read_more(self, free: int) -> bool:
        """Read the prompts of the next samples: about as many as rows are free."""
        taken: list[tuple[list[int], deque[SampleRequest]]] = []
        samples = longest = 0
        while samples < free and (group := next(self.groups, None)) is not None:
            ids = encode_prompts(self.sampler.tokenizer, [group[0]])[0]
            if not ids or len(ids) >= self.sampler.context:
                name = self.sampler.name
                self.early += [Sample(r.key, r.index, "", "length", 0, None, name, r.seed) for r in group[1]]
                continue
            longest = max(longest, len(ids))
            samples += len(group[1])
            taken.append((ids, group[1]))
            if longest * (len(taken) + 1) > self.sampler.prompt_tokens:
                break
        if not taken:
            return False
        refuse_other_caches(self.lm.config, min(longest + self.max_tokens, self.sampler.context))
        prompts = self.reader.read([ids for ids, _ in taken])
        self.waiting += [_Waiting(p, requests) for p, (_, requests) in zip(prompts, taken, strict=True)]
        return True
