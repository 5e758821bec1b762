"""The exact grader: equal by proof, different by proof, and unknown where it has none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models_prm.answers.compare import compare_texts
from models_prm.answers.normalise import normalise, plain_number, tidy
from models_prm.answers.units import unit_of
from models_prm.answers.verdict import Verdict

RIGHT, WRONG, UNKNOWN = Verdict.RIGHT, Verdict.WRONG, Verdict.UNKNOWN

EQUAL = [
    # Numbers and notation.
    ("2^{10}", "1024"),
    ("5!", "120"),
    # What cancels needs no computing, whatever its size.
    ("10^{10^{10}}-10^{10^{10}}+1", "1"),
    ("(10^{10^{10}})-(10^{10^{10}})+1", "1"),
    ("9^{9^{9^9}}+x-(9^{9^{9^9}}-x)", "2x"),
    ("9^{9^{9^9}}-9^{9^{9^9}}", "0"),
    ("9^{9^{9^9}}+1", "1+9^{9^{9^9}}"),
    # Other alphabets of digits.
    ("x¹⁰", "x^{10}"),
    ("10⁻²", "0.01"),
    ("１２", "12"),
    ("√２", r"\sqrt{2}"),
    (r"\binom{5}{2}", "10"),
    (r"3\frac{1}{2}", r"\frac72"),
    ("3 1/2", "3.5"),
    (r"-3\frac{1}{2}", "-3.5"),
    (r"0.1\overline{6}", r"\frac16"),
    (r"1.2\times10^{-6}", "0.0000012"),
    ("1.5 million", "1500000"),
    (r"\sqrt{12}", r"2\sqrt3"),
    (r"\frac{1}{\sqrt2}", r"\frac{\sqrt2}{2}"),
    (r"\sqrt[3]{-8}", "-2"),
    (r"8\!:\!34 \text{ p.m.}", r"\text{8:34 PM}"),
    ("4:30", r"4:30 \text{ p.m.}"),
    (r"\sqrt{3+2\sqrt2}", r"1+\sqrt2"),
    (r"e^{i\pi}", "-1"),
    (r"(1+i)^2", "2i"),
    (r"\sqrt{-4}", "2i"),
    (r"\frac{1}{1+i}", r"\frac{1-i}{2}"),
    (r"\log_2 8", "3"),
    (r"\ln e^2", "2"),
    (r"|-3|", "3"),
    (r"\cos 0", "1"),
    (r"\tan 15^\circ", r"\tan 15^\circ"),
    (r"\log 100", "2"),
    ("2:3", "4:6"),
    ("1e5", "100000"),
    ("1.5E-3", "0.0015"),
    ("2.5e-3", "0.0025"),
    ("2e-3", "-3+2e"),
    (r"\sin 30^\circ", r"\frac12"),
    (r"\tan 15^\circ", r"2-\sqrt3"),
    (r"\cos(60^\circ)+1", "1.5"),
    # Formulas.
    ("(x+1)(x-1)", "x^2-1"),
    ("(x+1)^{500}", "(1+x)^{499}(x+1)"),
    (r"\frac{2}{x}+4x^2", r"\frac{4x^3+2}{x}"),
    (r"\sin^2 t", r"1-\cos^2 t"),
    (r"\cot\theta", r"\frac{1}{\tan\theta}"),
    (r"\sin 2x", r"2\sin x\cos x"),
    (r"\sqrt{x}\sqrt{y}", r"\sqrt{xy}"),
    ("a_1+a_2", "a_2+a_1"),
    # Several answers, and their containers.
    ("3,2,1", "1,2,3"),
    ("2 and -2", "-2, 2"),
    (r"6, 8\text{, and }10", "10,8,6"),
    (r"1\pm\sqrt2", r"1-\sqrt2, 1+\sqrt2"),
    (r"\frac{1\pm\sqrt5}{2}", r"\frac{1+\sqrt5}{2}, \frac{1-\sqrt5}{2}"),
    ("x = 1 or x = 2", "2,1"),
    (r"\{2,1\}", r"\{1,2\}"),
    (r"\{\}", r"\emptyset"),
    (r"(3,\frac{6}{2})", "(3,3)"),
    (r"(-\infty,2)\cup(3,\infty)", r"(3,\infty)\cup(-\infty,2)"),
    (r"\begin{pmatrix} 1/2 \\ 3 \end{pmatrix}", r"\begin{bmatrix}\frac12\\[2pt] 3\end{bmatrix}"),
    ("100,200", "200,100"),
    # Relations.
    ("x=3", "3"),
    ("f(x) = x^2", "x^2"),
    ("y=2x+3", "2x-y+3=0"),
    ("2y=4x+6", "y=2x+3"),
    ("5>x", "x<5"),
    ("-2x>-10", "x<5"),
    ("x<5", r"(-\infty,5)"),
    (r"-2<x\le 4", "(-2,4]"),
    (r"x\in[1,2)", "[1,2)"),
    (r"4\ge x\ge 1", r"1\le x\le 4"),
    # Units.
    (r"32\text{ cm}^2", "32"),
    (r"32 \text{ sq cm}", r"32\text{ cm}^2"),
    ("3200 cm", "32 m"),
    ("32 m", r"32\text{ m}"),
    (r"\$5", "5 dollars"),
    ("50 cents", r"\$0.50"),
    (r"90^\circ", "90 degrees"),
    (r"90^\circ", r"\frac{\pi}{2}"),
    (r"50\%", "50"),
    (r"50\%", "0.5"),
    ("0.5", r"50\%"),
    (r"60\text{ miles per hour}", "60 mph"),
    (r"\approx 8.24\text{ mph}", "8.24"),
    # Words.
    (r"\text{Evelyn}", "Evelyn"),
    (r"\text{(A)}", "A"),
    ("b", r"\text{(B)}"),
    ("four", "4"),
    (r"\text{Monday}", "monday"),
    (r"\text{forty-two}", "42"),
    ("one hundred and five", "105"),
    ("two thousand", "2000"),
    (r"\text{no real solutions}", "none"),
    (r"\text{No solution}", r"\emptyset"),
    ("DNE", r"\text{does not exist}"),
    (r"\text{A and B}", "B, A"),
    (r"\text{(A)}\ 5", "A"),
    ("B. 12 apples", r"\text{(B)}"),
    ("about 5", "5"),
    # Spellings.
    ("0.333...", r"\frac13"),
    (r"0.1666\ldots", r"\frac16"),
    ("0.(142857)", r"\frac17"),
    (r"x\not=3", r"x\ne 3"),
    (r"\lg 100", "2"),
    (r"\{x \mid x>2\}", r"(2,\infty)"),
    (r"\{x : -1\le x<2\}", "[-1,2)"),
    (r"\mathbb{R}", r"(-\infty,\infty)"),
    (r"\text{all real numbers}", r"\mathbb{R}"),
    ("y=x+1", "f(x)=x+1"),
    (r"\overline{AB}", "AB"),
    (r"\angle ABC", "ABC"),
    ("12 m^2", "12 square meters"),
    ("5 m/s", "5"),
    ("5 m/s", r"5\text{ m/s}"),
    # Inverse functions, odd roots, double factorials.
    (r"\sin^{-1}(1/2)", r"\frac{\pi}{6}"),
    (r"\arctan 1", r"\frac{\pi}{4}"),
    (r"\arccos(-\frac12)", r"\frac{2\pi}{3}"),
    (r"5e^{i\arctan(4/3)}", "3+4i"),
    ("(-8)^{1/3}", "-2"),
    ("(-8)^{2/3}", "4"),
    ("7!!", "105"),
    ("(3!)!", "720"),
    # Bases.
    ("52_{8}", "52_8"),
    (r"1010_{\text{two}}", "1010_2"),
]

DIFFERENT = [
    (r"\frac{1}{2004!}", r"\frac{1}{2006!}"),
    (r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}"),
    (r"1-\frac{1}{\mathrm e}", r"1+\frac{1}{\mathrm e}"),
    ("3x-y+13=0", "3x+4y+14=0"),
    ("52", "52_8"),
    ("42", "52_8"),
    ("1.41421356", r"\sqrt2"),
    ("0.333", r"\frac13"),
    ("4.9999999999", "5"),
    ("4:16 p.m.", "8:32 p.m."),
    ("4:16 a.m.", r"4:16\text{ p.m.}"),
    ("day", "month"),
    ("minute", "second"),
    ("9^{9^{9^{9}}}", "1"),
    (r"\int_0^1 e^{-x^2} \sin(x^3) dx", "0.2"),
    ("p-q", "q-p"),
    ("x", "y"),
    ("x", "3"),
    ("(2,1)", "(1,2)"),
    ("[1,2)", "(1,2)"),
    ("(1,2)", "12"),
    ("1,2,2", "1,2"),
    ("1,1,2", "1,2,2"),
    (r"\{1,2\}", r"\{1,2,3\}"),
    (r"\infty", r"-\infty"),
    (r"\infty", "7"),
    (r"\log\left(\frac{2007}{2006}\right)", "2340"),
    ("x=3", "y=3"),
    ("f(x)=x+1", "f(x)=x+2"),
    (r"\sin 30", r"\frac12"),
    ("x=3", "x=4"),
    ("x>5", "x<5"),
    (r"x\le 5", "x<5"),
    ("y=2x+3", "y=2x-3"),
    ("32 m", "32 cm"),
    (r"32\text{ cm}", r"32\text{ cm}^2"),
    (r"9\text{ min}", r"9\text{ values}"),
    ("20 miles", r"20\text{ square units}"),
    (r"90^\circ", "90 units"),
    (r"9\%", r"9\text{ values}"),
    (r"\$5", r"5\%"),
    (r"\text{Evelyn}", "Carla"),
    (r"\text{A}", "B"),
    ("four", "5"),
    ("forty-two", "43"),
    (r"\text{no solution}", "0"),
    (r"\text{A and B}", "A, C"),
    ("(A) 5", "B"),
    (r"\angle ABC", r"\triangle ABC"),
    ("0.333...", r"\frac{333}{1000}"),
    (r"\{x \mid x>2\}", r"(3,\infty)"),
    (r"\mathbb{R}", r"(0,\infty)"),
    (r"\arctan 1", r"\frac{\pi}{3}"),
    ("5 m/s", "5 km"),
    ("7!!", "5040"),
    ("9^{9^{9^9}}+1", "9^{9^{9^9}}"),
    ("x¹⁰", "x^{11}"),
    (r"\text{yes}", "3"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}2\\1\end{pmatrix}"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1&2\end{pmatrix}"),
    # Brackets that do not match make no answer.
    ("(((1", "1"),
    ("1)", "1"),
    (r"\begin{pmatrix} 1", r"\begin{pmatrix}1\end{pmatrix}"),
]

NOT_KNOWN = [
    ("", "0"),
    (r"\sum_{k=1}^3 k", "6"),
    (r"5\text{ ways}", r"5\text{ paths}"),
    (r"20\text{ units}", r"20\text{ cm}"),
    ("(1,3)\\cup(2,4)", "(1,4)\\cup(1,2)"),
    ("x^2=1", "x^4=1"),
    (r"\arcsin 2", "1"),
    (r"\frac{d}{dx}x^2", "2x"),  # left to those who differentiate
    (r"\sqrt{x^2}", "x"),  # equal for positive x only
    ("y=x+1", "z=x+1"),
    (r"3^{10^{10}}-9^{5\cdot10^{9}}+1", "1"),
    (r"\unheard{x}", "3"),
]


@pytest.fixture(scope="module", autouse=True)
def _deep_recursion() -> Iterator[None]:
    """What the worker process does at its start."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize(("answer", "truth"), EQUAL)
def test_equal_answers_are_right_in_either_order(answer: str, truth: str) -> None:
    assert compare_texts(answer, truth) is RIGHT
    assert compare_texts(truth, answer) is RIGHT


@pytest.mark.parametrize(("answer", "truth"), DIFFERENT)
def test_different_answers_are_wrong(answer: str, truth: str) -> None:
    assert compare_texts(answer, truth) is WRONG


@pytest.mark.parametrize(("answer", "truth"), NOT_KNOWN)
def test_what_cannot_be_proven_is_left_to_others(answer: str, truth: str) -> None:
    assert compare_texts(answer, truth) is UNKNOWN


@pytest.mark.parametrize("pair", EQUAL + DIFFERENT)
def test_every_readable_answer_equals_itself(pair: tuple[str, str]) -> None:
    for text in pair:
        if compare_texts(text, text) is not RIGHT:
            assert text in {"(((1", "1)", r"\begin{pmatrix} 1"}


def test_deep_brackets_and_long_sums_are_read() -> None:
    assert compare_texts("(" * 400 + "1" + ")" * 400, "1") is RIGHT
    assert compare_texts("+".join(["1"] * 3000), "3000") is RIGHT
    assert compare_texts("+".join(["1"] * 3000), "3001") is WRONG


rationals = st.fractions(max_denominator=60, min_value=-200, max_value=200)


@given(a=rationals, b=rationals)
def test_linear_forms_agree_exactly_when_their_coefficients_do(a: Fraction, b: Fraction) -> None:
    left, right = f"({a})x+({b})", f"({b})+x({a})"
    assert compare_texts(left, right) is RIGHT
    assert compare_texts(left, f"({a})x+({b + 1})") is WRONG


@given(n=st.integers(2, 400), m=st.integers(2, 400))
def test_surds_are_told_apart_at_any_distance(n: int, m: int) -> None:
    assert compare_texts(rf"\sqrt{{{n}}}", rf"\sqrt{{{m}}}") is (RIGHT if n == m else WRONG)
    assert compare_texts(rf"\frac{{1}}{{10^{{{n}}}}}", rf"\frac{{1}}{{10^{{{m}}}}}") is (
        RIGHT if n == m else WRONG
    )


@given(text=st.text(alphabet="0123456789xyei+-*/^_(){}[],.=<>|!%$\\ frac sqrt text", max_size=30))
def test_no_text_makes_the_grader_raise(text: str) -> None:
    assert compare_texts(text, "x^2+1") in set(Verdict)
    assert compare_texts("x^2+1", text) in set(Verdict)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10{,}000", 10000), ("10,000", 10000), (r"11,\! 111,\! 111", 11111111), (r"10\,000", 10000),
        (r"\$1,234.50", Fraction("1234.5")), ("$5", 5), ("-.5", Fraction(-1, 2)), ("5.", 5), ("+3", 3),
        (r"-\frac{3}{4}", Fraction(-3, 4)), (r"\frac{-3}{4}", Fraction(-3, 4)), (r"\dfrac12", Fraction(1, 2)),
        (r"\frac 59", Fraction(5, 9)), ("3/4", Fraction(3, 4)), (r"3\frac{1}{2}", Fraction(7, 2)),
        ("3 1/2", Fraction(7, 2)), ("−7", -7), (r"$\frac{1}{2}$", Fraction(1, 2)),
        (r"3\frac{4}{2}", None), ("31/2 4", None), ("1/0", None), (r"50\%", None), ("52_8", None),
        ("3 cm", None), ("1 2", None), ("1,2", None), ("x", None), ("", None), ("1e5", None),
        ("9" * 500, None),
    ],
)  # fmt: skip
def test_plain_numbers_are_read_exactly(text: str, number: Fraction | int | None) -> None:
    assert plain_number(text) == number


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (r"\left( 3, \frac{\pi}{2} \right)", r"(3,\frac{\pi}{2})"),
        (r"90^{\circ}", r"90^\circ"),
        (r"\dfrac{1}{2}", r"\tfrac12"),
        (r"\text{Evelyn}", "evelyn"),
        (r"\mbox{ cm}", r"\text{cm}"),
        ("x = 3", "x=3"),
        (r"\[x\]", "$x$"),
        (r"x\,y", r"x\;y"),
        (r"\sqrt3", r"\sqrt{3}"),
        (r"x \leq 3", r"x\le3"),
        ("π", r"\pi"),
    ],
)
def test_notation_alone_makes_no_difference(left: str, right: str) -> None:
    assert normalise(left) == normalise(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("32 m", "32 cm"),
        ("52_8", "52"),
        ("V", "v"),
        ("-1", "1"),
        ("1 2", "12"),
        ("1,2", "2,1"),
        ("(1,2)", "[1,2]"),
    ],
)
def test_normalising_keeps_what_matters(left: str, right: str) -> None:
    assert normalise(left) != normalise(right)


@given(text=st.text(max_size=40))
def test_tidying_twice_changes_nothing_more_than_once_for_words(text: str) -> None:
    plain = "".join(filter(str.isalnum, text))
    assert tidy(tidy(plain)) == tidy(plain)


@pytest.mark.parametrize(
    ("words", "name", "dimension"),
    [
        ("centimeters", "centimeter", "length"),
        ("cm^2", "centimeter^2", "length^2"),
        ("sq. ft", "foot^2", "length^2"),
        ("feet", "foot", "length"),
        ("miles per hour", "mph", "speed"),
        ("m/s", "meter per second", "length per time"),
        ("dollars per hour", "dollar per hour", "money per time"),
        ("apples", "apple", ""),
        ("cm long", "centimeter", "length"),
    ],
)
def test_units_have_one_name(words: str, name: str, dimension: str) -> None:
    unit = unit_of(words)
    assert (unit.name, unit.dimension) == (name, dimension)
