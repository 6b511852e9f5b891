"""Plans of an install and differences of installed skills, for people."""

from __future__ import annotations

import click
from rich.text import Text

from prowess.cli.terminal.out import console, echo_diagnostics, shorten_path
from prowess.cli.terminal.tables import print_columns
from prowess.diagnostics import Severity
from prowess.reports.install_plan import InstallPlan, PlannedSkill, SkillContents
from prowess.text.display import count_words, escape_line, escape_text

_ACTIONS = {
    "create": "new",
    "replace": "replaced",
    "unchanged": "unchanged",
    "edited": "has local changes",
}
_MOST_FILES = 20
_SHORT_COMMIT = 12


def print_plan(plan: InstallPlan, cwd: str) -> None:
    """Show what would be written, and what it could do."""
    for skill in plan.skills:
        _print_skill(skill, cwd)
    for path, reason in plan.refused:
        click.echo(escape_text(f"Not installed: {path or 'the top folder'} ({reason})."), err=True)
    echo_diagnostics(plan.diagnostics)


def _print_skill(skill: PlannedSkill, cwd: str) -> None:
    screen = console()
    contents = skill.contents
    title = Text(escape_line(skill.name), "bold")
    title.append(f"  {escape_line(contents.description)}", "not bold")
    screen.print(title, no_wrap=True, overflow="ellipsis")
    rows = [("", "from", _describe_origin(skill))]
    rows += _describe_signer(skill)
    for target in skill.targets:
        rows.append(("", "to", f"{shorten_path(target.folder, cwd)} ({_ACTIONS[target.action]})"))
    rows.append(("", "files", _describe_files(contents)))
    listed = {
        "scripts": contents.scripts,
        "runs when loaded": contents.commands,
        "hooks": contents.hooks,
        "wants tools": contents.tools,
        "names hosts": contents.network,
    }
    for label, texts in listed.items():
        rows += [("", label if not place else "", _clean(text)) for place, text in enumerate(texts)]
    print_columns(rows, wrap=True)
    for finding in contents.findings:
        # Files that the scan cannot read, such as pictures, are in the JSON.
        if finding.severity is Severity.INFO:
            continue
        where = f"{finding.file}:{finding.line}: " if finding.file and finding.line else ""
        text = f"  {finding.severity.value}: {where}{finding.message} ({finding.code})"
        screen.print(escape_text(text))
    screen.print()


def _describe_origin(skill: PlannedSkill) -> str:
    version = shorten_version(skill.resolved)
    ref = f"#{skill.ref}" if skill.ref else ""
    path = f"/{skill.path}" if skill.path else ""
    origin = f"{skill.source}{path}{ref}"
    return escape_line(f"{origin} at {version}" if version else origin)


def _describe_signer(skill: PlannedSkill) -> list[tuple[str, str, str]]:
    changed = skill.signed_before and skill.signed_before != skill.signer
    before = f" (installed version: {skill.signed_before})" if changed else ""
    if not skill.signer and not before:
        return []
    return [("", "signed by", escape_line(f"{skill.signer or 'no known signer'}{before}"))]


def shorten_version(resolved: str) -> str:
    """A version as people read it: a commit by its first digits."""
    plain = resolved.removeprefix("sha256:")
    is_digest = len(plain) in (40, 64) and all(one in "0123456789abcdef" for one in plain)
    return plain[:_SHORT_COMMIT] if is_digest else resolved


def _describe_files(contents: SkillContents) -> str:
    names = [file.path for file in contents.files]
    shown = ", ".join(escape_line(name) for name in names[:_MOST_FILES])
    more = f" and {len(names) - _MOST_FILES} more" if len(names) > _MOST_FILES else ""
    return f"{count_words(len(names), 'file')}, {contents.size:,} bytes: {shown}{more}"


def _clean(text: str) -> str:
    return escape_text(text.strip("\n")).expandtabs(4)
