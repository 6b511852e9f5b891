"""What has to change in a host's own settings files to switch one skill, found before anything is
written.
"""

from __future__ import annotations

import os

import msgspec

from prowess.cli.terminal.out import shorten_path
from prowess.errors import UsageError
from prowess.model.outcome import STATE_ORDER, Outcome, State
from prowess.model.snapshot import Snapshot
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.reports.switch_plan import Edited
from prowess.runtime import Skills
from prowess.settings.edit.host_file import Switch, find_switch, name_key
from prowess.settings.load import list_settings_places

_OFF = (State.DISABLED, State.DENIED)
# Each change takes one obstacle away; more than a few mean that one comes back.
_MOST_CHANGES = 20


class HostPlan(msgspec.Struct, frozen=True):
    """The new text of each file that has to change, the file to speak of, and the key of the skill
    in it.
    """

    texts: dict[str, str]
    file: str
    key: str


class _Spot(msgspec.Struct, frozen=True):
    """A file that can switch one skill."""

    path: str
    rule: SettingsFileRule
    switch: Switch


def plan_switch(skills: Skills, host: str, name: str, *, enabled: bool, user: bool) -> HostPlan:
    """What to write so that a host has a skill switched on or off.

    The files are read again with the change in them; where the skill would not end as it should, a
    `UsageError` says what stands against it.
    """
    spots = _list_spots(skills, user=user)
    if not spots:
        raise UsageError(
            f"{_title(skills)} has no switch for one skill in its settings; nothing was written."
        )
    target = _choose_spot(spots, skills)
    if enabled:
        return _plan_on(skills, host, name, target, spots)
    files = Edited()
    held = _find_key(skills.snapshot, name, target.switch)
    _edit(files, target, held, enabled=False)
    outcome = Skills(skills.cwd, host=host, files=files).snapshot.find(name)
    if (
        outcome is not None
        and outcome.state not in _OFF
        and STATE_ORDER[outcome.state] > STATE_ORDER[State.DISABLED]
    ):
        raise _explain(outcome, skills, f"would still be {outcome.state.value}")
    return HostPlan(files.texts, target.path, name_key(target.switch, held))


def _plan_on(skills: Skills, host: str, name: str, target: _Spot, spots: list[_Spot]) -> HostPlan:
    files, shown, key = Edited(), target, name_key(target.switch, name)
    changes = 0
    while True:
        snapshot = Skills(skills.cwd, host=host, files=files).snapshot
        outcome = snapshot.find(name)
        if outcome is None or outcome.state not in _OFF:
            return HostPlan(files.texts, shown.path, key)
        origin = outcome.origin.file if outcome.origin is not None else None
        spot = next((one for one in spots if one.path == origin), target)
        held = _find_key(snapshot, name, spot.switch)
        changes += 1
        is_ours = _decides(outcome, spot.switch) and changes <= _MOST_CHANGES
        if not is_ours or not _edit(files, spot, held, enabled=True):
            raise _explain(outcome, skills, f"stays {outcome.state.value}")
        shown, key = spot, name_key(spot.switch, held)


def _decides(outcome: Outcome, switch: Switch) -> bool:
    """Whether the switch is what keeps the skill off."""
    if switch.setting == "permissions":
        return outcome.state is State.DENIED
    rule = outcome.rule or ""
    return rule == switch.setting or (
        switch.setting != "disabled_extensions" and rule.startswith("overrides.")
    )


def _edit(files: Edited, spot: _Spot, name: str, *, enabled: bool) -> bool:
    old = files.load(spot.path)
    new = spot.switch.set(old, name, enabled=enabled, file=spot.path)
    if new != old:
        files.texts[spot.path] = new
    return new != old


def _find_key(snapshot: Snapshot, name: str, switch: Switch) -> str:
    """The name by which the settings speak of a skill: what switches it off already, else its own
    key.
    """
    outcome = snapshot.find(name)
    if outcome is None or switch.setting not in ("overrides", "override_list"):
        return name
    if (outcome.rule or "").startswith("overrides."):
        return (outcome.rule or "").removeprefix("overrides.")
    declared = outcome.skill.declared if outcome.skill is not None else None
    return (
        declared.skill_key if declared is not None and switch.setting == "overrides" else None
    ) or name


def _list_spots(skills: Skills, *, user: bool) -> list[_Spot]:
    """The files that can be written: the project's or the user's; all where the host has files of
    one kind only.
    """
    places = skills.find_places()
    top = (places.repository or places.cwd).rstrip("/") + "/"
    found = []
    for path, rule in list_settings_places(skills.profile, places):
        switch = find_switch(rule)
        is_managed = any("{managed}" in template for template in rule.at)
        if switch is not None and not is_managed and (not rule.is_project or path.startswith(top)):
            found.append(_Spot(path, rule, switch))
    return [spot for spot in found if spot.rule.is_project != user] or found


def _choose_spot(spots: list[_Spot], skills: Skills) -> _Spot:
    """The strongest file that is there; where there is none, the one that belongs at the top of the
    project.
    """
    existing = [spot for spot in spots if os.path.lexists(spot.path)]
    if existing:
        return existing[-1]
    places = skills.find_places()
    top = places.repository or places.cwd
    at_top = [spot for spot in spots if os.path.dirname(spot.path) == top] or spots
    return next((spot for spot in reversed(at_top) if not spot.path.endswith("c")), at_top[-1])


def _title(skills: Skills) -> str:
    return skills.profile.title or skills.profile.name


def _explain(outcome: Outcome, skills: Skills, what: str) -> UsageError:
    where = (
        f" ({shorten_path(str(outcome.origin), skills.cwd)})" if outcome.origin is not None else ""
    )
    reason = f": {outcome.reason}{where}" if outcome.reason else ""
    return UsageError(f"“{outcome.name}” {what} in {_title(skills)}{reason}. Nothing was written.")
