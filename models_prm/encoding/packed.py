"""Token sequences to packed batches without padding, with numpy only.

Sequences of one window are sorted by their ids, so that those which begin alike are neighbours. Each keeps
only the tokens that its neighbour does not have: the problem is there once for all its solutions, a shared
step once, an equal solution not at all. All tokens of a batch lie in one row; attention runs along each
sequence's own path through that row. A causal model gives a token the same state whichever sequence it is
met in, so sharing changes the cost and not the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

FILL = 0.8
"""Paths of one attention call are at least this share of its longest one: what little padding there is."""
SMALL = 1024
"""Attention calls with fewer tokens than this take in shorter paths too: a call has a cost of its own."""


@dataclass(frozen=True)
class PathGroup:
    """Paths of like length that go through one attention call: n paths, up to q queries and k keys.

    `queries` [n, q], `keys` [n, k]: places in the row; beyond a path's end place 0 fills up. `columns` [n,
    q]: how far along its path a query stands: it attends to the keys of the columns up to its own. `slots`:
    which of the n * q outputs count; `places`: where they belong. `causal`: queries are the keys, so that
    no mask is needed.
    """

    queries: Ints
    keys: Ints
    columns: Ints
    slots: Ints
    places: Ints
    causal: bool


@dataclass(frozen=True)
class PackedBatch:
    """One forward pass: t tokens in a row, of which k are read.

    `ids`, `positions` [t]; `groups` cover each token once; `read` [k]: places that are read, ascending;
    `last`: groups in which only those ask: their `queries` and `places` count in `read`. `members`: index
    of each sequence in the caller's list; `rows[i]`: where in `read` its readings are.
    """

    ids: Ints
    positions: Ints
    groups: list[PathGroup]
    read: Ints
    last: list[PathGroup]
    members: list[int]
    rows: list[Ints]


@dataclass
class _Path:
    """A sequence inside the batch being filled: its places in the row, of which those from `own` are new."""

    member: int
    places: Ints
    own: int


def plan(ids: Sequence[Ints], reads: Sequence[Ints], batch_tokens: int) -> Iterator[PackedBatch]:
    """Batches of at most `batch_tokens` tokens (one sequence may exceed it alone); every sequence is in one.

    `ids[i]`: int64 tokens of sequence i; `reads[i]`: positions in it whose states are wanted.
    """
    keys = [sequence.astype(">u4").tobytes() for sequence in ids]
    order = sorted(range(len(ids)), key=keys.__getitem__)
    batch: list[_Path] = []
    size = 0
    for member in order:
        sequence = ids[member]
        shared = common(ids[batch[-1].member], sequence) if batch else 0
        if batch and size + len(sequence) - shared > batch_tokens:
            yield _packed(batch, size, ids, reads)
            batch, size, shared = [], 0, 0
        own = len(sequence) - shared
        new = np.arange(size, size + own)
        places = np.concatenate([batch[-1].places[:shared], new]) if shared else new
        batch.append(_Path(member, places, shared))
        size += own
    if batch:
        yield _packed(batch, size, ids, reads)


def common(one: Ints, two: Ints) -> int:
    """Length of the common beginning of two sequences."""
    n = min(len(one), len(two))
    different = one[:n] != two[:n]
    first = int(different.argmax()) if n else 0
    return first if n and different[first] else n


def _packed(paths: list[_Path], size: int, ids: Sequence[Ints], reads: Sequence[Ints]) -> PackedBatch:
    flat, positions, owner = (np.empty(size, np.int64) for _ in range(3))
    for number, path in enumerate(paths):
        own = path.places[path.own :]
        flat[own] = ids[path.member][path.own :]
        positions[own] = np.arange(path.own, len(path.places))
        owner[own] = number
    at = [path.places[reads[path.member]] for path in paths]
    read = np.unique(np.concatenate(at))
    return PackedBatch(
        flat,
        positions,
        list(_groups([path for path in paths if path.own < len(path.places)])),
        read,
        list(_reading_groups(paths, read, owner[read], positions)),
        [path.member for path in paths],
        [np.searchsorted(read, places) for places in at],
    )


def _cut(lengths: Sequence[int], asking: Sequence[int]) -> Iterator[list[int]]:
    """Indices grouped by like length, longest first, and by number of queries (32, 64, 128, ...)."""
    kinds: dict[int, list[int]] = {}
    for index, queries in enumerate(asking):
        kinds.setdefault(max(queries - 1, 31).bit_length(), []).append(index)
    for indices in kinds.values():
        yield from _cut_by_length(indices, lengths)


def _cut_by_length(indices: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    part: list[int] = []
    total = longest = 0
    for index in sorted(indices, key=lambda i: -lengths[i]):
        if part and total >= SMALL and lengths[index] < FILL * longest:
            yield part
            part, total = [], 0
        if not part:
            longest = lengths[index]
        part.append(index)
        total += longest
    if part:
        yield part


def _groups(paths: list[_Path]) -> Iterator[PathGroup]:
    """Whole paths where most of a path is new (no mask); else only the new tokens ask."""
    whole = [p for p in paths if 2 * (len(p.places) - p.own) >= len(p.places)]
    ends = [p for p in paths if 2 * (len(p.places) - p.own) < len(p.places)]
    for part in _cut([len(p.places) for p in whole], [1] * len(whole)):
        chosen = [whole[i] for i in part]
        keys = _padded([p.places for p in chosen])
        columns = np.arange(keys.shape[1])[None, :]
        owns, lengths = (
            np.array(a)[:, None] for a in zip(*((p.own, len(p.places)) for p in chosen), strict=True)
        )
        slots = np.flatnonzero((columns >= owns) & (columns < lengths))
        yield PathGroup(keys, keys, columns, slots, keys.reshape(-1)[slots], causal=True)
    for part in _cut([len(p.places) for p in ends], [len(p.places) - p.own for p in ends]):
        chosen = [ends[i] for i in part]
        yield _asking(
            [p.places for p in chosen],
            [p.places[p.own :] for p in chosen],
            [np.arange(p.own, len(p.places)) for p in chosen],
            [p.places[p.own :] for p in chosen],
        )


def _reading_groups(paths: list[_Path], read: Ints, owner: Ints, positions: Ints) -> Iterator[PathGroup]:
    """Groups in which only the places that are read ask, each in the path that brought it."""
    numbers = [np.flatnonzero(owner == n) for n in range(len(paths))]
    with_reads = [n for n, found in enumerate(numbers) if len(found)]
    asking = [len(numbers[n]) for n in with_reads]
    for part in _cut([len(paths[n].places) for n in with_reads], asking):
        chosen = [with_reads[i] for i in part]
        yield _asking(
            [paths[n].places for n in chosen],
            [numbers[n] for n in chosen],
            [positions[read[numbers[n]]] for n in chosen],
            [numbers[n] for n in chosen],
        )


def _asking(
    keys: Sequence[Ints], queries: Sequence[Ints], columns: Sequence[Ints], places: Sequence[Ints]
) -> PathGroup:
    asked = _padded(queries)
    counts = np.array([len(row) for row in queries])[:, None]
    slots = np.flatnonzero(np.arange(asked.shape[1]) < counts)
    return PathGroup(asked, _padded(keys), _padded(columns), slots, np.concatenate(places), causal=False)


def _padded(rows: Sequence[Ints]) -> Ints:
    out = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for row, values in zip(out, rows, strict=True):
        row[: len(values)] = values
    return out
