"""The skills that a model gets back after its messages were shortened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from prowess.activate.ledger import Ledger, LedgerEntry, digest_activation
from prowess.activate.loaded_tags import LoadedSkill, add_tag
from prowess.activate.survival import Survivor
from prowess.conversation.conversation import Conversation
from prowess.runtime import Skills

Messages_contra = TypeVar("Messages_contra", contravariant=True)


class ListLoaded(Protocol[Messages_contra]):
    """Reads from the messages of one library which skills a model has."""

    def __call__(self, messages: Messages_contra, /, *, tool: str) -> tuple[LoadedSkill, ...]:
        """The skills that the results of `tool` loaded, and those that were given back."""
        ...


SURVIVED = (
    "The conversation was shortened. These skills were loaded before and still apply. Do not load"
    " them again, unless one ends with a note that it was cut."
)


def render_survivors(
    skills: Skills | Conversation, loaded: Iterable[LoadedSkill] | None = None
) -> str:
    """The text that gives loaded skills back; "" for none.

    The newest come first, as many as fit the host's limits. `loaded` are those that the messages
    had before they were shortened. Without it, the ledger of a conversation says what was loaded.
    """
    conversation = skills if isinstance(skills, Conversation) else skills.conversation()
    ledger = conversation.ledger if loaded is None else _make_ledger(loaded, conversation)
    # A ledger made from messages has the version where others have the file's digest.
    versions = list_versions(ledger) if loaded is None else _list_digests(ledger)
    return render_kept(conversation.compact(ledger).kept, versions)


def list_versions(ledger: Ledger) -> dict[str, str]:
    """The version of each loaded skill, as the messages of a model have it."""
    return {
        entry.name: digest_activation(
            entry.name, digest=entry.digest, location=entry.location, arguments=entry.arguments
        )
        for entry in ledger.loaded
    }


def render_kept(kept: Iterable[Survivor], versions: Mapping[str, str]) -> str:
    """The text that gives these skills back, each marked with its version; "" for none."""
    texts = [_render(one, versions[one.name]) for one in kept]
    # A skill of images alone has no text; it counts as cut, so the model may load it again.
    given_back = list(filter(None, texts))
    return "\n\n".join((SURVIVED, *given_back)) if given_back else ""


def render_lost(
    skills: Skills | Conversation,
    list_loaded: ListLoaded[Messages_contra],
    before: Messages_contra | None,
    after: Messages_contra,
) -> str:
    """The text that gives back what messages lost when they were shortened; "" for nothing.

    Without the messages from `before`, the ledger of a conversation says what was loaded.
    """
    if before is None:
        return render_survivors(skills)
    tool = skills.profile.tool.name
    lost = find_lost(list_loaded(before, tool=tool), list_loaded(after, tool=tool))
    return render_survivors(skills, lost)


def find_lost(
    before: Iterable[LoadedSkill], after: Iterable[LoadedSkill]
) -> tuple[LoadedSkill, ...]:
    """The latest text of each skill that was in the messages before and is not in them after."""
    latest = {skill.name: skill for skill in before}
    still_there = {skill.digest for skill in after}
    return tuple(skill for skill in latest.values() if skill.digest not in still_there)


def _make_ledger(loaded: Iterable[LoadedSkill], conversation: Conversation) -> Ledger:
    latest: dict[str, LoadedSkill] = {}
    for skill in loaded:
        # The latest text of a name counts, at the place in the order where it was loaded.
        latest.pop(skill.name, None)
        latest[skill.name] = skill
    snapshot = conversation.snapshot
    entries = []
    for skill in latest.values():
        outcome = snapshot.find(skill.name)
        entries.append(
            LedgerEntry(
                name=skill.name,
                at=0.0,
                by="model",
                location=outcome.candidate.location if outcome is not None else "",
                digest=skill.digest,
                text=skill.text,
                has_blocks=skill.has_media,
            )
        )
    return Ledger(tuple(entries))


def _list_digests(ledger: Ledger) -> dict[str, str]:
    return {entry.name: entry.digest for entry in ledger.loaded}


def _render(survivor: Survivor, version: str) -> str:
    # One that was cut has no tag: the model does not have all of it, and may load it again.
    if survivor.cut:
        return survivor.text
    return add_tag(survivor.text, name=survivor.name, digest=version)
