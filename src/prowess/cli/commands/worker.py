"""`prowess worker`: run jobs."""

from __future__ import annotations

import os

import click

from prowess.agent.jobs.values import LEASE_SECONDS
from prowess.cli.app import Exit
from prowess.cli.commands.jobs import load_job_settings, require_jobs
from prowess.cli.options import complete_hosts, json_option
from prowess.cli.terminal.out import print_json
from prowess.machine.facts import current_facts
from prowess.machine.interrupts import ENDING, catch_interrupts


@click.command("worker")
@click.option("--queue", "queues", multiple=True, metavar="NAME", help="Serve this queue, too.")
@click.option("--until-idle", is_flag=True, help="Stop when no job is left.")
@click.option(
    "--lease",
    type=click.FloatRange(min=1),
    default=LEASE_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Take over from workers that were silent for so long.",
)
@click.option(
    "--host", metavar="NAME", shell_complete=complete_hosts, hidden=True, expose_value=False
)
@json_option
def command(queues: tuple[str, ...], until_idle: bool, lease: float, as_json: bool) -> int:
    """Run jobs of this machine, and of the queues it serves.

    One worker runs on a machine. Several machines with the same PostgreSQL database share its
    queues, and take over the jobs of a worker that died. Stopped with Ctrl-C, a worker leaves its
    jobs to the next one.
    """
    # The library would send its records to a service that these name.
    for name in [one for one in os.environ if one.startswith("DBOS_")]:
        del os.environ[name]
    with require_jobs():
        from prowess.agent.jobs.worker import Worker
    facts = current_facts()
    worker = Worker(
        load_job_settings(facts),
        facts,
        pid=os.getpid(),
        queues=queues,
        lease=lease,
        on_lost=_end_at_once,
    )

    def show_ready() -> None:
        if as_json:
            print_json({"worker": worker.id, "queues": [queue.name for queue in worker.queues]})
        else:
            click.echo(f"Worker {worker.id} is ready.", err=True)

    with catch_interrupts(lambda _: worker.stop(), also=ENDING):
        worker.run(until_idle=until_idle, on_ready=show_ready)
    return Exit.OK


def _end_at_once(reason: str) -> None:
    """End without finishing anything: others do the work of this process now."""
    os.write(2, f"prowess: {reason}. This worker ends.\n".encode("utf-8", "backslashreplace"))
    os._exit(Exit.MACHINE)
