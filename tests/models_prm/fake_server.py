"""A small OpenAI-compatible completions server for tests: it echoes, fails, delays and counts on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Choice = dict[str, Any]


def echo(body: dict[str, Any], index: int) -> Choice:
    """A text that names its prompt and its seed."""
    text = f"{body['prompt'].strip()} seed {body.get('seed')} choice {index}"
    return {"text": text, "index": index, "finish_reason": "stop", "logprobs": None}


@dataclass
class FakeServer:
    """`answer(body, index)` makes a choice. `failures`: statuses (0: hang up) given before the first answers.

    `allows_n`: "yes", "ignored" (one choice whatever is asked) or "refused" (status 400). `delay(body)`:
    seconds before an answer. `seen`: bodies; `headers`: of each request; `most`: requests at one time.
    """

    answer: Callable[[dict[str, Any], int], Choice] = echo
    failures: list[int] = field(default_factory=list)
    retry_after: str | None = None
    allows_n: str = "yes"
    backwards: bool = False
    delay: Callable[[dict[str, Any]], float] = lambda body: 0.0
    seen: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most: int = 0

    def __enter__(self) -> Self:
        self._lock = threading.Lock()
        self._now = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.handle(self)

            def log_message(self, *args: Any) -> None:
                """Silence."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

        self._http = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def handle(self, http: BaseHTTPRequestHandler) -> None:
        body = json.loads(http.rfile.read(int(http.headers["Content-Length"])))
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            self.seen.append({**body, "path": http.path})
            self.headers.append(dict(http.headers))
            failure = self.failures.pop(0) if self.failures else None
        try:
            time.sleep(self.delay(body))
        finally:
            with self._lock:  # before the answer: the client may ask again as soon as it has it
                self._now -= 1
        self._reply(http, body, failure)

    def _reply(self, http: BaseHTTPRequestHandler, body: dict[str, Any], failure: int | None) -> None:
        n = int(body.get("n") or 1)
        if failure == 0:
            http.connection.close()
            return
        if failure is None and n > 1 and self.allows_n == "refused":
            failure = 400
        if failure is not None:
            said = {"error": {"message": f"failing with {failure}; key {http.headers.get('Authorization')}"}}
            self._send(http, failure, said)
            return
        choices = [self.answer(body, i) for i in range(1 if self.allows_n == "ignored" else n)]
        if self.backwards:
            choices.reverse()
        tokens = sum(len(c["text"].split()) for c in choices)
        self._send(http, 200, {"choices": choices, "usage": {"completion_tokens": tokens}})

    def _send(self, http: BaseHTTPRequestHandler, status: int, content: dict[str, Any]) -> None:
        data = json.dumps(content).encode()
        http.send_response(status)
        if status != 200 and self.retry_after is not None:
            http.send_header("Retry-After", self.retry_after)
        http.send_header("Content-Length", str(len(data)))
        http.end_headers()
        http.wfile.write(data)
