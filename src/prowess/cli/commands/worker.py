"""`prowess worker`: run jobs."""

from __future__ import annotations

import os

import click

from prowess.agent.jobs.values import LEASE_SECONDS
from prowess.cli.app import Exit
from prowess.cli.job_options import hidden_host, load_job_settings, require_jobs
from prowess.cli.options import json_option
from prowess.cli.terminal.out import print_json
from prowess.machine.facts import current_facts
from prowess.machine.interrupts import ENDING, catch_interrupts
from prowess.model.facts import Facts
from prowess.text.display import escape_line


@click.command("worker")
@click.option("--queue", "queues", multiple=True, metavar="NAME", help="Also serve this queue.")
@click.option("--until-idle", is_flag=True, help="Stop when no job and no schedule is left.")
@click.option("--detach", is_flag=True, help="Run in the background until it is stopped.")
@click.option(
    "--lease",
    type=click.FloatRange(min=1),
    default=LEASE_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Take over from workers that have been silent for this long.",
)
@hidden_host
@json_option
def command(
    queues: tuple[str, ...], until_idle: bool, detach: bool, lease: float, as_json: bool
) -> int:
    """Run jobs of this machine, and of the queues it serves.

    One worker runs on a machine. Several machines with the same PostgreSQL database share its
    queues, and take over the jobs of a worker that died. Stopped with Ctrl-C, a worker leaves its
    jobs to the next one.
    """
    # The library would send its records to a service that these name.
    for name in [one for one in os.environ if one.startswith("DBOS_")]:
        del os.environ[name]
    with require_jobs():
        from prowess.agent.jobs.worker import JobWorker
    facts = current_facts()
    if detach:
        return _detach(facts, queues, lease, until_idle=until_idle, as_json=as_json)
    worker = JobWorker(
        load_job_settings(facts),
        facts,
        pid=os.getpid(),
        queues=queues,
        lease=lease,
        on_lost=_end_at_once,
        on_note=lambda text: click.echo(escape_line(text), err=True),
    )

    def show_ready() -> None:
        if as_json:
            print_json({"worker": worker.id, "queues": [queue.name for queue in worker.queues]})
        else:
            click.echo(f"Worker {worker.id} is ready.", err=True)

    with catch_interrupts(lambda _: worker.stop(), also=ENDING):
        worker.run(until_idle=until_idle, on_ready=show_ready)
    return Exit.OK


def _detach(
    facts: Facts, queues: tuple[str, ...], lease: float, *, until_idle: bool, as_json: bool
) -> int:
    """Start a worker that goes on without this terminal."""
    from prowess.agent.jobs.client import start_worker
    from prowess.agent.jobs.queues import check_queue

    for name in queues:
        check_queue(name)
    options = [f"--queue={name}" for name in queues] + [f"--lease={lease}"]
    if until_idle:
        options.append("--until-idle")
    pid, log = start_worker(facts, options)
    if as_json:
        print_json({"pid": pid, "log": log})
    else:
        click.echo(f"Started a worker with process id {pid}. It writes to {escape_line(log)}.")
    return Exit.OK


def _end_at_once(reason: str) -> None:
    """End without finishing anything: others do the work of this process now."""
    # Neither buffers nor `atexit`: whatever runs at a regular end could still write results.
    os.write(2, f"prowess: {reason}. Stopping this worker.\n".encode("utf-8", "backslashreplace"))
    os._exit(Exit.MACHINE)
