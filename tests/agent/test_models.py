"""Which model a session uses: options, settings, short names; and what is missing is said."""

from __future__ import annotations

import builtins

import pytest

from prowess.agent.models import ModelSource, find_model_name, load_model
from prowess.errors import MissingExtra
from prowess.errors.agent import ModelUnavailable, NoModel, UnknownModel
from prowess.machine.files import LocalFiles
from prowess.model.facts import Facts
from prowess.model.settings import AgentSettings

SETTINGS = AgentSettings(
    model="sonnet", models={"sonnet": "anthropic:claude-sonnet-4-5", "haiku": "anthropic:claude-h"}
)


@pytest.mark.parametrize(
    ("wanted", "inherited", "found"),
    [
        (None, None, "anthropic:claude-sonnet-4-5"),
        ("haiku", None, "anthropic:claude-h"),
        ("openai:gpt-5", None, "openai:gpt-5"),
        ("inherit", "openai:gpt-5", "openai:gpt-5"),
        ("inherit", None, "anthropic:claude-sonnet-4-5"),
        ("haiku", "openai:gpt-5", "anthropic:claude-h"),
    ],
)
def test_a_name_is_the_option_or_the_setting_and_short_names_are_replaced(wanted, inherited, found):
    assert find_model_name(wanted, SETTINGS, inherited=inherited) == found


def test_without_a_setting_there_is_no_model():
    assert find_model_name(None, AgentSettings()) is None
    source = ModelSource(None, AgentSettings(), Facts(home="/", platform="linux"), LocalFiles())
    with pytest.raises(NoModel) as error:
        source.open()
    assert str(error.value) == "No model is configured."
    assert "--model provider:name" in (error.value.hint or "")


def test_a_short_name_that_is_not_set_is_an_error_with_the_nearest():
    with pytest.raises(UnknownModel) as error:
        find_model_name("haikou", SETTINGS)
    assert (
        str(error.value)
        == "The model “haikou” cannot be used: it is not a short name from your settings."
    )
    assert error.value.hint == "Did you mean “haiku”?"


def test_a_provider_whose_package_is_missing_is_named_with_how_to_install_it():
    pytest.importorskip("pydantic_ai")
    with pytest.raises(ModelUnavailable) as error:
        load_model("mistral:large", env={})
    assert str(error.value) == (
        "The model “mistral:large” cannot be used: the package for the provider “mistral” is not"
        " installed."
    )
    assert error.value.hint == 'Run `pip install "pydantic-ai-slim[mistral]"`.'


def test_a_key_that_is_missing_is_named(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelUnavailable) as error:
        load_model("anthropic:claude-sonnet-4-5", env={})
    assert "the environment variable ANTHROPIC_API_KEY is not set" in str(error.value)


def test_a_provider_that_does_not_exist_is_said_to_be_unknown():
    with pytest.raises(ModelUnavailable) as error:
        load_model("nobody:x", env={})
    assert "there is no provider “nobody”" in str(error.value)


def test_openai_with_an_address_of_its_own_uses_the_chat_api(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    model = load_model("openai:llama", env={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    assert type(model).__name__ == "OpenAIChatModel"
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert type(load_model("openai:gpt-5", env={})).__name__ == "OpenAIResponsesModel"


def test_without_pydantic_ai_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def refuse(name, *arguments, **options):
        if name.startswith("pydantic_ai"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra) as error:
        load_model("openai:x", env={})
    assert error.value.hint == 'Run `pip install "prowess[agent]"`.'


def test_short_names_that_point_at_each_other_are_said():
    settings = AgentSettings(models={"a": "b", "b": "a"})
    with pytest.raises(ModelUnavailable) as error:
        find_model_name("a", settings)
    assert "“a” cannot be used: it stands for “b”" in str(error.value)
    assert "Short names cannot point at each other" in str(error.value.hint)


@pytest.mark.parametrize(
    ("name", "key"), [("a b", '"a b"'), ("opus-4", "opus-4"), ("x.y", '"x.y"')]
)
def test_the_line_to_add_for_a_short_name_is_valid_toml(name, key):
    with pytest.raises(UnknownModel) as error:
        find_model_name(name, AgentSettings())
    assert f'add `{key} = "provider:name"`' in str(error.value.hint)
