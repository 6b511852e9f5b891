"""`prowess plugins`: the plugins of a host, what they bring, and their switches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from prowess.cli.options import host_option, json_option, open_skills, plugin_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.machine.atomic_write import rewrite_aside
from prowess.reports.plugins import PluginReport, plan_plugin_switch, report_plugins
from prowess.text.display import escape_line

if TYPE_CHECKING:
    from rich.text import Text

    from prowess.runtime import Skills

    Row = Sequence[Text | str]

_ONE = {"servers": "MCP server"}
_MANY = {"servers": "MCP servers"}


@click.group("plugins", invoke_without_command=True)
@host_option
@plugin_option
@json_option
@click.pass_context
def command(ctx: click.Context, host: str, as_json: bool) -> int:
    """List the plugins of a host, on or off, with what each brings.

    Plugins are folders with skills, commands, agents, hooks and MCP servers: those that a host
    installed, that settings name, that are packages of Python and npm, or that ship with Prowess
    (`NAME@builtin`). `prowess plugins enable NAME` and `disable NAME` turn one on or off.
    """
    if ctx.invoked_subcommand is not None:
        return 0
    skills = open_skills(host, packages=True, shipped=True)
    found = report_plugins(skills)
    if as_json:
        print_json({"plugins": [one.shape() for one in found]})
    else:
        _print_plugins(found, skills)
    return 0


def _print_plugins(found: Sequence[PluginReport], skills: Skills) -> None:
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    if not found:
        title = escape_line(skills.profile.title or skills.profile.name)
        screen.print(f"{title} has no plugins here.")
        return
    rows = [_render(one, skills) for one in found]
    print_columns(rows, heading=("PLUGIN", "STATE", "BRINGS", "FROM"), wrap=True)
    for one in found:
        for diagnostic in one.diagnostics:
            screen.print(f"{escape_line(one.plugin.id)}: {escape_line(diagnostic.message)}")


def _render(report: PluginReport, skills: Skills) -> Row:
    from rich.text import Text

    plugin = report.plugin
    name = Text(escape_line(plugin.id), "bold")
    if plugin.version:
        name.append(f" {escape_line(plugin.version)}", "dim")
    word, style = _describe_state(report)
    origin = shorten_path(plugin.origin, skills.cwd)
    return name, Text(word, style), _describe_parts(report), escape_line(origin)


def _describe_state(report: PluginReport) -> tuple[str, str]:
    """Whether a plugin is on, and the colour of the word."""
    plugin = report.plugin
    if plugin.is_enabled and not report.contents.is_trusted:
        return "on, not trusted", "yellow"
    is_broken = plugin.manifest is not None and bool(plugin.diagnostics)
    if plugin.disabled_by is not None and is_broken:
        return "cannot be used", "red"
    return ("on", "green") if plugin.is_enabled else ("off", "dim")


def _describe_parts(report: PluginReport) -> str:
    plugin = report.plugin
    # One that ships and is off has no skills yet, and its description names them.
    is_off_and_shipped = plugin.owner == "bundled" and not plugin.is_enabled
    if is_off_and_shipped and plugin.description:
        return escape_line(plugin.description)
    counts = [_count(count, part) for part, count in report.count_parts().items() if count]
    return ", ".join(counts) or "nothing"


def _count(count: int, part: str) -> str:
    word = _ONE.get(part, part.removesuffix("s")) if count == 1 else _MANY.get(part, part)
    return f"{count} {word}"


@click.command("enable")
@click.argument("name")
@click.option("--user", is_flag=True, help="Set it for all your projects instead of this one.")
@host_option
@json_option
def enable(name: str, user: bool, host: str, as_json: bool) -> int:
    """Turn a plugin on, by its name or its id.

    Writes `enabled_plugins` to the project's prowess.toml, or with --host the host's own setting:
    `enabledPlugins` for claude-code, `plugins.entries` for openclaw, `[plugins]` for codex.
    """
    return _switch(name, enabled=True, user=user, host=host, as_json=as_json)


@click.command("disable")
@click.argument("name")
@click.option("--user", is_flag=True, help="Set it for all your projects instead of this one.")
@host_option
@json_option
def disable(name: str, user: bool, host: str, as_json: bool) -> int:
    """Turn a plugin off, by its name or its id; see `prowess plugins enable`."""
    return _switch(name, enabled=False, user=user, host=host, as_json=as_json)


command.add_command(enable)
command.add_command(disable)


def _switch(name: str, *, enabled: bool, user: bool, host: str, as_json: bool) -> int:
    from prowess.reports.plugins import find_plugin

    skills = open_skills(host, packages=True, shipped=True)
    plan = plan_plugin_switch(skills, name, enabled=enabled, user=user)
    if plan.changed:
        rewrite_aside(plan.file, plan.text.encode())
    # Another file may have the last word, so the result is read, not assumed.
    now = find_plugin(open_skills(host, packages=True, shipped=True), plan.plugin.id)
    if as_json:
        print_json(
            {
                "id": plan.plugin.id,
                "enabled": now.is_enabled,
                "reason": now.disabled_by,
                "file": plan.file,
                "key": plan.key,
                "created": plan.created,
                "changed": plan.changed,
            }
        )
        return 0
    screen = console()
    file, key = shorten_path(plan.file, skills.cwd), escape_line(plan.key)
    word = "true" if enabled else "false"
    if plan.changed:
        new = "new file " if plan.created else ""
        screen.print(f"Set `{key}` to {word} in {new}{file}.")
    else:
        screen.print(f"`{key}` is {word} in {file} already; nothing was written.")
    state = "on" if now.is_enabled else "off"
    reason = f": {escape_line(now.disabled_by)}" if now.disabled_by else ""
    screen.print(f"The plugin {escape_line(now.id)} is {state}{reason}.")
    return 0
