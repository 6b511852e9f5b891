"""Shell completion; in bash also for words with `@`, `=` or `:`, which bash splits."""

from __future__ import annotations

import os

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

# Prowess gets the line as typed and answers with whole words. Of these, bash replaces only what
# comes after its last word break, so what comes before it is removed.
_SCRIPT = """\
%(complete_func)s() {
    local IFS=$'\\n' line word value sign head kept="" before="" response completion type
    line="${COMP_LINE:0:COMP_POINT}"
    word="${line##*[[:blank:]]}"
    value="$word"
    if [[ $word == -*=* ]]; then
        value="${word#*=}"
        [[ $COMP_WORDBREAKS == *=* ]] || before="${word%%%%=*}="
    fi
    for sign in @ : =; do
        if [[ $COMP_WORDBREAKS == *"$sign"* && $value == *"$sign"* ]]; then
            head="${value%%"${value##*"$sign"}"}"
            # Unlike the others, an @ is part of what is replaced.
            [[ $sign == @ ]] && head="${head%%@}"
            if (( ${#head} > ${#kept} )); then kept="$head"; fi
        fi
    done
    response=$(env COMP_WORDS="$line" COMP_CWORD=-1 %(complete_var)s=bash_complete "$1")
    COMPREPLY=()
    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$before${value#"$kept"}") ;;
        esac
    done
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


_DEBUG = "--debug"


class _WithDebug(ShellComplete):
    """Offers `--debug` wherever an option can be; it is an option of no single command."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """What the command offers, and `--debug` where it fits."""
        items = super().get_completions(args, incomplete)
        is_begun = incomplete.startswith("-") and _DEBUG.startswith(incomplete)
        # After `--` nothing is an option.
        is_usable = "--" not in args and _DEBUG not in args
        is_offered = any(item.value == _DEBUG for item in items)
        if is_begun and is_usable and not is_offered:
            items.append(CompletionItem(_DEBUG, help="Show a traceback for errors."))
        return items


class Zsh(_WithDebug, ZshComplete):
    """Completion for zsh."""


class Fish(_WithDebug, FishComplete):
    """Completion for fish."""


class Bash(_WithDebug, BashComplete):
    """Completion for bash from the line as typed; also understands click's own script."""

    source_template = _SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one to complete, and the part of it that was typed."""
        if os.environ.get("COMP_CWORD") != "-1":
            return super().get_completion_args()
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)
        # After a blank the next word begins, although the split does not show it.
        has_begun = len(words) > 1 and not line[-1:].isspace()
        incomplete = words.pop() if has_begun else ""
        return words[1:], incomplete


def register_shells() -> None:
    """Make click use these classes."""
    for shell in (Bash, Zsh, Fish):
        add_completion_class(shell)
