"""The first line of a body, which may stand in for a description."""

from __future__ import annotations


def find_lead(body: str) -> str:
    """The first line of a body that is not empty, without heading marks; "" where there is none."""
    line = body.lstrip().partition("\n")[0].partition("\r")[0].rstrip()
    if not line.startswith("#"):
        return line
    rest = line.lstrip("#")
    is_heading = len(line) - len(rest) <= 6 and rest[:1] in ("", " ", "\t")
    return rest.lstrip() if is_heading else line
