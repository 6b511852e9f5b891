"""The public names of Prowess as text, from docstrings and signatures: what each is, how to call
it, what it holds.
"""

from __future__ import annotations

import ast
import enum
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, TypeGuard, is_typeddict

import msgspec

from prowess.errors import ProwessError

# In the order in which someone meets them. A name that is public and not here stands at the end of
# its section.
_GROUPS = {
    "Skills": "Skills Folder Package Files Snapshot Outcome State Facts",
    "Conversations": "Conversation Catalog ModelTool Activation DefinedSkill",
    "Permission": "Rule Action Approver ApprovalRequest ApprovalAnswer ApprovalChoice",
    "One skill": "Skill Scope",
    "Findings and errors": "Diagnostic Severity ProwessError UnknownSkill NotPermitted",
}
# What has a page of its own.
_PAGES = {
    "CODES": "What each diagnostic code means, by its name: [diagnostic codes](diagnostics.md).",
    "Profile": "Its keys are those of a profile file: [profiles](profiles.md).",
}
# What ports take and return, by place.
_PORT_VALUES = {
    "prowess.model.command": ["Command", "Finished"],
    "prowess.model.outcome": ["Claim"],
    "prowess.model.permission": ["Approval"],
    "prowess.model.skill": ["Document", "SkillCall"],
    "prowess.model.usage": ["Usage"],
    "prowess.ports": ["Discovered", "Search"],
}
ADAPTERS = Path(__file__).parent.parent / "src" / "prowess" / "adapters"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (ast.ClassDef, *_FUNCTIONS)
_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_SPECIAL = {"__iter__": "iterating", "__enter__": "with"}


def render_sections() -> Iterator[str]:
    """The public names, those of other modules by their place, the ports, and the adapters."""
    import prowess
    import prowess.testing

    grouped = {title: names.split() for title, names in _GROUPS.items()}
    known = {name for names in grouped.values() for name in names}
    groups = {**grouped, "More": [name for name in prowess.__all__ if name not in known]}
    for title, names in groups.items():
        entries = [_render_name(name, getattr(prowess, name)) for name in names]
        if entries:
            yield "\n\n".join([f"## {title}", *entries])
    yield _render_ports()
    yield from _render_adapters()
    for place, names in sorted(list_places().items()):
        module = import_module(place)
        entries = [_render_name(name, getattr(module, name)) for name in names]
        yield "\n\n".join([f"## `{place}`", *entries])
    helpers = [
        _render_name(name, getattr(prowess.testing, name)) for name in prowess.testing.__all__
    ]
    yield "\n\n".join(["## For tests: `prowess.testing`", *helpers])


def list_places() -> dict[str, list[str]]:
    """The names that are public in a module of their own, by that module."""
    import prowess

    places: dict[str, list[str]] = {}
    for target in sorted(set(prowess._MOVED.values())):
        place, _, name = f"prowess.{target}".rpartition(".")
        if name not in prowess.__all__:
            places.setdefault(place, []).append(name)
    for place, names in _PORT_VALUES.items():
        places.setdefault(place, []).extend(names)
    # Ports have a section of their own.
    ports = set(list_ports())
    return {place: sorted({*names} - ports) for place, names in places.items()}


def list_ports() -> list[str]:
    """The protocols that someone can implement, in the order of the source."""
    from prowess import ports

    return [name for name, value in vars(ports).items() if getattr(value, "_is_protocol", False)]


def _render_ports() -> str:
    from prowess import ports

    intro = (
        "What Prowess asks of the world, as protocols: any object with these methods will do. Give"
        " a `SkillSource` to `Skills.of` or `sources=`, an `Approver`, a `Runner` or a"
        " `SecretStore` to `Skills.conversation`, a `Ranker` to `Skills.catalog` or to an adapter,"
        " a `UsageStore` as `usage=`, and a `FileSystem` as `files=`. A `ManifestReader` is given"
        " to your source, which need not implement one."
    )
    shown = [name for name in list_ports() if name not in ("Approver", "Protocol")]
    entries = [_render_name(name, getattr(ports, name)) for name in shown]
    return "\n\n".join(["## Ports: `prowess.ports`", intro, *entries])


def _render_adapters() -> Iterator[str]:
    """The modules of `prowess.adapters` that belong to a library, read and not imported: not every
    library is installed here.
    """
    for path in sorted(ADAPTERS.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if "explain_import" not in {node.id for node in ast.walk(tree) if _is_name(node)}:
            continue
        parts = [f"## `prowess.adapters.{path.stem}`", _tidy(ast.get_docstring(tree))]
        for node in tree.body:
            if isinstance(node, _DEFINITIONS) and not node.name.startswith("_"):
                parts.append(_render_definition(node))
        yield "\n\n".join(parts)


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _render_definition(node: _Definition) -> str:
    parts = [f"### `{node.name}`"]
    if isinstance(node, ast.ClassDef):
        methods = [one for one in node.body if isinstance(one, _FUNCTIONS)]
        for method in methods:
            if method.name == "__init__":
                parts.append(f"    {node.name}{_render_arguments(method)}")
        parts.append(_tidy(ast.get_docstring(node)))
        shown = [
            f"- `{one.name}{_render_arguments(one)}`: {_tidy(text, one_line=True)}"
            for one in methods
            if not one.name.startswith("_") and (text := ast.get_docstring(one))
        ]
        parts.append("\n".join(shown))
    else:
        parts += [f"    {node.name}{_render_arguments(node)}", _tidy(ast.get_docstring(node))]
    return "\n\n".join(part for part in parts if part)


def _render_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    arguments = ast.unparse(function.args)
    arguments = re.sub(r"^self(, )?", "", arguments)
    returns = "" if function.returns is None else f" -> {ast.unparse(function.returns)}"
    return f"({arguments}){returns.removesuffix(' -> None')}"


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
        try:
            fields = msgspec.structs.fields(value)
        except NameError:
            # Its types are imported for type checkers only.
            required = len(value.__struct_fields__) - len(value.__struct_defaults__)
            return [
                _render_field(name, kinds[name], "required" if at < required else "optional")
                for at, name in enumerate(value.__struct_fields__)
            ]
        return [_render_field(one.name, kinds[one.name], _default(one)) for one in fields]
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
