"""Which tools the skills that ship have. A model has each while a skill that needs it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class ShippedTool(NamedTuple):
    """Where a tool is, and when a model has it.

    - `module`: imported when the tool is first needed.
    - `method`: the class, which gets the `Skills`, and its method, which returns a plan.
    - `skills`: with one of these loaded, a model has the tool, and so has an agent whose
      definition names it.
    - `feature`: the feature that must be on. With no `skills`, a model then always has the tool.
    - `reads_files`: the class also gets a `FindDenial`.
    """

    module: str
    method: str
    skills: tuple[str, ...] = ()
    feature: str | None = None
    reads_files: bool = False


_MEMORIES = "prowess.agent.shipped.memory_tools"
_SETTINGS = "prowess.agent.shipped.setting_tools"
_KEYS = "prowess.agent.shipped.key_tools"
_DEBUG = "prowess.agent.shipped.debug_tools"
_DREAM = "prowess.agent.shipped.dream_tools"
_HUNTER = "prowess.agent.shipped.hunter_tools"
_BROWSER = "prowess.agent.shipped.browser_tools"
_CHROME = ("claude-in-chrome",)
_GENERATOR = "run-skill-generator"
_TRIAL = "prowess.agent.shipped.skill_trial"
_SKILLS = "prowess.agent.shipped.skill_tools"

SHIPPED_TOOLS: Mapping[str, ShippedTool] = {
    "ListMemories": ShippedTool(_MEMORIES, "MemoryTools.list_memories", ("remember",)),
    "SortMemories": ShippedTool(_MEMORIES, "MemoryTools.sort_memories", ("remember",)),
    "SaveMemory": ShippedTool(_MEMORIES, "MemoryTools.save_memory", feature="memory"),
    "SetSetting": ShippedTool(_SETTINGS, "SettingTools.set_setting", ("update-config",)),
    "AddSetting": ShippedTool(_SETTINGS, "SettingTools.add_setting", ("update-config",)),
    "ListKeys": ShippedTool(_KEYS, "KeyTools.list_keys", ("keybindings",)),
    "SetKeys": ShippedTool(_KEYS, "KeyTools.set_keys", ("keybindings",)),
    "StartDebugLog": ShippedTool(_DEBUG, "DebugTools.start_debug_log", ("debug",)),
    "FollowDebugLog": ShippedTool(_DEBUG, "DebugTools.follow_debug_log", ("debug",)),
    "SaveSkill": ShippedTool(_SKILLS, "SkillTools.save_skill", ("skillify", _GENERATOR)),
    "SavePlan": ShippedTool(_DREAM, "DreamTools.save_plan", ("dream",), "dream"),
    "SaveReview": ShippedTool(
        _HUNTER, "HunterTools.save_review", ("hunter",), "hunter", reads_files=True
    ),
    "OpenPage": ShippedTool(_BROWSER, "BrowserTools.open_page", _CHROME, *_CHROME),
    "ReadPage": ShippedTool(_BROWSER, "BrowserTools.read_page", _CHROME, *_CHROME),
    "ClickElement": ShippedTool(_BROWSER, "BrowserTools.click_element", _CHROME, *_CHROME),
    "TypeText": ShippedTool(_BROWSER, "BrowserTools.type_text", _CHROME, *_CHROME),
    "TrySkill": ShippedTool(_TRIAL, "SkillTrial.try_skill", (_GENERATOR,), _GENERATOR),
}
