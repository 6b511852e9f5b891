"""Whether a command evaluates text that an argument may be in.

Where a script gets arguments, every variable, every output of a command and everything read from an
input may hold one. So what evaluates text is refused unless that text is written out, and then the
text is read as a script itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from prowess.shell import code_words
from prowess.shell.interpreters import check_interpreter
from prowess.shell.simple_command import Reach, SimpleCommand, Unsafe, Word, check_name

_MOST_WORDS = 1_000
_EVALUATE = frozenset(
    "alias at batch bind compgen complete coproc eval fc jobs let parallel".split()
)
# Those that read commands from their input, or have commands of their own that start programs.
_CONSOLES = frozenset(
    "crontab dc ed emacs ex expect gdb gnuplot lldb m4 mysql nvim psql red screen sqlite3 ssh tmux"
    " vi view vim".split()
)
_WINDOWS = frozenset("cmd cmd.exe powershell powershell.exe pwsh pwsh.exe wsl wsl.exe".split())
# Programs that run another one elsewhere or in surroundings of its own.
_ELSEWHERE = frozenset(
    "chroot docker flock kubectl nerdctl nsenter pdm pipenv podman poetry rye runuser script ssh uv"
    " watch".split()
)
# Programs that take a program, or text that is run, among their words.
_RUN_WORDS = frozenset("chroot enable entr ssh watch".split())
_RUN_AFTER: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys("conda go hatch pdm pipenv pipx poetry rye uv".split(), ("run",)),
    **dict.fromkeys("bundle mise npm pnpm yarn".split(), ("dlx", "exec", "x")),
}
_CONTAINERS = frozenset("docker kubectl nerdctl podman".split())
_START = frozenset(("exec", "run"))
_PROGRAM_FOLLOWS = frozenset("-exec -execdir -ok -okdir".split())
_CODE_OPTION = re.compile(
    r"-[A-Za-z]*[ce]|-i?ex|--(?:command|cmd|eval|exec|execute|expression|init-command|run|source)"
)
_CODE_IN_OPTION = re.compile(
    r"--(?:command|cmd|eval|exec|execute|expression|init-command|run|source|to-command|checkpoint-action|rsh|"
    r"use-compress-program|upload-pack|receive-pack|preview|pre|hostname-bin)="
)
# For these `-c` and `-e` mean something else.
_OTHER_OPTIONS = frozenset(
    "[ ag base64 cat cksum curl cut date diff echo egrep fgrep find gh git grep gzip head jq ls npm"
    " ping printf rg sha1sum sha256sum sort stat tail tar test tree uniq wc yq".split()
)
# Programs with options that start other programs; an argument there must not begin as an option
# does.
_OPTIONS_RUN = frozenset(
    "bsdtar cargo clang cpio curl find gcc git gmake go less make man mutt npm openssl pnpm rg"
    " rsync scp set sftp sort ssh tar wget yarn zip".split()
)
_WITH_PROGRAMS = (
    code_words.AWKS
    | code_words.SEDS
    | _ELSEWHERE
    | _RUN_WORDS
    | _CONSOLES
    | {"find", "make", "gmake"}
)
_VALUE_FOLLOWS = frozenset(
    "-m --message --grep --author --since --until -S -G -C -b -name -iname -path -ipath -regex"
    " -newer -d --data -H -X".split()
)
_GIT_RUN = frozenset("bisect difftool filter-branch foreach mergetool".split())
_WRITERS = frozenset("cp curl dd install ln mv sponge tee wget".split())
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[0-9]+\])?")
_NUMBER = re.compile(r"-?[0-9]+|\$[#?]|\$\{#[A-Za-z_][A-Za-z0-9_]*(?:\[[@*]\])?\}|")
_ARITHMETIC_TESTS = frozenset("-eq -ne -lt -le -gt -ge".split())
_SHOPT = frozenset(
    "-s -u -q dotglob failglob globstar inherit_errexit lastpipe nocaseglob nocasematch nullglob".split()
)
_SET = re.compile(r"[-+][aCefhmnuvxo]+|errexit|nounset|pipefail|xtrace|noglob|noclobber|--")
_AWK_RUNS = re.compile(r"\bsystem\s*\(|\bgetline\b|\bprintf?\b[^;}\n]*(?<!\|)\|(?!\|)|@")
_PROGRAM_OPTION = re.compile(r"-e|--(?:expression|source)=?")
_SED_RUNS = re.compile(
    r"[^\w\s][gpiImM0-9]*e[gpiImM0-9]*\s*(?:$|[;}\n])"
    r"|(?:^|[;{\n])\s*(?:[0-9$]+|/[^/]*/)?(?:,(?:[0-9$]+|/[^/]*/))?\s*!?\s*e(?:\s|$)"
)


def check_command(command: SimpleCommand) -> None:
    """Look at a command as a whole. Raises `Unsafe`."""
    head, words, reach = command.head, command.words, command.reach
    if head is None or reach is None:
        return
    if len(words) > _MOST_WORDS:
        raise Unsafe(f"`{head}` has {len(words):,} words, and at most {_MOST_WORDS:,} are read")
    if command.is_test:
        _check_test(words)
        return
    if head in _EVALUATE or (head in _WINDOWS and _is_any_tainted(words)):
        raise _refusal(head, words)
    if "$" in head or "`" in head:
        raise _refusal(head, words)
    _OWN_CHECKS.get(head, _check_program)(head, words, reach)
    if command.takes_input_as_words and (
        code_words.find_interpreter(head) or head in _WITH_PROGRAMS or "$" in head
    ):
        raise Unsafe(
            f"`{head}` would get what is read as words, which an argument may have got into"
        )
    if head in _WRITERS:
        reach.written.update(code_words.base_name(word.text) for word in words)


def _refusal(head: str, words: Sequence[Word]) -> Unsafe:
    if _is_any_tainted(words):
        return Unsafe(f"`{head}` would run an argument as code")
    return Unsafe(f"`{head}` evaluates text, and an argument may have got into it")


def _is_any_tainted(words: Sequence[Word]) -> bool:
    return any(word.is_tainted for word in words)


def _check_program(head: str, words: Sequence[Word], reach: Reach) -> None:
    """A program that is no part of the shell."""
    chain = [Word(head), *words]
    for at, word in enumerate(chain):
        name = (
            code_words.find_interpreter(word.text)
            if word.is_exact and not word.is_tainted
            else None
        )
        if name is not None:
            is_certain = at == 0 or head in _ELSEWHERE or chain[at - 1].text in _PROGRAM_FOLLOWS
            check_interpreter(head, name, chain[at + 1 :], reach, is_certain=is_certain)
    if head in _CONSOLES and (_is_any_tainted(words) or reach.has_input):
        raise _refusal(head, words)
    for at, word in enumerate(words):
        before = [one.text for one in words[:at]]
        if word.is_tainted and _runs_word(head, before, word):
            raise _refusal(head, words)
        is_value = "--" in before or (before and before[-1] in _VALUE_FOLLOWS)
        if head in _OPTIONS_RUN and not is_value and reach.may_be_option(word):
            raise Unsafe(
                f"`{head}` would read an argument as an option, and some of its options run"
                " programs"
            )


def _runs_word(head: str, before: Sequence[str], word: Word) -> bool:
    """Whether a program runs this word, which an argument may be in."""
    previous = before[-1] if before else ""
    if head in _RUN_WORDS or previous in _PROGRAM_FOLLOWS or _CODE_IN_OPTION.match(word.text):
        return True
    if head == "git":
        is_config = previous in ("-c", "--config-env", "--exec-path") and all(
            one[:1] == "-" for one in before
        )
        return is_config or previous in ("-x", "--exec") or not _GIT_RUN.isdisjoint(before)
    if previous in _RUN_AFTER.get(head, ()):
        return True
    if head in _CONTAINERS and not _START.isdisjoint(before):
        start = next(at for at, one in enumerate(before) if one in _START)
        return any(one[:1] != "-" for one in before[start + 1 :])
    if head == "make" and previous in ("-f", "--file", "-E", "--eval"):
        return True
    has_own_options = head in _OTHER_OPTIONS or code_words.find_interpreter(head) is not None
    return not has_own_options and _CODE_OPTION.fullmatch(previous) is not None


def _check_make(head: str, words: Sequence[Word], reach: Reach) -> None:
    texts = [word.text for word in words]
    if any(one in ("-f-", "--file=-") or (one in ("-f", "--file") and texts[at + 1 : at + 2] in (["-"], ["/dev/stdin"]))
           for at, one in enumerate(texts)):  # fmt: skip
        raise _refusal(head, words)
    _check_program(head, words, reach)


def _check_awk(head: str, words: Sequence[Word], reach: Reach) -> None:
    """awk and sed: their program must be written out, and must not start other programs."""
    runs = _AWK_RUNS if head in code_words.AWKS else _SED_RUNS
    for at, word in enumerate(words):
        before = [one.text for one in words[:at]]
        previous = before[-1] if before else ""
        is_file = previous in ("-f", "--file") or word.text.startswith(("-f", "--file"))
        is_program = code_words.is_program(head, before, word.text) or re.fullmatch(
            r"-[A-Za-z]*e", previous
        )
        if word.is_tainted and (is_program or is_file):
            raise _refusal(head, words)
        program = _PROGRAM_OPTION.sub("", word.text) if is_program else ""
        if (is_file and _is_input(word.text)) or runs.search(program):
            raise Unsafe(f"`{head}` would run what it reads, which an argument may have got into")
        if "--" not in before and reach.may_be_option(word):
            raise Unsafe(
                f"`{head}` would read an argument as an option, and some of its options run"
                " programs"
            )
        if is_file:
            reach.ran.add(code_words.base_name(word.text))


def _is_input(text: str) -> bool:
    return text in ("-", "-f-", "--file=-") or "/dev/" in text or "/proc/" in text


def _check_source(head: str, words: Sequence[Word], reach: Reach) -> None:
    if not words or _is_any_tainted(words) or _is_input(words[0].text):
        raise _refusal(head, words)
    reach.ran.add(code_words.base_name(words[0].text))


def _check_trap(head: str, words: Sequence[Word], reach: Reach) -> None:
    if _is_any_tainted(words) or not all(word.is_exact for word in words):
        raise _refusal(head, words)
    if words:
        reach.read_code(words[0].text)


def _check_declare(head: str, words: Sequence[Word], reach: Reach) -> None:
    """A word NAME=VALUE is harmless, as long as it makes no number, no reference and no array of
    the value.
    """
    for word in words:
        is_option = word.text[:1] in ("-", "+")
        makes_more = is_option and head != "export" and not set("in").isdisjoint(word.text)
        if makes_more or (word.is_tainted and not code_words.is_assignment(word.text)):
            raise _refusal(head, words)
        if word.is_tainted and reach.may_be_array(code_words.assigned_name(word.text)):
            raise _refusal(head, words)
        if not is_option:
            _check_names(
                head, [word.text.partition("=")[0].removesuffix("+")], is_tainted=word.is_tainted
            )


def _check_names(head: str, names: Sequence[str], *, is_tainted: bool) -> None:
    for name in names:
        if _NAME.fullmatch(name) is None:
            raise Unsafe(f"`{head}` takes names, and an argument may be evaluated in “{name}”")
        if is_tainted:
            check_name(name)


def _check_read(head: str, words: Sequence[Word], reach: Reach) -> None:
    """Whatever takes the names of variables that it fills."""
    if _is_any_tainted(words) or any(word.text.startswith("-C") for word in words):
        raise _refusal(head, words)
    valued = "-d -i -n -N -p -t -u -O -s -c" if head != "read" else "-d -i -n -N -p -t -u"
    texts = [word.text for word in words]
    names = [
        one for at, one in enumerate(texts)
        if one[:1] != "-" and (at == 0 or not (texts[at - 1][:1] == "-" and f"-{texts[at - 1][-1]}" in valued.split()))
    ]  # fmt: skip
    _check_names(head, names, is_tainted=head != "unset")


def _check_loop(head: str, words: Sequence[Word], reach: Reach) -> None:
    if words and words[0].text[:2] != "((":
        _check_names(head, [words[0].text], is_tainted=True)


def _check_v(head: str, words: Sequence[Word], reach: Reach) -> None:
    """`printf -v NAME` and `test -v NAME`, where an argument must not become the `-v` either."""
    if head == "printf" and any(map(reach.may_be_option, words[:1])):
        raise Unsafe("`printf` would read an argument as an option")
    if head != "printf" and any(word.splits for word in words):
        raise Unsafe(
            f"`{head}` would read an argument as several words; put quotes around the variable"
        )
    if head != "printf" and any(
        one.is_tainted and other.is_tainted for one, other in pairwise(words)
    ):
        raise Unsafe(f"`{head}` would read an argument as an operator")
    for previous, word in pairwise(words):
        if previous.text == "-v" and word.is_tainted:
            raise _refusal(head, words)
        if previous.text == "-v":
            _check_names(head, [word.text], is_tainted=head == "printf")


def _check_test(words: Sequence[Word]) -> None:
    """`[[ … ]]`, where comparing numbers evaluates both sides."""
    for at, word in enumerate(words):
        sides = (
            (*words[max(at - 1, 0) : at], *words[at + 1 : at + 2])
            if word.text in _ARITHMETIC_TESTS
            else ()
        )
        is_arithmetic = any(not one.text or _NUMBER.fullmatch(one.text) is None for one in sides)
        names = words[at + 1 : at + 2] if word.text == "-v" else ()
        if is_arithmetic or any(
            one.is_tainted or _NAME.fullmatch(one.text) is None for one in names
        ):
            raise Unsafe("an argument would be evaluated as arithmetic")


def _check_options(head: str, words: Sequence[Word], reach: Reach) -> None:
    """`shopt` and `set`, which change how the rest of a script is read."""
    if head == "set":
        texts = [word.text for word in words]
        options = words[: texts.index("--")] if "--" in texts else words
        if any(map(reach.may_be_option, options)):
            raise Unsafe("`set` would read an argument as an option")
        is_known = all(_SET.fullmatch(one.text) for one in options if one.text[:1] in ("-", "+"))
    else:
        is_known = all(word.text in _SHOPT for word in words)
    if not is_known:
        raise Unsafe(f"`{head}` changes how the rest of the script is read")


_Check = Callable[[str, Sequence[Word], Reach], None]
_OWN_CHECKS: Mapping[str, _Check] = {
    **dict.fromkeys((".", "source"), _check_source),
    **dict.fromkeys("declare export local readonly typeset".split(), _check_declare),
    **dict.fromkeys("getopts mapfile read readarray unset wait".split(), _check_read),
    **dict.fromkeys(("for", "select"), _check_loop),
    **dict.fromkeys(("[", "printf", "test"), _check_v),
    **dict.fromkeys(("set", "shopt"), _check_options),
    **dict.fromkeys((*code_words.AWKS, *code_words.SEDS), _check_awk),
    **dict.fromkeys(("make", "gmake"), _check_make),
    "trap": _check_trap,
}
