"""Files that the user names in a message: their text goes to the model with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from prowess.agent.tools.files import FileTools
from prowess.agent.tools.plan import IsCancelled, Plan
from prowess.errors import ProwessError
from prowess.machine.project_files import ProjectFiles
from prowess.model.permission import Action, Decision
from prowess.text.markup import escape_tags, escape_xml, tidy_path

_TAG = "attached_file"
_EVERYTHING = "**"


class Attachments(msgspec.Struct):
    """The texts of files, the paths that were read, and why others were left out."""

    texts: list[str] = []
    touched: list[str] = []
    problems: list[str] = []


class AttachedFiles:
    """Reads what a user names, under the rules that the model has for reading it itself."""

    def __init__(self, files: ProjectFiles, tools: FileTools) -> None:
        self._files = files
        self._tools = tools

    def load(
        self, paths: Sequence[str], judge: Callable[[Plan], Decision], is_cancelled: IsCancelled
    ) -> Attachments:
        """The files as the tool Read shows them; of a folder, the list of its files."""
        loaded = Attachments()
        for path in dict.fromkeys(paths):
            shown = self._files.locate(path).shown
            try:
                text = self._load_one(path, judge, is_cancelled, loaded)
            except ProwessError as error:
                loaded.problems.append(f"{shown} was not attached: {str(error).rstrip('.')}.")
                continue
            inner = escape_tags(text, _TAG)
            name = escape_xml(tidy_path(shown))
            loaded.texts.append(f'<{_TAG} path="{name}">\n{inner}\n</{_TAG}>')
        return loaded

    def _load_one(
        self,
        path: str,
        judge: Callable[[Plan], Decision],
        is_cancelled: IsCancelled,
        loaded: Attachments,
    ) -> str:
        is_folder = self._files.find_kind(self._files.locate(path)) == "folder"
        plan = self._tools.glob(_EVERYTHING, path) if is_folder else self._tools.read(path)
        decision = judge(plan)
        # Whoever names a file has been asked about it.
        if decision.action is Action.DENY:
            raise ProwessError(decision.reason)
        assert plan.run is not None
        text = plan.run(is_cancelled)
        if plan.touched is not None:
            loaded.touched.append(plan.touched)
        return text
