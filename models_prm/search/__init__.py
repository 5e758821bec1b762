"""Search for a solution at inference time, guided by a step scorer. One method a file, one signature:

    record = search(problem, proposer, scorer, config)      # -> SearchRecord

Nothing here knows an answer key: a `SearchProblem` is a key and a text. Importing this loads nothing heavy.
"""

from __future__ import annotations

from collections.abc import Callable

from models_prm.interfaces import StepProposer, StepScorer
from models_prm.search import beam, best_of_n, mcts
from models_prm.search.beam import BeamConfig
from models_prm.search.best_of_n import BestOfNConfig
from models_prm.search.mcts import MctsConfig
from models_prm.search.records import SearchConfig, SearchProblem, SearchRecord

Search = Callable[[SearchProblem, StepProposer, StepScorer, SearchConfig], SearchRecord]

METHODS: dict[str, tuple[type[SearchConfig], Search]] = {
    "best_of_n": (BestOfNConfig, best_of_n.search),
    "beam": (BeamConfig, beam.search),
    "mcts": (MctsConfig, mcts.search),
}
"""Every method by its name in records and on the command line: its settings, and the search itself."""


def search(
    problem: SearchProblem, proposer: StepProposer, scorer: StepScorer, config: SearchConfig
) -> SearchRecord:
    """Run the method whose settings `config` is. Raises SearchError for settings of no method."""
    from models_prm.errors import SearchError

    for kind, run in METHODS.values():
        if type(config) is kind:
            return run(problem, proposer, scorer, config)
    raise SearchError(
        f"{type(config).__name__} is the settings of no method: use one of {', '.join(METHODS)}"
    )


__all__ = [
    "METHODS",
    "BeamConfig",
    "BestOfNConfig",
    "MctsConfig",
    "SearchConfig",
    "SearchProblem",
    "SearchRecord",
    "search",
]
