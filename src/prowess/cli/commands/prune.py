"""`prowess prune`: remove versions of skills that no project needs from the store."""

from __future__ import annotations

import click

from prowess.cli.app import Exit
from prowess.cli.install_options import dry_run_option
from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import console, echo_diagnostics, print_json
from prowess.cli.terminal.progress import Progress
from prowess.machine.facts import current_facts
from prowess.state.skill_store import SkillStore
from prowess.supply.install.prune import Pruned, prune_store
from prowess.text.display import count_words


@click.command("prune")
@dry_run_option
@click.option(
    "--forget",
    multiple=True,
    metavar="FOLDER",
    help="Do not keep versions for the project that was in this folder.",
)
@host_option
@json_option
def command(dry_run: bool, forget: tuple[str, ...], host: str, as_json: bool) -> int:
    """Remove versions of skills that no project needs from the store.

    A version stays if a prowess.lock names it, in any project that Prowess has installed into on
    this machine, or if it was used within the last hour. If a lock file cannot be read or its
    folder is missing, the project's versions stay, because its disk may be unmounted. If you
    deleted or moved the project, name its old folder with --forget. After a move, run
    `prowess sync` in the new folder first.
    """
    facts = current_facts()
    store = SkillStore.of(facts)
    with Progress("looking for unused versions"):
        pruned = prune_store(facts, store, forget=forget, dry_run=dry_run)
    echo_diagnostics([*store.diagnostics, *pruned.diagnostics])
    if as_json:
        shape = {"store": store.folder, "trees": list(pruned.trees), "projects": pruned.projects}
        print_json({**shape, "bytes": pruned.size, "dry_run": dry_run})
    else:
        console().print(_describe(pruned, dry_run=dry_run))
    return Exit.OK


def _describe(pruned: Pruned, *, dry_run: bool) -> str:
    unused = count_words(len(pruned.trees), "unused version")
    locks = count_words(pruned.projects, "lock file")
    if dry_run:
        return f"{unused} would be removed; {locks} checked."
    return f"{unused} removed ({pruned.size:,} bytes); {locks} checked."
