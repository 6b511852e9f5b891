"""`/run-skill-generator`: a skill is written, found, checked, and used by a sub-agent."""

from __future__ import annotations

import pytest

from prowess.agent.events import SkillLoaded, ToolFinished
from prowess.agent.shipped.skill_trial import SkillTrial
from prowess.errors import ProwessError
from tests.agent.shipped.test_dream import run, turn_on
from tests.agent.studio import Asked, Studio, call, pick, say

DESCRIPTION = "Checks a tide table. Use when heights change."
SAVE = call(
    "SaveSkill",
    name="tide-check",
    description=DESCRIPTION,
    body="Run scripts/check.py on $ARGUMENTS.\n",
    files={"scripts/check.py": "print('ok')\n"},
)


@pytest.mark.seed("C-122")
def test_a_skill_is_written_checked_and_tried_by_a_sub_agent(studio: Studio) -> None:
    turn_on(studio, "run-skill-generator")
    ended, events = run(
        studio,
        "/run-skill-generator check tide tables",
        SAVE,
        call("TrySkill", name="tide-check", arguments="dover.csv"),
        call("Task", prompt="Check dover.csv."),
        {"agent": "general-purpose", **call("skill", name="tide-check")},
        {"agent": "general-purpose", **say("It is right.")},
        say("Done."),
        approver=Asked(),
    )
    assert ended.status == "done", ended.reason
    outputs = {one.tool: one.output for one in pick(events, ToolFinished)}
    folder = studio.project / ".agents/skills/tide-check"
    assert sorted(path.name for path in folder.rglob("*.*")) == ["SKILL.md", "check.py"]
    assert outputs["TrySkill"].startswith(f"Found in {folder}/SKILL.md.\n\nNo findings.\n\n")
    assert f"tide-check: {DESCRIPTION}" in outputs["TrySkill"]
    assert "Run scripts/check.py on dover.csv." in outputs["TrySkill"]
    assert outputs["Task"] == "It is right."
    loaded = [(one.name, one.by) for one in pick(events, SkillLoaded)]
    assert loaded == [("run-skill-generator", "user"), ("tide-check", "model")]


def test_a_skill_that_no_model_is_offered_fails_the_trial_with_the_reason(studio: Studio) -> None:
    studio.skill("secret", **{"disable-model-invocation": "true"})
    plan = SkillTrial(studio.skills()).try_skill("secret")
    assert plan.run is not None
    with pytest.raises(ProwessError, match="exists, but is not offered to a model"):
        plan.run(lambda: False)
    missing = SkillTrial(studio.skills()).try_skill("nope")
    assert missing.run is not None
    with pytest.raises(ProwessError, match="nope"):
        missing.run(lambda: False)
