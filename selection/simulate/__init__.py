"""Labelers that work over HTTP as a browser does, so that the loop runs with no human.

judgement.py decides what to say (pure), browser.py speaks HTTP, labeler.py does a labeler's day.
"""

from selection.simulate.judgement import Habits, Judgement, Truth, judge
from selection.simulate.labeler import Ending, Labeler, Report

__all__ = ["Ending", "Habits", "Judgement", "Labeler", "Report", "Truth", "judge"]
