"""What an answer can be: the nodes that the parser builds and the comparer reads."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from models_prm.answers.units import Unit


class UnreadableError(ValueError):
    """The text is not an answer this parser understands; the message says where it stopped."""


class UnbalancedError(UnreadableError):
    """A bracket never closes, or closes twice: whatever was meant, this is not a finished answer."""


@dataclass(frozen=True, slots=True)
class Num:
    """An exact rational number."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Sym:
    """A variable; subscripts and primes are part of its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Const:
    """`pi`, `e` or `i`."""

    name: str


@dataclass(frozen=True, slots=True)
class Infinity:
    """Plus or minus infinity."""

    sign: int


@dataclass(frozen=True, slots=True)
class Text:
    """Words that are the answer."""

    words: str


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms added; a difference has a negated term."""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class PlusMinus:
    """`left ± right`, or `∓` with the sign turned."""

    left: Node
    right: Node
    sign: int


@dataclass(frozen=True, slots=True)
class Product:
    """Factors multiplied."""

    factors: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    """A fraction or a division."""

    top: Node
    bottom: Node


@dataclass(frozen=True, slots=True)
class Power:
    """A base to an exponent."""

    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True)
class Call:
    """A function by its plain name, such as `sin`, `abs`, `factorial`, `root` (radicand, degree), `log`."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Integral:
    """A definite integral over `variable`."""

    body: Node
    variable: str
    low: Node
    high: Node


@dataclass(frozen=True, slots=True)
class Based:
    """Digits in a stated base, kept as written: 52_8."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with its unit."""

    value: Node
    unit: Unit


@dataclass(frozen=True, slots=True)
class Bracketed:
    """A tuple, a point or an interval: order and both brackets matter."""

    left: str
    items: tuple[Node, ...]
    right: str


@dataclass(frozen=True, slots=True)
class Listing:
    """Several answers side by side (`2, -2`): their order is free."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Braces:
    """A set."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class SetJoin:
    """`cup`, `cap` or `setminus` of two or more sets."""

    operator: str
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of a matrix; a column vector has one entry a row."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """A chain such as `a <= x < b`: one operator fewer than sides."""

    operators: tuple[str, ...]
    sides: tuple[Node, ...]


Node = (
    Num | Sym | Const | Infinity | Text | Sum | PlusMinus | Product | Quotient | Power | Call | Integral
    | Based | Quantity | Bracketed | Listing | Braces | SetJoin | Matrix | Relation
)  # fmt: skip
