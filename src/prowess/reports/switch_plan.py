"""What has to change in our own settings so that a skill is no longer disabled, found before
anything is written.
"""

from __future__ import annotations

import msgspec

from prowess.cli.terminal.out import shorten_path
from prowess.errors import UsageError
from prowess.machine.files import LocalFiles
from prowess.model.outcome import Outcome, State
from prowess.model.settings import Settings
from prowess.ports import Head
from prowess.runtime import Skills
from prowess.settings.edit.prowess_toml import set_skill_enabled, set_skill_visible
from prowess.settings.edit.toml_list import remove_entries
from prowess.settings.load import MOST_BYTES, list_settings_places

# Lists in which a skill can stand by its name: the setting, and its key in prowess.toml.
_LISTS = {"disabled_extensions": "disabled", "ignored": "ignore"}
# Each change takes one obstacle away; more than a few mean that one comes back.
_MOST_CHANGES = 20

_ADVICE = {
    "enabled": "Set `enabled = true` there.",
    "ignored": "Change the pattern there, or rename the skill.",
    "included": "Add the name to the list there.",
    "disabled_extensions": "Take it off the list there.",
    "disabled_providers": "Take the provider off the list there.",
    "every source toggle is off": "Switch one of them on there.",
    "allowed_bundled": "Add the name to the list there.",
}


class Undone(msgspec.Struct, frozen=True):
    """One change: what it sets or takes away, in which file and, where it stood there, on which
    line.
    """

    setting: str
    file: str
    line: int | None


class Plan(msgspec.Struct, frozen=True):
    """The new text of each file that has to change, and the changes in their order."""

    texts: dict[str, str]
    undone: tuple[Undone, ...]


def plan_enabling(skills: Skills, host: str, name: str, target: str, *, user: bool) -> Plan:
    """What to write so that a disabled skill no longer is: in the user's own file, or in those of
    the project.

    Raises a `UsageError` that names what keeps it disabled, where that is not for these files to
    change.
    """
    files = Edited()
    own = [
        path
        for path, rule in list_settings_places(skills.profile, skills.find_places())
        if rule.is_own
    ]
    undone: list[Undone] = []
    while True:
        snapshot = Skills(skills.cwd, host=host, files=files).snapshot
        outcome = snapshot.find(name)
        if outcome is None or outcome.state is not State.DISABLED:
            return Plan(files.texts, tuple(undone))
        writable = [
            path
            for path in own
            if (path not in snapshot.settings.project_files) == user or path == target
        ]
        change = _find_change(outcome, snapshot.settings, target, writable)
        if change is None or len(undone) == _MOST_CHANGES or not files.change(change, outcome):
            raise _explain(outcome, snapshot.settings, own, cwd=skills.cwd, user=user)
        undone.append(change)


def _find_change(
    outcome: Outcome, settings: Settings, target: str, writable: list[str]
) -> Undone | None:
    origin, rule = outcome.origin, outcome.rule or ""
    if origin is None or origin.file not in writable:
        return None
    key = _LISTS.get(rule)
    if key is not None:
        # A pattern that stands for more than this skill is not ours to change.
        is_exact = (outcome.reason or "").endswith((f"`{outcome.name}`", f"`skill:{outcome.name}`"))
        return Undone(key, origin.file, origin.line) if is_exact else None
    if not rule.startswith("overrides."):
        return None
    if settings.overrides[rule.removeprefix("overrides.")].enabled is False:
        return Undone("enabled", target, None)
    return Undone("visibility", origin.file, origin.line)


def _explain(
    outcome: Outcome, settings: Settings, own: list[str], *, cwd: str, user: bool
) -> UsageError:
    rule, origin = outcome.rule or "", outcome.origin
    where = f" ({shorten_path(str(origin), cwd)})" if origin is not None else ""
    said = f"“{outcome.name}” stays disabled: {outcome.reason}{where}."
    if origin is None:
        return UsageError(f"{said} {_advise_without_file(outcome, cwd)} Nothing was written.")
    advice = _ADVICE.get(rule, "Switch it on there.")
    is_named = rule.startswith("overrides.") or rule == "disabled_extensions"
    if is_named and origin.file in own and (origin.file in settings.project_files) == user:
        option = "" if user else " --user"
        advice = f"`prowess enable {outcome.name}{option}` changes that file."
    return UsageError(f"{said} {advice} Nothing was written.")


def _advise_without_file(outcome: Outcome, cwd: str) -> str:
    if outcome.candidate.root.disabled_by is not None:
        by = outcome.candidate.root.disabled_by
        return f"Change {by}." if " " not in by else "Change that."
    return f"Remove that line from {shorten_path(outcome.candidate.location, cwd)}."


class Edited(LocalFiles):
    """The disk as it would be after the changes."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def find_kind(self, path: str) -> str | None:
        """A file that is to be written is there."""
        return "file" if path in self.texts else super().find_kind(path)

    def read_head(self, path: str, limit: int) -> Head:
        """The new text of a file that is to be written."""
        if path not in self.texts:
            return super().read_head(path, limit)
        data = self.texts[path].encode()
        return Head(data[:limit], len(data), 1, (0, 0, len(data), 0))

    def load(self, path: str) -> str:
        """The text of a file as it would be; empty where there is none."""
        return (
            "" if self.find_kind(path) is None else self.read_head(path, MOST_BYTES).data.decode()
        )

    def change(self, change: Undone, outcome: Outcome) -> bool:
        """Make a change; whether that made a difference."""
        file, name = change.file, (outcome.rule or "").removeprefix("overrides.")
        old = self.load(file)
        if change.setting == "enabled":
            new = set_skill_enabled(old, name, enabled=True, file=file)
        elif change.setting == "visibility":
            new = set_skill_visible(old, name, file=file)
        else:
            new = remove_entries(
                old, change.setting, (outcome.name, f"skill:{outcome.name}"), file=file
            )
        self.texts[file] = new
        return new != old
