"""Read an answer written in LaTeX or plain text into nodes: formulas, tuples, sets, intervals, words, units.

It reads what final answers look like, not all of LaTeX; anything else raises UnreadableError, and the grading
goes on with the other graders.
"""

from __future__ import annotations

from fractions import Fraction

from models_prm.answers import nodes as n
from models_prm.answers.formulas import MONEY, FormulaParser
from models_prm.answers.nodes import Node, UnbalancedError, UnreadableError
from models_prm.answers.tokens import Token, tokenise
from models_prm.answers.units import unit_of

RELATIONS = frozenset({"=", "<", ">", "<=", ">=", "!=", "in", "approx"})
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}


def read_answer(text: str, *, group_commas: bool = True) -> Node:
    """The node of a tidied answer. Raises UnreadableError, UnbalancedError when brackets do not match."""
    tokens = tokenise(text, group_commas=group_commas)
    if not tokens:
        raise UnreadableError("nothing to read")
    parser = AnswerParser(tokens)
    node = parser.answer()
    if parser.next.kind != "eof":
        if parser.next.kind in {")", "]", "}", "}set"}:
            raise UnbalancedError(f"{parser.next.text!r} closes nothing")
        raise UnreadableError(f"cannot go on at {parser.next.text!r}")
    return node


class AnswerParser(FormulaParser):
    """Reads whole answers: lists of items, each a relation, a set expression, words or a quantity."""

    def answer(self) -> Node:
        """answer := items; one item is itself, several are a listing."""
        items = self.items()
        return items[0] if len(items) == 1 else n.Listing(items)

    def items(self) -> tuple[Node, ...]:
        """items := item ("," item)*."""
        items = [self.item()]
        while self.take(","):
            while self.take(","):  # "2, and 3"
                pass
            items.append(self.item())
        return tuple(items)

    def item(self) -> Node:
        """item := relation with at most one unit, which belongs to its last side."""
        outer, self.units = self.units, []
        node = self.relation()
        units, self.units = set(self.units), outer
        if len(units) > 1:
            raise UnreadableError("two units in one value")
        if not units:
            return node
        if isinstance(node, n.Relation):
            *sides, last = node.sides
            return n.Relation(node.operators, (*sides, n.Quantity(last, units.pop())))
        return n.Quantity(node, units.pop())

    def relation(self) -> Node:
        """relation := set_expression (("=" | "<" | ...) set_expression)*."""
        sides, operators = [self.set_expression()], []
        while token := self.take(*RELATIONS):
            operators.append(token.kind)
            sides.append(self.set_expression())
        return n.Relation(tuple(operators), tuple(sides)) if operators else sides[0]

    def set_expression(self) -> Node:
        """set_expression := ratio (("∪" | "∩" | "∖") ratio)*."""
        node = self.ratio()
        while token := self.take("cup", "cap", "setminus"):
            right = self.ratio()
            if isinstance(node, n.SetJoin) and node.operator == token.kind != "setminus":
                node = n.SetJoin(token.kind, (*node.parts, right))
            else:
                node = n.SetJoin(token.kind, (node, right))
        return node

    def ratio(self) -> Node:
        """ratio := sum (":" sum)*; of two parts a quotient, of more an ordered list."""
        parts = [self.sum()]
        while self.take(":"):
            parts.append(self.sum())
        if len(parts) == 2:
            return n.Quotient(parts[0], parts[1])
        return parts[0] if len(parts) == 1 else n.Bracketed("(", tuple(parts), ")")

    def text(self) -> Node:
        """Words that are the answer, up to the next separator or relation."""
        words: list[str] = []
        while self.next.kind not in {"eof", "end", ",", ")", "]", "}", "}set", "&", "row"} | RELATIONS:
            words.append(self.next.text)
            self.position += 1
        return n.Text(" ".join(words))

    def unit(self, factors: list[Node]) -> bool:
        """Words after a value: its unit, or a scale such as million."""
        token = self.take("unit", "word", "money")
        if token is None:
            return False
        if token.kind == "money":
            self.units.append(MONEY[token.text])
            return True
        words = [token.text]
        while following := self.take("word"):
            words.append(following.text)
        if words[0].casefold() in _SCALES:
            factors.append(n.Num(Fraction(10 ** _SCALES[words.pop(0).casefold()])))
        if words and words[0] == "of":
            raise UnreadableError("words after a value")
        if self.take("^"):
            words[-1] += "^" + self.expect_small_exponent()
        if self.next == Token("/", "/") and self.tokens[self.position + 1 : self.position + 2]:
            following = self.tokens[self.position + 1]
            if following.kind in {"word", "letter"}:
                self.position += 2
                words[-1] += "/" + following.text
        if words:
            self.units.append(unit_of(" ".join(words)))
        return True

    def expect_small_exponent(self) -> str:
        """The 2 or 3 after a unit. Raises UnreadableError for any other."""
        braced = self.take("{")
        exponent = self.expect("number").text
        if braced:
            self.expect("}")
        if exponent not in {"2", "3"}:
            raise UnreadableError("unit to an unusual power")
        return exponent
