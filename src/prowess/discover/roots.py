"""From a profile's rules to the folders that are searched, in the host's order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.facts import Facts
from prowess.model.plugin import Plugin
from prowess.model.settings import PathList, Settings
from prowess.model.skill import Root, Scope, Source
from prowess.profiles.conditions import Switches
from prowess.profiles.places import Place, Places, expand, expand_user_path
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import RootRule

# Words of a path template that do not say whose folder it is.
_NO_PROVIDERS = frozenset(
    ("skills", "skill", "managed-skills", "commands", "ancestor", "added", "home", "config", "")
)

# How a root is searched, and what is asked of the skills in it, is as its rule has it.
_FIELDS_OF_RULES = tuple(
    field for field in Root.__struct_fields__ if field in RootRule.__struct_fields__
)
_get_fields = attrgetter(*_FIELDS_OF_RULES)

# How deep a folder is searched of a scope that the host does not know.
_DEPTH = 6


def plan_roots(
    profile: Profile,
    places: Places,
    settings: Settings,
    facts: Facts,
    *,
    later_wins: bool,
    bare: bool = False,
    plugins: Sequence[Plugin] = (),
) -> tuple[Root, ...]:
    """Every root that the profile names, in scan order; those switched off say by what.

    `later_wins` says which of two rules for the same folder is the stronger. The folders of
    `plugins` are roots where the profile has a rule for them.
    """
    switches = Switches(facts.env, settings, profile.switch_words, facts.home, places.cwd)
    bare_by = _find_bare_switch(profile, switches, bare=bare)
    planned: list[Root] = []
    for ids in profile.order:
        for id, rule, template, place in _interleave(profile, _as_tuple(ids), places):
            toggle = _find_off_toggle(profile, _name_label(rule, template), settings)
            root = make_root(
                id,
                rule,
                place,
                template=template,
                order=len(planned),
                within=_find_holder(rule, template, place, places, settings),
                instead=_find_in_main_checkout(rule, place, places),
                disabled_by=_find_off_switch(rule, switches, bare_by, toggle),
            )
            planned.append(root)
        for id in _as_tuple(ids):
            rule = profile.roots[id]
            for plugin in _choose_plugins(rule, plugins):
                off = _find_off_switch(rule, switches, bare_by, None)
                planned += _plan_plugin(id, rule, plugin, order=len(planned), off=off)
    return _drop_repeated(_list_together(planned, profile), later_wins=later_wins)


def add_settings(
    places: Places, settings: Settings, *, agent: str | None = None, has_plugins: bool = False
) -> Places:
    """The places with the agent, and the folders that settings name.

    A profile that `has_plugins` of its own finds those that settings name with them.
    """
    named = {**places.named, "agent": agent or settings.default_agent}
    if settings.workspace is not None:
        named["workspace"] = expand_user_path(settings.workspace, base=places.cwd, places=places)
    lists = settings.skill_paths
    return msgspec.structs.replace(
        places,
        named=named,
        custom=(*settings.custom_folders, *_list_paths(lists, "user")),
        project_custom=_list_paths(lists, "project"),
        plugin=places.plugin if has_plugins else settings.plugin_folders,
    )


def _list_paths(lists: Mapping[str, PathList], name: str) -> tuple[str, ...]:
    return lists[name].paths if name in lists else ()


def find_ignored_folders(profile: Profile, places: Places) -> tuple[Diagnostic, ...]:
    """Whether folders were added for a host that has no such roots."""
    if not places.added:
        return ()
    planned = [id for ids in profile.order for id in _as_tuple(ids)]
    templates = [template for id in planned for template in profile.roots[id].at]
    if any("{added}" in template for template in templates):
        return ()
    message = f"{profile.title or profile.name} has no added folders, so `--add-dir` has no effect."
    first, *others = places.added
    return (diagnose("option-ignored", message, file=first, related=tuple(others)),)


def _as_tuple(ids: str | tuple[str, ...]) -> tuple[str, ...]:
    return (ids,) if isinstance(ids, str) else ids


def _list_together(planned: list[Root], profile: Profile) -> list[Root]:
    """The roots, those that share a place in the catalog with the place of the first of them."""
    first: dict[str, int] = {}
    placed: list[Root] = []
    for root in planned:
        shared = profile.roots[root.id].listed_with
        order = first.setdefault(shared or root.id, root.order)
        placed.append(msgspec.structs.replace(root, listed_at=order) if shared else root)
    return placed


def _find_in_main_checkout(rule: RootRule, place: Place, places: Places) -> str | None:
    """The same folder in the main checkout, for one at the top of a linked worktree."""
    main, top = places.main_checkout, places.repository
    if main is None or top is None or not rule.worktree_fallback:
        return None
    below = str(place.path).removeprefix(top)
    # Deeper folders of the worktree have no fallback: Claude Code asks only at its top.
    at_top = [template.removeprefix("{ancestor}") for template in rule.at]
    return main + below if below in at_top else None


def _drop_repeated(planned: list[Root], *, later_wins: bool) -> tuple[Root, ...]:
    """One root per folder: where two rules name the same one, the stronger of those switched on is
    kept.
    """
    kept: dict[str, Root] = {}
    for root in planned:
        other = kept.setdefault(root.path, root)
        is_on, other_is_on = root.disabled_by is None, other.disabled_by is None
        # A rule that is off must not take the folder from one that is on, however strong it is.
        replaces = later_wins if is_on == other_is_on else is_on
        if replaces:
            kept[root.path] = root
    roots = [root for root in planned if kept[root.path] is root]
    if len(roots) == len(planned):
        return tuple(roots)
    # People count the roots that are searched, so a dropped one leaves no gap.
    return tuple(msgspec.structs.replace(root, order=order) for order, root in enumerate(roots))


def _interleave(
    profile: Profile, ids: tuple[str, ...], places: Places
) -> Iterator[tuple[str, RootRule, str, Place]]:
    """The folders of several rules: all at one ancestor of the working folder before the next."""
    found: list[tuple[str, RootRule, str, Place]] = []
    for id in ids:
        rule = profile.roots[id]
        for template in rule.at:
            expanded = expand(
                template,
                places,
                up_to=rule.up_to,
                without_repository=rule.without_repository,
                skip_home=rule.skip_home,
            )
            found += [(id, rule, template, place) for place in expanded]
    # Sorting is stable: at one distance the order of the rules decides.
    sign = -1 if any(profile.roots[id].farthest_first for id in ids) else 1
    yield from sorted(found, key=lambda one: sign * one[3].distance)


def _find_bare_switch(profile: Profile, switches: Switches, *, bare: bool) -> str | None:
    if bare:
        return "--bare"
    return next((name for name in profile.bare_switches if switches.is_true(f"env:{name}")), None)


def _find_off_toggle(profile: Profile, label: str, settings: Settings) -> str | None:
    """The toggle that names a source and is off."""
    for name, toggle in profile.toggles.items():
        if label in toggle.sources and not settings.toggles.get(name, toggle.default):
            return name
    return None


def _find_off_switch(
    rule: RootRule, switches: Switches, bare_by: str | None, toggle: str | None
) -> str | None:
    """What switches a root off; None where it is on."""
    if bare_by and not rule.keep_when_bare:
        return bare_by
    # Every switch is read, so that a word that the host refuses is an error even where another
    # switch already decides.
    stops = [condition for condition in rule.unless if switches.is_true(condition)]
    if stops:
        return _name_condition(stops[0])
    if toggle is not None:
        return toggle
    is_wanted = not rule.when or any(map(switches.is_true, rule.when))
    return None if is_wanted else _name_condition(rule.when[0])


def _name_condition(condition: str) -> str:
    kind, _, name = condition.partition(":")
    if kind == "provider":
        return f"{name} is not in enabledProviders"
    if kind == "trusted-folder":
        return "the host does not trust the working folder"
    return name.partition("=")[0] or "every source toggle is off"


def find_rule(profile: Profile, scope: Scope) -> RootRule:
    """What the host demands of skills of a scope: its own rule for such folders."""
    for rule in profile.roots.values():
        if rule.scope is scope and rule.layout == "skills":
            return rule
    return RootRule(at=(), scope=scope, max_depth=_DEPTH)


def make_root(
    id: str,
    rule: RootRule,
    place: Place,
    *,
    template: str = "",
    order: int = 0,
    within: str | None = None,
    instead: str | None = None,
    disabled_by: str | None = None,
) -> Root:
    """The root that a rule describes, in one folder."""
    as_in_rule = dict(zip(_FIELDS_OF_RULES, _get_fields(rule), strict=True))
    provider = rule.provider or _name_provider(template)
    label = _name_label(rule, template)
    return Root(
        **as_in_rule,
        id=id,
        path=place.path,
        source=Source(provider, rule.level, place.path, rule.loaded_from, label),
        order=order,
        distance=place.distance,
        instead=instead,
        qualifier=_name_qualifier(template, place.path),
        within=within,
        disabled_by=disabled_by,
    )


def _choose_plugins(rule: RootRule, plugins: Sequence[Plugin]) -> list[Plugin]:
    """The plugins whose folders a rule is about."""
    of_kind = [plugin for plugin in plugins if plugin.kind in rule.plugins]
    if not rule.formats:
        return of_kind
    return [plugin for plugin in of_kind if plugin.format in rule.formats]


def _plan_plugin(
    id: str, rule: RootRule, plugin: Plugin, *, order: int, off: str | None
) -> Iterator[Root]:
    """The roots of one plugin: each folder that it has for skills, or for commands."""
    folders = plugin.skills if rule.part == "skills" else plugin.commands
    if not plugin.is_enabled:
        off = f"the plugin {plugin.id} is off"
    level = rule.level or plugin.owner
    label = rule.label.replace("{plugin}", plugin.id) or f"{rule.provider}:{level}"
    for position, folder in enumerate(folders):
        root = make_root(id, rule, Place(folder.path, 0), order=order + position, disabled_by=off)
        yield msgspec.structs.replace(
            root,
            source=Source(rule.provider, level, folder.path, rule.loaded_from, label),
            # A folder that a manifest names may be a skill itself.
            min_depth=0 if folder.is_declared else rule.min_depth,
            within=plugin.within,
            plugin=plugin.id,
            plugin_folder=plugin.real,
            prefix=plugin.prefix,
        )


def _find_holder(
    rule: RootRule, template: str, place: Place, places: Places, settings: Settings
) -> str | None:
    """The folder that a root must stay in; None where it is its user's own, who may link it
    anywhere.
    """
    before, _, rest = template.partition("{")
    name, _, below = rest.partition("}")
    if name == "project_custom":
        return places.cwd
    if name in ("custom", "plugin"):
        # A project's settings can name any folder of the machine, and must not reach it.
        is_projects = settings.is_from_project(f"{name}_folders")
        return places.cwd if is_projects else None
    is_users_own = rule.scope not in (Scope.PROJECT, Scope.ADDED)
    is_below_place = bool(name) and not before
    if is_users_own or not is_below_place:
        return None
    tail = places.paths.normpath(below.lstrip("/")) if below else ""
    return str(place.path.removesuffix(tail)).rstrip("/\\") or place.path


def _name_qualifier(template: str, path: str) -> str | None:
    """`{added}/.claude/skills` and `/a/b/.claude/skills` → b; None where no option added it."""
    _, added, below = template.partition("{added}")
    if not added:
        return None
    return path.replace("\\", "/").removesuffix(below).rpartition("/")[2] or None


def _name_label(rule: RootRule, template: str) -> str:
    return rule.label or f"{rule.provider or _name_provider(template)}:{rule.level}"


@lru_cache
def _name_provider(template: str) -> str:
    """`{ancestor}/.claude/skills` and `{claude}/skills` → claude, `{ancestor}/skills` → folder."""
    parts = [part.strip("{}").lstrip(".") for part in template.replace("\\", "/").split("/")]
    words = [part for part in parts if part not in _NO_PROVIDERS]
    return words[-1] if words else "folder"
