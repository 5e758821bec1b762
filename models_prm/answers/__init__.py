"""Final answers: find them in a solution, and grade them right, wrong or unknown.

Nothing here imports sympy or math-verify in the calling process: graders that may hang run in killable
worker processes (`GraderPool`).
"""

from models_prm.answers.cache import GradeCache
from models_prm.answers.doubts import grade_with_doubts, in_doubt
from models_prm.answers.extract import extract_answer, split_final_answer
from models_prm.answers.pool import GraderPool, GraderStartError, grade, grade_in_full
from models_prm.answers.verdict import GRADER_VERSION, Grade, Strictness, Verdict

__all__ = [
    "GRADER_VERSION",
    "Grade",
    "GradeCache",
    "GraderPool",
    "GraderStartError",
    "Strictness",
    "Verdict",
    "extract_answer",
    "grade",
    "grade_in_full",
    "grade_with_doubts",
    "in_doubt",
    "split_final_answer",
]
