"""The file that Codex reads beside a SKILL.md, `agents/openai.yaml`: who may use the skill, and how
clients show it.

It is read with strict types: one value of a wrong type, and the whole file is ignored. A value of
the right type that is too long, or an icon outside `assets`, is only left out.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.parse.yaml.reader import parse_yaml
from prowess.parse.yaml.text_values import render_scalar
from prowess.profiles.schema.roots import ScanLimits

OPENAI_FILE = "agents/openai.yaml"

# The products that the release knows, and the one that it is.
_PRODUCTS = ("chatgpt", "codex", "atlas")
_OWN_PRODUCT = "codex"

# What is longer is dropped, not cut.
_MOST_NAME, _MOST_TEXT = 64, 1_024
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")

# Any plain value may stand where text is expected.
Text = str | int | float | bool | None


class _Policy(msgspec.Struct, frozen=True):
    allow_implicit_invocation: bool | None = None
    products: tuple[str, ...] | None = None


class _Interface(msgspec.Struct, frozen=True):
    display_name: Text = None
    short_description: Text = None
    icon_small: Text = None
    icon_large: Text = None
    brand_color: Text = None
    default_prompt: Text = None


class _Tool(msgspec.Struct, frozen=True):
    type: Text = None
    value: Text = None
    description: Text = None
    transport: Text = None
    command: Text = None
    url: Text = None


class _Dependencies(msgspec.Struct, frozen=True):
    tools: tuple[_Tool, ...] | None = None


class _File(msgspec.Struct, frozen=True):
    policy: _Policy | None = None
    interface: _Interface | None = None
    dependencies: _Dependencies | None = None


class OpenAIFile(msgspec.Struct, frozen=True):
    """What the file says: who may use the skill, what clients get, and what is wrong with it."""

    is_hidden: bool = False
    is_for_codex: bool = True
    interface: dict[str, str] | None = None
    tools: tuple[dict[str, str], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def describe(self) -> dict[str, Any]:
        """What clients get: how to show the skill, and the tools it depends on."""
        shown: dict[str, Any] = {}
        if self.interface:
            shown["interface"] = self.interface
        if self.tools:
            shown["dependencies"] = {"tools": list(self.tools)}
        return shown


def parse_openai_file(data: bytes, file: str, limits: ScanLimits) -> OpenAIFile:
    """The contents of an `agents/openai.yaml`. Never raises."""
    try:
        parsed = msgspec.convert(_parse(data, limits), _File)
        policy = parsed.policy or _Policy()
        products = [_read_product(product) for product in policy.products or ()]
    except (ValueError, msgspec.ValidationError) as error:
        # As in Codex: none of the file counts, and the skill loads without it.
        message = f"The file is ignored: {str(error).rstrip('.')}."
        return OpenAIFile(diagnostics=(diagnose("companion-ignored", message, file=file),))
    interface = None
    if parsed.interface is not None:
        skill_folder = posixpath.dirname(posixpath.dirname(file))
        interface = _read_interface(parsed.interface, skill_folder)
    # An empty list restricts nothing.
    is_for_codex = not products or _OWN_PRODUCT in products
    return OpenAIFile(
        is_hidden=policy.allow_implicit_invocation is False,
        is_for_codex=is_for_codex,
        interface=interface,
        tools=_read_tools(parsed.dependencies),
    )


def _parse(data: bytes, limits: ScanLimits) -> Any:
    result = parse_yaml(data.decode("utf-8"), limits)
    if result.problem is not None:
        raise ValueError(f"it is not valid YAML, {result.problem.why}")
    return {} if result.value is None else result.value


def _read_product(product: str) -> str:
    # `ChatGPT` is none of them: Codex knows each in lower case and in upper case.
    is_known = product in _PRODUCTS or (product.isupper() and product.lower() in _PRODUCTS)
    if not is_known:
        known = ", ".join(_PRODUCTS)
        raise ValueError(f"`{product[:40]}` is not a product; the products are {known}")
    return product.lower()


def _read_interface(interface: _Interface, folder: str) -> dict[str, str]:
    color = _read_text(interface.brand_color, _MOST_NAME)
    if color is not None and not _COLOR.fullmatch(color):
        color = None
    fields = {
        "displayName": _read_text(interface.display_name, _MOST_NAME),
        "shortDescription": _read_text(interface.short_description, _MOST_TEXT),
        "iconSmall": _find_icon(interface.icon_small, folder),
        "iconLarge": _find_icon(interface.icon_large, folder),
        "brandColor": color,
        "defaultPrompt": _read_text(interface.default_prompt, _MOST_TEXT),
    }
    return {name: value for name, value in fields.items() if value}


def _read_tools(dependencies: _Dependencies | None) -> tuple[dict[str, str], ...]:
    """The tools that have at least a type and a value."""
    if dependencies is None or dependencies.tools is None:
        return ()
    tools = map(_read_tool, dependencies.tools)
    return tuple(tool for tool in tools if {"type", "value"} <= tool.keys())


def _read_tool(tool: _Tool) -> dict[str, str]:
    texts: dict[str, str] = {}
    for name in tool.__struct_fields__:
        most = _MOST_NAME if name == "type" else _MOST_TEXT
        text = _read_text(getattr(tool, name), most)
        if text:
            texts[name] = text
    return texts


def _read_text(value: Text, most: int) -> str | None:
    """A text on one line; None where there is none or it is too long."""
    if value is None:
        return None
    text = " ".join(render_scalar(value).split())
    return text if 0 < len(text) <= most else None


def _find_icon(value: Text, folder: str) -> str | None:
    """The path of an icon, which must be in the skill's `assets` or be that folder."""
    if value is None:
        return None
    text = render_scalar(value)
    parts = [part for part in text.split("/") if part not in ("", ".")]
    is_inside = parts[:1] == ["assets"]
    # Codex drops an icon with `..` in its path, even if it stays inside.
    may_leave = ".." in parts or text.startswith("/")
    if not is_inside or may_leave:
        return None
    return posixpath.join(folder, *parts)
