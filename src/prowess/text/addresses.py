"""The addresses of skills and their files, as models are shown them."""

from __future__ import annotations

SCHEME = "skill://"


def render_address(name: str, path: str = "") -> str:
    """The address of a skill, or of one of its files."""
    from urllib.parse import quote

    address = SCHEME + quote(name, safe=":@", errors="surrogatepass")
    if not path:
        return address
    return f"{address}/{quote(path, safe='/@', errors='surrogatepass')}"
