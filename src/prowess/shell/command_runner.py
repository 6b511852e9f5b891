"""Commands inside a body: planned as values, run by whoever is given for that, their output placed
by position.

Variables are filled first and commands run after that. Values reach a command as variables of its
shell. What a command wrote is put where it stood and is not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from prowess.activate.body.substitution import Given, Substitution
from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors.activation import CommandFailed, CommandRefused
from prowess.model.command import Command, Finished
from prowess.model.facts import Facts
from prowess.model.permission import Request
from prowess.model.skill import LoadedFrom, Scope, Skill
from prowess.model.usage import Caller
from prowess.ports import Runner
from prowess.profiles.schema.body import ArgumentRules, EmbeddedCommandRules
from prowess.shell.bash import BashScript
from prowess.shell.embedded_commands import Spot, find_commands
from prowess.shell.powershell import PowerShellScript
from prowess.shell.process_limits import explain_size
from prowess.shell.simple_command import Unsafe
from prowess.text.masking import Masker

NotRun = Literal["mcp", "remote", "untrusted", "off"]
"""Why the commands of a skill stay text."""

PREFIX = "PROWESS_"
"""What the names of the variables begin with that a command gets its values by."""

NO_OUTPUT = "(no output)"
_TAIL = 2_000

_REASONS: Mapping[NotRun, str] = {
    "mcp": "it comes from an MCP server",
    "remote": "it comes from a remote source",
    "untrusted": "its project is not trusted",
    "off": "commands in skills are switched off",
}


class Shell(msgspec.Struct, frozen=True):
    """A kind of shell: the programs it may be, what rewrites a script for it, and the options
    before the script.

    `with_values` are the options before a script that gets values.
    """

    programs: tuple[str, ...]
    script: Callable[..., BashScript | PowerShellScript]
    options: tuple[str, ...]
    with_values: tuple[str, ...]


# Bash goes on behind some mistakes in a script, and then reads the rest of it otherwise than it was
# read here. So a script that gets values is checked as a whole before any of it runs.
_CHECK_AND_RUN = 'bash -n -c "$0" && exec bash -c "$0"'
_POWERSHELL = ("-NoProfile", "-NonInteractive", "-Command")

SHELLS: Mapping[str, Shell] = {
    "bash": Shell(("bash",), BashScript, ("-c",), ("-c", _CHECK_AND_RUN)),
    "powershell": Shell(("pwsh", "powershell"), PowerShellScript, _POWERSHELL, _POWERSHELL),
}


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What the commands of one call run in: working folder, machine, and the variables that are
    this skill's alone.

    `not_run` says why they do not run, None where they do.
    """

    facts: Facts
    cwd: str | None = None
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    not_run: NotRun | None = None


class Draft(msgspec.Struct, frozen=True):
    """A body with everything filled but the output of its commands, which stand where they stood.

    `tolerated` are programs whose exit code 1 is an answer and no failure.
    """

    pieces: tuple[str | Command, ...]
    tolerated: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands, in the order in which they run."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Command))

    def place(self, outputs: Iterable[str]) -> str:
        """The text with an output for every command, in their order."""
        left = iter(outputs)
        return "".join(piece if isinstance(piece, str) else next(left) for piece in self.pieces)


def find_not_run(
    skill: Skill, rules: EmbeddedCommandRules, *, is_trusted: bool, switched_on: bool | None = None
) -> NotRun | None:
    """Why the commands of a skill are not to be run; None where they are.

    `switched_on` is the setting `shell_commands`, None where nobody set it.
    """
    if skill.source.loaded_from is LoadedFrom.MCP:
        return "mcp"
    if skill.scope is Scope.REMOTE:
        return "remote"
    if switched_on is False and skill.scope not in rules.exempt:
        return "off"
    return None if is_trusted else "untrusted"


def draft_body(
    body: str,
    given: Given,
    around: Surroundings,
    *,
    arguments: ArgumentRules,
    embedded: EmbeddedCommandRules,
    names: Iterable[str] = (),
    shell: str | None = None,
    caller: Caller = "user",
    file: str | None = None,
) -> Draft:
    """A body with its placeholders filled, its commands planned and arguments that nothing took
    added.

    `names` are the arguments that the header declares and `shell` the one it asks for; one that is
    not known is bash. For a caller whose calls the host does not fill, the body stays as it is.
    Raises `CommandRefused` where a command would run an argument.
    """
    if caller not in arguments.callers:
        return Draft((body,))
    filling = Substitution(arguments, given, names=names, file=file)
    found = find_commands(body) if embedded.recognised else None
    if found is None or not (found.spots or found.unclosed):
        text = filling.fill(body)
        return Draft((text + filling.finish(),), diagnostics=filling.diagnostics)
    kind = shell if shell is not None and shell in SHELLS else "bash"
    planner = _Planner(filling, around, embedded, shell=kind, folder=given.folder)
    pieces: list[str | Command] = []
    place = 0
    for spot in found.spots:
        pieces.append(filling.fill(body[place : spot.start]))
        pieces.append(
            planner.plan(spot)
            if around.not_run is None
            else planner.mark(body, spot, around.not_run)
        )
        place = spot.end
    pieces += [filling.fill(body[place:]), filling.finish()]
    findings = (*filling.diagnostics, *_diagnose(found.spots, found.unclosed, around.not_run, file))
    return Draft(tuple(piece for piece in pieces if piece), embedded.tolerated, findings)


class _Planner:
    """Makes the commands of one body."""

    def __init__(
        self,
        filling: Substitution,
        around: Surroundings,
        rules: EmbeddedCommandRules,
        *,
        shell: str,
        folder: str | None,
    ) -> None:
        self._filling = filling
        self._around = around
        self._rules = rules
        self._kind = shell
        self._shell = SHELLS[shell]
        self._env = {**around.env, **({} if folder is None else {f"{PREFIX}SKILL_DIR": folder})}

    def plan(self, spot: Spot) -> Command:
        """The command at a spot, with its values as variables."""
        script, env = self._rewrite(spot.command)
        too_much = explain_size([script, *env.values()])
        if too_much is not None:
            raise CommandRefused(spot.command, f"it would get {too_much}")
        options = self._shell.with_values if env else self._shell.options
        program = next(
            filter(self._around.facts.has_bin, self._shell.programs), self._shell.programs[0]
        )
        return Command(
            text=spot.command,
            argv=(program, *options, _check(spot.command, script)),
            env={**self._env, **{name: _check(spot.command, value) for name, value in env.items()}},
            cwd=self._around.cwd,
            shell=self._kind,
            seconds=find_seconds(self._rules, self._around.facts),
            output_bytes=self._rules.output_bytes,
        )

    def _rewrite(self, command: str) -> tuple[str, Mapping[str, str]]:
        """The script of a command, and the variables that it gets its values by."""
        references = list(self._filling.find_references(command))
        if not references:
            return command, {}
        try:
            script = self._shell.script(command, references, prefix=PREFIX)
        except Unsafe as unsafe:
            raise CommandRefused(command, str(unsafe)) from None
        for reference in script.used:
            self._filling.note_filled(reference)
        return script.script, script.env

    def mark(self, body: str, spot: Spot, reason: NotRun) -> str:
        """The command as text, with a note that it was not run; nothing may stand on the line that
        ends a block.
        """
        between = "\n" if body.startswith("`", spot.start) else " "
        return (
            f"{self._filling.fill(body[spot.start : spot.end])}{between}[not run:"
            f" {_REASONS[reason]}]"
        )


def find_seconds(rules: EmbeddedCommandRules, facts: Facts) -> float:
    """How long a command may take."""
    milliseconds = (
        facts.env.get(rules.milliseconds_variable, "") if rules.milliseconds_variable else ""
    )
    return (
        int(milliseconds) / 1_000
        if milliseconds.isdecimal() and int(milliseconds)
        else rules.seconds
    )


def request_commands(skill: Skill, commands: Sequence[Command]) -> Request:
    """The request to run the commands of a skill, for the rules and for the person who is asked.

    Rules are held against each command as it is written and against every program that it runs, so
    that `true && rm x` is also `rm x`.
    """
    texts = tuple(dict.fromkeys(command.text for command in commands))
    inner = (" ".join(words) for command in commands for words in _list_programs(command))
    patterns = tuple(dict.fromkeys((*texts, *inner)))
    details = {"skill": skill.name, "location": skill.location, "commands": list(texts)}
    return Request(permission="bash", patterns=patterns, always=patterns, metadata=details)


def _list_programs(command: Command) -> Sequence[tuple[str, ...]]:
    """The programs that a command starts, each with its words."""
    return BashScript(command.text, (), prefix=PREFIX).commands if command.shell == "bash" else ()


def run_draft(
    draft: Draft,
    runner: Runner,
    *,
    masker: Masker | None = None,
    is_cancelled: Callable[[], bool] | None = None,
) -> str:
    """Run the commands of a draft, one after the other, and place their output.

    Raises `CommandFailed` at the first that fails, with the end of its output; secrets are masked
    everywhere.
    """
    masker = masker or Masker()
    outputs = []
    for command in draft.commands:
        finished = runner.run(command, is_cancelled=is_cancelled)
        is_answer = finished.code == 0 or (
            finished.code == 1 and _answers_by_1(command, draft.tolerated)
        )
        if not is_answer:
            tail = (
                masker.mask_tail(finished.tail)
                if finished.left_out
                else masker.mask(finished.output)
            )
            raise CommandFailed(
                masker.mask(command.text),
                code=finished.code,
                seconds=command.seconds,
                tail=_cut_tail(tail.strip()),
            )
        outputs.append(render_output(finished, masker))
    return draft.place(outputs)


def render_output(finished: Finished, masker: Masker) -> str:
    """What the model sees of a command's output: without the line ends after it, with a note where
    it was cut.
    """
    if finished.left_out:
        return (
            f"{masker.mask_head(finished.output)}\n[{finished.left_out:,} more bytes of output left"
            " out]"
        )
    return masker.mask(finished.output.rstrip("\r\n")) or NO_OUTPUT


def _cut_tail(text: str) -> str:
    return text if len(text) <= _TAIL else f"…{text[-_TAIL:]}"


def _answers_by_1(command: Command, tolerated: Iterable[str]) -> bool:
    """Whether the last command of a script is one of these: `grep`, or `git diff` with its first
    word.
    """
    if command.shell != "bash":
        return False
    try:
        last = BashScript(command.text, (), prefix=PREFIX).last
    except Unsafe:
        return False
    return bool(last) and any(
        list(last[: len(words)]) == words for words in map(str.split, tolerated)
    )


def _check(command: str, value: str) -> str:
    """A value that a program can be given."""
    if "\0" in value:
        raise CommandRefused(command, "it would get a NUL character, which no program can be given")
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise CommandRefused(
            command, "it would get half of a character, which no program can be given"
        ) from None
    return value


def _diagnose(
    spots: Sequence[Spot], unclosed: int | None, not_run: NotRun | None, file: str | None
) -> Iterable[Diagnostic]:
    if unclosed is not None:
        message = (
            f"The block of commands that begins on line {unclosed} of the body is never closed, so"
            " it is not run."
        )
        yield diagnose("command-unclosed", message, file=file)
    if not_run is not None:
        for spot in spots:
            message = (
                f"The command `{spot.command.splitlines()[0]}` was not run, since"
                f" {_REASONS[not_run]}."
            )
            hint = None if not_run == "untrusted" else _HINTS[not_run]
            yield diagnose("command-not-run", message, file=file, hint=hint)


_HINTS: Mapping[NotRun, str] = {
    "mcp": "Commands from MCP servers never run; read the text and run what is needed yourself.",
    "remote": "Install the skill after reading it; then its commands can run.",
    "off": "`shell_commands` in the settings switches commands on.",
}
