"""Completion for bash of words that hold `@`, `=` or `:`, which bash takes for several words."""

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

# Prowess gets the line as it was typed and answers with whole words. Of these bash replaces only
# what stands behind the last of its word breaks, so what stands before it is taken off.
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
            # Unlike the others, an @ is a part of what is replaced.
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
    """Offers `--debug` wherever an option may stand; no single command has it as its own."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """What the command offers, and `--debug` where it fits."""
        found = super().get_completions(args, incomplete)
        fits = (
            incomplete[:1] == "-"
            and _DEBUG.startswith(incomplete)
            and not {"--", _DEBUG}.intersection(args)
        )
        if fits and all(item.value != _DEBUG for item in found):
            found.append(CompletionItem(_DEBUG, help="Show where an error came from."))
        return found


class Zsh(_WithDebug, ZshComplete):
    """Completion for zsh."""


class Fish(_WithDebug, FishComplete):
    """Completion for fish."""


class WholeWords(_WithDebug, BashComplete):
    """Completion by the line as it was typed; a number of a word, as other scripts send it, is
    understood too.
    """

    source_template = _SCRIPT

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is to be completed, and what there is of it."""
        if os.environ.get("COMP_CWORD") != "-1":
            return super().get_completion_args()
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)
        incomplete = words.pop() if len(words) > 1 and not line[-1:].isspace() else ""
        return words[1:], incomplete


def set_up() -> None:
    """Let the shell be answered in this way."""
    for shell in (WholeWords, Zsh, Fish):
        add_completion_class(shell)
