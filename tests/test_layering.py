"""The layers of `src/prowess`: imports go down only, never in a circle, and few touch the machine.

Imports inside functions and under TYPE_CHECKING count, and so does a string that is the full name
of a module, because that is how modules are imported late.
"""

from __future__ import annotations

import ast
import builtins
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"

STAGES = ("discover", "parse", "resolve", "gate", "present", "activate")

# Lowest first. A package imports itself and the layers above this line, never its neighbours: what
# two stages need belongs in `model` or `text`. "" is prowess/__init__.py with the public names.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("bundled", "version"),
    ("diagnostics", "telemetry"),
    ("model",),
    ("errors",),
    ("text",),
    ("ports",),
    ("profiles",),
    ("settings", *STAGES, "machine"),
    # Commands of a skill build on `activate` and `machine`; what is kept on disk on `machine`.
    ("shell", "state"),
    ("scan", "sources"),
    ("project",),
    ("conversation",),
    ("runtime",),
    ("",),
    ("reports",),
    ("supply", "search"),
    ("adapters",),
    # The agent uses the adapter for pydantic-ai.
    ("agent", "serve"),
    ("testing",),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}

# Data, and what only tests use: no other package imports them.
NEVER_IMPORTED = ("bundled", "testing")

# Modules of the standard library that reach files, processes, the network or the environment.
TOUCHES_THE_MACHINE = frozenset(
    "asyncio ctypes fcntl fileinput getpass glob http importlib.resources importlib.metadata linecache locale "
    "mmap multiprocessing os pathlib pkgutil platform pty pwd resource select selectors shelve shutil signal "
    "socket socketserver sqlite3 ssl stat subprocess sys tempfile termios tty urllib.request webbrowser winreg".split()
)
OPENS_FILES = frozenset({"open", "input"})

# `machine` may use all of them. Everyone else gets the machine as an argument, except for these:
MAY_TOUCH: dict[str, frozenset[str]] = {
    # Reads the profiles that ship next to it.
    "prowess.profiles.load": frozenset({"open"}),
    # Callers may pass folders of any type; here they become absolute paths.
    "prowess.project.host_view": frozenset({"os"}),
    "prowess.project.opened_with": frozenset({"os"}),
    "prowess.project.options": frozenset({"os"}),
    "prowess.project.scan_plan": frozenset({"os"}),
    "prowess.runtime": frozenset({"os"}),
    "prowess.conversation.conversation": frozenset({"os"}),
    "prowess.sources": frozenset({"os"}),
    # Owners, modes, locks and the database of what Prowess keeps on disk.
    "prowess.state": frozenset(
        {"fcntl", "open", "os", "shutil", "sqlite3", "stat", "sys", "tempfile"}
    ),
    # Sees whether the program has loaded OpenTelemetry or logging.
    "prowess.telemetry": frozenset({"sys"}),
    # The command line has the terminal: its arguments, its streams, its width.
    "prowess.cli": frozenset({"os", "sys"}),
    # The chat waits for keys and for the model in one event loop.
    "prowess.cli.chat": frozenset({"asyncio"}),
    "prowess.__main__": frozenset({"sys"}),
    # Libraries that wait in an event loop get the core's answers from a worker thread.
    "prowess.adapters": frozenset({"asyncio"}),
    "prowess.agent": frozenset({"asyncio"}),
    # What users of the library run in their tests.
    "prowess.testing": frozenset({"os", "pathlib", "tempfile"}),
}


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by name; the skills that ship with it are data."""
    found = {}
    for path in sorted((SOURCE / "prowess").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[1] == "bundled" and len(parts) > 3:
            continue
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported_names(source: str, module: str, *, is_package: bool) -> Iterator[str]:
    """Every dotted name a module imports: `a.b` for both `import a.b` and `from a import b`.

    A string counts if it is the full name of one of our modules.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")[
                    : None if is_package and node.level == 1 else -node.level + is_package
                ]
                base = ".".join([*parents, base] if base else parents)
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            yield from {node.value} & modules().keys()


def _own_imports(module: str, path: Path) -> set[str]:
    """The modules of this package that a module imports; other names count as their parent."""
    found = set()
    for name in imported_names(
        path.read_text(encoding="utf-8"), module, is_package=path.name == "__init__.py"
    ):
        if name in modules():
            found.add(name)
        elif name.rpartition(".")[0] in modules():
            found.add(name.rpartition(".")[0])
    return found - {module}


@cache
def graph() -> dict[str, set[str]]:
    return {module: _own_imports(module, path) for module, path in modules().items()}


def _layer(module: str) -> str:
    return module.partition(".")[2].partition(".")[0]


def test_every_module_has_its_place_in_the_layers():
    assert {_layer(module) for module in modules()} - set(RANK) == set()


@pytest.mark.seed("C-103")
def test_a_module_imports_only_from_the_layers_below_its_own():
    wrong = [
        f"{module} imports {other}"
        for module, imports in graph().items()
        for other in sorted(imports)
        if _layer(module) != _layer(other)
        and (_layer(other) in NEVER_IMPORTED or RANK[_layer(other)] >= RANK[_layer(module)])
    ]
    assert wrong == []


@pytest.mark.seed("C-102")
def test_no_import_goes_in_a_circle():
    assert find_circle(graph()) == []


def find_circle(imports: dict[str, set[str]]) -> list[str]:
    """Modules of which each imports the next, and the last the first; empty if there are none."""
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_a_circle_of_imports_is_noticed():
    assert find_circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) != []
    assert find_circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def _machine_names(source: str, module: str, *, is_package: bool) -> set[str]:
    """The machine's modules and file-opening built-ins that a module uses."""
    names = imported_names(source, module, is_package=is_package)
    used = {part for name in names for part in _prefixes(name) if part in TOUCHES_THE_MACHINE}
    calls = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return used | {
        call.id for call in calls if isinstance(call, ast.Name) and call.id in OPENS_FILES
    }


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def test_only_the_machine_folder_touches_the_machine():
    wrong = []
    for module, path in modules().items():
        if _layer(module) == "machine":
            continue
        allowed = {name for prefix in _prefixes(module) for name in MAY_TOUCH.get(prefix, ())}
        source = path.read_text(encoding="utf-8")
        used = _machine_names(source, module, is_package=path.name == "__init__.py")
        wrong += [f"{module} uses {name}" for name in sorted(used - allowed)]
    assert wrong == []


def test_stages_get_the_clock_as_an_argument():
    wrong = []
    for module, path in modules().items():
        if _layer(module) not in (*STAGES, "model", "text", "profiles", "settings"):
            continue
        source = path.read_text(encoding="utf-8")
        names = imported_names(source, module, is_package=path.name == "__init__.py")
        if any(_prefixes(name)[0] == "time" for name in names):
            wrong.append(module)
    assert wrong == []


def test_nothing_evaluates_text():
    assert {"eval", "exec"} <= set(dir(builtins))
    calls = [
        f"{module}:{node.lineno}"
        for module, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and node.id in ("eval", "exec", "__import__")
    ]
    assert calls == []


def test_importing_prowess_brings_nothing_heavy():
    program = "import sys; before = set(sys.modules); import prowess; print(*sorted(set(sys.modules) - before))"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    brought = {name.partition(".")[0] for name in answer.stdout.split()}
    heavy = {
        "asyncio",
        "click",
        "difflib",
        "http",
        "pathspec",
        "platformdirs",
        "pyjson5",
        "rich",
        "subprocess",
    }
    assert brought & heavy == set()
    assert "prowess" in brought


def test_the_reader_of_imports_sees_every_kind():
    source = """
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import prowess.model.skill
def late():
    from prowess.errors import MachineError
    from . import sibling
    from .near import thing
    from ..parse import header
TABLE = {"Skills": "prowess.runtime", "none": "prowess.toml", "name": "prowess"}
"""
    expected = {
        "__future__.annotations",
        "typing.TYPE_CHECKING",
        "prowess.model.skill",
        "prowess.errors.MachineError",
        "prowess.gate.sibling",
        "prowess.gate.near.thing",
        "prowess.parse.header",
        "prowess.runtime",
    }
    assert set(imported_names(source, "prowess.gate.rules", is_package=False)) == expected
    assert set(imported_names(source, "prowess.gate", is_package=True)) == expected


def test_the_reader_of_machine_use_sees_modules_and_open():
    source = "from os import path\nimport urllib.request\nimport urllib.parse\nimport posixpath\nopen('x')\n"
    assert _machine_names(source, "prowess.parse.header", is_package=False) == {
        "os",
        "urllib.request",
        "open",
    }
