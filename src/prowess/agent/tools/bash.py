"""Bash: a command in the sandbox, with a time limit, bounded output and no inherited secrets."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from prowess.agent.tools.plan import Access, IsCancelled, Plan
from prowess.errors import UsageError
from prowess.model.command import Command, Finished
from prowess.model.permission import Action
from prowess.ports import Runner
from prowess.shell.command_list import is_too_deep, list_commands
from prowess.shell.program_words import unwrap
from prowess.shell.scanner import BashScanner
from prowess.text.display import count_words

SECONDS = 120.0
MOST_SECONDS = 600.0
_OUTPUT_BYTES = 30_000

# What a plain command consists of. A word ends where bash ends it, and nothing in it is expanded.
_PLAIN_TOKEN = re.compile(
    r"""
    (?P<blank>  (?: [ \t] | \\\n )+ )
  | (?P<joint>  && | \|\| | [;|\n] )
  | (?P<silent> (?: [0-9]?>&[12] | (?: [0-9]?>>? | &> )[ ]?/dev/null | [0-9]?<[ ]?/dev/null )
                (?= [ \t\n;|] | $ ) )
  | (?P<word>   (?![\#~]) (?: [^\x00-\x20\x7f'"\\$`*?\[{()<>;&|]
                | '[^']*' | "(?: [^"\\$`] | \\[^\n] )*" | \\[^\n] )+ )
    """,
    re.VERBOSE,
)
_PROGRAM = re.compile(r"[A-Za-z0-9_.+:-]+")
_KEYWORDS = frozenset(
    "case coproc do done elif else esac fi for function if in select then time until while".split()
)


class BashSandbox(msgspec.Struct, frozen=True, kw_only=True):
    """What commands run in. `unconfined` says why nothing confines them; None where it does."""

    runner: Runner
    cwd: str
    unconfined: str | None = None


class BashTool:
    """The tool that runs commands. `find_sandbox` is asked for each, since settings may change."""

    def __init__(self, find_sandbox: Callable[[], BashSandbox]) -> None:
        self._find_sandbox = find_sandbox

    def bash(self, command: str, timeout_seconds: float = SECONDS) -> Plan:
        """Run a bash command in the working folder, and return its output and exit code.

        It runs in a sandbox: it can write only in the project and in $TMPDIR, and usually has no
        network. Each call starts anew, so `cd` and variables do not last.

        Args:
            command: The command.
            timeout_seconds: Stop it after this many seconds, at most 600.
        """
        if not command.strip() or "\0" in command:
            raise UsageError("`command` must be a command, without null characters.")
        sandbox = self._find_sandbox()
        prepared = Command(
            text=command,
            argv=("bash", "-c", command),
            cwd=sandbox.cwd,
            shell="bash",
            seconds=min(max(timeout_seconds, 1.0), MOST_SECONDS),
            output_bytes=_OUTPUT_BYTES,
        )

        def run(is_cancelled: IsCancelled) -> str:
            return render_result(sandbox.runner.run(prepared, is_cancelled=is_cancelled), prepared)

        return Plan(
            title=f"Bash {command}",
            permissions=("bash",),
            accesses=_list_accesses(command),
            default=Action.ASK,
            run=run,
            details=(command,),
            asks_because=_find_question(command, sandbox),
            is_write=True,
        )


def _find_question(command: str, sandbox: BashSandbox) -> str | None:
    """Why a person is asked even where a rule allows the command."""
    if sandbox.unconfined is not None:
        # Rules are written for programs in a sandbox.
        return f"programs cannot be sandboxed on this machine ({sandbox.unconfined})"
    if is_too_deep(command):
        # A rule that denies a program would have to see every one.
        return "the command is nested too deeply to be checked"
    return None


def _list_accesses(command: str) -> tuple[Access, ...]:
    """Every program that a command starts, and the whole text of one that is not plain.

    `git status && rm x` needs permission for both programs, whatever a rule says about `git *`.
    Nor does such a rule allow what only the whole text shows, such as the file that `git status`
    is written to.
    """
    listed, _ = list_commands(command)
    programs = dict.fromkeys(" ".join(words) for words in listed)
    accesses = [Access(names=(program,), whole=command) for program in programs]
    if not programs or not _is_plain(command):
        accesses.append(Access(names=(), whole=command))
    return tuple(accesses)


def _is_plain(command: str) -> bool:
    """Whether a command is only programs of `$PATH` with literal arguments, one after the other.

    This lists what is plain and guesses nothing: assignments, expansions, redirections to files,
    here-documents, subshells, keywords and programs with a folder are not.
    """
    at, is_start = 0, True
    while at < len(command):
        token = _PLAIN_TOKEN.match(command, at)
        if token is None:
            return False
        if token.lastgroup == "word":
            if is_start and not _is_program(token[0]):
                return False
            is_start = False
        elif token.lastgroup == "joint":
            is_start = True
        at = token.end()
    return not _starts_path(command)


def _is_program(word: str) -> bool:
    return _PROGRAM.fullmatch(word) is not None and word not in _KEYWORDS


def _starts_path(command: str) -> bool:
    """Whether `env`, `sudo` or the like starts a program that is named with its folder."""
    scanner = BashScanner(command)
    scanner.read()
    return any(
        words[-len(started) :] != started for words in scanner.commands for started in unwrap(words)
    )


def render_result(finished: Finished, command: Command) -> str:
    """What the model sees of a command that ended: its output, and how it ended."""
    output = finished.output.rstrip("\n")
    if finished.left_out:
        # The end, too: that is where programs say what went wrong.
        left = finished.left_out - len(finished.tail.encode("utf-8", "replace"))
        output += f"\n[{count_words(max(left, 0), 'byte')} left out]\n{finished.tail.rstrip()}"
    if finished.code is None:
        ending = f"[stopped after {count_words(command.seconds, 'second')}]"
    elif finished.code:
        ending = f"[exit code {finished.code}]"
    else:
        ending = "" if output else "[no output]"
    return "\n".join(filter(None, (output, ending)))
