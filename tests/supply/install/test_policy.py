"""What an organisation allows to be installed, and how a refusal is worded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from prowess.cli import install_options
from prowess.errors.install import AgainstPolicy, InvalidPolicy
from prowess.runtime import Skills
from prowess.state.install_lock import LockedSkill
from prowess.supply.adopt.adoption import plan_adoption
from prowess.supply.install.installer import open_installer
from prowess.supply.install.policy import InstallCandidate, load_policy
from prowess.supply.install.sync import Synced, SyncOptions, sync_installed
from prowess.supply.install.targets import InstallPlace, find_place
from tests.remote_server import RemoteServer
from tests.supply.install.clawhub_server import ClawHub
from tests.supply.install.conftest import Desk, two_skills
from tests.workspace import skill_text

NOW = datetime.now(UTC)


@pytest.mark.parametrize(
    ("policy", "line", "reason"),
    [
        ('blocked = ["x", "p*"]', 2, "its name matches “p*”"),
        ('sources = ["our-org/*"]', 2, "{source} is not an allowed source"),
        (
            f'digests.pdf = ["sha256:{"0" * 64}"]',
            2,
            "its digest is {tree}, which is not among those allowed",
        ),
        ('signers = "allowed_signers"', 2, "it is not signed by an allowed signer"),
    ],
)
def test_a_refusal_says_why_and_names_the_line_of_the_policy(
    desk: Desk, policy: str, line: int, reason: str
) -> None:
    source = make_source(desk)
    (entry,) = install(desk, source)
    write_policy(desk, policy)
    with pytest.raises(AgainstPolicy) as refused:
        install(desk, source)
    shown = reason.format(source=source, tree=entry.tree)
    file = desk.root / "managed/policy.toml"
    assert str(refused.value) == (
        f"The policy of this machine does not allow “pdf”: {shown} ({file}:{line})."
    )
    assert refused.value.exit_code == 5


def test_what_the_policy_names_is_installed(desk: Desk) -> None:
    source = make_source(desk)
    (entry,) = install(desk, source)
    write_policy(
        desk,
        f'sources = ["{desk.root}/*"]',
        'blocked = ["evil-*"]',
        f'digests.pdf = ["{entry.tree}"]',
        "minimum_age = 7",
    )
    assert install(desk, source) == (entry,)


def test_what_is_installed_already_is_not_restored_against_the_policy(desk: Desk) -> None:
    install(desk, make_source(desk))
    write_policy(desk, 'blocked = ["pdf"]')
    with (
        open_installer(find_place(open_skills(desk), user=False)) as installer,
        pytest.raises(AgainstPolicy, match="its name matches “pdf”"),
    ):
        sync_installed(installer, SyncOptions(frozen=True))


def test_what_the_policy_does_not_allow_is_not_imported(desk: Desk) -> None:
    desk.source({"SKILL.md": skill_text("pdf")}, "project/.agents/skills/pdf")
    source = {"source": "ada/tools", "sourceType": "github", "computedHash": ""}
    lock = {"version": 1, "skills": {"pdf": source}}
    desk.write("project/skills-lock.json", json.dumps(lock))
    write_policy(desk, 'signers = "allowed_signers"')
    with open_installer(find_place(open_skills(desk), user=False)) as installer:
        planned = plan_adoption(installer, offline=True)
    assert planned.entries == ()
    (left,) = planned.adoption.left_out
    assert left.reason == (
        "The policy of this machine does not allow “pdf”: it is not signed by an allowed signer"
        f" ({desk.root}/managed/policy.toml:2)"
    )


@pytest.mark.parametrize("host", ["claude-code", "opencode"])
def test_the_policy_is_the_same_for_every_host(desk: Desk, host: str) -> None:
    write_policy(desk, 'blocked = ["pdf"]')
    with pytest.raises(AgainstPolicy):
        install(desk, make_source(desk), host=host)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[install]\nblock = []\n", "unknown field `block`"),
        ("[instal]\n", "it has “instal”; the only table is [install]"),
        ("[install]\nblocked = 3\n", "Expected `array`, got `int`"),
        ('[install]\ndigests.pdf = ["abc"]\n', "“abc” of pdf is not sha256: and 64 hex digits"),
        ("[install\n", "line 1"),
        (b"\xff\xfe", "it is not UTF-8"),
    ],
)
def test_a_policy_that_cannot_be_read_lets_nothing_be_installed(
    desk: Desk, text: str | bytes, problem: str
) -> None:
    desk.write("managed/policy.toml", text)
    with pytest.raises(InvalidPolicy) as refused:
        install(desk, make_source(desk))
    assert problem in str(refused.value)
    assert not (desk.project / ".agents").exists()


def test_a_policy_that_is_too_large_lets_nothing_be_installed(tmp_path: Path) -> None:
    # Its last line is one that a part of the file would not have.
    text = "[install]\n" + "# note\n" * 150_000 + 'sources = ["acme/*"]\n'
    (tmp_path / "policy.toml").write_text(text)
    with pytest.raises(InvalidPolicy, match=r"it has 1,050,031 bytes; at most 1,048,576 are read"):
        load_policy(str(tmp_path))


@pytest.mark.needs("git", "ssh-keygen")
def test_a_commit_must_be_signed_by_an_allowed_signer(desk: Desk) -> None:
    key = make_key(desk.root / "key")
    make_key(desk.root / "other")
    (desk.root / "managed").mkdir()
    (desk.root / "managed/allowed_signers").write_text(f"ada@example.org {key}\n")
    write_policy(desk, 'signers = "allowed_signers"')
    upstream = desk.repository({"pdf/SKILL.md": skill_text("pdf", "Reads.")})
    source = f"file://{upstream}"
    with pytest.raises(AgainstPolicy, match="not signed"):
        install(desk, source)
    sign(desk, upstream, desk.root / "other")
    with pytest.raises(AgainstPolicy, match="not signed"):
        install(desk, source)
    sign(desk, upstream, desk.root / "key")
    (entry,) = install(desk, source)
    assert entry.resolved == desk.do_git(upstream, "rev-parse", "HEAD")


@pytest.mark.needs("git", "ssh-keygen")
def test_what_a_cloned_lock_file_names_must_be_signed_too(desk: Desk) -> None:
    key = make_key(desk.root / "key")
    upstream = desk.repository({"pdf/SKILL.md": skill_text("pdf", "Reads.")})
    install(desk, f"file://{upstream}")
    (desk.root / "managed").mkdir()
    (desk.root / "managed/allowed_signers").write_text(f"ada@example.org {key}\n")
    write_policy(desk, 'signers = "allowed_signers"')
    # What is in the store was checked when it got there.
    shutil.rmtree(desk.project / ".agents")
    assert sync(desk).restored == (f"{desk.project}/.agents/skills/pdf",)
    desk.forget()
    with pytest.raises(AgainstPolicy, match="it is not signed by an allowed signer"):
        sync(desk)
    assert desk.installed() == {}
    (desk.project / "prowess.lock").unlink()
    sign(desk, upstream, desk.root / "key")
    install(desk, f"file://{upstream}")
    desk.forget()
    assert sync(desk).restored == (f"{desk.project}/.agents/skills/pdf",)


@pytest.mark.parametrize(
    ("released_at", "reason"),
    [
        (None, "its source does not say when it was released"),
        (
            NOW - timedelta(days=3),
            "it was released on {day}, and a release must be at least 7 days old",
        ),
        (
            NOW + timedelta(days=400),
            "it was released on {day}, and a release must be at least 7 days old",
        ),
        (NOW - timedelta(days=8), None),
    ],
)
def test_a_release_must_be_old_enough(
    tmp_path: Path, released_at: datetime | None, reason: str | None
) -> None:
    (tmp_path / "policy.toml").write_text("[install]\nminimum_age = 7\n")
    policy = load_policy(str(tmp_path))
    assert policy is not None
    wanted = InstallCandidate(name="pdf", source="ada/tools", tree="", released_at=released_at)
    if reason is None:
        policy.check(wanted)
        return
    day = "" if released_at is None else released_at.date().isoformat()
    with pytest.raises(AgainstPolicy) as refused:
        policy.check(wanted)
    assert refused.value.reason == reason.format(day=day)


def test_the_date_of_a_release_is_that_of_its_commit(desk: Desk) -> None:
    upstream = desk.repository({"pdf/SKILL.md": skill_text("pdf", "Reads.")})
    seconds = int(desk.do_git(upstream, "log", "-1", "--format=%ct"))
    with open_installer(find_place(open_skills(desk), user=False)) as installer:
        fetched = installer.fetch(installer.parse(f"file://{upstream}", cwd=str(desk.project)))
    assert fetched.skills[0].released_at == datetime.fromtimestamp(seconds, tz=UTC)


def test_an_update_that_the_policy_refuses_does_not_stop_the_others(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream = desk.repository(two_skills())
    install(desk, f"file://{upstream}")
    newer = {f"skills/{one}/SKILL.md": skill_text(one, "Newer.") for one in ("alpha", "beta")}
    desk.repository(newer)
    write_policy(desk, 'blocked = ["alpha"]')
    monkeypatch.setattr(install_options, "find_place", find_managed_place)
    monkeypatch.setenv("MANAGED", str(desk.root / "managed"))
    answer = desk.run("update", "--yes")
    assert (answer.code, answer.err) == (
        5,
        "alpha is not updated: The policy of this machine does not allow “alpha”: its name matches"
        f" “alpha” ({desk.root}/managed/policy.toml:2).\n",
    )
    assert answer.out.endswith("Updated beta.\n")
    assert b"Newer." in desk.installed()["beta/SKILL.md"]
    assert b"Does A." in desk.installed()["alpha/SKILL.md"]
    again = desk.run("update", "alpha", "--yes", "--json")
    (refused,) = json.loads(again.out)["skills"]
    assert (again.code, refused["state"]) == (5, "refused")
    assert refused["latest"] == desk.do_git(upstream, "rev-parse", "HEAD")
    assert desk.run("outdated").code == 0


def find_managed_place(skills: Skills, *, user: bool) -> InstallPlace:
    """Where a machine with a policy installs; the folder of administrators is not writable."""
    place = find_place(skills, user=user)
    return msgspec.structs.replace(place, managed=os.environ["MANAGED"])


def test_what_a_cloned_lock_file_names_must_be_old_enough_too(desk: Desk) -> None:
    with RemoteServer() as server:
        hub = ClawHub(server)
        hub.publish("1.0.0", release={"createdAt": NOW.timestamp() * 1000})
        install(desk, hub.source)
        write_policy(desk, "minimum_age = 7")
        # What is in the store was checked when it got there.
        shutil.rmtree(desk.project / ".agents")
        assert sync(desk).restored == (f"{desk.project}/.agents/skills/alpha",)
        desk.forget()
        with pytest.raises(AgainstPolicy, match="a release must be at least 7 days old"):
            sync(desk)
        assert desk.installed() == {}
        hub.publish("1.0.0")
        assert sync(desk).restored == (f"{desk.project}/.agents/skills/alpha",)


def make_source(desk: Desk) -> str:
    return str(desk.source({"SKILL.md": skill_text("pdf", "Reads.")}, "pdf"))


def write_policy(desk: Desk, *lines: str) -> None:
    desk.write("managed/policy.toml", "\n".join(("[install]", *lines)) + "\n")


def open_skills(desk: Desk, host: str = "prowess") -> Skills:
    return desk.open(host, env={"PATH": os.environ["PATH"]})


def install(desk: Desk, text: str, host: str = "prowess") -> tuple[LockedSkill, ...]:
    skills = open_skills(desk, host)
    place = find_place(skills, user=False)
    folders = [f"{place.base}/.agents/skills"]
    with open_installer(place) as installer:
        fetched = installer.fetch(installer.parse(text, cwd=skills.cwd))
        lock = place.open_lock().load()
        wanted = [installer.want(fetched.source, one, folders, lock) for one in fetched.skills]
        return installer.apply(installer.plan(wanted))


def sync(desk: Desk) -> Synced:
    with open_installer(find_place(open_skills(desk), user=False)) as installer:
        return sync_installed(installer, SyncOptions())


def make_key(path: Path) -> str:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(command, check=True)
    return path.with_suffix(".pub").read_text().strip()


def sign(desk: Desk, folder: Path, key: Path) -> None:
    """Make the last commit again, with a signature."""
    options = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}")
    desk.do_git(folder, *options, "commit", "--quiet", "--amend", "--no-edit", "-S")
