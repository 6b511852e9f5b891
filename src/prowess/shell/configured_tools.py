"""Tools that a settings file declares: a program and its arguments, into which what the user typed
is put.

What was typed is one argument of the program, whatever it holds. No shell reads it: a program that
would run its argument as code is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from prowess.activate.slash.dispatch import CommandTool, ToolRun
from prowess.errors.activation import ToolFailed
from prowess.model.command import Command, Finished
from prowess.model.settings import DeclaredTool
from prowess.ports import Runner
from prowess.shell.bash import BashScript
from prowess.shell.command_runner import render_output
from prowess.shell.evaluating import check_command
from prowess.shell.process_limits import explain_size
from prowess.shell.simple_command import Reach, SimpleCommand, Unsafe, Word
from prowess.text.masking import Masker

_PLACE = re.compile(r"\{(argument|command|skill)\}")
_PARAMS = {"argument": "command", "command": "commandName", "skill": "skillName"}
_TYPED = Word("", is_tainted=True, is_exact=False, plain=0, leads="argument")
_TAIL = 2_000


def build_argv(template: Sequence[str], params: Mapping[str, str]) -> tuple[str, ...]:
    """The program and its arguments for one call.

    `{argument}` is what was typed after the command, `{command}` the command's name and `{skill}`
    the skill's, where they are all of an element. Other braces stay. Where no place is made for the
    argument, it is added at the end, so that nothing typed is lost.
    """
    places = [_PLACE.fullmatch(part) for part in template]
    argv = tuple(
        part if place is None else params[_PARAMS[place[1]]]
        for part, place in zip(template, places, strict=True)
    )
    has_place = "{argument}" in template
    return argv if has_place or not params["command"] else (*argv, params["command"])


def explain_refusal(template: Sequence[str], params: Mapping[str, str]) -> str | None:
    """Why a declared command is not run with these parameters; None where it is.

    Each place must be an element of its own, and none may stand where the program would run it as
    code.
    """
    for part in template:
        found = _PLACE.search(part)
        if found is not None and found[0] != part:
            return (
                f"`{found[0]}` is only a part of “{part}”; it must be an element of its own in"
                " `command`"
            )
    reach = Reach("", values=tuple(params.values()), read_code=_read_code)
    command = SimpleCommand(reach)
    words = [Word(part) if _PLACE.fullmatch(part) is None else _TYPED for part in template]
    try:
        for word in (
            words if "{argument}" in template or not params["command"] else (*words, _TYPED)
        ):
            command.take(word)
        check_command(command)
    except Unsafe as unsafe:
        return f"it was not run: {unsafe}"
    too_much = explain_size(build_argv(template, params))
    return None if too_much is None else f"its program would get {too_much}"


def _read_code(text: str) -> None:
    """Read a script that stands in a template and gets arguments. Raises `Unsafe`."""
    BashScript(text, (), prefix="", is_inner=True)


def make_tool(
    name: str, declared: DeclaredTool, runner: Runner, *, cwd: str | None = None
) -> CommandTool:
    """A tool that runs a declared program in a folder; what the program writes is its result."""

    def function(params: Mapping[str, str], run: ToolRun) -> str:
        argv = build_argv(declared.command, params)
        if any("\0" in part for part in argv):
            raise ToolFailed(
                name, "what was typed holds a NUL character, which no program can be given"
            )
        refusal = explain_refusal(declared.command, params)
        if refusal is not None:
            raise ToolFailed(name, refusal)
        command = Command(text=render_template(declared.command), argv=argv, env=run.env, cwd=cwd)
        finished = runner.run(command, is_cancelled=lambda: run.cancel.is_cancelled)
        if finished.code != 0:
            raise ToolFailed(name, _explain(finished, run.masker))
        return render_output(finished, run.masker) if finished.left_out else finished.output

    return CommandTool(name=name, function=function, description=declared.description or "")


def render_template(template: Sequence[str]) -> str:
    """A declared command as its author wrote it, which is what people are asked about."""
    import shlex

    return shlex.join(template)


def make_tools(
    declared: Mapping[str, DeclaredTool], runner: Runner, *, cwd: str | None = None
) -> tuple[CommandTool, ...]:
    """Every declared tool, in the order of their names."""
    return tuple(make_tool(name, declared[name], runner, cwd=cwd) for name in sorted(declared))


def _explain(finished: Finished, masker: Masker) -> str:
    if finished.code is None:
        return "the program was stopped at its time limit"
    # Secrets go before anything is cut, or half of one would be left.
    output = (
        masker.mask_tail(finished.tail) if finished.left_out else masker.mask(finished.output)
    ).strip()
    tail = output if len(output) <= _TAIL else "…" + output[-_TAIL:]
    return f"the program ended with exit code {finished.code}" + (
        f" and wrote: {tail}" if tail else ""
    )
