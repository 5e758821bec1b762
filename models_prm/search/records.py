"""What a search is given, and the record it leaves: every proposal, score and decision, as plain JSON."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, Literal

from models_prm.aggregate import REDUCTIONS, Neutral
from models_prm.errors import SearchError
from models_prm.interfaces import Proposal

FORMAT = 1
Fate = Literal["open", "kept", "pruned", "unfinished", "finished", "chosen"]
"""open: never decided on; kept: went on; pruned: lost to others; unfinished: cut off by a limit, cannot win;
finished: a complete solution that was not chosen; chosen: the answer."""


@dataclass(frozen=True, slots=True)
class SearchProblem:
    """A problem without its answer. `key` tells two problems with the same text apart, also in the seeds."""

    key: str
    text: str


@dataclass(frozen=True)
class SearchConfig:
    """Settings of every method.

    `max_depth`: steps of a solution; what is not finished then cannot win. `max_generated_tokens` and
    `max_prm_tokens` (0: no limit) are looked at before each round, so the last round may pass them.
    `score_method` and `neutral` make one number of a path's step scores (`models_prm.aggregate`).
    """

    seed: int = 0
    max_depth: int = 40
    max_generated_tokens: int = 0
    max_prm_tokens: int = 0
    score_method: str = "product"
    neutral: Neutral = "good"

    def __post_init__(self) -> None:
        if self.max_depth < 1 or self.max_generated_tokens < 0 or self.max_prm_tokens < 0:
            raise SearchError("max_depth must be at least 1, and the token limits not negative")
        if self.score_method not in REDUCTIONS:
            raise SearchError(f"no method {self.score_method!r}: choose one of {', '.join(REDUCTIONS)}")
        if self.neutral not in ("good", "bad"):
            raise SearchError(f"neutral {self.neutral!r} is unknown: use good or bad")


@dataclass
class Node:
    """A step in the tree; node 0 is the problem itself and has no step.

    `count`: equal proposals that were merged into it. `probs`: the scorer's (-1, 0, +1) of this step, `value`
    the score of the path down to it; both None where it was not, or could not be, scored. `visits` and
    `total` are MCTS's. `rollout`: written to value its parent, and part of no other path.
    """

    id: int
    parent: int
    depth: int
    text: str = ""
    finished: bool = False
    truncated: bool = False
    count: int = 1
    probs: tuple[float, float, float] | None = None
    value: float | None = None
    round: int = 0
    fate: Fate = "open"
    reason: str = ""
    visits: int = 0
    total: float = 0.0
    rollout: bool = False


@dataclass(frozen=True)
class Call:
    """One question to the proposer, and its answer: `proposals[i]` belong to node `parents[i]`."""

    parents: tuple[int, ...]
    m: int
    seed: int
    proposals: tuple[tuple[Proposal, ...], ...]


@dataclass(frozen=True)
class Round:
    """One decision: nodes that were proposed, kept and pruned; for MCTS the path and what was backed up."""

    number: int
    proposed: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    pruned: tuple[int, ...] = ()
    path: tuple[int, ...] = ()
    value: float | None = None


@dataclass
class Usage:
    """Cost. `prm_tokens`: tokens that the scorer read, shared beginnings within one call once; counted by
    its tokenizer, or estimated as characters / 4 where it has none (`prm_tokens_estimated`).
    """

    generated_tokens: int = 0
    prm_tokens: int = 0
    prm_tokens_estimated: bool = False
    proposals: int = 0
    proposer_calls: int = 0
    scored_paths: int = 0
    scorer_calls: int = 0


@dataclass
class SearchRecord:
    """A whole search. `chosen`: id of the winning node, None when nothing finished with a score.

    `stopped` says why it ended: "finished", "depth", "budget", "exhausted" or "simulations".
    """

    method: str
    problem: SearchProblem
    config: dict[str, Any]
    proposer: str
    scorer: str
    nodes: list[Node]
    calls: list[Call]
    rounds: list[Round]
    usage: Usage
    stopped: str
    chosen: int | None
    format: int = field(default=FORMAT)

    def steps(self, node: int | None = None) -> list[str]:
        """Steps from the problem down to a node (default: the chosen one; empty when there is none)."""
        place = self.chosen if node is None else node
        steps: list[str] = []
        while place is not None and place > 0:
            if self.nodes[place].text:
                steps.append(self.nodes[place].text)
            place = self.nodes[place].parent
        return steps[::-1]

    def finished(self) -> list[int]:
        """Ids of all complete solutions with a score, best first; equal scores in order of appearance."""
        done = [n for n in self.nodes if n.finished and n.value is not None]
        return [n.id for n in sorted(done, key=lambda n: (-(n.value or 0.0), n.id))]

    def as_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> SearchRecord:
        """Read a record again. Raises SearchError when it is none, or of another format."""
        if plain.get("format") != FORMAT:
            raise SearchError(f"no search record of format {FORMAT}")
        try:
            values = {f.name: plain[f.name] for f in dataclasses.fields(cls)}
            values["problem"] = SearchProblem(**plain["problem"])
            values["nodes"] = [Node(**{**n, "probs": _tuple(n["probs"])}) for n in plain["nodes"]]
            values["calls"] = [_call(c) for c in plain["calls"]]
            values["rounds"] = [_round(r) for r in plain["rounds"]]
            values["usage"] = Usage(**plain["usage"])
            return cls(**values)
        except (KeyError, TypeError) as error:
            raise SearchError(f"a damaged search record ({error})") from error

    def dumps(self) -> str:
        """One line of JSON; the same search gives the same line."""
        return json.dumps(self.as_json(), ensure_ascii=False)


def _tuple(values: Any) -> tuple[float, float, float] | None:
    return None if values is None else (values[0], values[1], values[2])


def _call(plain: dict[str, Any]) -> Call:
    proposals = tuple(tuple(Proposal(**p) for p in group) for group in plain["proposals"])
    return Call(tuple(plain["parents"]), plain["m"], plain["seed"], proposals)


def _round(plain: dict[str, Any]) -> Round:
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in plain.items()}
    return Round(**values)
