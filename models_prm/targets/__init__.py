"""Step labels from other sources than people. Importing this loads nothing heavy.

`outcome`: the final answer's grade. `large_prm`: another reward model's word. `rollouts`: how often a
generator reaches the right answer from a prefix (Monte Carlo). `arithmetic`: false equalities inside a step,
an extra. All give `StepTargets`, written as TRL's stepwise rows.
"""

from models_prm.targets.records import Counts, PoolSolution, StepTargets, read_solutions

__all__ = ["Counts", "PoolSolution", "StepTargets", "read_solutions"]
