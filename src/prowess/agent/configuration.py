"""What a session reads once, when it opens: the settings and the plugins."""

from __future__ import annotations

from typing import NamedTuple

from prowess.model.plugin_contents import PluginContents
from prowess.model.settings import Settings
from prowess.runtime import Skills


class Configuration(NamedTuple):
    """Prowess's own settings, those of the host, and the plugins, as they were at the beginning."""

    own: Settings
    host: Settings
    plugins: tuple[PluginContents, ...]


def load_configuration(skills: Skills) -> Configuration:
    """The configuration of a project now."""
    return Configuration(skills.project.load_own_settings(), skills.settings(), skills.plugins())
