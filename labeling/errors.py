"""What can go wrong on the people side. The first line of each docstring is the message a person reads."""

from http import HTTPStatus
from typing import Any

from django.utils.translation import gettext as _


class LabelingError(Exception):
    """Something went wrong."""

    code = "error"
    status = HTTPStatus.CONFLICT

    def __init__(self, message: str = "", **extra: Any) -> None:
        self.message = message or _((self.__doc__ or "").strip().splitlines()[0])
        self.extra = extra
        super().__init__(self.message)


class NotYours(LabelingError):
    """This solution is not assigned to you."""

    code, status = "not_yours", HTTPStatus.NOT_FOUND


class StaleDraft(LabelingError):
    """A newer draft of this solution is already saved."""

    code = "stale_draft"


class AlreadySubmitted(LabelingError):
    """This solution is already submitted."""

    code = "already_submitted"


class BadSubmission(LabelingError):
    """The ratings sent do not make a complete judgement."""

    code, status = "bad_submission", HTTPStatus.BAD_REQUEST


class NotAllowedNow(LabelingError):
    """This cannot be done in the present state."""

    code = "not_allowed_now"


class ImportRefused(LabelingError):
    """The file was not imported."""

    code, status = "import_refused", HTTPStatus.BAD_REQUEST
