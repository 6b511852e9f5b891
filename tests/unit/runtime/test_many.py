"""Many folders, many tenants, many threads: no descriptors are held, and nothing is mixed up."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import weakref

import pytest

from prowess.runtime import Skills
from prowess.sources import Files, Folder
from tests.workspace import Workspace, skill_text

FOLDERS = 200
PROGRAM = """
import json, os, resource, sys
from prowess import Folder, Skills
root, number = sys.argv[1], int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
kept = []
for n in range(number):
    folder = os.path.join(root, str(n))
    kept.append(Skills.of(Folder(os.path.join(folder, ".claude", "skills"))))
    kept.append(Skills(folder, usage=True))
    kept.append(Skills.open(folder))
chats = [skills.conversation() for skills in kept]
for chat in chats:
    chat.catalog()
    chat.activate("one", by="model")
    chat.read("skill://one/SKILL.md")
print(json.dumps(len(os.listdir("/proc/self/fd"))))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts open files as Linux shows them")
def test_any_number_of_folders_is_open_with_few_descriptors(workspace: Workspace) -> None:
    for number in range(FOLDERS):
        workspace.skill(f"project/{number}/.claude/skills/one")
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(workspace.project), str(FOLDERS)],
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(workspace.home), "PATH": "/usr/bin:/bin"},
    )
    assert answer.returncode == 0, answer.stderr[-2_000:]
    # Input, output, errors, the folder that is being listed, and the one file that counts uses.
    assert json.loads(answer.stdout) <= 8


def test_a_program_that_opens_ever_new_folders_does_not_keep_them_all(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.runtime._MOST_OPEN", 3)
    monkeypatch.setenv("HOME", str(workspace.home))
    folders = [workspace.project / str(number) for number in range(5)]
    for folder in folders:
        folder.mkdir()
    first = weakref.ref(Skills.open(folders[0]))
    last = Skills.open(folders[1])
    for folder in folders[2:]:
        Skills.open(folder)
        assert Skills.open(folders[1]) is last
    gc.collect()
    assert first() is None
    for folder in folders:
        Skills.open(folder).close()
    assert Skills.open(folders[1]) is not last
    Skills.open(folders[1]).close()


def test_tenants_in_threads_see_only_their_own(workspace: Workspace) -> None:
    workspace.skill("shared/common")
    shared = Folder(workspace.root / "shared")
    tenants = [
        Skills.of(shared, Files({f"own-{n}/SKILL.md": skill_text(f"own-{n}", body=f"Of {n}.\n")}))
        for n in range(20)
    ]
    wrong: list[object] = []

    def serve(number: int) -> None:
        for turn in range(10):
            n = (number * 7 + turn) % len(tenants)
            chat = tenants[n].conversation(session=f"{number}-{turn}")
            names = [line.name for line in chat.catalog().lines]
            text = chat.activate(f"own-{n}", by="model").text
            if names != ["common", f"own-{n}"] or f"Of {n}." not in text:
                wrong.append((n, names, text))
            if len(chat.ledger.entries) != 1:
                wrong.append(chat.ledger)

    threads = [threading.Thread(target=serve, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_one_skills_is_shared_by_conversations_in_threads_while_it_is_reloaded(
    workspace: Workspace,
) -> None:
    for n in range(10):
        workspace.skill(f"shared/s{n}")
    skills = Skills.of(Folder(workspace.root / "shared"))
    failures: list[BaseException] = []
    prompts: set[str] = set()
    stop = threading.Event()

    def reload() -> None:
        while not stop.is_set():
            skills.reload()

    def talk(number: int) -> None:
        try:
            for turn in range(20):
                chat = skills.conversation()
                prompts.add(chat.catalog().prompt)
                chat.activate(f"s{(number + turn) % 10}", by="model")
        except BaseException as error:
            failures.append(error)

    reloading = threading.Thread(target=reload)
    reloading.start()
    threads = [threading.Thread(target=talk, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    reloading.join()
    assert (failures, len(prompts)) == ([], 1)


def test_a_conversation_that_ended_leaves_nothing_behind(workspace: Workspace) -> None:
    workspace.skill("shared/one")
    skills = Skills.of(Folder(workspace.root / "shared"))
    chat = skills.conversation(include=["one"])
    chat.catalog()
    chat.activate("one", by="model")
    ended = weakref.ref(chat)
    del chat
    gc.collect()
    assert ended() is None
