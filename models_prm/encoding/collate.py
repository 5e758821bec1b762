"""Trees of steps to sequences, and sequences to batches, with numpy only.

A packed sequence holds a problem and a part of its tree: every token attends to its own path alone and has
the position it would have in the path by itself, so packing changes the cost and not the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from models_prm.encoding.tokenizer import StepEncoder
from models_prm.encoding.tree import StepTree
from models_prm.errors import MarkerError

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class EncodedTree:
    """Token ids of a tree: the problem with its mark, and each node ending in the step mark."""

    tree: StepTree
    prompt: list[int]
    nodes: list[list[int]]


@dataclass
class Piece:
    """A part of a tree that goes into one sequence: nodes in order, parents before children.

    `fresh[i]` says whether node i counts here; otherwise it is context that was counted in another piece.
    """

    source: EncodedTree
    nodes: list[int] = field(default_factory=list)
    fresh: list[bool] = field(default_factory=list)
    tokens: int = 0
    branching: bool = False

    def add(self, node: int, fresh: bool) -> None:
        """Append a node."""
        previous = self.nodes[-1] if self.nodes else -1
        self.branching = self.branching or self.source.tree.parents[node] != previous
        self.nodes.append(node)
        self.fresh.append(fresh)
        self.tokens += len(self.source.nodes[node])


@dataclass(frozen=True)
class Sequence_:
    """One packed sequence of n tokens.

    `ids`, `positions`: int64 [n]. `previous`: int64 [n], index of the token before it on its path (-1 for the
    first). `owner`: int64 [n], 0 for the problem, 1 + k for the k-th node. `ancestors`: bool [m, m] over
    owners.
    `markers`: int64 [k], index of each node's step mark. `counted`: bool [n], tokens of nodes that count
    here.
    """

    piece: Piece
    ids: Ints
    positions: Ints
    previous: Ints
    owner: Ints
    ancestors: NDArray[np.bool_]
    markers: Ints
    counted: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Batch:
    """Padded sequences: `ids`, `positions` int64 [b, t]; `mask` bool [b, t] or [b, 1, t, t] (True: attend).

    `rows`, `columns`: where the step marks are, one entry per node, in the order of the sequences' nodes;
    `before`: column of the last token before each mark on its path (the other read-out).
    """

    sequences: list[Sequence_]
    ids: Ints
    positions: Ints
    mask: NDArray[np.bool_]
    rows: Ints
    columns: Ints
    before: Ints


def encode_trees(encoder: StepEncoder, trees: Sequence[StepTree]) -> list[EncodedTree]:
    """Tokenize all texts of the trees in one call."""
    prompts = encoder.prompts([tree.problem for tree in trees])
    places = [place for tree in trees for place in tree.places()]
    steps = iter(encoder.steps([text for tree in trees for text in tree.texts], places))
    return [
        EncodedTree(tree, prompt, [next(steps) for _ in tree.texts])
        for tree, prompt in zip(trees, prompts, strict=True)
    ]


def pieces(encoded: EncodedTree, *, max_length: int, pack_tokens: int, packing: str) -> Iterator[Piece]:
    """Cut a tree into pieces. Nodes whose path is longer than `max_length` are in no piece (whole steps
    only).

    With packing "none" a piece is a single path. A piece is larger than `pack_tokens` only if a path is.
    """
    tree = encoded.tree
    children = tree.children()
    current: Piece | None = None
    stack = [(node, len(encoded.prompt)) for node in reversed(_leaves_first(children, -1))]
    while stack:
        node, before = stack.pop()
        length = before + len(encoded.nodes[node])
        if length > max_length:
            continue
        if current is None or not _fits(current, node, pack_tokens, packing):
            if current is not None:
                yield current
            current = _context(encoded, tree.parents[node])
        current.add(node, fresh=True)
        stack.extend((child, length) for child in reversed(_leaves_first(children, node)))
    if current is not None:
        yield current


def _leaves_first(children: list[list[int]], node: int) -> list[int]:
    """Children of a node, those without children of their own first: alternatives stay with their prefix."""
    return sorted(children[node], key=lambda child: bool(children[child]))


def _fits(piece: Piece, node: int, pack_tokens: int, packing: str) -> bool:
    parent = piece.source.tree.parents[node]
    if packing == "none":
        return bool(piece.nodes) and parent == piece.nodes[-1]
    if parent >= 0 and parent not in piece.nodes:
        return False
    return piece.tokens + len(piece.source.nodes[node]) <= pack_tokens


def _context(encoded: EncodedTree, parent: int) -> Piece:
    """A new piece that holds the path down to `parent` as context."""
    path: list[int] = []
    while parent >= 0:
        path.append(parent)
        parent = encoded.tree.parents[parent]
    piece = Piece(encoded, tokens=len(encoded.prompt))
    for node in reversed(path):
        piece.add(node, fresh=False)
    return piece


def sequence(piece: Piece, step_id: int) -> Sequence_:
    """Lay a piece out as one sequence. Raises MarkerError unless it has exactly one step mark per node."""
    encoded, parents = piece.source, piece.source.tree.parents
    prompt = len(encoded.prompt)
    ids = [encoded.prompt, *(encoded.nodes[node] for node in piece.nodes)]
    ends: dict[int, int] = {-1: prompt - 1}  # node -> index of its last token
    position_of: dict[int, int] = {-1: prompt}  # node -> position that follows it on its path
    slot = {node: k + 1 for k, node in enumerate(piece.nodes)} | {-1: 0}
    positions, previous = [np.arange(prompt)], [np.arange(prompt) - 1]
    owner, counted = [np.zeros(prompt, np.int64)], [np.full(prompt, any(piece.fresh[:1]))]
    ancestors = np.zeros((len(piece.nodes) + 1,) * 2, dtype=np.bool_)
    ancestors[0, 0] = True
    start = prompt
    for k, node in enumerate(piece.nodes):
        n, parent = len(encoded.nodes[node]), parents[node]
        positions.append(position_of[parent] + np.arange(n))
        previous.append(np.concatenate([[ends[parent]], np.arange(start, start + n - 1)]))
        owner.append(np.full(n, k + 1))
        counted.append(np.full(n, piece.fresh[k]))
        ancestors[k + 1] = ancestors[slot[parent]]
        ancestors[k + 1, k + 1] = True
        start += n
        ends[node], position_of[node] = start - 1, position_of[parent] + n
    flat = np.fromiter((i for part in ids for i in part), np.int64)
    markers = np.array([ends[node] for node in piece.nodes], np.int64)
    if (found := int((flat == step_id).sum())) != len(piece.nodes) or np.any(flat[markers] != step_id):
        raise MarkerError(
            f"{len(piece.nodes)} steps but {found} step marks in the sequence: nothing was scored"
        )
    return Sequence_(
        piece,
        flat,
        np.concatenate(positions),
        np.concatenate(previous),
        np.concatenate(owner),
        ancestors,
        markers,
        np.concatenate(counted),
    )


def collate(sequences: Sequence[Sequence_], pad_id: int, multiple: int = 1) -> Batch:
    """Pad on the right to a multiple of `multiple`. The mask is two-dimensional where all are single paths.

    Few different sizes keep the matrix library from compiling (and keeping) kernels for every new one.
    """
    size = -(-max(len(s) for s in sequences) // multiple) * multiple
    ids = np.full((len(sequences), size), pad_id, np.int64)
    positions = np.zeros((len(sequences), size), np.int64)
    for row, s in enumerate(sequences):
        ids[row, : len(s)] = s.ids
        positions[row, : len(s)] = s.positions
    if any(s.piece.branching for s in sequences):
        mask = np.zeros((len(sequences), 1, size, size), np.bool_)
        mask[:, 0] = np.eye(size, dtype=np.bool_)  # padding attends to itself: a row of nothing would be NaN
        for row, s in enumerate(sequences):
            mask[row, 0, : len(s), : len(s)] = s.ancestors[s.owner[:, None], s.owner[None, :]]
            mask[row, 0] &= np.tri(size, dtype=np.bool_)
    else:
        mask = np.arange(size)[None, :] < np.array([len(s) for s in sequences])[:, None]
    rows = np.repeat(np.arange(len(sequences)), [len(s.markers) for s in sequences])
    columns = np.concatenate([s.markers for s in sequences])
    before = np.concatenate([s.previous[s.markers] for s in sequences])
    return Batch(list(sequences), ids, positions, mask, rows, columns, before)


def plan_batches(lengths: Sequence[int], batch_tokens: int, rng: np.random.Generator) -> list[list[int]]:
    """Indices of the sequences of each batch of one epoch, every sequence once.

    Padded size stays within `batch_tokens` (one sequence may exceed it alone). Sequences of like length meet
    within windows of the shuffled order only, so that a batch is not a class of solutions.
    """
    order = rng.permutation(len(lengths))
    mean = max(1, int(np.mean(lengths))) if len(lengths) else 1
    window = max(1, 16 * batch_tokens // mean)
    batches: list[list[int]] = []
    for begin in range(0, len(order), window):
        part = sorted(order[begin : begin + window].tolist(), key=lambda i: lengths[i])
        batches.extend(cut_batches(part, lengths, batch_tokens))
    return [batches[i] for i in rng.permutation(len(batches))]


def cut_batches(order: Sequence[int], lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Cut an order into consecutive batches whose padded size stays within `batch_tokens`."""
    batch: list[int] = []
    longest = 0
    for index in order:
        longest = max(longest, lengths[index])
        if batch and longest * (len(batch) + 1) > batch_tokens:
            yield batch
            batch, longest = [], lengths[index]
        batch.append(index)
    if batch:
        yield batch
