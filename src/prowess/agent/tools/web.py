"""WebFetch: one page of the web as Markdown, bounded, and never from a private network.

The download is pydantic-ai's: it resolves a name once, refuses loopback, private and metadata
addresses, checks every redirect in the same way, and limits what is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from functools import partial
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec
from pydantic_ai import ModelRetry, ToolFailed

from prowess.agent.tools.plan import Access, Plan
from prowess.errors import UsageError
from prowess.machine.event_loop import run_in_thread
from prowess.machine.http_client import FetchError, HttpSession
from prowess.model.permission import Action, Decision
from prowess.text.display import count_words
from prowess.text.markup import escape_tags, escape_xml, tidy_line

_SECONDS = 30
_MOST_BYTES = 10 << 20
_MOST_CHARACTERS = 50_000
# pydantic-ai names an argument of its own, which users do not have.
_FOREIGN_REMEDY = re.compile(r'Use force_download="allow-local"[^.]*\.')
_OWN_REMEDY = "Hosts under `[agent] private_hosts` in the user's own prowess.toml are allowed."
_MOST_REDIRECTS = 5
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_SLASHES = re.compile("/{2,}")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class WebTool:
    """The tool that fetches pages.

    `find_private_hosts` gives the hosts that may be in a private network, as the settings have
    them now, and `open_judge` what judges addresses by the rules as they are now.
    """

    def __init__(
        self,
        find_private_hosts: Callable[[], Container[str]],
        open_judge: Callable[[], Callable[[Plan], Decision]],
    ) -> None:
        self._find_private_hosts = find_private_hosts
        self._open_judge = open_judge

    def fetch(self, url: str) -> Plan:
        """Fetch a web page and return it as Markdown.

        Only http and https. A redirect to another host, or to what the rules do not permit, is not
        followed: fetch its address instead.

        Args:
            url: The address of the page.
        """
        plan = _make_plan(url)
        return msgspec.structs.replace(plan, delegate=partial(self._fetch_all, url, plan))

    async def _fetch_all(self, url: str, plan: Plan) -> str:
        """Fetch a page and what it redirects to, each address judged like the first."""
        host = split_url(url).hostname or ""
        is_private = host in self._find_private_hosts()
        for _ in range(_MOST_REDIRECTS + 1):
            try:
                return await _fetch(url, host, is_private=is_private)
            except _Redirected:
                url = await _find_redirect(url, host, is_private=is_private)
                self._check_redirect(url, host, plan)
        raise ToolFailed(f"The page redirects more than {_MOST_REDIRECTS} times.")

    def _check_redirect(self, url: str, host: str, plan: Plan) -> None:
        """Raise `ToolFailed` for a redirect that leads to more than was permitted."""
        target = _make_plan(url)
        if split_url(url).hostname != host:
            raise ToolFailed(f"The page redirects to another host. Fetch {url} instead.")
        judge = self._open_judge()
        # Both now: rules may have changed since the first address was approved.
        first, decision = judge(plan), judge(target)
        if decision.action is Action.DENY:
            reason = decision.reason.rstrip(".")
            raise ToolFailed(f"The page redirects to {url}. Not permitted: {reason}.")
        # Whoever was asked about the first address has permitted its host, but no other rule.
        is_same = (first.action, first.rule) == (decision.action, decision.rule)
        if decision.action is Action.ASK and not is_same:
            raise ToolFailed(f"The page redirects to {url}, which needs an approval. Fetch that.")


class _Redirected(Exception):
    """A page redirects; pydantic-ai does not say where to."""


class _OneHop(list[str]):
    """Domains for pydantic-ai, which looks at them before every request: there is only one."""

    def __init__(self, host: str) -> None:
        self._is_used = False
        super().__init__([host])

    def __iter__(self) -> Iterator[str]:
        if self._is_used:
            raise _Redirected
        self._is_used = True
        return super().__iter__()


def _make_plan(url: str) -> Plan:
    return Plan(
        title=f"WebFetch {url}",
        permissions=("webfetch",),
        accesses=(Access(names=list_url_names(split_url(url))),),
        default=Action.ASK,
        details=(url,),
    )


def split_url(url: str) -> SplitResult:
    """The parts of an address. Raises `UsageError` for one that can be read in two ways."""
    # Clients read these differently: one stops at them, another encodes or drops them.
    is_plain = url.isascii() and url.isprintable() and not set(url) & set(' \\"<>')
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_plain, has_host = False, False
    is_address = is_plain and has_host and parts.scheme in _DEFAULT_PORTS
    if not is_address:
        raise UsageError(f"“{tidy_line(url)[:200]}” is not an http or https address.")
    if "@" in parts.netloc:
        raise UsageError("An address must not contain a user name or password.")
    if _has_dot_segment(parts.path):
        raise UsageError(
            f"“{tidy_line(url)[:200]}” can be read in two ways: its path has a “.” or “..” segment"
            " or a backslash. Use the path that it leads to instead."
        )
    return parts


def _has_dot_segment(path: str) -> bool:
    """Whether clients or servers may take a path for another one than it says, also encoded."""
    decoded = unquote(path)
    # Some servers decode more than once. Each round makes the path shorter.
    while decoded != path:
        path, decoded = decoded, unquote(decoded)
    # Some servers drop what follows a semicolon, and then `..;a` is `..`.
    segments = [one.partition(";")[0] for one in path.split("/")]
    return "\\" in path or "." in segments or ".." in segments


def list_url_names(parts: SplitResult) -> tuple[str, ...]:
    """What rules are compared with: the host, the host with its port, and the whole address."""
    # `example.org.` is the same host, and must not get past a rule about `example.org`.
    host = (parts.hostname or "").rstrip(".")
    usual_port = _DEFAULT_PORTS[parts.scheme]
    port = parts.port or usual_port
    # An IPv6 address needs its brackets, which `hostname` drops.
    shown = f"[{host}]" if ":" in host else host
    if port != usual_port:
        shown = f"{shown}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    # A rule such as `*://example.org/*` must not match what is only said in a path or query.
    rests = [f"{path}{query}".replace("://", ":%2F/") for path in _list_paths(parts.path or "/")]
    addresses = [f"{parts.scheme}://{shown}{rest}" for rest in rests]
    return (f"domain:{host}", f"domain:{host}:{port}", *addresses)


def _list_paths(path: str) -> tuple[str, ...]:
    """A path as rules know it, and as lenient servers read it: decoded, with single slashes."""
    usual = _ESCAPE.sub(_decode_unreserved, path)
    decoded = path
    while (once := unquote(decoded)) != decoded:
        decoded = once
    return tuple(dict.fromkeys((usual, _SLASHES.sub("/", decoded))))


def _decode_unreserved(escape: re.Match[str]) -> str:
    """A character that means the same encoded and as it is; others stay encoded."""
    character = chr(int(escape[1], 16))
    is_unreserved = character.isascii() and (character.isalnum() or character in "-._~")
    return character if is_unreserved else escape[0].upper()


async def _find_redirect(url: str, host: str, *, is_private: bool) -> str:
    """Where a page redirects to. Raises `ToolFailed`."""
    private = frozenset((host,)) if is_private else frozenset[str]()

    def find(is_cancelled: object) -> str | None:
        with HttpSession(seconds=_SECONDS, private_hosts=private) as session:
            return session.find_redirect(url)

    try:
        found = await run_in_thread(find)
    except FetchError as error:
        raise ToolFailed(f"Failed to follow the redirect of {url}: {error.message}.") from error
    if found is None:
        raise ToolFailed(f"{url} redirects, but not always. Try again.")
    return found


async def _fetch(url: str, host: str, *, is_private: bool) -> str:
    # Imported when it is used: its parser of HTML takes long to load.
    from pydantic_ai.common_tools.web_fetch import WebFetchLocalTool

    fetch = WebFetchLocalTool(
        max_content_length=_MOST_CHARACTERS,
        max_download_bytes=_MOST_BYTES,
        allow_local_urls=is_private,
        timeout=_SECONDS,
        # The rules were asked about this address; each redirect is judged before it is followed.
        allowed_domains=_OneHop(host),
    )
    try:
        page = await fetch(url)
    except ModelRetry as error:
        raise ToolFailed(_FOREIGN_REMEDY.sub(_OWN_REMEDY, error.message)) from error
    address = escape_xml(url)
    if not isinstance(page, dict):
        kind, size = tidy_line(page.media_type), count_words(len(page.data), "byte")
        return f'<web_page url="{address}">\n[{size} of {kind}]\n</web_page>'
    title = tidy_line(page["title"])
    text = f"# {title}\n\n{page['content']}" if title else page["content"]
    return f'<web_page url="{address}">\n{escape_tags(text, "web_page")}\n</web_page>'
