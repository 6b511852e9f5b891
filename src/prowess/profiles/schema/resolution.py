"""The tables `[resolution]`, `[gate]` and `[permissions]`: who wins, and who may be used."""

# Annotations are real types here, for the reason given in `prowess.profiles.schema`.

from typing import Literal

import msgspec

from prowess.model.outcome import State
from prowess.model.permission import Action
from prowess.model.skill import Scope
from prowess.profiles.schema import Table

Strategy = Literal["first", "last", "priority", "scope", "assembly", "all"]

FilterTime = Literal["before", "after"]

Collisions = Literal["all", "custom", "none"]

Filter = Literal[
    "enabled",
    "disabled-extension",
    "toggle",
    "ignored",
    "included",
    "override",
    "bundled-allow-list",
]

Check = Literal["os", "bins", "any_bins", "env", "config"]

Combine = Literal["last", "deny-first", "strictest"]

RuleTable = dict[str, Action | dict[str, Action]]


class ResolutionRules(Table, frozen=True):
    """Who wins: the strategy, when filters are applied, and what the host makes known of it.

    One real file counts once, at its strongest place; that holds for every host. `filter_order`
    names the rules of `resolve.filters`, `listed` the states that the host's own list shows. A
    skill of a scope in `qualify` whose name is taken is not shadowed but called `folder:name`,
    after the folder that was added.
    """

    strategy: Strategy = "first"
    filters: FilterTime = "before"
    filter_order: tuple[Filter, ...] = (
        "enabled",
        "disabled-extension",
        "toggle",
        "ignored",
        "included",
        "override",
        "bundled-allow-list",
    )
    scopes: tuple[Scope, ...] = ()
    groups: tuple[str, ...] = ()
    qualify: tuple[Scope, ...] = ()
    collisions: Collisions = "all"
    listed: tuple[State, ...] = (
        State.INELIGIBLE,
        State.DENIED,
        State.DORMANT,
        State.HIDDEN,
        State.READY,
    )


class GateRules(Table, frozen=True):
    """What can keep a skill from being offered.

    `checks` are the requirements that count; `always_skips` are those that `always: true` passes
    over. `hidden_by` are the fields that hide a skill from the model, `dormant_by` those that make
    it wait for a file.
    """

    checks: tuple[Check, ...] = ()
    always_skips: tuple[Check, ...] = ()
    os_words: dict[str, str] = msgspec.field(default_factory=dict)
    config_defaults: dict[str, bool] = msgspec.field(default_factory=dict)
    hidden_by: tuple[Literal["hide", "disable_model_invocation"], ...] = (
        "hide",
        "disable_model_invocation",
    )
    dormant_by: tuple[Literal["paths", "globs"], ...] = ()
    disabled_by_enabled: bool = True


class PermissionRules(Table, frozen=True):
    """How the host decides whether an agent may use a skill.

    `combine` says which of the rules that match decides: `last` the last one, `deny-first` a denial
    before a question before an allowance, `strictest` the last of each settings file and among
    these the strictest, so that a project cannot allow what its user denied. `default` holds where
    no rule matches, unless the skill declares a field of `ask_for`. `base` are the host's own
    rules, `agents` those of its own agents, `switch` an environment variable that holds more. A
    denied skill is hidden from the model where `hide_denied`; where everything is denied, always.
    With `deny_aliases` a denial of one of a skill's names is one of all. `like_paths` lets patterns
    begin with `~` and leaves case out of account on Windows.
    """

    combine: Combine = "last"
    default: Action = Action.ALLOW
    base: RuleTable = msgspec.field(default_factory=dict)
    agents: dict[str, RuleTable] = msgspec.field(default_factory=dict)
    switch: str = ""
    ask_for: tuple[str, ...] = ()
    hide_denied: bool = True
    deny_aliases: bool = False
    like_paths: bool = False
