"""A server on loopback that speaks for a provider: it remembers every request and gives the next
answer.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Provider(NamedTuple):
    """Where it listens, and what it was asked: the path and the body of each request."""

    url: str
    asked: list[tuple[str, dict[str, Any]]]


@contextlib.contextmanager
def serve(answers: Sequence[dict[str, Any]]) -> Iterator[Provider]:
    """Serve these answers, one for each request."""
    asked: list[tuple[str, dict[str, Any]]] = []
    left = iter(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path, json.loads(body)))
            answer = json.dumps(next(left)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield Provider(f"http://127.0.0.1:{server.server_address[1]}", asked)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
