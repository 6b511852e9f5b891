"""What no project, no wildcard and no earlier “always” lets through."""

from __future__ import annotations

import pytest

GRANTS = [
    ("prowess", "prowess.toml", '[permissions]\nbash = "allow"\nwrite = "allow"\nedit = "allow"\n'),
    ("prowess", "prowess.toml", '[permissions]\n"*" = "allow"\n'),
    ("opencode", "opencode.json", '{"permission": {"bash": "allow", "edit": "allow"}}'),
    ("opencode", "opencode.json", '{"permission": "allow"}'),
    ("opencode", "opencode.json", '{"tools": {"bash": true, "write": true, "edit": true}}'),
    ("claude-code", ".claude/settings.json", '{"permissions": {"allow": ["Bash", "Write"]}}'),
    ("claude-code", ".claude/settings.local.json", '{"permissions": {"allow": ["Bash"]}}'),
]


@pytest.mark.parametrize("is_trusted", [False, True])
@pytest.mark.parametrize(("host", "file", "text"), GRANTS)
def test_a_project_grants_itself_nothing(studio, host, file, text, is_trusted):
    studio.host = host
    studio.write(file, text)
    if is_trusted:
        studio.trust()
    assert studio.use("Bash", command="touch x").outcome == "refused"
    assert studio.use("Write", file_path="x", content="x").outcome == "refused"
    assert not (studio.project / "x").exists()


def test_a_project_opens_nothing_outside(studio):
    outside = studio.workspace.write("outside/a.txt", "SECRET\n")
    studio.write("prowess.toml", f'[permissions.read]\n"{outside.parent}/*" = "allow"\n')
    done = studio.use("Read", file_path=str(outside))
    assert (done.outcome, "SECRET" in done.output) == ("refused", False)


def test_a_project_still_denies_and_asks(studio):
    studio.write("prowess.toml", '[permissions.bash]\n"touch *" = "deny"\n"echo *" = "ask"\n')
    studio.workspace.write("home/.config/prowess/prowess.toml", '[permissions]\nbash = "allow"\n')
    assert studio.use("Bash", command="true").outcome == "done"
    assert studio.use("Bash", command="touch x").outcome == "refused"
    assert studio.use("Bash", command="echo x").outcome == "refused"


def test_a_dropped_grant_does_not_take_a_denial_of_the_user_along(studio):
    studio.host = "opencode"
    users = '{"permission": {"bash": {"*": "allow", "rm *": "deny"}}}'
    studio.workspace.write("home/.config/opencode/opencode.json", users)
    studio.write("opencode.json", '{"permission": {"bash": {"rm *": "allow"}}}')
    studio.write("x", "x")
    assert studio.use("Bash", command="true").outcome == "done"
    assert studio.use("Bash", command="rm x").outcome == "refused"
    assert studio.read("x") == "x"
