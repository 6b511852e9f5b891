"""`[catalog]` and `[budget]`: how skills are presented to the model."""

# Annotations are real types, for the reason given in this folder's `__init__.py`.

from typing import Literal

from prowess.model.skill import Scope
from prowess.profiles.schema import Table

CatalogFormat = Literal[
    "claude-lines",
    "codex-list",
    "copilot-xml",
    "gemini-xml",
    "json",
    "markdown",
    "omp-list",
    "openclaw",
    "opencode-list",
    "opencode-xml",
    "pi-xml",
    "prowess",
    "qwen-xml",
    "xml",
]

# Every order is some host's: `load-reversed` is Gemini CLI's, `path` Crush's.
CatalogOrder = Literal["name", "locale", "source", "scope", "load", "load-reversed", "path"]

# `angles` is Claude Code's, which leaves `&` alone.
Escape = Literal["xml", "xml-apos", "text", "angles"]

BudgetStrategy = Literal[
    "none",
    "prowess",
    "claude-even",
    "claude-usage",
    "openclaw-ladder",
    "round-robin",
    "whole-then-names",
    "first-lines",
]

Cut = Literal["ellipsis", "dots", "sentence"]


class CatalogRules(Table, frozen=True):
    """The catalog: the list of skills the model sees.

    - `format`: the format of the catalog.
    - `tool_format`: the format of the list in the description of the skill tool; empty if the host
      has none there.
    - `heading`: the heading above the catalog.
    - `order`: sort by `name`, by name in alphabetical order as people expect it (`locale`), by
      source and then name (`source`), by the `scopes` below and then name (`scope`), by source and
      then path (`load`), the same with paths in reverse (`load-reversed`), or by path alone
      (`path`).
    - `scopes`: the scopes in the order of `scope`; those that are missing come last.
    - `location`: write paths as they are (`absolute`) or with `~/` (`home`).
    - `escape`: how the host escapes text in markup. Formats for which it doesn't fit use their own.
    - `spaces`: what happens to blanks inside a text that goes on one line: a run becomes one space
      (`join`), or only what cannot be seen becomes a space (`keep`).
    - `when_to_use`: include `when_to_use`.
    - `when_to_use_joint`: what stands between the description and `when_to_use`.
    - `when_empty`: what to show if there are no skills.
    - `needs_skill_urls`: show the catalog only if a tool can read `skill://`.
    - `always`: what `always: true` does: nothing special (`list`) or add the whole body (`inject`).
    - `left_out_groups`: groups of roots whose skills are never offered to the model.
    - `left_out_by`: rules that leave a skill out of the catalog even though it is ready.
    """

    format: CatalogFormat = "xml"
    # opencode had the list there before it moved to the system prompt.
    tool_format: CatalogFormat | Literal[""] = ""
    heading: str = ""
    order: CatalogOrder = "name"
    scopes: tuple[Scope, ...] = ()
    location: Literal["absolute", "home"] = "absolute"
    escape: Escape = "xml"
    spaces: Literal["join", "keep"] = "join"
    when_to_use: bool = False
    when_to_use_joint: str = " - "
    # opencode says that there are no skills; most hosts leave the section out.
    when_empty: Literal["nothing", "sentence"] = "nothing"
    # omp lists no paths, so without such a tool no skill could be read.
    needs_skill_urls: bool = False
    always: Literal["list", "inject"] = "list"
    # The commands that are built into Claude Code are in its list of skills, too.
    left_out_groups: tuple[str, ...] = ()
    # OpenClaw lists `os: [Linux]` as ready and leaves it out of the prompt all the same.
    left_out_by: tuple[str, ...] = ("os",)


class BudgetRules(Table, frozen=True):
    """How much room the catalog has and how it is shared. 0 means no limit.

    - `strategy`: how the room is shared.
    - `share`: the share of the context window.
    - `characters_per_token`: how many characters count as one token.
    - `characters`: the most characters, whatever the window.
    - `without_window`: the characters to use if the window is unknown.
    - `variable`: an environment variable with a number that replaces all of the above.
    - `tokens`: the most tokens, instead of a share; usually from a setting.
    - `most_tokens`: the most that `tokens` can be.
    - `window`: the context window in tokens, where none is given; usually from a setting.
    - `units`: what the host counts: Unicode characters, UTF-16 units, or UTF-8 bytes with every
      line rounded up to four (`bytes4`).
    - `counts`: what counts: the whole text, or only the lines for skills.
    - `names`: the characters for names alone, with the strategy `whole-then-names`.
    - `own_lines`: the characters that the host's own skills take up.
    - `skills`: the most skills.
    - `per_item`: the longest text of one skill.
    - `cut`: how a longer text is cut: with `…` (`ellipsis`), with `...` (`dots`), or after a
      sentence (`sentence`).
    - `cap_bundled`: apply `per_item` to bundled skills too.
    - `least_per_item`: the smallest equal share worth having.
    - `most_per_item`: the largest equal share.
    - `sentence`: the longest first sentence.
    - `always_characters`: the room for bodies added by `always: true`.
    """

    strategy: BudgetStrategy = "none"
    share: float = 0.0
    characters_per_token: float = 4.0
    characters: int = 0
    without_window: int = 0
    # Claude Code has SLASH_COMMAND_TOOL_CHAR_BUDGET.
    variable: str = ""
    tokens: int = 0
    most_tokens: int = 0
    window: int = 0
    # JavaScript counts UTF-16 units; Codex estimates a token for every four bytes.
    units: Literal["characters", "utf16", "bytes4"] = "characters"
    counts: Literal["text", "lines"] = "text"
    # Copilot lists names after its entries, in a room of their own.
    names: int = 0
    # Claude Code's own skills, which are not ours to list, take room from the others.
    own_lines: int = 0
    skills: int = 0
    per_item: int = 0
    cut: Cut = "ellipsis"
    cap_bundled: bool = True
    least_per_item: int = 1
    most_per_item: int = 0
    sentence: int = 160
    always_characters: int = 8_000
