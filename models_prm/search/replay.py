"""Running a recorded search again without its models: the same decisions from the recorded answers.

record = SearchRecord.from_json(json.loads(line))
assert replay(record).dumps() == record.dumps()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from models_prm.errors import SearchError
from models_prm.interfaces import Proposal
from models_prm.records import OnProgress, ScoringItem, StepScores
from models_prm.search.records import Call, SearchConfig, SearchRecord, Usage


@dataclass
class _Proposer:
    """Gives the recorded proposals again; SearchError when it is asked for others."""

    name: str
    calls: Iterator[Call]

    def propose(
        self, prefixes: Sequence[tuple[str, tuple[str, ...]]], m: int, seed: int
    ) -> list[list[Proposal]]:
        call = next(self.calls, None)
        if call is None or (call.m, call.seed, len(call.parents)) != (m, seed, len(prefixes)):
            raise SearchError("the record does not hold what this search asks for: other code or settings?")
        return [list(group) for group in call.proposals]


@dataclass
class _Scorer:
    """Gives the recorded probabilities again, by the path of steps."""

    name: str
    probs: dict[tuple[str, ...], tuple[float, float, float]]

    def score(
        self,
        items: Iterable[ScoringItem],
        *,
        batch_tokens: int = 8192,
        on_progress: OnProgress | None = None,
        total: int | None = None,
    ) -> Iterator[StepScores]:
        for item in items:
            known = [self.probs.get(item.steps[: i + 1]) for i in range(len(item.steps))]
            probs = tuple(p for p in known if p is not None)
            yield StepScores(item.key, probs, dropped=len(item.steps) - len(probs))


def replay(record: SearchRecord) -> SearchRecord:
    """The search run again from its record. Its token counts are the record's own.

    Raises SearchError when the record does not lead the method through the same questions.
    """
    from models_prm.search import METHODS

    name = "beam" if record.method == "dvts" else record.method
    if name not in METHODS:
        raise SearchError(f"no method {record.method!r}: known are {', '.join(METHODS)}")
    kind, run = METHODS[name]
    config: SearchConfig = kind(**record.config)
    again = run(record.problem, _Proposer(record.proposer, iter(record.calls)), _scorer(record), config)
    again.usage = Usage(**{**vars(again.usage), **_prm_tokens(record.usage)})
    return again


def _scorer(record: SearchRecord) -> _Scorer:
    probs = {tuple(record.steps(n.id)): n.probs for n in record.nodes if n.probs is not None}
    return _Scorer(record.scorer, probs)


def _prm_tokens(usage: Usage) -> dict[str, int | bool]:
    """The scorer's tokens cannot be counted again without its tokenizer."""
    return {"prm_tokens": usage.prm_tokens, "prm_tokens_estimated": usage.prm_tokens_estimated}
