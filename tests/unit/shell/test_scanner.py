"""A value is a quoted parameter, only where bash takes it as data; any other script is refused."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence

import pytest

from prowess.activate.body.substitution import Given, Reference, Substitution
from prowess.model.command import FilledProgram
from prowess.model.skill import DeclaredArgument
from prowess.profiles.load import load_profile
from prowess.shell.bash import fill_argv, fill_bash
from prowess.shell.command_list import list_commands
from prowess.shell.program_words import runs_code
from prowess.shell.quotes import FilledCommand, ValueRefused

RULES = load_profile("prowess").arguments
HOSTILE = 'it\'s  *;$(echo x) "`y`" \\ ~ {a,b} && é'


def find_references(
    source: str, arguments: str, declared: Sequence[DeclaredArgument] = ()
) -> list[Reference]:
    given = Given(arguments=arguments, folder="/my skills/a")
    filling = Substitution(RULES, given, names=("who",), declared=declared)
    return list(filling.find_references(source))


def fill(
    source: str,
    arguments: str = "it's  *;$(x)",
    *,
    by: Callable[[str, Sequence[Reference]], FilledCommand] = fill_bash,
) -> FilledCommand:
    return by(source, find_references(source, arguments))


def run(filled: FilledCommand) -> str:
    env = {"PATH": "/usr/bin:/bin", **filled.env}
    finished = subprocess.run(
        ["bash", "-c", filled.script], env=env, capture_output=True, text=True
    )
    assert finished.stderr == ""
    return finished.stdout


@pytest.mark.parametrize(
    ("source", "script"),
    [
        ("echo $ARGUMENTS", 'echo "${PROWESS_ARGUMENTS}"'),
        ('echo "<$ARGUMENTS>"', 'echo "<${PROWESS_ARGUMENTS}>"'),
        ("echo '<$ARGUMENTS>'", "echo '<'\"${PROWESS_ARGUMENTS}\"'>'"),
        ("echo $'<$ARGUMENTS>'", "echo $'<'\"${PROWESS_ARGUMENTS}\"$'>'"),
        ("echo x$0-y", 'echo x"${PROWESS_ARGUMENT_0}"-y'),
        ('echo "$(echo $0)"', 'echo "$(echo "${PROWESS_ARGUMENT_0}")"'),
        ("echo $who*", 'echo "${PROWESS_ARGUMENT_0}"*'),
        ("# don't $0\necho $0", '# don\'t $0\necho "${PROWESS_ARGUMENT_0}"'),
        ("echo a#b $0", 'echo a#b "${PROWESS_ARGUMENT_0}"'),
        (r"echo \"$0", r'echo \""${PROWESS_ARGUMENT_0}"'),
        (r"echo \$0 '\$0' \\$0", r"""echo $0 '$0' \\"${PROWESS_ARGUMENT_0}" """.rstrip()),
        ("echo $$0", "echo $$0"),
        ("${SKILL_DIR}/run.sh $0", '"${PROWESS_SKILL_DIR}"/run.sh "${PROWESS_ARGUMENT_0}"'),
        ("$HOME/bin/run $0", '"$HOME"/bin/run "${PROWESS_ARGUMENT_0}"'),
        ("${X}/$Y/run $0", '"${X}"/"$Y"/run "${PROWESS_ARGUMENT_0}"'),
        ("$HOME/bin/run x", "$HOME/bin/run x"),
        ("awk '{print $1}' $0", "awk '{print $1}' \"${PROWESS_ARGUMENT_0}\""),
        ("echo ${X:-none} $9 $x ${#x} $#", "echo ${X:-none} $9 $x ${#x} $#"),
        ("cat <<E\n${SKILL_DIR}\nE\n", "cat <<E\n${PROWESS_SKILL_DIR}\nE\n"),
        (
            "cat <<'E'\n$x $1\nE\ncat ${SKILL_DIR}",
            "cat <<'E'\n$x $1\nE\ncat \"${PROWESS_SKILL_DIR}\"",
        ),
        ("cat <<-E\n\t${SKILL_DIR}\n\tE\n", "cat <<-E\n\t${PROWESS_SKILL_DIR}\n\tE\n"),
        ("cat <<'E'\n\\$0\nE\n", "cat <<'E'\n$0\nE\n"),
        ("source ${SKILL_DIR}/x", 'source "${PROWESS_SKILL_DIR}"/x'),
        ("echo $((1 + ${EFFORT:-2}))", "echo $((1 + ${EFFORT:-2}))"),
    ],
)
def test_a_value_is_a_parameter_in_the_quotes_of_its_place(source: str, script: str) -> None:
    assert fill(source).script == script


@pytest.mark.parametrize(
    ("source", "readable"),
    [
        ("gh pr view $0", "gh pr view 'it'\"'\"'s'"),
        ('grep "Phase $ARGUMENTS" f', 'grep "Phase it\'s  *;\\$(x)" f'),
        ("echo '<$ARGUMENTS>'", "echo '<it'\\''s  *;$(x)>'"),
        ("echo $'<$ARGUMENTS>'", "echo $'<it\\'s  *;$(x)>'"),
    ],
)
def test_a_person_reads_the_command_with_its_values_quoted(source: str, readable: str) -> None:
    filled = fill(source)
    assert filled.readable == readable
    shell = subprocess.run(
        ["bash", "-c", f"set -- {readable}; printf '%s|' \"$@\""], capture_output=True, text=True
    )
    assert "it's" in shell.stdout


def test_every_program_that_gets_a_value_is_listed_with_a_rule_that_allows_it() -> None:
    filled = fill('git fetch; gh pr view $0 --json x | head; REF=$0 git log; X=$0; cat "$X"', "12")
    assert filled.programs == (
        FilledProgram("gh pr view 12 --json x", "gh pr view *"),
        FilledProgram("git log", "git log *"),
        FilledProgram("cat '$X'", "cat *"),
    )
    assert fill("gh pr view x; ${SKILL_DIR}/run").programs == ()


@pytest.mark.parametrize(
    "source",
    [
        "printf %s $ARGUMENTS",
        'printf %s "$ARGUMENTS"',
        "printf %s '$ARGUMENTS'",
        "printf %s $'$ARGUMENTS'",
        'printf %s "$(printf %s $ARGUMENTS)"',
        'X=$ARGUMENTS\nprintf %s "$X" # it\'s done',
        'X="$(printf %s $ARGUMENTS)"; Y=$X; printf %s "${Y}"',
        "printf %s $ARGUMENTS | cat",
        "printf %s $ARGUMENTS > /dev/stdout",
        "if [ -n x ] && ! [ -f /nowhere ]; then printf %s $ARGUMENTS; else true; fi",
        "(printf %s $ARGUMENTS) 2>&1",
        "{ printf %s $ARGUMENTS; } &> /dev/stdout",
        "for i in 1; do printf %s $ARGUMENTS; done",
        "while true; do printf %s $ARGUMENTS; break; done",
        "bash -c 'printf %s \"$1\"' _ $ARGUMENTS",
        "env A=1 printf %s $ARGUMENTS",
        "timeout 5 printf %s $ARGUMENTS",
        "cat <(printf %s $ARGUMENTS)",
        "printf %s \\\n  $ARGUMENTS",
        "# a comment with $ARGUMENTS and `'\"\nprintf %s $ARGUMENTS",
        "set -euo pipefail; cd /; printf %s $ARGUMENTS",
        "X=$ARGUMENTS sh -c 'printf %s \"$X\"'",
        "printf '%s\\0' $ARGUMENTS | xargs -0 -n 1 printf %s",
        "echo $((1 + 2)) > /dev/null; printf %s $ARGUMENTS",
        "command -v printf > /dev/null && printf %s $ARGUMENTS",
        "command -v bash > /dev/null && printf %s $ARGUMENTS",
        "env X=$ARGUMENTS sh -c 'printf %s \"$X\"'",
        "timeout 5 sh -c 'printf %s \"$1\"' sh $ARGUMENTS",
    ],
)
def test_a_real_bash_passes_the_value_on_unchanged(source: str) -> None:
    assert run(fill(source, HOSTILE)) == HOSTILE


USE = "cannot be used in a command that takes arguments"
DECIDES = "an argument would decide which program runs"
PLAINLY = "the name of the program is not literal text"
CODE = "a second shell would run an argument or its input"
LINES = "a word is split across two lines"


def is_part(name: str) -> str:
    return f"`{name}` is part of the shell and could evaluate it"


def would_split(text: str) -> str:
    return f"bash would split `{text}` into words; put it in double quotes"


def no_ordinary(name: str) -> str:
    return f"an argument would be assigned to `{name}`, which is a special variable"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        # The name of a program
        ("$ARGUMENTS", DECIDES),
        ("x=1 $0 a", DECIDES),
        ("true && ./run-$0.sh", DECIDES),
        ("'x=a'$0", DECIDES),
        (r"x\=$0", DECIDES),
        ("echo $($0)", DECIDES),
        ("if $0; then echo; fi", DECIDES),
        ("! $0", DECIDES),
        ("{ $0; }", DECIDES),
        ("X=$0; \"$X\"", DECIDES),
        ("X=$0; ${X}/run", DECIDES),
        ("$CMD $0", PLAINLY),
        ("\"\" $0", PLAINLY),
        ("$'\\x65val' $0", PLAINLY),
        ("{ev,}al $0", PLAINLY),
        ("ev?l $0", PLAINLY),
        ("$(echo eval)/x $0", PLAINLY),
        (r"\$1/x $0", PLAINLY),
        # A second shell, wherever it is named
        ("sudo bash $0", CODE),
        ("echo $0 | env bash", CODE),
        ("env fish --command $0", CODE),
        ("env fish --command=$0", CODE),
        ("which bash; echo $0", CODE),
        # A special variable, whoever sets it
        ("env LD_PRELOAD=$0 ls", no_ordinary("LD_PRELOAD")),
        ("sudo -E PATH=$0 ls", no_ordinary("PATH")),
        ("make BASH_ENV=\"$0\"", no_ordinary("BASH_ENV")),
        # What is part of the shell
        ("eval echo $0", is_part("eval")),
        (r"\eval echo $0", is_part("eval")),
        ("'eval' echo $0", is_part("eval")),
        ("X=$0; eval echo \"$X\"", is_part("eval")),
        ("source $0", is_part("source")),
        ("trap $0 EXIT", is_part("trap")),
        ("export X=$0", is_part("export")),
        ("declare -i X=$0", is_part("declare")),
        ("read $0", is_part("read")),
        ("cd $0", is_part("cd")),
        ("set -- $0", is_part("set")),
        ("[ -n $0 ]", is_part("[")),
        ("test $0 -gt 1", is_part("test")),
        ("exec echo $0", is_part("exec")),
        ("command echo $0", is_part("command")),
        ("kill $0", is_part("kill")),
        ("for x in $0; do echo; done", is_part("for")),
        ("for $0 in x; do echo; done", is_part("for")),
        ("printf $0 x", "the format of `printf` is not literal text"),
        ("printf %s$0 x", "the format of `printf` is not literal text"),
        ("printf -v x %s $0", "the format of `printf` is not literal text"),
        ("printf %n $0", "the format of `printf` is not literal text"),
        ("printf \"$F\" $0", "the format of `printf` is not literal text"),
        # What a script with arguments may not have, wherever the argument is
        ("eval x; echo $0", f"`eval` {USE}"),
        (". ./x; echo $0", f"`.` {USE}"),
        ("read x; echo $0", f"`read` {USE}"),
        ("alias x=eval\nx $0", f"`alias` {USE}"),
        ("shopt -s expand_aliases; x $0", f"`shopt` {USE}"),
        ("set -k; echo PATH=$0", f"`set` with these arguments {USE}"),
        ("[ -v x ]; echo $0", f"`[` with these arguments {USE}"),
        ("[ $x ]; echo $0", f"`[` with these arguments {USE}"),
        ("[ \"$x\" \"$y\" ]; echo $0", f"`[` with these arguments {USE}"),
        ("command eval x; echo $0", f"`command` with these arguments {USE}"),
        ("[[ -n $0 ]]", f"`[[` {USE}"),
        ("case $0 in x) ;; esac", f"`case` {USE}"),
        ("time $0", f"`time` {USE}"),
        ("coproc $0", f"`coproc` {USE}"),
        ("select x in $0; do :; done", f"`select` {USE}"),
        ("function f { echo; }; f $0", f"`function` {USE}"),
        ("f() { echo; }; f $0", f"a bracket here {USE}"),
        ("A=($0)", f"a bracket here {USE}"),
        ("((x = $0))", f"a bracket here {USE}"),
        ("cat <<E\n$0\nE", f"a here-document {USE}"),
        ("cat <<-E\n$ARGUMENTS\nE", f"a here-document {USE}"),
        ("a[0]=$0", DECIDES),
        ("a[x]=/y; echo $0", PLAINLY),
        ("echo $((1 + $0))", "arithmetic evaluates its contents"),
        ("X=$0; echo $((X))", "arithmetic evaluates its contents"),
        ("echo $[ $0 ]", "this kind of `$[` is not supported"),
        ("echo ${X:-$0}", "this kind of `${` is not supported"),
        ("echo ${!X} $0", "this kind of `${` is not supported"),
        ("echo ${X@P} $0", "this kind of `${` is not supported"),
        ("echo ${X:1} $0", "this kind of `${` is not supported"),
        ("echo ${X[0]} $0", "this kind of `${` is not supported"),
        ("echo $\"$0\"", "this kind of `$\"` is not supported"),
        ("X=$0; echo \"${X#a}\"", "`${X#a}` changes a value"),
        ("echo $0; echo $_", "`$_` may contain an argument"),
        ("echo $0; echo $PROWESS_ARGUMENT_0", "`$PROWESS_ARGUMENT_0` may contain an argument"),
        ("echo `echo $0`", "a command in backquotes is not supported; use `$(…)`"),
        # Where a value would become more than one word
        ("echo $(echo $0)", would_split("$(echo $0)")),
        ("X=$0; echo $X", would_split("$X")),
        ("echo {a,$0}", "bash would expand `{…}` into several words; quote it"),
        # Targets of redirections
        ("echo x > $0", "an argument is used in the target of `>`"),
        ("echo x >& $0", "an argument is used in the target of `>&`"),
        ("cat <<< $0", "an argument is used in the target of `<<<`"),
        ("cat < <(echo $0)", "an argument is used in the target of `<`"),
        # Variables with a meaning
        ("PS4=$0", no_ordinary("PS4")),
        ("RANDOM=$0", no_ordinary("RANDOM")),
        ("IFS=$0", no_ordinary("IFS")),
        ("PATH=$0 ls", no_ordinary("PATH")),
        ("BASH_ENV=$0 ls", no_ordinary("BASH_ENV")),
        ("LD_PRELOAD=$0 ls", no_ordinary("LD_PRELOAD")),
        ("PROMPT_COMMAND=$0", no_ordinary("PROMPT_COMMAND")),
        ("_=$0", no_ordinary("_")),
        # Names that programs read in lower case, or in any
        ("http_proxy=$0 curl https://a.test", no_ordinary("http_proxy")),
        ("X=$0; no_proxy=$X; wget https://a.test", no_ordinary("no_proxy")),
        ("Https_Proxy=$0 python3 get.py", no_ordinary("Https_Proxy")),
        ("npm_config_registry=$0 npm ci", no_ordinary("npm_config_registry")),
        ("pnpm_config_registry=$0 pnpm i", no_ordinary("pnpm_config_registry")),
        ("yarn_npm_registry_server=$0 yarn", no_ordinary("yarn_npm_registry_server")),
        ("PIP_index_url=$0 pip list", no_ordinary("PIP_index_url")),
        ("TF_VAR_source=$0 terraform plan", no_ordinary("TF_VAR_source")),
        ("COMPlus_Profiler=$0 dotnet a.dll", no_ordinary("COMPlus_Profiler")),
        ("PSModulePath=$0 pwsh -File a.ps1", no_ordinary("PSModulePath")),
        ("ignoreeof=$0", no_ordinary("ignoreeof")),
        # A second shell
        ('bash -c "echo $0"', CODE),
        ("/bin/sh -ec 'echo $ARGUMENTS'", CODE),
        ('bash -o pipefail -c "$ARGUMENTS"', CODE),
        ("find . -exec sh -c \"echo $0\" ';'", CODE),
        ("timeout 5 bash -c $0", CODE),
        ("bash $0", CODE),
        ("echo $0 | bash", CODE),
        ("echo $0 | bash -s x", CODE),
        ("bash <(echo $0)", CODE),
        # What cannot be read
        ("i\\\nf $0; then :; fi", LINES),
        ('echo "a\\\nb" $0', LINES),
        ("echo 'never closed $ARGUMENTS", "a `'` is missing"),
        ("echo $(never closed $0", "a `)` is missing"),
        ("echo $0 )", f"a bracket here {USE}"),
        ("echo " + "$(" * 60 + "$0" + ")" * 60, "it is nested too deeply"),
    ],
)  # fmt: skip
def test_a_script_that_bash_could_evaluate_a_value_in_is_refused(source: str, why: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        fill(source, "a b")
    assert caught.value.why == why


@pytest.mark.parametrize(
    "name", ["path", "temp", "home", "git_ref", "node_version", "pythonVersion", "proxy", "npm_tag"]
)
def test_a_variable_of_a_script_takes_a_value_though_one_in_capitals_would_not(name: str) -> None:
    assert run(fill(f'{name}=$ARGUMENTS; printf %s "${name}"', HOSTILE)) == HOSTILE


def test_a_here_document_in_quotes_takes_no_value_at_all() -> None:
    with pytest.raises(ValueRefused) as caught:
        fill("cat <<'E'\n${SKILL_DIR}\nE\n")
    assert caught.value.why == "bash expands nothing in a here-document with a quoted delimiter"


def test_a_refusal_says_where() -> None:
    source = "echo a\necho b\n  eval $0"
    with pytest.raises(ValueRefused) as caught:
        fill(source, "x")
    assert source[caught.value.at :] == "$0"


@pytest.mark.parametrize(
    "source",
    [
        'find -- "$ARGUMENTS"',
        "echo $0",
        "echo '$ARGUMENTS'",
        'X=$0; find "$X"',
        'find "$X"$0',
        "find *$0",
        "find a$X$0",
        "find ''$0",
    ],
)
def test_a_value_that_begins_a_word_with_a_hyphen_is_refused(source: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        fill(source, "-delete")
    end = "which begins with `-`, so a program could read it as an option"
    assert caught.value.why.endswith(f" is “-delete”, {end}")


def test_a_hyphen_inside_a_word_or_of_an_argument_that_takes_options_is_passed_on() -> None:
    for source in ("find ./$0", "find --name=$0", "find x$X/$0", "awk '$1' f"):
        assert fill(source, "-delete").script
    declared = (DeclaredArgument(name="who", options=True),)
    for source in ("ls $who", "ls $0", "ls $ARGUMENTS"):
        assert fill_bash(source, find_references(source, "-l", declared)).used
    with pytest.raises(ValueRefused):
        fill_bash("ls $1", find_references("ls $1", "-l -a", declared))


@pytest.mark.parametrize(
    "source",
    [
        "${SKILL_DIR}/scripts/run.sh",
        "bash ${SKILL_DIR}/run.sh $ARGUMENTS",
        "bash -x ${SKILL_DIR}/run.sh -c $ARGUMENTS",
        "python3 ${SKILL_DIR}/run.py $0 --name $1",
        "echo $ARGUMENTS | python3 ${SKILL_DIR}/run.py",
        '"$HOME/bin/tool" $0',
        "~/bin/tool $0",
        "awk -v n=$0 '{print $1, n}' file",
        "sed s/a/b/ $0",
        "git log -n $0 | head -n $1",
        "docker logs $0",
        "cat ${SKILL_DIR}/$0.md",
        "git commit -m $ARGUMENTS && git log --oneline -5 | head -n $0",
        "gh pr view $0 --json title,body -q '.title'",
        "npm test -- $ARGUMENTS 2>&1 | tail -20",
        "grep -rn -e $0 --include='*.py' . | wc -l",
        "find . -name $0 -type f -exec grep -l x {} +",
        "test -f ./x.sh && bash ./x.sh $0 > out.txt && cat out.txt",
        "cat a.json | jq --arg x $0 '.[] | select(.a == $x)'",
        "for f in *.md; do echo $0 $f; done",
        "make test ARGS=$0",
        "git diff --stat $(git merge-base HEAD main) $0",
        "cd $(git rev-parse --show-toplevel) && git log $0",
        "ls .planning/$0-*/*.md 2>/dev/null || echo none",
        '[ "$(uname)" = Darwin ] && open $0 || xdg-open $0; exit $?',
        "diff <(git show HEAD:$0) $0",
    ],
)
def test_ordinary_commands_are_not_refused(source: str) -> None:
    assert fill(source, "1 2").used


@pytest.mark.parametrize(
    "source",
    [
        "case x in a) awk '{print $1}';; esac",
        'f() { local x=1; eval "echo $x"; }; f # $0',
        "cat <<'E' | awk -f -\n{print $1}\nE",
        "[[ -d ${SKILL_DIR} ]] && source ${SKILL_DIR}/lib.sh && echo $((1 + 2)) `date`",
    ],
)
def test_a_script_that_gets_no_argument_may_do_what_it_likes(source: str) -> None:
    assert "ARGUMENT" not in fill(source, "a b c").script


@pytest.mark.parametrize(
    ("source", "commands"),
    [
        ("grep a b", ["grep a b"]),
        ("echo hi; /bin/touch x", ["echo hi", "touch x"]),
        ("true && a 'b c' | d \"$x\" &", ["true", "a b c", "d $x"]),
        ("env A=1 touch x", ["env A=1 touch x", "touch x"]),
        ("sudo -u me rm x", ["sudo -u me rm x", "me rm x", "rm x"]),
        ("timeout 5s xargs -n 1 rm", ["timeout 5s xargs -n 1 rm", "xargs -n 1 rm", "rm"]),
        ("echo $(touch x) `rm y`", ["touch x", "rm y", "echo $(touch x) `rm y`"]),
        ("if a; then b; else c; fi", ["a", "b", "c"]),
        ("while ! a; do { b; }; done", ["a", "b"]),
        ("f() { rm x; }; f", ["f", "rm x", "f"]),
        ("function f { rm x; }", ["rm x"]),
        ("case x in a) rm x;; *) ls;; esac", ["case x in a", "rm x", "*", "ls", "esac"]),
        ("A=1 B=(x y) c", ["x y", "c"]),
        ("cat <<E\nrm x\nE\nls", ["cat", "ls"]),
        ("echo $((1 << 2))\nrm x", ["1", "rm x"]),
        ("(a; b) > f", ["a", "b"]),
        ("a `b (c` d", ["b"]),
        ("# nothing", []),
        ("echo " + "$(" * 60, []),
    ],
)
def test_the_commands_of_a_script_are_listed_for_rules(source: str, commands: list[str]) -> None:
    listed = [" ".join(words) for words in list_commands(source)[0]]
    assert [one for one in commands if one not in listed] == []
    assert not commands or len(listed) >= len(commands)


@pytest.mark.parametrize(
    ("source", "last"),
    [
        ("grep a b", ("grep", "a", "b")),
        ("cat a | grep -q $0", ("grep", "-q", "$0")),
        ("cd x && /usr/bin/git diff --stat", ("git", "diff", "--stat")),
        ("cat <<E\nx\nE\ngrep y", ("grep", "y")),
        ("cat <<E | grep z\nx\nE\n", ("grep", "z")),
        ("(grep x)", ()),
        ("# nothing", ()),
    ],
)
def test_the_last_command_is_known_because_its_exit_code_is_that_of_the_script(
    source: str, last: tuple[str, ...]
) -> None:
    assert list_commands(source)[1] == last


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (["sh", "-c", None], True),
        (["env", "bash", "-eo", "pipefail", "-c", None], True),
        (["sh", None], True),
        (["sh"], True),
        (["sh", "-s", "x"], True),
        (["sh", "-c"], False),
        (["bash", "+o", "posix", None], True),
        (["sh", "-c", 'echo "$1"', "sh", None], False),
        (["bash", "-x", "run.sh", "-c", "x", None], False),
        (["bash", "run.sh", None], False),
        (["grep", "bash", None], True),
        (["env", "bash", None], True),
        (["sudo", "bash"], True),
        (["env", "fish", "--command", None], True),
        (["xargs", "sh", "-c"], True),
        (["timeout", "5", "bash", "run.sh", None], False),
        (["grep", "bashful", None], False),
        (["prog", "-c", None], False),
        (["docker", "run", "alpine", "sh", "-c", None], True),
        (["docker", "run", "bash", "bash", "-c", None], True),
        (["env", "-u", "sh", "bash", "-c", None], True),
        (["bash", "run.sh", "sh", "-c", None], True),
        (["docker", "run", "bash", "bash", "run.sh", None], False),
    ],
)
def test_a_second_shell_gets_values_only_after_its_script(
    words: list[str | None],
    runs: bool,
) -> None:
    assert runs_code(words) is runs


# Without a shell


@pytest.mark.parametrize(
    ("source", "argv"),
    [
        ("git log -n $0", ("git", "log", "-n", "a;")),
        ('prog "<$ARGUMENTS>" x$0-y', ("prog", "<a; *  b>", "xa;-y")),
        ("awk '{print $1}' $0", ("awk", "{print $1}", "a;")),
        ("${SKILL_DIR}/run.sh $0", ("/my skills/a/run.sh", "a;")),
        ('prog \\\n  a\\ b \'\' "c\\"d" e#f', ("prog", "a b", "", 'c"d', "e#f")),
        ("eval $0", ("eval", "a;")),
        ("printf '%s|' '*' \"[x]\" '$HOME'", ("printf", "%s|", "*", "[x]", "$HOME")),
    ],
)
def test_without_a_shell_a_command_is_its_words(source: str, argv: tuple[str, ...]) -> None:
    filled = fill(source, "a; *  b", by=fill_argv)
    assert (filled.argv, filled.script, filled.env) == (argv, "", {})


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("a | b", "|"),
        ("a; b", ";"),
        ("a && b", "&&"),
        ("a &", "&"),
        ("a\nb", "a line end"),
        ("a > b", ">"),
        ("a 2>&1", "2>&"),
        ("(a)", "(a)"),
        ("X=1 a", "X=1"),
        ("! a", "!"),
        ("a $X", "$X"),
        ("a ${X}", "${X}"),
        ('a "$X"', "$X"),
        ("a $(b)", "$(b)"),
        ("a `b`", "`b`"),
        ("a *.md", "*.md"),
        ("a {b,c}", "{b,c}"),
        ("a ~/b", "~/b"),
        ("a $'b'", "b"),
    ],
)
def test_without_a_shell_what_only_a_shell_can_do_is_refused(source: str, what: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        fill(source, by=fill_argv)
    assert caught.value.why == f"`{what}` only works in a shell; quote it"


@pytest.mark.parametrize("source", ["$0 x", "run-$0"])
def test_without_a_shell_no_argument_decides_which_program_runs(source: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        fill(source, "x", by=fill_argv)
    assert caught.value.why == DECIDES
    with pytest.raises(ValueRefused):
        fill("ls $0", "-l", by=fill_argv)
