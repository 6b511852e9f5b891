"""The public names of Prowess as text, from docstrings and signatures: what each is, how to call
it, what it holds.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator
from typing import Any, is_typeddict

import msgspec

from prowess.errors import ProwessError

# In the order in which someone meets them. A name that is public and not here stands at the end of
# the page.
_GROUPS = {
    "Skills": "Skills Folder Package Files Options Snapshot Outcome State Note Event",
    "Conversations": "Conversation Activation Requests ModelTool ToolAnswer Message Notice Plain "
    "SlashCommand Key "
    "Delivery Resource Ledger LedgerEntry Survival",
    "Commands that go around the model": "ToolReply ToolRun Cancel",
    "Skills in code": "DefinedSkill PromptContext",
    "Permission": "Rule Action Request Approver Answer Reply",
    "What a model sees": "Catalog",
    "One skill": "Skill Manifest Requires Scope Source LoadedFrom Candidate Root",
    "Findings": "Diagnostic Severity CODES",
    "Hosts": "Profile known_hosts load_profile",
    "Settings": "Settings Override Origin",
    "Context files": "ContextFile ContextFiles",
    "The machine": "Facts FileSystem FolderItem Head",
    "Errors": "ProwessError UsageError UnknownSkill Unavailable NotPermitted UnknownTool "
    "AddressError UnknownHost InvalidName ProfileError SettingError SwitchError ToolFailed "
    "CommandRefused CommandFailed MachineError",
}
# What has a page of its own.
_PAGES = {
    "CODES": "What each diagnostic code means, by its name: [diagnostic codes](diagnostics.md).",
    "Profile": "Its keys are those of a profile file: [profiles](profiles.md).",
}
_SPECIAL = {"__iter__": "iterating", "__enter__": "with"}


def render_sections() -> Iterator[str]:
    """A section for each group of public names, then one for `prowess.testing`."""
    import prowess
    import prowess.testing

    grouped = {title: names.split() for title, names in _GROUPS.items()}
    known = {name for names in grouped.values() for name in names}
    groups = {**grouped, "More": [name for name in prowess.__all__ if name not in known]}
    for title, names in groups.items():
        entries = [
            _render_name(name, getattr(prowess, name)) for name in names if name in prowess.__all__
        ]
        if entries:
            yield "\n\n".join([f"## {title}", *entries])
    helpers = [
        _render_name(name, getattr(prowess.testing, name)) for name in prowess.testing.__all__
    ]
    yield "\n\n".join(["## For tests: `prowess.testing`", *helpers])


def _render_name(name: str, value: Any) -> str:
    parts = [f"### `{name}`"]
    if inspect.isfunction(value):
        parts.append(f"    {name}{_signature(value)}")
    if inspect.isclass(value) and issubclass(value, ProwessError):
        parent = value.__bases__[0].__name__
        parts.append(f"Comes below `{parent}`; the command line then exits with {value.exit_code}.")
    if inspect.isclass(value) or inspect.isfunction(value):
        parts.append(_tidy(value.__doc__))
    if name in _PAGES:
        parts.append(_PAGES[name])
    elif inspect.isclass(value):
        parts += _render_class(name, value)
    return "\n\n".join(part for part in parts if part)


def _render_class(name: str, value: type[Any]) -> Iterator[str]:
    if issubclass(value, enum.Enum):
        yield ", ".join(f"`{member.name}` (`{member.value}`)" for member in value)
        return
    if _has_own_constructor(value):
        yield f"    {name}{_signature(value.__init__)}"
    fields = _list_fields(value)
    if fields:
        yield "\n".join(["| field | type | default |", "| --- | --- | --- |", *fields])
    members = list(_list_members(value))
    if members:
        yield "\n".join(members)


def _has_own_constructor(value: type[Any]) -> bool:
    is_plain = not issubclass(value, (msgspec.Struct, tuple)) and not getattr(
        value, "_is_protocol", False
    )
    return is_plain and inspect.isfunction(value.__dict__.get("__init__"))


def _list_fields(value: type[Any]) -> list[str]:
    kinds = {
        name: kind
        for one in reversed(value.__mro__)
        for name, kind in inspect.get_annotations(one).items()
    }
    if issubclass(value, msgspec.Struct):
        return [
            _render_field(one.name, kinds[one.name], _default(one))
            for one in msgspec.structs.fields(value)
        ]
    if issubclass(value, tuple) or is_typeddict(value):
        default = "required" if issubclass(value, tuple) else "optional"
        return [_render_field(name, kinds[name], default) for name in kinds]
    return []


def _render_field(name: str, kind: Any, default: str) -> str:
    # Most annotations are text, which a named tuple wraps once more; the others are the types
    # themselves.
    text = getattr(kind, "__forward_arg__", kind)
    shown = text if isinstance(text, str) else _without_modules(inspect.formatannotation(text))
    escaped = shown.replace("|", "\\|")
    return f"| `{name}` | `{escaped}` | {default} |"


def _without_modules(text: str) -> str:
    return re.sub(r"\b(?:prowess|collections|typing)(?:\.\w+)*\.(?=\w)", "", text)


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    value = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    if isinstance(value, msgspec.Struct) or " object at 0x" in repr(value):
        return f"`{type(value).__name__}()`"
    return "a function that answers no" if callable(value) else f"`{value!r}`"


def _list_members(value: type[Any]) -> Iterator[str]:
    """The methods and properties that someone may use, in the order of the source."""
    for name, member in value.__dict__.items():
        if name.startswith("_") and name not in _SPECIAL:
            continue
        if isinstance(member, property):
            shown, text = f"`{name}`", member.__doc__
        elif isinstance(member, classmethod) or inspect.isfunction(member):
            function = member.__func__ if isinstance(member, classmethod) else member
            shown, text = _SPECIAL.get(name, f"`{name}{_signature(function)}`"), function.__doc__
        else:
            continue
        # What has no words of its own does what the class above it says.
        if text:
            yield f"- {shown}: {_tidy(text, one_line=True)}"


def _signature(function: Any) -> str:
    """The parameters as they are written, without the one that Python fills in."""
    signature = inspect.signature(function)
    kept = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    shown = _without_modules(str(signature.replace(parameters=kept)))
    # Annotations are text here, and `inspect` puts them in quotes.
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", shown).removesuffix(" -> None")


def _tidy(text: str | None, *, one_line: bool = False) -> str:
    clean = inspect.cleandoc(text or "")
    return " ".join(clean.split()) if one_line else clean
