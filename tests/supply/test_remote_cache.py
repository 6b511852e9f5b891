"""The copies of remote indexes on disk: whole at any moment, whoever is killed and whoever writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prowess.errors import MachineError
from prowess.state import remote_cache
from prowess.state.remote_cache import CachedSkill, FetchedIndex, RemoteCache
from tests.remote_server import RemoteServer
from tests.workspace import skill_text

URL = "https://skills.example/"


def make_index(
    content: str, **skills: CachedSkill
) -> tuple[dict[str, dict[str, bytes]], FetchedIndex]:
    files = {"a": {"SKILL.md": content.encode(), "refs/x.md": b"x"}}
    paths = CachedSkill(content, ("SKILL.md", "refs/x.md"))
    return files, FetchedIndex(url=URL, fetched_at=time.time(), skills={"a": paths, **skills})


def read(cache: RemoteCache) -> str:
    return Path(cache.skills_folder, "a", "SKILL.md").read_text()


def test_what_is_kept_is_loaded_and_replaced_as_a_whole(tmp_path: Path) -> None:
    cache = RemoteCache(str(tmp_path), "any", URL)
    assert cache.load() is None
    with cache.hold():
        cache.keep(*make_index("one"))
    files, index = make_index("two")
    del files["a"]["refs/x.md"]
    with cache.hold():
        cache.keep(files, index)
    assert (cache.load(), read(cache)) == (index, "two")
    assert sorted(os.listdir(Path(cache.skills_folder, "a"))) == ["SKILL.md"]
    assert sorted(os.listdir(cache.folder)) == ["current", "fetch.lock"]
    assert os.stat(cache.folder).st_mode & 0o077 == 0


def test_two_urls_never_share_a_copy(tmp_path: Path) -> None:
    urls = ["https://a.example/x", "https://a.example/x/", "https://a.example/X"]
    caches = [RemoteCache(str(tmp_path), kind, url) for kind in ("any", "opencode") for url in urls]
    assert len({cache.folder for cache in caches}) == 6
    hostile = RemoteCache(str(tmp_path), "any", "https://../../etc/")
    assert os.path.dirname(hostile.folder) == str(tmp_path)


@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_process_that_is_killed_leaves_the_old_version_or_the_new_one(
    tmp_path: Path, moment: str
) -> None:
    cache = RemoteCache(str(tmp_path), "any", URL)
    with cache.hold():
        cache.keep(*make_index("old"))
    program = f"""
import os, signal, time
from prowess.state import remote_cache
from prowess.state.remote_cache import *
from tests.supply.test_remote_cache import make_index
moves = 0
move = os.rename
def rename(source, target):
    global moves
    if moves == {("before", "between", "after").index(moment)}:
        os.kill(os.getpid(), signal.SIGKILL)
    moves += 1
    move(source, target)
os.rename = rename
shutil.rmtree = lambda *one, **more: os.kill(os.getpid(), signal.SIGKILL)
cache = RemoteCache({str(tmp_path)!r}, "any", {URL!r})
with cache.hold():
    cache.keep(*make_index("new"))
"""
    died = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    wanted = "new" if moment == "after" else "old"
    found = cache.load()
    assert found is not None
    assert (read(cache), found.skills["a"].version) == (wanted, wanted)
    with cache.hold():
        cache.keep(*make_index("later"))
    assert read(cache) == "later"
    left = [name for name in os.listdir(cache.folder) if name.startswith("old-")]
    assert left == []


def test_what_a_killed_process_staged_is_removed_after_an_hour(tmp_path: Path) -> None:
    now = time.time()
    cache = RemoteCache(str(tmp_path), "any", URL, clock=lambda: now)
    stray = Path(cache.folder, "staging-abc")
    stray.mkdir(parents=True)
    with cache.hold():
        cache.keep(*make_index("one"))
    assert stray.exists()
    now += 7200
    with cache.hold():
        cache.keep(*make_index("two"))
    assert not stray.exists()


@pytest.mark.parametrize("text", ["", "{", "null", '{"url": 7}', '{"version": 99}'])
def test_a_state_that_cannot_be_read_counts_as_nothing(tmp_path: Path, text: str) -> None:
    cache = RemoteCache(str(tmp_path), "any", URL)
    with cache.hold():
        cache.keep(*make_index("one"))
    Path(cache.folder, "current", "state.json").write_text(text)
    Path(cache.folder, "failure.json").write_text(text)
    assert (cache.load(), cache.load_failure()) == (None, None)


def test_a_second_writer_waits_for_the_first(tmp_path: Path) -> None:
    cache = RemoteCache(str(tmp_path), "any", URL)
    other = RemoteCache(str(tmp_path), "any", URL)
    with cache.hold(), pytest.raises(MachineError, match="locked"), other.hold(seconds=0.05):
        pass


def test_a_failure_is_remembered_until_the_next_success(tmp_path: Path) -> None:
    cache = RemoteCache(str(tmp_path), "any", URL, clock=lambda: 100.0)
    cache.note_failure("source-timeout", "it hangs", pause=60)
    failure = cache.load_failure()
    assert failure == remote_cache.FailedFetch("source-timeout", "it hangs", 100.0, 160.0)
    with cache.hold():
        cache.keep(*make_index("one"))
    assert cache.load_failure() is None


@pytest.mark.slow
def test_processes_that_refresh_at_once_leave_one_whole_copy(
    tmp_path: Path, server: RemoteServer
) -> None:
    names = [f"s{number}" for number in range(10)]
    server.offer(*names)
    home = tmp_path / "home"
    settings = home / ".config/prowess/prowess.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[sources.team]\nurl = "{server.url}/index.json"\n')
    project = tmp_path / "project"
    project.mkdir()
    command = [sys.executable, "-m", "prowess", "sources", "refresh", "--json"]
    env = {**os.environ, "HOME": str(home), "PROWESS_CACHE_DIR": str(tmp_path / "cache")}
    running = [
        subprocess.Popen(command, cwd=project, env=env, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    for answer in answers:
        [team] = [one for one in json.loads(answer)["sources"] if one["kind"] == "remote"]
        assert (team["state"], team["skills"]) == ("ready", 10)
    [folder] = (tmp_path / "cache/sources").iterdir()
    assert sorted(os.listdir(folder)) == ["current", "fetch.lock"]
    assert (folder / "current/skills/s3/SKILL.md").read_text() == skill_text("s3", "About s3.")
