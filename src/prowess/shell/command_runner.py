"""The commands inside a body: planned as values, run one by one, their output put in their places.

Placeholders are filled in first; commands get their values as parameters. What a command prints is
put where it was written and is not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from prowess.activate.body.substitution import Given, Reference, Substitution
from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors.activation import CommandFailed, CommandRefused
from prowess.model.command import Command, FilledProgram, Finished
from prowess.model.facts import Facts
from prowess.model.permission import ApprovalRequest
from prowess.model.skill import DeclaredArgument, LoadedFrom, Scope, Skill
from prowess.model.usage import Caller
from prowess.ports import Runner
from prowess.profiles.schema.body import ArgumentRules, EmbeddedCommandRules
from prowess.shell.bash import fill_argv, fill_bash
from prowess.shell.command_list import list_commands
from prowess.shell.embedded_commands import EmbeddedCommand, EmbeddedCommands, find_commands
from prowess.shell.powershell import fill_powershell
from prowess.shell.process_limits import find_ungivable
from prowess.shell.quotes import PREFIX, FilledCommand, ValueRefused
from prowess.text.digits import find_number
from prowess.text.masker import Masker

NotRun = Literal["mcp", "remote", "source", "untrusted", "off"]
"""Why the commands of a skill stay text."""

NO_OUTPUT = "(no output)"
_TAIL = 2_000

NOT_RUN_REASONS: Mapping[NotRun, str] = {
    "mcp": "it comes from an MCP server",
    "remote": "it comes from a remote source",
    "source": "its source is not trusted",
    "untrusted": "its project is not trusted",
    "off": "commands in skills are turned off",
}
NOT_RUN_HINTS: Mapping[NotRun, str | None] = {
    "mcp": "Commands from MCP servers never run; read the text and run what is needed yourself.",
    "remote": "Install the skill after reading it; then its commands can run.",
    "source": "Make the source with `trust=True` if what is in it may run.",
    "untrusted": None,
    "off": "Set `shell_commands` to true in the settings to let commands run.",
}


class Shell(NamedTuple):
    """A kind of shell: what fills in a script for it, its programs, and their options.

    `options` come before a script, `with_values` before one that gets values.
    """

    fill: Callable[[str, Sequence[Reference]], FilledCommand]
    programs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    with_values: tuple[str, ...] = ()


# Bash goes on after some mistakes in a script, and then reads the rest of it differently than it
# was read here. So a script that gets values is checked as a whole before any of it runs.
_CHECK_AND_RUN = 'bash -n -c "$0" && exec bash -c "$0"'
_POWERSHELL = ("-NoProfile", "-NonInteractive", "-Command")

SHELLS: Mapping[str, Shell] = {
    "bash": Shell(fill_bash, ("bash",), ("-c",), ("-c", _CHECK_AND_RUN)),
    "powershell": Shell(fill_powershell, ("pwsh", "powershell"), _POWERSHELL, _POWERSHELL),
    "none": Shell(fill_argv),
}


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What the commands of one call run in: working folder, machine, and the skill's variables.

    `not_run` says why they do not run, None where they do.
    """

    facts: Facts
    cwd: str | None = None
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    not_run: NotRun | None = None


class Draft(msgspec.Struct, frozen=True):
    """A body with everything filled in except the output of its commands.

    `tolerated` are programs whose exit code 1 is an answer, not a failure. `no_output` stands for
    an empty output.
    """

    pieces: tuple[str | Command, ...]
    tolerated: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    no_output: str = NO_OUTPUT

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands, in the order in which they run."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Command))

    def place(self, outputs: Iterable[str]) -> str:
        """The text with an output for every command, in their order."""
        left = iter(outputs)
        return "".join(piece if isinstance(piece, str) else next(left) for piece in self.pieces)


def find_not_run(
    skill: Skill,
    rules: EmbeddedCommandRules,
    *,
    is_trusted: bool,
    switched_on: bool | None = None,
) -> NotRun | None:
    """Why the commands of a skill are not run; None where they are.

    `switched_on` is the setting `shell_commands`, None where it is not set.
    """
    # These two come first, because neither a setting nor trust lets their commands run.
    if skill.source.loaded_from is LoadedFrom.MCP:
        return "mcp"
    if skill.scope is Scope.REMOTE:
        return "remote"
    if switched_on is False and skill.scope not in rules.exempt:
        return "off"
    if is_trusted:
        return None
    # What is in memory belongs to no project: the program that made the source decides.
    return "source" if skill.is_in_memory else "untrusted"


def draft_body(
    body: str,
    given: Given,
    around: Surroundings,
    *,
    arguments: ArgumentRules,
    embedded: EmbeddedCommandRules,
    names: Iterable[str] = (),
    declared: Sequence[DeclaredArgument] = (),
    shell: str | None = None,
    caller: Caller = "user",
    file: str | None = None,
) -> Draft:
    """A body with its placeholders filled in, its commands planned, and unused arguments added.

    `names` are the arguments that the header declares, `declared` what they may be, and `shell` is
    the one it asks for; an unknown one is bash. For a caller whose calls the host does not fill in,
    the body stays as it is. Raises `ArgumentRefused` and `CommandRefused`.
    """
    if caller not in arguments.callers:
        return Draft((body,))
    filling = Substitution(arguments, given, names=names, declared=declared, file=file)
    found = find_commands(body) if embedded.recognised else EmbeddedCommands(())
    if not found.commands and found.unclosed is None:
        text = filling.fill(body)
        return Draft((text + filling.finish(),), diagnostics=filling.diagnostics)
    kind = shell if shell is not None and shell in SHELLS else "bash"
    planner = _Planner(filling, around, embedded, shell=kind, folder=given.folder)
    is_run = around.not_run is None
    pieces: list[str | Command] = []
    at = 0
    for command in found.commands:
        pieces.append(filling.fill(body[at : command.start]))
        pieces.append(planner.plan(command) if is_run else planner.mark(body, command))
        at = command.end
    # Last, because only now is it known whether any placeholder took the arguments.
    pieces += [filling.fill(body[at:]), filling.finish()]
    findings = (*filling.diagnostics, *_diagnose(found.commands, around.not_run, file))
    if found.unclosed is not None:
        findings += (_report_unclosed(found.unclosed, file),)
    filled = tuple(piece for piece in pieces if piece)
    return Draft(filled, embedded.tolerated, findings, embedded.no_output)


def _report_unclosed(line: int, file: str | None) -> Diagnostic:
    where = f"on line {line} of the body"
    message = f"The command block {where} is never closed, so it is not run."
    return diagnose("command-unclosed", message, file=file)


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
        self._env = dict(around.env)
        if folder is not None:
            self._env[f"{PREFIX}SKILL_DIR"] = folder

    def plan(self, embedded: EmbeddedCommand) -> Command:
        """A command with its values as parameters."""
        filled = self._fill(embedded)
        ungivable = find_ungivable((filled.script, *filled.argv, *filled.env.values()))
        if ungivable is not None:
            raise CommandRefused(embedded.text, f"it would receive {ungivable}")
        return Command(
            text=embedded.text,
            argv=filled.argv or self._build_argv(filled),
            env={**self._env, **filled.env},
            cwd=self._around.cwd,
            shell=self._kind if self._shell.programs else "",
            seconds=find_seconds(self._rules, self._around.facts),
            output_bytes=self._rules.output_bytes,
            readable=filled.readable if filled.programs else "",
            programs=filled.programs,
        )

    def _build_argv(self, filled: FilledCommand) -> tuple[str, ...]:
        programs = self._shell.programs
        program = next(filter(self._around.facts.has_bin, programs), programs[0])
        options = self._shell.with_values if filled.env else self._shell.options
        return (program, *options, filled.script)

    def _fill(self, embedded: EmbeddedCommand) -> FilledCommand:
        references = list(self._filling.find_references(embedded.text))
        if not references and self._shell.programs:
            # Without values there is nothing to keep apart: the shell reads what the author wrote.
            return FilledCommand(embedded.text, {}, (), embedded.text)
        try:
            filled = self._shell.fill(embedded.text, references)
        except ValueRefused as refusal:
            line = embedded.line + embedded.text.count("\n", 0, refusal.at)
            raise CommandRefused(embedded.text, refusal.why, line=line) from None
        for reference in filled.used:
            self._filling.note_filled(reference)
        return filled

    def mark(self, body: str, embedded: EmbeddedCommand) -> str:
        """A command as text, with a note that it was not run, and why."""
        text = self._filling.fill(body[embedded.start : embedded.end])
        # Nothing may follow a fence on its line.
        between = "\n" if body.startswith("`", embedded.start) else " "
        reason = NOT_RUN_REASONS[self._around.not_run or "off"]
        return f"{text}{between}[not run: {reason}]"


def find_seconds(rules: EmbeddedCommandRules, facts: Facts) -> float:
    """How long a command may take."""
    # Without a variable in the profile its name is empty, which no variable's is.
    milliseconds = find_number(facts.env.get(rules.milliseconds_variable, ""))
    return milliseconds / 1_000 if milliseconds else rules.seconds


def request_commands(
    skill: Skill, commands: Sequence[Command], by: Caller = "user"
) -> ApprovalRequest:
    """The request to run the commands of a skill, for the rules and for the person who is asked.

    Rules are compared with each command as it is written and with every program in it, so that
    `true && rm x` is also `rm x`. A program that gets an argument which a model chose needs a rule
    that allows it, or someone who does.
    """
    inner: list[str] = []
    filled: list[FilledProgram] = []
    for command in commands:
        inner += [" ".join(words) for words in _list_programs(command)]
        filled += command.programs
    texts = [command.text for command in commands]
    with_values = [program.text for program in filled]
    # Each once: a command that is a single program is in all three.
    patterns = tuple(dict.fromkeys((*texts, *inner, *with_values)))
    shown = dict.fromkeys(command.readable or command.text for command in commands)
    chosen_by_model = filled if by == "model" else ()
    return ApprovalRequest(
        permission="bash",
        patterns=patterns,
        always=patterns,
        metadata={"skill": skill.name, "location": skill.location, "commands": list(shown)},
        note="A model chose the arguments." if chosen_by_model else None,
        unless_allowed={program.text: f"Bash({program.rule})" for program in chosen_by_model},
    )


def _list_programs(command: Command) -> Sequence[tuple[str, ...]]:
    """The programs that a command starts, each with its words."""
    if command.shell == "powershell":
        # Its words are not read as bash reads them.
        return ()
    return list_commands(command.text)[0]


def run_draft(
    draft: Draft,
    runner: Runner,
    *,
    masker: Masker | None = None,
    is_cancelled: Callable[[], bool] | None = None,
) -> str:
    """Run the commands of a draft one after the other, and put their output in their places.

    Raises `CommandFailed` at the first that fails, with the end of its output; secrets are masked.
    """
    masker = masker or Masker()
    outputs = []
    for command in draft.commands:
        finished = runner.run(command, is_cancelled=is_cancelled)
        is_answer = finished.code == 1 and _answers_by_1(command, draft.tolerated)
        if finished.code != 0 and not is_answer:
            raise CommandFailed(
                masker.mask(command.text),
                code=finished.code,
                seconds=command.seconds,
                tail=cut_tail(finished, masker),
            )
        outputs.append(render_output(finished, masker, empty=draft.no_output))
    return draft.place(outputs)


def render_output(finished: Finished, masker: Masker, *, empty: str = NO_OUTPUT) -> str:
    """What the model sees of a command's output, with a note where it was cut."""
    if finished.left_out:
        note = f"[{finished.left_out:,} more bytes of output left out]"
        return f"{masker.mask_head(finished.output)}\n{note}"
    return masker.mask(finished.output.rstrip("\r\n")) or empty


def cut_tail(finished: Finished, masker: Masker) -> str:
    """The end of an output. Secrets are masked before it is cut, or half of one would be left."""
    if finished.left_out:
        text = masker.mask_tail(finished.tail).strip()
    else:
        text = masker.mask(finished.output).strip()
    return text if len(text) <= _TAIL else f"…{text[-_TAIL:]}"


def _answers_by_1(command: Command, tolerated: Iterable[str]) -> bool:
    """Whether the last program of a command is one of these, such as `grep` or `git diff`."""
    if command.shell == "powershell":
        return False
    last = list_commands(command.text)[1]
    for program in tolerated:
        words = tuple(program.split())
        if last[: len(words)] == words:
            return True
    return False


def _diagnose(
    commands: Sequence[EmbeddedCommand], not_run: NotRun | None, file: str | None
) -> Iterable[Diagnostic]:
    if not_run is None:
        return
    for command in commands:
        first = command.text.splitlines()[0]
        message = f"The command `{first}` was not run because {NOT_RUN_REASONS[not_run]}."
        yield diagnose("command-not-run", message, file=file, hint=NOT_RUN_HINTS[not_run])
