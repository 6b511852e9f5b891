"""Arguments meant to break out: into a second command, out of quotes, out of a text block, into the
body itself.

Each is put to a real shell. What an argument says must never be done, and what it is must arrive
whole or be refused.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from prowess.activate.body.substitution import Given
from prowess.errors.activation import CommandFailed, CommandRefused
from prowess.machine.facts import current_facts
from prowess.machine.processes import ProcessRunner
from prowess.model.settings import Override, Settings
from prowess.model.skill import Manifest
from prowess.profiles.load import load_profile
from prowess.shell.command_runner import Surroundings, draft_body, run_draft
from prowess.shell.environment import build_environment
from prowess.state.trust import TrustFile
from tests.workspace import Workspace

pytestmark = pytest.mark.needs("bash")

OWN = load_profile("prowess")
FACTS = current_facts()
RUNNER = ProcessRunner(FACTS)
DONE = "pwned"

PAYLOADS = [
    "; mkdir pwned",
    "&& mkdir pwned",
    "| mkdir pwned",
    "\nmkdir pwned\n",
    "$(mkdir pwned)",
    "`mkdir pwned`",
    "'; mkdir pwned; '",
    '"; mkdir pwned; "',
    '"$(mkdir pwned)"',
    "'\"$(mkdir pwned)\"'",
    "${x:=$(mkdir pwned)}",
    "a[$(mkdir pwned)]",
    "x[$(mkdir pwned)]=1",
    "E\nmkdir pwned\nE",
    "mkdir pwned",
    "() { :; }; mkdir pwned",
    'BEGIN{system("mkdir pwned")}',
    "1e mkdir pwned",
    "__import__('os').system('mkdir pwned')",
    "a[$(mkdir${IFS}pwned)]",
    "PROWESS_ARGUMENTS[$(mkdir pwned)]",
    "-va[$(mkdir${IFS}pwned)]",
    "x -o -v a[$(mkdir${IFS}pwned)]",
    "([$(mkdir pwned)0]=1)",
    "--expression=1emkdir pwned",
    "!`mkdir pwned`",
    "```!\nmkdir pwned\n```",
]
# Commands as authors write them, the careful ones and the careless ones; the shell runs no payload.
COMMANDS = [
    "echo $ARGUMENTS",
    "echo $0 $1 $who $ARGUMENTS[0]",
    "echo \"$ARGUMENTS\" '$ARGUMENTS' $ARGUMENTS",
    "echo it\\'s $ARGUMENTS",
    "printf '%s %d\\n' $ARGUMENTS $0",
    'X=$ARGUMENTS; Y=$X; echo "$Y" "$(echo "$X")"',
    "if [ -d . ]; then ls $ARGUMENTS; fi; for x in a b; do cat $0 < /dev/null; done",
    "grep -c $ARGUMENTS /dev/null | cat; true",
    "bash -c 'echo \"$1\"' _ $ARGUMENTS",
    "env A=$ARGUMENTS true && A=$ARGUMENTS true",
    "diff <(echo $ARGUMENTS) /dev/null > /dev/null; ls ./$0*",
    "$ARGUMENTS",
    "eval echo $ARGUMENTS",
    'bash -c "echo $ARGUMENTS"',
    "bash -c 'echo $ARGUMENTS'",
    "sh -c 'echo $0'",
    "echo $ARGUMENTS | bash",
    "echo $((1 + $ARGUMENTS))",
    "[[ $ARGUMENTS -gt 1 ]]; echo x",
    "test $ARGUMENTS -gt 1; echo x",
    "a[$ARGUMENTS]=1",
    "read -r $ARGUMENTS",
    "unset $ARGUMENTS",
    "echo x >& $ARGUMENTS",
    "trap $ARGUMENTS EXIT",
    "source $ARGUMENTS",
    "echo ${X:$ARGUMENTS}",
    "cat <<E\n$ARGUMENTS\nE",
    "cat <<'E'\n$ARGUMENTS\nE",
    "bash <<E\necho $ARGUMENTS\nE",
    "echo 'never closed $ARGUMENTS",
    'echo "never closed $ARGUMENTS',
    "A=(<<E\n$ARGUMENTS\nE",
    "echo $(echo $ARGUMENTS",
]
# Commands in which the shell itself would evaluate an argument, directly or in a roundabout way.
REFUSED = [
    "printf $ARGUMENTS x",
    "X=$ARGUMENTS; [ -n $X ]",
    "X=$ARGUMENTS; [ $X ]",
    "declare -a A=$ARGUMENTS",
    "declare -a A; declare A=$ARGUMENTS",
    "echo $ARGUMENTS | $SHELL",
    "X='$ARGUMENTS'; echo ${X@P}",
    "X=$ARGUMENTS; echo ${arr[X]}",
    "X=$ARGUMENTS; echo ${!X}",
    "declare -i X; X=$ARGUMENTS",
    'f() { eval "$@"; }; f $ARGUMENTS',
    'set -- $ARGUMENTS; eval "$@"',
    "X=$ARGUMENTS; y=abc; echo ${y:X:1}",
    "X=$ARGUMENTS; y=abc; echo ${y:$X:1}",
    "X=$ARGUMENTS; if [[ X -gt 0 ]]; then echo; fi",
    "X=$ARGUMENTS; echo $((X))",
    'X=$ARGUMENTS; eval "echo $X"',
    "echo $ARGUMENTS > f; . f",
    "echo $ARGUMENTS > f; source ./f",
    "echo $ARGUMENTS > f; bash < f",
    'mapfile -t a < <(echo "$ARGUMENTS"); eval "${a[0]}"',
    "BASH_ENV=$ARGUMENTS bash -c :",
    "PS4='$ARGUMENTS'; set -x; echo hi",
    'PS4="$ARGUMENTS"; set -x; echo hi',
    'GIT_EXTERNAL_DIFF="$ARGUMENTS" git diff --no-index /etc/hostname /etc/hosts',
    'GIT_SSH_COMMAND="$ARGUMENTS" git ls-remote ssh://x/y',
    "$'\\x65val' $ARGUMENTS",
    "{ev,}al $ARGUMENTS",
    "alias x=eval\nshopt -s expand_aliases\nx $ARGUMENTS",
    "shopt -s expand_aliases\nalias x=eval\nx $ARGUMENTS",
    "printf %s \"$(case x in x) eval '$ARGUMENTS';; esac)\"",
    'printf %s "$(case x in x) eval "$ARGUMENTS";; esac)"',
    'echo $(case x in x) eval "$ARGUMENTS";; esac)',
    'while read -r a b; do eval "$b"; done <<< "$ARGUMENTS"',
    'while read -r a; do eval "$a"; done <<EOF\n$ARGUMENTS\nEOF',
    'while IFS= read -r a; do bash -c "$a"; done < <(echo "$ARGUMENTS")',
    'read <<< "$ARGUMENTS"; eval "$REPLY"',
    'n=$ARGUMENTS; a=(1 2 3); echo "${a[n]}"',
    'n=$ARGUMENTS; a=(1 2 3); echo "${a[$n]}"',
    'n=$ARGUMENTS; a=(1 2 3); echo "${a[@]:n}"',
    'n=$ARGUMENTS; s=abc; echo "${s:0:n}"',
    'n=$ARGUMENTS; s=abc; echo "${s: -n}"',
    'printf -v n %s "$ARGUMENTS"; echo $((n))',
    'printf -v n %s "$ARGUMENTS"; eval "$n"',
    'echo "$ARGUMENTS" | (read x; echo $((x)))',
    'sh < <(echo "$ARGUMENTS")',
    'source /dev/stdin <<< "$ARGUMENTS"',
    'bash -x /dev/fd/0 <<< "$ARGUMENTS"',
    'python3 /dev/fd/0 <<< "$ARGUMENTS"',
    'echo "$ARGUMENTS" | if true; then bash; fi',
    'bash -o pipefail -c "$ARGUMENTS"',
    'bash -eo pipefail -c "$ARGUMENTS"',
    'PS1=$ARGUMENTS; echo "${PS1@P}"',
    "ENV=$ARGUMENTS sh -i -c : < /dev/null",
]


def run(command: str, argument: str, folder: Path) -> str:
    """The output of a command in a block, or the name of the error that kept it from running or
    ended it.
    """
    around = Surroundings(facts=FACTS, cwd=str(folder))
    try:
        planned = draft_body(
            f"```!\n{command}\n```",
            Given(arguments=argument),
            around,
            arguments=OWN.arguments,
            embedded=OWN.embedded,
            names=("who",),
        )
        return run_draft(planned, RUNNER)
    except (CommandRefused, CommandFailed) as error:
        return type(error).__name__


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_argument_makes_any_command_do_what_it_says(command: str, tmp_path: Path) -> None:
    for payload in PAYLOADS:
        run(command, payload, tmp_path)
        run(command, f"'{payload}' \"{payload}\"", tmp_path)
        assert not (tmp_path / DONE).exists(), payload


@pytest.mark.parametrize("command", REFUSED)
def test_a_command_in_which_the_shell_would_evaluate_an_argument_is_refused(
    command: str, tmp_path: Path
) -> None:
    for argument in PAYLOADS:
        outcome = run(command, argument, tmp_path)
        assert not (tmp_path / DONE).exists(), argument
    assert outcome == "CommandRefused"


@pytest.mark.parametrize("payload", [one for one in PAYLOADS if not one.startswith("-")])
def test_an_argument_arrives_whole_in_a_plain_command(payload: str, tmp_path: Path) -> None:
    raw = payload.strip()
    assert (
        run('printf "<%s>" $ARGUMENTS "$ARGUMENTS" \'$ARGUMENTS\'', payload, tmp_path)
        == f"<{raw}>" * 3
    )
    assert list(tmp_path.iterdir()) == []


FRAGMENTS = (
    "echo |cat |$ARGUMENTS|$0|$who| |\n|;|&&|&|'|\"|`|$(|)|(|${X:-|}|$((|))|((|[[ | ]]| -eq |[ | ]| -v |eval |bash -c |sh |"
    "<<E\n|<<'E'\n|\nE\n|<<< |A=(|A=|A[|]|$'|\\|\\$0|#|if |then |fi |for x in |do |done |case x in |esac |{ |} |> f|2>&1|<(|let |"
    "export |declare -i |awk |sed |test |${A[|$[|!|=|+1|read |unset |trap |env |printf -v |exec |>&|&>|f() |;;|set -- "
)


@pytest.mark.slow
def test_no_argument_is_run_by_a_script_made_of_random_pieces(tmp_path: Path) -> None:
    """Scripts that no author would write, so that a place which is misread shows."""
    pieces = [*FRAGMENTS.split("|"), "|", "||"]
    dice = random.Random(20261115)
    ran = 0
    for _ in range(500):
        script = "".join(dice.choice(pieces) for _ in range(dice.randint(2, 12)))
        payload = dice.choice(PAYLOADS)
        ran += (
            run(script, payload if dice.random() < 0.6 else f'"{payload}" x', tmp_path)
            != "CommandRefused"
        )
        assert not (tmp_path / DONE).exists(), (script, payload)
    assert ran > 30


def test_a_project_cannot_trust_itself(workspace: Workspace) -> None:
    """Neither a file in the project that looks like the list of trusted projects, nor a link to a
    trusted one.
    """
    workspace.git()
    workspace.git("trusted")
    store = TrustFile.of(workspace.facts())
    store.trust(workspace.path("trusted"))
    listed = '{"version": 1, "trusted": [{"root": "PROJECT", "since": "x"}]}'.replace(
        "PROJECT", str(workspace.project)
    )
    for place in ("trust.json", ".prowess/trust.json", ".local/state/prowess/trust.json"):
        workspace.write(f"project/{place}", listed)
    workspace.link("project/.prowess/link", workspace.path("trusted"))
    workspace.skill("project/.prowess/skills/evil", body="!`mkdir pwned`")
    assert store.is_trusted(workspace.open().get("evil")) is False
    assert store.is_trusted_folder(workspace.path("project/.prowess")) is False


def test_a_setting_cannot_slip_code_into_the_programs_of_a_skill(tmp_path: Path) -> None:
    (tmp_path / "env.sh").write_text("mkdir pwned\n")
    path = str(tmp_path / "env.sh")
    names = (
        "BASH_ENV",
        "ENV",
        "LD_PRELOAD",
        "PROMPT_COMMAND",
        "BASH_FUNC_echo%%",
        "PS4",
        "SHELLOPTS",
        "PATH",
    )
    settings = Settings(overrides={"x": Override(env=dict.fromkeys(names, path))})
    environment = build_environment("x", Manifest(primary_env="BASH_ENV"), settings, outside={})
    assert environment.variables == {}
    assert len(environment.diagnostics) == len(names)


def test_output_cannot_start_a_command_or_fill_a_placeholder(tmp_path: Path) -> None:
    around = Surroundings(facts=FACTS, cwd=str(tmp_path))
    body = "```!\nprintf '%s' '!`mkdir pwned` $''ARGUMENTS ${''SKILL_DIR}'\n```\n"
    planned = draft_body(
        body,
        Given(arguments="x", folder="/s"),
        around,
        arguments=OWN.arguments,
        embedded=OWN.embedded,
    )
    assert run_draft(planned, RUNNER) == "!`mkdir pwned` $ARGUMENTS ${SKILL_DIR}\n\n\nARGUMENTS: x"
    assert list(tmp_path.iterdir()) == []
