"""Placeholders in a body, filled in one pass: what is put in is never looked at again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from prowess.activate.body.arguments import (
    check_arguments,
    find_options,
    list_names,
    split_arguments,
)
from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.skill import DeclaredArgument, Skill
from prowess.profiles.schema.body import ArgumentRules

ReferenceKind = Literal["argument", "variable", "literal"]

_AFTER_NAME = r"(?![A-Za-z0-9_])"
_GUARDED = re.compile(r"(?<!\S)!")


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What one call of a skill gives to its body; None where there is no such thing.

    `arguments` is the text after the name. `folder` is the skill's own, `project` the root of the
    project, `session` the id of the conversation, `plugin` the folder of the skill's plugin.
    """

    arguments: str = ""
    folder: str | None = None
    session: str | None = None
    project: str | None = None
    effort: str | int | None = None
    plugin: str | None = None


class Reference(NamedTuple):
    """A placeholder in a text: where it stands, what is put there, and whether that came from the
    caller's arguments.

    `label` names it for a shell's variable. A `literal` is put there as it is, since the author
    escaped it. `takes` says whether the caller's arguments, or one of them, go there, and
    `may_be_option` that the header lets that argument begin with `-`.
    """

    start: int
    end: int
    value: str
    kind: ReferenceKind
    label: str = ""
    takes: bool = False
    may_be_option: bool = False


def may_hold_commands(body: str) -> bool:
    """Whether a body is worth searching for commands (`` !`git log` `` or a block with ````!``)."""
    # One character is found fast, and most bodies do not even have that one.
    return "!" in body and ("!`" in body or "```!" in body)


def find_folder(skill: Skill, rules: ArgumentRules) -> str | None:
    """The folder that a skill's variables name; None where the host gives it none (one from an MCP
    server has none).
    """
    return None if skill.source.loaded_from in rules.without_folder else skill.folder


class Substitution:
    """The placeholders of one body and one call. It remembers whether any of them took the
    arguments.

    Raises `ArgumentRefused` where the arguments are not what `declared` allows.
    """

    def __init__(
        self,
        rules: ArgumentRules,
        given: Given,
        *,
        names: Iterable[str] = (),
        declared: Sequence[DeclaredArgument] = (),
        file: str | None = None,
    ) -> None:
        self._rules = rules
        self._raw = given.arguments.strip()
        self._words: tuple[str, ...] = ()
        self._names: Mapping[str, int] = {}
        self._options: frozenset[int] = frozenset()
        # opencode's tool, for one, has no placeholders, and splits nothing.
        if rules.placeholders:
            self._words = split_arguments(self._raw, rules.split) if self._raw else ()
            self._names = list_names(names) if names else {}
            if declared:
                check_arguments(declared, self._names, self._words, self._raw)
                self._options = find_options(declared, self._names)
        self._pattern = _compile(
            tuple(self._names), tuple(rules.variables), placeholders=rules.placeholders
        )
        self._given = given
        self._file = file
        self._unset: dict[str, None] = {}
        self._took_arguments = False

    def fill(self, text: str) -> str:
        """The text with every placeholder filled."""
        if self._pattern is None or "$" not in text:
            return text
        guard = self._rules.guard_marks
        parts: list[str] = []
        place = 0
        for match in self._pattern.finditer(text):
            reference = self._resolve(match)
            if reference is None:
                continue
            start, end, value, kind, _, takes, _ = reference
            self._took_arguments = self._took_arguments or takes
            # Only an argument could bring a command of its own into the body.
            is_guarded = guard and kind == "argument"
            parts += (text[place:start], _guard(value) if is_guarded else value)
            place = end
        return "".join((*parts, text[place:])) if parts else text

    def find_references(self, text: str) -> Iterator[Reference]:
        """The placeholders of a text that something is put in place of, in their order."""
        if self._pattern is None:
            return
        for match in self._pattern.finditer(text):
            reference = self._resolve(match)
            if reference is not None:
                yield reference

    def note_filled(self, reference: Reference) -> None:
        """This placeholder was filled by whoever asked for it."""
        self._took_arguments = self._took_arguments or reference.takes

    def finish(self) -> str:
        """What is added after the body: the arguments, where no placeholder took them and the host
        adds them.
        """
        rules = self._rules
        is_done = self._took_arguments or rules.append == "never"
        if is_done or not self._raw:
            return ""
        label = "ARGUMENTS: " if rules.append == "labelled" else ""
        raw = _guard(self._raw) if rules.guard_marks else self._raw
        return f"\n\n{label}{raw}"

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The variables that were found and have no value here."""
        return tuple(_diagnose_unset(name, self._rules, self._file) for name in self._unset)

    def _resolve(self, match: re.Match[str]) -> Reference | None:
        group = match.lastgroup
        start, end = match.span()
        if group != "variable" and _is_escaped(match.string, start):
            return Reference(start - 1, end, match[0], "literal")
        if group == "variable":
            name = match["variable"]
            value = getattr(self._given, self._rules.variables[name])
            if value is None:
                self._unset[name] = None
                return None
            return Reference(start, end, str(value), "variable", name)
        if group == "name":
            return self._take(match, self._names[match["name"]], "")
        if group == "all":
            return Reference(
                *(start, end, self._raw, "argument", "ARGUMENTS", bool(self._raw)),
                may_be_option=-1 in self._options,
            )
        digits = match[group or 0]
        # A number of many digits names no argument, and reading it would take long.
        index = int(digits) - self._rules.first_index if len(digits) < 7 else -1
        return self._take(match, index, None)

    def _take(self, match: re.Match[str], index: int, missing: str | None) -> Reference | None:
        """The word of an index; `missing` where there is none, or the placeholder itself where that
        is None.
        """
        if 0 <= index < len(self._words):
            return Reference(
                *(*match.span(), self._words[index], "argument", f"ARGUMENT_{index}", True),
                may_be_option=index in self._options,
            )
        # Claude Code leaves `$3` as it is where there is no third word, and empties `$name`.
        if missing is None:
            return None
        return Reference(*match.span(), missing, "argument", "ARGUMENT_NONE")


def substitute(
    body: str,
    rules: ArgumentRules,
    given: Given,
    *,
    names: Iterable[str] = (),
    declared: Sequence[DeclaredArgument] = (),
    file: str | None = None,
) -> tuple[str, tuple[Diagnostic, ...]]:
    """Fill a body without commands; arguments that nothing took are added as the host does."""
    filling = Substitution(rules, given, names=names, declared=declared, file=file)
    text = filling.fill(body)
    return text + filling.finish(), filling.diagnostics


@lru_cache(maxsize=256)
def _compile(
    names: tuple[str, ...], variables: tuple[str, ...], *, placeholders: bool
) -> re.Pattern[str] | None:
    """One pattern for everything that can be put in. Longer names come first, so that none hides
    another.

    It begins with a plain character, which the search for it runs ahead to.
    """
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    forms = []
    if variables:
        forms.append(rf"\{{(?P<variable>{'|'.join(map(re.escape, variables))})\}}")
    if placeholders and longest_first:
        # Before the others: a name `ARGUMENTS` hides `$ARGUMENTS`, as in Claude Code.
        forms.append(rf"(?P<name>{'|'.join(map(re.escape, longest_first))}){_AFTER_NAME}")
    if placeholders:
        forms += [
            r"ARGUMENTS\[(?P<item>[0-9]+)\]",
            r"(?P<all>ARGUMENTS)",
            rf"(?P<index>[0-9]+){_AFTER_NAME}",
        ]
    return re.compile(rf"\$(?:{'|'.join(forms)})") if forms else None


def _is_escaped(text: str, place: int) -> bool:
    """Whether one backslash stands before a place; two are two backslashes."""
    has_backslash = place > 0 and text[place - 1] == "\\"
    return has_backslash and not text.endswith("\\\\", 0, place)


def _guard(value: str) -> str:
    """A value in which no `!` begins a word or stands before a back-quote."""
    # As in Claude Code: whoever gives the arguments must not bring commands into the body.
    if "!" not in value:
        return value
    return _GUARDED.sub(r"\\!", value).replace("!`", "! `")


_MEANINGS: Mapping[str, str] = {
    "folder": "the skill has no folder",
    "session": "there is no conversation",
    "project": "there is no project",
    "effort": "no effort was chosen",
    "plugin": "the skill is in no plugin",
}


def _diagnose_unset(name: str, rules: ArgumentRules, file: str | None) -> Diagnostic:
    reason = _MEANINGS[rules.variables[name]]
    message = f"`${{{name}}}` is left as it is because {reason}."
    return diagnose("variable-unset", message, file=file)
