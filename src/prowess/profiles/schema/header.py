"""The tables `[header]` and `[fields]`: how the top of a SKILL.md is read."""

# Annotations are real types here, for the reason given in `prowess.profiles.schema`.

from typing import Literal

from prowess.profiles.schema import Table

FenceOpen = Literal["line", "prefix", "language", "line-or-language"]

FenceClose = Literal["line", "anywhere", "line-prefix"]

Unclosed = Literal["body", "invalid", "header"]

Broken = Literal["invalid", "empty"]

HeaderValues = Literal["typed", "text", "written"]

Repair = Literal[
    "drop-controls",
    "tab-to-spaces",
    "tab-dropped",
    "part-keys",
    "align-keys",
    "join-lines",
    "block-text",
    "close-json",
    "quote-hint",
    "quote-indicator",
    "quote-colon",
    "quote-quotes",
    "drop-duplicates",
    "quote-entries",
    "opencode-blocks",
    "quote-description",
    "quote-plain",
    "quote-pairs",
    "line-by-line",
]

NameFrom = Literal["frontmatter", "folder", "either"]

Description = Literal["text", "required-text", "text-or-number", "text-or-empty"]


class HeaderRules(Table, frozen=True):
    """How a header is told from the body, and what is done when it is not there or not YAML.

    A fence `open`s as a `line` of its own, as the `prefix` of one, or with a `language` behind it,
    of which those in `languages` are read; with `line-or-language` that is forgiven and reported,
    and a header in another language counts as none. `leading_blanks` lets blank lines stand before
    the header, which is reported. `values` says what becomes of a value without quotes: with
    `typed` what YAML makes of it, with `text` everything is text, with `written` a field that is
    text by definition keeps the text that its author wrote (`version: 1.10`).
    """

    open: FenceOpen = "line"
    close: FenceClose = "line"
    unclosed: Unclosed = "body"
    strip_comments: bool = False
    leading_blanks: bool = False
    languages: tuple[str, ...] = ()
    broken: Broken = "invalid"
    repairs: tuple[Repair, ...] = ()
    dates_are_text: bool = True
    values: HeaderValues = "typed"
    empty_file_is_skill: bool = False


class FieldRules(Table, frozen=True):
    """Which fields are needed, where the name comes from, and how values are understood.

    `description` says what a value that is no text becomes: with `text` and `required-text` the
    skill is invalid (and with the latter where it is blank, too), with `text-or-number` numbers and
    truth values are text and anything else counts as missing, with `text-or-empty` anything else is
    "". `trim` takes the blanks around a description off; a name keeps them only where `name_from`
    is `frontmatter`. `description_from_body` lets the first line of the body stand in for a missing
    one, `empty_description` is used where the body is empty too. `camel_case` reads
    `disableModelInvocation` as `disable-model-invocation`. `openclaw_at` are the places where
    OpenClaw's fields are looked for: `top` or a key under `metadata`. `strict` makes every breach
    of the standard an error; `standard_names` warns of names that break it.
    """

    name_from: NameFrom = "either"
    required: tuple[str, ...] = ()
    name_accepts_numbers: bool = False
    trim: bool = True
    description: Description = "text-or-number"
    description_from_body: bool = False
    empty_description: str | None = None
    description_hidden_when_missing: bool = False
    reserved_names: tuple[str, ...] = ()
    name_pattern: str = ""
    true_words: tuple[str, ...] = ("true", "yes", "on", "1")
    false_words: tuple[str, ...] = ("false", "no", "off", "0")
    flags_need_booleans: bool = False
    camel_case: bool = False
    openclaw_at: tuple[str, ...] = ("top", "openclaw", "clawdbot")
    known: tuple[str, ...] = ()
    strict: bool = False
    standard_names: bool = False
