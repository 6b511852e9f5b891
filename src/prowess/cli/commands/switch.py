"""What `enable` and `disable` share: one switch in a settings file, and the state it leaves the
skill in.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from prowess.cli.options import host_option, json_option, name_argument, open_skills
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.errors import MachineError, UnknownSkill
from prowess.machine.atomic_write import rewrite_aside
from prowess.machine.files import LocalFiles
from prowess.model.outcome import Outcome, State
from prowess.model.snapshot import Snapshot
from prowess.reports.host_switch_plan import plan_switch
from prowess.reports.json_output import shape_outcome
from prowess.reports.switch_plan import Plan, Undone, plan_enabling
from prowess.runtime import Skills
from prowess.settings.edit.prowess_toml import set_skill_enabled
from prowess.settings.load import MOST_BYTES, list_settings_places
from prowess.text.display import escape_line

F = TypeVar("F", bound=Callable[..., Any])


class Switched(msgspec.Struct, frozen=True):
    """What was done to the settings: in which file, whether it was made for this, whether anything
    changed, and what stood against the switch and was taken away, in whichever file. `key` is that
    of the skill in a host's own file."""

    file: str
    created: bool
    changed: bool
    undone: tuple[Undone, ...] = ()
    key: str | None = None

    def shape(self) -> dict[str, Any]:
        """As JSON; the key only where it is a host's."""
        shaped: dict[str, Any] = msgspec.to_builtins(self)
        return (
            shaped
            if self.key is not None
            else {name: one for name, one in shaped.items() if name != "key"}
        )


def switch_options(command: F) -> F:
    """The argument and options of both commands."""
    user = click.option(
        "--user", is_flag=True, help="Set it for all your projects instead of this one."
    )
    for decorate in (json_option, host_option, user, name_argument):
        command = decorate(command)
    return command


def switch_skill(name: str, *, enabled: bool, user: bool, host: str, as_json: bool) -> int:
    """Set a skill's switch, then say what changed and what state the skill is in now."""
    skills = open_skills(host)
    if not skills.snapshot.claims(name):
        raise UnknownSkill(name, {outcome.name for outcome in skills.snapshot.outcomes})
    if not any(rule.is_own for rule in skills.profile.settings.values()):
        done = _write_in_host(skills, host, name, enabled=enabled, user=user)
        return _finish(skills, name, done, enabled=enabled, user=user, as_json=as_json)
    file = _find_file(skills, user=user)
    before = skills.snapshot.find(name)
    if enabled and before is not None and before.state is State.DISABLED:
        done = _write_plan(plan_enabling(skills, host, name, file, user=user), file)
    else:
        done = _write_switch(file, name, enabled=enabled)
    return _finish(skills, name, done, enabled=enabled, user=user, as_json=as_json)


def _finish(
    skills: Skills, name: str, done: Switched, *, enabled: bool, user: bool, as_json: bool
) -> int:
    snapshot = skills.reload()
    outcome = snapshot.find(name)
    if as_json:
        shown = None if outcome is None else shape_outcome(outcome)
        print_json({"name": name, "enabled": enabled, **done.shape(), "skill": shown})
    else:
        _tell(name, done, snapshot, outcome, enabled=enabled, user=user)
    return 0


def _write_in_host(skills: Skills, host: str, name: str, *, enabled: bool, user: bool) -> Switched:
    """Set the switch in the host's own files, which were read again with it before anything is
    written.
    """
    plan = plan_switch(skills, host, name, enabled=enabled, user=user)
    created = not os.path.lexists(plan.file)
    for path, text in plan.texts.items():
        rewrite_aside(path, text.encode())
    return Switched(plan.file, created, bool(plan.texts), key=plan.key)


def _find_file(skills: Skills, *, user: bool) -> str:
    """The settings file to write: the strongest one that exists, else the one that belongs there."""
    places = skills.find_places()
    rule = skills.profile.settings["user" if user else "project"]
    known = [
        path for path, its_rule in list_settings_places(skills.profile, places) if its_rule is rule
    ]
    existing = [path for path in known if os.path.lexists(path)]
    if existing:
        return existing[-1]
    return known[-1] if user else os.path.join(places.repository or places.cwd, "prowess.toml")


def _write_switch(file: str, name: str, *, enabled: bool) -> Switched:
    created = not os.path.lexists(file)
    old = "" if created else _load_text(file)
    new = set_skill_enabled(old, name, enabled=enabled, file=file)
    if new != old:
        rewrite_aside(file, new.encode())
    return Switched(file, created, new != old)


def _write_plan(plan: Plan, file: str) -> Switched:
    written = list(plan.texts)
    created = [path for path in written if not os.path.lexists(path)]
    for path, text in plan.texts.items():
        rewrite_aside(path, text.encode())
    shown = file if file in written else written[0]
    return Switched(shown, shown in created, True, plan.undone)


def _load_text(file: str) -> str:
    # The scan has read the file before, so it is text of a bounded size; only the machine can still
    # refuse.
    try:
        return LocalFiles().read_head(file, MOST_BYTES).data.decode()
    except OSError as error:
        raise MachineError("read", file, error.strerror or str(error)) from error


def _tell(
    name: str,
    done: Switched,
    snapshot: Snapshot,
    outcome: Outcome | None,
    *,
    enabled: bool,
    user: bool,
) -> None:
    from prowess.cli.terminal.tables import render_reason

    screen = console()
    where = shorten_path(done.file, snapshot.cwd)
    shown = escape_line(name)
    word = "on" if enabled else "off"
    made = "the new file " if done.created else ""
    if not done.changed and done.created:
        screen.print(f"“{shown}” is not switched off; nothing was written.")
    elif not done.changed:
        screen.print(f"“{shown}” is already switched {word} in {where}; nothing was written.")
    elif not done.undone:
        by = f" by `{escape_line(done.key)}`" if done.key is not None else ""
        is_users = (
            not user and done.key is not None and done.file not in snapshot.settings.project_files
        )
        holds = ", which holds for all your projects" if is_users else ""
        screen.print(f"Switched “{shown}” {word}{by} in {made}{where}{holds}.")
    for one in done.undone:
        file = shorten_path(one.file, snapshot.cwd)
        screen.print(
            _UNDONE.get(one.setting, _TAKEN_OUT).format(name=shown, file=made + file, one=one)
        )
    if outcome is None:
        return
    reason = f": {escape_line(render_reason(outcome, snapshot))}" if outcome.reason else ""
    screen.print(f"It is {'now ' if done.changed else ''}{outcome.state.value}{reason}.")


_TAKEN_OUT = "Took “{name}” out of `{one.setting}` in {file} (line {one.line})."
_UNDONE = {
    "enabled": "Switched “{name}” on in {file}.",
    "visibility": "Set `visibility` of “{name}” to “on” in {file} (line {one.line}).",
}
