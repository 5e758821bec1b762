"""The exact grader: reads both answers into nodes and compares them by kind, with proofs where it can.

`RIGHT` means equal as numbers, as identities at exact points, or element by element; `WRONG` means proven
different (or different words, units, bases, kinds); `UNKNOWN` leaves the pair to the other graders.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from models_prm.answers import nodes as n
from models_prm.answers.evaluate import free_names
from models_prm.answers.formulas import negated, radians
from models_prm.answers.identity import LOG_BASES, has_bare_log, proportional, same_values, with_log_base
from models_prm.answers.nodes import Node, UnbalancedError, UnreadableError
from models_prm.answers.normalise import clock_time, tidy
from models_prm.answers.parse import read_answer
from models_prm.answers.respell import aligned, number_in_words, respell
from models_prm.answers.tokens import has_grouping_commas
from models_prm.answers.units import DEGREE, PERCENT, UNITS, Unit, may_be_one
from models_prm.answers.verdict import Verdict

RIGHT, WRONG, UNKNOWN = Verdict.RIGHT, Verdict.WRONG, Verdict.UNKNOWN
_JOINTS = re.compile(r",|;|\band\b|\bor\b|&")
_SCALAR = (n.Num, n.Sym, n.Const, n.Sum, n.Product, n.Quotient, n.Power, n.Call, n.Integral)
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


def compare_texts(answer: str, truth: str) -> Verdict:
    """Compare two answers as written. An answer whose brackets do not match is wrong, not unknown."""
    answer, truth = aligned(respell(tidy(answer)), respell(tidy(truth)))
    if answer and answer == truth:
        return RIGHT
    times = clock_time(answer), clock_time(truth)
    if times[0] and times[1] and (times[0][3] or times[1][3]):
        # With a.m. or p.m. on one side it is no ratio; the other may have left it out.
        halves = {times[0][3], times[1][3]} - {0}
        return RIGHT if times[0][:3] == times[1][:3] and len(halves) == 1 else WRONG
    verdict = _compare_readings(answer, truth, group_commas=True)
    if verdict is not RIGHT and (has_grouping_commas(answer) or has_grouping_commas(truth)):
        listed = _compare_readings(answer, truth, group_commas=False)
        return listed if listed is RIGHT else verdict
    return verdict


def _compare_readings(answer: str, truth: str, *, group_commas: bool) -> Verdict:
    try:
        right = read_answer(truth, group_commas=group_commas)
    except UnreadableError:
        return UNKNOWN
    try:
        left = read_answer(answer, group_commas=group_commas)
    except UnbalancedError:
        return WRONG
    except UnreadableError:
        return UNKNOWN
    return compare(_spread(left), _spread(right))


def compare(left: Node, right: Node) -> Verdict:
    """Compare two nodes by kind; symmetric in its arguments."""
    if left == right:
        return RIGHT
    if isinstance(left, n.Quantity) or isinstance(right, n.Quantity):
        return _quantities(left, right)
    if isinstance(left, n.Text) or isinstance(right, n.Text):
        return _texts(left, right)
    if isinstance(left, n.Relation) or isinstance(right, n.Relation):
        return _relations(left, right)
    if isinstance(left, n.Based) or isinstance(right, n.Based):
        return _based(left, right)
    if isinstance(left, n.Infinity) or isinstance(right, n.Infinity):
        return WRONG
    if isinstance(left, _SCALAR) and isinstance(right, _SCALAR):
        return _scalars(left, right)
    return _collections(left, right)


def _spread(node: Node) -> Node:
    """Write `a ± b` out as the two answers it stands for, at the top or inside a listing."""
    if isinstance(node, n.Listing):
        items: list[Node] = []
        for item in node.items:
            spread = _spread(item)
            items.extend(spread.items if isinstance(spread, n.Listing) else [spread])
        return n.Listing(tuple(items))
    if isinstance(node, n.PlusMinus):
        minus = negated(node.right)
        return n.Listing((_join(node.left, node.right), _join(node.left, minus)))
    if isinstance(node, n.Quotient) and isinstance(node.top, n.PlusMinus):
        halves = _spread(node.top)
        assert isinstance(halves, n.Listing)
        return n.Listing(tuple(n.Quotient(half, node.bottom) for half in halves.items))
    if isinstance(node, n.Relation) and node.operators == ("=",):
        spread = _spread(node.sides[1])
        return n.Relation(("=",), (node.sides[0], spread))
    return node


def _join(left: Node, right: Node) -> Node:
    return right if left == n.Num(Fraction(0)) else n.Sum((left, right))


def _same(verdicts: Sequence[Verdict]) -> Verdict:
    """All right is right; one wrong is wrong; else unknown."""
    result = RIGHT
    for verdict in verdicts:
        if verdict is WRONG:
            return WRONG
        if verdict is UNKNOWN:
            result = UNKNOWN
    return result


# Numbers and formulas.


def _scalars(left: Node, right: Node) -> Verdict:
    if _is_letter(left) and _is_letter(right):
        return RIGHT if _letter(left) == _letter(right) else WRONG
    if has_bare_log(left) == has_bare_log(right):
        return same_values(left, right)
    verdicts = {same_values(with_log_base(left, base), with_log_base(right, base)) for base in LOG_BASES}
    return verdicts.pop() if len(verdicts) == 1 else RIGHT if RIGHT in verdicts else UNKNOWN


def _is_letter(node: Node) -> bool:
    return isinstance(node, n.Sym) and len(node.name) == 1 or isinstance(node, n.Const) and node.name != "pi"


def _letter(node: Node) -> str:
    assert isinstance(node, n.Sym | n.Const)
    return node.name.casefold()


# Units, words, bases.


def _quantities(left: Node, right: Node) -> Verdict:
    a, b = _quantity(left, right), _quantity(right, left)
    if a.unit == b.unit:
        return compare(a.value, b.value)
    if PERCENT in {a.unit, b.unit}:
        return _percent(a, b)
    if _NO_UNIT in {a.unit, b.unit}:
        return _one_unit(a, b)
    if a.unit.dimension != b.unit.dimension or not a.unit.dimension:
        same = may_be_one(a.unit, b.unit) and compare(a.value, b.value) is not WRONG
        return UNKNOWN if same else WRONG
    return compare(_scaled(a.value, a.unit.factor), _scaled(b.value, b.unit.factor))


_NO_UNIT = Unit("")


def _quantity(node: Node, other: Node) -> n.Quantity:
    """The node with its unit; a letter such as m is a unit only where the other side has one."""
    if isinstance(node, n.Quantity):
        return node
    if isinstance(node, n.Product) and isinstance(other, n.Quantity) and other.unit not in {PERCENT, DEGREE}:
        last = node.factors[-1]
        if isinstance(last, n.Sym) and last.name in UNITS and len(node.factors) == 2:
            return n.Quantity(node.factors[0], UNITS[last.name])
    return n.Quantity(node, _NO_UNIT)


def _one_unit(a: n.Quantity, b: n.Quantity) -> Verdict:
    """One side has no unit: the numbers decide. 90 degrees also equals pi/2."""
    verdict = compare(a.value, b.value)
    if verdict is not RIGHT and DEGREE in {a.unit, b.unit}:
        turned = [radians(q.value) if q.unit == DEGREE else q.value for q in (a, b)]
        if compare(*turned) is RIGHT:
            return RIGHT
    return verdict


def _percent(a: n.Quantity, b: n.Quantity) -> Verdict:
    """MATH's convention first: 50% equals 50. It also equals 0.5, its value."""
    other = b.unit if a.unit == PERCENT else a.unit
    if other != _NO_UNIT:
        return UNKNOWN if may_be_one(a.unit, b.unit) else WRONG
    if compare(a.value, b.value) is RIGHT:
        return RIGHT
    sizes = [_scaled(q.value, Fraction(1, 100)) if q.unit == PERCENT else q.value for q in (a, b)]
    return compare(*sizes)


def _scaled(node: Node, factor: Fraction) -> Node:
    return n.Product((n.Num(factor), node))


def _texts(left: Node, right: Node) -> Verdict:
    if isinstance(left, n.Text) and isinstance(right, n.Text):
        a, b = _letters(left.words), _letters(right.words)
        return RIGHT if a == b and (a or left.words == right.words) else WRONG
    text, other = (left, right) if isinstance(left, n.Text) else (right, left)
    assert isinstance(text, n.Text)
    number = number_in_words(text.words.casefold())
    if number is not None:
        return compare(n.Num(Fraction(number)), other)
    if isinstance(other, n.Listing):
        words = [word for word in _JOINTS.split(text.words) if word.strip()]
        return _in_any_order([n.Text(word) for word in words], other.items) if len(words) > 1 else WRONG
    if other == n.Braces(()) and _letters(text.words) == "none":
        return RIGHT
    if isinstance(other, n.Sym | n.Const):
        return RIGHT if _letters(text.words) == _letters(other.name) else WRONG
    if isinstance(other, n.Product) and all(isinstance(factor, n.Sym | n.Const) for factor in other.factors):
        return RIGHT if _letters(text.words) == "".join(map(_letter, other.factors)) else WRONG
    # A whole answer in words is no number. Words with digits may be anything; "none" may be a set.
    return UNKNOWN if any(map(str.isdigit, text.words)) or other == n.Braces(()) else WRONG


def _letters(words: str) -> str:
    return "".join(filter(str.isalnum, words.casefold()))


def _based(left: Node, right: Node) -> Verdict:
    """52_8 equals 52_8 only: not 52, and not 42, since the question asked for that base."""
    if isinstance(left, n.Based) and isinstance(right, n.Based):
        return (
            RIGHT if (left.digits.lstrip("0"), left.base) == (right.digits.lstrip("0"), right.base) else WRONG
        )
    return WRONG


# Equations and inequalities.


def _relations(left: Node, right: Node) -> Verdict:
    if isinstance(left, n.Relation) and isinstance(right, n.Relation):
        return _two_relations(left, right)
    relation, other = (left, right) if isinstance(left, n.Relation) else (right, left)
    assert isinstance(relation, n.Relation)
    if relation.operators in {("=",), ("in",), ("approx",)} and _is_name(relation.sides[0]):
        return compare(relation.sides[1], other)
    if set(relation.operators) == {"="} and isinstance(other, _SCALAR):
        return compare(relation.sides[-1], other)
    as_interval = _interval_of(relation)
    return compare(as_interval, other) if as_interval is not None else UNKNOWN


def _is_name(node: Node) -> bool:
    """A variable, a word, or something like f(x): what stands left of "=" when a value is being named."""
    if isinstance(node, n.Sym | n.Text):
        return True
    is_call = isinstance(node, n.Product) and all(isinstance(factor, n.Sym) for factor in node.factors)
    return is_call and len(node.factors) <= 3 if isinstance(node, n.Product) else False


def _is_call_of(left: Node, right: Node) -> bool:
    """Whether one side is y and the other something like f(x)."""
    sides = (left, right)
    return n.Sym("y") in sides and any(isinstance(s, n.Product) and len(s.factors) == 2 for s in sides)


def _two_relations(left: n.Relation, right: n.Relation) -> Verdict:
    if left.operators == right.operators and len(left.sides) == len(right.sides):
        if all(compare(a, b) is RIGHT for a, b in zip(left.sides, right.sides, strict=True)):
            return RIGHT
        named = _is_name(left.sides[0]) and _is_name(right.sides[0]) and left.operators in {("=",), ("in",)}
        if named and left.sides[0] == right.sides[0]:
            return compare(left.sides[1], right.sides[1])
        if named and free_names(left.sides[1]) and compare(left.sides[1], right.sides[1]) is RIGHT:
            # y = x + 1 is the graph of f(x) = x + 1.
            return RIGHT if _is_call_of(left.sides[0], right.sides[0]) else UNKNOWN
    if len(left.operators) == len(right.operators) == 1:
        return _rearranged(left, right)
    turned = tuple(_FLIPPED.get(operator, "") for operator in reversed(right.operators))
    if left.operators == turned:
        return _same([compare(a, b) for a, b in zip(left.sides, reversed(right.sides), strict=True)])
    return WRONG if left.operators == right.operators else UNKNOWN


def _rearranged(left: n.Relation, right: n.Relation) -> Verdict:
    """Equal when one side-difference is a constant multiple of the other (a positive one if directed)."""
    (first,), (second,) = left.operators, right.operators
    if first not in _FLIPPED or second not in _FLIPPED:
        return UNKNOWN
    a, b = _difference(left), _difference(right)
    if not free_names(a) or free_names(a) != free_names(b):
        return WRONG if free_names(a) and free_names(b) else UNKNOWN
    if first == "=" and second == "=":
        return proportional(a, b, sign=0)
    if first == second:
        return proportional(a, b, sign=1)
    return proportional(a, b, sign=-1) if _FLIPPED[first] == second else WRONG


def _difference(relation: n.Relation) -> Node:
    return n.Sum((relation.sides[0], negated(relation.sides[1])))


def _interval_of(relation: n.Relation) -> Node | None:
    """x < 5 as (-inf, 5), and 1 <= x < 2 as [1, 2), when one variable stands alone."""
    sides, operators = relation.sides, relation.operators
    if len(operators) == 1 and isinstance(sides[1], n.Sym) and operators[0] in _FLIPPED:
        sides, operators = (sides[1], sides[0]), (_FLIPPED[operators[0]],)
    if len(operators) == 1 and isinstance(sides[0], n.Sym):
        bracket = {"<": ("(", ")"), "<=": ("(", "]"), ">": ("(", ")"), ">=": ("[", ")")}.get(operators[0])
        if bracket is None:
            return None
        ends = (n.Infinity(-1), sides[1]) if "<" in operators[0] else (sides[1], n.Infinity(1))
        return n.Bracketed(bracket[0], ends, bracket[1])
    if len(operators) == 2 and isinstance(sides[1], n.Sym) and all(op in {"<", "<="} for op in operators):
        left, right = ("(" if operators[0] == "<" else "["), (")" if operators[1] == "<" else "]")
        return n.Bracketed(left, (sides[0], sides[2]), right)
    return None


# Tuples, intervals, sets, listings, matrices.


def _collections(left: Node, right: Node) -> Verdict:
    if isinstance(left, n.Bracketed) and isinstance(right, n.Bracketed):
        if (left.left, left.right) != (right.left, right.right):
            return WRONG
        return _in_order(left.items, right.items)
    if isinstance(left, n.Matrix) and isinstance(right, n.Matrix):
        if [len(row) for row in left.rows] != [len(row) for row in right.rows]:
            return WRONG
        return _in_order(sum(left.rows, ()), sum(right.rows, ()))
    if isinstance(left, n.SetJoin) and isinstance(right, n.SetJoin):
        return _set_joins(left, right)
    if isinstance(left, n.Listing | n.Braces) and isinstance(right, n.Listing | n.Braces):
        return _in_any_order(left.items, right.items)
    if isinstance(left, n.Listing) or isinstance(right, n.Listing):
        return WRONG if isinstance(left, _SCALAR) or isinstance(right, _SCALAR) else UNKNOWN
    ordered = (n.Bracketed, n.Matrix)
    if isinstance(left, ordered) and isinstance(right, _SCALAR):
        return WRONG
    if isinstance(right, ordered) and isinstance(left, _SCALAR):
        return WRONG
    return UNKNOWN


def _in_order(left: Sequence[Node], right: Sequence[Node]) -> Verdict:
    if len(left) != len(right):
        return WRONG
    return _same([compare(a, b) for a, b in zip(left, right, strict=True)])


def _in_any_order(left: Sequence[Node], right: Sequence[Node]) -> Verdict:
    """Pair off equal elements. Elements are few; each is matched with the first equal one left."""
    if len(left) != len(right):
        return WRONG
    rest, unsure = list(right), False
    for item in left:
        verdicts = [compare(item, other) for other in rest]
        if RIGHT in verdicts:
            del rest[verdicts.index(RIGHT)]
        elif UNKNOWN in verdicts:
            unsure = True
        else:
            return WRONG
    return UNKNOWN if unsure else RIGHT


def _set_joins(left: n.SetJoin, right: n.SetJoin) -> Verdict:
    if left.operator != right.operator:
        return UNKNOWN
    match: Callable[[Sequence[Node], Sequence[Node]], Verdict]
    match = _in_order if left.operator == "setminus" else _in_any_order
    verdict = match(left.parts, right.parts)
    # Different parts may still make one set: (1,3) u (2,4) is (1,4).
    return RIGHT if verdict is RIGHT else UNKNOWN
