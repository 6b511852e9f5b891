"""The skills that `pack` and `publish` share: found by path, checked strictly, loaded."""

from __future__ import annotations

import os
from collections.abc import Sequence

from prowess.cli.options import load_host
from prowess.cli.terminal.out import console
from prowess.diagnostics import Diagnostic, Severity
from prowess.errors import UsageError
from prowess.machine.facts import current_facts
from prowess.machine.files import LocalFiles
from prowess.reports.lint_report import check_file
from prowess.reports.skill_paths import TargetSearch
from prowess.supply.publish.skill_files import CannotShare, SharedSkill, load_shared
from prowess.text.display import count_words, escape_line, join_some

_MOST_SHOWN = 10


def load_shared_skills(
    paths: Sequence[str], *, host: str | None = None, outside: str | None = None
) -> list[SharedSkill]:
    """The skills at these paths, sorted by name; those inside the folder `outside` don't count.

    Raises `CannotShare` if one has errors.
    """
    cwd, files = os.getcwd(), LocalFiles()
    profiles = [] if host is None else [load_host(host)]
    found = TargetSearch(cwd, current_facts(), files).find(paths)
    errors: list[Diagnostic] = list(_list_errors(found.notes))
    skills: list[SharedSkill] = []
    for target in found.targets:
        # The folder that is published to may lie in the one that is published from.
        is_inside = outside is not None and target.location.startswith(f"{outside}/")
        if is_inside:
            continue
        checked = check_file(target, files, profiles)
        wrong = _list_errors(checked.diagnostics)
        errors += wrong
        if not wrong:
            skills.append(load_shared(target, checked))
    # After all were checked, so that the number of errors is that of all.
    if errors:
        raise _refuse(errors, cwd)
    if not skills:
        where = f" outside {outside}" if outside else ""
        raise UsageError(f"No SKILL.md found{where}.")
    _check_names(skills)
    return sorted(skills, key=lambda skill: skill.name)


def _list_errors(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    return [one for one in diagnostics if one.severity is Severity.ERROR]


def _refuse(errors: Sequence[Diagnostic], cwd: str) -> CannotShare:
    first = errors[0]
    where = os.path.relpath(first.file or cwd, cwd)
    more = f", and {count_words(len(errors) - 1, 'other error')}" if len(errors) > 1 else ""
    problem = f"{first.message.rstrip('.')} ({first.code}){more}; `prowess validate` shows all"
    return CannotShare(where, problem)


def _check_names(skills: Sequence[SharedSkill]) -> None:
    """Raise where two skills have one name, also on systems where case does not count."""
    by_name: dict[str, SharedSkill] = {}
    for skill in skills:
        other = by_name.setdefault(skill.name.casefold(), skill)
        if other is not skill:
            raise UsageError(
                f"{other.folder} and {skill.folder} are both named “{skill.name}”; name the paths"
                " of those to share."
            )


def print_left_out(skill: SharedSkill) -> None:
    """Say which files of a skill are not shared."""
    if skill.left_out:
        shown = join_some([escape_line(path) for path in skill.left_out], _MOST_SHOWN)
        console().print(f"  left out: {shown}")
