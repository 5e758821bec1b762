"""One step at a time: a `StepProposer` over any sampler, local or server.

    proposer = SamplerProposer(LocalSampler.load("var/models/generator"))
    proposals = proposer.propose([("What is 2 + 3?", ())], m=4, seed=0)[0]

A step ends where the splitter's separator stands, but not inside display math, an environment or a fence:
there the sample goes on. A solution is finished only when the model ended its text (or began a next
problem, after few-shot examples); the separator alone finishes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from models_prm.errors import SearchError
from models_prm.interfaces import Proposal, Sampler
from models_prm.sampling.prompts import PROBLEM, Example, prefix_prompt
from models_prm.sampling.records import Sample, SampleRequest, sample_seed
from models_prm.steps import SPLITTERS, protected_spans

SEPARATORS = {"newline": "\n", "blank_line": "\n\n"}
_BEGIN = re.compile(r"\\begin\{([^{}\n]{1,40})\}")


@dataclass
class _Open:
    """A proposal that is being written: what there is of it so far."""

    call: int
    prefix: int
    index: int
    seed: int
    text: str = ""
    tokens: int = 0
    logprob: float | None = 0.0

    @property
    def key(self) -> str:
        """Names the prefix in requests."""
        return f"{self.call}.{self.prefix}"


def _request(prompt: str, on_the_way: _Open) -> SampleRequest:
    # A continued step has a random stream of its own, which its length begins.
    o = on_the_way
    own = sample_seed(o.seed, f"{o.prefix}.{o.tokens}", o.index)
    return SampleRequest(o.key, prompt + o.text, o.index, own)


@dataclass
class SamplerProposer:
    """A `StepProposer`. `max_step_tokens` bounds one step; a step cut off by it is truncated."""

    sampler: Sampler
    max_step_tokens: int = 128
    temperature: float = 1.0
    splitter: str = "newline"
    examples: tuple[Example, ...] = ()
    stop: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        if self.splitter not in SEPARATORS:
            known = ", ".join(SEPARATORS)
            raise SearchError(
                f"splitter {self.splitter!r} has no separator to stop at: use one of {known} "
                f"(of {', '.join(SPLITTERS)})"
            )
        self.stop = (SEPARATORS[self.splitter],)

    @property
    def name(self) -> str:
        """The sampler's name."""
        return self.sampler.name

    def propose(
        self, prefixes: Sequence[tuple[str, tuple[str, ...]]], m: int, seed: int
    ) -> list[list[Proposal]]:
        """`m` proposals for each (problem, steps so far); the same seed gives the same ones."""
        return self.propose_many([(prefixes, m, seed)])[0]

    def propose_many(
        self, calls: Sequence[tuple[Sequence[tuple[str, tuple[str, ...]]], int, int]]
    ) -> list[list[list[Proposal]]]:
        """Answers of several calls (prefixes, m, seed), written together; each is what it would be alone."""
        prompts = [
            [prefix_prompt(p, steps, self.examples, self.splitter) for p, steps in prefixes]
            for prefixes, _, _ in calls
        ]
        found: dict[tuple[int, int, int], Proposal] = {}
        open_ = [
            _Open(call, prefix, index, seed)
            for call, (prefixes, m, seed) in enumerate(calls)
            for prefix in range(len(prefixes))
            for index in range(m)
        ]
        while open_:
            by_place = {(o.key, o.index): o for o in open_}
            # One limit for all that are on the way: the least that is left to any.
            room = min(self.max_step_tokens - o.tokens for o in open_)
            samples = self.sampler.sample(
                [_request(prompts[o.call][o.prefix], o) for o in open_],
                max_tokens=room,
                temperature=self.temperature,
                stop=self.stop,
            )
            open_ = []
            for sample in samples:
                on_the_way = by_place[sample.key, sample.index]
                proposal = self._take(on_the_way, sample)
                if proposal is None:
                    open_.append(on_the_way)
                else:
                    found[on_the_way.call, on_the_way.prefix, on_the_way.index] = proposal
            open_.sort(key=lambda o: (o.call, o.prefix, o.index))
        return [
            [[found[call, prefix, index] for index in range(m)] for prefix in range(len(prefixes))]
            for call, (prefixes, m, _) in enumerate(calls)
        ]

    def _take(self, on_the_way: _Open, sample: Sample) -> Proposal | None:
        """Add a sample to its proposal; None while the step goes on."""
        on_the_way.tokens += sample.tokens
        on_the_way.text += sample.text
        both = on_the_way.logprob is not None and sample.logprob is not None
        on_the_way.logprob = on_the_way.logprob + sample.logprob if both else None  # type: ignore[operator]
        text = on_the_way.text.strip()
        tokens, logprob = on_the_way.tokens, on_the_way.logprob
        if self.examples and text.startswith(PROBLEM.strip()):
            return Proposal("", True, False, tokens, logprob)
        if sample.finish == "stop" and sample.stopped_by is None:
            return Proposal(text, True, False, tokens, logprob)
        if sample.finish == "stop" and text and not open_at_end(on_the_way.text):
            return Proposal(text, False, False, tokens, logprob)
        if tokens >= self.max_step_tokens or not sample.tokens:
            return Proposal(text, False, True, tokens, logprob)
        if sample.finish == "stop":
            on_the_way.text += sample.stopped_by or ""
        return None


def open_at_end(text: str) -> bool:
    """Whether `text` ends inside display math, an environment, a figure or a fence that may still close."""
    closers = ["\\]", "$$", "[/asy]", "\n```", *(f"\\end{{{name}}}" for name in _BEGIN.findall(text))]
    return any(
        start < len(text) < end
        for closer in closers
        for start, end in protected_spans(f"{text}\n{closer}")
        if text
    )
