"""What all methods share: the tree, asking for steps, scoring paths, counting cost, writing the record."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from models_prm.aggregate import solution_score, step_scores
from models_prm.encoding.tree import StepTree
from models_prm.errors import SearchError
from models_prm.interfaces import Proposal, StepProposer, StepScorer
from models_prm.records import ScoringItem, StepScores
from models_prm.sampling.records import sample_seed
from models_prm.search.records import Call, Node, Round, SearchConfig, SearchProblem, SearchRecord, Usage


class Workspace:
    """One search in progress. Node 0 is the problem."""

    def __init__(
        self, problem: SearchProblem, proposer: StepProposer, scorer: StepScorer, config: SearchConfig
    ) -> None:
        self.problem, self.proposer, self.scorer, self.config = problem, proposer, scorer, config
        self.nodes = [Node(0, -1, 0, fate="kept")]
        self.calls: list[Call] = []
        self.rounds: list[Round] = []
        self.usage = Usage()
        self._scores: dict[tuple[str, ...], StepScores] = {}

    def steps(self, node: int) -> tuple[str, ...]:
        """Steps from the problem down to a node."""
        steps: list[str] = []
        while node > 0:
            if self.nodes[node].text:
                steps.append(self.nodes[node].text)
            node = self.nodes[node].parent
        return tuple(reversed(steps))

    def over_budget(self) -> bool:
        """Whether a token limit is reached: then nothing more is asked for."""
        generated, prm = self.config.max_generated_tokens, self.config.max_prm_tokens
        return (0 < generated <= self.usage.generated_tokens) or (0 < prm <= self.usage.prm_tokens)

    def expand(self, parents: Sequence[int], m: int, *, together: bool = False) -> list[list[int]]:
        """New nodes below each parent from `m` proposals each, unscored.

        Equal proposals become one node with their number as `count`: those of one entry of `parents`, or
        with `together` those of all entries that are the same node (which is then in each entry's list). A
        finished and an unfinished step of equal text are not equal.
        """
        seed = sample_seed(self.config.seed, self.problem.key, len(self.calls))
        prefixes = [(self.problem.text, self.steps(parent)) for parent in parents]
        answer = self.proposer.propose(prefixes, m, seed)
        if len(answer) != len(parents) or any(len(group) != m for group in answer):
            raise SearchError(f"the proposer {self.proposer.name} did not give {m} proposals per prefix")
        self.calls.append(Call(tuple(parents), m, seed, tuple(map(tuple, answer))))
        self.usage.proposer_calls += 1
        self.usage.proposals += m * len(parents)
        self.usage.generated_tokens += sum(p.tokens for group in answer for p in group)
        known: dict[tuple[int, str, bool, bool], int] = {}
        groups: list[list[int]] = []
        for parent, proposals in zip(parents, answer, strict=True):
            if not together:
                known.clear()
            groups.append(list(dict.fromkeys(self._add(parent, p, known) for p in proposals)))
        return groups

    def _add(self, parent: int, p: Proposal, known: dict[tuple[int, str, bool, bool], int]) -> int:
        """The node of a proposal: a new one, or one more of an equal one."""
        same = known.get((parent, p.text, p.finished, p.truncated))
        if same is not None:
            self.nodes[same].count += 1
            return same
        depth = self.nodes[parent].depth + 1
        node = Node(len(self.nodes), parent, depth, p.text, p.finished, p.truncated, round=len(self.rounds))
        if p.truncated:
            node.fate, node.reason = "unfinished", "cut off by the token limit of a step"
        elif not p.text and not p.finished:
            node.fate, node.reason = "unfinished", "empty step"
        elif p.finished:
            node.fate = "finished"
        elif depth >= self.config.max_depth:
            node.fate, node.reason = "unfinished", "depth limit"
        self.nodes.append(node)
        known[parent, p.text, p.finished, p.truncated] = node.id
        return node.id

    def score(self, nodes: Sequence[int]) -> None:
        """Give nodes their probabilities and values; each different path is scored once in a search."""
        paths = {self.steps(node) for node in nodes}
        fresh = sorted(path for path in paths if path and path not in self._scores)
        if fresh:
            items = [ScoringItem(str(i), self.problem.text, path) for i, path in enumerate(fresh)]
            results = list(self.scorer.score(items))
            if sorted(r.key for r in results) != sorted(i.key for i in items):
                raise SearchError(f"the scorer {self.scorer.name} did not give one result per path")
            self._scores |= {fresh[int(r.key)]: r for r in results}
            self.usage.scorer_calls += 1
            self.usage.scored_paths += len(fresh)
            self._count(fresh)
        for node in nodes:
            self._set_value(self.nodes[node], self._scores.get(self.steps(node)))

    def _set_value(self, node: Node, result: StepScores | None) -> None:
        """No value for a path without steps, or with steps that did not fit into the scorer's context.

        The path's earlier steps get their probabilities, too, where they had none.
        """
        if result is None or result.dropped or not result.probs:
            node.reason = node.reason or "no score"
            return
        place = node.id
        for probs in reversed(result.probs):
            while not self.nodes[place].text:
                place = self.nodes[place].parent
            if self.nodes[place].probs is None:
                self.nodes[place].probs = probs
            place = self.nodes[place].parent
        node.value = solution_score(step_scores(result.probs, self.config.neutral), self.config.score_method)

    def _count(self, paths: Sequence[tuple[str, ...]]) -> None:
        tree = StepTree(self.problem.text)
        for path in paths:
            tree.add(path)
        texts = [tree.problem, *tree.texts]
        encoder = getattr(getattr(self.scorer, "prm", None), "encoder", None)
        if encoder is None:
            self.usage.prm_tokens_estimated = True
            self.usage.prm_tokens += sum(-(-len(text) // 4) for text in texts)
        else:
            self.usage.prm_tokens += sum(map(len, encoder.texts(texts))) + len(texts)

    def ranked(self, nodes: Iterable[int]) -> list[int]:
        """Nodes with a value, best first; equal values in order of appearance."""
        scored = [n for n in nodes if self.nodes[n].value is not None]
        return sorted(scored, key=lambda n: (-(self.nodes[n].value or 0.0), n))

    def decide(self, proposed: Sequence[int], kept: Sequence[int]) -> None:
        """Note a round: of the open nodes among `proposed`, those not kept are pruned."""
        pruned = [n for n in proposed if n not in kept and self.nodes[n].fate == "open"]
        for n in pruned:
            node = self.nodes[n]
            node.fate, node.reason = "pruned", node.reason or "others scored higher"
        for n in kept:
            if self.nodes[n].fate == "open":
                self.nodes[n].fate = "kept"
        self.rounds.append(Round(len(self.rounds), tuple(proposed), tuple(kept), tuple(pruned)))

    def record(self, method: str, chosen: int | None, stopped: str) -> SearchRecord:
        """The finished record. Open nodes become unfinished; what is chosen must be finished and scored."""
        for node in self.nodes:
            if node.fate == "open":
                node.fate, node.reason = "unfinished", node.reason or stopped
        if chosen is not None:
            assert self.nodes[chosen].finished
            assert self.nodes[chosen].value is not None
            self.nodes[chosen].fate = "chosen"
        return SearchRecord(
            method,
            self.problem,
            dataclasses.asdict(self.config),
            self.proposer.name,
            self.scorer.name,
            self.nodes,
            self.calls,
            self.rounds,
            self.usage,
            stopped,
            chosen,
        )
