"""`/plugin`: the plugins of the host, and a switch for each that is saved."""

from __future__ import annotations

from rich.text import Text

from prowess.cli.chat.chat import Chat
from prowess.cli.chat.output import Cell, dim, make_table, stack
from prowess.cli.terminal.out import shorten_path
from prowess.errors import UsageError
from prowess.machine.atomic_write import rewrite_aside
from prowess.machine.event_loop import run_in_thread
from prowess.reports.plugins import PluginReport, plan_plugin_switch, report_plugins
from prowess.text.display import count_words

_SWITCHES = {"on": True, "off": False}
_HINT = "`/plugin NAME on|off` switches one, for this project."


async def run(chat: Chat, arguments: str) -> None:
    """Switch a plugin if the arguments say so; otherwise list all."""
    name, _, word = arguments.rpartition(" ")
    if word in _SWITCHES and name.strip():
        said = await run_in_thread(lambda is_cancelled: _switch(chat, name.strip(), word))
        chat.surface.print(said)
        return
    if arguments:
        raise UsageError(f"“{arguments}” is not understood. Write `/plugin NAME on|off`.")
    found = await run_in_thread(lambda is_cancelled: report_plugins(chat.skills))
    if not found:
        chat.surface.print("No plugin is installed.")
        return
    rows = [_list_cells(one) for one in found]
    chat.surface.print(stack(make_table(rows, heading=("", "PLUGIN", "BRINGS")), dim(_HINT)))


def _switch(chat: Chat, name: str, word: str) -> str:
    plan = plan_plugin_switch(chat.skills, name, enabled=_SWITCHES[word], user=False)
    if not plan.changed:
        return f"“{plan.plugin.id}” is {word} already."
    rewrite_aside(plan.file, plan.text.encode())
    chat.skills.reload()
    return f"“{plan.plugin.id}” is {word}, in {shorten_path(plan.file, chat.skills.cwd)}."


def _list_cells(report: PluginReport) -> list[Cell]:
    plugin = report.plugin
    counts = {kind: count for kind, count in report.count_parts().items() if count}
    parts = [count_words(count, kind.removesuffix("s")) for kind, count in counts.items()]
    brings = ", ".join(parts) or "nothing"
    state = Text("on", "green") if plugin.is_enabled else Text("off", "dim")
    reason = f" ({plugin.disabled_by})" if plugin.disabled_by else ""
    return [state, plugin.id, f"{brings}{reason}"]
