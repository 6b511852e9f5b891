"""Files that the user names in a message: their text goes to the model with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    ) -> list[str]:
        """The files as the tool Read shows them, and of a folder the list of its files.

        What cannot be read is left out with a warning. Skills that wait for a file wake.
        """
        texts = []
        for path in dict.fromkeys(paths):
            shown = self._files.locate(path).shown

            def load(is_cancelled: IsCancelled, path: str = path) -> str:
                return self._load_one(path, conversation, is_cancelled)

            try:
                text = await run_in_thread(load)
            except ProwessError as error:
                message = f"{shown} was not attached: {str(error).rstrip('.')}."
                emit(Warned(code="file-not-attached", message=message))
                continue
            name = escape_xml(tidy_path(shown))
            texts.append(f'<{_TAG} path="{name}">\n{escape_tags(text, _TAG)}\n</{_TAG}>')
        return texts

    def _load_one(self, path: str, conversation: Conversation, is_cancelled: IsCancelled) -> str:
        is_folder = self._files.find_kind(self._files.locate(path)) == "folder"
        plan = self._tools.glob(_EVERYTHING, path) if is_folder else self._tools.read(path)
        decision = self._open_judge()(plan)
        # Whoever names a file has been asked about it.
        if decision.action is Action.DENY:
            raise ProwessError(decision.reason)
        assert plan.run is not None
        text = plan.run(is_cancelled)
        if not isinstance(text, str):
            raise ProwessError("it is an image; ask the model to read it")
        if plan.touched is not None:
            conversation.touched(plan.touched)
        return text
