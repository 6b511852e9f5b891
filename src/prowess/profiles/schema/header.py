"""`[header]` and `[fields]`: how the header of a SKILL.md is read."""

# Annotations are real types, for the reason given in this folder's `__init__.py`.

from typing import Literal

import msgspec

from prowess.profiles.schema import Table

# Hosts disagree on every detail of the fences; each word here is what one of them does.
FenceOpen = Literal["line", "exact-line", "trimmed", "prefix", "language", "line-or-language"]

FenceClose = Literal[
    "line", "exact-line", "trimmed", "anywhere", "line-prefix", "line-prefix-or-end"
]

Unclosed = Literal["body", "invalid", "header"]

Broken = Literal["invalid", "empty"]

RawControls = Literal["reject", "allow", "allow-but-nul"]

LineSeparators = Literal["space", "text", "break"]

Utf16 = Literal["refuse", "read", "bytes"]

Fallback = Literal["", "name-and-description", "simple-yaml"]

HeaderValues = Literal["typed", "text", "written"]

Repair = Literal[
    "drop-controls",
    "tab-to-spaces",
    "tab-dropped",
    "tab-items",
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
    "drop-other-duplicates",
    "quote-entries",
    "part-closed",
    "quote-bracketed-keys",
    "end-bracketed-keys",
    "nest-after-bracketed-keys",
    "indent-brackets",
    "opencode-blocks",
    "quote-description",
    "quote-plain",
    "quote-pairs",
    "quote-lines",
    "line-by-line",
]

NameFrom = Literal["frontmatter", "folder", "either", "when-present", "when-filled"]

NameRewrite = Literal["", "hyphenate-spaces", "hyphenate-reserved"]

Description = Literal["text", "required-text", "text-or-number", "text-or-empty", "any-text"]

FieldType = Literal["text", "number", "boolean", "list", "mapping", "flat-mapping", "null"]


class HeaderRules(Table, frozen=True):
    """How the header is separated from the body, and what happens if it is missing or invalid.

    - `open`: how a header starts: with `---` on a line of its own (`line`), without blanks after it
      (`exact-line`), also with blanks before it (`trimmed`), with a line that starts with `---`
      (`prefix`), with `---` and an optional language (`language`), or like `line` but with a
      language tolerated and reported (`line-or-language`).
    - `close`: how it ends: with `---` on a line of its own (`line`), without blanks after it
      (`exact-line`), also with blanks before it (`trimmed`), at the start of a line
      (`line-prefix`), the same but with the body lost if anything follows on that line
      (`line-prefix-or-end`), or anywhere (`anywhere`).
    - `missing`: what a file without a header is: a body with an empty header (`body`), or an error
      (`invalid`).
    - `unclosed`: what a header without an end is: part of the body (`body`), an error (`invalid`),
      or a header up to the end of the file (`header`).
    - `strip_comments`: remove HTML comments first.
    - `leading_blanks`: allow blank lines before the header and report them.
    - `languages`: the languages accepted after the opening `---`; `yaml` and `yml` in any case.
      With `line-or-language`, a header in any other language counts as missing.
    - `broken`: what to do if no repair helps: reject the skill (`invalid`) or read an empty header
      (`empty`).
    - `not_a_mapping`: what a header that is a list or plain text is: an error (`invalid`), or an
      empty header (`empty`).
    - `repairs`: the repairs to try on a header that is not valid YAML, in this order.
    - `fallback`: how a header is read that is not valid YAML: line by line in a small part of YAML
      (`simple-yaml`), or only its `name:` and `description:` lines, also if either of them is not
      text (`name-and-description`).
    - `byte_order_mark`: accept one before the header; otherwise there is no header after it.
    - `utf16`: what a file in UTF-16 is: rejected (`refuse`), read (`read`), or read as if it were
      UTF-8 (`bytes`), so it has no header.
    - `only_utf8`: reject a file with bytes that are not UTF-8; otherwise they become U+FFFD.
    - `lone_cr`: let a carriage return without a line feed end a line.
    - `raw_controls`: what control characters in a header do: make it invalid (`reject`), or count
      as text (`allow`), perhaps with the exception of NUL (`allow-but-nul`).
    - `line_separators`: what U+0085, U+2028 and U+2029 are: a space (`space`), text (`text`), or
      the end of a line, as in YAML 1.1 (`break`).
    - `tabs`: what a tab is: a tab (`kept`), or two spaces, inside text too (`spaces`).
    - `tags`: what a tag does that YAML does not define: nothing, its value is read (`ignored`), or
      it makes the header invalid (`defined`).
    - `merge_keys`: let `<<` merge a mapping into the header; anything else after it is invalid.
    - `scalar_fields`: fields, by dotted names, that can't be a list or a mapping; the header is
      invalid otherwise.
    - `mapping_fields`: fields that must be a mapping or empty; the header is invalid otherwise.
    - `leading_zeros`: what an unquoted `0755` is: text (`text`), or the number 755 (`number`).
    - `dates_are_text`: read dates as text.
    - `values`: how unquoted values are read: as YAML types (`typed`), always as text (`text`), or,
      for fields that are defined as text, exactly as written (`written`), so `version: 1.10` keeps
      its zero.
    - `empty_file_is_skill`: accept an empty file.
    """

    open: FenceOpen = "line"
    close: FenceClose = "line"
    missing: Literal["body", "invalid"] = "body"
    # opencode reads such a file as all header; its parser takes the end for a fence.
    unclosed: Unclosed = "body"
    # omp does, wherever the comments are.
    strip_comments: bool = False
    leading_blanks: bool = False
    # opencode reads `---json`. It also runs `---js`, which nobody should copy.
    languages: tuple[str, ...] = ()
    broken: Broken = "invalid"
    not_a_mapping: Broken = "invalid"
    repairs: tuple[Repair, ...] = ()
    # Gemini CLI and Qwen Code read what YAML refuses with a reader of their own.
    fallback: Fallback = ""
    # Codex, Gemini CLI and Pi find no header behind one.
    byte_order_mark: bool = True
    # Only omp reads such files.
    utf16: Utf16 = "refuse"
    # Codex refuses the file; others replace what they cannot read.
    only_utf8: bool = False
    lone_cr: bool = True
    raw_controls: RawControls = "reject"
    line_separators: LineSeparators = "space"
    # omp makes two spaces of each.
    tabs: Literal["kept", "spaces"] = "kept"
    tags: Literal["ignored", "defined"] = "ignored"
    # YAML 1.1 has them and YAML 1.2 does not; hosts use parsers of both.
    merge_keys: bool = False
    scalar_fields: tuple[str, ...] = ()
    mapping_fields: tuple[str, ...] = ()
    # Again a difference between the versions of YAML.
    leading_zeros: Literal["text", "number"] = "text"
    dates_are_text: bool = True
    # OpenClaw turns everything into text; Codex keeps what the author wrote.
    values: HeaderValues = "typed"
    empty_file_is_skill: bool = False


class FieldRules(Table, frozen=True):
    """Which fields are required, where the name comes from, and how values are read.

    - `name_from`: where the name comes from: the header's `name` (`frontmatter`), the folder
      (`folder`), or the header if it has one (`either`). With `when-present` and `when-filled`
      the header's name is used as written if the field is there, or if it is not empty, and
      anything but text is an error.
    - `name_rewrite`: what replaces characters in a name: a hyphen for every run of spaces
      (`hyphenate-spaces`), or for characters that file names can't have (`hyphenate-reserved`).
    - `name_matches_folder`: reject a name that is not the folder's, apart from case.
    - `required`: fields that must be present.
    - `name_accepts_numbers`: accept a number as the name.
    - `trim`: strip whitespace around the description. The name is stripped too if `name_from` is
      `either` or `folder`.
    - `trim_line_end`: strip only line breaks at the end of the description.
    - `description`: what a description that is not text does: it makes the skill invalid (`text`),
      as does a blank one (`required-text`); numbers and booleans become text and anything else
      counts as missing (`text-or-number`); it counts as empty (`text-or-empty`); or anything but a
      mapping becomes text, which must not be blank (`any-text`).
    - `most_description`: the longest description, in `length_units`; a longer one makes the skill
      invalid. 0 means no limit.
    - `most_compatibility`: the same for `compatibility`.
    - `length_units`: what lengths are counted in: `characters`, `utf16` units or `bytes`.
    - `description_from_body`: use the body if there is no description.
    - `body_description`: what is used of it: its first line (`first-line`), that line cut to 100
      characters (`short-line`), or its paragraphs without headings, up to 1,024 characters
      (`paragraphs`). With `paragraphs` a description that is there stays, even if it is empty.
    - `empty_description`: the description to use if the body is empty too.
    - `description_hidden_when_missing`: hide a skill without a description from the model instead
      of rejecting it.
    - `reserved_names`: names that are rejected.
    - `refused_characters`: a regular expression for characters that a name may not contain.
    - `label_pattern`: a regular expression that a label must match to be shown, where the name
      comes from the folder.
    - `companion`: a file beside SKILL.md that the host reads too: `agents/openai.yaml` (`openai`).
    - `one_line`: replace every run of white space in name and description with one space.
    - `joined_lists`: fields whose lists become text, joined by commas.
    - `name_pattern`: a regular expression that the whole name must match.
    - `true_words`: words that mean true.
    - `false_words`: words that mean false.
    - `flags_need_booleans`: accept only `true` and `false` as flags.
    - `camel_case`: read `disableModelInvocation` as `disable-model-invocation`.
    - `openclaw_at`: where OpenClaw's fields are read from: the top level (`top`) or a key under
      `metadata`.
    - `types`: the types that a field may have; any other makes the skill invalid. A `flat-mapping`
      has no lists or mappings in it.
    - `relative_paths`: reject a skill whose `paths` are absolute or lead out of the project.
    - `known`: the fields the host knows; any other is reported. Empty means any field is accepted.
    - `strict`: make every violation of the standard an error.
    - `standard_names`: warn about names that violate the standard.
    """

    name_from: NameFrom = "either"
    # Copilot rewrites spaces, Gemini CLI what file names cannot have.
    name_rewrite: NameRewrite = ""
    name_matches_folder: bool = False
    required: tuple[str, ...] = ()
    name_accepts_numbers: bool = False
    trim: bool = True
    trim_line_end: bool = False
    description: Description = "text-or-number"
    most_description: int = 0
    most_compatibility: int = 0
    length_units: Literal["characters", "utf16", "bytes"] = "characters"
    description_from_body: bool = False
    body_description: Literal["first-line", "short-line", "paragraphs"] = "first-line"
    empty_description: str | None = None
    description_hidden_when_missing: bool = False
    reserved_names: tuple[str, ...] = ()
    refused_characters: str = ""
    label_pattern: str = ""
    # Codex takes settings for its own interface from there.
    companion: Literal["", "openai"] = ""
    # Codex collapses white space of any kind.
    one_line: bool = False
    joined_lists: tuple[str, ...] = ()
    name_pattern: str = ""
    true_words: tuple[str, ...] = ("true", "yes", "on", "1")
    false_words: tuple[str, ...] = ("false", "no", "off", "0")
    # For omp and some others the text “true” does not hide a skill.
    flags_need_booleans: bool = False
    # omp turns every key into camel case.
    camel_case: bool = False
    # OpenClaw's release reads only `metadata`; older skills have the fields at the top.
    openclaw_at: tuple[str, ...] = ("top", "openclaw", "clawdbot")
    types: dict[str, tuple[FieldType, ...]] = msgspec.field(default_factory=dict)
    relative_paths: bool = False
    known: tuple[str, ...] = ()
    strict: bool = False
    standard_names: bool = False
