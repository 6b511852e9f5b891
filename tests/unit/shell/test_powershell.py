"""PowerShell gets values as variables; a script with arguments has only plain commands."""

from __future__ import annotations

import pytest

from prowess.activate.body.substitution import Given, Substitution
from prowess.profiles.load import load_profile
from prowess.shell.powershell import fill_powershell
from prowess.shell.quotes import FilledCommand, ValueRefused

RULES = load_profile("prowess").arguments


def fill(source: str, arguments: str = "a b") -> FilledCommand:
    filling = Substitution(RULES, Given(arguments=arguments, folder="/s"), names=("who",))
    return fill_powershell(source, list(filling.find_references(source)))


@pytest.mark.parametrize(
    ("source", "script"),
    [
        ("Write-Output $ARGUMENTS", "Write-Output ${env:PROWESS_ARGUMENTS}"),
        ('Write-Output "<$0>"', 'Write-Output "<${env:PROWESS_ARGUMENT_0}>"'),
        ("echo x $who 'y'", "echo x ${env:PROWESS_ARGUMENT_0} 'y'"),
        ("# it's $0\nls ${SKILL_DIR}", "# it's $0\nls ${env:PROWESS_SKILL_DIR}"),
        (r"Write-Output '\$0' \$1", "Write-Output '$0' $1"),
        ("echo '{$1}' `$0", "echo '{$1}' `$0"),
        (
            "git log -n $0 | tail -n 3; gh pr view $0",
            "git log -n ${env:PROWESS_ARGUMENT_0} | tail -n 3; gh pr view ${env:PROWESS_ARGUMENT_0}",
        ),
        (
            "python ${SKILL_DIR}/x.py $0 && curl.exe -s $0",
            "python ${env:PROWESS_SKILL_DIR}/x.py ${env:PROWESS_ARGUMENT_0}"
            " && curl.exe -s ${env:PROWESS_ARGUMENT_0}",
        ),
        ("./run-it.ps1 $0\n", "./run-it.ps1 ${env:PROWESS_ARGUMENT_0}\n"),
        (
            "iex (Get-Content ${SKILL_DIR}/x.ps1)",
            "iex (Get-Content ${env:PROWESS_SKILL_DIR}/x.ps1)",
        ),
    ],
)
def test_values_come_from_the_environment(source: str, script: str) -> None:
    assert fill(source).script == script


def test_a_person_reads_the_values() -> None:
    assert (
        fill('git log "a $0" $ARGUMENTS', "it's `$x").readable == "git log \"a it's\" 'it''s `$x'"
    )


USE = "this cannot be used in a PowerShell command that takes arguments"
PLAIN = "only plain commands can take arguments in PowerShell"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("Write-Output '$ARGUMENTS'", "PowerShell does not expand variables in single quotes"),
        ("$0", PLAIN),
        ("$x = $0", PLAIN),
        ("& $0", PLAIN),
        (". $0", PLAIN),
        ("[IO.File]::ReadAllText($0)", PLAIN),
        ("iex $0", "`iex` is part of PowerShell and could evaluate it"),
        ("IEX $0", "`IEX` is part of PowerShell and could evaluate it"),
        ("Invoke-Expression $0", "`Invoke-Expression` is part of PowerShell and could evaluate it"),
        ("Start-Process $0", "`Start-Process` is part of PowerShell and could evaluate it"),
        ("echo x; start $0", "`start` is part of PowerShell and could evaluate it"),
        ("curl $0", "`curl` is part of PowerShell and could evaluate it"),
        ("echo $0 | % { $_ }", PLAIN),
        (
            "echo $0 | ForEach-Object x",
            "`ForEach-Object` is part of PowerShell and could evaluate it",
        ),
        ("echo $0.txt", USE),
        ("echo a$0", USE),
        ('echo "$($0)"', USE),
        ('echo "$x $0"', USE),
        ("echo ($0)", USE),
        ("echo $0 > f", USE),
        ("echo a,$0", USE),
        ("echo @($0)", USE),
        ("if ($true) { echo $0 }", "`if` is part of PowerShell and could evaluate it"),
        ('@"\n$0\n"@', PLAIN),
    ],
)
def test_anything_but_a_plain_command_is_refused(source: str, why: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        fill(source)
    assert caught.value.why == why


@pytest.mark.parametrize("arguments", ["-x", 'say "hi', "C:\\"])
def test_a_value_that_powershell_would_not_pass_on_as_it_is_is_refused(arguments: str) -> None:
    for source in ("git log $ARGUMENTS", 'git log "$ARGUMENTS"'):
        with pytest.raises(ValueRefused):
            fill(source, arguments)
    assert fill("git log $0", "x").used
