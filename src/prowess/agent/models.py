"""From the name of a model to the model: options, settings, short names and providers."""

from __future__ import annotations

import asyncio
import posixpath
import re
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

from prowess.agent.script import Recorder, Script, load_script, replay
from prowess.errors import MissingExtra, UsageError
from prowess.errors.agent import ModelUnavailable, NoModel, UnknownModel
from prowess.machine.spare_threads import start_in_thread
from prowess.model.facts import Facts
from prowess.model.settings import AgentSettings
from prowess.ports import FileSystem

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model

INHERIT = "inherit"
SCRIPT = "script:"

# pydantic-ai goes on about its own classes after the sentence that helps here.
_SET_VARIABLE = re.compile(r"Set the `(\w+)` environment variable")
_EXTRA = re.compile(r"pydantic-ai-slim\[([\w-]+)\]")


def anchor_script(name: str | None, folder: str) -> str | None:
    """The name of a model that also works elsewhere: the file of a script by its whole path."""
    if name is None or not name.startswith(SCRIPT):
        return name
    return SCRIPT + posixpath.join(folder, name.removeprefix(SCRIPT))


def find_model_name(
    wanted: str | None, settings: AgentSettings, *, inherited: str | None = None
) -> str | None:
    """The full name of a model, `provider:name`; None where none is configured.

    `wanted` is what an option or a skill asks for. Without it, and for `inherit`, the model stays
    the `inherited` one, or else that of the settings. Raises `UnknownModel` for a short name that
    the settings do not explain.
    """
    if wanted in (None, "", INHERIT):
        wanted = inherited or settings.model
    if wanted is None:
        return None
    name = settings.models.get(wanted, wanted)
    if ":" not in name:
        if name in settings.models and wanted in settings.models:
            problem = f"it stands for “{name}”, which is itself a short name"
            remedy = "Short names cannot point at each other; write `provider:name` for each."
            raise ModelUnavailable(wanted, problem, remedy=remedy)
        raise UnknownModel(name, settings.models)
    return name


def load_model(name: str, *, env: Mapping[str, str]) -> Model:
    """The model of a full name. The package of its provider is imported here and not before.

    Keys and addresses come from the usual environment variables of the provider. Raises
    `ModelUnavailable`, and `MissingExtra` where pydantic-ai itself is missing.
    """
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
    except ImportError as missing:
        raise MissingExtra("agent", "run an agent with a model") from missing
    try:
        return infer_model(_choose_api(name, env))
    except ImportError as error:
        raise _miss_provider(name, error) from error
    except UserError as error:
        raise _explain(name, error) from error


class ModelSource:
    """The models of one session: its own, and those that skills ask for.

    `wanted` is a name or a model. A script stands in for all models. With `record`, every answer is
    written to that file as a script.
    """

    def __init__(
        self,
        wanted: str | Model | None,
        settings: AgentSettings,
        facts: Facts,
        files: FileSystem,
        record: str | None = None,
    ) -> None:
        self._settings = settings
        self._env = facts.env
        self._files = files
        self._script: Script | None = None
        self._loaded: dict[str, Model] = {}
        self._given: Model | None = None
        if wanted is None or isinstance(wanted, str):
            self.name = find_model_name(wanted, settings)
        else:
            self._given, self.name = wanted, wanted.model_name
        if self._given is None:
            self._script = self._load_script(self.name)
        self._recorder = None if record is None else Recorder(record)
        self._loading: Future[Model] | None = None
        if self.name is not None and self._given is None and self._script is None:
            self._loading = _start_loading(self.name, self._env)

    @property
    def reusable_name(self) -> str | None:
        """The name by which another process can load the model; None if it was given as a value."""
        return self.name if self._given is None else None

    def open(self, agent: str = "") -> Model:
        """The model of the session, for its main agent or a sub-agent. Raises `NoModel`."""
        if self._given is not None:
            return self._given
        if self._script is not None:
            return replay(self._script, agent)
        if self.name is None:
            raise NoModel
        return self._load(self.name)

    async def wait(self) -> None:
        """Wait until the model of the session is loaded, while the event loop goes on.

        What went wrong with it is raised by `open`.
        """
        if self._loading is not None:
            await asyncio.gather(asyncio.wrap_future(self._loading), return_exceptions=True)

    def share(self, model: Model, agent: str) -> Model:
        """A model for another agent, too. A script has answers of its own for each."""
        return model if self._script is None else replay(self._script, agent)

    def use(self, wanted: str) -> None:
        """Make another model that of the session. Raises `ModelUnavailable` or `UsageError`."""
        name = find_model_name(wanted, self._settings)
        script = self._load_script(name)
        if script is None and name is not None:
            self._load(name)
        self._given, self._script, self.name = None, script, name

    def find(self, name: str, *, agent: str = "") -> Model | None:
        """The model that a skill asks for; None if that is the one of the session.

        Raises `ModelUnavailable`.
        """
        if self._script is not None:
            return None
        full = find_model_name(name, self._settings, inherited=self.name)
        return None if full in (None, self.name) else self._load(str(full))

    def check_project_choice(self, name: str | None) -> None:
        """Raise `ModelUnavailable` for a model that a skill or agent of a project may not choose.

        A model is where everything is sent that the agent reads, so only the user names new ones.
        """
        known = (None, "", INHERIT, self.name, *self._settings.models)
        # A short name that nobody explains is an error of its own.
        if self._script is not None or name in known or ":" not in str(name):
            return
        problem = "a project may only choose from `[agent.models]` in your own settings"
        remedy = f'Add `NAME = "{name}"` to `[agent.models]`, and ask for NAME.'
        raise ModelUnavailable(str(name), problem, remedy=remedy)

    def record(self, response: ModelResponse, agent: str) -> None:
        """Write down an answer, where that is wanted."""
        if self._recorder is not None:
            self._recorder.record(response, agent)

    async def close_connections(self) -> None:
        """Close the connections of the models that were loaded here."""
        for model in self._loaded.values():
            # A model closes its connections when the last one who entered it leaves.
            async with model:
                pass

    def close(self) -> None:
        """Close the file that answers are recorded in."""
        if self._recorder is not None:
            self._recorder.close()

    def _load_script(self, name: str | None) -> Script | None:
        """The script that a name stands for; None for a model."""
        if name is None or not name.startswith(SCRIPT):
            return None
        file = name.removeprefix(SCRIPT)
        if not file:
            raise UsageError("`script:` needs a file: `script:FILE`.")
        return load_script(file, self._files)

    def _load(self, name: str) -> Model:
        if name == self.name and self._loading is not None:
            self._loaded[name] = self._loading.result()
        if name not in self._loaded:
            self._loaded[name] = load_model(name, env=self._env)
        return self._loaded[name]


def _start_loading(name: str, env: Mapping[str, str]) -> Future[Model]:
    """Load a model while the session does other things: certificates and clients take long."""
    loading: Future[Model] = Future()

    def load() -> None:
        try:
            loading.set_result(load_model(name, env=env))
        except BaseException as error:
            # Raised where the model is needed.
            loading.set_exception(error)

    start_in_thread(load)
    return loading


def _choose_api(name: str, env: Mapping[str, str]) -> str:
    """`openai:` means the Responses API, which servers that only imitate OpenAI rarely have."""
    provider, _, model = name.partition(":")
    is_imitation = provider == "openai" and bool(env.get("OPENAI_BASE_URL"))
    return f"openai-chat:{model}" if is_imitation else name


def _miss_provider(name: str, error: ImportError) -> ModelUnavailable:
    provider = name.partition(":")[0]
    extra = _EXTRA.search(str(error))
    remedy = f'Run `pip install "pydantic-ai-slim[{extra[1] if extra else provider}]"`.'
    problem = f"the package for the provider “{provider}” is not installed"
    return ModelUnavailable(name, problem, remedy=remedy)


def _explain(name: str, error: Exception) -> ModelUnavailable:
    variable = _SET_VARIABLE.search(str(error))
    if variable is not None:
        problem = f"the environment variable {variable[1]} is not set"
        return ModelUnavailable(name, problem, remedy=f"Set {variable[1]} and try again.")
    remedy = "Name it as `provider:name`, such as `anthropic:claude-sonnet-4-5`."
    first = str(error).partition(". ")[0].rstrip(".")
    if first.startswith("Unknown model:"):
        # The provider is what it does not know; names of models are not checked here.
        return ModelUnavailable(
            name, f"there is no provider “{name.partition(':')[0]}”", remedy=remedy
        )
    return ModelUnavailable(name, first[:1].lower() + first[1:], remedy=remedy)
