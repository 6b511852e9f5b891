"""The tables `[catalog]` and `[budget]`: what a model is shown of the skills."""

# Annotations are real types here, for the reason given in `prowess.profiles.schema`.

from typing import Literal

from prowess.profiles.schema import Table

CatalogFormat = Literal[
    "claude-lines",
    "codex-list",
    "json",
    "markdown",
    "omp-list",
    "openclaw",
    "opencode-list",
    "opencode-xml",
    "prowess",
    "xml",
]

CatalogOrder = Literal["name", "locale", "source"]

Escape = Literal["xml", "xml-apos", "text", "angles"]

BudgetStrategy = Literal[
    "none", "prowess", "claude-even", "claude-usage", "openclaw-ladder", "round-robin"
]

Cut = Literal["ellipsis", "dots", "sentence"]


class CatalogRules(Table, frozen=True):
    """What the model is shown of the skills: in which format, in which order, with which fields.

    `tool_format` is the format of the list in the description of the tool that loads skills, ""
    where the host puts none there. `order` is by name, by name as people sort words, or by source
    and then name. `location` writes paths below home as they are or with `~/`. `escape` is the
    host's spelling of what may not stand in markup; a format takes it where it suits, and escapes
    in its own way where not. `when_empty` says what is shown when there are no skills. With
    `needs_skill_urls` the catalog is shown only where a tool can read `skill://`. `always` says
    what `always: true` does: the body is injected, or the skill is listed like any other. Skills of
    a root whose group is in `left_out_groups` are never offered to the model.
    """

    format: CatalogFormat = "xml"
    tool_format: CatalogFormat | Literal[""] = ""
    heading: str = ""
    order: CatalogOrder = "name"
    location: Literal["absolute", "home"] = "absolute"
    escape: Escape = "xml"
    when_to_use: bool = False
    when_empty: Literal["nothing", "sentence"] = "nothing"
    needs_skill_urls: bool = False
    always: Literal["list", "inject"] = "list"
    left_out_groups: tuple[str, ...] = ()


class BudgetRules(Table, frozen=True):
    """How much room the catalog has and who gets it. 0 means no bound.

    The room is a `share` of the context window, counted in characters by `characters_per_token`,
    and at most `characters`; `without_window` holds where nobody knows the window. `variable` names
    an environment variable whose number replaces all of these. `units` and `counts` say how the
    host counts: characters or UTF-16 units, of the whole text or of the lines without what stands
    around them. `skills` bounds their number, `per_item` the text of each, cut as `cut` says;
    bundled ones too where `cap_bundled`. `least_per_item` and `most_per_item` bound the equal share
    that a strategy gives to each, `sentence` a first sentence. `always_characters` is the room for
    injected bodies.
    """

    strategy: BudgetStrategy = "none"
    share: float = 0.0
    characters_per_token: float = 4.0
    characters: int = 0
    without_window: int = 0
    variable: str = ""
    units: Literal["characters", "utf16"] = "characters"
    counts: Literal["text", "lines"] = "text"
    skills: int = 0
    per_item: int = 0
    cut: Cut = "ellipsis"
    cap_bundled: bool = True
    least_per_item: int = 1
    most_per_item: int = 0
    sentence: int = 160
    always_characters: int = 8_000
