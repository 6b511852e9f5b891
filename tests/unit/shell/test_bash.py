"""Values reach a script as variables, with quotes that fit the place; a script that would run one
is refused.
"""

from __future__ import annotations

import subprocess

import pytest

from prowess.activate.body.substitution import Given, Substitution
from prowess.profiles.load import load_profile
from prowess.shell.bash import BashScript
from prowess.shell.powershell import PowerShellScript
from prowess.shell.simple_command import Unsafe

RULES = load_profile("prowess").arguments
ARITHMETIC = "an argument would be evaluated as arithmetic"
PLAINLY = "the name of a program is not written plainly, so it cannot be told what is run"
READS = "`bash` would run what it reads, which an argument may have got into"


def read(
    source: str, arguments: str = "it's  *;$(x)", names: tuple[str, ...] = ("who",)
) -> BashScript:
    filling = Substitution(RULES, Given(arguments=arguments, folder="/my skills/a"), names=names)
    return BashScript(source, list(filling.find_references(source)), prefix="P_")


def run(script: BashScript) -> str:
    finished = subprocess.run(
        ["bash", "-c", script.script],
        env={"PATH": "/usr/bin:/bin", **script.env},
        capture_output=True,
        text=True,
    )
    assert finished.stderr == ""
    return finished.stdout


@pytest.mark.parametrize(
    ("source", "script"),
    [
        ("echo $ARGUMENTS", 'echo "${P_ARGUMENTS}"'),
        ('echo "<$ARGUMENTS>"', 'echo "<${P_ARGUMENTS}>"'),
        ("echo '<$ARGUMENTS>'", "echo '<'\"${P_ARGUMENTS}\"'>'"),
        ("echo $'<$ARGUMENTS>'", "echo $'<'\"${P_ARGUMENTS}\"$'>'"),
        ("echo x$0-y", 'echo x"${P_ARGUMENT_0}"-y'),
        ('echo "$(echo $0)"', 'echo "$(echo "${P_ARGUMENT_0}")"'),
        ('echo "`echo $0`"', 'echo "`echo "${P_ARGUMENT_0}"`"'),
        ("cat <<E\n<$who>\nE\n", "cat <<E\n<${P_ARGUMENT_0}>\nE\n"),
        ("cat <<'E'\n<$who> $x `y` \\\nE\n", "cat <<E\n<${P_ARGUMENT_0}> \\$x \\`y\\` \\\\\nE\n"),
        ("cat <<-\\E\n\t$0\n\tE\n", "cat <<-E\n\t${P_ARGUMENT_0}\n\tE\n"),
        ("# don't $0\necho $0", '# don\'t $0\necho "${P_ARGUMENT_0}"'),
        ("echo a#b $0", 'echo a#b "${P_ARGUMENT_0}"'),
        (r"echo \"$0", r'echo \""${P_ARGUMENT_0}"'),
        (r"echo \$0 '\$0' \\$0", r"""echo $0 '$0' \\"${P_ARGUMENT_0}" """.rstrip()),
        (r'echo \${SKILL_DIR} "\${SKILL_DIR}"', 'echo "${P_SKILL_DIR}" "\\\\${P_SKILL_DIR}"'),
        ("${SKILL_DIR}/run.sh $0", '"${P_SKILL_DIR}"/run.sh "${P_ARGUMENT_0}"'),
        ("awk '{print $1}' $0", "awk '{print $1}' \"${P_ARGUMENT_0}\""),
        ("echo ${X:-none} $9 $x ${#x} $#", "echo ${X:-none} $9 $x ${#x} $#"),
        ("echo $((1 + ${EFFORT:-2}))", "echo $((1 + ${EFFORT:-2}))"),
    ],
)
def test_a_value_is_written_as_a_variable_in_the_quotes_of_its_place(
    source: str, script: str
) -> None:
    assert read(source).script == script


@pytest.mark.parametrize(
    "source",
    [
        "printf %s $ARGUMENTS",
        'printf %s "$ARGUMENTS"',
        "printf %s '$ARGUMENTS'",
        "printf %s $'$ARGUMENTS'",
        'printf %s "$(printf %s $ARGUMENTS)"',
        'printf %s "`printf %s $ARGUMENTS`"',
        'X=$ARGUMENTS\nprintf %s "$X" # it\'s done',
        "printf %s $ARGUMENTS | cat",
        "printf %s $ARGUMENTS > /dev/stdout",
        'for x in $ARGUMENTS; do printf %s "$x"; done',
        'A=($ARGUMENTS); printf %s "${A[0]}"',
        "if [ -n $ARGUMENTS ]; then printf %s $ARGUMENTS; fi",
        "[[ $ARGUMENTS == x || -n $ARGUMENTS ]] && printf %s $ARGUMENTS",
        "case x in x) printf %s $ARGUMENTS;; esac",
        "(printf %s $ARGUMENTS) 2>&1",
        "{ printf %s $ARGUMENTS; } &> /dev/stdout",
        "f() { printf %s $ARGUMENTS; }; f",
        "export X=$ARGUMENTS; bash -c 'printf %s \"$X\"'",
        "bash -c 'printf %s \"$1\"' _ $ARGUMENTS",
        "env A=1 printf %s $ARGUMENTS",
        "timeout 5 printf %s $ARGUMENTS",
        "cat <(printf %s $ARGUMENTS)",
        "printf %s \\\n  $ARGUMENTS",
        "# a comment with $ARGUMENTS and `'\"\nprintf %s $ARGUMENTS",
        "printf %s \"$(case x in x) printf %s '$ARGUMENTS';; esac)\"",
        'printf %s "$(case x in (y|z) echo;; x*) printf %s "$ARGUMENTS"; esac)"',
        "case $ARGUMENTS in $ARGUMENTS) printf %s $ARGUMENTS;; esac",
        "printf %s \"$([[ ab =~ (a)(b|c) ]])\"'$ARGUMENTS'",
        "((1 < 2)) && (( $# == 0 )) && printf %s '$ARGUMENTS'",
        'X=$ARGUMENTS; [[ ${#X} -gt 0 && $# -eq 0 ]] && printf %s "${X:0:999}"',
        'a[3]=$ARGUMENTS; printf %s "${a[3]}"',
        'set -euo pipefail; set -- "$ARGUMENTS"; printf %s "$@"',
        "printf '%s\\n' '$ARGUMENTS' | while IFS= read -r line; do printf %s \"$line\"; done",
        'function f { printf %s "$@"; }; f $ARGUMENTS',
        "trap 'true' EXIT; printf %s $ARGUMENTS",
        "printf '%s\\0' $ARGUMENTS | xargs -0 -n 1 printf %s",
        "bash -eo pipefail -c 'printf %s \"$1\"' _ $ARGUMENTS",
    ],
)
def test_a_real_bash_gets_the_value_unchanged(source: str) -> None:
    value = 'it\'s  *;$(echo x) "`y`" \\ ~ {a,b} && é'
    assert run(read(source, value)) == value


@pytest.mark.parametrize("opening", ["E", "'E'", '"E"', r"\E"])
def test_a_text_block_holds_the_value_and_cannot_be_ended_by_it(opening: str) -> None:
    value = "a\nE\necho run $(echo x) `y` \\ $HOME"
    assert run(read(f"cat <<{opening}\n<$ARGUMENTS>\nE\necho end", value)) == f"<{value}>\nend\n"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("$ARGUMENTS", "an argument would decide which program is run"),
        ("x=1 $0 a", "an argument would decide which program is run"),
        ("true && ./run-$0.sh", "an argument would decide which program is run"),
        ("sudo -n $0", "an argument would decide which program is run"),
        ("'x=a'$0", "an argument would decide which program is run"),
        (r"x\=$0", "an argument would decide which program is run"),
        (
            "'[[' x && $0",
            "the name of a program is not written plainly, so it cannot be told what is run",
        ),
        ("xargs [[ a >& $0", "an argument would be evaluated after `>&`"),
        ("[[ a ]] && $0", "an argument would decide which program is run"),
        ("echo $($0)", "an argument would decide which program is run"),
        ("if $0; then echo; fi", "an argument would decide which program is run"),
        ("a[$0]=1", "an argument would be evaluated as arithmetic"),
        ("eval echo $0", "`eval` would run an argument as code"),
        ('eval "$(echo $0)"', "`eval` would run an argument as code"),
        ('bash -c "echo $0"', "`bash` would run an argument as code"),
        ("/bin/sh -ec 'echo $ARGUMENTS'", "`sh` would run an argument as code"),
        ("find . -exec sh -c \"echo $0\" ';'", "`find` would run an argument as code"),
        ("find . -exec $0 ';'", "`find` would run an argument as code"),
        ("python3.11 -c \"print('$0')\"", "`python3.11` would run an argument as code"),
        ("python3 $0", "`python3` would run an argument as code"),
        ('awk "/$0/"', "`awk` would run an argument as code"),
        ('sed -n -e "$0,$1 p" file', "`sed` would run an argument as code"),
        ("$SHELL $0", "`$SHELL` would run an argument as code"),
        ("echo $0 | bash", "`bash` would run what it reads, which an argument may have got into"),
        ("(echo $0) | bash", "`bash` would run what it reads, which an argument may have got into"),
        (
            "{ echo $0; } | bash",
            "`bash` would run what it reads, which an argument may have got into",
        ),
        ("X=$0; eval echo $X", "`eval` would run an argument as code"),
        ('X=a$0\nY=($X) && bash -c "echo ${Y[0]}"', "`bash` would run an argument as code"),
        ("for x in $0; do $x; done", "an argument would decide which program is run"),
        ("read -r x <<< $0; $x", "an argument would decide which program is run"),
        ("N=$0; echo $((N + 1))", "an argument would be evaluated as arithmetic"),
        (
            "bash <<E\necho $0\nE",
            "`bash` would run what it reads, which an argument may have got into",
        ),
        (
            "cat <<E | sh -s\necho $0\nE",
            "`sh` would run what it reads, which an argument may have got into",
        ),
        ("bash <<< $0", "`bash` would run what it reads, which an argument may have got into"),
        (
            "docker exec -i box sh <<E\n$0\nE",
            "`docker` would run what it reads, which an argument may have got into",
        ),
        ("printf -v $0 x", "`printf` would run an argument as code"),
        ("declare -i x=$0", "`declare` would run an argument as code"),
        ("export $0", "`export` would run an argument as code"),
        ("ssh host ls $0", "`ssh` would run an argument as code"),
        ("echo $((1 + $0))", "an argument would be evaluated as arithmetic"),
        ("for ((i=0; i<$0; i++)); do :; done", "an argument would be evaluated as arithmetic"),
        ("echo $[ $0 ]", "an argument would be evaluated as arithmetic"),
        ("[[ $0 -gt 1 ]]", "an argument would be evaluated as arithmetic"),
        ("A=([$0]=x)", "an argument would be evaluated as arithmetic"),
        ("echo ${X:$0}", "an argument would be evaluated as arithmetic"),
        ("echo ${X:-$0}", "an argument would be evaluated inside `${…}`"),
        ("echo x >& $0", "an argument would be evaluated after `>&`"),
        (
            "cat <<E\n$0 $(date)\nE",
            "an argument stands in a text block beside something that the shell evaluates",
        ),
        (
            "cat <<'a b'\n$0\na b",
            "an argument stands in a text block that ends with “a b”, which is no plain word",
        ),
        ('n=$0; s=abcdef; echo "${s:0:n}"', ARITHMETIC),
        ("n=$0; s=abcdef; echo ${s: -n}", ARITHMETIC),
        ("i=$0; echo ${a[i]}", ARITHMETIC),
        ("i=$0; echo ${a[$i]}", ARITHMETIC),
        ("i=$0; echo ${a[@]:i}", ARITHMETIC),
        ("i=$0; echo ${a[0]:i}", ARITHMETIC),
        ("i=$0; a[i]=1", ARITHMETIC),
        ("i=$0; a=([i]=1)", ARITHMETIC),
        ("declare -i n; n=$0", "`declare` evaluates text, and an argument may have got into it"),
        ("local -n n=$0", "`local` would run an argument as code"),
        ("n=$0; [[ n -gt 3 ]]", ARITHMETIC),
        ("n=$0; [[ 3 -lt $n ]]", ARITHMETIC),
        ("n=$0; [[ -v $n ]]", ARITHMETIC),
        ('printf -v n %s "$ARGUMENTS"; echo $((n))', ARITHMETIC),
        ('echo "$ARGUMENTS" | (read x; echo $((x)))', ARITHMETIC),
        ("read 'a[i]' <<< $0", "`read` takes names, and an argument may be evaluated in “a[i]”"),
        (
            "X=$ARGUMENTS; echo ${!X}",
            "a variable would be read whose name an argument may have given",
        ),
        ("X=$0; echo ${X@P}", "a variable would be evaluated, and an argument may be in it"),
        ('PS4="$ARGUMENTS"; set -x; echo', "an argument would get into `PS4`, which is evaluated"),
        ("read PS4 <<< $0; set -x", "an argument would get into `PS4`, which is evaluated"),
        ("for PS4 in $0; do set -x; done", "an argument would get into `PS4`, which is evaluated"),
        ("BASH_ENV=$0 bash -c :", "an argument would get into `BASH_ENV`, which is evaluated"),
        ("export PAGER=$0", "an argument would get into `PAGER`, which is evaluated"),
        (
            'echo $ARGUMENTS | xargs -I{} sh -c "echo hello {}"',
            "`sh` would get what is read as words, which an argument may have got into",
        ),
        ("echo $0 | xargs -I {} {}", PLAINLY),
        ('bash -eo pipefail -c "$ARGUMENTS"', "`bash` would run an argument as code"),
        ('bash -o pipefail -c "$ARGUMENTS"', "`bash` would run an argument as code"),
        ("bash -c 'eval \"$1\"' _ $ARGUMENTS", "`eval` would run an argument as code"),
        ("X=$0 bash -c '$X'", "an argument would decide which program is run"),
        ('echo $(case x in x) eval "$ARGUMENTS";; esac)', "`eval` would run an argument as code"),
        ("case x in x) $0;; esac", "an argument would decide which program is run"),
        ("case x in a) b;; (x|y) $0 ;; esac", "an argument would decide which program is run"),
        ("case x in x) ;; esac; $0", "an argument would decide which program is run"),
        (
            "case x in x) case y in y) $0;; esac;; esac",
            "an argument would decide which program is run",
        ),
        ("case x\nin x) echo $0;; esac", "the `case` in it cannot be read"),
        (
            'while read -r l; do eval "$l"; done <<< "$ARGUMENTS"',
            "`eval` would run an argument as code",
        ),
        ('set -- $ARGUMENTS; eval "$@"', "`eval` would run an argument as code"),
        ('set -- $ARGUMENTS; "$@"', "an argument would decide which program is run"),
        ('f() { eval "$@"; }; f $ARGUMENTS', "`eval` would run an argument as code"),
        ("f() { \\$1; }; f $ARGUMENTS", "an argument would decide which program is run"),
        ('function f { "$@"; }; f $ARGUMENTS', "an argument would decide which program is run"),
        (
            "source /dev/stdin <<< $ARGUMENTS",
            "`source` evaluates text, and an argument may have got into it",
        ),
        ("bash /proc/self/fd/0 <<< $ARGUMENTS", READS),
        ("sh < <(echo $ARGUMENTS)", READS.replace("bash", "sh")),
        ("echo $ARGUMENTS | if true; then bash; fi", READS),
        ("echo $0 > f; bash f", "it runs `f`, a file that it writes, and an argument may be in it"),
        (
            "echo $0 | tee -a ./f; ./f",
            "it runs `f`, a file that it writes, and an argument may be in it",
        ),
        ("$'\\x65val' $ARGUMENTS", PLAINLY),
        ("{ev,}al $ARGUMENTS", PLAINLY),
        ("i\\\nf $0; then :; fi", "a word in it is broken over two lines"),
        ('script -qc "$ARGUMENTS" f', "`script` would run an argument as code"),
        ('flock f -c "$ARGUMENTS"', "`flock` would run an argument as code"),
        ("python3 -m timeit $0", "`python3` would run an argument as code"),
        (
            "echo $0 | python3 -c 'import sys; exec(sys.stdin.read())'",
            READS.replace("bash", "python3"),
        ),
        ("echo $0 | awk '{system($1)}'", READS.replace("bash", "awk")),
        ("echo $0 | sed 's/.*/&/e'", READS.replace("bash", "sed")),
        ("sed -f <(echo $0) x", "`sed` would run an argument as code"),
        ("printf $0 x", "`printf` would read an argument as an option"),
        (
            "X=$0; [ -n $X ]",
            "`[` would read an argument as several words; put quotes around the variable",
        ),
        ("test $0 $1", "`test` would read an argument as an operator"),
        ("declare -a A=$0", "`declare` would run an argument as code"),
        ("A=(1); f() { local A=$0; }; f", "`local` would run an argument as code"),
        (
            "sed s/a/b/ $0",
            "`sed` would read an argument as an option, and some of its options run programs",
        ),
        (
            "find . $0",
            "`find` would read an argument as an option, and some of its options run programs",
        ),
        (
            "X=$0; tar cf x $X",
            "`tar` would read an argument as an option, and some of its options run programs",
        ),
        ("echo $1 | $SHELL", "`$SHELL` evaluates text, and an argument may have got into it"),
        ("echo $1 | ssh host", "`ssh` evaluates text, and an argument may have got into it"),
        ("uv run $1", "`uv` would run an argument as code"),
        ("docker exec box $1", "`docker` would run an argument as code"),
        ("echo ${PS4:=$X} $1", "an argument would get into `PS4`, which is evaluated"),
        ("alias x=eval\nx $0", "`alias` evaluates text, and an argument may have got into it"),
        ("shopt -s expand_aliases; x $0", "`shopt` changes how the rest of the script is read"),
        ("git -c core.pager=$0 log", "`git` would run an argument as code"),
        (
            "X=$0\ncat <<E\n$((X))\nE",
            "an argument may get into a text block beside something that the shell evaluates",
        ),
        (
            "cat <<E\na\\\nE\n$0\nE",
            "an argument may get into a text block beside something that the shell evaluates",
        ),
        ("cat <<E\n$0", "a text block in it is never ended"),
        (
            'printf %s "`printf %s \\"$0\\"`"',
            "what stands in back-quotes cannot be read; use `$(…)`",
        ),
        ('echo "${x#\'"\'}$0"', "what stands in `${…}` cannot be read"),
        ('echo "$$0"', "a `$` stands right before an argument or the end of a line"),
        ("echo 'never closed $0", "a quote in it is never closed"),
        ("echo $(never closed $0", "something in it is never ended"),
        ("echo $0" + " x" * 2_000, "`echo` has 2,001 words, and at most 1,000 are read"),
        ("echo " + "$(" * 60 + "$0" + ")" * 60, "it is nested too deeply to be read"),
    ],
)
def test_a_script_that_would_run_an_argument_is_refused(source: str, why: str) -> None:
    with pytest.raises(Unsafe) as caught:
        read(source, "-a b")
    assert str(caught.value) == why


@pytest.mark.parametrize(
    "source",
    [
        "${SKILL_DIR}/scripts/run.sh",
        "bash ${SKILL_DIR}/run.sh $ARGUMENTS",
        "bash -x ${SKILL_DIR}/run.sh -c $ARGUMENTS",
        "python3 ${SKILL_DIR}/run.py $0 --name $1",
        "echo $ARGUMENTS | python3 ${SKILL_DIR}/run.py",
        "echo $ARGUMENTS | python3 -c 'import sys; print(sys.stdin.read())'",
        "$HOME/bin/tool $0",
        "awk -v n=$0 '{print $1, n}' file",
        "sed s/a/b/ $0",
        "git log -n $0 | head -n $1",
        "test $0 -gt 1",
        'X=$0; [ "$X" = a -o -n "$X" ]',
        "f() { local x=$0; echo $x; }; f",
        "docker logs $0",
        "cat ${SKILL_DIR}/$0.md",
        "echo bash $0",
        "git commit -m $ARGUMENTS && git log --oneline -5 | head -n $0",
        "gh pr view $0 --json title,body -q '.title'",
        "npm test -- $ARGUMENTS 2>&1 | tail -20",
        "npx prettier --check $0",
        "grep -rn -e $0 --include='*.py' . | wc -l",
        "find . -name $0 -type f -exec grep -l x {} +",
        "test -f ./x.sh && bash ./x.sh $0 > out.txt && cat out.txt",
        "source ./venv/bin/activate && python -m pytest $ARGUMENTS",
        "cat a.json | jq --arg x $0 '.[] | select(.a == $x)'",
        "echo $0 | awk -F: '{print $1}' | sed -e 's/a/the/g' -ne '/x/p'",
        "for f in *.md; do echo $0 $f; done",
        "while read -r x y; do echo $x $0; done < list.txt",
        "docker ps --filter name=$0",
        "make test ARGS=$0",
    ],
)
def test_ordinary_commands_are_not_refused(source: str) -> None:
    assert read(source, "1 2").used != []


@pytest.mark.parametrize(
    ("source", "last"),
    [
        ("grep a b", ("grep", "a", "b")),
        ("cat a | grep -q $0", ("grep", "-q", "")),
        ("cd x && git diff --stat", ("git", "diff", "--stat")),
        ("echo $(grep x y)", ("echo", "$(")),
        ("cat <<E\nx\nE\ngrep y", ("grep", "y")),
        ("cat <<E | grep z\nx\nE\n", ("grep", "z")),
        ("# nothing", ()),
    ],
)
def test_the_last_command_is_known_since_its_exit_code_is_the_script_s(
    source: str, last: tuple[str, ...]
) -> None:
    assert read(source, "x").last == last


COULD = "PowerShell could run an argument as code, since there is"
CALL = "`&` or `.` before what is not the plain name of a program"


def read_powershell(source: str) -> PowerShellScript:
    filling = Substitution(RULES, Given(arguments="a b", folder="/s"), names=("who",))
    return PowerShellScript(source, list(filling.find_references(source)), prefix="P_")


@pytest.mark.parametrize(
    ("source", "script"),
    [
        ("Write-Output $ARGUMENTS", "Write-Output ${env:P_ARGUMENTS}"),
        ('Write-Output "<$0>"', 'Write-Output "<${env:P_ARGUMENT_0}>"'),
        ("Write-Output `'$who", "Write-Output `'${env:P_ARGUMENT_0}"),
        ("# it's $0\nls ${SKILL_DIR}", "# it's $0\nls ${env:P_SKILL_DIR}"),
        (r"Write-Output '\$0' \$1", "Write-Output '$0' $1"),
        ('@"\n$0\n"@', '@"\n${env:P_ARGUMENT_0}\n"@'),
        (
            "git log -n $0 | Select-Object -First 3",
            "git log -n ${env:P_ARGUMENT_0} | Select-Object -First 3",
        ),
        (
            "python ${SKILL_DIR}/x.py $0 && gh pr view $0",
            "python ${env:P_SKILL_DIR}/x.py ${env:P_ARGUMENT_0} && gh pr view ${env:P_ARGUMENT_0}",
        ),
        ("& ./run.ps1 $0", "& ./run.ps1 ${env:P_ARGUMENT_0}"),
        ("& ${SKILL_DIR}/run.ps1 $0", "& ${env:P_SKILL_DIR}/run.ps1 ${env:P_ARGUMENT_0}"),
    ],
)
def test_powershell_gets_values_from_its_environment(source: str, script: str) -> None:
    assert read_powershell(source).script == script


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("Write-Output '$0'", "PowerShell fills nothing in single quotes; use double quotes"),
        ("iex $0", f"{COULD} `Invoke-Expression` in the script"),
        ('$x = $0; Invoke-Expression "a $x"', f"{COULD} `Invoke-Expression` in the script"),
        ("$x = $0; & $x", f"{COULD} {CALL} in the script"),
        ("$x = $0; & ./$x", f"{COULD} {CALL} in the script"),
        ("$x = $0\n. $x", f"{COULD} {CALL} in the script"),
        ("& {iex $0}", f"{COULD} `Invoke-Expression` in the script"),
        ("$b = [scriptblock]::Create($0)", f"{COULD} code made of text in the script"),
        ("$x = $0; pwsh -Command $x", f"{COULD} another shell or interpreter in the script"),
        (
            "$x = $0; powershell -EncodedCommand $x",
            f"{COULD} another shell or interpreter in the script",
        ),
        (
            "$x = $0; Start-Process pwsh $x",
            f"{COULD} `Invoke-Command` or what starts programs by name in the script",
        ),
        ('$x = $0; python3 -c "print($x)"', f"{COULD} another shell or interpreter in the script"),
        ("$0 | bash", f"{COULD} another shell or interpreter in the script"),
        ("[IO.File]::$0('x')", f"{COULD} a member that is named by a variable in the script"),
        (
            "Write-Output \"$('$0')\"",
            "an argument stands in double quotes beside `$(…)`, where quotes cannot be told apart",
        ),
    ],
)
def test_powershell_is_not_made_to_run_an_argument(source: str, why: str) -> None:
    with pytest.raises(Unsafe) as caught:
        read_powershell(source)
    assert str(caught.value) == why
