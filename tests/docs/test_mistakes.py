"""The table of mistakes in the guide for authors says what each host does with each."""

from __future__ import annotations

import pytest

from prowess import Skills, Snapshot, State
from prowess.testing import MemoryFiles, make_facts
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "guides" / "writing-skills.md"
# The hosts by their title in the table: the name of each, and a folder that it reads.
HOSTS = {
    "Claude Code": ("claude-code", ".claude/skills"),
    "opencode": ("opencode", ".opencode/skills"),
    "OpenClaw": ("openclaw", "skills"),
    "oh-my-pi": ("omp", ".omp/skills"),
    "Codex": ("codex", ".agents/skills"),
    "Gemini CLI": ("gemini", ".gemini/skills"),
    "Copilot CLI": ("copilot", ".github/skills"),
    "pi": ("pi", ".pi/skills"),
    "Qwen Code": ("qwen", ".qwen/skills"),
    "Crush": ("crush", ".crush/skills"),
    "Prowess": ("prowess", ".prowess/skills"),
}


def header(*fields: str) -> str:
    return "\n".join(["---", *fields, "---", "", "# Work", "", "Do the work.", ""])


NAME = "name: pdf"
MEANT = "Reads PDF files. Use when asked."
DESCRIPTION = f"description: {MEANT}"
WITH_COLON = "Reads files: PDF and others. Use when asked."
WITH_BACKTICK = "`pdf` files are read. Use when asked."
# Each mistake by its words in the table: the file, its text, and the description that its author
# means.
MISTAKES = {
    "`: ` in a plain description": (
        "pdf/SKILL.md",
        header(NAME, f"description: {WITH_COLON}"),
        WITH_COLON,
    ),
    "description begins with a backtick": (
        "pdf/SKILL.md",
        header(NAME, f"description: {WITH_BACKTICK}"),
        WITH_BACKTICK,
    ),
    "`argument-hint: [file] [page]`": (
        "pdf/SKILL.md",
        header(NAME, DESCRIPTION, "argument-hint: [file] [page]"),
        MEANT,
    ),
    "text after `description: >`": (
        "pdf/SKILL.md",
        header(NAME, "description: > Reads PDF files.", "  Use when asked."),
        MEANT,
    ),
    "a tab as indentation": (
        "pdf/SKILL.md",
        header(NAME, DESCRIPTION, "metadata:", "\tauthor: me"),
        MEANT,
    ),
    "a field twice": ("pdf/SKILL.md", header(NAME, "description: Old.", DESCRIPTION), MEANT),
    "no `description`": ("pdf/SKILL.md", header(NAME), MEANT),
    "no `name`": ("pdf/SKILL.md", header(DESCRIPTION), MEANT),
    "the header is never closed": (
        "pdf/SKILL.md",
        f"---\n{NAME}\n{DESCRIPTION}\n\n# Work\n\nDo the work.\n",
        MEANT,
    ),
    "no header at all": ("pdf/SKILL.md", "# Work\n\nDo the work.\n", MEANT),
    "the file is named `skill.md`": ("pdf/skill.md", header(NAME, DESCRIPTION), MEANT),
    "one folder too deep": ("office/pdf/SKILL.md", header(NAME, DESCRIPTION), MEANT),
}


def load_table() -> dict[str, dict[str, str]]:
    """The rows of the table by their mistake, each cell by its host."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    hosts = rows[0][1:]
    return {mistake: dict(zip(hosts, cells, strict=True)) for mistake, *cells in rows[2:]}


def scan(host: str, path: str, text: str) -> Snapshot:
    files = MemoryFiles({f"/nowhere/project/{path}": text})
    facts = make_facts("/nowhere/home", env={"GEMINI_CLI_TRUST_WORKSPACE": "true"})
    return Skills("/nowhere/project", host=host, files=files, facts=facts).snapshot


def describe(snapshot: Snapshot, meant: str) -> str:
    """What the table says of such an answer."""
    if not snapshot.outcomes:
        return "not seen"
    (outcome,) = snapshot.outcomes
    if outcome.state is not State.READY or outcome.skill is None:
        return str(outcome.state.value)
    return "loads" if outcome.skill.description == meant else "wrong text"


def test_the_table_has_every_mistake_and_every_host():
    assert {mistake: list(row) for mistake, row in load_table().items()} == {
        mistake: list(HOSTS) for mistake in MISTAKES
    }


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_table_says_what_each_host_does_with_a_mistake(mistake):
    path, text, meant = MISTAKES[mistake]
    answers = {
        title: describe(scan(host, f"{folder}/{path}", text), meant)
        for title, (host, folder) in HOSTS.items()
    }
    assert load_table()[mistake] == answers
