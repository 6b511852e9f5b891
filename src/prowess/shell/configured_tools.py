"""Tools that a settings file declares: a program and its arguments, one of them what a user typed.

That text is one argument of the program, whatever it says. No shell reads it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from prowess.activate.slash.dispatch import CommandTool, ToolRun
from prowess.errors.activation import CommandToolFailed
from prowess.model.command import Command, Finished
from prowess.model.settings import DeclaredTool
from prowess.ports import Runner
from prowess.shell.command_runner import cut_tail, render_output
from prowess.shell.process_limits import find_ungivable
from prowess.shell.program_words import runs_code
from prowess.text.masker import Masker

_PLACEHOLDER = re.compile(r"\{(argument|command|skill)\}")
_PARAMS = {"argument": "command", "command": "commandName", "skill": "skillName"}


def build_argv(template: Sequence[str], params: Mapping[str, str]) -> tuple[str, ...]:
    """The program and its arguments for one call.

    An element `{argument}` is what was typed after the command, `{command}` the command's name and
    `{skill}` the skill's. Other braces stay. Where no element takes the argument, it is added at
    the end, so that nothing typed is lost.
    """
    argv = []
    for element in _add_argument(template, params):
        placeholder = _PLACEHOLDER.fullmatch(element)
        argv.append(element if placeholder is None else params[_PARAMS[placeholder[1]]])
    return tuple(argv)


def _add_argument(template: Sequence[str], params: Mapping[str, str]) -> tuple[str, ...]:
    """The elements of a template, and one for what was typed if there is none."""
    is_missing = "{argument}" not in template and params["command"] != ""
    return (*template, "{argument}") if is_missing else tuple(template)


def explain_refusal(template: Sequence[str], params: Mapping[str, str]) -> str | None:
    """Why a declared program is not run with these parameters; None where it is."""
    words: list[str | None] = []
    for element in _add_argument(template, params):
        placeholder = _PLACEHOLDER.search(element)
        if placeholder is not None and placeholder[0] != element:
            shown = placeholder[0]
            return f"`{shown}` is only part of “{element}”; make it its own item in `command`"
        words.append(element if placeholder is None else None)
    if words[0] is None:
        return "it was not run: an argument would decide which program runs"
    if runs_code(words):
        return "it was not run: a shell would run an argument as code"
    ungivable = find_ungivable(build_argv(template, params))
    if ungivable is not None:
        return f"its program would receive {ungivable}"
    return None


def make_tool(
    name: str, declared: DeclaredTool, runner: Runner, *, cwd: str | None = None
) -> CommandTool:
    """A tool that runs a declared program in a folder; what the program prints is its result."""

    def function(params: Mapping[str, str], run: ToolRun) -> str:
        refusal = explain_refusal(declared.command, params)
        if refusal is not None:
            raise CommandToolFailed(name, refusal)
        argv = build_argv(declared.command, params)
        command = Command(text=render_template(declared.command), argv=argv, env=run.env, cwd=cwd)
        finished = runner.run(command, is_cancelled=lambda: run.cancel.is_cancelled)
        if finished.code != 0:
            raise CommandToolFailed(name, _explain_failure(finished, run.masker))
        return render_output(finished, run.masker) if finished.left_out else finished.output

    return CommandTool(name=name, function=function, description=declared.description or "")


def render_template(template: Sequence[str]) -> str:
    """A declared command as its author wrote it, which is what people are asked about."""
    return shlex.join(template)


def make_tools(
    declared: Mapping[str, DeclaredTool], runner: Runner, *, cwd: str | None = None
) -> tuple[CommandTool, ...]:
    """Every declared tool, in the order of their names."""
    return tuple(make_tool(name, declared[name], runner, cwd=cwd) for name in sorted(declared))


def _explain_failure(finished: Finished, masker: Masker) -> str:
    if finished.code is None:
        return "the program was stopped at its time limit"
    tail = cut_tail(finished, masker)
    wrote = f" and wrote: {tail}" if tail else ""
    return f"the program exited with code {finished.code}{wrote}"
