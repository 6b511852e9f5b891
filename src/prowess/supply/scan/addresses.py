"""Addresses that a rule judges: where a download comes from, and where data goes."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

WEB_ADDRESS = re.compile(r"https?://[^\s'\"`<>|)\]}]{1,2000}", re.IGNORECASE)
"""A URL in running text; what closes a quotation or a link is no part of it."""

# Services that keep what anybody sends for the one who opened an account, or for everybody.
_DROP_HOSTS = re.compile(
    r"(?:.*\.)?(?:webhook\.site|requestbin\.\w+|pipedream\.net|beeceptor\.com|ngrok(?:-free)?\.\w+"
    r"|ngrok\.io|trycloudflare\.com|loca\.lt|serveo\.net|oast\.\w+|oastify\.com|interact\.sh"
    r"|burpcollaborator\.net|canarytokens\.com|dnslog\.cn|requestcatcher\.com|hookbin\.com"
    r"|transfer\.sh|file\.io|0x0\.st|termbin\.com|ix\.io|temp\.sh|bashupload\.com|gofile\.io"
    r"|anonfiles\.com|catbox\.moe)"
)
_DROP_PATHS = re.compile(
    r"https?://(?:discord(?:app)?\.com/api/webhooks/|api\.telegram\.org/bot)", re.IGNORECASE
)
# Anybody may put a program there, or let a short address lead to one.
_PASTES = re.compile(
    r"(?:.*\.)?(?:pastebin\.com|paste\.ee|hastebin\.com|ghostbin\.com|rentry\.co|dpaste\.\w+"
    r"|gist\.githubusercontent\.com|bit\.ly|tinyurl\.com|t\.co|is\.gd|goo\.gl|cutt\.ly|rb\.gy"
    r"|shorturl\.at|t\.ly)"
)
_NUMERIC = re.compile(r"[0-9.]+|0x[0-9a-f]+|\[?[0-9a-f:]*:[0-9a-f:]+\]?", re.IGNORECASE)
_LOCAL = re.compile(
    r"localhost|127\.[0-9.]+|0\.0\.0\.0|\[?::1\]?|10\.[0-9.]+|192\.168\.[0-9.]+"
    r"|172\.(?:1[6-9]|2[0-9]|3[01])\.[0-9.]+|.*\.(?:local|internal|test|localhost)"
)


def find_host(url: str) -> str:
    """The host that an address names, in lower case; empty if it has none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        # A bracket that is never closed, as in text about addresses.
        return ""


def is_local(url: str) -> bool:
    """Whether an address leads to this machine or a private network."""
    return _LOCAL.fullmatch(find_host(url)) is not None


def find_drop(text: str) -> str | None:
    """The first host in a text that collects data for its owner; None if none does."""
    for url in WEB_ADDRESS.findall(text):
        host = find_host(url)
        # Of a host that everybody uses, only the path of its webhooks gives it away.
        is_drop = _DROP_HOSTS.fullmatch(host) or _DROP_PATHS.match(url)
        if is_drop:
            return host
    return None


def find_distrust(url: str) -> str | None:
    """Why nobody should run what comes from an address; None if nothing speaks against it."""
    # A server of one's own while developing: its plain http and its bare address are normal.
    if is_local(url):
        return None
    host = find_host(url)
    if _NUMERIC.fullmatch(host):
        return f"{host} is a bare IP address"
    is_open_to_all = _PASTES.fullmatch(host) or _DROP_HOSTS.fullmatch(host)
    if is_open_to_all:
        return f"anyone can upload to {host}"
    if url.lower().startswith(("http://", "ftp://")):
        return "the connection is not encrypted"
    return None
