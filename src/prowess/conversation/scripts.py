"""A script of a skill: found inside its folder, allowed or refused, and run confined."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote

from prowess.activate.resources.addresses import parse_address
from prowess.activate.resources.lookup import load_head
from prowess.activate.wrappers import WITHOUT_FOLDER
from prowess.conversation.authorization import authorize_commands
from prowess.conversation.body_commands import find_reason_not_to_run
from prowess.conversation.confinement import confine
from prowess.conversation.current_skills import SnapshotView
from prowess.conversation.services import Services
from prowess.conversation.skill_environment import find_environment
from prowess.errors.activation import ScriptRefused
from prowess.model.command import Command, Finished
from prowess.model.skill import Skill
from prowess.model.usage import Caller
from prowess.shell.command_runner import (
    NOT_RUN_HINTS,
    NOT_RUN_REASONS,
    cut_tail,
    find_seconds,
    render_output,
    request_commands,
)
from prowess.shell.scripts import SHEBANG_BYTES, ScriptResult, find_interpreter, plan_script
from prowess.text.addresses import SCHEME
from prowess.text.masker import Masker


def run_script(
    skill: Skill,
    script: str,
    argv: Sequence[str],
    *,
    by: Caller,
    services: Services,
    view: SnapshotView,
    seconds: float | None = None,
    is_cancelled: Callable[[], bool] | None = None,
) -> ScriptResult:
    """Run a file in a skill's folder, under the rules for commands in its body.

    Raises `AddressError`, `ScriptRefused`, `NotPermitted`, `MachineError` and `Cancelled`. A script
    that fails raises nothing; its result says so.
    """
    not_run = find_reason_not_to_run(skill, services, view)
    if not_run is not None:
        raise ScriptRefused(script, NOT_RUN_REASONS[not_run], NOT_RUN_HINTS[not_run])
    environment = find_environment(skill, services, view)
    command = _plan(
        skill, script, argv, services=services, env=environment.variables, seconds=seconds
    )
    runner, unconfined = confine(skill.name, services, view)
    granted = authorize_commands(
        skill,
        request_commands(skill, [command], by),
        services,
        view,
        digest=skill.digest,
        unconfined=unconfined,
    )
    began = time.monotonic()
    finished = runner.run(command, is_cancelled=is_cancelled)
    masker = environment.masker
    return ScriptResult(
        skill=skill.name,
        script=script,
        code=finished.code,
        output=masker.mask_head(finished.output)
        if finished.left_out
        else masker.mask(finished.output),
        text=_render_text(finished, command, masker),
        left_out=finished.left_out,
        seconds=time.monotonic() - began,
        diagnostics=granted + environment.diagnostics,
    )


def _plan(
    skill: Skill,
    script: str,
    argv: Sequence[str],
    *,
    services: Services,
    env: Mapping[str, str],
    seconds: float | None,
) -> Command:
    if skill.source.loaded_from in WITHOUT_FOLDER:
        raise ScriptRefused(script, "the skill has no folder of its own")
    # Quoted, because the name of a file is not an address: in it, `%41` is no `A`.
    address = parse_address(f"{SCHEME}{quote(skill.name, safe='')}/{quote(script)}")
    real, head = load_head(address, skill, services.files, SHEBANG_BYTES)
    # A program cannot open what is only in memory; on disk this is the skill's own folder.
    folder = services.project.unpack(skill)
    if skill.is_in_memory:
        real = folder + real.removeprefix(skill.folder)
    rules, facts = services.profile.embedded, services.facts
    return plan_script(
        script,
        argv,
        interpreter=find_interpreter(script, head, with_shebang=facts.platform != "win32"),
        shown=f"{skill.folder.rstrip('/')}/{address.path}",
        real=real,
        folder=folder,
        env=env,
        cwd=services.cwd,
        seconds=find_seconds(rules, facts) if seconds is None else seconds,
        output_bytes=rules.output_bytes,
    )


def _render_text(finished: Finished, command: Command, masker: Masker) -> str:
    """What a model reads: the output, and how it ended unless it ended well."""
    output = render_output(finished, masker)
    if finished.code == 0:
        return output
    # The end of a long output says what went wrong.
    parts = [output, f"…\n{cut_tail(finished, masker)}"] if finished.left_out else [output]
    if finished.code is None:
        parts.append(f"[stopped at its time limit of {command.seconds:g} seconds]")
    elif finished.code < 0:
        parts.append(f"[killed by signal {-finished.code}]")
    else:
        parts.append(f"[exit code {finished.code}]")
    return "\n".join(parts)
