"""The files of a skill that are shared, and what is left out, by one rule for all of Prowess."""

from __future__ import annotations

import posixpath

import msgspec

from prowess.diagnostics import Diagnostic, Severity
from prowess.errors import UsageError
from prowess.machine.tree_files import load_tree, read_file
from prowess.model.file_content import FileContent
from prowess.model.tree import Tree, find_collision
from prowess.parse.header.fast import read_header
from prowess.profiles.load import load_profile
from prowess.reports.lint_report import CheckedFile
from prowess.reports.skill_paths import Target
from prowess.state.unpacked_files import find_refusal
from prowess.supply.index_format import MOST_FILES, SKILL_FILE
from prowess.supply.remote_fetch import MOST_SKILL_BYTES

_CACHES = "__pycache__ node_modules .venv venv .mypy_cache .pytest_cache .ruff_cache .tox .cache"
_LEFT_OUT = frozenset((*".git .hg .svn .DS_Store Thumbs.db .env".split(), *_CACHES.split()))
# Compiled files and backups of editors, and archives of earlier runs.
_LEFT_OUT_SUFFIXES = (".pyc", ".pyo", ".swp", "~", ".skill")


class CannotShare(UsageError):
    """A skill that is not packed or published, and why."""

    exit_code = 1

    def __init__(self, folder: str, problem: str) -> None:
        self.folder = folder
        self.problem = problem
        super().__init__(folder, problem)

    def __str__(self) -> str:
        return f"{self.folder} cannot be shared: {self.problem}."


class SharedSkill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill to share: its name and description, its folder, its files, and what is left out."""

    name: str
    description: str
    folder: str
    files: dict[str, FileContent]
    tree: Tree
    left_out: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def size(self) -> int:
        """The bytes of all its files."""
        return self.tree.size


def is_left_out(path: str) -> bool:
    """Whether a path below a skill's folder is not shared."""
    parts = path.split("/")
    return not _LEFT_OUT.isdisjoint(parts) or parts[-1].endswith(_LEFT_OUT_SUFFIXES)


def load_shared(target: Target, checked: CheckedFile) -> SharedSkill:
    """The files of a skill that passed the check. Raises `CannotShare` and `MachineError`."""
    folder = target.folder
    if any(one.severity is Severity.ERROR for one in checked.diagnostics):
        raise CannotShare(folder, "it has errors; `prowess validate` shows them")
    if posixpath.basename(target.location) != SKILL_FILE:
        raise CannotShare(folder, f"its file has to be named {SKILL_FILE}")
    whole = load_tree(folder, skip=frozenset({".git"}))
    tree = Tree({path: file for path, file in whole.files.items() if not is_left_out(path)})
    _check_tree(folder, tree)
    contents = {
        path: FileContent(read_file(folder, path), file.is_executable)
        for path, file in sorted(tree.files.items())
    }
    # By the standard, not by a lenient host: others must be able to read it.
    profile = load_profile("spec")
    data = contents[SKILL_FILE].data
    header = read_header(data, rules=profile.header, limits=profile.limits).frontmatter
    return SharedSkill(
        name=str(header["name"]),
        description=str(header["description"]).strip(),
        folder=folder,
        files=contents,
        tree=tree,
        left_out=tuple(sorted(whole.files.keys() - tree.files.keys())),
        warnings=checked.diagnostics,
    )


def _check_tree(folder: str, tree: Tree) -> None:
    """Raise for what could not be unpacked again, here or on another system."""
    for path, file in sorted(tree.files.items()):
        if not file.is_ordinary:
            raise CannotShare(folder, f"{path} is a symlink or a special file; copy it instead")
        problem = _find_path_problem(path)
        if problem is not None:
            raise CannotShare(folder, f"the path {path[:100]!r} {problem}")
    collision = find_collision(sorted(tree.files))
    if collision is not None:
        one, other = collision
        raise CannotShare(folder, f"{one} and {other} are one file on some systems")
    if len(tree.files) > MOST_FILES:
        problem = f"it has {len(tree.files):,} files; at most {MOST_FILES} can be installed"
        raise CannotShare(folder, problem)
    if tree.size > MOST_SKILL_BYTES:
        problem = f"it has {tree.size:,} bytes; at most {MOST_SKILL_BYTES:,} can be installed"
        raise CannotShare(folder, problem)


def _find_path_problem(path: str) -> str | None:
    if not path.isprintable():
        return "has characters that cannot be printed, or is not valid UTF-8"
    # A Windows machine would read both as something else.
    if "\\" in path or ":" in path:
        return "has a backslash or a colon"
    return find_refusal(path)
