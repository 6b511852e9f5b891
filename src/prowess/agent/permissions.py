"""Whether a call of a tool may happen: the rules, what a skill was granted, and who is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence

import msgspec

from prowess.agent.tools.plan import Access, Plan
from prowess.conversation.async_calls import Answers, call_async
from prowess.gate.approvals import Approvals, GivenAnswers, Permit
from prowess.gate.permissions import AgentRules, decide
from prowess.model.permission import STRICTNESS, Action, ApprovalRequest, Decision, Rule
from prowess.model.settings import Settings
from prowess.ports import Approver
from prowess.text.globs import matches_wildcard
from prowess.text.permission_rules import (
    AGENT_TOOLS,
    MCP_PREFIX,
    RuleError,
    parse_rule_text,
)

_PERMISSION_OF_TOOL = {
    "Read": ("read",),
    "Glob": ("glob", "read"),
    "Grep": ("grep", "read"),
    "Write": ("write", "edit"),
    "Edit": ("edit",),
    "Bash": ("bash",),
}


class Granted(msgspec.Struct, frozen=True):
    """What the skills of a turn asked for: tools that need no approval, and tools to do without."""

    allowed: tuple[Rule, ...] = ()
    disallowed: tuple[Rule, ...] = ()

    def add(self, allowed: Iterable[str], disallowed: Iterable[str]) -> Granted:
        """This, and what one more skill asks for."""
        return Granted(
            (*self.allowed, *_parse_tools(Action.ALLOW, allowed)),
            (*self.disallowed, *_parse_tools(Action.DENY, disallowed)),
        )


def _parse_tools(action: Action, texts: Iterable[str]) -> list[Rule]:
    """The rules that a header's list of tools means; tools of other hosts are left out."""
    found = []
    for text in texts:
        try:
            rule = parse_rule_text(action, text, AGENT_TOOLS)
        except RuleError:
            continue
        if rule is not None:
            found.append(rule)
    return found


ToolRules = tuple[AgentRules, ...]
"""Sets of rules that are each asked about a call, of which the strictest answer counts."""


def gather_tool_rules(settings: Settings, gather: Callable[[Settings], AgentRules]) -> ToolRules:
    """The rules about tools: those of `gather`, without what a project or the host allows.

    Trust changes nothing about a project, because the model can write to its files. A host allows
    tools for its own agent, which asks in other ways. Rules about skills are left as they are.
    """
    # In some hosts a rule replaces an earlier one. So that a project can only be stricter, the
    # user's rules are asked alone, too; what a project allows would count for neither.
    projects = [rule for rule in settings.permissions if _is_projects(rule, settings)]
    sets = [[rule for rule in projects if rule.action is Action.ALLOW]]
    if len(projects) > len(sets[0]):
        sets.append(projects)
    return tuple(_gather_without(left, settings, gather) for left in sets)


def _gather_without(
    left: Sequence[Rule], settings: Settings, gather: Callable[[Settings], AgentRules]
) -> AgentRules:
    kept = tuple(rule for rule in settings.permissions if rule not in left)
    rules = gather(msgspec.structs.replace(settings, permissions=kept))
    written = tuple(rule for rule in rules.written if not _is_host_grant(rule))
    return msgspec.structs.replace(rules, written=written)


def _is_projects(rule: Rule, settings: Settings) -> bool:
    """Whether a rule about a tool came with the project."""
    return rule.permission != "skill" and rule.origin.file in settings.project_files


def _is_host_grant(rule: Rule) -> bool:
    # Every rule of a person has an origin: a file, a variable or the command line.
    return rule.action is Action.ALLOW and rule.origin.file is None


def judge(plan: Plan, rules: ToolRules, granted: Granted, *, home: str) -> Decision:
    """What the rules say about a call; of several things that it needs, the strictest answer."""
    outside = tuple(_select_absolute(one, home) for one in rules)
    decisions = [
        _judge_access(plan, access, outside if access.needs_rule else rules, granted)
        for access in plan.accesses
    ]
    decision = max(decisions, key=lambda one: STRICTNESS[one.action])
    unnamed = [one for one in plan.accesses if one.must_name and not _is_named(one, plan, rules)]
    if unnamed and decision.action is Action.ALLOW:
        reason = f"only a rule with `{unnamed[0].must_name}` in its pattern allows it"
        return Decision(Action.ASK, reason)
    if plan.asks_because is not None and decision.action is Action.ALLOW:
        return Decision(Action.ASK, plan.asks_because)
    return decision


def _judge_access(plan: Plan, access: Access, rules: ToolRules, granted: Granted) -> Decision:
    for rule in granted.disallowed:
        if _covers(rule, plan, access):
            return Decision(Action.DENY, f"a skill of this turn disallows `{_name_tool(rule)}`")
    found = _decide_names(plan, access.names, rules)
    if not found and access.whole is not None:
        exact = tuple(_select_exact(one, access.whole) for one in rules)
        found = _decide_names(plan, (access.whole,), exact)
    if found:
        return max(found, key=lambda one: STRICTNESS[one.action])
    if access.needs_rule:
        return Decision(Action.DENY, _explain_outside(plan, access))
    if any(_covers(rule, plan, access) for rule in granted.allowed):
        return Decision(Action.ALLOW, "a skill of this turn has it in its `allowed-tools`")
    return _decide_by_default(plan)


def _decide_by_default(plan: Plan) -> Decision:
    """The decision where no rule is about a call."""
    if plan.default is Action.ASK:
        return Decision(Action.ASK, _explain_ask(plan.permissions[0]))
    return Decision(plan.default, f"no rule matches and the default is `{plan.default.value}`")


def _explain_ask(permission: str) -> str:
    if permission.startswith(MCP_PREFIX):
        return f"{permission} needs approval or `--allow {permission}`"
    if permission == "webfetch":
        return "WebFetch needs approval or `--allow 'WebFetch(domain:…)'`"
    tool = permission.capitalize()
    return f"{tool} needs approval or `--allow '{tool}(…)'`"


def _name_tool(rule: Rule) -> str:
    """A rule of a skill as its header has it, without the action."""
    return rule.text.removeprefix(f"{rule.action.value}: ")


def _decide_names(plan: Plan, names: Sequence[str], rules: ToolRules) -> list[Decision]:
    """What rules say about each name; nothing where none is about it."""
    decisions = [
        decide(ApprovalRequest(permission=permission, patterns=(name,), always=()), one)
        for one in rules
        for permission in plan.permissions
        for name in names
    ]
    return [decision for decision in decisions if decision.rule is not None]


def _covers(rule: Rule, plan: Plan, access: Access) -> bool:
    """Whether the rule of a skill is about something that a call needs."""
    if not any(matches_wildcard(one, rule.permission) for one in plan.permissions):
        return False
    if any(matches_wildcard(name, rule.pattern) for name in access.names):
        return True
    if access.whole is None or not _is_about_whole(rule, access.whole):
        return False
    return matches_wildcard(access.whole, rule.pattern)


def _is_about_whole(rule: Rule, text: str) -> bool:
    """Whether a rule counts for a whole text. To allow it, a rule must say it, or be for all."""
    return rule.action is not Action.ALLOW or rule.pattern in ("*", text)


def _select_exact(rules: AgentRules, text: str) -> AgentRules:
    """The rules that count for a whole text."""
    written = tuple(rule for rule in rules.written if _is_about_whole(rule, text))
    given = tuple(rule for rule in rules.given if _is_about_whole(rule, text))
    return msgspec.structs.replace(rules, written=written, given=given)


def _is_named(access: Access, plan: Plan, rules: ToolRules) -> bool:
    """Whether a rule that allows this has the name that it must have in its pattern."""
    return any(
        rule.action is Action.ALLOW
        and access.must_name in rule.pattern
        and _covers(rule, plan, access)
        for one in rules
        for rule in (*one.written, *one.given)
    )


def _explain_outside(plan: Plan, access: Access) -> str:
    tool = plan.title.split()[0]
    tool = tool if tool in _PERMISSION_OF_TOOL else "Edit"
    return f"{access.closed_because}; the rule `{tool}({access.names[-1]})` would allow it"


def _select_absolute(rules: AgentRules, home: str) -> AgentRules:
    """The rules for paths outside the project: denials, and those that name a whole path.

    A rule such as `Read(*)` is about the project. Otherwise it would open the whole machine.
    """

    def select(given: Sequence[Rule]) -> tuple[Rule, ...]:
        expanded = (_expand_home(rule, home) for rule in given)
        return tuple(
            rule for rule in expanded if rule.action is Action.DENY or rule.pattern.startswith("/")
        )

    return msgspec.structs.replace(rules, written=select(rules.written), given=select(rules.given))


def _expand_home(rule: Rule, home: str) -> Rule:
    if not rule.pattern.startswith("~/"):
        return rule
    return msgspec.structs.replace(rule, pattern=home + rule.pattern[1:])


class Gatekeeper:
    """Decides about the calls of one session, and asks its approver one question at a time."""

    def __init__(
        self,
        approvals: Approvals,
        approver: Approver | None,
        *,
        project: str,
        home: str,
        read_only: bool = False,
    ) -> None:
        self._approvals = approvals
        self._approver = approver
        self._project = project
        self._home = home
        self._read_only = read_only

    async def settle(self, plan: Plan, rules: ToolRules, granted: Granted) -> Permit:
        """Grant or refuse a call.

        “Always” covers the same call in the same project: for Bash the exact text of the command.
        For a change of a file it counts once, because no two changes are the same.
        """
        # Commands may run in a read-only session, because their sandbox keeps them from writing.
        if self._read_only and plan.is_write and plan.touched is not None:
            return Permit(granted=False, by="rule", reason="the session is read-only")
        decision = judge(plan, rules, granted, home=self._home)
        request = _make_request(plan, decision)
        digest = _hash_call(plan)

        def call(*, answers: Answers | None = None, is_cancelled: object = None) -> Permit:
            approver = self._approver if answers is None else GivenAnswers(answers)
            return self._approvals.settle(
                request, decision, location=self._project, digest=digest, approver=approver
            )

        if decision.action is not Action.ASK:
            return call()
        return await call_async(call, self._approver)


def _hash_call(plan: Plan) -> str:
    """What an “always” is bound to besides the names: everything that the person was shown."""
    shown = "\0".join((plan.title, *plan.details))
    return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()


def _make_request(plan: Plan, decision: Decision) -> ApprovalRequest:
    shown = (access.whole or access.names[0] for access in plan.accesses)
    names = tuple(dict.fromkeys(shown))
    is_change = plan.is_write and plan.touched is not None
    # Where a person is asked as always, there is nothing to explain.
    is_usual = decision == _decide_by_default(plan)
    metadata: dict[str, object] = {"tool": plan.title.split()[0], "title": plan.title}
    if plan.details:
        metadata["details"] = list(plan.details)
    if plan.diff:
        metadata["diff"] = plan.diff
    return ApprovalRequest(
        permission=plan.permissions[0],
        patterns=names,
        always=() if is_change else names,
        metadata=metadata,
        note=None if is_usual else f"Asked because {decision.reason.rstrip('.')}.",
    )
