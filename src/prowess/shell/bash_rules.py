"""What bash knows by itself, and what of it a script with arguments may use.

What a builtin may be given is a list of what is allowed: an option or a conversion that is not in
it is refused. A list of what is dangerous was tried first and let every third attack through
(decision 0016).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from prowess.shell.scanned_word import ScannedWord

# Words that come before a command and change nothing about it.
RESERVED = frozenset("! { } do done elif else fi if then until while".split())
# Words after which bash reads by other rules.
KEYWORDS = frozenset("case coproc function select time [[".split())
BUILTINS = frozenset(
    ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare"
    " dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill"
    " let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt"
    " source suspend test times trap true type typeset ulimit umask unalias unset wait".split()
)
# What these builtins may be given in a script with arguments, none of it a value: `W` is a word,
# `U` one that bash may split.
_TEST = r"(?:! )?(?:-[bcdefghknprstuwxzLS] W|W|W (?:=|==|!=|-eq|-ne|-lt|-le|-gt|-ge) W)"
PLAIN_BUILTINS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(": break continue false pwd true wait".split(), re.compile("")),
    **dict.fromkeys(("cd", "exit"), re.compile("[WU]?")),
    "[": re.compile(rf"{_TEST} \]"),
    "command": re.compile("-[vV] W"),
    "set": re.compile(r"(?:-[eux]+(?:o pipefail)?|-o pipefail)(?: -[eux]+| -o pipefail)*"),
    "test": re.compile(_TEST),
    "type": re.compile("W"),
}
_SPELLED = frozenset("= == != ! ] pipefail".split())
# `%n` of printf names a variable, so the conversions are listed too.
PRINTF_FORMAT = re.compile(r"(?!-)(?:[^%]|%%|%[-+ #0-9.]*[bcdeEfgGiosuxXq])*", re.DOTALL)
# Variables that bash reads or fills by itself; it evaluates some of them as soon as they are set.
SHELL_VARIABLES = re.compile(
    r"_|BASH.*|CHILD_MAX|COLUMNS|COMP_.*|COMPREPLY|COPROC.*|DIRSTACK|EMACS|EPOCH(REALTIME|SECONDS)"
    r"|EUID|EXECIGNORE|FCEDIT|FIGNORE|FUNC(NAME|NEST)|GLOB(IGNORE|SORT)|GROUPS|HIST(CMD|CONTROL"
    r"|FILE|FILESIZE|IGNORE|SIZE|TIMEFORMAT)|HOST(FILE|NAME|TYPE)|IGNOREEOF|INSIDE_EMACS|LANG"
    r"|LC_.*|LINENO|LINES|MACHTYPE|MAIL(CHECK|PATH)?|MAPFILE|OLDPWD|OPT(ARG|ERR|IND)|OSTYPE"
    r"|PIPESTATUS|POSIXLY_CORRECT|PPID|PROMPT_.*|PS[0-4]|PWD|RANDOM|READLINE_.*|REPLY|SECONDS"
    r"|SHLVL|SRANDOM|TEXTDOMAIN.*|TIMEFORMAT|TMOUT|UID|auto_resume|histchars"
    r"|ignoreeof"
)


def spell_argument(word: ScannedWord) -> str:
    """A word after a builtin, as `PLAIN_BUILTINS` spells it."""
    may_be_several = word.bare or word.marks & {"brace", "glob"}
    if may_be_several:
        return "U"
    is_option = word.text.startswith("-")
    if word.is_literal and (is_option or word.text in _SPELLED):
        return word.text
    return "W"
