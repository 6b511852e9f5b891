"""Values reach a script as variables, with quotes that fit the place; a script that would run one is refused."""

from __future__ import annotations

import subprocess

import pytest

from prowess.activate.bash import BashScript
from prowess.activate.powershell import PowerShellScript
from prowess.activate.simple_command import Unsafe
from prowess.activate.substitution import Given, Substitution
from prowess.profiles.load import load_profile

RULES = load_profile("prowess").arguments


def read(source: str, arguments: str = "it's  *;$(x)", names: tuple[str, ...] = ("who",)) -> BashScript:
    filling = Substitution(RULES, Given(arguments=arguments, folder="/my skills/a"), names=names)
    return BashScript(source, list(filling.find_references(source)), prefix="P_")


def run(script: BashScript) -> str:
    finished = subprocess.run(
        ["bash", "-c", script.script], env={"PATH": "/usr/bin:/bin", **script.env}, capture_output=True, text=True
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
def test_a_value_is_written_as_a_variable_in_the_quotes_of_its_place(source: str, script: str) -> None:
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
        ("'[[' x && $0", "an argument would decide which program is run"),
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
        ("echo $0 | bash", "`bash` would run an argument as code"),
        ("(echo $0) | bash", "`bash` would run an argument as code"),
        ("{ echo $0; } | bash", "`bash` would run an argument as code"),
        ("X=$0; eval echo $X", "`eval` would run an argument as code"),
        ('X=a$0\nY=($X) && bash -c "echo ${Y[0]}"', "`bash` would run an argument as code"),
        ("for x in $0; do $x; done", "an argument would decide which program is run"),
        ("read -r x <<< $0; $x", "an argument would decide which program is run"),
        ("N=$0; echo $((N + 1))", "an argument would be evaluated as arithmetic"),
        ("bash <<E\necho $0\nE", "`bash` would run an argument as code"),
        ("cat <<E | sh -s\necho $0\nE", "`sh` would run an argument as code"),
        ("bash <<< $0", "`bash` would run an argument as code"),
        ("docker exec -i box sh <<E\n$0\nE", "`docker` would run an argument as code"),
        ("printf -v $0 x", "`printf` would run an argument as code"),
        ("declare -i x=$0", "`declare` would run an argument as code"),
        ("export $0", "`export` would run an argument as code"),
        ("ssh host ls $0", "`ssh` would run an argument as code"),
        ("echo $((1 + $0))", "an argument would be evaluated as arithmetic"),
        ("for ((i=0; i<$0; i++)); do :; done", "an argument would be evaluated as arithmetic"),
        ("echo $[ $0 ]", "an argument would be evaluated as arithmetic"),
        ("[[ $0 -gt 1 ]]", "an argument would be evaluated as arithmetic"),
        ("A=([$0]=x)", "an argument would be evaluated as arithmetic"),
        ("echo ${X:$0}", "an argument would be evaluated inside `${…}`"),
        ("echo x >& $0", "an argument would be evaluated after `>&`"),
        ("cat <<E\n$0 $(date)\nE", "an argument stands in a text block beside something that the shell evaluates"),
        ("cat <<'a b'\n$0\na b", "an argument stands in a text block that ends with “a b”, which is no plain word"),
        ("echo " + "$(" * 60 + "$0" + ")" * 60, "it is nested too deeply to be read"),
    ],
)
def test_a_script_that_would_run_an_argument_is_refused(source: str, why: str) -> None:
    with pytest.raises(Unsafe) as caught:
        read(source, "a b")
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
        "cat ${SKILL_DIR}/$0.md",
        "echo bash $0",
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
def test_the_last_command_is_known_since_its_exit_code_is_the_script_s(source: str, last: tuple[str, ...]) -> None:
    assert read(source, "x").last == last


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
    ],
)
def test_powershell_gets_values_from_its_environment(source: str, script: str) -> None:
    assert read_powershell(source).script == script


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("Write-Output '$0'", "PowerShell fills nothing in single quotes; use double quotes"),
        ("iex $0", "PowerShell would run an argument as code"),
        ('x; Invoke-Expression "a $0"', "PowerShell would run an argument as code"),
        ("& $0", "PowerShell would run an argument as code"),
        ("[scriptblock]::Create($0)", "PowerShell would run an argument as code"),
    ],
)
def test_powershell_is_not_made_to_run_an_argument(source: str, why: str) -> None:
    with pytest.raises(Unsafe) as caught:
        read_powershell(source)
    assert str(caught.value) == why
