"""What holds for the whole suite: how hypothesis runs, what a test may need, and when a skip is a
failure.
"""

from __future__ import annotations

import inspect
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from prowess.machine.mcp import connections
from prowess.model.settings import NetworkSettings
from prowess.state.locks import hold_lock
from prowess.state.remote_cache import RemoteCache
from tests.workspace import Workspace

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)

# Variables that hosts, Prowess or the desktop read; a developer's own must not change an answer.
_FOREIGN_PREFIXES = (
    "PROWESS_",
    "CLAUDE_",
    "OPENCODE_",
    "OPENCLAW_",
    "CLAWDBOT_",
    "OMP_",
    "PI_",
    "CODEX_",
    "XDG_",
)


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in ("", "0", "false", "no")


# Read once: the environment is cleaned before tests run.
_ON_CI = _is_on("CI")
_SKIPS_FAIL = _ON_CI or _is_on("PROWESS_REQUIRE_ALL")


def pytest_configure() -> None:
    """Choose the hypothesis profile: the same examples every time on CI, new ones at home. Hear
    Ctrl-C, and a terminal that closes.
    """
    settings.load_profile("ci" if _ON_CI else "default")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # So it is in what a shell starts in the background, and in all that comes from it; tests
        # press Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        # So it is in what `nohup` starts.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose programs are not installed, and say which."""
    needed = [program for mark in item.iter_markers("needs") for program in mark.args]
    missing = [program for program in needed if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed here: {', '.join(missing)}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that skipped anything, where everything is required."""
    if (
        _SKIPS_FAIL
        and _skipped(session.config)
        and session.exitstatus in (0, pytest.ExitCode.NO_TESTS_COLLECTED)
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List what was skipped, where that fails the run."""
    skipped = _skipped(config) if _SKIPS_FAIL else []
    if not skipped:
        return
    terminalreporter.section(
        "skipped, which fails this run (CI or PROWESS_REQUIRE_ALL is set)", red=True
    )
    for report in skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        terminalreporter.line(f"{report.nodeid}: {reason}")


def _skipped(config: pytest.Config) -> list[pytest.TestReport]:
    # Workers of pytest-xdist have no terminal reporter; the controller has all reports.
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return [] if reporter is None else list(reporter.stats.get("skipped", []))


@pytest.fixture(autouse=True, scope="session")
def _machine_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty home and no variables of hosts, so that no test reads or writes what belongs to the
    developer.
    """
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for variable in [name for name in os.environ if name.startswith(_FOREIGN_PREFIXES)]:
            patch.delenv(variable)
        patch.setenv("HOME", str(home))
        yield home


@pytest.fixture(autouse=True, scope="session")
def _patient_with_sources() -> Iterator[None]:
    """A source has minutes where a test sets no limit: users are not kept waiting, but a busy
    machine may need longer than they would wait.
    """
    usual, get_limit = NetworkSettings().seconds, NetworkSettings.get_limit

    def get_long_limit(network: NetworkSettings, *, is_forced: bool) -> float:
        limit = get_limit(network, is_forced=is_forced)
        return 120.0 if limit == usual else limit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NetworkSettings, "get_limit", get_long_limit)
        patch.setattr(connections, "CONNECT_SECONDS", 120.0)
        yield


@pytest.fixture(autouse=True, scope="session")
def _patient_with_locks() -> Iterator[None]:
    """Writers wait for each other for minutes where a test sets no limit: a slow disk is no lock
    that somebody keeps.
    """
    with pytest.MonkeyPatch.context() as patch:
        for held in (hold_lock, RemoteCache.hold):
            patch.setitem(inspect.unwrap(held).__kwdefaults__, "seconds", 120.0)
        yield


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A made-up machine with a home and a project."""
    return Workspace(tmp_path)


@pytest.fixture
def race_tries() -> int:
    """How often a test tries to win a race: often enough to be sure on CI, briefly at home."""
    return 334_000 if _ON_CI else 5_000


@pytest.fixture
def kills() -> int:
    """How often a test kills a writer: 200 times on CI, briefly at home."""
    return 200 if _ON_CI else 24
