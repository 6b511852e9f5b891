"""What to write so that one skill is enabled, disabled or shown less, found before it is written.

Every edit is tried first: the folder is scanned again as if it had been written. A plan that would
not lead to the wanted state is a `UsageError` that says what prevents it.

There are two planners. Prowess's own settings can be edited in several ways, so `_OwnPlanner`
undoes whatever disables the skill. In a host's file one setting switches a skill, which
`_HostPlanner` writes.
"""

from __future__ import annotations

import posixpath
from typing import Any, Literal, get_args

import msgspec

from prowess.errors import UnknownSkill, UsageError
from prowess.machine.atomic_write import rewrite_aside
from prowess.model.outcome import Outcome, State
from prowess.model.snapshot import Snapshot
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.reports.settings_edits import EditedFiles, choose_own_file, may_edit
from prowess.runtime import Skills
from prowess.settings.edit.host_file import Switch, find_switch, name_key
from prowess.settings.edit.toml import remove_entries, set_skill_enabled, set_skill_visibility
from prowess.settings.load import list_settings_places
from prowess.text.display import shorten_path

# Each edit removes one obstacle; more than a few mean that the same one keeps coming back.
_MOST_EDITS = 20


Visibility = Literal["on", "name-only", "user-only", "off"]
"""How much a model is shown of a skill: all, its name, nothing; or the skill is switched off."""
VISIBILITIES: tuple[Visibility, ...] = get_args(Visibility)


class UndoneSetting(msgspec.Struct, frozen=True):
    """A setting that is changed because it kept a skill disabled; it may have had no line."""

    setting: str
    file: str
    line: int | None


class SwitchPlan(msgspec.Struct, frozen=True):
    """The new text of every file that has to change; none if everything is as wanted.

    `file` is the one to show, and `created` whether it does not exist yet. `undone` has what kept
    the skill disabled in Prowess's own settings, `key` the skill's key in a host's settings.
    """

    texts: dict[str, str]
    file: str
    created: bool
    undone: tuple[UndoneSetting, ...] = ()
    key: str | None = None

    @property
    def changed(self) -> bool:
        """Whether anything has to be written."""
        return bool(self.texts)

    def shape(self) -> dict[str, Any]:
        """As JSON; with the key only for a host's settings."""
        shape: dict[str, Any] = {
            "file": self.file,
            "created": self.created,
            "changed": self.changed,
            "undone": [msgspec.to_builtins(one) for one in self.undone],
        }
        return shape if self.key is None else {**shape, "key": self.key}


def plan_switch(skills: Skills, host: str, name: str, *, enabled: bool, user: bool) -> SwitchPlan:
    """Plan to enable or disable a skill, for this project or for all projects of the user.

    Raises `UnknownSkill`, and a `UsageError` where these files cannot lead to the wanted state.
    """
    return _choose_planner(skills, host, name, user=user).plan(enabled=enabled)


def _choose_planner(
    skills: Skills, host: str, name: str, *, user: bool
) -> _OwnPlanner | _HostPlanner:
    if not skills.snapshot.claims(name):
        raise UnknownSkill(name, {outcome.name for outcome in skills.snapshot.outcomes})
    # A profile of the user's own may read prowess.toml, too, whatever it is called.
    has_own_settings = any(rule.is_own for rule in skills.profile.settings.values())
    planner = _OwnPlanner if has_own_settings else _HostPlanner
    return planner(skills, host, name, user=user)


def find_visibility(outcome: Outcome, snapshot: Snapshot) -> Visibility:
    """How the settings switch a skill."""
    if outcome.state in _OFF:
        return "off"
    override = snapshot.settings.find_override(_find_declared_key(outcome), outcome.name)
    chosen = None if override is None else override[1].visibility
    return next((one for one in VISIBILITIES if one == chosen), "on")


def _find_declared_key(outcome: Outcome | None) -> str | None:
    """The key that a skill's header asks for in place of its name."""
    if outcome is None or outcome.skill is None:
        return None
    return outcome.skill.declared.skill_key


def plan_visibility(skills: Skills, host: str, name: str, wanted: Visibility) -> SwitchPlan:
    """Plan to switch a skill for this project. Raises like `plan_switch`."""
    if wanted == "off":
        return plan_switch(skills, host, name, enabled=False, user=False)
    return _choose_planner(skills, host, name, user=False).plan_visibility(wanted)


def apply_plan(plan: SwitchPlan) -> None:
    """Write the files of a plan. Raises `MachineError`."""
    for path, text in plan.texts.items():
        rewrite_aside(path, text.encode())


class _SwitchPlanner:
    """What both kinds of settings share: the edits so far, and a scan with them."""

    def __init__(self, skills: Skills, host: str, name: str, *, user: bool) -> None:
        self.skills = skills
        self.name = name
        self.user = user
        self.files = EditedFiles(skills.project.files)
        self.places = skills.find_places()
        # In reading order, so a file overrides those before it.
        self.settings_files = list_settings_places(skills.profile, self.places)
        self.top = self.places.repository or self.places.cwd
        self._host = host

    def scan(self) -> Snapshot:
        """What the host would see after the edits."""
        project = self.skills.project
        edited = Skills(
            project.cwd,
            host=self._host,
            facts=project.facts,
            files=self.files,
            sources=project.sources,
        )
        return edited.snapshot

    def check_visibility(self, wanted: Visibility) -> None:
        """Raise a `UsageError` if the edits so far do not lead to the wanted visibility."""
        snapshot = self.scan()
        outcome = snapshot.find(self.name)
        if outcome is None:
            return
        actual = find_visibility(outcome, snapshot)
        if actual == wanted:
            return
        key = self.find_override_key(snapshot)
        decided = snapshot.settings.origin(f"overrides.{key}.visibility")
        where = f" by {self.shorten(str(decided))}" if decided.file is not None else ""
        raise UsageError(f"“{self.name}” stays “{actual}”{where}. Nothing was written.")

    def find_override_key(self, snapshot: Snapshot) -> str:
        """The key of the skill's settings: the one in use already, else its name."""
        declared = _find_declared_key(snapshot.find(self.name))
        override = snapshot.settings.find_override(declared, self.name)
        return self.name if override is None else override[0]

    def render_reason(self, outcome: Outcome) -> str:
        """Why a skill is in its state, and the file that says so."""
        if outcome.origin is None:
            return outcome.reason or ""
        return f"{outcome.reason} ({self.shorten(str(outcome.origin))})"

    def shorten(self, path: str) -> str:
        return shorten_path(path, cwd=self.skills.cwd, home=self.skills.facts.home)


# Prowess's own settings

# Lists that a skill can be in by its name: the setting, and its key in prowess.toml.
_LISTS = {"disabled_extensions": "disabled", "ignored": "ignore"}

_ADVICE = {
    "enabled": "Set `enabled = true` there.",
    "ignored": "Change the pattern there, or rename the skill.",
    "included": "Add the skill to that list.",
    "disabled_extensions": "Remove the skill from that list.",
    "disabled_providers": "Remove the provider from that list.",
    "every source toggle is off": "Turn one of them on there.",
    "allowed_bundled": "Add the skill to that list.",
}


class _OwnPlanner(_SwitchPlanner):
    """Plans edits of prowess.toml: in the user's file, or in those of the project."""

    def plan(self, *, enabled: bool) -> SwitchPlan:
        target = self._choose_file()
        undone: tuple[UndoneSetting, ...] = ()
        if enabled and self._is_disabled():
            undone = tuple(self._remove_obstacles(target))
        else:
            # Also for a skill that is enabled already: the line keeps it so, whatever other
            # settings say later.
            old = self.files.load_text(target)
            new = set_skill_enabled(old, self.name, enabled=enabled, file=target)
            self.files.edit(target, old, new)
        texts = self.files.texts
        # The obstacles may all have been in other files than the one that new lines go into.
        shown = target if target in texts else next(iter(texts), target)
        return SwitchPlan(texts, shown, not self.files.is_on_disk(shown), undone)

    def plan_visibility(self, wanted: Visibility) -> SwitchPlan:
        target = self._choose_file()
        undone: tuple[UndoneSetting, ...] = ()
        if self._is_disabled():
            undone = tuple(self._remove_obstacles(target))
        # The obstacle may have been the visibility itself, so look again before writing it.
        snapshot = self.scan()
        outcome = snapshot.find(self.name)
        if outcome is not None and find_visibility(outcome, snapshot) != wanted:
            key = self.find_override_key(snapshot)
            old = self.files.load_text(target)
            self.files.edit(target, old, set_skill_visibility(old, key, wanted, file=target))
            self.check_visibility(wanted)
        return SwitchPlan(self.files.texts, target, not self.files.is_on_disk(target), undone)

    def _choose_file(self) -> str:
        return choose_own_file(self.skills.profile, self.places, self.files, user=self.user)

    def _is_disabled(self) -> bool:
        outcome = self.skills.snapshot.find(self.name)
        return outcome is not None and outcome.state is State.DISABLED

    def _remove_obstacles(self, target: str) -> list[UndoneSetting]:
        """Edit whatever disables this skill by its name, until nothing does."""
        undone: list[UndoneSetting] = []
        # A scan names only the strongest obstacle; the next one shows once that is gone.
        while True:
            snapshot = self.scan()
            outcome = snapshot.find(self.name)
            if outcome is None or outcome.state is not State.DISABLED:
                return undone
            obstacle = self._find_obstacle(outcome, snapshot, target)
            if obstacle is None or len(undone) == _MOST_EDITS:
                raise self._explain(outcome, snapshot)
            # An edit that changes nothing would find the same obstacle again, forever.
            if not self._undo(obstacle, outcome):
                raise self._explain(outcome, snapshot)
            undone.append(obstacle)

    def _find_obstacle(
        self, outcome: Outcome, snapshot: Snapshot, target: str
    ) -> UndoneSetting | None:
        """The setting to change; None where it is not ours or covers more than this skill."""
        origin, rule = outcome.origin, outcome.rule or ""
        if origin is None or not self._may_write(origin.file, snapshot, target):
            return None
        if rule in _LISTS:
            # An entry may also be a pattern, which covers other skills too; the reason quotes the
            # entry that matched.
            entries_for_it = (f"`{outcome.name}`", f"`skill:{outcome.name}`")
            is_for_it_alone = (outcome.reason or "").endswith(entries_for_it)
            if not is_for_it_alone:
                return None
            return UndoneSetting(_LISTS[rule], str(origin.file), origin.line)
        if not rule.startswith("overrides."):
            return None
        override = snapshot.settings.overrides[rule.removeprefix("overrides.")]
        if override.enabled is False:
            return UndoneSetting("enabled", target, None)
        return UndoneSetting("visibility", str(origin.file), origin.line)

    def _may_write(self, file: str | None, snapshot: Snapshot, target: str) -> bool:
        if not self._is_own_file(file):
            return False
        # `--user` does not change what a project shares with others, and the reverse.
        is_users = file not in snapshot.settings.project_files
        return is_users == self.user or file == target

    def _is_own_file(self, file: str | None) -> bool:
        return any(path == file and rule.is_own for path, rule in self.settings_files)

    def _undo(self, obstacle: UndoneSetting, outcome: Outcome) -> bool:
        file, key = obstacle.file, (outcome.rule or "").removeprefix("overrides.")
        old = self.files.load_text(file)
        if obstacle.setting == "enabled":
            new = set_skill_enabled(old, key, enabled=True, file=file)
        elif obstacle.setting == "visibility":
            new = set_skill_visibility(old, key, "on", file=file)
        else:
            names = (outcome.name, f"skill:{outcome.name}")
            new = remove_entries(old, obstacle.setting, names, file=file)
        return self.files.edit(file, old, new)

    def _explain(self, outcome: Outcome, snapshot: Snapshot) -> UsageError:
        stays = f"“{outcome.name}” stays disabled: {self.render_reason(outcome)}."
        return UsageError(f"{stays} {self._advise(outcome, snapshot)} Nothing was written.")

    def _advise(self, outcome: Outcome, snapshot: Snapshot) -> str:
        rule, origin = outcome.rule or "", outcome.origin
        if origin is None:
            return self._advise_without_file(outcome)
        is_by_name = rule.startswith("overrides.") or rule == "disabled_extensions"
        if is_by_name and self._is_in_other_file(origin.file, snapshot):
            option = "" if self.user else " --user"
            return f"`prowess enable {outcome.name}{option}` changes that file."
        return _ADVICE.get(rule, "Enable it there.")

    def _is_in_other_file(self, file: str | None, snapshot: Snapshot) -> bool:
        """Whether the same command for the project in place of the user, or reversed, would do."""
        is_in_project = file in snapshot.settings.project_files
        return self._is_own_file(file) and is_in_project == self.user

    def _advise_without_file(self, outcome: Outcome) -> str:
        disabled_by = outcome.candidate.root.disabled_by
        if disabled_by is None:
            return f"Remove that line from {self.shorten(outcome.candidate.location)}."
        # An option or a variable has one word; anything longer is a sentence of its own.
        return f"Change {disabled_by}." if " " not in disabled_by else "Change that."


# A host's settings

_OFF = (State.DISABLED, State.DENIED)


class _SwitchFile(msgspec.Struct, frozen=True):
    """A settings file of a host that can switch one skill."""

    path: str
    rule: SettingsFileRule
    switch: Switch


class _HostPlanner(_SwitchPlanner):
    """Plans edits of a host's own settings files."""

    def plan(self, *, enabled: bool) -> SwitchPlan:
        candidates = self._list_files()
        if not candidates:
            raise UsageError(
                f"{self._title} has no setting for a single skill. Nothing was written."
            )
        target = self._choose_file(candidates)
        if enabled:
            return self._plan_enabling(target, candidates)
        return self._plan_disabling(target)

    def plan_visibility(self, wanted: Visibility) -> SwitchPlan:
        candidates = [one for one in self._list_files() if one.switch.setting == "visibility"]
        if not candidates and wanted == "on":
            return self.plan(enabled=True)
        if not candidates:
            raise UsageError(
                f"{self._title} can only switch a skill on and off. Nothing was written."
            )
        target = self._choose_file(candidates)
        key = self.find_override_key(self.skills.snapshot)
        old = self.files.load_text(target.path)
        new = target.switch.set_visibility(old, key, wanted, file=target.path)
        self.files.edit(target.path, old, new)
        self.check_visibility(wanted)
        return self._finish(target, key)

    def _plan_disabling(self, target: _SwitchFile) -> SwitchPlan:
        key = self._find_key(self.skills.snapshot, target.switch)
        self._set(target, key, enabled=False)
        outcome = self.scan().find(self.name)
        if outcome is not None and not _is_off(outcome.state):
            raise self._explain(outcome, f"would still be {outcome.state.value}")
        return self._finish(target, key)

    def _plan_enabling(self, target: _SwitchFile, candidates: list[_SwitchFile]) -> SwitchPlan:
        shown, key = target, self.name
        # Several files may each have it off, and a scan names one of them at a time.
        for _ in range(_MOST_EDITS + 1):
            snapshot = self.scan()
            outcome = snapshot.find(self.name)
            if outcome is None or outcome.state not in _OFF:
                return self._finish(shown, key)
            decided_in = None if outcome.origin is None else outcome.origin.file
            shown = next((one for one in candidates if one.path == decided_in), target)
            key = self._find_key(snapshot, shown.switch)
            # Another setting, such as a list of allowed skills, is not changed for one of them.
            if not _is_decided_by(outcome, shown.switch):
                break
            # An edit that changes nothing would find the same again.
            if not self._set(shown, key, enabled=True):
                break
        assert outcome is not None
        raise self._explain(outcome, f"stays {outcome.state.value}")

    def _finish(self, shown: _SwitchFile, name: str) -> SwitchPlan:
        created = not self.files.is_on_disk(shown.path)
        return SwitchPlan(self.files.texts, shown.path, created, key=name_key(shown.switch, name))

    def _set(self, file: _SwitchFile, name: str, *, enabled: bool) -> bool:
        old = self.files.load_text(file.path)
        new = file.switch.set(old, name, enabled=enabled, file=file.path)
        return self.files.edit(file.path, old, new)

    def _find_key(self, snapshot: Snapshot, switch: Switch) -> str:
        """The skill's name in the settings: the one in use already, else its own key."""
        outcome = snapshot.find(self.name)
        if outcome is None or switch.setting not in ("overrides", "override_list"):
            return self.name
        rule = outcome.rule or ""
        if rule.startswith("overrides."):
            return rule.removeprefix("overrides.")
        # Only a table of overrides knows the key that a header can give its skill.
        if switch.setting != "overrides":
            return self.name
        return _find_declared_key(outcome) or self.name

    def _list_files(self) -> list[_SwitchFile]:
        """The files to choose from: the project's or the user's; all if the host has one kind."""
        with_switch = []
        for path, rule in self.settings_files:
            if not may_edit(path, rule, self.top):
                continue
            switch = find_switch(rule)
            if switch is not None:
                with_switch.append(_SwitchFile(path, rule, switch))
        of_the_kind = [one for one in with_switch if one.rule.is_project != self.user]
        return of_the_kind or with_switch

    def _choose_file(self, candidates: list[_SwitchFile]) -> _SwitchFile:
        """The strongest file that exists; else the one to create, at the top of the project."""
        by_path = {one.path: one for one in candidates}
        existing = self.files.find_strongest(list(by_path))
        if existing is not None:
            return by_path[existing]
        at_top = [one for one in candidates if posixpath.dirname(one.path) == self.top]
        possible = at_top or candidates
        # Every other tool can read plain JSON too.
        plain = [one for one in possible if not one.path.endswith(".jsonc")]
        return (plain or possible)[-1]

    @property
    def _title(self) -> str:
        return self.skills.profile.title or self.skills.profile.name

    def _explain(self, outcome: Outcome, what: str) -> UsageError:
        reason = f": {self.render_reason(outcome)}" if outcome.reason else ""
        return UsageError(f"“{outcome.name}” {what} in {self._title}{reason}. Nothing was written.")


def _is_off(state: State) -> bool:
    # States that are decided before `disabled`, such as `invalid`, are off for good.
    return state in _OFF or state.rank < State.DISABLED.rank


# Settings that are lists of disabled skills; both fill the same field.
_DISABLED_LISTS = ("disabled_extensions", "disabled")


def _is_decided_by(outcome: Outcome, switch: Switch) -> bool:
    """Whether the switch is what keeps the skill off."""
    if switch.setting == "permissions":
        return outcome.state is State.DENIED
    rule = outcome.rule or ""
    if rule.startswith("overrides."):
        return switch.setting not in _DISABLED_LISTS
    if rule == "disabled_extensions":
        return switch.setting in _DISABLED_LISTS
    return rule == switch.setting
