"""Settings with their places: as the host's files spell them, and where lists add up."""

from __future__ import annotations

from prowess.model.settings import Origin
from prowess.reports.settings_report import SettingRow, SettingsReport, load_settings_report
from tests.unit.reports.folders import HOME, PROJECT, open_project

OWN = f"{PROJECT}/prowess.toml"
USER = f"{HOME}/.config/prowess/prowess.toml"


def load(files: dict[str, str], *, host: str = "prowess") -> SettingsReport:
    return load_settings_report(open_project(files, host=host))


def get_row(report: SettingsReport, written: str) -> SettingRow:
    return next(row for row in report.rows if row.written == written)


def test_a_value_has_the_file_and_line_that_set_it():
    report = load({"prowess.toml": "\nusage = false\n"})
    assert get_row(report, "usage") == SettingRow(
        key="usage", written="usage", value=False, origin=Origin(OWN, 2)
    )
    assert get_row(report, "enabled").origin == Origin()
    assert report.files == {USER: False, OWN: True, f"{PROJECT}/.prowess/prowess.toml": False}


def test_a_list_that_two_files_add_to_has_both_places():
    report = load(
        {
            "~/.config/prowess/prowess.toml": 'disabled = ["a"]\n',
            "prowess.toml": '\ndisabled = ["b"]\n',
        }
    )
    row = get_row(report, "disabled")
    assert row.entries == {"skill:a": Origin(USER, 1), "skill:b": Origin(OWN, 2)}
    assert row.list_origins() == [Origin(USER, 1), Origin(OWN, 2)]
    one_file = get_row(load({"prowess.toml": 'disabled = ["b", "c"]\n'}), "disabled")
    assert one_file.list_origins() == [Origin(OWN, 1)]


def test_a_setting_is_spelled_as_the_file_that_sets_it_spells_it():
    text = '{"skillOverrides": {\n"pdf": "off"}}'
    report = load({".claude/settings.json": text}, host="claude-code")
    row = get_row(report, "skillOverrides.pdf")
    assert (row.key, row.value) == ("overrides.pdf.visibility", "off")
    assert row.origin == Origin(f"{PROJECT}/.claude/settings.json", 2)


def test_configuration_that_skills_can_require_has_the_line_of_the_last_file():
    report = load(
        {
            "~/.config/prowess/prowess.toml": "[config.browser]\nenabled = true\n",
            "prowess.toml": "\n[config.browser]\nenabled = false\n",
        }
    )
    row = get_row(report, "config.browser.enabled")
    assert (row.value, row.origin) == (False, Origin(OWN, 3))
    assert get_row(load({}), "config").value == {}


def test_a_host_without_settings_files_has_no_rows():
    report = load({}, host="spec")
    assert (report.files, report.rows) == ({}, ())


def test_json_has_every_entry_with_its_place():
    shape = load({"prowess.toml": 'disabled = ["b"]\n'}).shape()
    assert {"path": OWN, "found": True} in shape["files"]
    assert [row for row in shape["settings"] if row["written"] == "disabled"] == [
        {
            "key": "disabled_extensions",
            "written": "disabled",
            "value": ("skill:b",),
            "file": OWN,
            "line": 1,
            "entries": [{"value": "skill:b", "file": OWN, "line": 1}],
        }
    ]
