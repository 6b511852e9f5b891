"""Composed sources read what they name and nothing else, as the interpreter itself reports it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workspace import Workspace, skill_text

# Every event of the interpreter that has the path of a file or folder, except the reading of
# modules. A program cannot take part in this without being seen: hooks cannot be removed.
WATCHED = """
import json, os, sys
seen = []
KINDS = {"open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove", "sqlite3.connect",
         "subprocess.Popen", "os.chmod", "os.link", "os.symlink", "shutil.rmtree", "socket.connect"}
on = False
def hook(event, args):
    if on and event in KINDS:
        seen.append([event, str(args[0])])
"""
PROGRAM = """
from prowess import Skills
from prowess.sources import Files, Folder
sys.addaudithook(hook)
on = True
folder = sys.argv[1]
files = {"pdf/SKILL.md": "---\\nname: pdf\\ndescription: d\\n---\\nBody\\n", "pdf/ref.md": "R"}
skills = Skills.of(Folder(folder), Files(files), host=sys.argv[2])
chat = skills.conversation()
chat.catalog().prompt
chat.tool().description
for name in ("one", "pdf"):
    chat.activate(name, by="model")
    chat.run("/" + name)
    chat.touched(os.path.join(folder, "one", "x.py"))
chat.read("skill://one/ref.md")
chat.compact(); chat.save(); skills.reload(); skills.close()
on = False
print(json.dumps({"seen": seen, "names": [skill.name for skill in skills]}))
"""


@pytest.mark.parametrize("host", ["prowess", "claude-code", "opencode", "openclaw", "omp"])
def test_nothing_is_read_or_written_outside_the_named_folder(
    workspace: Workspace, host: str
) -> None:
    # A home and a project that would be read by everything else in Prowess.
    workspace.skill("home/.claude/skills/private")
    workspace.write("home/.config/prowess/prowess.toml", "broken = [")
    workspace.write("home/.config/prowess/profiles/x.toml", "broken = [")
    workspace.write("project/.gitignore", "*")
    workspace.git()
    workspace.skill("project/.claude/skills/project")
    workspace.skill("project/shared/one", body="Body\n")
    workspace.write("project/shared/one/ref.md", "R")
    folder = workspace.path("project/shared")
    answer = subprocess.run(
        [sys.executable, "-B", "-c", WATCHED + PROGRAM, folder, host],
        capture_output=True,
        text=True,
        check=True,
        cwd=workspace.project,
        env={"HOME": str(workspace.home), "PATH": os.environ["PATH"], "PROWESS_STATE_DIR": "/no"},
    )
    report = json.loads(answer.stdout)
    assert report["names"] == ["one", "pdf"]
    seen = [(event, path) for event, path in report["seen"] if not _is_code(path)]
    # Files are opened folder by folder from the top, each through the one around it.
    steps = {("open", part) for part in (*Path(folder).parts, "one", "ref.md", "SKILL.md")}
    outside = [one for one in seen if not f"{one[1]}/".startswith(f"{folder}/")]
    assert [one for one in outside if one not in steps] == []
    assert ("open", f"{folder}/one/SKILL.md") in seen


def _is_code(path: str) -> bool:
    """Whether a path is that of a module, or of the profiles beside Prowess's own."""
    real = os.path.realpath(path)
    import prowess

    return any(
        real.startswith(os.path.realpath(place))
        for place in (sys.prefix, sys.base_prefix, Path(prowess.__file__).parent)
    )


def test_the_environment_does_not_reach_the_skills(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "SKILL.md").write_text(
        skill_text("one", metadata='{"openclaw": {"requires": {"env": ["SECRET_KEY"]}}}')
    )
    program = (
        "import sys; from prowess import Skills; from prowess.sources import Folder;"
        "s = Skills.of(Folder(sys.argv[1]));"
        "print(sorted(s.facts.env), [o.state.value for o in s.snapshot.outcomes])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"], "SECRET_KEY": "hunter2", "HOME": str(tmp_path)},
    )
    assert answer.stdout == "['PATH'] ['ineligible']\n"
