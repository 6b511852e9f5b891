"""A web server on this machine that offers skills, truthfully or not."""

from __future__ import annotations

import hashlib
import json
import ssl
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.workspace import skill_text

Answer = bytes | str | int | Callable[[BaseHTTPRequestHandler], None]
"""A body, a status without one, or a function that answers by itself."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        answer = self.server.routes.get(self.path.partition("?")[0], 404)
        try:
            if callable(answer):
                answer(self)
            elif isinstance(answer, int):
                send(self, b"", status=answer)
            else:
                send(self, answer.encode() if isinstance(answer, str) else answer)
        except OSError:
            # The client has gone away, as it should with some of these answers.
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.routes: dict[str, Answer] = {}
        self.requests: list[str] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


def send(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Send an ordinary answer."""
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


class RemoteServer:
    """Serves `routes`, a path and its answer each; `requests` are the paths that were asked for.

    `ended` is set when the test is over, for answers that wait. With `tls` it speaks https.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._server = _Server()
        scheme = "http"
        if tls is not None:
            # The handshake happens in the thread of the connection, not in the one that accepts.
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
            scheme = "https"
        self.routes = self._server.routes
        self.requests = self._server.requests
        self.ended = threading.Event()
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> RemoteServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Go offline."""
        if not self.ended.is_set():
            self.ended.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def hang(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer nothing at all."""
        self.ended.wait(600)

    def offer(self, *names: str, base: str = "", **fields: Any) -> None:
        """Offer skills by an index as opencode reads it, each with a SKILL.md only."""
        entries = [{"name": name, "files": ["SKILL.md"], **fields} for name in names]
        self.routes[f"{base}/index.json"] = json.dumps({"skills": entries})
        for name in names:
            self.routes[f"{base}/{name}/SKILL.md"] = skill_text(name, f"About {name}.")

    def offer_files(self, name: str, files: Mapping[str, Answer], **fields: Any) -> None:
        """Offer one skill with these files."""
        entry = {"name": name, "files": list(files), **fields}
        self.routes["/index.json"] = json.dumps({"skills": [entry]})
        for path, answer in files.items():
            self.routes[f"/{name}/{path}"] = answer


def digest(data: bytes | str) -> str:
    """A digest as indexes write it."""
    data = data.encode() if isinstance(data, str) else data
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
