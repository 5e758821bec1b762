"""A browser without a window: cookies, CSRF token, redirects, and the patience of the labeling page."""

import http.client
import json
import time
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode, urljoin

TRIES = 6
TIMEOUT_S = 60
JSON_TYPE = "application/json"


class Refused(Exception):
    """The server said no: `status`, and the JSON of its answer where it has one."""

    def __init__(self, status: int, answer: dict[str, Any], path: str) -> None:
        self.status, self.answer = status, answer
        super().__init__(f"{path}: {status} {answer.get('code', '')} {answer.get('message', '')}".strip())


class Browser:
    """One person's browser. Not shared between threads."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url.rstrip("/") + "/"
        self.cookies = CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, path: str) -> str:
        """The text of a page, after redirects."""
        return self._send("GET", path, None, {})

    def post_form(self, path: str, fields: dict[str, str]) -> str:
        body = urlencode({**fields, "csrfmiddlewaretoken": self.csrf_token()}).encode()
        return self._send("POST", path, body, {"Content-Type": "application/x-www-form-urlencoded"})

    def send_json(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """As the page's scripts do; a request that may be repeated carries its own key in the body."""
        headers = {"Content-Type": JSON_TYPE, "Accept": JSON_TYPE, "X-CSRFToken": self.csrf_token()}
        answer = json.loads(self._send(method, path, json.dumps(body).encode(), headers) or "{}")
        if not isinstance(answer, dict):
            raise Refused(200, {"message": "not a JSON object"}, path)
        return answer

    def csrf_token(self) -> str:
        return next((cookie.value or "" for cookie in self.cookies if cookie.name == "csrftoken"), "")

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> str:
        url = urljoin(self.base_url, path)
        headers = {**headers, "Referer": url}
        for attempt in range(TRIES):
            request = urllib.request.Request(url, body, headers, method=method)  # noqa: S310
            try:
                with self._opener.open(request, timeout=TIMEOUT_S) as answer:
                    return str(answer.read().decode())
            except urllib.error.HTTPError as error:
                # 502 to 504: the server restarts; the page tries again too.
                if error.code not in {502, 503, 504} or attempt == TRIES - 1:
                    raise Refused(error.code, _json_of(error), path) from error
            except (urllib.error.URLError, http.client.HTTPException, OSError):
                if attempt == TRIES - 1:
                    raise
            time.sleep(0.2 * 2**attempt)
        raise AssertionError("the last try returns or raises")


def _json_of(error: urllib.error.HTTPError) -> dict[str, Any]:
    try:
        answer = json.loads(error.read().decode())
    except (ValueError, OSError):
        return {}
    return answer if isinstance(answer, dict) else {}
