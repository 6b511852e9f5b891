"""The frame of the pages that reports write: one file, no network.

Text from skills is escaped. A page also forbids itself all requests and every script but its own,
which is named by its hash, so a mistake in a page cannot become an attack.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape

from prowess.text.display import escape_line


def render_html(title: str, *, style: str, body: str, script: str = "") -> str:
    """A whole page. All but the `title` is markup already."""
    end = f"<script>{script}</script>\n" if script else ""
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_render_policy(script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{make_safe(title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
{end}</body>
</html>
"""


def make_safe(text: str | None) -> str:
    """Untrusted text on one line, with nothing in it that is markup or steers anything."""
    return escape(escape_line(text or ""), quote=True)


def _render_policy(script: str) -> str:
    # Bars have their width in a `style` attribute, which no hash can name.
    allowed = ["default-src 'none'", "style-src 'unsafe-inline'"]
    if script:
        digest = b64encode(sha256(script.encode()).digest()).decode()
        allowed.append(f"script-src 'sha256-{digest}'")
    return "; ".join((*allowed, "base-uri 'none'", "form-action 'none'"))
