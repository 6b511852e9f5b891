"""What is in the folder of a plugin: its manifest, and the folders and files that it names.

A manifest is untrusted input. It is bounded in size and depth, and every path in it must lead to
something inside the plugin, links included. What is wrong costs only itself and is a diagnostic.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.links import is_inside
from prowess.discover.plugins.json_tables import (
    ManifestError,
    find_json,
    get_list,
    get_text,
    read_json,
)
from prowess.errors import name_cause
from prowess.model.plugin import PluginFolder, PluginParts
from prowess.ports import FileSystem

# Nobody lists more folders than this by hand.
_MOST_PATHS = 500
_MOST_NAME = 64
# A name becomes part of an id (`@`), of the names of skills (`:`), of a path, and of markup.
_REFUSED_IN_NAME = frozenset(" /\\:@<>\"'`")

STANDARD_SCHEMAS = "https://agent-plugins.org/schemas/"
STANDARD_SCHEMA = f"{STANDARD_SCHEMAS}1.0.0/plugin.schema.json"
_STANDARD_NAME = r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?"
_STANDARD_TEXTS = ("version", "description", "homepage", "repository", "license")
_STANDARD_FIELDS = frozenset(
    ("$schema", "name", "author", "keywords", "extensions", *_STANDARD_TEXTS)
)

MARKETPLACE_FILES = (
    "marketplace.json",
    ".omp-plugin/marketplace.json",
    ".claude-plugin/marketplace.json",
)

# The source of a plugin that is the whole folder of its marketplace.
_WHOLE = ("./", ".")


class ReadPlugin(PluginParts, frozen=True, kw_only=True):
    """The folder of a plugin as it was read.

    `name` is what its manifest calls it, `default` whether it is on where no setting says so, and
    `problem` why it cannot be used.
    """

    name: str = ""
    default: bool = True
    problem: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def find_name_problem(name: object) -> str | None:
    """Why a plugin can't have this name; None if it can."""
    if not isinstance(name, str) or not name:
        return "it has no name"
    if len(name) > _MOST_NAME:
        return f"its name has {len(name)} characters; at most {_MOST_NAME} are allowed"
    has_refused = not _REFUSED_IN_NAME.isdisjoint(name) or not name.isprintable()
    if has_refused or name.startswith("."):
        return f"its name is {name!a}; letters, digits, `-`, `_` and `.` are allowed"
    return None


def read_plugin(
    folder: str,
    manifests: Sequence[str],
    files: FileSystem,
    *,
    needs_manifest: bool = False,
    ignore_broken: bool = False,
    follow_links: bool = False,
    entry: Mapping[str, Any] | None = None,
) -> ReadPlugin:
    """What a plugin's folder has. `entry` is what a marketplace says of it.

    A manifest that is no JSON table rejects the plugin, or counts as none (`ignore_broken`). With
    `follow_links` the usual folder of skills may be a link out of the plugin.
    """
    reader = _FolderReader(folder, files, ignore_broken=ignore_broken, follow_links=follow_links)
    for name in manifests:
        path = f"{folder}/{name}"
        if files.find_kind(path) != "file":
            continue
        parts = reader.read_manifest(path, name, entry)
        if parts is not None:
            return parts
    if needs_manifest:
        return ReadPlugin(problem="it has no manifest")
    if entry is not None:
        return reader.read_host(entry, manifest=None)
    return msgspec.structs.replace(reader.read_host({}, manifest=None), format="plain")


class _FolderReader:
    """Reads one plugin. `findings` are what is wrong with it so far."""

    def __init__(
        self, folder: str, files: FileSystem, *, ignore_broken: bool, follow_links: bool
    ) -> None:
        self._folder = folder
        self._files = files
        self._ignore_broken = ignore_broken
        self._follow_links = follow_links
        self._manifest: str | None = None
        self._real = files.find_real_path(folder)
        self.findings: list[Diagnostic] = []

    def read_manifest(
        self, path: str, name: str, entry: Mapping[str, Any] | None
    ) -> ReadPlugin | None:
        """What a manifest says; None if it is not for this kind of plugin."""
        if not self._is_contained(path):
            self._note_outside(path, name)
            return None
        self._manifest = path
        try:
            data = read_json(self._files, path)
        except (OSError, ManifestError) as error:
            # A `plugin.json` that cannot be read says nowhere that it is of Agent Plugins.
            is_ignored = self._ignore_broken or name == "plugin.json"
            return self._reject(path, error, is_ignored=is_ignored)
        read = _READERS.get(name, _FolderReader.read_host)
        try:
            parts = read(self, _join_entry(entry, data), manifest=path)
        except ManifestError as error:
            return self._reject(path, error)
        if parts is None:
            return None
        return msgspec.structs.replace(parts, diagnostics=tuple(self.findings))

    def _reject(
        self, path: str, error: OSError | ManifestError, *, is_ignored: bool = False
    ) -> ReadPlugin | None:
        """A plugin that cannot be used; None if only its manifest counts for nothing."""
        cause = name_cause(error)
        if is_ignored:
            self._note("plugin-manifest-ignored", f"The manifest is ignored: {cause}.")
            return None
        message = f"The plugin cannot be used: {cause}."
        finding = diagnose("plugin-invalid", message, file=path)
        findings = (*self.findings, finding)
        return ReadPlugin(manifest=path, problem=cause, diagnostics=findings)

    def read_host(self, data: Mapping[str, Any], *, manifest: str | None) -> ReadPlugin:
        """A plugin in Claude Code's shape, which other hosts follow."""
        self._manifest = manifest
        skills = list(self._list_declared(data, "skills"))
        # Plugins that are each the whole marketplace share one `skills` folder, and list their own.
        if not skills or data.get("source") not in _WHOLE:
            usual = self._find_default("skills", "folder", may_leave=self._follow_links)
            skills = [*map(PluginFolder, usual), *skills]
        commands = list(self._list_declared(data, "commands"))
        agents = [one.path for one in self._list_declared(data, "agents")]
        hooks, inline_hooks = self._split_inline(data.get("hooks"), "hooks")
        servers, inline_servers = self._split_inline(data.get("mcpServers"), "mcpServers")
        inline = {"hooks": inline_hooks, "mcpServers": inline_servers}
        # A manifest adds folders of skills; for commands and agents it replaces the usual ones.
        usual_commands = map(PluginFolder, self._find_default("commands", "folder"))
        return ReadPlugin(
            name=get_text(data, "name"),
            manifest=manifest,
            format="host",
            version=get_text(data, "version"),
            description=get_text(data, "description"),
            skills=_drop_repeated(skills),
            commands=_drop_repeated(commands or usual_commands),
            agents=tuple(agents or self._find_default("agents", "folder")),
            hook_files=(*self._find_default("hooks/hooks.json", "file"), *hooks),
            server_files=(*self._find_default(".mcp.json", "file"), *servers),
            inline={key: value for key, value in inline.items() if value},
            default=data.get("defaultEnabled") is not False,
            diagnostics=tuple(self.findings),
        )

    def read_standard(self, data: Mapping[str, Any], *, manifest: str | None) -> ReadPlugin | None:
        """A plugin as Agent Plugins 1.0 has it; None if the file is for something else.

        Most mistakes in its manifest reject the plugin; fields that it does not know do not.
        """
        schema = data.get("$schema")
        if not isinstance(schema, str) or not schema.startswith(STANDARD_SCHEMAS):
            return None
        self._manifest = manifest
        problem = _find_standard_problem(data)
        if problem is not None:
            raise ManifestError(problem)
        for field in sorted(data.keys() - _STANDARD_FIELDS):
            self._note("plugin-field-unknown", f"Unknown field `{field[:64]}`; it is ignored.")
        if not isinstance(data.get("extensions", {}), dict):
            self._note("plugin-field-unknown", "`extensions` must be a table; it is ignored.")
        skills = self._find_default("skills", "folder")
        return ReadPlugin(
            name=data["name"],
            manifest=manifest,
            format="standard",
            version=get_text(data, "version"),
            description=get_text(data, "description"),
            skills=tuple(PluginFolder(path) for path in skills),
            server_files=tuple(self._find_default("mcp.json", "file")),
        )

    def read_package(self, data: Mapping[str, Any], *, manifest: str | None) -> ReadPlugin:
        """An npm package whose `omp` or `pi` table may list folders of skills."""
        self._manifest = manifest
        table = data.get("pi") if data.get("omp") is None else data["omp"]
        plain = msgspec.structs.replace(
            self.read_host({}, manifest=manifest),
            format="plain",
            name=_name_package(get_text(data, "name")),
            version=get_text(data, "version"),
            description=get_text(data, "description"),
            hook_files=(),
        )
        if not isinstance(table, dict):
            return plain
        described = msgspec.structs.replace(plain, format="package")
        if "skills" not in table:
            return described
        # As in the release, a list replaces the usual folder, and one that is no list is empty.
        listed = self._list_declared({"skills": get_list(table, "skills")}, "skills")
        return msgspec.structs.replace(described, skills=_drop_repeated(listed))

    def read_openclaw(self, data: Mapping[str, Any], *, manifest: str | None) -> ReadPlugin:
        """OpenClaw's own manifest. Only the folders of skills that it lists count."""
        self._manifest = manifest
        return ReadPlugin(
            name=get_text(data, "id") or get_text(data, "name"),
            manifest=manifest,
            format="host",
            version=get_text(data, "version"),
            description=get_text(data, "description"),
            skills=_drop_repeated(self._list_declared(data, "skills")),
        )

    # Paths

    def _find_default(self, name: str, kind: str, *, may_leave: bool = False) -> Iterator[str]:
        """The usual place of a part, if it is there and inside the plugin."""
        path = f"{self._folder}/{name}"
        if self._files.find_kind(path) != kind:
            return
        if may_leave or self._is_contained(path):
            yield path
        else:
            self._note_outside(path, name)

    def _list_declared(self, data: Mapping[str, Any], field: str) -> Iterator[PluginFolder]:
        """The places that a manifest names in a field, each a string or a list of strings."""
        for text in self._list_texts(data.get(field), field):
            path = self._resolve(text, field)
            if path is not None:
                yield PluginFolder(path, is_declared=True)

    def _list_texts(self, given: Any, field: str) -> Iterator[str]:
        items = _list_items(given)
        if len(items) > _MOST_PATHS:
            self._note(
                "limit-reached",
                f"`{field}` lists more than {_MOST_PATHS} paths; the rest is ignored.",
            )
        for item in items[:_MOST_PATHS]:
            if isinstance(item, str) and item.strip():
                yield item.strip()
            else:
                self._note("plugin-invalid", f"`{field}` must be a path or a list of paths.")

    def _resolve(self, text: str, field: str) -> str | None:
        """A path of a manifest as an absolute path; None, with a finding, if it leads outside."""
        path = posixpath.normpath(posixpath.join(self._folder, text))
        # A backslash separates folders on Windows, so that `..\\x` leads out there.
        is_plain = "\0" not in text and "\\" not in text
        is_below = is_plain and is_inside(path, (self._folder,))
        if not is_below or not self._is_contained(path):
            self._note_outside(self._manifest or self._folder, text, field)
            return None
        return path

    def _is_contained(self, path: str) -> bool:
        """Whether a path is inside the plugin, with every link followed."""
        real = self._files.find_real_path(path)
        # What does not exist leads nowhere; searching it finds nothing.
        return real is None or is_inside(real, (self._real,))

    def _split_inline(self, given: Any, field: str) -> tuple[list[str], Any]:
        """The files that a field names, and the table that it has itself."""
        if isinstance(given, dict):
            return [], given
        paths: list[str] = []
        inline: dict[str, Any] = {}
        for item in _as_list(given):
            if isinstance(item, dict):
                inline |= item
            elif item is not None:
                paths += [one.path for one in self._list_declared({field: item}, field)]
        return paths, inline

    # Findings

    def _note(self, code: str, message: str) -> None:
        self.findings.append(diagnose(code, message, file=self._manifest or self._folder))

    def _note_outside(self, file: str, text: str, field: str = "") -> None:
        named = ascii(text[:200])
        message = f"{named} leads outside the plugin; it is ignored."
        if field:
            message = f"`{field}` names {named}, which is outside the plugin; it is ignored."
        self.findings.append(diagnose("plugin-path-outside", message, file=file))


_READERS = {
    "plugin.json": _FolderReader.read_standard,
    "package.json": _FolderReader.read_package,
    "openclaw.plugin.json": _FolderReader.read_openclaw,
}


def _join_entry(entry: Mapping[str, Any] | None, data: dict[str, Any]) -> dict[str, Any]:
    """What a marketplace and the plugin itself say; both may list skills."""
    if entry is None:
        return data
    joined = {**entry, **data}
    if "skills" in entry and "skills" in data:
        joined["skills"] = [*_as_list(data["skills"]), *_as_list(entry["skills"])]
    return joined


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _list_items(given: Any) -> list[Any]:
    """What a field lists: a list, one thing, or nothing."""
    if given is None:
        return []
    if isinstance(given, dict):
        # Claude Code also takes a table of commands, each with its file as `source`.
        return [one.get("source") for one in given.values() if isinstance(one, dict)]
    return _as_list(given)


def _name_package(name: str) -> str:
    """`@scope/name` → scope-name, which can come before the name of a skill."""
    return name.removeprefix("@").replace("/", "-")


def _drop_repeated(folders: Iterable[PluginFolder]) -> tuple[PluginFolder, ...]:
    return tuple({one.path: one for one in reversed(list(folders))}.values())[::-1]


def _find_standard_problem(data: Mapping[str, Any]) -> str | None:
    """What rejects a manifest of Agent Plugins 1.0; None if nothing does."""
    if data["$schema"] != STANDARD_SCHEMA:
        return f"its version of Agent Plugins is not known ({data['$schema'][:100]})"
    name = str(data.get("name"))
    is_text = name == data.get("name")
    if not is_text or not _is_standard_name(name):
        return f"its name is {name[:100]!a}, which Agent Plugins does not allow"
    given = [field for field in _STANDARD_TEXTS if field in data]
    wrong = [field for field in given if not isinstance(data[field], str)]
    if wrong:
        return f"`{wrong[0]}` must be a string"
    if not _is_texts(data.get("keywords", [])):
        return "`keywords` must be a list of strings"
    return _find_author_problem(data.get("author", {}))


def _is_standard_name(name: str) -> bool:
    has_shape = re.fullmatch(_STANDARD_NAME, name) is not None and len(name) <= _MOST_NAME
    has_double = "--" in name or ".." in name
    return has_shape and not has_double


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _find_author_problem(author: Any) -> str | None:
    if not isinstance(author, dict):
        return "`author` must be a table"
    for field, value in author.items():
        if field not in ("name", "email", "url"):
            return f"`author` has the unknown field `{field[:64]}`"
        if not isinstance(value, str):
            return f"`author.{field}` must be a string"
    return None


def find_marketplace_entry(folder: str, plugin: str, files: FileSystem) -> dict[str, Any] | None:
    """What a marketplace in the same folder says of a plugin that is the whole marketplace."""
    for name in MARKETPLACE_FILES:
        data = find_json(files, f"{folder}/{name}")
        for entry in get_list(data, "plugins"):
            if _is_whole(entry, plugin):
                return dict(entry)
    return None


def _is_whole(entry: Any, plugin: str) -> bool:
    """Whether an entry is about this plugin, and its folder that of the marketplace."""
    if not isinstance(entry, dict):
        return False
    return entry.get("name") == plugin and entry.get("source") in _WHOLE
