"""How deep hosts search for skills, for files whose place is known but whose scan is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.profiles.load import BUILT_IN, load_profile
from prowess.profiles.places import PLACEHOLDER
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import RootRule

# Prowess itself and the standard are not agents.
NO_AGENTS = ("prowess", "spec")


class TooDeep(msgspec.Struct, frozen=True):
    """A host that reads a folder of skills, but not as deep as a skill in it is."""

    profile: Profile
    folder: str
    depth: int
    most: int


@cache
def load_agents() -> tuple[Profile, ...]:
    """The profiles of all built-in hosts that are agents."""
    return tuple(load_profile(name) for name in BUILT_IN if name not in NO_AGENTS)


def list_nested_readers() -> list[str]:
    """The titles of the hosts that read skills inside other skills."""
    return [profile.title for profile in load_agents() if _reads_nested(profile)]


def _reads_nested(profile: Profile) -> bool:
    # By default a folder with a SKILL.md is a leaf: what is below it belongs to that skill.
    searched_on = [rule for rule in profile.roots.values() if not rule.leaf]
    return any(rule.max_depth > 1 for rule in searched_on)


def find_too_deep(folder: str, profiles: Iterable[Profile]) -> list[TooDeep]:
    """The hosts that read the folder of skills around a skill's folder, but not so deep."""
    path = folder.replace("\\", "/")
    by_host = (_find_for_host(path, profile) for profile in profiles)
    return [too_deep for too_deep in by_host if too_deep is not None]


def _find_for_host(path: str, profile: Profile) -> TooDeep | None:
    too_deep: TooDeep | None = None
    for tail, rule in _list_tails(profile):
        # The innermost such folder counts: a path can have the same name twice.
        _, matched, below = path.rpartition(f"{tail}/")
        if not matched:
            continue
        depth = below.count("/") + 1
        # Another root of the host may search the same folder deeper.
        if depth <= rule.max_depth:
            return None
        too_deep = TooDeep(profile, tail.strip("/"), depth, rule.max_depth)
    return too_deep


def _list_tails(profile: Profile) -> Iterator[tuple[str, RootRule]]:
    """The ends of the paths of a host's roots, such as `/.claude/skills`.

    Only those with a folder of the host's own: a plain `skills` can be anybody's.
    """
    for rule in profile.roots.values():
        for template in rule.at:
            # After the last placeholder, such as `{ancestor}`, comes what is the same everywhere.
            tail = _fill_places(template, profile).rpartition("}")[2]
            is_hosts_own = tail.startswith("/.")
            if is_hosts_own:
                yield tail, rule


def _fill_places(template: str, profile: Profile) -> str:
    """The template with the usual folder of each place in it, which is its last alternative."""
    for name in PLACEHOLDER.findall(template):
        alternatives = profile.places.get(name)
        if isinstance(alternatives, tuple) and alternatives:
            template = template.replace(f"{{{name}}}", alternatives[-1])
    return template


def report_too_deep(folder: str) -> Iterator[Diagnostic]:
    """A finding about a skill that is too deep for hosts that read the folder around it."""
    # Loading every profile costs more than a check of one file; few skills are so deep.
    if "/skills/" not in folder:
        return
    too_deep = find_too_deep(folder, load_agents())
    if not too_deep:
        return
    first = too_deep[0]
    profiles = [one.profile for one in too_deep if one.folder == first.folder]
    verb = "searches" if len(profiles) == 1 else "search"
    message = (
        f"The skill is {first.depth} folders below `{first.folder}`; {join_titles(profiles)} {verb}"
        f" only {first.most} deep."
    )
    yield diagnose("too-deep", message)


def join_titles(profiles: Sequence[Profile]) -> str:
    """The titles of hosts as a sentence has them: `a`, `a and b`, `a, b and c`."""
    titles = [profile.title or profile.name for profile in profiles]
    if len(titles) == 1:
        return titles[0]
    return f"{', '.join(titles[:-1])} and {titles[-1]}"
