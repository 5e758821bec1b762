"""PRM800K lines, phase 1 and phase 2: as judgements (`parse_label`) and as solutions (`parse_solution`).

The line is kept whole. Taken as they are, because the published files have them: a step whose fields are
all null, `flagged` null, ratings null where the labeler gave up, a completion both chosen and written by a
person, missing phase-2 fields. Source: openai/prm800k, README and data files.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from labeling.formats.fields import Fields
from labeling.formats.rows import LabelRow, ProblemRow, SolutionRow
from labeling.records import rating_counts

TOP = (
    "labeler",
    "timestamp",
    "generation",
    "is_quality_control_question",
    "is_initial_screening_question",
    "question",
    "label",
)
QUESTION = (
    "problem",
    "ground_truth_solution",
    "ground_truth_answer",
    "pre_generated_steps",
    "pre_generated_answer",
    "pre_generated_verifier_score",
)
LABEL = ("steps", "total_time", "finish_reason")
STEP = ("completions", "human_completion", "chosen_completion")
COMPLETION = ("text", "rating", "source", "flagged")
FINISH_REASONS = ("found_error", "solution", "bad_problem", "give_up")
SMALLEST, LARGEST = -(2**31), 2**31 - 1


def recognise(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("question"), dict) and isinstance(data.get("label"), dict)


def parse_label(data: Mapping[str, Any]) -> LabelRow:
    """The judgement of one line. Unknown names beside the seven of PRM800K go to `side`. Raises BadRecord."""
    fields = Fields(data)
    _check_top(fields)
    problem = _problem(fields.inner("question"))
    label = fields.inner("label")
    _check_label(label)
    fields.done()
    record = {name: value for name, value in data.items() if name in TOP}
    side = {name: value for name, value in data.items() if name not in TOP}
    return LabelRow(problem, record, side, rating_counts(record))


def parse_solution(data: Mapping[str, Any]) -> SolutionRow:
    """The solution that one line judges: the pre-generated steps, or in phase 1 the path that was taken."""
    row = parse_label(data)
    question = row.record["question"]
    steps = question.get("pre_generated_steps") or path(row.record)
    fields = Fields({"steps": list(steps)}, "label.")
    kept = fields.steps("steps")
    fields.done()
    score = question.get("pre_generated_verifier_score")
    return SolutionRow(
        problem=row.problem,
        steps=kept,
        answer=question.get("pre_generated_answer"),
        once=True,
        extra={} if score is None else {"pre_generated_verifier_score": score},
    )


def path(record: Mapping[str, Any]) -> list[str]:
    """The texts of the solution the labeler walked along, one a step."""
    return [completion["text"] for completion in path_completions(record)]


def path_completions(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Per step the completion taken: chosen, else the person's, else the first, which ends the path."""
    for step in record["label"]["steps"]:
        completions = step["completions"] or []
        chosen, written = step.get("chosen_completion"), step.get("human_completion")
        if chosen is not None:
            yield completions[chosen]
        elif written is not None:
            yield written
        else:
            yield from completions[:1]
            return


def in_order(record: Mapping[str, Any]) -> dict[str, Any]:
    """The same record with names in PRM800K's order: a database need not keep the order of names."""
    ordered = _ordered(record, TOP)
    ordered["question"] = _ordered(record["question"], QUESTION)
    ordered["label"] = _ordered(record["label"], LABEL)
    ordered["label"]["steps"] = [_ordered_step(step) for step in record["label"]["steps"]]
    return ordered


def timestamp(record: Mapping[str, Any]) -> datetime | None:
    return None if record["timestamp"] is None else datetime.fromisoformat(record["timestamp"])


def _ordered(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    known = {name: values[name] for name in names if name in values}
    return known | {name: values[name] for name in sorted(values) if name not in known}


def _ordered_step(step: Mapping[str, Any]) -> dict[str, Any]:
    ordered = _ordered(step, STEP)
    if isinstance(step["completions"], list):
        ordered["completions"] = [_ordered(completion, COMPLETION) for completion in step["completions"]]
    if isinstance(step.get("human_completion"), dict):
        ordered["human_completion"] = _ordered(step["human_completion"], COMPLETION)
    return ordered


def _check_top(fields: Fields) -> None:
    fields.optional_text("labeler")
    _present(fields, "labeler", "timestamp", "generation")
    generation = fields.integer("generation", optional=True)
    if generation is not None and not SMALLEST <= generation <= LARGEST:
        fields.fault("generation", _("this is no number of a generation."), _("write null, -1, 0, 1, ..."))
    fields.boolean("is_quality_control_question")
    fields.boolean("is_initial_screening_question")
    when = fields.optional_text("timestamp")
    try:
        datetime.fromisoformat(when or "2022-01-01")
    except ValueError:
        cure = _("write it as 2022-07-30T23:23:32.118856, or null.")
        fields.fault("timestamp", _("this is no time."), cure)


def _present(fields: Fields, *names: str) -> None:
    for name in names:
        if name not in fields.data:
            fields.fault(name, _("the field is missing."), _("write it as null where it is not known."))


def _problem(question: Fields) -> ProblemRow:
    if question.data.get("pre_generated_steps") is not None:
        question.steps("pre_generated_steps")
    question.optional_text("pre_generated_answer")
    question.number("pre_generated_verifier_score")
    return ProblemRow(
        text=question.text("problem"),
        answer=question.answer("ground_truth_answer"),
        solution=question.optional_text("ground_truth_solution"),
    )


def _check_label(label: Fields) -> None:
    reason = label.optional_text("finish_reason")
    _present(label, "finish_reason", "total_time")
    if reason is not None and reason not in FINISH_REASONS:
        message = _("{found} is no finish reason.").format(found=reason[:40])
        label.fault(
            "finish_reason",
            message,
            _("use null or one of: {names}.").format(names=", ".join(FINISH_REASONS)),
        )
    time = label.number("total_time")
    if time is not None and not 0 <= time < 2**53:
        label.fault("total_time", _("this is no time in milliseconds."), _("write a number from 0, or null."))
    for index, step in enumerate(label.items("steps")):
        place = f"{label.path}steps[{index}]."
        if isinstance(step, dict):
            _check_step(Fields(step, place, label.faults))
        else:
            label.fault(
                f"steps[{index}]", _("a step is an object."), _("write completions and chosen_completion.")
            )


def _check_step(step: Fields) -> None:
    _present(step, "completions")
    completions = step.items("completions", optional=True)
    for index, completion in enumerate(completions):
        _check_completion(step, f"completions[{index}]", completion)
    written = step.data.get("human_completion")
    if written is not None:
        _check_completion(step, "human_completion", written)
    chosen = step.integer("chosen_completion", optional=True)
    if chosen is not None and not 0 <= chosen < len(completions):
        message = _("there is no completion {chosen}: the step has {n}, counted from 0.")
        cure = _("write the number of the chosen completion, or null.")
        step.fault("chosen_completion", message.format(chosen=chosen, n=len(completions)), cure)


def _check_completion(step: Fields, name: str, value: object) -> None:
    if not isinstance(value, dict):
        step.fault(name, _("a completion is an object."), _("write text and rating."))
        return
    completion = Fields(value, f"{step.path}{name}.", step.faults)
    if not isinstance(value.get("text"), str):
        completion.fault("text", _("the text is missing."), _("write the text of the step."))
    _present(completion, "rating")
    rating = completion.integer("rating", optional=True)
    if rating not in {-1, 0, 1, None}:
        completion.fault(
            "rating", _("{found} is no rating.").format(found=rating), _("write -1, 0, 1 or null.")
        )
    completion.boolean("flagged", optional=True)
