"""Add servers to the user's own prowess.toml, and remove them."""

from __future__ import annotations

from typing import Any

from prowess.errors import MachineError, SettingError, UsageError, nearest_names
from prowess.machine.atomic_write import rewrite_aside
from prowess.machine.facts import current_facts
from prowess.machine.http_client import FetchError, check_url
from prowess.model.facts import Facts
from prowess.model.settings import RemoteSettings
from prowess.ports import FileSystem
from prowess.project.host_view import open_view
from prowess.settings.edit.toml import add_table, remove_table
from prowess.settings.formats.toml import parse_toml
from prowess.settings.load import MOST_BYTES, list_settings_places
from prowess.settings.read.coercion import SOURCE_NAME_RULE, is_source_name
from prowess.settings.read.settings_file import read_settings
from prowess.state.remote_cache import RemoteCache
from prowess.supply.configured_indexes import ConfiguredIndex
from prowess.supply.remote_sync import find_private_hosts


def add_source(name: str, url: str, *, facts: Facts | None = None) -> str:
    """Add a server under a name of your choice; returns the file. Raises `UsageError`."""
    if not is_source_name(name):
        raise UsageError(f"“{name}” cannot be the name of a source: {SOURCE_NAME_RULE}.")
    own = _OwnSettings(facts or current_facts())
    before = own.load()
    if name in before:
        raise UsageError(f"There is already a source “{name}”, with the URL {before[name].url}.")
    try:
        # The same check as at a fetch, so that nothing is added that could never be asked.
        check_url(url, find_private_hosts(ConfiguredIndex(name=name, url=url)))
    except FetchError as error:
        raise UsageError(f"This URL cannot be a source: {error.message}.") from error
    text = add_table(own.text, ("sources", name), {"url": url}, file=own.file)
    own.write(text)
    return own.file


def remove_source(name: str, *, facts: Facts | None = None) -> str:
    """Remove a server, with what was fetched from it; returns the file. Raises `UsageError`."""
    own = _OwnSettings(facts or current_facts())
    # Not checked: an entry that no command can read must be removable, too.
    before = own.parse_tables()
    if name not in before:
        nearest = nearest_names(name, before)
        hint = f" Did you mean {' or '.join(nearest)}?" if nearest else ""
        raise UsageError(f"Your own prowess.toml has no source “{name}”.{hint}")
    own.write(remove_table(own.text, ("sources", name), file=own.file))
    url = before[name].get("url") if isinstance(before[name], dict) else None
    if isinstance(url, str):
        RemoteCache.of(own.facts, "any", url).remove()
    return own.file


class _OwnSettings:
    """The user's own prowess.toml."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        view = open_view(facts.home, "prowess", facts=facts)
        self._places = view.find_places()
        listed = list_settings_places(view.profile, self._places)
        # Only the user's own file is edited; what a project names belongs to the project.
        self.file, self._rule = next(one for one in listed if not one[1].is_project)
        self.text = _load_text(self.file, view.files)

    def load(self) -> dict[str, RemoteSettings]:
        """The servers in it, by name. Raises a `SettingError`."""
        found = read_settings(self.text, self.file, self._rule, self._places, profile="prowess")
        return {path[1]: value for path, (value, _) in found.values.items() if path[0] == "sources"}

    def parse_tables(self) -> dict[str, Any]:
        """The tables of servers as written, by name. Raises a `SettingError` if it is not TOML."""
        tables = parse_toml(self.text, self.file).get("sources", {})
        return tables if isinstance(tables, dict) else {}

    def write(self, text: str) -> None:
        rewrite_aside(self.file, text.encode())


def _load_text(file: str, files: FileSystem) -> str:
    if files.find_kind(file) is None:
        return ""
    try:
        head = files.read_head(file, MOST_BYTES)
        text = head.data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MachineError("read", file, str(error)) from error
    # The text is written back, and what was not read would be lost.
    if head.size > MOST_BYTES:
        problem = f"the file has {head.size:,} bytes; at most {MOST_BYTES:,} are read"
        raise SettingError(file, None, None, problem)
    return text
