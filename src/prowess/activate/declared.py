"""Tools that a settings file declares: a program and its arguments, into which what the user typed is put.

What was typed is one argument of the program, whatever it holds. No shell reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from prowess.activate.dispatch import Tool, ToolRun
from prowess.activate.embedded import render_output
from prowess.errors.activation import ToolFailed
from prowess.model.command import Command, Finished
from prowess.model.masking import Masker
from prowess.model.settings import DeclaredTool
from prowess.ports import Runner

_PLACE = re.compile(r"\{(argument|command|skill)\}")
_PARAMS = {"argument": "command", "command": "commandName", "skill": "skillName"}
_TAIL = 2_000


def build_argv(template: Sequence[str], params: Mapping[str, str]) -> tuple[str, ...]:
    """The program and its arguments for one call.

    `{argument}` is what was typed after the command, `{command}` the command's name and `{skill}` the skill's. All
    other braces stay. Where no place is made for the argument, it is added at the end, so that nothing typed is lost.
    """
    argv = tuple(_PLACE.sub(lambda place: params[_PARAMS[place[1]]], part) for part in template)
    has_place = any("{argument}" in part for part in template)
    return argv if has_place or not params["command"] else (*argv, params["command"])


def make_tool(name: str, declared: DeclaredTool, runner: Runner, *, cwd: str | None = None) -> Tool:
    """A tool that runs a declared program in a folder; what the program writes is its result."""

    def function(params: Mapping[str, str], run: ToolRun) -> str:
        argv = build_argv(declared.command, params)
        if any("\0" in part for part in argv):
            raise ToolFailed(name, "what was typed holds a NUL character, which no program can be given")
        command = Command(text=render_template(declared.command), argv=argv, env=run.env, cwd=cwd)
        finished = runner.run(command, is_cancelled=lambda: run.cancel.is_cancelled)
        if finished.code != 0:
            raise ToolFailed(name, _explain(finished, run.masker))
        return render_output(finished, run.masker) if finished.left_out else finished.output

    return Tool(name=name, function=function, description=declared.description or "")


def render_template(template: Sequence[str]) -> str:
    """A declared command as its author wrote it, which is what people are asked about."""
    import shlex

    return shlex.join(template)


def make_tools(declared: Mapping[str, DeclaredTool], runner: Runner, *, cwd: str | None = None) -> tuple[Tool, ...]:
    """Every declared tool, in the order of their names."""
    return tuple(make_tool(name, declared[name], runner, cwd=cwd) for name in sorted(declared))


def _explain(finished: Finished, masker: Masker) -> str:
    if finished.code is None:
        return "the program was stopped at its time limit"
    # Secrets go before anything is cut, or half of one would be left.
    output = (masker.mask_tail(finished.tail) if finished.left_out else masker.mask(finished.output)).strip()
    tail = output if len(output) <= _TAIL else "…" + output[-_TAIL:]
    return f"the program ended with exit code {finished.code}" + (f" and wrote: {tail}" if tail else "")
