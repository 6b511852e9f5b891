"""`prowess tour`: a sample workspace taken through every stage, with what happened at each."""

from __future__ import annotations

import click

from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import print_json
from prowess.reports.tour_workspace import take_tour


@click.command("tour")
@host_option
@json_option
def command(host: str, as_json: bool) -> int:
    """Walk a sample workspace through every stage.

    Shows what Prowess does with a project that has skills in the folders of several agents, and
    what to try next; with --host, what that host does with the same project. Reads none of your
    skills, leaves nothing behind, and needs no network.
    """
    with take_tour(host) as tour:
        if as_json:
            print_json(tour.shape())
        else:
            from prowess.cli.terminal.tour_screen import print_tour

            print_tour(tour)
    return 0
