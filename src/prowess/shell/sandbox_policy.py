"""From the settings to the sandbox of one skill's programs."""

from __future__ import annotations

from collections.abc import Iterable

from prowess.model.sandbox import CREDENTIALS, SandboxOverride, SandboxPolicy, SandboxSettings


def build_policy(
    settings: SandboxSettings,
    skill: str,
    *,
    project: str,
    home: str,
    hidden: Iterable[str] = (),
) -> SandboxPolicy | None:
    """What the programs of a skill may touch; None where the user switched the sandbox off.

    They write in the project. `hidden` are folders of Prowess itself, such as the one that says
    which projects are trusted.
    """
    own = settings.skills.get(skill, SandboxOverride())
    # What is set for this skill comes before what is set for all of them.
    mode = settings.mode if own.mode is None else own.mode
    network = settings.network if own.network is None else own.network
    if mode == "off":
        return None
    credentials = [f"{home}/{name}" for name in CREDENTIALS]
    return SandboxPolicy(
        writable=(project, *settings.write, *own.write),
        hidden=(*credentials, *hidden, *settings.hide),
        network=network,
        memory_bytes=settings.memory_mb << 20,
        processes=settings.processes,
    )
