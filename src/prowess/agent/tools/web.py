"""WebFetch: one page of the web as Markdown, bounded, and never from a private network.

The download is pydantic-ai's: it resolves a name once, refuses loopback, private and metadata
addresses, checks every redirect in the same way, and limits what is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic_ai import ModelRetry, ToolFailed

from prowess.agent.tools.plan import Access, Plan
from prowess.errors import UsageError
from prowess.model.permission import Action
from prowess.text.display import count_words
from prowess.text.markup import escape_tags, escape_xml, tidy_line

_SECONDS = 30
_MOST_BYTES = 10 << 20
_MOST_CHARACTERS = 50_000
# pydantic-ai names an argument of its own, which users do not have.
_FOREIGN_REMEDY = re.compile(r'Use force_download="allow-local"[^.]*\.')
_OWN_REMEDY = "Hosts under `[agent] private_hosts` in the user's own prowess.toml are allowed."
_DEFAULT_PORTS = {"http": 80, "https": 443}


class WebTool:
    """The tool that fetches pages.

    `find_private_hosts` gives the hosts that may be in a private network, as the settings have
    them now.
    """

    def __init__(self, find_private_hosts: Callable[[], Container[str]]) -> None:
        self._find_private_hosts = find_private_hosts

    def fetch(self, url: str) -> Plan:
        """Fetch a page of the web, and return it as Markdown.

        Only http and https. A redirect to another host is not followed: fetch its address instead.

        Args:
            url: The address of the page.
        """
        parts = split_url(url)
        host = parts.hostname or ""

        async def fetch() -> str:
            is_private = host in self._find_private_hosts()
            return await _fetch(url, host, is_private=is_private)

        return Plan(
            title=f"WebFetch {url}",
            permissions=("webfetch",),
            accesses=(Access(names=list_url_names(parts)),),
            default=Action.ASK,
            delegate=fetch,
            details=(url,),
        )


def split_url(url: str) -> SplitResult:
    """The parts of an address. Raises `UsageError` for one that can be read in two ways."""
    is_plain = url.isascii() and url.isprintable() and not set(url) & set(' \\"<>')
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_plain, has_host = False, False
    if not is_plain or not has_host or parts.scheme not in _DEFAULT_PORTS:
        raise UsageError(f"“{tidy_line(url)[:200]}” is not an http or https address.")
    if "@" in parts.netloc:
        raise UsageError("An address with a user name or password is not fetched.")
    if _has_dot_segment(parts.path):
        raise UsageError(
            f"“{tidy_line(url)[:200]}” can be read in two ways: its path has a “.” or “..” segment"
            " or a backslash. Write the path that it leads to instead."
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
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    shown = f"[{host}]" if ":" in host else host
    if port != _DEFAULT_PORTS[parts.scheme]:
        shown = f"{shown}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    # A rule such as `*://example.org/*` must not match what is only said in a query.
    rest = f"{parts.path or '/'}{query}".replace("://", ":%2F/")
    return (f"domain:{host}", f"domain:{host}:{port}", f"{parts.scheme}://{shown}{rest}")


async def _fetch(url: str, host: str, *, is_private: bool) -> str:
    # Imported when it is used: its parser of HTML takes long to load.
    from pydantic_ai.common_tools.web_fetch import WebFetchLocalTool

    fetch = WebFetchLocalTool(
        max_content_length=_MOST_CHARACTERS,
        max_download_bytes=_MOST_BYTES,
        allow_local_urls=is_private,
        timeout=_SECONDS,
        # The rules were asked about this host; a redirect must not lead elsewhere.
        allowed_domains=[host],
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
