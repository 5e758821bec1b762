"""Turns every failure of a JSON endpoint into one shape: {"code", "message", ...}."""

from typing import Any

from rest_framework.response import Response
from rest_framework.views import exception_handler

from labeling.errors import LabelingError


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(error, LabelingError):
        return Response({"code": error.code, "message": error.message, **error.extra}, status=error.status)
    response = exception_handler(error, context)
    if response is not None:
        detail = response.data
        message = str(detail["detail"]) if isinstance(detail, dict) and "detail" in detail else "Not valid."
        response.data = {
            "code": getattr(error, "default_code", "error"),
            "message": message,
            "detail": detail,
        }
    return response
