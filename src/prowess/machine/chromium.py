"""A Chromium without a window, driven over its debugging port.

It has a profile of its own that is thrown away, so no page sees the user's cookies or passwords.
Pages can only be loaded from hosts that were opened on purpose: a link or a redirect that leads
elsewhere is stopped before anything is sent.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from prowess.errors import MachineError, MissingExtra, UsageError

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Programs that are a Chromium, the first that is found is used."""

SANDBOX_VARIABLE = "PROWESS_BROWSER_SANDBOX"

_START_SECONDS = 30.0
_LOAD_SECONDS = 30.0
_ANSWER_SECONDS = 15.0
_LOOK_SECONDS = 0.1
# A click may take a moment to begin loading another page.
_SETTLE_SECONDS = 0.5
_MOST_MESSAGE = 50_000_000
_OPTIONS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--mute-audio",
    "--disable-dev-shm-usage",
)
_DOCUMENTS = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}


def find_chromium(env: Mapping[str, str]) -> str | None:
    """The path of a Chromium."""
    found = (shutil.which(name, path=env.get("PATH")) for name in PROGRAMS)
    return next(filter(None, found), None)


class Chromium:
    """A running browser with one page. Whoever opens it closes it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        program = find_chromium(env)
        if program is None:
            raise UsageError(f"There is no browser: none of {', '.join(PROGRAMS)} is installed.")
        self._allowed: set[str] = set()
        self._stopped: list[str] = []
        self._loading = False
        self._frame = ""
        self._last_id = 0
        self._folder = tempfile.mkdtemp(prefix="prowess-browser-")
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: Any = None
        try:
            self._process = _start(program, self._folder, env)
            self._socket = _connect(_find_page(self._wait_for_port()))
            for domain in ("Page.enable", "Runtime.enable"):
                self._call(domain)
            self._frame = self._call("Page.getFrameTree")["frameTree"]["frame"]["id"]
            self._call("Fetch.enable", patterns=[_DOCUMENTS])
        except BaseException:
            self.close()
            raise

    def open(self, url: str, *, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        """Load a page. From now on pages of its host may be loaded. Raises `UsageError`."""
        self._allowed.add(_name_host(url))
        self._stopped.clear()
        self._loading = True
        answer = self._call("Page.navigate", url=url)
        problem = answer.get("errorText")
        if problem and not self._stopped:
            raise UsageError(f"The page could not be loaded: {problem}.")
        self._wait_until_loaded(is_cancelled)

    def act(self, script: str, *, is_cancelled: Callable[[], bool] = lambda: False) -> Any:
        """Run a script that may lead to another page, and wait for that; what it returns."""
        self._stopped.clear()
        value = self.evaluate(script)
        self._pump(_SETTLE_SECONDS, lambda: self._loading or is_cancelled())
        self._wait_until_loaded(is_cancelled)
        return value

    def evaluate(self, script: str) -> Any:
        """The value of a script in the page, as JSON has it. Raises `UsageError`."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            said = details.get("exception", {}).get("description") or details.get("text", "")
            raise UsageError(f"The page does not allow that: {said.splitlines()[0]}")
        return answer["result"].get("value")

    @property
    def stopped(self) -> tuple[str, ...]:
        """The addresses that the last step wanted to load and may not."""
        return tuple(self._stopped)

    def close(self) -> None:
        """End the browser, and remove its profile."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            _kill(self._process)
            self._process = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def _wait_for_port(self) -> int:
        """The port that the browser has chosen, which it writes to its profile."""
        file = os.path.join(self._folder, "DevToolsActivePort")
        assert self._process is not None
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            port = _read_first_line(file)
            if port:
                return int(port)
            time.sleep(_LOOK_SECONDS)
        raise MachineError("start", "the browser", _read_end(os.path.join(self._folder, "log")))

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        """Carry out a command; events that come meanwhile are dealt with."""
        id = self._send(method, params)
        answers: list[dict[str, Any]] = []

        def take(message: dict[str, Any]) -> None:
            if message.get("id") == id:
                answers.append(message)

        self._pump(_ANSWER_SECONDS, lambda: bool(answers), take)
        if not answers:
            raise MachineError("use", "the browser", f"no answer to {method}")
        answer = answers[0]
        if "error" in answer:
            raise MachineError("use", "the browser", answer["error"].get("message", method))
        result: dict[str, Any] = answer["result"]
        return result

    def _send(self, method: str, params: Mapping[str, Any]) -> int:
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": params}
        try:
            self._socket.send(json.dumps(message))
        except (OSError, EOFError, RuntimeError) as error:
            raise MachineError("use", "the browser", "it has ended") from error
        return self._last_id

    def _pump(
        self,
        seconds: float,
        is_done: Callable[[], bool],
        take: Callable[[dict[str, Any]], object] = lambda message: None,
    ) -> None:
        """Deal with what the browser says until something is true, or the time is over."""
        from websockets.exceptions import ConnectionClosed

        end = time.monotonic() + seconds
        while not is_done() and time.monotonic() < end:
            try:
                message = json.loads(self._socket.recv(timeout=_LOOK_SECONDS))
            except TimeoutError:
                continue
            except ConnectionClosed as error:
                raise MachineError("use", "the browser", "it has ended") from error
            self._note(message)
            take(message)

    def _note(self, message: dict[str, Any]) -> None:
        """Deal with an event: a page that begins or ends, or one that wants to be loaded."""
        method, params = message.get("method"), message.get("params", {})
        # Frames inside the page load their own documents, for which nobody waits.
        is_main = params.get("frameId") == self._frame
        if method == "Page.frameStartedLoading" and is_main:
            self._loading = True
        elif method == "Page.loadEventFired":
            self._loading = False
        elif method == "Fetch.requestPaused":
            self._decide(params["requestId"], params["request"]["url"], is_main=is_main)

    def _decide(self, request: str, url: str, *, is_main: bool) -> None:
        if _name_host(url) in self._allowed:
            self._send("Fetch.continueRequest", {"requestId": request})
            return
        if is_main:
            # A frame inside the page stays empty, and nobody misses it.
            self._stopped.append(url)
            self._loading = False
        # “Aborted” leaves the page as it is; other reasons replace it by a page about the error.
        self._send("Fetch.failRequest", {"requestId": request, "errorReason": "Aborted"})

    def _wait_until_loaded(self, is_cancelled: Callable[[], bool]) -> None:
        # A page that never ends loading can be read as far as it is there.
        self._pump(_LOAD_SECONDS, lambda: not self._loading or is_cancelled())


def _read_first_line(path: str) -> str:
    try:
        with open(path, encoding="ascii") as lines:
            return lines.readline().strip()
    except FileNotFoundError:
        # The browser has not come so far.
        return ""


def _name_host(url: str) -> str:
    """What pages are allowed by: scheme, host and port. Pages without a host are all the same."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _start(program: str, folder: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    options = [*_OPTIONS, f"--user-data-dir={folder}"]
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if env.get(SANDBOX_VARIABLE) == "off":
        options.append("--no-sandbox")
    elif is_root:
        raise UsageError(
            "Chromium has no sandbox of its own when it runs as root. Use another user, or set"
            f" {SANDBOX_VARIABLE}=off on a disposable machine."
        )
    # Its home is the profile, so that it reads and writes nothing of the user's.
    own = {"PATH": env.get("PATH", os.defpath), "HOME": folder, "LANG": "C.UTF-8"}
    with open(os.path.join(folder, "log"), "wb") as log:
        try:
            return subprocess.Popen(
                [program, *options, "about:blank"],
                env=own,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        except OSError as error:
            raise MachineError.caused_by("start", program, error) from error


def _read_end(path: str) -> str:
    """The last line that a browser wrote before it ended."""
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            lines = log.read().strip().splitlines()
    except OSError:
        # It is only for the message.
        lines = []
    return lines[-1][:300] if lines else "it did not open its debugging port"


def _find_page(port: int) -> str:
    """The address at which the page of a browser is driven."""
    import urllib.request

    # Not through a proxy: it is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}/json/list", timeout=_ANSWER_SECONDS) as answer:
            targets = json.load(answer)
    except (OSError, ValueError) as error:
        raise MachineError("use", "the browser", str(error)) from error
    pages = [one["webSocketDebuggerUrl"] for one in targets if one.get("type") == "page"]
    if not pages:
        raise MachineError("use", "the browser", "it has no page")
    return str(pages[0])


def _connect(address: str) -> Any:
    try:
        from websockets.sync.client import connect
    except ModuleNotFoundError as missing:
        raise MissingExtra("browser", "drive a browser") from missing
    try:
        return connect(address, max_size=_MOST_MESSAGE, proxy=None, compression=None)
    except OSError as error:
        raise MachineError("use", "the browser", str(error)) from error


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a browser and the processes that it started, which are a group of their own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # It has ended by itself.
        process.kill()
    process.wait()
