"""Rules against a request: whether an agent may use a skill, and the rule that decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from prowess.errors import SwitchError, UsageError
from prowess.model.facts import Facts
from prowess.model.origin import Origin
from prowess.model.outcome import Note, State
from prowess.model.permission import STRICTNESS, Action, Decision, Request, Rule
from prowess.model.settings import Settings
from prowess.model.skill import Manifest
from prowess.profiles.schema.resolution import PermissionRules
from prowess.text.globs import matches_wildcard
from prowess.text.permission_rules import RuleError, parse_rule_table, parse_rule_text

_SKILL = "skill"
_WORDS = {
    Action.ALLOW: "allows it",
    Action.ASK: "wants it to be asked for",
    Action.DENY: "denies it",
}


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Every rule that holds for one agent, in the order that counts. `given` are those of the
    request itself.

    `skill` are both once more, those about skills only: every skill is held against them.
    """

    written: tuple[Rule, ...]
    given: tuple[Rule, ...]
    skill: tuple[tuple[Rule, ...], tuple[Rule, ...]]
    table: PermissionRules
    fold: bool
    can_deny: bool

    def about(self, permission: str) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
        """The written and the given rules that are about a permission."""
        return self.skill if permission == _SKILL else _about(permission, self.written, self.given)


def _about(
    permission: str, written: Iterable[Rule], given: Iterable[Rule]
) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    return (
        tuple(rule for rule in written if matches_wildcard(permission, rule.permission)),
        tuple(rule for rule in given if matches_wildcard(permission, rule.permission)),
    )


def gather_rules(
    settings: Settings,
    table: PermissionRules,
    facts: Facts,
    *,
    agent: str | None = None,
    given: Iterable[Rule] = (),
) -> Rules:
    """The rules that hold for an agent: the host's own, the user's, and those given with the
    request.
    """
    base = _as_rules(table.base) + _as_rules(table.agents.get(agent or "", {}))
    users = [rule for rule in settings.permissions if rule.agent is None] + _load_switch(
        table.switch, facts
    )
    agents = [rule for rule in settings.permissions if agent is not None and rule.agent == agent]
    arrange = _ARRANGE[table.combine]
    fold = table.like_paths and facts.platform == "win32"
    written = tuple(
        _prepare(rule, table, facts, fold=fold)
        for rule in [*base, *arrange(users), *arrange(agents)]
    )
    given = tuple(_prepare(rule, table, facts, fold=fold) for rule in given)
    skill = _about(_SKILL, written, given)
    denies = (
        any(rule.action is Action.DENY for rules in skill for rule in rules)
        or table.default is Action.DENY
    )
    return Rules(written=written, given=given, skill=skill, table=table, fold=fold, can_deny=denies)


def parse_given(
    table: str | Mapping[str, Any] | None = None,
    *,
    allow: Iterable[str] = (),
    ask: Iterable[str] = (),
    deny: Iterable[str] = (),
) -> tuple[Rule, ...]:
    """Rules that come with a request: a table (`{"skill": {"deploy": "deny"}}`) or texts
    (`Skill(deploy *)`).

    Raises a `UsageError` that says what is allowed.
    """
    found: list[Rule] = []
    try:
        if table is not None:
            found += [rule for _, rule in parse_rule_table(table)]
        for action, texts in ((Action.ALLOW, allow), (Action.ASK, ask), (Action.DENY, deny)):
            found += [_parse_text(action, text) for text in texts]
    except RuleError as error:
        rule = (
            f"The permission rule `{'.'.join(error.path)}`" if error.path else "A permission rule"
        )
        raise UsageError(f"{rule} {error.problem}.") from None
    return tuple(found)


def _parse_text(action: Action, text: str) -> Rule:
    rule = parse_rule_text(action, text)
    if rule is None:
        raise RuleError(
            (), f"is “{text}”, which is about no skill; a rule such as `Skill(name)` is"
        )
    return rule


def decide(request: Request, rules: Rules, manifest: Manifest | None = None) -> Decision:
    """What the rules say of a request; of several patterns the strictest answer holds.

    `manifest` is that of the skill which is wanted, where one is: some hosts ask for skills that
    declare tools.
    """
    decisions = [_decide_one(name, request, rules, manifest) for name in request.patterns]
    return max(decisions, key=lambda decision: STRICTNESS[decision.action])


def request_skill(name: str, manifest: Manifest | None = None) -> Request:
    """The request to use a skill. A name such as `folder:deploy` is also that of `deploy`."""
    short = name.rpartition(":")[2]
    aliases = (*(manifest.aliases if manifest else ()), *((short,) if short != name else ()))
    return Request(permission=_SKILL, patterns=(name,), always=(name,), aliases=aliases)


def find_denied(name: str, manifest: Manifest, rules: Rules) -> Note | None:
    """Why an agent is not shown a skill that it may not use; None where it is shown."""
    if not rules.can_deny:
        return None
    decision = decide(request_skill(name, manifest), rules, manifest)
    if decision.action is not Action.DENY or not (
        rules.table.hide_denied or section_removed(rules)
    ):
        return None
    return Note(
        State.DENIED,
        decision.reason,
        rule=decision.rule.text if decision.rule else "permissions.default",
    )


def section_removed(rules: Rules, permission: str = _SKILL) -> bool:
    """Whether everything is denied, so that neither the catalog nor the tool is offered at all."""
    written, given = rules.about(permission)
    if not written and not given:
        return rules.table.default is Action.DENY
    return _REMOVES[rules.table.combine](written, given)


def _decide_one(name: str, request: Request, rules: Rules, manifest: Manifest | None) -> Decision:
    aliases = request.aliases if rules.table.deny_aliases else ()
    name, aliases = (
        (name.casefold(), tuple(map(str.casefold, aliases))) if rules.fold else (name, aliases)
    )
    written, given = rules.about(request.permission)
    rule = _PICK[rules.table.combine](
        _covering(written, name, aliases), _covering(given, name, aliases)
    )
    if rule is not None:
        return Decision(rule.action, f"the rule {rule} {_WORDS[rule.action]}", rule)
    return _decide_by_default(rules.table, manifest)


def _covering(rules: Sequence[Rule], name: str, aliases: Sequence[str]) -> list[Rule]:
    """The rules that cover a name; a denial also by one of its other names."""
    return [
        rule
        for rule in rules
        if matches_wildcard(name, rule.pattern)
        or (
            aliases
            and rule.action is Action.DENY
            and any(matches_wildcard(alias, rule.pattern) for alias in aliases)
        )
    ]


def _decide_by_default(table: PermissionRules, manifest: Manifest | None) -> Decision:
    declared = next(
        (field for field in table.ask_for if manifest is not None and getattr(manifest, field)),
        None,
    )
    if declared is not None and table.default is Action.ALLOW:
        return Decision(
            Action.ASK, f"its header has `{declared.replace('_', '-')}`, which is asked for"
        )
    return Decision(
        table.default, f"no rule is about it, and the host then {_WORDS[table.default]}"
    )


def _as_rules(table: Mapping[str, Any]) -> list[Rule]:
    return [rule for _, rule in parse_rule_table(msgspec.to_builtins(table))]


def _load_switch(name: str, facts: Facts) -> list[Rule]:
    text = facts.env.get(name, "") if name else ""
    if not text:
        return []
    try:
        origin = Origin(f"${name}")
        rules = parse_rule_table(msgspec.json.decode(text))
        return [msgspec.structs.replace(rule, origin=origin) for _, rule in rules]
    except (RuleError, msgspec.DecodeError, RecursionError):
        raise SwitchError(
            name, text, ['JSON such as {"skill": "ask"} with allow, ask or deny']
        ) from None


def _prepare(rule: Rule, table: PermissionRules, facts: Facts, *, fold: bool) -> Rule:
    pattern = rule.pattern
    if table.like_paths:
        home = next(
            (start for start in ("~/", "$HOME") if pattern.startswith(start)),
            "~" if pattern == "~" else "",
        )
        pattern = facts.home + pattern[len(home.rstrip("/")) :] if home else pattern
    pattern = pattern.casefold() if fold else pattern
    return rule if pattern == rule.pattern else msgspec.structs.replace(rule, pattern=pattern)


def _lay_over(rules: Sequence[Rule]) -> list[Rule]:
    """Tables laid over one another: a key keeps its first place, and what is no table replaces what
    stood there.
    """
    laid: dict[str, dict[str, Rule]] = {}
    for rule in sorted(rules, key=lambda rule: not rule.weak):
        patterns = laid.setdefault(rule.permission, {})
        if rule.whole or any(other.whole for other in patterns.values()):
            patterns.clear()
        patterns[rule.pattern] = rule
    return [rule for patterns in laid.values() for rule in patterns.values()]


_ARRANGE: dict[str, Callable[[Sequence[Rule]], Sequence[Rule]]] = {
    "last": _lay_over,
    "deny-first": lambda rules: rules,
    "strictest": lambda rules: rules,
}


def _find_last(written: Sequence[Rule], given: Sequence[Rule]) -> Rule | None:
    return next(iter((*reversed(given), *reversed(written))), None)


def _find_strictest(rules: Iterable[Rule]) -> Rule | None:
    return max(rules, key=lambda rule: STRICTNESS[rule.action], default=None)


def _last_of_each_file(written: Iterable[Rule]) -> Iterable[Rule]:
    return {rule.origin.file: rule for rule in written}.values()


_PICK: dict[str, Callable[[Sequence[Rule], Sequence[Rule]], Rule | None]] = {
    "last": _find_last,
    "deny-first": lambda written, given: _find_strictest((*written, *given)),
    "strictest": lambda written, given: (
        _find_last((), given) or _find_strictest(_last_of_each_file(written))
    ),
}


def _denies_all(rule: Rule | None) -> bool:
    return rule is not None and rule.action is Action.DENY and rule.pattern == "*"


def _each_file_removes(written: Sequence[Rule], given: Sequence[Rule]) -> bool:
    if any(rule.action is not Action.DENY for rule in given):
        return _denies_all(_find_last((), given))
    return any(map(_denies_all, (*_last_of_each_file(written), *given)))


_REMOVES: dict[str, Callable[[Sequence[Rule], Sequence[Rule]], bool]] = {
    "last": lambda written, given: _denies_all(_find_last(written, given)),
    "deny-first": lambda written, given: any(map(_denies_all, (*written, *given))),
    "strictest": _each_file_removes,
}
