"""What the JSON endpoints take and give. docs/api.md describes every field."""

from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from labeling.errors import BadSubmission
from labeling.models import Assignment, Enrolment, Label
from labeling.queries.progress import progress
from labeling.services import labels, queue, standing
from labeling.services.submission import MAX_KEY, MAX_NOTE, Submission

MAX_HAVE = 16
MAX_STEPS = 2000
# Larger than any wall time that counts, small enough for every database.
MAX_MS = 10**12


class NextIn(serializers.Serializer[Any]):
    have = serializers.ListField(child=serializers.IntegerField(), required=False, max_length=MAX_HAVE)


class DraftIn(serializers.Serializer[Any]):
    version = serializers.IntegerField(min_value=0)
    draft = serializers.DictField()


class SubmissionIn(serializers.Serializer[Any]):
    idempotency_key = serializers.CharField(max_length=MAX_KEY)
    finish_reason = serializers.CharField(max_length=20)
    ratings = serializers.ListField(
        child=serializers.IntegerField(allow_null=True), required=False, max_length=MAX_STEPS
    )
    step_reasons = serializers.DictField(child=serializers.CharField(max_length=200), required=False)
    note = serializers.CharField(allow_blank=True, required=False, max_length=MAX_NOTE)
    key_disputed = serializers.BooleanField(required=False)
    answer_confirmed = serializers.BooleanField(required=False)
    total_time_ms = serializers.IntegerField(required=False, max_value=MAX_MS)
    active_time_ms = serializers.IntegerField(required=False, max_value=MAX_MS)

    def submission(self) -> Submission:
        return Submission(**self.validated_data)


def valid(serializer: serializers.Serializer[Any]) -> dict[str, Any]:
    """The checked body, or BadSubmission naming the first field and its fault."""
    if serializer.is_valid():
        return dict(serializer.validated_data)
    field, fault = next(iter(serializer.errors.items()))
    while isinstance(fault, dict | list):
        fault = next(iter(fault.values() if isinstance(fault, dict) else fault))
    raise BadSubmission(f"{field}: {fault}", field=field, detail=serializer.errors)


def assignment_json(assignment: Assignment) -> dict[str, Any]:
    """What a labeler sees of a solution: never its grade, scores, source or purpose."""
    solution, project = assignment.solution, assignment.project
    return {
        "id": assignment.pk,
        "problem": solution.problem.text,
        "answer": solution.problem.ground_truth_answer,
        "steps": solution.steps,
        "mode": project.mode,
        "reasons": project.reasons,
        "draft": assignment.draft,
        "draft_version": assignment.draft_version,
        "lease_seconds": project.lease_minutes * 60,
    }


def claim_json(claim: queue.Claim, enrolment: Enrolment) -> dict[str, Any]:
    total = None
    if enrolment.status == Enrolment.Status.SCREENING:
        total = standing.screening_progress(enrolment).total
    body: dict[str, Any] = {"state": claim.state}
    if claim.assignment is not None:
        body["assignment"] = assignment_json(claim.assignment)
    else:
        body |= {"message": claim.message, **claim.detail}
    return body | {"progress": asdict(progress(enrolment, screening_total=total))}


def label_json(label: Label) -> dict[str, Any]:
    until = labels.undo_until(label)
    return {
        "label": label.pk,
        "revision": label.revision,
        "assignment": label.assignment_id,
        "undo_until": until.isoformat() if until else None,
    }
