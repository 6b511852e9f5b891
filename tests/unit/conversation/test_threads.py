"""One project under many threads: activations, touches and reloads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from prowess.activate.code_skills import DefinedSkill
from tests.workspace import Workspace

ROOT = "home/.prowess/skills"
THREADS = 8
ROUNDS = 12


def run_together(work: Callable[[int], object]) -> None:
    """Run work in every thread at once; what one raises is raised here."""
    start = threading.Barrier(THREADS)

    def begin(number: int) -> None:
        start.wait()
        work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(begin, number) for number in range(THREADS)]:
            done.result()


def test_eight_threads_leave_every_activation_in_the_ledger_and_everything_awake(
    workspace: Workspace,
) -> None:
    workspace.git()
    for number in range(THREADS):
        workspace.skill(f"{ROOT}/own-{number}", body="Do $ARGUMENTS\n")
        workspace.skill(f"{ROOT}/waits-{number}", paths=f"'*.x{number}'")
        workspace.skill(f"project/below-{number}/.claude/skills/found-{number}")
    skills = workspace.open(env={"PROWESS_NO_USAGE": "1"})
    conversation = skills.conversation()

    def work(number: int) -> None:
        for count in range(ROUNDS):
            made = conversation.activate(f"own-{number}", str(count))
            assert f"Do {count}\n" in made.text
            conversation.touched(f"below-{number}/a.x{number}")
            assert conversation.run(f"/own-{number} typed")
            if count % 4 == number % 4:
                skills.reload()
            assert conversation.commands
            conversation.save()

    run_together(work)
    entries = conversation.ledger.entries
    assert len(entries) == THREADS * ROUNDS * 2
    for number in range(THREADS):
        own = [entry.arguments for entry in entries if entry.name == f"own-{number}"]
        assert own == [given for count in range(ROUNDS) for given in (str(count), "typed")]
    assert all(entry.tokens for entry in entries)
    names = {skill.name for skill in conversation.snapshot.skills}
    assert names == {
        f"{kind}-{number}" for kind in ("own", "waits", "found") for number in range(THREADS)
    }


def test_a_skill_in_code_is_unpacked_once_and_asked_for_in_every_thread(
    workspace: Workspace,
) -> None:
    asked: list[str] = []

    def prompt(arguments: str, context: object) -> str:
        asked.append(arguments)
        return f"Do {arguments}"

    skills = workspace.open(env={"PROWESS_NO_USAGE": "1"})
    skills.define(DefinedSkill(name="x", description="d", get_prompt=prompt, files={"a.md": "A"}))
    texts: list[str] = []
    run_together(lambda number: texts.append(skills.activate("x", str(number)).text))
    with skills:
        folder = skills.get("x").folder
        assert sorted(asked) == [str(number) for number in range(THREADS)]
        assert len({text.partition("\n\nDo ")[0] for text in texts}) == 1
        assert all(folder in text for text in texts)
