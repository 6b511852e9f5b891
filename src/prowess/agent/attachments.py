"""Files that the user names in a message: texts and images go to the model with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pydantic_ai.messages import BinaryContent, UserContent

from prowess.agent.events import Event, Warned
from prowess.agent.tools.files import FileTools
from prowess.agent.tools.plan import IsCancelled, Plan
from prowess.conversation.conversation import Conversation
from prowess.errors import ProwessError
from prowess.machine.event_loop import run_in_thread
from prowess.machine.project_files import ProjectFiles
from prowess.model.permission import Action, Decision
from prowess.text.markup import escape_tags, escape_xml, tidy_path

OpenJudge = Callable[[], Callable[[Plan], Decision]]
"""Gives what judges plans by the rules as they are now."""

_TAG = "attached_file"
_EVERYTHING = "**"


class Attached(NamedTuple):
    """What a message has of files: texts that belong to its own, and images with their names."""

    texts: tuple[str, ...] = ()
    images: tuple[tuple[str, BinaryContent], ...] = ()

    def add_to(self, text: str) -> str:
        """A message with the texts."""
        return "\n\n".join((text, *self.texts))


NOTHING_ATTACHED = Attached()


class AttachedFiles:
    """Reads what a user names, under the rules that the model has for reading it itself."""

    def __init__(self, files: ProjectFiles, tools: FileTools, open_judge: OpenJudge) -> None:
        self._files = files
        self._tools = tools
        self._open_judge = open_judge

    async def load(
        self,
        paths: Sequence[str],
        conversation: Conversation,
        emit: Callable[[Event], None],
    ) -> Attached:
        """The files as the tool Read shows them, and of a folder the list of its files.

        What cannot be read is left out with a warning. Skills that wait for a file wake.
        """
        texts: list[str] = []
        images: list[tuple[str, BinaryContent]] = []
        for path in dict.fromkeys(paths):
            shown = self._files.locate(path).shown

            def load(is_cancelled: IsCancelled, path: str = path) -> str | list[Any]:
                return self._load_one(path, conversation, is_cancelled)

            try:
                content = await run_in_thread(load)
            except ProwessError as error:
                message = f"{shown} was not attached: {str(error).rstrip('.')}."
                emit(Warned(code="file-not-attached", message=message))
                continue
            if isinstance(content, str):
                texts.append(_render_text(shown, content))
            else:
                images += [(shown, one) for one in content if isinstance(one, BinaryContent)]
        return Attached(tuple(texts), tuple(images))

    def _load_one(
        self, path: str, conversation: Conversation, is_cancelled: IsCancelled
    ) -> str | list[Any]:
        is_folder = self._files.find_kind(self._files.locate(path)) == "folder"
        plan = self._tools.glob(_EVERYTHING, path) if is_folder else self._tools.read(path)
        decision = self._open_judge()(plan)
        # Whoever names a file has been asked about it.
        if decision.action is Action.DENY:
            raise ProwessError(decision.reason)
        assert plan.run is not None
        content = plan.run(is_cancelled)
        if plan.touched is not None:
            conversation.touched(plan.touched)
        return content


def select_images(
    attached: Attached, *, are_taken: bool, emit: Callable[[Event], None]
) -> tuple[UserContent, ...]:
    """The images for a prompt, each after its name. A model that takes none gets none of them."""
    content: list[UserContent] = []
    for shown, image in attached.images:
        if are_taken:
            content += (f"The image {shown}:", image)
            continue
        message = f"{shown} was not attached: the model does not take images."
        emit(Warned(code="file-not-attached", message=message))
    return tuple(content)


def _render_text(shown: str, text: str) -> str:
    name = escape_xml(tidy_path(shown))
    return f'<{_TAG} path="{name}">\n{escape_tags(text, _TAG)}\n</{_TAG}>'
