"""The repository as a whole: what every file keeps to, and that what the documents promise is
there.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

import prowess
from tools.seeds import Fact, find_problems, load_facts, load_ledger, render_table, render_totals

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs"}
WHOLE_COMMAND = re.compile(r"(?:^[ ]*|`|[$] )make ([a-z-]+)(?=[ ]*(?:#|`|$))", re.MULTILINE)
MADE = {
    ".git",
    ".venv",
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "__pycache__",
    "build",
    "dist",
}

# Written in pieces, so that this file does not find itself.
FOREIGN = re.compile(
    "|".join(
        [
            "/" + "work/(main|shared)",
            "/" + "farm/",
            "farm" + "-studio",
            "/opt/" + "(pypi|wheels)",
            "py" + r"pi\.org",
            "python" + r"hosted\.org",
            "npm" + r"js\.(org|com)",
            "deb" + r"ian\.org",
            "crates" + r"\.io",
        ]
    )
)


@cache
def files() -> tuple[Path, ...]:
    """Every file of the repository: what git would commit, or the whole tree where there is no git."""
    if shutil.which("git") and (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        return tuple(ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file())
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(
            name for name in folders if name not in MADE and not name.endswith(".egg-info")
        )
        found += [path for name in sorted(names) if (path := Path(folder, name)).is_file()]
    return tuple(found)


def python_files(*folders: str) -> list[Path]:
    bundled = ROOT / "src" / "prowess" / "bundled"
    return [
        path
        for path in files()
        if path.suffix == ".py"
        and path.relative_to(ROOT).parts[0] in folders
        and not (path.is_relative_to(bundled) and path.parent != bundled)
    ]


def make_targets() -> set[str]:
    return set(
        re.findall(
            r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
        )
    )


def test_no_file_names_the_place_where_it_was_made_or_a_package_registry():
    found = []
    for path in files():
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), 1):
            if FOREIGN.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}")
    assert found == []


def test_every_module_says_what_it_is():
    silent = [
        str(path.relative_to(ROOT))
        for path in python_files("src", "tests", "tools", "benchmarks")
        if path.stat().st_size
        and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_no_module_is_longer_than_600_lines():
    long = {
        str(path.relative_to(ROOT)): count
        for path in python_files("src")
        if (count := path.read_text(encoding="utf-8").count("\n")) > 600
    }
    assert long == {}


def test_no_module_has_a_name_that_says_nothing():
    vague = {"utils", "util", "helpers", "helper", "common", "manager", "handler", "misc"}
    assert [path for path in python_files("src") if {path.stem, path.parent.name} & vague] == []


@pytest.mark.parametrize("target", ["run", "test"])
def test_the_two_commands_of_the_readme_are_make_targets(target):
    assert f"make {target}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert target in make_targets()


def test_every_make_command_that_the_documents_name_exists():
    documents = [
        path
        for path in files()
        if path.suffix == ".md" and path.relative_to(ROOT).parts[0] in DOCUMENTS
    ]
    named = {
        (str(path.relative_to(ROOT)), target)
        for path in documents
        for target in WHOLE_COMMAND.findall(path.read_text(encoding="utf-8"))
    }
    assert sorted((path, target) for path, target in named if target not in make_targets()) == []
    assert {("CONTRIBUTING.md", "test"), ("CONTRIBUTING.md", "docs")} <= named


def test_the_package_and_the_project_file_name_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert prowess.__version__ == project["version"]


def test_the_public_names_are_written_out_for_type_checkers():
    tree = ast.parse((ROOT / "src" / "prowess" / "__init__.py").read_text(encoding="utf-8"))
    written = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert [ast.literal_eval(value) for value in written] == [prowess.__all__]


def test_every_public_name_can_be_imported_and_stands_in_order():
    assert list(prowess.__all__) == sorted(
        prowess.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name)
    )
    assert [name for name in prowess.__all__ if not hasattr(prowess, name)] == []


def test_links_between_documents_lead_somewhere():
    broken = []
    for path in files():
        if path.suffix == ".md" and path.relative_to(ROOT).parts[0] in DOCUMENTS:
            text = re.sub(
                r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL
            )
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
                if "://" not in target and not (path.parent / target).exists():
                    broken.append(f"{path.relative_to(ROOT)}: {target}")
    assert broken == []


def test_every_fact_has_its_number_once_and_no_number_is_left_out():
    numbers: dict[str, list[int]] = {}
    for fact in load_facts():
        letter, _, number = fact.id.partition("-")
        numbers.setdefault(letter, []).append(int(number))
    assert {letter: len(found) for letter, found in numbers.items()} == {
        "O": 54,
        "P": 65,
        "W": 58,
        "A": 44,
        "C": 143,
    }
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())


def test_the_ledger_of_proved_facts_is_in_the_order_of_the_facts():
    ledger = load_ledger()
    assert ledger == [fact.id for fact in load_facts() if fact.id in set(ledger)]


FACTS = [
    Fact("A-01", ("1 read path",), "s", "one thing"),
    Fact("A-02", ("1 read path", "3 activate"), "s", "another"),
]


def test_facts_tests_and_ledger_that_agree_give_no_problem():
    assert find_problems(FACTS, {"A-02": ["t.py::x"]}, ["A-02"]) == []


def test_every_disagreement_between_facts_tests_and_ledger_is_named():
    assert find_problems(FACTS, {"A-02": ["t.py::x"], "B-01": ["t.py::y"]}, ["A-01", "Z-01"]) == [
        "t.py::y names the fact B-01, which does not exist.",
        "Z-01 is in the ledger but is no fact.",
        "A-01 was proved and has no test any more.",
        "Proved but not in the ledger: A-02. Run `make seeds-update`.",
    ]


def test_the_table_of_facts_has_a_line_for_each_and_totals_for_each_issue():
    proofs = {"A-02": ["t.py::x", "t.py::y"]}
    assert render_table(FACTS, proofs).splitlines() == [
        "A-01  1 read path              one thing: not yet",
        "A-02  1 read path, 3 activate  another: t.py::x and 1 more",
    ]
    assert render_totals(FACTS, proofs).splitlines() == [
        "1 read path            1 of   2 proved,   1 not yet",
        "3 activate             1 of   1 proved,   0 not yet",
        "all                    1 of   2 proved,   1 not yet",
    ]
