"""What `enable` and `disable` share: plan the switch, write it, show the state that follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from prowess.cli.options import host_option, json_option, name_argument, open_skills
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.model.outcome import Outcome
from prowess.model.snapshot import Snapshot
from prowess.reports.json_output import shape_outcome
from prowess.reports.switch_plan import SwitchPlan, apply_plan, plan_switch
from prowess.text.display import escape_line

F = TypeVar("F", bound=Callable[..., Any])

HELP = """{summary}

Writes to the project's prowess.toml, creates it if there is none, and keeps everything else in
it. With --host, writes to the host's own settings file, after checking that the host will then see
the skill as {state}:

\b
claude-code  skillOverrides in .claude/settings.local.json or settings.json
opencode     permission.skill in opencode.json or opencode.jsonc
openclaw     skills.entries in openclaw.json
omp          disabledExtensions in config.yml
codex        [[skills.config]] in config.toml

The last three have one file for all your projects. For the others, --user chooses the file in your
home folder.
"""


def switch_options(command: F) -> F:
    """The argument and options of both commands."""
    user = click.option(
        "--user", is_flag=True, help="Set it for all your projects instead of this one."
    )
    for decorate in (json_option, host_option, user, name_argument):
        command = decorate(command)
    return command


def switch_skill(name: str, *, enabled: bool, user: bool, host: str, as_json: bool) -> int:
    """Enable or disable a skill, then show what changed and the state the skill is in now."""
    skills = open_skills(host, shipped=True)
    plan = plan_switch(skills, host, name, enabled=enabled, user=user)
    apply_plan(plan)
    # From the disk, so that what is shown is what the next start will see.
    snapshot = skills.reload()
    outcome = snapshot.find(name)
    if as_json:
        skill = None if outcome is None else shape_outcome(outcome)
        print_json({"name": name, "enabled": enabled, **plan.shape(), "skill": skill})
        return 0
    screen = console()
    for line in _render_changes(name, plan, snapshot, enabled=enabled, user=user):
        screen.print(line)
    if outcome is not None:
        screen.print(_render_state(outcome, plan, snapshot))
    return 0


def _render_changes(
    name: str, plan: SwitchPlan, snapshot: Snapshot, *, enabled: bool, user: bool
) -> Iterator[str]:
    shown, file = f"“{escape_line(name)}”", shorten_path(plan.file, snapshot.cwd)
    state = "enabled" if enabled else "disabled"
    new = "new file " if plan.created else ""
    if not plan.changed:
        # Without a file there is no switch: the skill was never disabled.
        already = "not disabled" if plan.created else f"already {state} in {file}"
        yield f"{shown} is {already}; nothing was written."
        return
    if not plan.undone:
        key = f" with `{escape_line(plan.key)}`" if plan.key is not None else ""
        reach = _render_reach(plan, snapshot, user=user)
        yield f"{state.capitalize()} {shown}{key} in {new}{file}{reach}."
    for one in plan.undone:
        where = new + shorten_path(one.file, snapshot.cwd)
        template = _UNDONE.get(one.setting, _REMOVED)
        yield template.format(name=shown, where=where, setting=one.setting, line=one.line)


def _render_reach(plan: SwitchPlan, snapshot: Snapshot, *, user: bool) -> str:
    """Tell users who meant one project that the host has one file for all of them."""
    is_users_file = plan.file not in snapshot.settings.project_files
    is_hosts_file = plan.key is not None
    reaches_further = is_hosts_file and is_users_file and not user
    return ", for all your projects" if reaches_further else ""


_REMOVED = "Removed {name} from `{setting}` in {where} (line {line})."
_UNDONE = {
    "enabled": "Enabled {name} in {where}.",
    "visibility": "Set `visibility` of {name} to “on” in {where} (line {line}).",
}


def _render_state(outcome: Outcome, plan: SwitchPlan, snapshot: Snapshot) -> str:
    from prowess.cli.terminal.skill_table import render_reason

    now = "now " if plan.changed else ""
    reason = f": {escape_line(render_reason(outcome, snapshot))}" if outcome.reason else ""
    return f"It is {now}{outcome.state.value}{reason}."
