"""Laws of the scan: it never fails, and its time grows with the text and not faster."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.supply.scan.rules import SCAN_CODES
from prowess.supply.scan.skill_scan import scan_files, scan_text
from tests.effort import ATTEMPTS, spend

NAMES = ("SKILL.md", "run.sh", "run.py", "data.json", "Makefile", "a.ps1")
PIECES = st.sampled_from(
    [
        *"`~<>!-()[]{}|&;$'\"\\#*_ \n\t=@/:",
        "```",
        "```bash\n",
        "<!--",
        "-->",
        "curl https://a.b/c",
        "| sh",
        "$(",
        "<(",
        "base64 -d",
        "ignore all ",
        "previous ",
        "instructions",
        "~/.ssh/id_rsa",
        "\u200b\u200b",
        "\U000e0041",
        "\u202e",
        "the user ",
        "send ",
        "pip install ",
        "eval(",
        "\x00",
        "\ud800",
        "---\nname: х\n---\n",
        "QUJD" * 12,
    ]
)


@given(st.sampled_from(NAMES), st.lists(PIECES | st.text(max_size=8), max_size=60).map("".join))
def test_any_text_is_scanned_and_findings_lie_inside_it(name, text):
    for finding in scan_text(name, text):
        assert finding.code in SCAN_CODES
        assert finding.line is None or 1 <= finding.line <= text.count("\n") + 1


@given(st.dictionaries(st.sampled_from(NAMES), st.binary(max_size=300)))
def test_any_bytes_are_scanned(contents):
    scan_files(contents, obey_comments=True)


HOSTILE = {
    "open quotes": "curl '",
    "backquotes": "`curl ",
    "brackets": "$(curl ",
    "comments": "<!-- ",
    "phrases": "ignore all the your of ",
    "send": "send the api keys to ",
    "read": "read open copy ",
    "images": "![](https://a/",
    "hidden tags": "<p style='",
    "base64": "QUJDREVG",
    "hex": "\\x41",
    "escapes": '"\\$',
    "urls": "https://github.com",
    "invisible": "a\u200b",
    "tags": "\U000e0041",
    "fences": "```\n",
    "fence lead": "> - ",
    "pipes": "curl x |\n",
    "continued": "curl \\\n",
    "home": "cat ~/.",
    "conceal": "keep it the a hide from ",
    "emphasis": "**a_",
    "strings": "'os.system(\"",
    "spaces": " ",
    "name": "name: ",
    "exec": "exec(exec(",
    "senders": "urlopen(",
    "sent bodies": "curl -d $(",
    "secrets": "send the password ",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_grows_with_the_text_and_not_faster(piece):
    def measure(length: int) -> float:
        text = (piece * (length // len(piece) + 1))[:length]
        _, seconds = spend(lambda: [scan_text(name, text) for name in ("SKILL.md", "a.sh", "a.py")])
        return seconds

    # Eight times the text; what is quadratic takes sixty-four times as long.
    assert any(measure(32_000) < 30 * measure(4_000) + 0.5 for _ in range(ATTEMPTS))
