"""Process reward models of others, one file each, behind the same `StepScorer` as our own.

`models_prm.scoring.load_scorer` opens any of them. Every adapter builds token ids itself: what people wrote
is tokenized with special tokens off, the marks are ids, and where a score is read follows from how the
sequence was built. So text that looks like a mark adds no score, and a probability of exactly 0 loses none.
"""
