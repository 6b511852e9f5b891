"""The tree of commands, and the one place where errors become exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import IntEnum
from importlib import import_module

import click

from prowess import __version__
from prowess.cli.terminal.error_output import (
    ignore_closed_stderr,
    print_json_error,
    report_error,
    wants_json,
)
from prowess.errors import nearest_names
from prowess.machine.interrupts import delay_interrupts


class Exit(IntEnum):
    """The exit codes of all commands."""

    OK = 0
    FOUND_ERRORS = 1
    USAGE = 2
    UNKNOWN_SKILL = 3
    MACHINE = 4
    REFUSED = 5
    FAILED = 6
    BUDGET = 7
    INTERNAL = 70
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


# Each command by its section of the overview, with the module that has it as `command`, and its
# line there. The module is imported only when the command runs.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Start": {
        "tour": ("tour", "Walk a sample workspace through every stage."),
        "init": ("init", "Set up Prowess in this project."),
        "new": ("new", "Create a skill from a template."),
    },
    "Look at the skills here": {
        "list": ("list", "List the skills a host sees here."),
        "show": ("show", "Show one skill: its text and its files."),
        "explain": ("explain", "Explain why a skill loads or does not."),
        "catalog": ("catalog", "Show what a model sees of the skills here."),
        "activate": ("activate", "Print what a model receives when a skill is loaded."),
        "read": ("read", "Print what a skill:// URL points to."),
        "cost": ("cost", "Show how many tokens skills cost, per request and when used."),
        "check": ("check", "Show every problem with the skills here."),
        "compare": ("compare", "Compare how hosts treat the same skills."),
        "context": ("context", "Show the context files (AGENTS.md and similar) that apply here."),
        "usage": ("usage", "Show how often skills were offered and used."),
    },
    "Work with an agent": {
        "run": ("run", "Let a model do a task, or run a command such as `/name arguments`."),
        "chat": ("chat", "Talk with a model that works in this project with the skills here."),
        "acp": ("acp", "Act as the agent of an editor, over the Agent Client Protocol."),
        "sessions": ("sessions", "List the sessions of `prowess run` and `prowess chat`."),
        "jobs": ("jobs", "List jobs, and show, cancel, retry or approve one."),
        "worker": ("worker", "Run jobs of this machine, and of the queues it serves."),
    },
    "Install": {
        "install": ("install", "Install skills and record them in prowess.lock."),
        "import": ("import_skills", "Import skills installed by other tools."),
        "remove": ("remove", "Remove installed skills."),
        "sync": ("sync", "Restore installed skills exactly as prowess.lock has them."),
        "verify": ("verify", "Check installed skills against prowess.lock."),
        "update": ("update", "Update installed skills to what their sources have now."),
        "outdated": ("outdated", "Show which installed skills have a newer version."),
        "pin": ("pin", "Pin installed skills."),
        "sbom": ("sbom", "Write a CycloneDX document of the installed skills."),
        "prune": ("prune", "Remove versions of skills that no project needs from the store."),
        "doctor": (
            "doctor",
            "Check this machine, or show what a skill is missing and how to fix it.",
        ),
    },
    "Check and share": {
        "validate": ("validate", "Check skills strictly, for authors and CI."),
        "scan": ("scan", "Look for hidden text, risky commands and other attacks in skills."),
        "pack": ("pack", "Pack a skill into one file that can be installed."),
        "publish": ("publish", "Write an index of skills that any web server can serve."),
        "export": ("export", "Link or copy the project's skills into the folders of other hosts."),
    },
    "Decide what may load": {
        "enable": ("enable", "Enable a skill."),
        "disable": ("disable", "Disable a skill."),
        "trust": ("trust", "Trust a project so that what it brings can run."),
        "plugins": ("plugins", "List the plugins of a host, on or off, with what each brings."),
        "sources": ("sources", "Show where skills come from, and fetch from servers."),
        "hosts": ("hosts", "List the hosts and their editions."),
        "config": ("config", "Show every setting and where it comes from."),
    },
}
COMMANDS = {name: known for section in SECTIONS.values() for name, known in section.items()}

_EPILOG = """\b
Exit codes:
  0  success                            5    not permitted or not trusted
  1  skills have errors                 6    the model failed
  2  wrong usage                        7    a limit of the run was reached
  3  no such skill                      70   a bug in Prowess
  4  a file or program cannot be used   130  interrupted (129, 143: terminated)

\b
Completion: add one of these to the startup file of your shell.
  bash  eval "$(_PROWESS_COMPLETE=bash_source prowess)"
  zsh   eval "$(_PROWESS_COMPLETE=zsh_source prowess)"
  fish  _PROWESS_COMPLETE=fish_source prowess | source
"""


class Commands(click.Group):
    """Imports a command when it is used, and suggests the nearest one for a typo."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of the overview."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name."""
        if cmd_name not in COMMANDS:
            return None
        # msgspec crashes the interpreter when Ctrl-C hits it while it defines a type.
        with delay_interrupts():
            module = import_module(f"prowess.cli.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest the nearest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            nearest = nearest_names(args[0], COMMANDS)
            hint = "Run `prowess --help` to see all commands."
            if nearest:
                hint = f"Did you mean {' or '.join(nearest)}?"
            raise click.UsageError(f"No such command “{args[0]}”. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview, which imports no command."""
        widest = max(map(len, COMMANDS))
        for title, section in SECTIONS.items():
            with formatter.section(title):
                # All sections in the same two columns.
                rows = [(name.ljust(widest), summary) for name, (_, summary) in section.items()]
                formatter.write_dl(rows)


def _complete_hosts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from prowess.cli.options import complete_hosts

    return complete_hosts(ctx, param, incomplete)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="prowess", message="%(prog)s %(version)s")
@click.option(
    "--host",
    metavar="NAME[@EDITION]",
    shell_complete=_complete_hosts,
    help="Without a command: use this host's rules.",
)
@click.option("--json", "as_json", is_flag=True, help="Without a command: print JSON.")
@click.option("--debug", is_flag=True, help="Show a traceback on errors; can be given anywhere.")
@click.pass_context
def app(ctx: click.Context, host: str | None, as_json: bool, debug: bool) -> int:
    """One skill system for every agent.

    Without a command, shows the skills here, what is wrong with them and what they cost.
    """
    if ctx.invoked_subcommand is None:
        from prowess.cli.commands.summary import show_summary
        from prowess.cli.options import find_default_host

        return show_summary(host or find_default_host(), as_json=as_json)
    for option, given in (("--host NAME", host is not None), ("--json", as_json)):
        if given:
            example = f"`prowess {ctx.invoked_subcommand} {option}`"
            raise click.UsageError(f"{option.split()[0]} goes after the command: {example}.", ctx)
    return Exit.OK


def build() -> click.Group:
    """The whole tree of commands, for the reference pages."""
    return app


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; every error becomes a message and an exit code here."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    arguments, debug = _take_debug(arguments)
    if not _ensure_streams():
        return Exit.MACHINE
    try:
        _accept_any_text()
        if debug:
            _start_debug_log()
        if "_PROWESS_COMPLETE" in os.environ:
            from prowess.cli.completion import register_shells

            register_shells()
            app.main(arguments, prog_name="prowess")
        # A copy: click empties the list, and `wants_json` reads it afterwards.
        with app.make_context("prowess", list(arguments)) as context:
            code = int(app.invoke(context) or Exit.OK)
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt) as stop:
        with ignore_closed_stderr():
            click.echo("\nStopped.", err=True)
        return int(getattr(stop, "exit_code", Exit.INTERRUPTED))
    except BrokenPipeError:
        # The reader of stdout is gone (`prowess list | head`), which is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except click.ClickException as error:
        with ignore_closed_stderr():
            error.show()
        if wants_json(arguments):
            print_json_error(error, error.exit_code, error.format_message())
        return error.exit_code
    except Exception as error:
        if debug:
            import traceback

            with ignore_closed_stderr():
                traceback.print_exc()
        return report_error(error, as_json=wants_json(arguments))
    finally:
        if debug:
            # A program that calls the command line goes on without the log.
            _stop_debug_log()


def _ensure_streams() -> bool:
    """Whether there is a stdout to write to; a closed stderr is replaced by nothing."""
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.stdout is None:
        click.echo("prowess: stdout is closed, so nothing was done.", err=True)
        return False
    return True


def _take_debug(arguments: list[str]) -> tuple[list[str], bool]:
    """The arguments without `--debug`, and whether it was given.

    It works anywhere, because it is added to a line that failed. After `--` it is plain text.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [argument for argument in arguments[:end] if argument != "--debug"]
    return kept + arguments[end:], len(kept) < end or bool(os.environ.get("PROWESS_DEBUG"))


def _start_debug_log() -> None:
    from prowess.errors import MachineError
    from prowess.machine.facts import current_facts
    from prowess.state.debug_log import start_debug_log

    try:
        start_debug_log(current_facts())
    except MachineError as error:
        # What was asked for is the command; without its log it is still worth running.
        click.echo(f"prowess: {error}", err=True)


def _stop_debug_log() -> None:
    from prowess.state.debug_log import stop_debug_log

    stop_debug_log()


def _accept_any_text() -> None:
    """Print a character that the terminal's encoding lacks as its number, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", None) == "strict":
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
