"""What several commands share: the options that choose a host and a place, and the skills they
open.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from prowess.errors import ProwessError
from prowess.machine.facts import current_facts
from prowess.model.origin import Origin
from prowess.model.permission import Rule
from prowess.profiles.schema.profile import Profile
from prowess.runtime import Skills

if TYPE_CHECKING:
    from prowess.cli.terminal.progress import Progress
    from prowess.model.snapshot import Snapshot

F = TypeVar("F", bound=Callable[..., Any])
_PLAIN_NAME = re.compile(r"\w[\w.:-]*")


class Who(msgspec.Struct, frozen=True):
    """For whom skills are opened: an agent by its name, and rules that were given for this once."""

    agent: str | None = None
    rules: tuple[Rule, ...] = ()


ANYONE = Who()


def complete_hosts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Host names and editions for the shell."""
    from prowess.machine.facts import current_facts
    from prowess.profiles.load import known_editions, known_hosts
    from prowess.state.profile_cache import load_added_profiles

    try:
        _, added = load_added_profiles(current_facts(), "prowess")
        names = known_hosts(added)
        editions = [
            f"{name}@{edition}" for name in names for edition in known_editions(name, added)
        ]
    except ProwessError:
        return []
    # Editions only once a host is chosen: `--host op<Tab>` is not a list of everything twice.
    return [
        name for name in (editions if "@" in incomplete else names) if name.startswith(incomplete)
    ]


def complete_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Skill names for the shell, as the host sees them that was chosen so far."""
    try:
        outcomes = Skills.open(".", host=ctx.params.get("host") or "prowess").snapshot.outcomes
    except (ProwessError, OSError):
        return []
    names = {outcome.name for outcome in outcomes if outcome.name.startswith(incomplete)}
    return sorted(filter(is_plain_name, names))


def is_plain_name(name: str) -> bool:
    """Whether a shell can be offered a name: it takes it into the line, so it must mean nothing
    there but itself.
    """
    return _PLAIN_NAME.fullmatch(name) is not None


def _check_folders(
    ctx: click.Context, param: click.Parameter, folders: tuple[str, ...]
) -> tuple[str, ...]:
    for folder in folders:
        if not os.path.isdir(folder):
            problem = "is not a folder" if os.path.lexists(folder) else "does not exist"
            raise click.BadParameter(f"“{folder}” {problem}.", ctx, param)
    return folders


def load_host(host: str) -> Profile:
    """The profile of a host, a user's own too."""
    from prowess.profiles.load import load_profile
    from prowess.state.profile_cache import load_added_profiles

    name, added = load_added_profiles(current_facts(), host)
    return load_profile(name, added)


host_option = click.option(
    "--host",
    default="prowess",
    show_default=True,
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Answer as this host does; a path to a profile file works too.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
add_dir_option = click.option(
    "--add-dir",
    "add_dirs",
    multiple=True,
    metavar="DIR",
    callback=_check_folders,
    help="Also search the host's skill folders inside DIR.",
)
bare_option = click.option("--bare", is_flag=True, help="Search nothing but what --add-dir names.")
name_argument = click.argument("name", shell_complete=complete_names)


def render_host_option(snapshot: Snapshot) -> str:
    """What to add to a command so that it answers as the host of a scan does; nothing where that is
    Prowess itself.
    """
    import shlex

    from prowess.text.display import escape_line

    edition = "" if snapshot.edition == "current" else f"@{snapshot.edition}"
    host = f"{snapshot.host}{edition}"
    return "" if host == "prowess" else f" --host {escape_line(shlex.quote(host))}"


def scan_options(command: F) -> F:
    """The options of every command that scans: --host, --add-dir, --bare, --json."""
    for option in (json_option, bare_option, add_dir_option, host_option):
        command = option(command)
    return command


def agent_options(command: F) -> F:
    """The options --agent, --allow, --ask and --deny; the command gets them as one value, `who`."""

    @wraps(command)
    def with_who(
        *arguments: Any,
        agent: str | None,
        allow: tuple[str, ...],
        ask: tuple[str, ...],
        deny: tuple[str, ...],
        **options: Any,
    ) -> Any:
        return command(*arguments, who=Who(agent, _parse_rules(allow, ask, deny)), **options)

    decorated: Any = with_who
    for action, verb in (("deny", "Deny"), ("ask", "Ask for"), ("allow", "Allow")):
        text = (
            f"{verb} skills for this once: a name, a pattern such as `deploy-*`, or a rule such as"
            " `Skill(deploy)`."
        )
        decorated = click.option(f"--{action}", multiple=True, metavar="RULE", help=text)(decorated)
    agent_help = "Answer for the agent of this name, whose rules may differ."
    return click.option("--agent", metavar="NAME", help=agent_help)(decorated)  # type: ignore[no-any-return]


def _parse_rules(
    allow: tuple[str, ...], ask: tuple[str, ...], deny: tuple[str, ...]
) -> tuple[Rule, ...]:
    if not (allow or ask or deny):
        return ()
    from prowess.gate.permissions import parse_given

    rules = parse_given(
        allow=map(_as_rule, allow), ask=map(_as_rule, ask), deny=map(_as_rule, deny)
    )
    # Whoever reads a decision wants to know where its rule stands, also where that is no file.
    return tuple(msgspec.structs.replace(rule, origin=Origin("the command line")) for rule in rules)


def _as_rule(text: str) -> str:
    """A rule as hosts write it. A plain name or pattern is about skills, since nothing else can be
    meant here.
    """
    return text if "(" in text or ")" in text or text.strip() in ("", "Skill") else f"Skill({text})"


def open_skills(
    host: str,
    add_dirs: tuple[str, ...] = (),
    *,
    bare: bool = False,
    who: Who = ANYONE,
    progress: Progress | None = None,
    tell: bool = True,
) -> Skills:
    """The skills of the working folder, scanned, with progress shown where that is slow.

    The scan is a part of longer work where `progress` is given, which then goes on. With `tell`
    people hear of options that the host has no use for; without, the command itself says so.
    """
    from prowess.cli.terminal.progress import Progress

    with nullcontext(progress) if progress is not None else Progress() as reporter:
        skills = Skills.open(
            ".",
            host=host,
            add_dirs=add_dirs,
            bare=bare,
            agent=who.agent,
            rules=who.rules,
            reporter=reporter,
        )
        # Scanned here and kept, so that the line of progress ends with the scan.
        _ = skills.snapshot
    if tell and add_dirs:
        tell_ignored(find_ignored(skills.snapshot))
    return skills


def find_ignored(snapshot: Snapshot) -> tuple[str, ...]:
    """What is to be said of options that the host has no use for."""
    return tuple(one.message for one in snapshot.diagnostics if one.code == "option-ignored")


def tell_ignored(messages: Iterable[str]) -> None:
    """Say on the error output what had no effect."""
    for message in messages:
        click.echo(f"prowess: {message}", err=True)
