"""Install what a skill requires: one step after the other, each agreed to, then looked at again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from prowess.errors import MachineError
from prowess.gate.remedies import Remedy, tools_folder
from prowess.machine.atomic_write import make_folder
from prowess.machine.http_client import Watch
from prowess.model.command import Command, Finished
from prowess.model.facts import Facts
from prowess.ports import Runner
from prowess.reports.requirements import RequirementsReport, list_remedies, report_requirements
from prowess.runtime import Skills
from prowess.supply.dependencies.download import DownloadFailed, carry_out_download
from prowess.supply.dependencies.steps import Step, is_usable, plan_steps

# Homebrew may compile from source.
_SECONDS = 900.0
_OUTPUT_BYTES = 20_000
# What an installer needs of the environment beside what every program gets: its own settings and
# those of the network. The tokens of other programs are none of its business.
_NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
_OWN_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "brew": ("HOMEBREW_",),
    "node": ("NPM_CONFIG_", "NODE_EXTRA_CA_CERTS", "PNPM_HOME", "YARN_", "BUN_INSTALL"),
    "go": ("GO", "CGO_ENABLED"),
    "uv": ("UV_",),
}


class StepResult(msgspec.Struct, frozen=True):
    """What came of a step: `done`, `failed`, `declined` or `planned`; and its output or problem."""

    step: Step
    state: str
    output: str = ""
    problem: str | None = None

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        shape = {**self.step.shape(), "state": self.state}
        if self.problem is not None:
            shape |= {"problem": self.problem, "output": self.output}
        return shape


class InstallOptions(NamedTuple):
    """The ways to install what a skill is missing: those to use, and why the others are not."""

    steps: tuple[Step, ...]
    refused: tuple[Remedy, ...]


def list_options(skills: Skills, report: RequirementsReport) -> InstallOptions:
    """What would install the programs that a skill is missing."""
    skill, verdict = report.outcome.skill, report.verdict
    if skill is None or verdict is None:
        return InstallOptions((), ())
    remedies = list_remedies(skills, skill, verdict)
    unusable = tuple(remedy for remedy in remedies if not is_usable(remedy))
    return InstallOptions(plan_steps(remedies, verdict), unusable)


def explain_unusable(remedy: Remedy) -> str:
    """Why a way to install is not used."""
    return remedy.refused or f"{remedy.command[0]} is not installed"


class DependencyInstall:
    """Installs what one skill is missing.

    `approve` is asked before each step, and `carry_out` does it. After each step the machine is
    looked at again; if something is still missing, the next best way to get it follows.
    """

    def __init__(
        self,
        skills: Skills,
        name: str,
        *,
        approve: Callable[[Step], bool],
        carry_out: Callable[[Step], StepResult],
    ) -> None:
        self._skills = skills
        self._name = name
        self._approve = approve
        self._carry_out = carry_out

    def run(self) -> tuple[StepResult, ...]:
        """Every step that was approved or declined, in order."""
        results: list[StepResult] = []
        # Not a plan made in advance: one step may bring what the next one was for, or fail.
        while (step := self._find_next({one.step.text for one in results})) is not None:
            is_approved = self._approve(step)
            results.append(self._carry_out(step) if is_approved else StepResult(step, "declined"))
        return tuple(results)

    def _find_next(self, tried: set[str]) -> Step | None:
        report = report_requirements(self._skills, self._name)
        skill, verdict = report.outcome.skill, report.verdict
        if skill is None or verdict is None:
            return None
        remedies = list_remedies(self._skills, skill, verdict)
        return next(iter(plan_steps(remedies, verdict, tried=tried)), None)


class StepRunner:
    """Carries out steps on this machine."""

    def __init__(self, runner: Runner, facts: Facts, *, watch: Watch | None = None) -> None:
        self._runner = runner
        self._facts = facts
        self._watch = watch

    @property
    def bin_folder(self) -> str:
        """Where downloaded programs are linked; it has to be on PATH to find them."""
        return f"{tools_folder(self._facts)}/bin"

    def carry_out(self, step: Step) -> StepResult:
        """Run a step. A failure is a result, too."""
        try:
            if step.remedy.download is not None:
                linked = carry_out_download(
                    step.remedy.download, self.bin_folder, watch=self._watch
                )
                return StepResult(step, "done", ", ".join(linked))
            finished = self._run(step)
        except (DownloadFailed, MachineError) as error:
            return StepResult(step, "failed", problem=str(error).rstrip("."))
        problem = _find_problem(step.remedy, finished)
        state = "done" if problem is None else "failed"
        return StepResult(step, state, finished.tail or finished.output, problem)

    def _run(self, step: Step) -> Finished:
        # Installers read settings of the folder they run in and of those above it. A project could
        # bring its own there, even programs to run; this folder is the user's.
        folder = tools_folder(self._facts)
        make_folder(folder)
        command = Command(
            text=step.text,
            argv=step.remedy.command,
            env=pick_environment(step.remedy.kind, self._facts.env),
            cwd=folder,
            seconds=_SECONDS,
            output_bytes=_OUTPUT_BYTES,
        )
        return self._runner.run(command)


def pick_environment(kind: str, env: Mapping[str, str]) -> dict[str, str]:
    """The variables that an installer of a kind gets beside those of every program."""
    # By what is allowed, never by what is forbidden: nobody knows all names of tokens.
    prefixes = _OWN_VARIABLES[kind]
    return {
        name: value
        for name, value in env.items()
        if name.upper() in _NETWORK or name.upper().startswith(prefixes)
    }


def _find_problem(remedy: Remedy, finished: Finished) -> str | None:
    if finished.code is None:
        return f"{remedy.command[0]} was stopped after {_SECONDS / 60:.0f} minutes"
    if finished.code != 0:
        return f"{remedy.command[0]} exited with {finished.code}"
    return None
