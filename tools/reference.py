"""Write the reference pages from the program itself: commands, settings, codes, profile keys, the
public names.

`--check` writes nothing and fails where a page in `docs/reference` is not what would be written.
"""

from __future__ import annotations

import argparse
import enum
import inspect
import json
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
_NOTICE = "<!-- Written by `make docs`; edit the program, not this page. -->"


def render_diagnostics() -> str:
    """Every diagnostic code with its severity, meaning and remedy."""
    from prowess.diagnostics import CODES

    rows = [
        (f"`{code}`", what.severity.value, what.summary, what.hint) for code, what in CODES.items()
    ]
    intro = (
        "A diagnostic is a finding about a file. An error keeps a skill from loading, a warning does not, an info "
        "tells what was done. Codes are stable; the words around them are not."
    )
    return _page(
        "Diagnostic codes", intro, _table(("code", "severity", "what it means", "what to do"), rows)
    )


def render_profiles() -> str:
    """Every table and key of a profile, and the hosts that ship."""
    from prowess.profiles.load import known_hosts, load_profile
    from prowess.profiles.schema.profile import Profile

    hosts = [load_profile(name) for name in known_hosts()]
    rows = [
        (
            f"`{host.name}`",
            host.title,
            ", ".join(f"`{edition}`" for edition in host.editions),
            host.provenance.release,
        )
        for host in hosts
    ]
    intro = (
        "A profile is a TOML file with a host's rules. It `extends` another profile and holds what differs; a table "
        "named like one of its `editions` holds what differs in that edition. A key that is not listed here is refused."
    )
    shipped = _table(("host", "what it is", "editions", "release"), rows)
    return _page(
        "Profiles", intro, f"## Hosts that ship\n\n{shipped}", *_struct_sections(Profile, "")
    )


_EXITS = {
    "OK": "Done, and nothing was found that counts as an error.",
    "FOUND_ERRORS": "Done, and errors were found in the files that were looked at.",
    "USAGE": "The request cannot be carried out as it was put: an option, a host, a setting or a profile is wrong.",
    "UNKNOWN_SKILL": "There is no skill of the name that was asked for.",
    "MACHINE": "The machine refused: a file cannot be read or written, a program is missing.",
    "REFUSED": "It is not permitted: a rule, a person or a missing trust stands against it, or the skill's state does.",
    "INTERNAL": "A defect in Prowess.",
    "HUNG_UP": "Stopped, since the terminal is gone (SIGHUP). What was running was ended.",
    "INTERRUPTED": "Stopped by Ctrl-C. What was running was ended.",
    "TERMINATED": "Stopped, since another program asked for it (SIGTERM). What was running was ended.",
}


def render_commands() -> str:
    """Every command with its arguments and options, from the command line itself."""
    import click

    from prowess.cli.app import Exit, build

    root = build()
    context = click.Context(root, info_name="prowess")
    codes = [(str(code.value), _EXITS[code.name]) for code in Exit]
    overview = [_usage(root, context), _help(root), _options(root, context)]
    exits = f"## Exit codes\n\n{_table(('code', 'meaning'), codes)}"
    return _page("Commands", *overview, exits, *_command_sections(root, context))


# What each setting does, by the name that `prowess config --json` has as its `key`.
_SETTINGS = {
    "enabled": "`false` switches every skill off.",
    "toggles": "Switches whole sources on or off, by the name of the toggle.",
    "enabled_providers": "Providers that are read although the host leaves them out by default.",
    "disabled_providers": "Providers that are not read.",
    "disabled_extensions": "Skills that are switched off, each as `skill:NAME`.",
    "ignored": "Patterns of names; a skill that matches one is switched off.",
    "included": "Patterns of names; where there are any, a skill that matches none is switched off.",
    "custom_folders": "Further folders to search.",
    "remote_urls": "Addresses of collections of skills.",
    "plugin_folders": "Folders of plugins whose skills are read.",
    "trusted_links": "Folders that symbolic links may lead to.",
    "workspace": "The folder that the host takes for its workspace.",
    "allowed_bundled": "The bundled skills that are offered; none named means all.",
    "agent_skills": "The skills that the agent gets; not set means all.",
    "skill_commands": "Whether each skill is a slash command too.",
    "shell_commands": "`false` keeps commands inside the bodies of skills from being run.",
    "approvals": "Where the answer “always” is remembered: `memory` or `disk`.",
    "usage": "Whether it is counted how often skills are offered and used.",
    "permissions": "Rules that say which agent may use which skill.",
    "limits": "Bounds on a scan, by the name of a key of [`[limits]`](profiles.md#limits).",
    "budget": "Room for the catalog, by the name of a key of [`[budget]`](profiles.md#budget): `share`, `characters`, "
    "`skills` or `per_item`.",
    "overrides": "What is set for one skill, by its name.",
    "sandbox": "What programs of skills may touch: [`[sandbox]`](#sandbox).",
    "tools": "Programs that the commands of skills can go to, by the name that `command-tool` gives: `command` is the "
    "program and its arguments, with `{argument}` for what was typed.",
}
# Names in a host's `keys` that fill a setting in a way of their own.
_OTHER_TARGETS = {
    "disabled": "`disabled_extensions`, by plain names",
    "visibility": "`overrides.NAME.visibility`",
    "override_list": "`overrides.NAME.enabled`, as a list of tables with `name` or `path`, and `enabled`",
    "no_shell_commands": "`shell_commands`, turned round",
    "declared_tools": "`tools`",
    "raw": "fields that skills may require (`requires.config`)",
}
_NOT_SET_BY_USERS = {
    "raw",
    "origins",
    "entries",
    "files",
    "project_files",
    "diagnostics",
    "api_key_from",
}


def render_settings() -> str:
    """Every setting, the keys of prowess.toml, and the keys of the hosts' own files."""
    from prowess.model.sandbox import SandboxOverride, SandboxSettings
    from prowess.model.settings import Override, Settings
    from prowess.profiles.load import known_hosts, load_profile
    from prowess.settings.read.file_mapping import OWN_KEYS

    intro = "What can be set, and from which file of which host. `prowess config` shows what holds here and why."
    fields = [
        field for field in msgspec.structs.fields(Settings) if field.name not in _NOT_SET_BY_USERS
    ]
    if silent := [field.name for field in fields if field.name not in _SETTINGS]:
        raise SystemExit(f"Say in _SETTINGS of tools/reference.py what {', '.join(silent)} does.")
    rows = [(f"`{field.name}`", _type_words(field.type), _SETTINGS[field.name]) for field in fields]
    parts = [
        f"## Every setting\n\n{_table(('setting', 'value', 'what it does'), rows)}",
        f"## `overrides.NAME`\n\n{_struct_table(Override, leave_out=_NOT_SET_BY_USERS)}",
        f"## `sandbox`\n\n{_struct_table(SandboxSettings)}",
        f"## `sandbox.skills.NAME`\n\n{_struct_table(SandboxOverride)}",
    ]
    for name in known_hosts():
        profile = load_profile(name)
        files = [profile.settings[label] for label in profile.settings_order]
        keys = {key: target for file in files for key, target in (file.keys or OWN_KEYS).items()}
        if files:
            places = "\n".join(
                f"- `{place}` ({file.format})" for file in files for place in file.at
            )
            targets = [
                (f"`{key}`", _OTHER_TARGETS.get(target, f"`{target}`"))
                for key, target in keys.items()
            ]
            parts.append(
                f"## Files of {name}\n\n{places}\n\n{_table(('key in the file', 'setting'), targets)}"
            )
    return _page("Settings", intro, *parts)


def render_api() -> str:
    """Every public name of the library, from its docstring and signature."""
    from tools.api import render_sections

    intro = (
        "Every name that can be imported from `prowess`, and the helpers of `prowess.testing`. The "
        "[guide](../guides/using-the-library.md) shows how they are used together."
    )
    return _page("Library", intro, *render_sections())


PAGES: dict[str, Callable[[], str]] = {
    "api": render_api,
    "commands": render_commands,
    "diagnostics": render_diagnostics,
    "profiles": render_profiles,
    "settings": render_settings,
}


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", _NOTICE, *parts]) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


# Structs


def _struct_sections(struct: type[msgspec.Struct], name: str) -> Iterator[str]:
    """A section for a struct and one for each struct inside it, in the order of their keys."""
    heading = f"## `[{name}]`" if name else "## At the top"
    yield f"{heading}\n\n{inspect.cleandoc(struct.__doc__ or '')}\n\n{_struct_table(struct)}"
    for field in msgspec.structs.fields(struct):
        below = _find_struct(field.type)
        if below is not None:
            path = f"{name}.{field.name}" if name else field.name
            yield from _struct_sections(below, path if below is field.type else f"{path}.NAME")


def _struct_table(struct: type[msgspec.Struct], *, leave_out: Iterable[str] = ()) -> str:
    """The keys of a struct that hold plain values."""
    fields = [field for field in msgspec.structs.fields(struct) if _find_struct(field.type) is None]
    rows = [
        (f"`{field.name}`", _type_words(field.type), _default_words(field))
        for field in fields
        if field.name not in leave_out
    ]
    return _table(("key", "value", "default"), rows)


def _find_struct(kind: Any) -> type[msgspec.Struct] | None:
    """The struct that a value is, or that the values of a table are."""
    candidate = typing.get_args(kind)[-1] if typing.get_origin(kind) in (dict, Mapping) else kind
    return (
        candidate if isinstance(candidate, type) and issubclass(candidate, msgspec.Struct) else None
    )


_WORDS = {
    str: "text",
    bool: "true or false",
    int: "whole number",
    float: "number",
    Any: "anything",
}


def _type_words(kind: Any) -> str:
    """A type in words that someone who writes TOML understands."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in _WORDS:
        return _WORDS[kind]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _choice(member.value for member in kind)
    if origin is typing.Literal:
        return _choice(arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(
            _type_words(argument) for argument in arguments if argument is not types.NoneType
        )
    if origin in (tuple, list):
        item = _type_words(arguments[0])
        return f"list of ({item})" if _is_choice(arguments[0]) else f"list of {item}"
    if _find_struct(kind) is not None:
        return "table by name"
    if origin in (dict, Mapping):
        return f"table of {_type_words(arguments[1])}"
    return str(kind)


def _is_choice(kind: Any) -> bool:
    return typing.get_origin(kind) in (typing.Literal, typing.Union, types.UnionType) or isinstance(
        kind, enum.EnumMeta
    )


def _choice(words: Iterable[Any]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _default_words(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    default = (
        field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    )
    return (
        "none"
        if default is None
        else f"`{json.dumps(msgspec.to_builtins(default), ensure_ascii=False)}`"
    )


# Commands


def _command_sections(command: Any, context: Any) -> Iterator[str]:
    """A section for each command below a group, depth first; hidden ones are left out."""
    import click

    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        if below is None or below.hidden:
            continue
        inner = click.Context(below, info_name=name, parent=context)
        parts = [
            f"## `{inner.command_path}`",
            _usage(below, inner),
            _help(below),
            _options(below, inner),
        ]
        yield "\n\n".join(part for part in parts if part)
        yield from _command_sections(below, inner)


def _usage(command: Any, context: Any) -> str:
    return f"    {' '.join([context.command_path, *command.collect_usage_pieces(context)])}"


def _help(command: Any) -> str:
    text: str = inspect.cleandoc(command.help or "")
    # click's mark for a paragraph that keeps its lines.
    return text.replace("\b\n", "")


def _options(command: Any, context: Any) -> str:
    """The options and arguments that say something; every command has `--help`."""
    records = [
        record for parameter in command.params if (record := parameter.get_help_record(context))
    ]
    rows = [(f"`{option}`", text) for option, text in records if text]
    return _table(("option", "what it does"), rows) if rows else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Write the pages, or with `--check` name those that are out of date and return 1."""
    parser = argparse.ArgumentParser(
        prog="make docs", description="Write docs/reference from the program itself."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail where a page is out of date"
    )
    parser.add_argument(
        "pages", nargs="*", help=f"which pages: {', '.join(PAGES)} (all unless named)"
    )
    options = parser.parse_args(argv)
    if unknown := [page for page in options.pages if page not in PAGES]:
        parser.error(f"there is no page {', '.join(unknown)}; the pages are {', '.join(PAGES)}")
    stale = [
        page
        for page in options.pages or PAGES
        if not _bring_up_to_date(page, write=not options.check)
    ]
    for page in stale:
        print(f"docs/reference/{page}.md is out of date. Run `make docs`.", file=sys.stderr)
    return 1 if stale else 0


def _bring_up_to_date(page: str, *, write: bool) -> bool:
    """Whether the page on disk is as the program says, after writing it where that is allowed."""
    path = FOLDER / f"{page}.md"
    text = PAGES[page]()
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return True
    if write:
        FOLDER.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"Wrote docs/reference/{page}.md")
    return write


if __name__ == "__main__":
    sys.exit(main())
