"""`prowess trust`: which projects may run what their skills say."""

from __future__ import annotations

import os
from typing import Any

import click
import msgspec

from prowess.cli.app import Exit
from prowess.cli.options import complete_hosts, json_option
from prowess.cli.terminal.out import console, echo_diagnostics, print_json, shorten_path
from prowess.cli.terminal.prompts import can_ask, confirm
from prowess.errors import NotAFolder, UsageError
from prowess.errors.activation import TooWide
from prowess.machine.facts import current_facts
from prowess.machine.project_folders import MOST_FOLDERS
from prowess.reports.json_output import shape_diagnostic
from prowess.reports.trust_preview import SettingStake, Stakes, find_stakes
from prowess.state.trust import Trusted, TrustFile
from prowess.text.display import count_words, escape_text

_NOBODY = (
    "Nobody is here to be asked, so the project stays untrusted; `prowess trust --yes` trusts it"
    " unasked."
)


@click.command("trust")
@click.argument("path", default=".", type=click.Path())
@click.option("--yes", is_flag=True, help="Trust it without being asked.")
@click.option("--remove", is_flag=True, help="Take the trust back.")
@click.option("--list", "list_all", is_flag=True, help="Show every project that is trusted.")
@click.option(
    "--host",
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Show what would run as this host, too.",
)
@json_option
def command(
    path: str, yes: bool, remove: bool, list_all: bool, host: str | None, as_json: bool
) -> int:
    """Let the commands of a project's skills run.

    Without it, commands inside the skills of a project stay text, and the tools that its
    prowess.toml declares do not run. Shows what would run and asks. It holds for the whole
    repository that PATH lies in and for every host, also for what changes there later, and is kept
    outside of it.
    """
    if yes + remove + list_all > 1:
        raise UsageError("--yes, --remove and --list do three different things; give one of them.")
    store = TrustFile.of(current_facts())
    if list_all:
        return _list(store, as_json=as_json)
    folder = os.path.abspath(path)
    if not os.path.isdir(folder):
        raise NotAFolder(folder)
    if remove:
        return _remove(store, folder, as_json=as_json)
    return _trust(store, folder, yes=yes, host=host, as_json=as_json)


def _list(store: TrustFile, *, as_json: bool) -> int:
    trusted = sorted(store.load(), key=lambda one: one.root)
    if as_json:
        findings = [shape_diagnostic(finding) for finding in store.diagnostics]
        print_json(
            {
                "file": store.path,
                "trusted": [msgspec.to_builtins(one) for one in trusted],
                "diagnostics": findings,
            }
        )
        return 0
    from prowess.cli.terminal.tables import print_columns

    if trusted:
        print_columns(
            [(one.since, shorten_path(one.root)) for one in trusted],
            heading=("SINCE", "PROJECT"),
            wrap=True,
        )
    else:
        console().print("No project is trusted.")
    echo_diagnostics(store.diagnostics)
    return 0


def _remove(store: TrustFile, folder: str, *, as_json: bool) -> int:
    root, _ = store.find_project(folder)
    removed = store.distrust(folder)
    still = _find_holder(store, folder)
    if as_json:
        print_json({"root": root, "removed": removed, "trusted": still is not None})
        return 0
    screen = console()
    name = shorten_path(root)
    screen.print(f"{name} is no longer trusted." if removed else f"{name} was not on the list.")
    if still is not None:
        screen.print(f"What lies there is still trusted, since {shorten_path(still.root)} is.")
    return 0


def _find_holder(store: TrustFile, folder: str) -> Trusted | None:
    """The entry by which a folder is trusted."""
    if not store.is_trusted_folder(folder):
        return None
    root, _ = store.find_project(folder)
    holders = [
        one
        for one in store.load()
        if root == one.root or root.startswith(os.path.join(one.root, ""))
    ]
    return max(holders, key=lambda one: len(one.root), default=None)


def _trust(store: TrustFile, folder: str, *, yes: bool, host: str | None, as_json: bool) -> int:
    root, is_repository = store.find_project(folder)
    if store.is_too_wide(root):
        raise TooWide(root)
    held = _find_holder(store, folder)
    stakes = find_stakes(root, folder, host)
    shape = {"root": root, "is_repository": is_repository, **_shape(stakes)}
    if not as_json:
        _print_stakes(root, stakes, is_repository=is_repository)
    if held is not None and (not yes or held.root == root):
        return _tell(
            shape, held, as_json=as_json, said=f"It is trusted already, since {held.since}."
        )
    if not yes and (as_json or not can_ask()):
        return _refuse(shape, as_json=as_json)
    if not yes and not confirm("Trust it?"):
        click.echo("It stays untrusted.", err=True)
        return Exit.REFUSED
    made = store.trust(folder)
    return _tell(
        shape,
        made,
        as_json=as_json,
        said=f"{shorten_path(made.root)} is trusted from now on.",
        changed=True,
    )


def _tell(
    shape: dict[str, Any], held: Trusted, *, as_json: bool, said: str, changed: bool = False
) -> int:
    if as_json:
        print_json({**shape, "trusted": True, "since": held.since, "changed": changed})
    else:
        console().print(said)
    return 0


def _refuse(shape: dict[str, Any], *, as_json: bool) -> int:
    click.echo(_NOBODY, err=True)
    if as_json:
        error = {"kind": "not-asked", "message": _NOBODY, "exit_code": int(Exit.REFUSED)}
        print_json({**shape, "trusted": False, "changed": False, "error": error})
    return Exit.REFUSED


def _shape(stakes: Stakes) -> dict[str, Any]:
    return {
        "skills": [msgspec.to_builtins(stake) for stake in stakes.skills],
        "tools": [
            {
                "name": one.name,
                "command": one.command,
                "file": one.origin.file,
                "line": one.origin.line,
            }
            for one in stakes.tools
        ],
        "variables": [
            {"name": one.name, "file": one.origin.file, "line": one.origin.line}
            for one in stakes.variables
        ],
        "unread": list(stakes.unread),
        "is_cut": stakes.is_cut,
    }


# Screens


def _print_stakes(root: str, stakes: Stakes, *, is_repository: bool) -> None:
    screen = console()
    what = "the repository" if is_repository else "the folder"
    screen.print(f"To trust {what} {shorten_path(root)} is to let this run, with your rights:")
    screen.print()
    if stakes.is_empty:
        screen.print(
            "  Nothing at the moment: no skill here has commands or hooks, and no tool is declared."
        )
        screen.print()
    commands = [
        (shorten_path(one.location, root), one.commands) for one in stakes.skills if one.commands
    ]
    hooks = [(shorten_path(one.location, root), one.hooks) for one in stakes.skills if one.hooks]
    _print_group("Commands inside skills, whenever the skill is loaded", commands)
    _print_group("Hooks of skills, in agents that run hooks", hooks)
    _print_group(
        "Programs, when a command of a skill goes to them as a tool",
        _list_settings(stakes.tools, root),
    )
    _print_group(
        "Variables that the programs of a skill get", _list_settings(stakes.variables, root)
    )
    if stakes.unread:
        screen.print(f"{count_words(len(stakes.unread), 'skill')} could not be read.")
    if stakes.is_cut:
        screen.print(
            f"The search for skills ended after {MOST_FOLDERS:,} folders; there may be more further"
            " down."
        )
    screen.print("It holds for everything in there, also for what changes later.")


def _list_settings(
    stakes: tuple[SettingStake, ...], root: str
) -> list[tuple[str, tuple[str, ...]]]:
    listed: list[tuple[str, tuple[str, ...]]] = []
    for stake in stakes:
        file, line = shorten_path(stake.origin.file or "", root), stake.origin.line
        said = f"{stake.name}: {stake.command}" if stake.command else stake.name
        listed.append((file if line is None else f"{file}:{line}", (said,)))
    return listed


def _print_group(title: str, group: list[tuple[str, tuple[str, ...]]]) -> None:
    """What runs, by the place where it stands. A long line goes on below itself, so that none
    passes for another.
    """
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    if not group:
        return
    screen = console()
    screen.print(f"{title}:", style="bold")
    for place, texts in group:
        print_columns([("", Text(place, "dim"))], wrap=True)
        lines = "\n".join(text.strip("\n") for text in texts).split("\n")
        print_columns([("", "", escape_text(line).expandtabs(4)) for line in lines], wrap=True)
    screen.print()
