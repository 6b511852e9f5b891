"""Where hooks come from, and which of them may run: those of the user, and of what is trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from prowess.agent.configuration import Configuration
from prowess.agent.events import Warned
from prowess.discover.links import is_inside
from prowess.model.hooks import AGENT_EVENTS, Hook
from prowess.model.plugin_contents import PluginContents
from prowess.model.settings import Settings
from prowess.ports import TrustPolicy
from prowess.runtime import Skills
from prowess.text.display import count_words


class GatheredHooks(NamedTuple):
    """The hooks that may run, and what to say about the others."""

    hooks: tuple[Hook, ...]
    warnings: tuple[Warned, ...] = ()


def gather_hooks(skills: Skills, configuration: Configuration) -> GatheredHooks:
    """The hooks of the settings and of plugins, as they are when the session begins.

    Changes count for the next session: a model that may write files must not give itself hooks.
    """
    own = configuration.own
    # Each once: Prowess as itself reads the same files as the host.
    declared = dict.fromkeys((*skills.snapshot.settings.hooks, *own.hooks))
    known = [_find_owner(hook, skills) for hook in declared if hook.event in AGENT_EVENTS]
    trust = skills.project.open_trust()
    runnable = tuple(hook for hook in known if _is_runnable(hook, trust, own))
    left = len(known) - len(runnable)
    warnings = [_warn_untrusted(_explain_left(left, own))] if left else []
    of_plugins = _gather_from_plugins(configuration.plugins)
    hooks = (*runnable, *of_plugins.hooks)
    return GatheredHooks(hooks, (*warnings, *of_plugins.warnings, *list_unsupported(hooks)))


def list_unsupported(hooks: Iterable[Hook]) -> Iterator[Warned]:
    """What to say about hooks that are no commands: each with its file."""
    for hook in hooks:
        if hook.kind == "command":
            continue
        said = (
            f"{hook.origin.file or hook.name}: the {hook.event} hook of type `{hook.kind}` does not"
            " run; Prowess only runs hooks of type `command`."
        )
        yield Warned(code="hook-unsupported", message=said)


def _gather_from_plugins(plugins: Iterable[PluginContents]) -> GatheredHooks:
    """The hooks of plugins that are on and trusted."""
    hooks: list[Hook] = []
    warnings: list[Warned] = []
    for contents in plugins:
        known = [hook for hook in contents.hooks if hook.event in AGENT_EVENTS]
        if contents.is_usable:
            hooks += known
            continue
        # Of a plugin that is off nobody expects anything.
        is_missed = bool(known) and contents.plugin.is_enabled
        if is_missed:
            id = contents.plugin.id
            said = f"The hooks of the plugin {id} do not run, because it is not trusted."
            warnings.append(_warn_untrusted(said))
    return GatheredHooks(tuple(hooks), tuple(warnings))


def _find_owner(hook: Hook, skills: Skills) -> Hook:
    """A hook with the source that its file really has.

    A variable can claim that a folder of the project is the user's. In a home that is the project
    the user's files are the user's.
    """
    file, files = hook.origin.file, skills.project.files
    if hook.source != "user" or file is None:
        return hook
    root = files.find_real_path(skills.snapshot.repository or skills.cwd)
    real = files.find_real_path(file)
    home = files.find_real_path(skills.facts.home)
    if root is None or real is None or home is None:
        return hook
    is_around_home = is_inside(home, (root,))
    is_of_project = is_inside(real, (root,)) and not is_around_home
    if not is_of_project:
        return hook
    return msgspec.structs.replace(hook, source="project")


def _is_runnable(hook: Hook, trust: TrustPolicy, own: Settings) -> bool:
    if hook.source != "project":
        return True
    # Trust in contents covers skills that somebody looked at; hooks are in settings.
    if own.trust == "content":
        return False
    folder = (hook.origin.file or "").rpartition("/")[0]
    return trust.is_trusted_folder(folder or "/")


def _warn_untrusted(message: str) -> Warned:
    return Warned(code="hooks-untrusted", message=message)


def _explain_left(count: int, own: Settings) -> str:
    verb = "does" if count == 1 else "do"
    hooks = f"{count_words(count, 'hook')} of this project {verb}"
    if own.trust == "content":
        return f'{hooks} not run, because `trust = "content"` covers only skills.'
    return f"{hooks} not run, because the project is not trusted; see `prowess trust`."
