"""The formula half of the answer parser: sums, products, powers, functions, brackets, matrices.

Recursive descent over `tokens`. What may stand between brackets (lists, relations, units, words) is the
business of the answer half in `parse`, which supplies the methods left open here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

from models_prm.answers import nodes as n
from models_prm.answers.nodes import Node, UnbalancedError, UnreadableError
from models_prm.answers.tokens import Token
from models_prm.answers.units import DEGREE, DOLLAR, UNITS, Unit

MONEY = {"$": DOLLAR, "€": UNITS["euro"], "£": UNITS["sterling"]}
EOF = Token("eof", "")
_STARTERS = frozenset({"number", "repeating", "letter", "function", "command", "(", "{", "begin"})
_CLOSERS = {"(": {")", "]"}, "[": {"]", ")"}, "{": {"}"}, "set{": {"}set"}}
_OPENERS = tuple(_CLOSERS)
# Symbols we need not understand in order to compare them with themselves.
_OPAQUE = frozenset(
    {"alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota",
     "kappa", "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi",
     "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega", "ell", "angle",
     "triangle", "overline", "bar", "vec", "hat", "mathbb", "mathcal", "parallel", "perp", "square", "star"}
)  # fmt: skip
_MAX_DEPTH = 2_000


class FormulaParser(ABC):
    """Reads formulas from tokens; knows where it stands, and which units it has passed in this item."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0
        self.bars = 0
        self.units: list[Unit] = []

    @property
    def next(self) -> Token:
        """The token that comes next, EOF at the end."""
        return self.tokens[self.position] if self.position < len(self.tokens) else EOF

    def take(self, *kinds: str) -> Token | None:
        """The next token when it is of one of these kinds, and step over it; else None."""
        token = self.next
        if token.kind not in kinds:
            return None
        self.position += 1
        return token

    def expect(self, *kinds: str) -> Token:
        """Step over a token of one of these kinds. Raises UnreadableError, UnbalancedError at the end."""
        token = self.take(*kinds)
        if token is None:
            error = UnbalancedError if self.next.kind == "eof" else UnreadableError
            raise error(f"expected {' or '.join(kinds)}, found {self.next.text or self.next.kind!r}")
        return token

    @abstractmethod
    def item(self) -> Node:
        """One answer: a relation, a set expression, words, or a formula with its unit."""

    @abstractmethod
    def items(self) -> tuple[Node, ...]:
        """Answers separated by commas."""

    @abstractmethod
    def text(self) -> Node:
        """Words that are the answer."""

    @abstractmethod
    def unit(self, factors: list[Node]) -> bool:
        """Words after a value; False when there are none."""

    def sum(self) -> Node:
        """sum := term (("+" | "-" | "±" | "∓") term)*. Raises UnreadableError when nested too deeply."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            kinds = [token.kind for token in self.tokens]
            closed = sum(map(kinds.count, _OPENERS)) == sum(map(kinds.count, (")", "]", "}", "}set")))
            raise UnreadableError("nested too deeply") if closed else UnbalancedError("brackets stay open")
        terms: list[Node] = [self.term()]
        while token := self.take("+", "-", "pm", "mp"):
            term = self.term()
            if token.kind in {"pm", "mp"}:
                terms = [n.PlusMinus(_sum(terms), term, 1 if token.kind == "pm" else -1)]
            else:
                terms.append(negated(term) if token.kind == "-" else term)
        self.depth -= 1
        return _sum(terms)

    def term(self) -> Node:
        """term := sign term | money? factor (("*" | "/")? factor | unit)*, or words."""
        if token := self.take("+", "-"):
            return self.term() if token.kind == "+" else negated(self.term())
        if token := self.take("pm", "mp"):
            return n.PlusMinus(n.Num(Fraction(0)), self.term(), 1 if token.kind == "pm" else -1)
        money = self.take("money")
        if money:
            self.units.append(MONEY[money.text])
        if not money and self.next.kind == "word":
            return self.text()
        factors: list[Node] = [self.signed_factor()]
        while True:
            if self.take("*"):
                factors.append(self.signed_factor())
            elif self.take("/"):
                factors = [n.Quotient(_product(factors), self.signed_factor())]
            elif self.next.kind in _STARTERS or (self.next.kind == "|" and not self.bars):
                self.implicit_factor(factors)
            elif not self.unit(factors):
                return _product(factors)

    def signed_factor(self) -> Node:
        """signed_factor := "-" signed_factor | power."""
        return negated(self.signed_factor()) if self.take("-") else self.power()

    def implicit_factor(self, factors: list[Node]) -> None:
        """Juxtaposition: a product, except that 3\\frac{1}{2} and `3 1/2` are mixed numbers."""
        last = factors[-1]
        if isinstance(last, n.Num) and self.next.kind == "number":
            if self.position + 1 < len(self.tokens) and self.tokens[self.position + 1].kind == "/":
                top = self.power()
                self.expect("/")
                factors[-1] = _mixed(last, n.Quotient(top, self.power()))
                return
            raise UnreadableError("two numbers without an operator")
        written_fraction = self.next == Token("command", "frac")
        factor = self.power()
        if written_fraction and len(factors) == 1 and isinstance(last, n.Num) and _is_proper(factor):
            factors[-1] = _mixed(last, factor)
        else:
            factors.append(factor)

    def power(self) -> Node:
        """power := postfix ("^" script postfix)?."""
        base = self.postfix(self.atom())
        if not self.take("^"):
            return base
        exponent = self.script()
        return self.postfix(n.Power(base, exponent))

    def postfix(self, node: Node) -> Node:
        """Factorial marks after a value."""
        while self.take("!"):
            # 5!! is 5 * 3 * 1, not (5!)!.
            node = n.Call("double_factorial" if self.take("!") else "factorial", (node,))
        return node

    def script(self) -> Node:
        """What follows `^`: a group, or one signed value; a tower without braces binds to the right."""
        if self.take("-"):
            return negated(self.script())
        self.take("+")
        return self.power()

    def atom(self) -> Node:
        """One value. Raises UnbalancedError at the end, UnreadableError where no value can begin."""
        token = self.next
        self.position += 1
        if token.kind == "number":
            return self.number(token.text)
        if token.kind == "repeating":
            return n.Num(_repeating(token.text))
        if token.kind == "letter":
            return self.letter(token.text)
        if token.kind in _CLOSERS:
            return self.bracket(token.kind)
        if token.kind == "|":
            self.bars += 1
            body = self.sum()
            self.expect("|")
            self.bars -= 1
            return n.Call("abs", (body,))
        if token.kind == "function":
            return self.function(token.text)
        if token.kind == "command":
            return self.command(token.text)
        if token.kind == "begin":
            return self.matrix(token.text)
        if token.kind == "eof":
            raise UnbalancedError("the answer ends too early")
        raise UnreadableError(f"a value cannot begin with {token.text!r}")

    def number(self, digits: str) -> Node:
        """A number, or digits with their base as a subscript."""
        if self.next.kind == "_" and digits.isdigit():
            self.position += 1
            base = self.script()
            if isinstance(base, n.Num) and base.value.denominator == 1 and 2 <= base.value <= 36:
                return n.Based(digits, int(base.value))
            raise UnreadableError("a number with an odd subscript")
        return n.Num(Fraction(digits))

    def letter(self, name: str) -> Node:
        """A variable with its subscript, or the constants e and i."""
        if self.take("_"):
            return n.Sym(f"{name}_{self.subscript()}")
        return n.Const(name) if name in {"e", "i"} else n.Sym(name)

    def subscript(self) -> str:
        """The text of a subscript, one token or a group."""
        if not self.take("{"):
            return self.expect("number", "letter", "word", "command").text
        name = ""
        while token := self.take("number", "letter", "word", "command", "+", "-", ","):
            name += token.text
        self.expect("}")
        return name

    def bracket(self, left: str) -> Node:
        """Parentheses group one value; with commas they are a tuple or an interval. Braces may be a set."""
        bars, self.bars = self.bars, 0
        if left == "set{" and self.take("}set"):
            return n.Braces(())
        items = self.items()
        right = self.expect(*_CLOSERS[left]).kind
        self.bars = bars
        if left == "set{":
            return n.Braces(items)
        if len(items) == 1 and (left, right) in {("(", ")"), ("[", "]"), ("{", "}")}:
            return items[0]
        return n.Listing(items) if left == "{" else n.Bracketed(left, items, right)

    def function(self, name: str) -> Node:
        """A named function with the base of a logarithm, a power after its name, and its argument."""
        if name == "sqrt":
            return self.root()
        base = self.script() if name == "log" and self.take("_") else None
        exponent = self.script() if self.take("^") else None
        argument = self.function_argument()
        if isinstance(argument, n.Quantity) and argument.unit == DEGREE:
            argument = radians(argument.value)
        elif self.next == Token("unit", "degree"):
            self.position += 1
            argument = radians(argument)
        if exponent == n.Num(Fraction(-1)) and name in {"sin", "cos", "tan"}:
            return n.Call(f"arc{name}", (argument,))
        call: Node = n.Call(name, (argument,) if base is None else (argument, base))
        return call if exponent is None else n.Power(call, exponent)

    def function_argument(self) -> Node:
        """`sin 2x` takes the whole product that follows, up to the next sign, slash or function."""
        if self.next.kind in {"(", "{", "|"}:
            return self.power()
        factors = [self.signed_factor()]
        while self.next.kind in {"number", "letter", "command", "(", "{"}:
            factors.append(self.power())
        return _product(factors)

    def root(self) -> Node:
        """A root: square, or of the degree in square brackets."""
        degree: Node | None = None
        if self.take("["):
            degree = self.sum()
            self.expect("]")
        radicand = self.argument(whole_number=True)
        return n.Call("sqrt", (radicand,)) if degree is None else n.Call("root", (radicand, degree))

    def argument(self, *, whole_number: bool = False) -> Node:
        """The argument of a command: a group or one token. `\\frac12` takes one digit at a time."""
        token = self.next
        if token.kind == "number" and len(token.text) > 1 and not whole_number:
            self.tokens[self.position] = Token("number", token.text[1:])
            return n.Num(Fraction(token.text[0]))
        return self.atom()

    def command(self, name: str) -> Node:
        """A LaTeX command that stands for a value."""
        if name == "frac":
            top, bottom = self.argument(), self.argument()
            if (
                _is_differential(top)
                and isinstance(bottom, n.Product)
                and _is_differential(bottom.factors[0])
            ):
                raise UnreadableError("a derivative")
            return n.Quotient(top, bottom)
        if name == "pi":
            return n.Const("pi")
        if name == "infty":
            return n.Infinity(1)
        if name == "binom":
            top = self.argument()
            return n.Call("binomial", (top, self.argument()))
        if name == "boxed":
            return self.argument()
        if name == "int":
            return self.integral()
        if name in {"emptyset", "varnothing"}:
            return n.Braces(())
        if name not in _OPAQUE:
            raise UnreadableError(f"unknown command \\{name}")
        return n.Sym("\\" + name + (f"_{self.subscript()}" if self.take("_") else ""))

    def integral(self) -> Node:
        """A definite integral with its variable."""
        self.expect("_")
        low = self.argument()
        self.expect("^")
        high = self.argument()
        body = self.sum()
        if isinstance(body, n.Product) and len(body.factors) > 2:
            *inner, differential, variable = body.factors
            if differential == n.Sym("d") and isinstance(variable, n.Sym):
                return n.Integral(_product(inner), variable.name, low, high)
        raise UnreadableError("an integral without its differential")

    def matrix(self, environment: str) -> Node:
        """A matrix or column vector. Raises UnreadableError for other environments."""
        if environment not in {"pmatrix", "bmatrix", "matrix", "array", "smallmatrix", "Bmatrix"}:
            raise UnreadableError(f"unknown environment {environment}")
        rows: list[tuple[Node, ...]] = []
        while not self.take("end"):
            row = [self.item()]
            while self.take("&"):
                row.append(self.item())
            rows.append(tuple(row))
            if not self.take("row") and self.next.kind != "end":
                self.expect("end")
        return n.Matrix(tuple(rows))


def radians(degrees: Node) -> Node:
    """The same angle without a unit."""
    return n.Quotient(n.Product((degrees, n.Const("pi"))), n.Num(Fraction(180)))


def negated(node: Node) -> Node:
    """The node with its sign turned."""
    if isinstance(node, n.Num):
        return n.Num(-node.value)
    if isinstance(node, n.Infinity):
        return n.Infinity(-node.sign)
    if isinstance(node, n.Quotient) and isinstance(node.top, n.Num):
        return n.Quotient(n.Num(-node.top.value), node.bottom)
    return n.Product((n.Num(Fraction(-1)), node))


def _is_differential(node: Node) -> bool:
    """The d of d/dx, or its power."""
    return node == n.Sym("d") or isinstance(node, n.Power) and node.base == n.Sym("d")


def _sum(terms: list[Node]) -> Node:
    return terms[0] if len(terms) == 1 else n.Sum(tuple(terms))


def _product(factors: list[Node]) -> Node:
    return factors[0] if len(factors) == 1 else n.Product(tuple(factors))


def _is_proper(node: Node) -> bool:
    match node:
        case n.Quotient(n.Num(top), n.Num(bottom)):
            return 0 < top < bottom
    return False


def _mixed(whole: n.Num, part: Node) -> Node:
    if whole.value.denominator != 1 or not _is_proper(part):
        raise UnreadableError("not a mixed number")
    return n.Sum((whole, part))


def _repeating(text: str) -> Fraction:
    """`0.1|6` is 0.1666..."""
    written, period = text.split("|")
    decimals = len(written.split(".")[1])
    start = Fraction(written + "0")
    return start + Fraction(int(period), 10**decimals * (10 ** len(period) - 1))
