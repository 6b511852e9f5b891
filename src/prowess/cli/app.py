"""The tree of commands, and the one place where trouble becomes an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import IntEnum
from importlib import import_module

import click

from prowess import __version__
from prowess.cli.terminal.error_output import even_if_unheard, print_error, tell, wants_json
from prowess.errors import nearest_names


class Exit(IntEnum):
    """What the exit codes of every command mean."""

    OK = 0
    FOUND_ERRORS = 1
    USAGE = 2
    UNKNOWN_SKILL = 3
    MACHINE = 4
    REFUSED = 5
    INTERNAL = 70
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


# Each command, the module that holds it as `command`, and its line in the overview: a command's
# module is imported only when that command runs.
COMMANDS: dict[str, tuple[str, str]] = {
    "tour": ("tour", "Walk a sample workspace through every stage."),
    "init": ("init", "Set up Prowess in this project."),
    "new": ("new", "Create a skill from a template."),
    "list": ("list", "List the skills a host sees here."),
    "show": ("show", "Show one skill: its text and its files."),
    "explain": ("explain", "Explain why a skill loads or does not."),
    "catalog": ("catalog", "Show what a model sees of the skills here."),
    "activate": ("activate", "Print what a model receives when a skill is loaded."),
    "run": ("run", "Carry out a command such as `/name arguments`."),
    "read": ("read", "Print what a skill:// address stands for."),
    "trust": ("trust", "Trust a project, so that its skills may run commands."),
    "cost": ("cost", "Show how many tokens skills cost, per request and when used."),
    "check": ("check", "Show every problem with the skills here."),
    "doctor": ("doctor", "Show what a skill is missing on this machine and how to fix it."),
    "validate": ("validate", "Check skills strictly, for authors and CI."),
    "compare": ("compare", "Show which host sees which skill, and which file wins."),
    "enable": ("enable", "Enable a skill."),
    "disable": ("disable", "Disable a skill."),
    "usage": ("usage", "Show how often skills were offered and used."),
    "context": ("context", "Show the context files (AGENTS.md and similar) that apply here."),
    "hosts": ("hosts", "List the hosts and their editions."),
    "config": ("config", "Show every setting and where it comes from."),
}

_EPILOG = """\b
Exit codes:
  0  all is well            4    the machine refused
  1  skills have errors     5    not permitted, or not trusted
  2  the request is wrong   70   a defect in Prowess
  3  no such skill          130  stopped (129, 143: asked to end)

\b
Completion, once in the settings of your shell:
  bash  eval "$(_PROWESS_COMPLETE=bash_source prowess)"
  zsh   eval "$(_PROWESS_COMPLETE=zsh_source prowess)"
  fish  _PROWESS_COMPLETE=fish_source prowess | source
"""


class Commands(click.Group):
    """A group that imports a command when it is asked for, and suggests one on a typo."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of the overview."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"prowess.cli.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one is nearest."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            nearest = nearest_names(args[0], COMMANDS)
            hint = (
                f" Did you mean {' or '.join(nearest)}?"
                if nearest
                else " `prowess --help` lists the commands."
            )
            raise click.UsageError(f"There is no command “{args[0]}”.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The overview, without importing a single command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


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
    help="Without a command: answer as this host does.",
)
@click.option("--json", "as_json", is_flag=True, help="Without a command: print JSON.")
@click.option("--debug", is_flag=True, help="Show where an error came from; may stand anywhere.")
@click.pass_context
def app(ctx: click.Context, host: str | None, as_json: bool, debug: bool) -> int:
    """One skill system for every agent.

    Without a command: what is here, what is wrong with it, and what it costs.
    """
    if ctx.invoked_subcommand is None:
        from prowess.cli.commands.summary import show_summary

        return show_summary(host or "prowess", as_json=as_json)
    for option, given in (("--host NAME", host is not None), ("--json", as_json)):
        if given:
            message = (
                f"{option.split()[0]} stands after the command: `prowess {ctx.invoked_subcommand}"
                f" {option}`."
            )
            raise click.UsageError(message, ctx)
    return Exit.OK


def build() -> click.Group:
    """The whole tree of commands, for completion and for the reference."""
    return app


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and translate every kind of trouble, once."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    arguments, debug = _take_debug(arguments)
    if not _find_streams():
        return Exit.MACHINE
    try:
        _accept_any_text()
        if "_PROWESS_COMPLETE" in os.environ:
            from prowess.cli.completion import set_up

            set_up()
            app.main(arguments, prog_name="prowess")
        # A copy, since click takes from it what it has read, and how to tell of trouble is asked
        # afterwards.
        with app.make_context("prowess", list(arguments)) as context:
            code = int(app.invoke(context) or Exit.OK)
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt) as stop:
        with even_if_unheard():
            click.echo("\nStopped.", err=True)
        return int(getattr(stop, "exit_code", Exit.INTERRUPTED))
    except BrokenPipeError:
        # The reader of our output has gone (`prowess list | head`); nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except click.ClickException as error:
        with even_if_unheard():
            error.show()
        if wants_json(arguments):
            print_error(error, error.exit_code, error.format_message())
        return error.exit_code
    except Exception as error:
        if debug:
            import traceback

            with even_if_unheard():
                traceback.print_exc()
        return tell(error, as_json=wants_json(arguments))


def _find_streams() -> bool:
    """Whether there is anywhere to write to. A closed error output is no reason to stop, a closed
    output is.
    """
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.stdout is None:
        click.echo(
            "prowess: The output is closed, so there is nowhere to write an answer; nothing was"
            " done.",
            err=True,
        )
        return False
    return True


def _take_debug(arguments: list[str]) -> tuple[list[str], bool]:
    """The arguments without `--debug`, and whether it was given.

    It may stand anywhere, since it is added after something went wrong; behind `--` it is text like
    any other.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [argument for argument in arguments[:end] if argument != "--debug"]
    return kept + arguments[end:], len(kept) < end or bool(os.environ.get("PROWESS_DEBUG"))


def _accept_any_text() -> None:
    """A terminal that cannot show a character gets its number; an answer is never lost to an
    encoding.
    """
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", None) == "strict":
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
