"""Plans of an install and differences of installed skills, for people."""

from __future__ import annotations

import re

import click
from rich.text import Text

from prowess.cli.terminal.out import console, echo_diagnostics, shorten_path
from prowess.cli.terminal.tables import print_columns
from prowess.diagnostics import Diagnostic, Severity
from prowess.reports.install_plan import InstallPlan, PlannedSkill, SkillContents
from prowess.text.display import count_words, escape_line, escape_text, join_some

_ACTIONS = {
    "create": "new",
    "replace": "replaced",
    "unchanged": "unchanged",
    "edited": "has local changes",
}
_MOST_FILES = 20
_SHORT_COMMIT = 12
# A commit, or the digest of an archive.
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


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
    print_columns([(title,)])
    origin = render_origin(skill.source, skill.path, skill.ref, skill.resolved)
    rows = [("", "from", escape_line(origin))]
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
        # The label stands beside the first text only.
        labels = [label, *[""] * len(texts)]
        rows += [("", beside, _clean(text)) for beside, text in zip(labels, texts, strict=False)]
    print_columns(rows, wrap=True)
    for finding in contents.findings:
        # Files that the scan cannot read, such as pictures, are in the JSON.
        if finding.severity is not Severity.INFO:
            screen.print(escape_text(_render_finding(finding)))
    screen.print()


def _render_finding(finding: Diagnostic) -> str:
    where = f"{finding.file}:{finding.line}: " if finding.file and finding.line else ""
    return f"  {finding.severity.value}: {where}{finding.message} ({finding.code})"


def render_origin(source: str, path: str, ref: str, resolved: str) -> str:
    """Where a skill comes from, as people write it, and which version that is."""
    origin = source
    if path:
        origin += f"/{path}"
    if ref:
        origin += f"#{ref}"
    if resolved:
        origin += f" at {shorten_version(resolved)}"
    return origin


def _describe_signer(skill: PlannedSkill) -> list[tuple[str, str, str]]:
    signed_before = skill.signed_before
    is_other_signer = signed_before and signed_before != skill.signer
    # Somebody else, or nobody, is worth a line: an account may have been taken over.
    if not skill.signer and not is_other_signer:
        return []
    before = f" (installed version: {signed_before})" if is_other_signer else ""
    return [("", "signed by", escape_line(f"{skill.signer or 'no known signer'}{before}"))]


def shorten_version(resolved: str) -> str:
    """A version as people read it: a commit by its first digits."""
    plain = resolved.removeprefix("sha256:")
    return plain[:_SHORT_COMMIT] if _DIGEST.fullmatch(plain) else resolved


def _describe_files(contents: SkillContents) -> str:
    names = [escape_line(file.path) for file in contents.files]
    shown = join_some(names, _MOST_FILES)
    return f"{count_words(len(names), 'file')}, {contents.size:,} bytes: {shown}"


def _clean(text: str) -> str:
    return escape_text(text.strip("\n")).expandtabs(4)
