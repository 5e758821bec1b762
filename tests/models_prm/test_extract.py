"""Where the final answer of a solution is found, and what never passes for one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models_prm.answers import extract_answer, split_final_answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        # The last balanced box, however deep its braces.
        (r"So $\boxed{\frac{1}{2}}$.", r"\frac{1}{2}"),
        (r"First $\boxed{3}$, then after a check $\boxed{4}$.", "4"),
        (r"$\boxed{\{1,2\}}$", r"\{1,2\}"),
        (r"$\boxed{\text{a \} b}}$", r"\text{a \} b}"),
        (r"$\fbox{7}$", "7"),
        (r"$\boxed 7$ apples", "7"),
        (r"$\boxed{\boxed{9}}$", "9"),
        (r"We get $\boxed{5}$ and then the cut $\boxed{6", "5"),
        (r"Write it in \boxed{}. It is $\boxed{8}$. Use \boxed{ } always.", "8"),
        (r"\boxed{2} #### 3", "2"),
        # "# Answer", as PRM800K writes it; the first block after it.
        ("We add.\n\n# Answer\n\n42", "42"),
        ("We add.\n# Answer\n\n\\frac{3}{4}\n\nThat was easy.", "\\frac{3}{4}"),
        ("# Answer\n\n1\n\nNo:\n\n# Answer\n\n2", "2"),
        ("## Final answer: 12", "12"),
        # GSM8K references.
        ("She has 4 eggs.\n#### 1,234", "1,234"),
        # Sentences.
        ("The answer is $3.5$. Done.", "$3.5$"),
        ("the answer is: 12.", "12"),
        ("Therefore the final answer is x = 2\nbecause of that", "x = 2"),
        ("The answer is 1. Wait, the answer is 2.", "2"),
        # GSM8K model solutions.
        ("She pays $18.\nA: 18", "18"),
        ("A: 1\nA: -2.5", "-2.5"),
        # The same in full, plain and bold.
        ("We add.\nAnswer: 24", "24"),
        ("We add.\n**Answer:** 24", "24"),
        ("We add.\n**Final answer**: $x=2$", "$x=2$"),
        # None of these.
        ("", None),
        ("Just thinking about 42", None),
        ("Answering is hard", None),
        ("A: ", None),
        ("\\boxed{", None),
        ("BA: 3", None),
        ("An answer: 3", None),
    ],
)
def test_the_final_answer_is_found(text: str, answer: str | None) -> None:
    assert extract_answer(text) == answer


@pytest.mark.parametrize(
    ("steps", "body", "answer"),
    [
        (["Add.", "So it is 42.\n\n# Answer\n\n42"], ["Add.", "So it is 42."], "42"),
        (["Add.", "# Answer\n\n42"], ["Add."], "42"),
        (["Add.", "A: 7"], ["Add."], "7"),
        (["Add.", "It is $\\boxed{7}$."], ["Add.", "It is $\\boxed{7}$."], "7"),
        (["It is $\\boxed{7}$.", "Nice."], ["It is $\\boxed{7}$.", "Nice."], "7"),
        (["Add.", "Stop."], ["Add.", "Stop."], None),
        ([], [], None),
    ],
)
def test_the_answer_block_comes_off_the_last_step(
    steps: list[str], body: list[str], answer: str | None
) -> None:
    before = list(steps)
    assert split_final_answer(steps) == (body, answer)
    assert steps == before


braced = st.recursive(
    st.text("ab1 $", max_size=5), lambda inner: st.tuples(inner, inner).map(lambda p: f"{p[0]}{{{p[1]}}}")
)


@given(content=braced.map(str.strip).filter(bool), noise=st.text("ab {}#$\n", max_size=20))
def test_a_balanced_box_is_found_after_any_noise(content: str, noise: str) -> None:
    assert extract_answer(f"{noise}\\boxed{{{content}}}") == content


@given(text=st.text())
def test_an_answer_is_never_empty(text: str) -> None:
    assert extract_answer(text) != ""


@pytest.mark.parametrize(
    "unit", ["\\boxed{", "{", "#### ", "A: \n", "# Answer\n\n", "the answer is ", ". ", "\\"]
)
def test_a_hostile_long_text_is_read_in_linear_time(unit: str) -> None:
    started = time.process_time()
    extract_answer(unit * 50_000 + "the answer is " + ". $" * 50_000)
    assert time.process_time() - started < 5
