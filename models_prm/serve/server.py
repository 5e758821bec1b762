"""The HTTP side: POST /score, GET /health.

Every refusal is JSON, {"error": {"field", "message"}}, with the status that says what to do: 400 no JSON,
404 no such path, 405 wrong method, 411 length missing, 413 body too large, 422 a field is wrong, 503 busy
(with Retry-After). A connection serves one request, so that stopping waits for work and never for an idle
client.
"""

from __future__ import annotations

import json
import logging
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from models_prm.errors import PrmError
from models_prm.serve.batching import Batcher, BusyError
from models_prm.serve.requests import Limits, RefusedError, answer, understood

logger = logging.getLogger(__name__)
METHODS = {"/score": "POST", "/health": "GET"}
PATIENCE = 10.0
"""Seconds that a client may take to send its request, and the next part of an answer to be taken."""


class ScoreServer(ThreadingHTTPServer):
    """Serves a batcher. `connections`: clients at once, beyond which a new one is told to come back."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 128

    def __init__(
        self, address: tuple[str, int], batcher: Batcher, limits: Limits, connections: int = 256
    ) -> None:
        self.batcher = batcher
        self.limits = limits
        self._room = threading.BoundedSemaphore(connections)
        super().__init__(address, Handler)

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread of its own for the connection, while there is room."""
        if not self._room.acquire(blocking=False):
            _turn_away(request)
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve the connection, then make room."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def stop(self) -> None:
        """Accept nothing more, answer what was accepted, end. Not to be called from the server's thread."""
        self.shutdown()
        self.batcher.close()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no event of ours; anything else goes to the log."""
        logger.debug("connection of %s broke off", client_address, exc_info=True)


def _turn_away(request: socket.socket) -> None:
    body = b'{"error": {"field": "", "message": "too many connections: try again later"}}'
    head = (
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    try:
        request.settimeout(1.0)
        request.sendall(head.encode() + body)
    except OSError:
        logger.debug("a client that was turned away had gone already")


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: ScoreServer
    protocol_version = "HTTP/1.1"
    server_version = "stepmark"
    sys_version = ""
    timeout = PATIENCE

    def do_GET(self) -> None:
        """GET /health."""
        self._serve("GET")

    def do_POST(self) -> None:
        """POST /score."""
        self._serve("POST")

    do_PUT = do_DELETE = do_PATCH = do_HEAD = lambda self: self._serve(self.command)

    def _serve(self, method: str) -> None:
        self.close_connection = True
        path = self.path.partition("?")[0]
        if path not in METHODS:
            self._refuse(404, "", f"no {path} here: there are {', '.join(METHODS)}")
        elif METHODS[path] != method:
            self._refuse(405, "", f"{path} takes {METHODS[path]}", Allow=METHODS[path])
        elif path == "/health":
            self._health()
        else:
            self._score()

    def _score(self) -> None:
        batcher = self.server.batcher
        try:
            wanted = understood(self._body(), self.server.limits)
            results = batcher.submit(wanted.items).result()
        except RefusedError as error:
            self._refuse(error.status, error.field, str(error))
        except BusyError as error:
            self._refuse(503, "", str(error), **{"Retry-After": str(error.retry_after)})
        except PrmError as error:
            self._refuse(422, "", str(error))
        except Exception:
            logger.exception("scoring failed")
            self._refuse(500, "", "scoring failed: the server's log says why")
        else:
            self._send(200, answer(batcher.scorer.name, wanted, results))

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise RefusedError(411, "", "send the body with a Content-Length")
        if int(length) > self.server.limits.body:
            raise RefusedError(413, "", f"the body may have {self.server.limits.body} bytes")
        body = self.rfile.read(int(length))
        if len(body) != int(length):
            raise RefusedError(400, "", "the body ended early")
        return body

    def _health(self) -> None:
        batcher = self.server.batcher
        body = {
            "status": "ok" if batcher.alive else "stopped",
            "model": batcher.scorer.name,
            "waiting": batcher.waiting,
            **vars(batcher.counts),
        }
        self._send(200 if batcher.alive else 503, body)

    def _refuse(self, status: int, field: str, message: str, **headers: str) -> None:
        self._send(status, {"error": {"field": field, "message": message}}, **headers)

    def _send(self, status: int, body: dict[str, Any], **headers: str) -> None:
        data = json.dumps(body, allow_nan=False).encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(data)),
            "Connection": "close",
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """To the log, never to the terminal line by line."""
        logger.debug(format, *args)
