"""`prowess trust`: which projects may run what their skills say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import click
import msgspec

from prowess.cli.app import Exit
from prowess.cli.options import complete_hosts, json_option
from prowess.cli.terminal.out import console, echo_diagnostics, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.cli.terminal.prompts import can_ask, confirm, describe_not_asked, shape_not_asked
from prowess.errors import NotAFolder, UsageError
from prowess.errors.activation import TooWide, UnknownApproval
from prowess.machine.facts import current_facts
from prowess.machine.project_folders import MOST_FOLDERS
from prowess.reports.approval_list import ListedApproval, list_approvals
from prowess.reports.json_output import shape_diagnostic
from prowess.reports.trust_preview import (
    DeclaredSetting,
    TrustPreview,
    preview_trust,
)
from prowess.state.approvals import ApprovalFile, approvals_path
from prowess.state.trust import Trusted, TrustFile
from prowess.text.display import count_words, escape_line, escape_text

_DONE = "trusted"

# What runs, by the file that says so.
_Group = list[tuple[str, tuple[str, ...]]]


@click.command("trust")
@click.argument("path", default=".", type=click.Path())
@click.option("--yes", is_flag=True, help="Trust it without asking.")
@click.option("--remove", is_flag=True, help="Stop trusting it.")
@click.option(
    "--list", "list_all", is_flag=True, help="List all trusted projects and single approvals."
)
@click.option(
    "--revoke",
    metavar="ID|NAME|PATH",
    help="Revoke one approval by its id, all of a skill or name, or trust in a project.",
)
@click.option(
    "--host",
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Also show what this host would run.",
)
@json_option
def command(
    path: str,
    yes: bool,
    remove: bool,
    list_all: bool,
    revoke: str | None,
    host: str | None,
    as_json: bool,
) -> int:
    """Trust a project so that what it brings can run.

    Until then, commands in the project's skills do not run, tools that its prowess.toml declares
    are not called, its MCP servers are not started, and its sources are not fetched. Shows what
    would run, then asks. Trust covers the whole repository that PATH is in, for every host and
    including later changes. It is stored outside the repository.

    Without trust, a single “always” approves one skill or tool, as it is at that moment; it lapses
    when the content changes. --list shows both kinds, --remove and --revoke take them back.
    """
    given = (yes, remove, list_all, revoke is not None)
    if sum(given) > 1:
        raise UsageError("Use only one of --yes, --remove, --list and --revoke.")
    facts = current_facts()
    store = TrustFile.of(facts)
    approvals = ApprovalFile(approvals_path(facts))
    if list_all:
        return _list(store, approvals, as_json=as_json)
    if revoke is not None:
        return _revoke(store, approvals, revoke, as_json=as_json)
    folder = os.path.abspath(path)
    # Before the check below: a project may have been deleted since it was trusted.
    if remove:
        return _remove(store, folder, as_json=as_json)
    if not os.path.isdir(folder):
        raise NotAFolder(folder)
    return _trust(store, folder, yes=yes, host=host, as_json=as_json)


def _list(store: TrustFile, approvals: ApprovalFile, *, as_json: bool) -> int:
    trusted = sorted(store.load(), key=lambda one: one.root)
    approved = list_approvals(approvals, store)
    diagnostics = (*store.diagnostics, *approvals.diagnostics)
    if as_json:
        shape: dict[str, Any] = {
            "file": store.path,
            "trusted": [msgspec.to_builtins(one) for one in trusted],
            "approvals_file": approvals.path,
            "approvals": [msgspec.to_builtins(one) for one in approved],
            "diagnostics": [shape_diagnostic(one) for one in diagnostics],
        }
        print_json(shape)
        return Exit.OK
    from prowess.cli.terminal.tables import print_columns

    if trusted:
        rows = [(one.since, shorten_path(one.root)) for one in trusted]
        print_columns(rows, heading=("SINCE", "PROJECT"), wrap=True)
    else:
        console().print("No projects are trusted.")
    if approved:
        console().print()
        _print_approvals(approved)
    echo_diagnostics(diagnostics)
    return Exit.OK


def _print_approvals(approved: list[ListedApproval]) -> None:
    from prowess.cli.terminal.tables import print_columns

    rows: list[tuple[str, ...]] = []
    for one in approved:
        mark = "" if one.is_there else " (gone)"
        where = escape_line(shorten_path(one.location) + mark)
        digest = one.digest.removeprefix("sha256:")[:12]
        rows.append((one.id, one.approved, escape_line(one.what), where, digest))
    print_columns(rows, heading=("ID", "SINCE", "APPROVED", "FOR", "DIGEST"), wrap=True)


def _revoke(store: TrustFile, approvals: ApprovalFile, wanted: str, *, as_json: bool) -> int:
    """Revoke approvals; the folder of a trusted project works, too."""
    listed = list_approvals(approvals, store)
    chosen = [one for one in listed if wanted in (one.id, one.pattern, one.skill)]
    if not chosen:
        folder = os.path.abspath(wanted)
        # A project that was deleted is still in the list.
        is_project = os.path.isdir(folder) or _is_listed(store, folder)
        if is_project:
            return _remove(store, folder, as_json=as_json)
        known = {approval.skill or approval.pattern for approval in listed}
        raise UnknownApproval(wanted, sorted(known))
    approvals.revoke({approval.id for approval in chosen})
    if as_json:
        print_json({"revoked": [msgspec.to_builtins(approval) for approval in chosen]})
        return Exit.OK
    for approval in chosen:
        where = escape_line(shorten_path(approval.location))
        console().print(f"No longer approved: {escape_line(approval.what)} for {where}.")
    return Exit.OK


def _is_listed(store: TrustFile, folder: str) -> bool:
    return any(trusted.root == folder for trusted in store.load())


def _remove(store: TrustFile, folder: str, *, as_json: bool) -> int:
    # The project around a folder that is gone is another one, and stays trusted.
    is_there = os.path.isdir(folder)
    root = folder
    if is_there and not _is_listed(store, folder):
        root, _ = store.find_project(folder)
    is_removed = store.distrust(folder, with_project=is_there)
    remaining = store.find_trusted(folder)
    if as_json:
        print_json({"root": root, "removed": is_removed, "trusted": remaining is not None})
        return Exit.OK
    screen = console()
    what = "no longer trusted" if is_removed else "not in the list of trusted projects"
    screen.print(f"{shorten_path(root)} is {what}.")
    if remaining is not None:
        screen.print(f"It is still trusted, because {shorten_path(remaining.root)} is.")
    return Exit.OK


def _trust(store: TrustFile, folder: str, *, yes: bool, host: str | None, as_json: bool) -> int:
    root, is_repository = store.find_project(folder)
    if store.is_too_wide(root):
        raise TooWide(root)
    entry = store.find_trusted(folder)
    with Progress("looking for what would run") as progress:
        preview = preview_trust(root, folder, host, reporter=progress)
    shape = {"root": root, "is_repository": is_repository, **preview.shape()}
    if not as_json:
        _print_preview(root, preview, kind="repository" if is_repository else "folder")
    # With --yes, a project that is trusted only because of a folder above gets its own entry.
    needs_own_entry = entry is not None and yes and entry.root != root
    if entry is not None and not needs_own_entry:
        return _finish(shape, entry, as_json=as_json, changed=False)
    if yes:
        return _finish(shape, store.trust(folder), as_json=as_json, changed=True)
    if as_json or not can_ask():
        return _refuse(shape, as_json=as_json)
    if not confirm("Trust it?"):
        click.echo("Not trusted.", err=True)
        return Exit.REFUSED
    return _finish(shape, store.trust(folder), as_json=as_json, changed=True)


def _finish(shape: dict[str, Any], entry: Trusted, *, as_json: bool, changed: bool) -> int:
    if as_json:
        print_json({**shape, "trusted": True, "since": entry.since, "changed": changed})
    elif changed:
        console().print(f"{shorten_path(entry.root)} is now trusted.")
    else:
        console().print(f"Already trusted since {entry.since}.")
    return Exit.OK


def _refuse(shape: dict[str, Any], *, as_json: bool) -> int:
    click.echo(describe_not_asked(_DONE), err=True)
    if as_json:
        error = shape_not_asked(_DONE)
        print_json({**shape, "trusted": False, "changed": False, "error": error})
    return Exit.REFUSED


# Screens


def _print_preview(root: str, preview: TrustPreview, *, kind: str) -> None:
    screen = console()
    screen.print(f"Trusting the {kind} {shorten_path(root)} lets this run with your permissions:")
    screen.print()
    if preview.is_empty:
        screen.print("  Nothing yet: no skill has commands or hooks, and no tool is declared.")
        screen.print()
    skills = [(shorten_path(one.location, root), one) for one in preview.skills]
    commands = [(file, one.commands) for file, one in skills if one.commands]
    hooks = [(file, one.hooks) for file, one in skills if one.hooks]
    _print_group("Commands in skills, each time the skill is loaded", commands)
    _print_group("Hooks of skills, in agents that run hooks", hooks)
    _print_group("Hooks of the project, in `prowess run`", _group_settings(preview.hooks, root))
    tools = _group_settings(preview.tools, root)
    _print_group("Programs that skills call as tools", tools)
    servers = _group_settings(preview.servers, root)
    _print_group("MCP servers, started or connected to list skills and by agents", servers)
    sources = _group_settings(preview.sources, root)
    _print_group("Sources of skills, fetched as soon as skills are listed", sources)
    variables = _group_settings(preview.variables, root)
    _print_group("Environment variables for the programs of a skill", variables)
    if preview.unread:
        screen.print(f"{count_words(len(preview.unread), 'skill')} could not be read.")
    if preview.is_cut:
        screen.print(
            f"Only the first {MOST_FOLDERS:,} folders were searched; there may be more skills"
            " further down."
        )
    screen.print(f"This covers the whole {kind}, including later changes.")


def _group_settings(declared: tuple[DeclaredSetting, ...], root: str) -> _Group:
    group: _Group = []
    for setting in declared:
        file = shorten_path(setting.origin.file or "", root)
        line = "" if setting.origin.line is None else f":{setting.origin.line}"
        group.append((f"{file}{line}", tuple(_describe_setting(setting))))
    return group


def _describe_setting(setting: DeclaredSetting) -> Iterator[str]:
    yield f"{setting.name}: {setting.command}" if setting.command else setting.name
    if setting.sets:
        yield f"  gets values for {', '.join(setting.sets)}"
    if setting.uses:
        yield f"  uses your variables {', '.join(setting.uses)}"


def _print_group(title: str, group: _Group) -> None:
    """Print what runs below the file that says so.

    Long lines are wrapped into their column, so that no part of one looks like another line.
    """
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    if not group:
        return
    screen = console()
    screen.print(f"{title}:", style="bold")
    for file, texts in group:
        print_columns([("", Text(file, "dim"))], wrap=True)
        # A command may have several lines, and each is a row of its own.
        lines = "\n".join(text.strip("\n") for text in texts).split("\n")
        # A tab is as wide as the terminal likes, and would break the column.
        shown = (escape_text(line).expandtabs(4) for line in lines)
        print_columns([("", "", line) for line in shown], wrap=True)
    screen.print()
