"""Options that several commands share, and the scan that they choose."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from prowess.errors import ProwessError
from prowess.machine.facts import current_facts
from prowess.model.permission import COMMAND_LINE, Rule
from prowess.profiles.schema.profile import Profile
from prowess.runtime import Skills
from prowess.supply.sources import RefreshRequest, open_sources
from prowess.text.permission_rules import MCP_PREFIX, SKILL_TOOLS, Tools

if TYPE_CHECKING:
    from prowess.cli.terminal.progress import Progress
    from prowess.model.snapshot import Snapshot
    from prowess.ports import SkillSource

DEFAULT_HOST = "prowess"
# What stands for every agent, where a command takes several hosts.
ALL_HOSTS = "all"
_OFFLINE = "prowess.offline"

F = TypeVar("F", bound=Callable[..., Any])
# Where the folders of --extension are kept in the context of a command.
_PLUGINS = "prowess.plugins"


class AgentOptions(msgspec.Struct, frozen=True):
    """The agent that skills are opened for, and the rules of the command line."""

    name: str | None = None
    rules: tuple[Rule, ...] = ()


ANY_AGENT = AgentOptions()


def complete_hosts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a host, or its edition after an `@`."""
    from prowess.profiles.load import known_editions, known_hosts
    from prowess.state.profile_cache import load_added_profiles

    try:
        _, added = load_added_profiles(current_facts(), "prowess")
        names = list(known_hosts(added))
        # Editions only once a host is chosen, so that `--host op<Tab>` lists each host once.
        if "@" in incomplete:
            names = [f"{one}@{edition}" for one in names for edition in known_editions(one, added)]
    except ProwessError:
        # Tab offers nothing then; the command itself says what is wrong.
        return []
    return [name for name in names if name.startswith(incomplete)]


def complete_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a skill, for the host that was chosen so far on the line."""
    try:
        host = ctx.params.get("host") or find_default_host()
        # Nothing is fetched while somebody types.
        sources = open_sources(offline=True)
        outcomes = Skills.open(".", host=host, sources=sources).snapshot.outcomes
    except (ProwessError, OSError):
        # Tab offers nothing then; the command itself says what is wrong.
        return []
    names = {outcome.name for outcome in outcomes if outcome.name.startswith(incomplete)}
    return sorted(filter(is_plain_name, names))


def is_plain_name(name: str) -> bool:
    """Whether a name can be offered to a shell, which takes it into the line unquoted."""
    return re.fullmatch(r"\w[\w.:-]*", name) is not None


def _check_folders(
    ctx: click.Context, param: click.Parameter, folders: tuple[str, ...]
) -> tuple[str, ...]:
    for folder in folders:
        if not os.path.isdir(folder):
            problem = "is not a folder" if os.path.lexists(folder) else "does not exist"
            raise click.BadParameter(f"“{folder}” {problem}.", ctx, param)
    return folders


def expand_hosts(hosts: Sequence[str]) -> list[str]:
    """The hosts that a repeatable option names, each once; `all` means every agent."""
    named = [host for host in hosts if host != ALL_HOSTS]
    if len(named) < len(hosts):
        from prowess.reports.hosts import list_agents

        named += list_agents(current_facts())
    return list(dict.fromkeys(named))


def load_host(host: str) -> Profile:
    """The profile of a host, which may be one that the user added."""
    from prowess.profiles.load import load_profile
    from prowess.state.profile_cache import load_added_profiles

    name, added = load_added_profiles(current_facts(), host)
    return load_profile(name, added)


def find_default_host() -> str:
    """The host to use where none is named: PROWESS_HOST, `host` in prowess.toml, or Prowess."""
    facts = current_facts()
    named = facts.env.get("PROWESS_HOST", "").strip()
    if named:
        return named
    from prowess.project.host_view import open_view

    return open_view(".", DEFAULT_HOST, facts=facts).load_own_settings().host or DEFAULT_HOST


def _choose_host(ctx: click.Context, param: click.Parameter, host: str | None) -> str:
    return find_default_host() if host is None else host


_declare_host = partial(
    click.option,
    "--host",
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Use this host's rules; a path to a profile file works too. Default: prowess, or the one"
    " in PROWESS_HOST or prowess.toml.",
)
host_option = _declare_host(callback=_choose_host)
# For commands that must work with settings that cannot be read, because they fix them.
optional_host_option = _declare_host()
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _note_offline(ctx: click.Context, param: click.Parameter, offline: bool) -> None:
    if offline:
        ctx.meta[_OFFLINE] = True


def is_offline() -> bool:
    """Whether the command line says to fetch nothing."""
    context = click.get_current_context(silent=True)
    return context is not None and _OFFLINE in context.meta


# Kept with the click context, because every command that scans heeds it and none passes it on.
offline_option = click.option(
    "--offline",
    is_flag=True,
    expose_value=False,
    callback=_note_offline,
    help="Fetch nothing; use what was fetched before.",
)
add_dir_option = click.option(
    "--add-dir",
    "add_dirs",
    multiple=True,
    metavar="DIR",
    callback=_check_folders,
    help="Also search the host's skill folders inside DIR.",
)


def _keep_plugins(ctx: click.Context, param: click.Parameter, folders: tuple[str, ...]) -> None:
    """Check the folders, and keep them for the scan of this command."""
    ctx.meta[_PLUGINS] = _check_folders(ctx, param, folders)


# Every command that scans has it, and none does anything else with it.
plugin_option = click.option(
    "--extension",
    "-e",
    "--plugin-dir",
    "plugins",
    multiple=True,
    metavar="DIR",
    callback=_keep_plugins,
    expose_value=False,
    help="Also load the plugin or extension in DIR.",
)
bare_option = click.option(
    "--bare", is_flag=True, help="Search only the folders given with --add-dir."
)
name_argument = click.argument("name", shell_complete=complete_names)


def render_host_option(snapshot: Snapshot) -> str:
    """The option to add to a command so that it uses the same host; empty for Prowess itself."""
    import shlex

    from prowess.text.display import escape_line

    edition = "" if snapshot.edition == "current" else f"@{snapshot.edition}"
    host = f"{snapshot.host}{edition}"
    if host == "prowess":
        return ""
    return f" --host {escape_line(shlex.quote(host))}"


def scan_options(command: F) -> F:
    """Add the options of every command that scans: --host, --add-dir, --extension, --bare,
    --offline, --json.
    """
    options = (json_option, offline_option, bare_option, plugin_option, add_dir_option, host_option)
    for option in options:
        command = option(command)
    return command


def agent_options(command: F, *, tools: Tools = SKILL_TOOLS) -> F:
    """Add the options --agent, --allow, --ask and --deny, which become one argument, `agent`.

    `tools` are those that rules can be about.
    """

    @wraps(command)
    def with_agent(
        *arguments: Any,
        agent: str | None,
        allow: tuple[str, ...],
        ask: tuple[str, ...],
        deny: tuple[str, ...],
        **options: Any,
    ) -> Any:
        rules = parse_rules(allow=allow, ask=ask, deny=deny, tools=tools)
        return command(*arguments, agent=AgentOptions(agent, rules), **options)

    decorated: Any = with_agent
    what = "skills: a name, a pattern (deploy-*) or a rule (Skill(deploy))."
    if tools is not SKILL_TOOLS:
        what = "skills (deploy-*) or tools (Bash(git *), Edit(src/*), Read, mcp__server__*)."
    for action, verb in (("deny", "Deny"), ("ask", "Ask before using"), ("allow", "Allow")):
        text = f"{verb} these {what}"
        decorated = click.option(f"--{action}", multiple=True, metavar="RULE", help=text)(decorated)
    agent_help = "Use the permission rules of this agent."
    return click.option("--agent", metavar="NAME", help=agent_help)(decorated)  # type: ignore[no-any-return]


def parse_rules(
    *,
    allow: tuple[str, ...] = (),
    ask: tuple[str, ...] = (),
    deny: tuple[str, ...] = (),
    tools: Tools = SKILL_TOOLS,
) -> tuple[Rule, ...]:
    """Rules as the command line takes them; a plain name is a skill unless it is a tool."""
    if not (allow or ask or deny):
        return ()
    from prowess.gate.permissions import parse_given

    as_rule = partial(_as_rule, tools=tools)
    rules = parse_given(
        allow=map(as_rule, allow), ask=map(as_rule, ask), deny=map(as_rule, deny), tools=tools
    )
    # A decision names the origin of its rule, here too, where that is no file.
    return tuple(msgspec.structs.replace(rule, origin=COMMAND_LINE) for rule in rules)


def _as_rule(text: str, tools: Tools = SKILL_TOOLS) -> str:
    """A rule as hosts write it; a plain name or pattern means skills, unless it is a tool's."""
    name = text.strip()
    # Where only skills are ruled on, `Read` is the name of a skill like any other.
    has_other_tools = tools is not SKILL_TOOLS
    is_other_tool = has_other_tools and (name in tools or name.startswith(MCP_PREFIX))
    # What is no rule at all is passed on, too: the parser has the words for it.
    has_brackets = "(" in text or ")" in text
    is_rule = has_brackets or not name or name == "Skill" or is_other_tool
    return text if is_rule else f"Skill({text})"


def open_skills(
    host: str,
    add_dirs: tuple[str, ...] = (),
    *,
    bare: bool = False,
    agent: AgentOptions = ANY_AGENT,
    progress: Progress | None = None,
    warn: bool = True,
    thorough: bool = False,
    packages: bool = False,
    shipped: bool = False,
    refresh: RefreshRequest | None = None,
    path: str = ".",
) -> Skills:
    """The skills of a folder, scanned; a slow scan shows its progress.

    A `progress` that is given belongs to longer work and goes on after the scan. With `warn`,
    options that the host ignores are reported on stderr. A `thorough` scan also finds skills where
    the host does not search, and one with `packages` the skills of installed packages that no
    setting turns on. With `shipped` the skills of Prowess's own agent are among them. A `refresh`
    asks servers again.
    """
    from prowess.cli.terminal.progress import Progress

    sources = () if bare else open_sources(offline=is_offline(), refresh=refresh)
    own_sources, own_places = _open_shipped(host) if shipped else ((), {})
    with nullcontext(progress) if progress is not None else Progress() as reporter:
        skills = Skills.open(
            path,
            host=host,
            sources=(*sources, *own_sources),
            add_dirs=add_dirs,
            plugins=_list_plugin_folders(),
            bare=bare,
            agent=agent.name,
            rules=agent.rules,
            usage=True,
            refresh="manual",
            reporter=reporter,
            thorough=thorough,
            packages=packages,
            places=own_places,
        )
        # Scanned here, so that the progress ends with the scan; the snapshot is kept.
        _ = skills.snapshot
    if shipped:
        _register_shipped(skills)
    if warn and add_dirs:
        warn_of_ignored_options(skills.snapshot)
    return skills


def _open_shipped(host: str) -> tuple[tuple[SkillSource, ...], dict[str, str]]:
    """The skills of Prowess's own agent, and the folders that they are read from."""
    from prowess.supply.bundled import BundledSource, find_shipped_places

    return (BundledSource(),), find_shipped_places(host)


def _register_shipped(skills: Skills) -> None:
    """Have the tools that commands of the agent's own skills go to."""
    from prowess.agent.shipped.commands import register_commands

    register_commands(skills)


def _list_plugin_folders() -> tuple[str, ...]:
    """The folders of --extension."""
    context = click.get_current_context(silent=True)
    return () if context is None else context.meta.get(_PLUGINS, ())


def warn_of_ignored_options(snapshot: Snapshot) -> None:
    """Report on stderr the options that have no effect for the host."""
    for diagnostic in snapshot.diagnostics:
        if diagnostic.code == "option-ignored":
            click.echo(f"prowess: {diagnostic.message}", err=True)
