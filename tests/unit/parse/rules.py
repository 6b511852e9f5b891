"""Header rules for the tests of single rules, which hold whatever a profile file says today, and the
hosts whose profiles the laws of parsing are tested with.
"""

from __future__ import annotations

from prowess.parse.header.fast import HeaderReading, read_header
from prowess.profiles.load import BUILT_IN, known_editions
from prowess.profiles.schema.header import HeaderRules, Repair
from prowess.profiles.schema.roots import ScanLimits

REPAIRS: tuple[Repair, ...] = (
    "drop-controls",
    "tab-to-spaces",
    "part-keys",
    "align-keys",
    "join-lines",
    "block-text",
    "close-json",
    "quote-hint",
    "quote-indicator",
    "quote-colon",
    "quote-quotes",
    "drop-duplicates",
    "quote-entries",
)

PROWESS = HeaderRules(
    open="line-or-language",
    languages=("yaml", "yml", "json"),
    unclosed="invalid",
    repairs=REPAIRS,
    values="written",
)
SPEC = HeaderRules(unclosed="invalid")
CLAUDE_CODE = HeaderRules(
    close="anywhere",
    broken="empty",
    repairs=("quote-plain", "drop-duplicates"),
    empty_file_is_skill=True,
)
OPENCODE = HeaderRules(
    open="language",
    close="line-prefix",
    unclosed="header",
    languages=("yaml", "yml", "json"),
    repairs=("tab-dropped", "opencode-blocks"),
    dates_are_text=False,
)
OPENCLAW = HeaderRules(unclosed="invalid", repairs=("quote-description",), values="text")
OMP = HeaderRules(
    open="prefix",
    close="line-prefix",
    strip_comments=True,
    broken="empty",
    repairs=("tab-to-spaces", "quote-pairs", "drop-duplicates", "line-by-line"),
)
CODEX = HeaderRules(unclosed="invalid", repairs=("quote-colon",))

LIMITS = ScanLimits()

EVERY_HOST = {
    "prowess": PROWESS,
    "spec": SPEC,
    "claude-code": CLAUDE_CODE,
    "opencode": OPENCODE,
    "openclaw": OPENCLAW,
    "omp": OMP,
    "codex": CODEX,
}

HOSTS = (
    *BUILT_IN,
    *(f"{host}@documented" for host in BUILT_IN if "documented" in known_editions(host)),
)
"""Every host and documented edition that has a profile."""


def read(text: str | bytes, rules: HeaderRules = PROWESS) -> HeaderReading:
    data = text if isinstance(text, bytes) else text.encode()
    return read_header(data, rules=rules, limits=LIMITS)


def read_fields(header: str, rules: HeaderRules = PROWESS) -> HeaderReading:
    """Read a header that stands between proper fences."""
    return read(f"---\n{header}---\nBody\n", rules)


def codes(reading: HeaderReading) -> list[tuple[str, int | None]]:
    return [(finding.code, finding.line) for finding in reading.diagnostics]
