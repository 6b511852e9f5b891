"""Fetch files over HTTP from servers that are not trusted.

Everything is bounded: the time of a whole session, the bytes of a body, the number of redirects and
retries. Certificates are always verified. Redirects stay at their origin unless the caller allows
others, names are resolved once and checked, and no body is decompressed.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

import msgspec

from prowess.errors import name_cause
from prowess.machine.network_address import (
    Endpoint,
    NameUnresolved,
    is_private_name,
    is_public,
    resolve,
)
from prowess.version import VERSION

_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5
# What comes with a redirect is not read; an answer in its place may be this long.
_MOST_REDIRECT_BYTES = 1 << 20
# Worth another try: the server is busy or restarting.
_TRANSIENT = (408, 425, 429, 500, 502, 503, 504)
_MOST_RETRIES = 2
_FIRST_PAUSE = 0.2
_CHUNK = 1 << 16
_PORTS = {"http": 80, "https": 443}
_MOST_RETRY_AFTER = 3600.0


def measure_progress(received: int, expected: int | None) -> tuple[str, int]:
    """How far a download has come, with the unit first: in percent if its size is known."""
    if not expected:
        return "bytes", received
    return "percent", received * 100 // expected


class FetchError(Exception):
    """Why a URL was not fetched: a diagnostic code and a sentence without its full stop.

    `status` is that of the server's answer, if there was one, and `retry_after` how many seconds it
    asks to wait.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.retry_after = retry_after


class Response(msgspec.Struct, frozen=True):
    """What a server answered with status 200."""

    url: str
    body: bytes
    content_type: str


class _Retry(Exception):
    """A failure that may pass: try again after this many seconds."""

    def __init__(self, error: FetchError, after: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


class _Connection:
    """A connection to an address that was checked; it never opens another one by itself.

    The socket is kept here because `http.client` lets go of it before the last body is read.
    """

    def __init__(self, url: SplitResult, sock: socket.socket) -> None:
        scheme, host, port = _get_origin(url)
        self.sock = sock
        self.http = http.client.HTTPConnection(host, port)
        self.http.default_port = _PORTS[scheme]
        self.http.auto_open = 0
        self.http.sock = sock

    def close(self) -> None:
        """Close it, also under a thread that is reading from it."""
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.http.close()
        self.sock.close()


Watch = Callable[[int, int | None], None]
"""Told how many bytes of a body have arrived, and of how many; None if the server does not say."""

Pool = dict[tuple[str, str, int], list[_Connection]]


class HttpSession:
    """Connections to servers for one piece of work, with one time limit for all of it.

    `private_hosts` are the hosts, as written in URLs, that may have private addresses. At the end
    of the time every connection is closed, also one on which a server sends a byte now and then.
    Several threads may use one session. The time begins with the `with` block. With `any_origin`
    redirects may lead to other servers, each of which is checked like the first. `watch` is told
    how much of a body has arrived.
    """

    def __init__(
        self,
        *,
        seconds: float,
        private_hosts: frozenset[str] = frozenset(),
        any_origin: bool = False,
        watch: Watch | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._any_origin = any_origin
        self._watch = watch
        self._seconds = seconds
        self._deadline = float("inf")
        self._private_hosts = private_hosts
        self._lock = threading.Lock()
        self._pool: Pool = {}
        self._open: set[_Connection] = set()
        self._endpoints: dict[tuple[str, int], list[Endpoint]] = {}
        self._tls: ssl.SSLContext | None = None
        self._is_over = threading.Event()
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> HttpSession:
        self._deadline = self._clock() + self._seconds
        self._timer.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Close every connection, also those on which threads wait."""
        self._timer.cancel()
        self._end()

    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._is_over.is_set() or self._clock() >= self._deadline

    def get(self, url: str, *, most_bytes: int, accept: str = "*/*") -> Response:
        """Fetch a URL. Raises `FetchError`."""
        checked = check_url(url, self._private_hosts)
        tried = 0
        while True:
            try:
                return self._follow(checked, most_bytes, accept)
            except _Retry as failure:
                pause = _FIRST_PAUSE * 2**tried if failure.after is None else failure.after
                tried += 1
                ends_in_time = self._clock() + pause < self._deadline
                if tried > _MOST_RETRIES or not ends_in_time:
                    raise failure.error from failure
                # Not `sleep`: a session that is stopped ends the pause.
                if self._is_over.wait(pause):
                    raise self._report_timeout() from failure

    def find_redirect(self, url: str) -> str | None:
        """Where a URL redirects to, http or https; None if it does not. Raises `FetchError`."""
        checked = check_url(url, self._private_hosts, allows_http=True)
        try:
            answer = self._request(checked, _MOST_REDIRECT_BYTES, "*/*")
        except _Retry as failure:
            raise failure.error from failure
        return urljoin(url, answer) if isinstance(answer, str) else None

    def _follow(self, url: SplitResult, most_bytes: int, accept: str) -> Response:
        """Fetch a URL, and what it redirects to at the same origin."""
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._request(url, most_bytes, accept)
            if isinstance(answer, Response):
                return answer
            url = check_redirect(url, answer, self._private_hosts, any_origin=self._any_origin)
        raise FetchError("source-http-error", f"{url.geturl()} redirects too often")

    def _request(self, url: SplitResult, most_bytes: int, accept: str) -> Response | str:
        """One request: the answer, or the location of a redirect."""
        connection, is_reused = self._connect(url)
        try:
            answer = self._exchange(connection, url, most_bytes, accept)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._drop(connection)
            if self.is_over():
                raise self._report_timeout() from error
            failure = FetchError("source-unreachable", _describe_failure(url, error))
            # A server may close a connection that is kept; nothing was wrong with it.
            raise _Retry(failure, 0.0 if is_reused else None) from error
        except BaseException:
            self._drop(connection)
            raise
        return answer

    def _exchange(
        self, connection: _Connection, url: SplitResult, most_bytes: int, accept: str
    ) -> Response | str:
        self._limit(connection)
        target = urlunsplit(("", "", url.path or "/", url.query, ""))
        headers = {
            "Accept": accept,
            # A compressed body could be a bomb, and skills are small.
            "Accept-Encoding": "identity",
            "User-Agent": f"prowess/{VERSION}",
        }
        connection.http.request("GET", target, headers=headers)
        answer = connection.http.getresponse()
        try:
            location = answer.getheader("Location")
            if answer.status in _REDIRECTS and location is not None:
                # Its body, which may be endless, would have to be read to use the connection again.
                self._drop(connection)
                return location
            _check_status(url, answer)
            _check_encoding(url, answer)
            body = b"".join(self._read(connection, answer, url, most_bytes))
        finally:
            answer.close()
        self._keep(connection, url, is_reusable=not answer.will_close)
        return Response(url.geturl(), body, answer.getheader("Content-Type") or "")

    def _read(
        self,
        connection: _Connection,
        answer: http.client.HTTPResponse,
        url: SplitResult,
        most_bytes: int,
    ) -> Iterator[bytes]:
        """The body in pieces, all of it and no more than is allowed."""
        expected = answer.length
        if expected is not None and expected > most_bytes:
            raise _report_size(url, most_bytes)
        received = 0
        while True:
            self._limit(connection)
            # One read of the socket each, so that a slow server cannot stretch the limit.
            chunk = answer.read1(_CHUNK)
            if not chunk:
                break
            received += len(chunk)
            # A server may send more than the length that it gave, or give none.
            if received > most_bytes:
                raise _report_size(url, most_bytes)
            if self._watch is not None:
                self._watch(received, expected)
            yield chunk
        # Where the server gives no length, our own closing of the connection looks like the end.
        if self._is_over.is_set():
            raise TimeoutError("the time is up")
        if expected is not None and received < expected:
            raise http.client.IncompleteRead(b"", expected - received)

    def _connect(self, url: SplitResult) -> tuple[_Connection, bool]:
        """A connection to a checked address of the host, and whether it was used before."""
        key = _get_origin(url)
        with self._lock:
            kept = self._pool.get(key)
            if kept:
                return kept.pop(), True
        if self.is_over():
            raise self._report_timeout()
        connection = _Connection(url, self._open_socket(url))
        with self._lock:
            self._open.add(connection)
        # The end may have come before it was in the list of those that are closed then.
        if self.is_over():
            self._drop(connection)
            raise self._report_timeout()
        return connection, False

    def _open_socket(self, url: SplitResult) -> socket.socket:
        _, host, port = _get_origin(url)
        failure: OSError | None = None
        for endpoint in self._resolve(host, port):
            try:
                plain = socket.socket(endpoint.family, socket.SOCK_STREAM)
                try:
                    return self._shake_hands(plain, endpoint, url.scheme, host)
                except BaseException:
                    plain.close()
                    raise
            except OSError as error:
                # The next address may work: a machine without IPv6 gets IPv6 addresses, too.
                failure = error
        if self.is_over():
            raise self._report_timeout() from failure
        # A wrong certificate does not become right; everything else may pass.
        refusal = FetchError("source-unreachable", _describe_failure(url, failure))
        if isinstance(failure, ssl.SSLCertVerificationError):
            raise refusal from failure
        raise _Retry(refusal) from failure

    def _shake_hands(
        self, plain: socket.socket, endpoint: Endpoint, scheme: str, host: str
    ) -> socket.socket:
        plain.settimeout(self._remaining())
        plain.connect((endpoint.address, endpoint.port))
        if scheme == "http":
            return plain
        with self._lock:
            if self._tls is None:
                self._tls = ssl.create_default_context()
        plain.settimeout(self._remaining())
        # The certificate must be that of the name, although the connection goes to an address.
        return self._tls.wrap_socket(plain, server_hostname=host)

    def _resolve(self, host: str, port: int) -> list[Endpoint]:
        """The addresses of a host, all of them checked; they are resolved once per session."""
        known = self._endpoints.get((host, port))
        if known is not None:
            return known
        try:
            endpoints = resolve(host, port, seconds=self._remaining())
        except NameUnresolved as error:
            if self.is_over():
                raise self._report_timeout() from error
            raise FetchError("source-unreachable", str(error)) from error
        # One private address is enough: where a public one does not answer, it is the next.
        private = [one.address for one in endpoints if not is_public(one.address)]
        if private and host not in self._private_hosts:
            raise report_private(host, private[0])
        return self._endpoints.setdefault((host, port), endpoints)

    def _limit(self, connection: _Connection) -> None:
        if self.is_over():
            raise TimeoutError("the time is up")
        connection.sock.settimeout(self._remaining())

    def _remaining(self) -> float:
        return max(self._deadline - self._clock(), 0.001)

    def _keep(self, connection: _Connection, url: SplitResult, *, is_reusable: bool) -> None:
        if not is_reusable or self._is_over.is_set():
            self._drop(connection)
            return
        with self._lock:
            self._pool.setdefault(_get_origin(url), []).append(connection)

    def _drop(self, connection: _Connection) -> None:
        with self._lock:
            self._open.discard(connection)
        connection.close()

    def _end(self) -> None:
        """Stop everything: threads that wait for a server find their connection closed."""
        self._is_over.set()
        with self._lock:
            connections, self._open, self._pool = list(self._open), set(), {}
        for connection in connections:
            connection.close()

    def _report_timeout(self) -> FetchError:
        return FetchError("source-timeout", f"it took longer than {self._seconds:g} seconds")


def check_url(
    url: str, private_hosts: frozenset[str] = frozenset(), *, allows_http: bool = False
) -> SplitResult:
    """The parts of a URL that may be fetched. Raises `FetchError`."""
    try:
        parts = urlsplit(url)
        # The port is parsed when it is asked for, and may be no number.
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise FetchError("source-url-invalid", f"{url[:200]!r} is not a URL ({error})") from None
    if parts.scheme not in _PORTS or not host:
        raise FetchError("source-url-invalid", f"{url[:200]!r} is not an http or https URL")
    has_login = parts.username is not None or parts.password is not None
    if has_login:
        message = "the URL has a user name or a password in it, which others could read"
        raise FetchError("source-url-invalid", message)
    # Such characters could end the line of the request and begin another one.
    is_encoded = url.isascii() and url.isprintable() and " " not in url
    if not is_encoded:
        raise FetchError("source-url-invalid", f"{url[:200]!r} has characters to be encoded")
    if host in private_hosts:
        return parts
    if is_private_name(host):
        raise report_private(host, host)
    if parts.scheme == "http" and not allows_http:
        raise FetchError("source-insecure", f"{url[:200]} is not encrypted")
    return parts


def check_redirect(
    url: SplitResult,
    location: str,
    private_hosts: frozenset[str] = frozenset(),
    *,
    any_origin: bool = False,
) -> SplitResult:
    """Where a redirect leads, if that is at an origin that is allowed. Raises `FetchError`."""
    try:
        target = urljoin(url.geturl(), location)
        checked = check_url(target, private_hosts)
    except ValueError:
        message = f"{url.geturl()} redirects to {location[:200]!r}, which is not a URL"
        raise FetchError("source-url-invalid", message) from None
    except FetchError as error:
        is_downgrade = error.code == "source-insecure" and url.scheme == "https"
        code = "source-downgraded" if is_downgrade else error.code
        raise FetchError(code, f"{url.geturl()} redirects elsewhere: {error.message}") from error
    schemes = (url.scheme, checked.scheme)
    if schemes == ("https", "http"):
        message = f"{url.geturl()} redirects to {target[:200]}, which is not encrypted"
        raise FetchError("source-downgraded", message)
    # Many servers do nothing on port 80 but send everyone to https; that is the same server.
    is_upgrade = schemes == ("http", "https") and url.hostname == checked.hostname
    is_same_origin = _get_origin(url) == _get_origin(checked)
    if is_upgrade or is_same_origin or any_origin:
        return checked
    message = f"{url.geturl()} redirects to another server, {target[:200]}"
    raise FetchError("source-other-origin", message)


def report_private(host: str, address: str) -> FetchError:
    """The refusal of an address in a private network."""
    leads = "is" if host == address else f"leads to {address},"
    return FetchError("source-private-address", f"{host} {leads} an address in a private network")


def _get_origin(url: SplitResult) -> tuple[str, str, int]:
    port = url.port or _PORTS[url.scheme]
    return url.scheme, url.hostname or "", port


def _check_status(url: SplitResult, answer: http.client.HTTPResponse) -> None:
    status = answer.status
    if status == 200:
        return
    wait = _read_retry_after(answer.getheader("Retry-After") or "")
    message = f"{url.geturl()} answers {status} {answer.reason[:60]}".rstrip()
    error = FetchError("source-http-error", message, status=status, retry_after=wait)
    if status in _TRANSIENT:
        raise _Retry(error, wait)
    raise error


def _read_retry_after(text: str) -> float | None:
    """The seconds in `Retry-After`; a date counts as well."""
    text = text.strip()
    # `isdigit` alone also accepts digits of other scripts and superscripts.
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), _MOST_RETRY_AFTER)
    if not text:
        return None
    from email.utils import parsedate_to_datetime

    try:
        until = parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
    return min(max(until - time.time(), 0.0), _MOST_RETRY_AFTER)


def _check_encoding(url: SplitResult, answer: http.client.HTTPResponse) -> None:
    encoding = (answer.getheader("Content-Encoding") or "identity").strip().lower()
    # Some servers compress although only `identity` was accepted.
    if encoding != "identity":
        message = f"{url.geturl()} is sent with the encoding {encoding[:40]!r}"
        raise FetchError("source-encoding", f"{message}, which was not asked for")


def _report_size(url: SplitResult, most_bytes: int) -> FetchError:
    message = f"{url.geturl()} has more than {most_bytes:,} bytes"
    return FetchError("source-too-large", message)


def _describe_failure(url: SplitResult, error: BaseException | None) -> str:
    reason = type(error).__name__
    if isinstance(error, http.client.IncompleteRead):
        reason = "the answer ended early"
    elif error is not None:
        reason = name_cause(error) or reason
    return f"{url.geturl()} cannot be fetched ({reason[:200]})"
