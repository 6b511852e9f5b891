"""Rules against a request: whether an agent may use a skill, and the rule that decided.

`gather_rules` puts the rules of an agent in order once per scan; `decide` picks the one that
applies to a request. How rules outrank each other differs between hosts, see `COMBINATIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from prowess.errors import SwitchError, UsageError
from prowess.model.facts import Facts
from prowess.model.origin import Origin
from prowess.model.outcome import Note, State
from prowess.model.permission import STRICTNESS, Action, ApprovalRequest, Decision, Rule
from prowess.model.settings import Settings
from prowess.model.skill import Manifest
from prowess.profiles.schema.resolution import PermissionRules
from prowess.text.globs import matches_wildcard
from prowess.text.permission_rules import (
    SKILL_TOOLS,
    RuleError,
    Tools,
    parse_rule_table,
    parse_rule_text,
)

_SKILL = "skill"
_VERBS = {
    Action.ALLOW: "allows it",
    Action.ASK: "requires approval",
    Action.DENY: "denies it",
}

_Sides = tuple[tuple[Rule, ...], tuple[Rule, ...]]
"""The rules of the host and of settings files, and those given with the request."""


class AgentRules(msgspec.Struct, frozen=True, kw_only=True):
    """Every rule that applies to one agent, in the order that counts.

    `written` come from the host and from settings files, `given` with the request itself. `skill`
    are both again, only those about skills, because every skill is checked against them.
    """

    written: tuple[Rule, ...]
    given: tuple[Rule, ...]
    skill: _Sides
    table: PermissionRules
    fold: bool
    can_deny: bool

    def about(self, permission: str) -> _Sides:
        """The written and the given rules about a permission."""
        if permission == _SKILL:
            return self.skill
        return _select(permission, self.written), _select(permission, self.given)


def _select(permission: str, rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if matches_wildcard(permission, rule.permission))


def gather_rules(
    settings: Settings,
    table: PermissionRules,
    facts: Facts,
    *,
    agent: str | None = None,
    given: Iterable[Rule] = (),
) -> AgentRules:
    """The rules that apply to an agent: the host's, the user's, and those given with a request."""
    # Paths on Windows ignore case, and so do the patterns of a host that treats them like paths.
    fold = table.like_paths and facts.platform == "win32"

    def prepare(rules: Iterable[Rule]) -> tuple[Rule, ...]:
        return tuple(_expand_pattern(rule, table, facts, fold=fold) for rule in rules)

    hosts = _as_rules(table.base) + _as_rules(table.agents.get(agent or "", {}))
    written = prepare([*hosts, *_arrange_users(settings, table, facts, agent)])
    given = prepare(given)
    about_skills = _select(_SKILL, written), _select(_SKILL, given)
    actions = {rule.action for rule in (*about_skills[0], *about_skills[1])}
    return AgentRules(
        written=written,
        given=given,
        skill=about_skills,
        table=table,
        fold=fold,
        can_deny=Action.DENY in (table.default, *actions),
    )


def _arrange_users(
    settings: Settings, table: PermissionRules, facts: Facts, agent: str | None
) -> list[Rule]:
    """The rules of settings files and of the host's variable; an agent's own come last."""
    of_everyone = [rule for rule in settings.permissions if rule.agent is None]
    of_everyone += _load_switch(table.switch, facts)
    arrange = COMBINATIONS[table.combine].arrange
    if agent is None:
        return list(arrange(of_everyone))
    of_agent = [rule for rule in settings.permissions if rule.agent == agent]
    # Arranged apart, because opencode merges the files first and adds the agent's table after.
    return [*arrange(of_everyone), *arrange(of_agent)]


def _as_rules(table: Mapping[str, Any]) -> list[Rule]:
    return [rule for _, rule in parse_rule_table(msgspec.to_builtins(table))]


def _load_switch(name: str, facts: Facts) -> list[Rule]:
    """The rules in the environment variable that a host has for them."""
    text = facts.env.get(name, "") if name else ""
    if not text:
        return []
    try:
        table = list(parse_rule_table(msgspec.json.decode(text)))
    except (RuleError, msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        # The last is for bytes that are not UTF-8. Ignored rules would allow what the user wanted
        # to deny.
        allowed = 'JSON such as {"skill": "ask"} with allow, ask or deny'
        raise SwitchError(name, text, [allowed]) from None
    origin = Origin(f"${name}")
    return [msgspec.structs.replace(rule, origin=origin) for _, rule in table]


def _expand_pattern(rule: Rule, table: PermissionRules, facts: Facts, *, fold: bool) -> Rule:
    pattern = rule.pattern
    if table.like_paths:
        pattern = _expand_home(pattern, facts.home)
    if fold:
        pattern = pattern.casefold()
    return msgspec.structs.replace(rule, pattern=pattern)


def _expand_home(pattern: str, home: str) -> str:
    # As in opencode: `$HOME` counts even where a name goes on (`$HOMEWORK`), `~` only as a folder.
    if pattern.startswith("$HOME"):
        return home + pattern.removeprefix("$HOME")
    if pattern == "~" or pattern.startswith("~/"):
        return home + pattern.removeprefix("~")
    return pattern


def parse_given(
    table: str | Mapping[str, Any] | None = None,
    *,
    allow: Iterable[str] = (),
    ask: Iterable[str] = (),
    deny: Iterable[str] = (),
    tools: Tools = SKILL_TOOLS,
) -> tuple[Rule, ...]:
    """The rules that come with a request, from a table or from texts.

    A table looks like `{"skill": {"deploy": "deny"}}`, a text like `Skill(deploy *)`; `tools` are
    those that texts can be about. Raises a `UsageError` that says what is allowed.
    """
    texts = {Action.ALLOW: allow, Action.ASK: ask, Action.DENY: deny}
    rules: list[Rule] = []
    try:
        if table is not None:
            rules += [rule for _, rule in parse_rule_table(table)]
        for action, of_action in texts.items():
            rules += [_parse_text(action, text, tools) for text in of_action]
    except RuleError as error:
        key = ".".join(error.path)
        subject = f"The permission rule `{key}`" if key else "A permission rule"
        raise UsageError(f"{subject} {error.problem}.") from None
    return tuple(rules)


def _parse_text(action: Action, text: str, tools: Tools) -> Rule:
    rule = parse_rule_text(action, text, tools)
    if rule is None:
        raise RuleError((), f"is “{text}”, which is not about skills; write it as `Skill(name)`")
    return rule


def request_skill(name: str, manifest: Manifest | None = None) -> ApprovalRequest:
    """The request to use a skill. A name such as `folder:deploy` is also that of `deploy`."""
    aliases = manifest.aliases if manifest else ()
    # A rule against `deploy` must not be escaped by calling it `folder:deploy`.
    short = name.rpartition(":")[2]
    if short != name:
        aliases = (*aliases, short)
    return ApprovalRequest(permission=_SKILL, patterns=(name,), always=(name,), aliases=aliases)


def decide(
    request: ApprovalRequest, rules: AgentRules, manifest: Manifest | None = None
) -> Decision:
    """What the rules say about a request; of several patterns the strictest answer applies.

    `manifest` is that of the requested skill, if there is one: some hosts ask for skills that
    declare tools.
    """
    decisions = [_decide_one(name, request, rules, manifest) for name in request.patterns]
    return max(decisions, key=lambda decision: STRICTNESS[decision.action])


def find_unallowed(request: ApprovalRequest, rules: AgentRules) -> Decision | None:
    """The decision to ask, where no rule is about something that needs one; None where all have."""
    written, given = rules.about(request.permission)
    relevant = (*written, *given)
    for pattern, suggested in request.unless_allowed.items():
        name = pattern.casefold() if rules.fold else pattern
        if _covering(relevant, name, ()):
            continue
        reason = (
            f"the model chose an argument of `{pattern}`, and no rule allows that"
            f" (`{suggested}` would)"
        )
        return Decision(Action.ASK, reason)
    return None


def _decide_one(
    name: str, request: ApprovalRequest, rules: AgentRules, manifest: Manifest | None
) -> Decision:
    aliases = request.aliases if rules.table.deny_aliases else ()
    if rules.fold:
        name = name.casefold()
        aliases = tuple(map(str.casefold, aliases))
    written, given = rules.about(request.permission)
    pick = COMBINATIONS[rules.table.combine].pick
    rule = pick(_covering(written, name, aliases), _covering(given, name, aliases))
    if rule is None:
        return _decide_by_default(rules.table, manifest)
    return Decision(rule.action, f"the rule {rule} {_VERBS[rule.action]}", rule)


def _covering(rules: Sequence[Rule], name: str, aliases: Sequence[str]) -> list[Rule]:
    return [rule for rule in rules if _covers(rule, name, aliases)]


def _covers(rule: Rule, name: str, aliases: Sequence[str]) -> bool:
    """Whether a rule is about a name; a denial also counts for one of its other names."""
    if matches_wildcard(name, rule.pattern):
        return True
    # Its author chooses the other names of a skill, so they must not be a way to be allowed.
    if rule.action is not Action.DENY:
        return False
    return any(matches_wildcard(alias, rule.pattern) for alias in aliases)


def _decide_by_default(table: PermissionRules, manifest: Manifest | None) -> Decision:
    default = table.default
    plain = Decision(default, f"no rule matches and the default is `{default.value}`")
    if manifest is None or default is not Action.ALLOW:
        return plain
    # Claude Code asks for a skill with `allowed-tools` or `hooks`, and allows plain ones.
    for field in table.ask_for:
        if getattr(manifest, field):
            declared = field.replace("_", "-")
            return Decision(Action.ASK, f"its header has `{declared}`, which requires approval")
    return plain


def find_denied(name: str, manifest: Manifest, rules: AgentRules) -> Note | None:
    """Why an agent is not shown a skill that it may not use; None if it is shown."""
    if not rules.can_deny:
        return None
    decision = decide(request_skill(name, manifest), rules, manifest)
    if decision.action is not Action.DENY:
        return None
    # Claude Code shows what is denied and refuses it when called, unless everything is denied.
    is_hidden = rules.table.hide_denied or section_removed(rules)
    if not is_hidden:
        return None
    rule = "permissions.default" if decision.rule is None else decision.rule.text
    return Note(State.DENIED, decision.reason, rule=rule)


def section_removed(rules: AgentRules, permission: str = _SKILL) -> bool:
    """Whether everything is denied, so that neither the catalog nor the tool is offered at all."""
    written, given = rules.about(permission)
    if not written and not given:
        return rules.table.default is Action.DENY
    return COMBINATIONS[rules.table.combine].removes(written, given)


class Combination(msgspec.Struct, frozen=True):
    """How the rules of an agent work together, as functions of the written and the given rules.

    `arrange` orders the rules of the user's files, `pick` finds the rule that decides among those
    that match, and `removes` says whether they deny everything.
    """

    arrange: Callable[[Sequence[Rule]], Sequence[Rule]]
    pick: Callable[[Sequence[Rule], Sequence[Rule]], Rule | None]
    removes: Callable[[Sequence[Rule], Sequence[Rule]], bool]


def _as_written(rules: Sequence[Rule]) -> Sequence[Rule]:
    return rules


def _merge_tables(rules: Sequence[Rule]) -> list[Rule]:
    """The rules of several files merged as opencode merges JSON.

    A key keeps its first position, and an action in place of a table replaces the whole table.
    """
    merged: dict[str, dict[str, Rule]] = {}
    # Weak rules, from a table of tools, come first: every ordinary rule overrides them.
    for rule in sorted(rules, key=lambda rule: not rule.weak):
        patterns = merged.setdefault(rule.permission, {})
        was_action = any(other.whole for other in patterns.values())
        # JSON has either an action or a table at a key; each takes the place of the other.
        if rule.whole or was_action:
            patterns.clear()
        patterns[rule.pattern] = rule
    in_order: list[Rule] = []
    for patterns in merged.values():
        in_order += patterns.values()
    return in_order


def _find_last(written: Sequence[Rule], given: Sequence[Rule]) -> Rule | None:
    rules = given or written
    return rules[-1] if rules else None


def _find_strictest(written: Sequence[Rule], given: Sequence[Rule]) -> Rule | None:
    return max((*written, *given), key=lambda rule: STRICTNESS[rule.action], default=None)


def _find_strictest_file(written: Sequence[Rule], given: Sequence[Rule]) -> Rule | None:
    # What comes with the request is the user's own word and outranks every file.
    if given:
        return given[-1]
    return _find_strictest(_last_of_each_file(written), ())


def _last_of_each_file(written: Iterable[Rule]) -> Sequence[Rule]:
    last_by_file = {rule.origin.file: rule for rule in written}
    return tuple(last_by_file.values())


def _denies_all(rule: Rule | None) -> bool:
    if rule is None:
        return False
    return rule.action is Action.DENY and rule.pattern == "*"


def _last_denies_all(written: Sequence[Rule], given: Sequence[Rule]) -> bool:
    return _denies_all(_find_last(written, given))


def _any_denies_all(written: Sequence[Rule], given: Sequence[Rule]) -> bool:
    return any(map(_denies_all, (*written, *given)))


def _any_file_denies_all(written: Sequence[Rule], given: Sequence[Rule]) -> bool:
    # A given rule that allows something leaves it to be offered, whatever the files deny.
    if any(rule.action is not Action.DENY for rule in given):
        return _denies_all(given[-1])
    return _any_denies_all(_last_of_each_file(written), given)


COMBINATIONS: dict[str, Combination] = {
    "last": Combination(_merge_tables, _find_last, _last_denies_all),
    "deny-first": Combination(_as_written, _find_strictest, _any_denies_all),
    "strictest": Combination(_as_written, _find_strictest_file, _any_file_denies_all),
}
