"""Laws of permissions: whatever the rules, the names and the answers."""

from __future__ import annotations

import fnmatch
import re
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from prowess.gate.approvals import Approvals
from prowess.gate.permissions import (
    AgentRules,
    decide,
    find_denied,
    gather_rules,
    parse_given,
    request_skill,
    section_removed,
)
from prowess.model.origin import Origin
from prowess.model.permission import (
    STRICTNESS,
    Action,
    ApprovalAnswer,
    ApprovalChoice,
    ApprovalRequest,
    Decision,
    Rule,
)
from prowess.model.settings import Settings
from prowess.model.skill import Manifest
from prowess.profiles.load import load_profile
from prowess.testing import make_facts
from prowess.text.globs import matches_wildcard
from prowess.text.permission_rules import RuleError, parse_rule_text

HOSTS = ("opencode", "claude-code", "prowess", "openclaw")
names = st.text("ab-:*? ", max_size=6)
patterns = st.one_of(st.just("*"), names)
permissions = st.sampled_from(["skill", "*", "s*", "bash", "edit"])
files = st.sampled_from(["/home/me/a", "/project/b", "/project/c"])
pattern_rules = st.builds(
    Rule,
    action=st.sampled_from(Action),
    permission=permissions,
    pattern=patterns,
    origin=st.builds(Origin, files, st.just(1)),
    agent=st.sampled_from([None, "plan"]),
)
whole_rules = pattern_rules.map(lambda rule: msgspec.structs.replace(rule, pattern="*", whole=True))
tool_rules = whole_rules.map(lambda rule: msgspec.structs.replace(rule, weak=True))
rule_values = st.one_of(pattern_rules, whole_rules, tool_rules)
hosts = st.sampled_from(HOSTS)


def gather(
    host: str, written: list[Rule], given: list[Rule] | None = None, agent: str | None = None
) -> AgentRules:
    table = load_profile(host).permissions
    settings = Settings(permissions=tuple(written))
    return gather_rules(settings, table, make_facts(), agent=agent, given=given or ())


def of_everyone(rules: list[Rule]) -> list[Rule]:
    return [msgspec.structs.replace(rule, agent=None) for rule in rules]


def action(rules: AgentRules, name: str) -> Action:
    return decide(request_skill(name), rules).action


@given(names, patterns)
def test_a_wildcard_covers_what_a_regular_expression_would(text: str, pattern: str) -> None:
    expression = "".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern)
    if pattern.endswith(" *"):
        expression = expression.removesuffix(re.escape(" ") + ".*") + "( .*)?"
    assert matches_wildcard(text, pattern) is bool(re.fullmatch(expression, text, re.DOTALL))
    if not pattern.endswith(" *"):
        assert matches_wildcard(text, pattern) is fnmatch.fnmatchcase(text, pattern)


@given(st.lists(rule_values, max_size=8), names)
def test_the_last_rule_that_matches_wins(rules: list[Rule], name: str) -> None:
    # Given with the request, rules are not laid over one another.
    decided = decide(request_skill(name), gather("opencode", [], of_everyone(rules)))
    matching = [
        rule
        for rule in of_everyone(rules)
        if matches_wildcard("skill", rule.permission) and matches_wildcard(name, rule.pattern)
    ]
    expected = matching[-1].action if matching else Action.ALLOW
    assert decided.action is expected
    assert not matching or decided.rule == matching[-1]


@given(hosts, st.lists(rule_values, max_size=8), names)
def test_denying_first_is_never_milder_than_any_rule_and_files_never_loosen_one_another(
    host: str, rules: list[Rule], name: str
) -> None:
    rules = of_everyone(rules)
    if host == "claude-code":
        found = [
            rule
            for rule in rules
            if matches_wildcard("skill", rule.permission) and matches_wildcard(name, rule.pattern)
        ]
        assert all(
            STRICTNESS[action(gather(host, rules), name)] >= STRICTNESS[rule.action]
            for rule in found
        )
    if host == "prowess":
        whole = STRICTNESS[action(gather(host, rules), name)]
        for file in {rule.origin.file for rule in rules}:
            alone = decide(
                request_skill(name),
                gather(host, [rule for rule in rules if rule.origin.file == file]),
            )
            assert alone.rule is None or whole >= STRICTNESS[alone.action]


@given(hosts, st.lists(rule_values, max_size=8), names, files)
def test_a_later_allowance_of_a_name_never_removes_it(
    host: str, rules: list[Rule], name: str, file: str
) -> None:
    later = Rule(action=Action.ALLOW, pattern=name, origin=Origin(file, 9))
    before = gather(host, rules, agent="plan")
    for after in (
        gather(host, [*rules, later], agent="plan"),
        gather(host, rules, [later], agent="plan"),
    ):
        if find_denied(name, Manifest(), before) is None:
            assert find_denied(name, Manifest(), after) is None


@given(
    hosts, st.lists(rule_values, max_size=8), st.lists(rule_values, max_size=4), names, st.data()
)
def test_rules_for_other_permissions_change_nothing(
    host: str, rules: list[Rule], others: list[Rule], name: str, data: Any
) -> None:
    others = [msgspec.structs.replace(rule, permission="bash") for rule in others]
    mixed = list(rules)
    for other in others:
        mixed.insert(data.draw(st.integers(0, len(mixed))), other)
    one, both = gather(host, rules), gather(host, mixed)
    assert decide(request_skill(name), one) == decide(request_skill(name), both)
    assert section_removed(one) is section_removed(both)


@given(hosts, st.lists(rule_values, max_size=8), names)
def test_the_section_goes_only_where_every_name_is_denied(
    host: str, rules: list[Rule], name: str
) -> None:
    gathered = gather(host, rules, agent="plan")
    if section_removed(gathered):
        assert action(gathered, name) is Action.DENY
        assert find_denied(name, Manifest(), gathered) is not None


@given(hosts, st.lists(rule_values, max_size=8), names)
def test_rules_of_another_agent_change_nothing(host: str, rules: list[Rule], name: str) -> None:
    for_all = [rule for rule in rules if rule.agent is None]
    assert action(gather(host, rules, agent="build"), name) is action(gather(host, for_all), name)


@given(st.text(max_size=30))
def test_a_rule_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        rule = parse_rule_text(Action.DENY, text)
    except RuleError:
        assert text.strip().startswith("Skill")
    else:
        assert rule is None or rule.action is Action.DENY


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5),
        lambda inner: st.dictionaries(st.text(max_size=5), inner),
    )
)
def test_a_given_table_is_read_or_refused_with_a_sentence(table: Any) -> None:
    from prowess.errors import UsageError

    try:
        rules = parse_given(table)
    except UsageError as error:
        assert "must be one of allow, ask, deny" in str(error)
    else:
        assert all(isinstance(rule, Rule) for rule in rules)


class Always:
    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        return ApprovalAnswer(ApprovalChoice.ALWAYS)


@given(
    st.lists(st.tuples(names, st.sampled_from("123")), max_size=8), names, st.sampled_from("123")
)
def test_an_approval_holds_for_its_content_only(
    approved: list[tuple[str, str]], name: str, digest: str
) -> None:
    approvals = Approvals(now=lambda: "now")
    ask = Decision(Action.ASK, "a rule asks")
    for one, content in approved:
        approvals.settle(
            request_skill(one), ask, location=f"/{one}", digest=content, approver=Always()
        )
    last = dict(approved).get(name)
    permit = approvals.settle(
        request_skill(name), ask, location=f"/{name}", digest=digest, approver=None
    )
    assert permit.granted is (last == digest)
