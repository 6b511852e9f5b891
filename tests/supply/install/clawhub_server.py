"""A ClawHub registry on this machine, truthful or not."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.remote_server import RemoteServer, send
from tests.workspace import skill_text

PUBLISHED = 1_760_000_000_000


def make_zip(files: Mapping[str, str | bytes]) -> bytes:
    """An archive of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return buffer.getvalue()


class ClawHub:
    """The API of a registry over a server, with one archive for each version of a skill."""

    def __init__(self, server: RemoteServer) -> None:
        self.server = server
        self._archives: dict[str, bytes] = {}

    @property
    def source(self) -> str:
        """What is typed to install from it."""
        return f"clawhub+{self.server.url}/alpha"

    def publish(
        self,
        version: str,
        files: Mapping[str, str] | None = None,
        *,
        archive: bytes | None = None,
        latest: str | None = None,
        release: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> None:
        """Publish one more version of `alpha`; `archive` and the others replace what is true."""
        given = files or {"SKILL.md": skill_text("alpha", f"Version {version}.")}
        plain = {path: text.encode() for path, text in given.items()}
        newest = latest or version
        routes = self.server.routes
        routes["/api/v1/skills/alpha"] = json.dumps(
            {
                "skill": {"slug": "alpha", "displayName": "A", "tags": {"latest": newest}},
                "latestVersion": {"version": newest, "createdAt": PUBLISHED, "changelog": ""},
                "owner": {"handle": "ann"},
                **fields,
            }
        )
        listed = [
            {"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for path, data in plain.items()
        ]
        details = {"version": version, "createdAt": PUBLISHED, "changelog": "", "files": listed}
        routes[f"/api/v1/skills/alpha/versions/{version}"] = json.dumps(
            {"version": {**details, **(release or {})}, "skill": {"slug": "alpha"}}
        )
        # The archive that a query asks for: the server compares paths only.
        self._archives[version] = make_zip(plain) if archive is None else archive
        routes["/api/v1/download"] = self._send

    def _send(self, handler: BaseHTTPRequestHandler) -> None:
        query = parse_qs(urlsplit(handler.path).query)
        archive = self._archives.get(query["version"][0])
        send(handler, archive or b"", status=404 if archive is None else 200)
