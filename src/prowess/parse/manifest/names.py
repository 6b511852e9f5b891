"""What a host makes of a header: the name of the skill, and whether it loads.

`understand` is what a scan calls for every header. The name is taken by a function that the profile
names (`_NAMES`), the description in `descriptions`; what they refuse, and what the host's own rules
or the standard's say about the result, becomes a finding. An error among the findings means that
the skill does not load.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import NoneType
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose, limit_diagnostics
from prowess.model.skill import Manifest
from prowess.parse.header.result import HeaderReading
from prowess.parse.manifest.descriptions import (
    MISSING,
    MOST_DESCRIPTION,
    check_lengths,
    choose_description,
    is_absent,
    is_falsy,
    join_list,
    name_authority,
)
from prowess.parse.manifest.fields import read_manifest
from prowess.parse.manifest.findings import Findings
from prowess.parse.yaml.text_values import describe, render_scalar
from prowess.profiles.schema.header import (
    FieldRules,
    FieldType,
    NameFrom,
    NameRewrite,
)

MOST_NAME, MOST_COMPATIBILITY = 64, 500


class Understood(msgspec.Struct, frozen=True):
    """A header as a host understands it, and whether the skill loads."""

    name: str
    label: str | None
    description: str | None
    manifest: Manifest
    diagnostics: tuple[Diagnostic, ...] = ()
    valid: bool = True
    hidden_because: str | None = None


def understand(
    reading: HeaderReading,
    *,
    default_name: str,
    required: tuple[str, ...],
    fields: FieldRules,
    empty_description: str | None = None,
) -> Understood:
    """Decide on name and description, read the manifest, and check what the host requires.

    `empty_description` replaces that of the rules.
    """
    frontmatter = reading.frontmatter
    # Claude Code only: a list as the name is text there.
    if fields.joined_lists:
        frontmatter = _join_lists(frontmatter, fields.joined_lists)
    manifest, field_findings = read_manifest(frontmatter, fields=fields)
    findings: Findings = []
    name, label = _choose_name(frontmatter, default_name, fields, findings)
    needed = "description" in required or "description" in fields.required
    value = frontmatter.get("description", MISSING)
    description, hidden = choose_description(
        value, reading, fields, findings, empty=empty_description, needed=needed
    )
    if name in fields.reserved_names:
        message = f"`name` is “{name}”, which is reserved by this host."
        findings.append(diagnose("name-reserved", message, field="name"))
    if fields.refused_characters:
        _check_characters(name, fields, findings)
    if "name" in required and "name" not in frontmatter:
        _require_name(fields, findings)
    _check_host_rules(frontmatter, name, default_name, description, fields, findings)
    if fields.strict:
        _check_standard(reading, name, default_name, description, manifest, fields, findings)
    else:
        _check_leniently(reading, name, default_name, manifest, fields, findings)
    # Nearly every header is correct, and a scan need not merge anything for those.
    if not findings and not field_findings:
        return Understood(name, label, description, manifest, (), reading.valid, hidden)
    diagnostics = _merge(findings, field_findings)
    # What is wrong with another field never keeps a skill from loading.
    is_refused = any(finding.severity is Severity.ERROR for finding in findings)
    valid = reading.valid and not is_refused
    return Understood(name, label, description, manifest, diagnostics, valid, hidden)


def find_refused_characters(name: str, fields: FieldRules) -> list[str]:
    """The characters of a name that the host does not accept, sorted."""
    # No host refuses letters or digits.
    is_harmless = name.isascii() and name.isalnum()
    if is_harmless or not fields.refused_characters:
        return []
    return sorted(set(re.findall(fields.refused_characters, name)))


def _check_characters(name: str, fields: FieldRules, findings: Findings) -> None:
    refused = find_refused_characters(name, fields)
    if not refused:
        return
    listed = ", ".join(f"U+{ord(character):04X}" for character in refused)
    message = f"The name contains {listed}; this host drops skills with such names."
    findings.append(diagnose("name-invalid", message, field="name"))


def _join_lists(frontmatter: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """The fields, with lists under these keys as JavaScript makes text of them: `a,b`."""
    lists = [key for key in keys if type(frontmatter.get(key)) is list]
    if not lists:
        return frontmatter
    joined = {key: join_list(frontmatter[key]) for key in lists}
    return {**frontmatter, **joined}


def _merge(findings: Findings, field_findings: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """The findings of this module and those about single fields, each problem once.

    What is found here about name and description says more than that their type is wrong. That a
    field is unknown says less than which one was meant, unless it is an error.
    """
    explained = {finding.field for finding in findings if finding.code != "field-unknown"}
    refused = {finding.field for finding in findings if finding.severity is Severity.ERROR}
    kept = []
    misspelt = set()
    for finding in field_findings:
        is_suggestion = finding.code == "field-unknown"
        said_before = refused | explained if is_suggestion else explained
        if finding.field in said_before:
            continue
        kept.append(finding)
        if is_suggestion:
            misspelt.add(finding.field)
    others = (finding for finding in findings if finding.field not in misspelt)
    return limit_diagnostics((*others, *kept))


def _report_missing_name(fields: FieldRules) -> Diagnostic:
    message = f"The header has no `name`; {name_authority(fields)} requires one."
    return diagnose("name-missing", message, field="name")


def _require_name(fields: FieldRules, findings: Findings) -> None:
    """Report that a root requires a name, unless the host, which always does, has reported it."""
    is_reported = any(finding.code == "name-missing" for finding in findings)
    if not is_reported:
        findings.append(_report_missing_name(fields))


def _read_name(value: Any, fields: FieldRules) -> str | None:
    if type(value) is str:
        return value
    # This includes `true`, which hosts that take numbers take, too.
    is_number = isinstance(value, (int, float))
    if is_number and fields.name_accepts_numbers:
        return render_scalar(value)
    return None


def _name_from_frontmatter(
    value: Any, default: str, fields: FieldRules, findings: Findings
) -> tuple[str, str | None]:
    name = _read_name(value, fields)
    if name is not None:
        return name, None
    if value is MISSING:
        findings.append(_report_missing_name(fields))
        return default, None
    message = f"`name` is {describe(value)}; it must be a string."
    findings.append(diagnose("name-missing", message, field="name", hint=_advise_name(value)))
    return default, None


def _advise_name(value: Any) -> str:
    if value is None:
        return "Write a name after `name:`."
    if isinstance(value, (bool, int, float)):
        return f'Put it in quotes, `name: "{render_scalar(value)}"`, or choose another name.'
    return "Write the name as one string."


def _name_from_either(
    value: Any, default: str, fields: FieldRules, findings: Findings
) -> tuple[str, str | None]:
    name = _read_name(value, fields)
    if name is not None:
        return name.strip() or default, None
    if not is_absent(value):
        message = f"`name` is {describe(value)}, not a string; the folder's name is used instead."
        hint = "Write the name as one string."
        findings.append(diagnose("field-type", message, field="name", hint=hint))
    return default, None


def _name_from_folder(
    value: Any, default: str, fields: FieldRules, findings: Findings
) -> tuple[str, str | None]:
    # In Claude Code the folder names the command, and the header's name is a label beside it.
    label = ""
    if isinstance(value, (str, int, float)):
        label = render_scalar(value).strip()
    if label in ("", default):
        return default, None
    if fields.label_pattern and not re.fullmatch(fields.label_pattern, label):
        return default, None
    return default, label


def _name_when_present(
    value: Any, default: str, fields: FieldRules, findings: Findings
) -> tuple[str, str | None]:
    if value is MISSING:
        return default, None
    name, label = _name_from_frontmatter(value, default, fields, findings)
    # Blanks around a name are no mistake for Copilot; those inside become hyphens.
    return name.strip(), label


def _name_when_filled(
    value: Any, default: str, fields: FieldRules, findings: Findings
) -> tuple[str, str | None]:
    # pi takes everything that is false in JavaScript for no name at all.
    if value is MISSING or is_falsy(value):
        return default, None
    return _name_from_frontmatter(value, default, fields, findings)


_NAMES: dict[NameFrom, Callable[[Any, str, FieldRules, Findings], tuple[str, str | None]]] = {
    "frontmatter": _name_from_frontmatter,
    # Claude Code
    "folder": _name_from_folder,
    "either": _name_from_either,
    # Copilot
    "when-present": _name_when_present,
    # pi
    "when-filled": _name_when_filled,
}

_SPACES = r" +"
# What file names can't have on one system or another.
_RESERVED = r'[:\\/<>*?"|]'

_REWRITES: dict[NameRewrite, Callable[[str], str]] = {
    # Copilot
    "hyphenate-spaces": lambda name: re.sub(_SPACES, "-", name),
    # Gemini CLI
    "hyphenate-reserved": lambda name: re.sub(_RESERVED, "-", name),
}


def _choose_name(
    frontmatter: dict[str, Any], default: str, fields: FieldRules, findings: Findings
) -> tuple[str, str | None]:
    """The name and, for hosts that show one beside it, a label."""
    value = frontmatter.get("name", MISSING)
    name, label = _NAMES[fields.name_from](value, default, fields, findings)
    if fields.one_line:
        # Codex takes a name of blanks only for none.
        name = " ".join(name.split()) or default
    if fields.name_rewrite:
        name = _REWRITES[fields.name_rewrite](name)
    return name, label


# The exact type: for `isinstance`, true is a number.
_TYPE_NAMES: dict[FieldType, tuple[type, ...]] = {
    "text": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "mapping": (dict,),
    "null": (NoneType,),
}


def _check_host_rules(
    frontmatter: dict[str, Any],
    name: str,
    folder: str,
    description: str | None,
    fields: FieldRules,
    findings: Findings,
) -> None:
    """What some hosts refuse beyond the standard; most have none of these rules."""
    # Copilot, Crush and Qwen Code check the types of fields themselves.
    if fields.types or fields.relative_paths:
        _check_types(frontmatter, fields, findings)
    # Copilot and Crush refuse a long description; others load it whole.
    if fields.most_description:
        compatibility = frontmatter.get("compatibility")
        texts = {
            "description": description,
            "compatibility": compatibility if isinstance(compatibility, str) else None,
        }
        check_lengths(texts, fields, findings)
    # Crush compares without regard to case.
    if fields.name_matches_folder and name.lower() != folder.lower():
        message = f"`name` is {describe(name)}, but the folder is {describe(folder)}."
        findings.append(diagnose("name-mismatch", message, field="name", severity=Severity.ERROR))


def _check_types(frontmatter: dict[str, Any], fields: FieldRules, findings: Findings) -> None:
    """Refuse a field whose type the host does not accept."""
    for key, types in fields.types.items():
        if key not in frontmatter:
            continue
        value = frontmatter[key]
        is_accepted = any(_has_type(value, name) for name in types)
        # What was found before says more than that the type is wrong.
        is_reported = any(finding.field == key for finding in findings)
        if is_accepted or is_reported:
            continue
        named = " or ".join(types)
        message = f"`{key}` is {describe(value)}; this host only accepts {named}."
        findings.append(diagnose("field-type", message, field=key, severity=Severity.ERROR))
    if fields.relative_paths:
        _check_paths(frontmatter.get("paths"), findings)


def _has_type(value: Any, name: FieldType) -> bool:
    if name == "flat-mapping":
        # Crush reads `metadata` into text, and a list or a mapping cannot be text.
        return type(value) is dict and not any(
            type(item) in (dict, list) for item in value.values()
        )
    return type(value) in _TYPE_NAMES[name]


def _check_paths(value: Any, findings: Findings) -> None:
    patterns = value if type(value) is list else []
    for item in patterns:
        pattern = render_scalar(item).strip()
        leaves_project = pattern == ".." or pattern.startswith(("/", "\\", "../"))
        if leaves_project:
            message = f"`paths` has {describe(pattern)}, which is not inside the project."
            hint = "Write patterns that are relative to the project's folder."
            findings.append(
                diagnose("field-value", message, field="paths", severity=Severity.ERROR, hint=hint)
            )
            # One of them is enough to refuse the skill.
            return


def _check_standard(
    reading: HeaderReading,
    name: str,
    folder: str,
    description: str | None,
    manifest: Manifest,
    fields: FieldRules,
    findings: Findings,
) -> None:
    """The rules of the standard; each breach is an error."""
    if manifest.name is not None:
        _check_name(name, folder, findings)
    lengths = (
        ("description", description, MOST_DESCRIPTION, "description-too-long"),
        ("compatibility", manifest.compatibility, MOST_COMPATIBILITY, "field-too-long"),
    )
    for key, text, most, code in lengths:
        if text is not None and len(text) > most:
            message = f"`{key}` has {len(text)} characters; at most {most} are allowed."
            findings.append(diagnose(code, message, field=key))
    _report_unknown(reading.frontmatter, fields, findings, severity=Severity.ERROR)


def _check_name(name: str, folder: str, findings: Findings) -> None:
    if len(name) > MOST_NAME:
        message = f"`name` has {len(name)} characters; at most {MOST_NAME} are allowed."
        findings.append(diagnose("name-invalid", message, field="name"))
    elif not is_standard(name):
        message = f"`name` is {describe(name)}; only a-z, 0-9 and single hyphens are allowed."
        findings.append(diagnose("name-invalid", message, field="name"))
    if name != folder:
        message = f"`name` is {describe(name)}, but the folder is {describe(folder)}."
        findings.append(diagnose("name-mismatch", message, field="name", severity=Severity.ERROR))


def is_standard(name: str) -> bool:
    """Whether the standard allows a name: 1 to 64 of a-z, 0-9 and single hyphens between them."""
    if len(name) > MOST_NAME or not name.isascii() or name != name.lower():
        return False
    # This is also where a name ends that is empty, or has nothing but hyphens.
    if not name.replace("-", "").isalnum():
        return False
    return name[0] != "-" and name[-1] != "-" and "--" not in name


def _check_leniently(
    reading: HeaderReading,
    name: str,
    folder: str,
    manifest: Manifest,
    fields: FieldRules,
    findings: Findings,
) -> None:
    """What the host does not mind, but another one may."""
    if fields.standard_names and manifest.name is not None:
        _warn_about_name(name, folder, findings)
    if fields.known:
        _report_unknown(reading.frontmatter, fields, findings, severity=None)


def _warn_about_name(name: str, folder: str, findings: Findings) -> None:
    """What the standard would reject in a name that is used as it is."""
    if not is_standard(name):
        if len(name) > MOST_NAME:
            message = f"`name` has {len(name)} characters; the standard allows {MOST_NAME}."
        else:
            message = (
                f"`name` is {describe(name)}; the standard only allows a-z, 0-9 and single hyphens."
            )
        findings.append(diagnose("name-invalid", message, field="name", severity=Severity.WARNING))
    if name != folder:
        message = (
            f"`name` is {describe(name)}, but the folder is {describe(folder)}; hosts differ in"
            " which they use."
        )
        findings.append(diagnose("name-mismatch", message, field="name"))


def _report_unknown(
    frontmatter: dict[str, Any],
    fields: FieldRules,
    findings: Findings,
    *,
    severity: Severity | None,
) -> None:
    unknown = [key for key in frontmatter if key not in fields.known]
    known = ", ".join(fields.known)
    for key in unknown:
        message = f"Unknown field `{key}`; the known fields are {known}."
        findings.append(diagnose("field-unknown", message, field=key, severity=severity))
