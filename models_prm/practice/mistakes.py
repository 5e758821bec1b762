"""The catalogue of natural mistakes that practice solutions carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Mistake:
    """One way to go wrong.

    `shown`: the wrong step itself contains a false equality, so a calculator (or substituting the
    true value of the unknown) exposes it; otherwise the step misreads the problem or leaves the
    rules, and only a reader sees it. `local`: a slip of the pen, after which a solver may well go
    on with the right value.
    """

    name: str
    title: str
    shown: bool = True
    local: bool = False


_ENTRIES: Final = (
    # Arithmetic.
    Mistake("times_table", "A product from the times table is off by one factor", local=True),
    Mistake("dropped_carry", "A carry is dropped in an addition or a long multiplication", local=True),
    Mistake("borrow_slip", "A borrow is forgotten in a subtraction", local=True),
    Mistake("counting_slip", "A small sum or difference is off by one", local=True),
    Mistake("off_by_one_division", "A quotient is off by one", local=True),
    Mistake("zero_lost", "A zero is lost or added in a product or quotient", local=True),
    Mistake("decimal_point", "The decimal point lands in the wrong place", local=True),
    Mistake(
        "sign_arithmetic", "The sign of a sum, difference or product of signed numbers is wrong", local=True
    ),
    Mistake("order_of_operations", "Operations are done from left to right against their priority"),
    Mistake("running_equals", "Equals signs are strung together between unequal things"),
    Mistake("copied_wrong", "A number is copied wrongly from the problem", shown=False, local=True),
    # Fractions.
    Mistake("added_denominators", "Fractions are added top to top and bottom to bottom"),
    Mistake("numerator_not_scaled", "The denominator is extended and the numerator is left as it was"),
    Mistake("inverted_wrong_fraction", "In a division the first fraction is turned over, not the second"),
    Mistake("reduced_unevenly", "Numerator and denominator are divided by different numbers", local=True),
    Mistake("mixed_number", "A mixed number is turned into a fraction without multiplying the whole part"),
    Mistake("cancelled_terms", "Terms of a sum are cancelled as if they were factors"),
    Mistake("fraction_of_whole", "A fraction of the rest is taken of the whole", shown=False),
    Mistake("forgot_reciprocal", "A rate is taken for a time: the last reciprocal is forgotten", shown=False),
    # Percent.
    Mistake("percent_wrong_base", "A percent is taken of the wrong base", shown=False),
    Mistake("percents_added", "Percents that follow each other are added", shown=False),
    Mistake("percent_to_decimal", "A percent is turned into a wrong decimal"),
    # Algebra.
    Mistake("sign_lost_moving", "A term changes sides and keeps its sign"),
    Mistake("distributed_first_only", "A factor reaches only the first term of a bracket"),
    Mistake("minus_not_distributed", "A minus before a bracket reaches only its first term"),
    Mistake("subtracted_coefficient", "A coefficient is subtracted where it must divide"),
    Mistake("divided_upside_down", "The coefficient is divided by the constant, not the other way round"),
    Mistake("combined_unlike_terms", "Unlike terms are combined"),
    Mistake("one_side_only", "An operation is applied to one side, or one term, of an equation only"),
    Mistake("swapped_roles", "Two quantities change places when the equation is set up", shown=False),
    Mistake("half_applied", "A change that touches both quantities is applied to one", shown=False),
    # Quadratic equations.
    Mistake("termwise_square", "A sum is squared term by term"),
    Mistake("wrong_discriminant", "The discriminant is computed with a wrong sign"),
    Mistake("wrong_sign_of_b", "The formula is used with b in place of -b"),
    Mistake("forgot_two_a", "The formula is divided by a wrong denominator"),
    Mistake("only_one_root", "A square root is taken with one sign only", shown=False),
    Mistake(
        "divided_by_unknown", "Both sides are divided by the unknown and the root 0 is lost", shown=False
    ),
    Mistake("root_sign", "The roots are read off the factors with the wrong sign"),
    Mistake("wrong_factor_pair", "The factors have the right product and the wrong sum"),
    # Reading and reasoning.
    Mistake("unit_slip", "Units are mixed or converted wrongly", shown=False),
    Mistake("perimeter_for_area", "Perimeter and area are mixed up", shown=False),
    Mistake("averaged_averages", "Averages of groups of different size are averaged", shown=False),
    Mistake("fencepost", "Gaps are counted where posts are asked, or the other way round", shown=False),
    Mistake("remainder_ignored", "A remainder is dropped where it needs one more", shown=False),
    Mistake("one_side_counted", "A border is counted on one side only", shown=False),
    Mistake("unjustified_jump", "A claim is made without a reason, and it is false", shown=False),
    Mistake("other_quantity", "The solution answers another question than the one asked", shown=False),
)

CATALOGUE: Final[dict[str, Mistake]] = {entry.name: entry for entry in _ENTRIES}
"""Every mistake by its name, in a fixed order."""
