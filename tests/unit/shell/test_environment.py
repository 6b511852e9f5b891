"""The variables of one skill: from its settings to its own programs and nowhere else, without
showing a secret.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.pretty import pretty_repr

from prowess.activate.body.substitution import Given
from prowess.activate.slash.dispatch import ToolReply, ToolRun
from prowess.diagnostics import Diagnostic
from prowess.errors import MachineError
from prowess.errors.activation import CommandFailed
from prowess.machine.facts import current_facts
from prowess.machine.processes import ProcessRunner
from prowess.model.command import Command
from prowess.model.origin import Origin
from prowess.model.settings import Override, Settings
from prowess.model.skill import Manifest, Requires
from prowess.profiles.load import load_profile
from prowess.shell.command_runner import Surroundings, draft_body, run_draft
from prowess.shell.env_denylist import REFUSED, find_refusal, looks_secret, may_be_secret
from prowess.shell.environment import SkillEnvironment, build_environment
from prowess.text.masker import Masker
from tests.workspace import Workspace, skill_text

WEATHER = Manifest(
    primary_env="OPENWEATHER_KEY", skill_key="weather", requires=Requires(env=("WEATHER_TOKEN",))
)


def build(
    manifest: Manifest = WEATHER,
    override: Override | None = None,
    *,
    name: str = "weather",
    **options: Any,
) -> SkillEnvironment:
    settings = Settings(overrides={} if override is None else {"weather": override})
    return build_environment(
        name,
        manifest,
        options.pop("settings", settings),
        outside=options.pop("outside", {}),
        **options,
    )


def run(workspace: Workspace, skill_name: str, command: str, host: str) -> str:
    """The output of a command in a skill's body, run for real with the skill's own variables."""
    skills = workspace.open(host)
    skill = skills.get(skill_name)
    environment = build_environment(skill.name, skill.manifest, skills.settings(), outside={})
    facts = current_facts()
    profile = load_profile("prowess")
    around = Surroundings(facts=facts, cwd=str(workspace.project), env=environment.variables)
    draft = draft_body(
        f"!`{command}`",
        Given(),
        around,
        arguments=profile.arguments,
        embedded=profile.embedded,
        file=skill.location,
    )
    return run_draft(draft, ProcessRunner(facts))


@pytest.mark.seed("W-47", "W-48", "W-49", "W-50", "W-08")
def test_values_of_the_documented_configuration_reach_that_skill_s_programs_alone(
    workspace: Workspace,
) -> None:
    config = """{skills: {
        weather: {env: {OPENWEATHER_KEY: "from-config"}},
        "by-key": {env: {CITY: "Bonn"}},
    }}"""
    workspace.write("home/.openclaw/openclaw.json", config)
    workspace.write(
        "project/skills/weather/SKILL.md", skill_text("weather", primaryEnv="OPENWEATHER_KEY")
    )
    workspace.write("project/skills/keyed/SKILL.md", skill_text("keyed", skillKey="by-key"))
    workspace.write("project/skills/other/SKILL.md", skill_text("other"))
    before = dict(os.environ)
    show = 'echo "<$OPENWEATHER_KEY> <$CITY>"'
    host = "openclaw@documented"
    assert run(workspace, "weather", show, host) == "<from-config> <>"
    assert run(workspace, "keyed", show, host) == "<> <Bonn>"
    assert run(workspace, "other", show, host) == "<> <>"
    assert dict(os.environ) == before


def test_values_of_the_release_s_configuration_are_found_under_entries(
    workspace: Workspace,
) -> None:
    config = '{skills: {entries: {weather: {apiKey: "the-key", env: {CITY: "Bonn"}}}}}'
    workspace.write("home/.openclaw/openclaw.json", config)
    metadata = '{"openclaw": {"primaryEnv": "OPENWEATHER_KEY"}}'
    workspace.write("project/skills/weather/SKILL.md", skill_text("weather", metadata=metadata))
    assert (
        run(workspace, "weather", 'echo "<$OPENWEATHER_KEY> <$CITY>"', "openclaw")
        == "<the-key> <Bonn>"
    )


def test_the_api_key_is_the_primary_variable_and_comes_before_env() -> None:
    both = Override(api_key="key", env={"OPENWEATHER_KEY": "env", "CITY": "Bonn"})
    assert build(override=both).variables == {"OPENWEATHER_KEY": "key", "CITY": "Bonn"}
    assert build(Manifest(), Override(api_key="key")).variables == {}


def test_what_is_set_outside_comes_before_a_setting_and_only_what_is_declared_or_set_is_taken() -> (
    None
):
    outside = {
        "OPENWEATHER_KEY": "outer",
        "WEATHER_TOKEN": "t",
        "CITY": "Kiel",
        "OTHER": "x",
        "EMPTY": " ",
    }
    override = Override(api_key="key", env={"CITY": "Bonn", "EMPTY": "set", "LAND": "DE"})
    assert build(override=override, outside=outside).variables == {
        "OPENWEATHER_KEY": "outer",
        "WEATHER_TOKEN": "t",
        "CITY": "Kiel",
        "EMPTY": "set",
        "LAND": "DE",
    }


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("LD_PRELOAD", "it decides which code programs load"),
        ("DYLD_INSERT_LIBRARIES", "it decides which code programs load"),
        ("BASH_FUNC_ls%%", "it is not a valid variable name"),
        ("BASH_ENV", "it changes what a shell or an interpreter runs"),
        ("PYTHONPATH", "it changes what a shell or an interpreter runs"),
        ("NODE_OPTIONS", "it changes what a shell or an interpreter runs"),
        ("Path", "it changes what a shell or an interpreter runs"),
        ("PIP_INDEX_URL", "it changes what build and installation tools run"),
        ("GIT_SSH_COMMAND", "it changes which programs other programs start"),
        ("https_proxy", "it changes where programs connect or which certificates they trust"),
        ("GITHUB_TOKEN", "it contains credentials that are not just for this skill"),
        ("AWS_SECRET_ACCESS_KEY", "it contains credentials that are not just for this skill"),
        ("PROWESS_ARGUMENTS", "it belongs to Prowess or to a host"),
        ("A=B", "it is not a valid variable name"),
        ("", "it is not a valid variable name"),
    ],
)
def test_names_that_would_change_more_than_the_skill_are_refused_even_if_declared(
    name: str, reason: str
) -> None:
    manifest = Manifest(primary_env=name, requires=Requires(env=(name,)))
    found = build(manifest, Override(env={name: "value-of-it"}))
    assert found.variables == {}
    message = f"`{name}` is set for the skill “weather” but is not passed on because {reason}."
    assert [(one.code, one.message, one.field) for one in found.diagnostics] == [
        ("environment-refused", message, f"overrides.weather.env.{name}")
    ]
    assert "value-of-it" not in str(found.diagnostics)


def test_the_tables_of_refused_names_refuse_every_name_they_hold() -> None:
    names = [name.replace("*", "_X") for listed in REFUSED.values() for name in listed]
    assert [name for name in names if find_refusal(name) is None] == []
    assert len(names) > 150
    assert [
        find_refusal(name) for name in ("CITY", "OPENWEATHER_KEY", "DEBUG", "PORT", "MY_PATH")
    ] == [None] * 5


def test_names_that_look_like_secrets_pass_only_if_the_skill_declares_them() -> None:
    override = Override(
        env={"WEATHER_TOKEN": "declared-1", "OTHER_API_KEY": "hidden-1", "CITY": "Bonn"}
    )
    found = build(override=override)
    assert found.variables == {"WEATHER_TOKEN": "declared-1", "CITY": "Bonn"}
    assert [one.message for one in found.diagnostics] == [
        "`OTHER_API_KEY` is set for the skill “weather” but is not passed on because it looks like a secret and the "
        "skill does not declare it (`primaryEnv` or `requires.env`)."
    ]
    assert found.masker.mask("declared-1 hidden-1 Bonn") == "[secret] [secret] Bonn"
    words = ("A_API_KEY", "A_TOKEN", "DB_PASSWORD", "MY_PRIVATE_KEY", "SECRET_X", "CITY", "MONKEY")
    assert [looks_secret(word) for word in words] == [True] * 5 + [False] * 2


def test_values_that_no_program_can_be_given_are_refused() -> None:
    found = build(override=Override(env={"A": "x\0y", "B": "x" * 40_000}))
    assert found.variables == {}
    assert [one.message for one in found.diagnostics] == [
        "`A` is set for the skill “weather” but is not passed on because it contains a NUL character.",
        "`B` is set for the skill “weather” but is not passed on because it has 40,000 characters; at most 32,768 are "
        "passed on.",
    ]


def test_a_declared_credential_of_the_user_stays_outside_and_that_is_said() -> None:
    manifest = Manifest(requires=Requires(env=("GITHUB_TOKEN", "PATH", "HOME")))
    found = build(
        manifest, outside={"GITHUB_TOKEN": "ghp_1234", "PATH": "/bin", "HOME": "/home/me"}
    )
    assert found.variables == {}
    assert [one.message for one in found.diagnostics] == [
        "The skill “weather” declares `GITHUB_TOKEN`, which is not passed on because it contains credentials "
        "that are not just for this skill."
    ]


class Keyring:
    """A `SecretStore` that knows one secret, or fails."""

    def __init__(self, secret: str | None, *, fails: bool = False) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self._secret = secret
        self._fails = fails

    def find_secret(self, reference: Mapping[str, Any]) -> str | None:
        self.asked.append(reference)
        if self._fails:
            raise MachineError("open", "the keyring", "it is locked")
        return self._secret


def test_a_key_that_is_kept_in_a_keyring_is_asked_for_when_it_is_needed(
    workspace: Workspace,
) -> None:
    workspace.write(
        "home/.config/prowess/prowess.toml",
        '[skills.weather]\napi_key = { keyring = "weather", account = "me" }\n',
    )
    settings = workspace.open().settings()
    keyring = Keyring("from-the-keyring")
    found = build(settings=settings, secrets=keyring)
    assert found.variables == {"OPENWEATHER_KEY": "from-the-keyring"}
    assert found.masker.mask("from-the-keyring!") == "[secret]!"
    assert keyring.asked == [{"keyring": "weather", "account": "me"}]


@pytest.mark.parametrize(
    ("secrets", "reason"),
    [
        (None, "no secret store is available"),
        (Keyring(None), "no key is stored there"),
        (Keyring(None, fails=True), "it is locked"),
    ],
)
def test_a_key_that_cannot_be_had_is_a_diagnostic(secrets: Keyring | None, reason: str) -> None:
    found = build(override=Override(api_key_from={"source": "env", "id": "X"}), secrets=secrets)
    assert found.variables == {}
    assert [(one.code, one.message) for one in found.diagnostics] == [
        ("environment-unresolved", f"Could not get the key of the skill “weather”: {reason}.")
    ]


def test_a_project_that_is_not_trusted_sets_nothing_for_a_skill() -> None:
    override = Override(env={"WEATHER_HOST": "evil.example", "CITY": "Bonn"}, api_key="stolen")
    settings = Settings(
        overrides={"weather": override},
        origins={
            "overrides.weather.env.WEATHER_HOST": Origin("/p/prowess.toml", 3),
            "overrides.weather.api_key": Origin("/p/prowess.toml", 2),
            "overrides.weather.env.CITY": Origin("/home/me/prowess.toml", 1),
        },
        project_files=("/p/prowess.toml",),
    )
    found = build(settings=settings)
    assert found.variables == {"CITY": "Bonn"}
    assert [(one.message, one.file, one.line) for one in found.diagnostics] == [
        (
            "`env.WEATHER_HOST` of the skill “weather” is set by a project that is not trusted, and is not passed on.",
            "/p/prowess.toml",
            3,
        ),
        (
            "`api_key` of the skill “weather” is set by a project that is not trusted, and is not passed on.",
            "/p/prowess.toml",
            2,
        ),
    ]
    assert build(settings=settings, trusts_project=True).variables == {
        "WEATHER_HOST": "evil.example",
        "CITY": "Bonn",
        "OPENWEATHER_KEY": "stolen",
    }


def test_no_secret_is_ever_shown(tmp_path: Path) -> None:
    secret = "hunter2-hunter2"
    found = build(override=Override(api_key=secret, env={"LD_TOKEN": secret}))
    facts = current_facts()
    profile = load_profile("prowess")
    around = Surroundings(facts=facts, cwd=str(tmp_path), env=found.variables)
    draft = draft_body(
        '!`echo "key: $OPENWEATHER_KEY"; exit 1`',
        Given(),
        around,
        arguments=profile.arguments,
        embedded=profile.embedded,
    )
    with pytest.raises(CommandFailed) as caught:
        run_draft(draft, ProcessRunner(facts), masker=found.masker)
    assert caught.value.tail == "key: [secret]"
    shown = [
        repr(found),
        repr(found.masker),
        repr(draft),
        repr(caught.value),
        str(caught.value),
        *map(str, found.diagnostics),
    ]
    assert [text for text in shown if secret in text] == []


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a top secret b", "a [secret] b"),
        ("top secret", "[secret]"),
        ("top%20secret&x", "[secret]&x"),
        ("top secre", "top secre"),
        ("id=ab, cab", "id=[secret], cab"),
        ('{"key": "line one\\nline two"}', '{"key": "[secret]"}'),
        ("x line two y", "x [secret] y"),
        ("nothing", "nothing"),
    ],
)
def test_a_masker_finds_secrets_in_every_usual_spelling(text: str, masked: str) -> None:
    assert Masker(["top secret", "ab", "line one\nline two\n", "", "  "]).mask(text) == masked


def test_a_masker_hides_the_part_of_a_secret_at_which_text_was_cut() -> None:
    masker = Masker(["abcdefgh"]) | Masker(["12345678"])
    assert masker.mask_head("x abcdefgh y abcde") == "x [secret] y [secret]"
    assert masker.mask_tail("efgh y 12345678 x") == "[secret] y [secret] x"
    assert (masker.mask_head("x abc"), masker.mask_tail("fgh x")) == ("x abc", "fgh x")
    assert (Masker().mask_head("x"), Masker().mask_tail("x"), Masker().mask("x")) == ("x", "x", "x")


def test_diagnostics_name_the_file_and_line_of_a_refused_setting(workspace: Workspace) -> None:
    path = str(
        workspace.write(
            "home/.config/prowess/prowess.toml", '[skills.weather.env]\nLD_PRELOAD = "/x.so"\n'
        )
    )
    (found,) = build(settings=workspace.open().settings()).diagnostics
    assert isinstance(found, Diagnostic)
    assert (found.file, found.line) == (path, 2)


def test_what_is_set_for_a_skill_is_not_shown_with_the_settings(workspace: Workspace) -> None:
    config = """{skills: {entries: {weather: {
        apiKey: "sk-LEAKED-1", env: {CITY_KEY: "sk-LEAKED-2"}, config: {deep: {token: "sk-LEAKED-3"}},
    }}}, other: {token: "sk-LEAKED-4"}}"""
    workspace.write("home/.openclaw/openclaw.json", config)
    workspace.write("project/skills/weather/SKILL.md", skill_text("weather"))
    skills = workspace.open("openclaw")
    override = skills.settings().overrides["weather"]
    assert override.api_key == "sk-LEAKED-1"
    assert repr(override) == (
        "Override(enabled=None, visibility=None, env={'CITY_KEY': '[secret]'}, api_key='[secret]', api_key_from={}, "
        "config={'deep': '[secret]'})"
    )
    settings = skills.settings()
    shown = [
        repr(one)
        for one in (override, settings, skills.snapshot, skills, skills.default_conversation)
    ]
    shown += [str(list(one.__rich_repr__())) for one in (override, settings)]
    assert [text for text in shown if "LEAKED" in text] == []
    assert "raw={'skills': '[secret]', 'other': '[secret]'}" in repr(settings)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SLACK_WEBHOOK_URL", True),
        ("DATABASE_URL", True),
        ("SQLALCHEMY_DATABASE_URI", True),
        ("SENTRY_DSN", True),
        ("AZ_CONNECTION_STRING", True),
        ("db_url", True),
        ("BASE_URL", False),
        ("DATABASE_NAME", False),
        ("CITY", False),
    ],
)
def test_addresses_that_open_a_door_by_themselves_count_as_secrets(
    name: str, expected: bool
) -> None:
    assert may_be_secret(name) is expected
    masked = build(Manifest(), Override(env={name: "https://x.example/abc"})).masker.mask(
        "at https://x.example/abc"
    )
    assert masked == ("at [secret]" if expected else "at https://x.example/abc")


@pytest.mark.parametrize(
    ("value", "text", "masked"),
    [
        (
            "postgres://bob:p4ss-w0rd@db/x",
            "password p4ss-w0rd for bob",
            "password [secret] for bob",
        ),
        ("redis://:p4ss-w0rd@db", "p4ss-w0rd", "[secret]"),
        (
            "see https://a:b%40cd-efg@h/p?q=@ for it",
            "b@cd-efg or b%40cd-efg",
            "[secret] or [secret]",
        ),
        ("https://0123456789abcdef@sentry.io/1", "key 0123456789abcdef", "key [secret]"),
        ("ssh://git@host/x", "git at host", "git at host"),
        ("mailto:bob@example.org", "bob example.org", "bob example.org"),
    ],
)
def test_a_password_inside_an_address_is_masked_whatever_the_variable_is_called(
    value: str, text: str, masked: str
) -> None:
    assert build(Manifest(), Override(env={"SERVER": value})).masker.mask(text) == masked
    declared = Manifest(requires=Requires(env=("SERVER",)))
    assert build(declared, outside={"SERVER": value}).masker.mask(text) == masked


@given(
    secret=st.text(
        st.characters(min_codepoint=32, exclude_categories=["Cs"]), min_size=8, max_size=200
    ).filter(lambda text: len(text.strip()) >= 8),
    before=st.binary(max_size=5),
    after=st.binary(max_size=5),
)
def test_encoded_secrets_are_masked_whatever_stands_around_them(
    secret: str, before: bytes, after: bytes
) -> None:
    from base64 import b64encode, encodebytes, urlsafe_b64encode
    from urllib.parse import quote, quote_plus

    secret = secret.strip()
    masker = Masker([secret])
    plain = secret.encode()
    whole = [
        b64encode(plain),
        urlsafe_b64encode(plain),
        b64encode(plain).rstrip(b"="),
        quote(secret).encode(),
    ]
    whole += [quote_plus(secret).encode(), quote(secret, safe="").encode()]
    assert {masker.mask(f"<{text.decode()}>") for text in whole} == {"<[secret]>"}
    around = b64encode(before + plain + after).decode()
    assert "[secret]" in masker.mask(around)
    wrapped = encodebytes(plain).decode()
    assert max(map(len, masker.mask(wrapped).replace("[secret]", "").split("\n"))) < 12


def test_a_masker_goes_through_what_tools_give_back_and_leaves_the_rest_as_it_is() -> None:
    masker = Masker(["s3cret-value"])
    clean = {"a": [1, None, ("x",)], "b": object()}
    assert masker.mask_value(clean) is clean
    found = {
        "s3cret-value": ["is s3cret-value", ("s3cret-value", 2)],
        "data": b"x s3cret-value",
        "n": 1,
    }
    assert masker.mask_value(found) == {
        "[secret]": ["is [secret]", ("[secret]", 2)],
        "data": b"x [secret]",
        "n": 1,
    }
    endless: list[Any] = ["s3cret-value"]
    endless.append(endless)
    assert "s3cret-value" not in repr(masker.mask_value(endless))
    assert (masker.finds("a s3cret-value"), masker.finds("a"), Masker().finds("a")) == (
        True,
        False,
        False,
    )


def test_what_prints_values_prettily_shows_no_variable_either() -> None:
    env = {"WX_KEY": "s3cret-value"}
    values = [
        Command(text="run", argv=("x",), env=env),
        ToolRun(id="1", env=env),
        build(Manifest(primary_env="WX_KEY"), Override(env=env, api_key="s3cret-value")),
        ToolReply(text="t", tool="x", run_id="1", result=env),
    ]
    shown = [pretty_repr(value) for value in values]
    assert [text for text in shown if "s3cret-value" in text] == []
    assert ["WX_KEY" in text for text in shown] == [True, True, True, False]


def test_maskers_together_know_the_secrets_and_not_the_spellings_of_spellings() -> None:
    assert repr(Masker(["abcdefgh"]) | Masker(["12345678"])) == "Masker(2 hidden)"
