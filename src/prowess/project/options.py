"""What may be said when skills are opened, and when a catalog is made."""

# Annotations are real types, not strings: Python compiles those of a TypedDict on every start.

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypedDict

from prowess.model.facts import Facts
from prowess.model.permission import Rule
from prowess.model.skill import Root, Skill
from prowess.ports import FileSystem, Listener, Ranker, Refresh, Reporter, SkillSource, UsageStore


class Options(TypedDict, total=False):
    """What may be said beside the folder and the host.

    `facts` and `files` replace this machine. `add_dirs` are further folders to search, and
    `plugins` folders of plugins to load. `bare` leaves out what is not managed. `agent` and `rules`
    are for whom skills are opened and what it may use. `places` are folders by the names that
    profiles use, `roots` replace those of the profile, and `sources` yield skills from elsewhere.
    Without `cache` every file is read again. With `usage`, uses are counted in a database of the
    user's own, unless settings say no, or in a store of your own. `trust` decides which skills may
    run commands in place of what the user trusts: all, none, or what a function says. `refresh`
    says when changes are noticed: at the next request (`auto`), only by `reload` (`manual`), or
    after so many seconds. `reporter` follows the progress of a scan. `thorough` also looks for
    skills where the host doesn't: inside other skills, and deeper than it goes; they end as
    skipped. `packages` also finds the skills of installed packages that no setting turns on; they
    end as disabled.
    """

    facts: Facts | None
    files: FileSystem | None
    add_dirs: Iterable[str | os.PathLike[str]]
    plugins: Iterable[str | os.PathLike[str]]
    bare: bool
    agent: str | None
    rules: Iterable[Rule]
    places: Mapping[str, str] | None
    roots: Sequence[Root] | None
    sources: Iterable[SkillSource]
    cache: bool
    usage: bool | UsageStore
    trust: bool | Callable[[Skill], bool] | None
    refresh: Refresh
    reporter: Reporter | None
    thorough: bool
    packages: bool


class OpenOptions(Options, total=False):
    """What `Skills.open` takes beside the folder and the host; `on_event` hears a host's events."""

    on_event: Listener | None


class CatalogOptions(TypedDict, total=False):
    """What may be said of a catalog.

    `context_tokens` is the size of the model's context window, for budgets that are a share of it.
    `characters` and `format` replace the host's own budget and format. With a `request` and a
    `ranker`, what fits the request comes first. Without `can_read_skill_urls` the list shows files
    instead of `skill://` addresses.
    """

    context_tokens: int | None
    characters: int | None
    format: str | None
    request: str | None
    ranker: Ranker | None
    can_read_skill_urls: bool


def check_options(options: Options) -> None:
    """Raise TypeError for a name that is no option: Python does not check those of a TypedDict."""
    unknown = sorted(options.keys() - Options.__annotations__.keys())
    if unknown:
        known = ", ".join(sorted(Options.__annotations__))
        raise TypeError(f"unknown option {unknown[0]!r}; the options are {known}")
