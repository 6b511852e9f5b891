"""What a skill is called and what is said of it, under the rules of a host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose, limit_diagnostics
from prowess.model.skill import Manifest
from prowess.parse.header.fast import HeaderReading
from prowess.parse.manifest.fields import read_manifest
from prowess.parse.yaml.text_values import describe, render_scalar
from prowess.profiles.schema.header import Description, FieldRules, NameFrom

_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-"
MOST_NAME, MOST_DESCRIPTION, MOST_COMPATIBILITY = 64, 1024, 500

_MISSING = object()
Findings = list[Diagnostic]


class Understood(msgspec.Struct, frozen=True):
    """A header as a host understands it: name, label, description, manifest, and whether the skill
    loads.
    """

    name: str
    label: str | None
    description: str | None
    manifest: Manifest
    diagnostics: tuple[Diagnostic, ...] = ()
    valid: bool = True
    hidden_because: str | None = None


def understand(
    reading: HeaderReading, *, default_name: str, required: tuple[str, ...], fields: FieldRules
) -> Understood:
    """Decide on name and description, read the manifest, and check what the host requires."""
    frontmatter = reading.frontmatter
    manifest, findings = read_manifest(frontmatter, fields=fields)
    found: Findings = []
    name, label = _NAMES[fields.name_from](
        frontmatter.get("name", _MISSING), default_name, fields, found
    )
    value = frontmatter.get("description", _MISSING)
    needs_description = "description" in required or "description" in fields.required
    description = _DESCRIPTIONS[fields.description](value, fields, found, needed=needs_description)
    hidden = None
    if not description:
        description = _stand_in(description, reading, fields, found)
        if description is None:
            hidden = _report_missing(value, fields, found, needed=needs_description)
    if name in fields.reserved_names:
        found.append(
            diagnose(
                "name-reserved", f"`name` is “{name}”, a word this host cannot hold.", field="name"
            )
        )
    if "name" in required and "name" not in frontmatter and not found:
        found.append(_missing_name())
    if fields.strict:
        _check_standard(reading, name, default_name, description, manifest, fields, found)
    else:
        if (
            fields.standard_names
            and manifest.name is not None
            and (name != default_name or not is_standard(name))
        ):
            _warn_of_name(name, default_name, found)
        if fields.known:
            _report_unknown(frontmatter, fields, found, severity=None)
    if not found and not findings:
        return Understood(name, label, description, manifest, (), reading.valid, hidden)
    diagnostics = _merge(found, findings)
    valid = reading.valid and all(finding.severity is not Severity.ERROR for finding in found)
    return Understood(name, label, description, manifest, diagnostics, valid, hidden)


def _merge(found: Findings, findings: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    # What is said of name and description here says more than that their type is wrong; that a
    # field is unknown says nothing of its value, and less than which one was meant.
    spoken = {finding.field for finding in found if finding.code != "field-unknown"}
    refused = {finding.field for finding in found if finding.severity is Severity.ERROR}
    kept = [
        finding
        for finding in findings
        if finding.field not in spoken
        and not (finding.code == "field-unknown" and finding.field in refused)
    ]
    misspelt = {finding.field for finding in kept if finding.code == "field-unknown"}
    others = (
        finding
        for finding in found
        if finding.code != "field-unknown" or finding.field not in misspelt
    )
    return limit_diagnostics((*others, *kept))


def _missing_name() -> Diagnostic:
    return diagnose(
        "name-missing", "The header has no `name`; this host requires one.", field="name"
    )


def _name_from_frontmatter(
    value: Any, default: str, fields: FieldRules, found: Findings
) -> tuple[str, str | None]:
    if type(value) is str:
        return value, None
    if fields.name_accepts_numbers and isinstance(value, (int, float)):
        return render_scalar(value), None
    if value is _MISSING:
        found.append(_missing_name())
    else:
        message = f"`name` is {describe(value)}; it has to be text."
        found.append(diagnose("name-missing", message, field="name", hint=_advise_name(value)))
    return default, None


def _advise_name(value: Any) -> str:
    if value is None:
        return "Write a name behind `name:`."
    if isinstance(value, (bool, int, float)):
        return f'Put it in quotes, `name: "{render_scalar(value)}"`, or choose another name.'
    return "Write one name, as text."


def _name_from_either(
    value: Any, default: str, fields: FieldRules, found: Findings
) -> tuple[str, str | None]:
    if type(value) is str:
        return value.strip() or default, None
    if fields.name_accepts_numbers and isinstance(value, (int, float)):
        return render_scalar(value), None
    if value is not _MISSING and value is not None:
        message = (
            f"`name` is {describe(value)}, which is no text; the folder's name “{default}”"
            " stands in."
        )
        found.append(diagnose("field-type", message, field="name"))
    return default, None


def _name_from_folder(
    value: Any, default: str, fields: FieldRules, found: Findings
) -> tuple[str, str | None]:
    label = None
    if isinstance(value, (str, int, float)):
        label = render_scalar(value).strip()
    return default, label if label and label != default else None


_NAMES: dict[NameFrom, Callable[[Any, str, FieldRules, Findings], tuple[str, str | None]]] = {
    "frontmatter": _name_from_frontmatter,
    "folder": _name_from_folder,
    "either": _name_from_either,
}


def _take_text(value: Any, fields: FieldRules, found: Findings, *, needed: bool) -> str | None:
    if type(value) is str:
        return value.strip() if fields.trim else value
    if value is not _MISSING:
        message = f"`description` is {describe(value)}; this host takes text only."
        found.append(diagnose("field-type", message, field="description", severity=Severity.ERROR))
    elif needed:
        found.append(_missing_description())
    return None


def _take_required_text(
    value: Any, fields: FieldRules, found: Findings, *, needed: bool
) -> str | None:
    text = _take_text(value, fields, found, needed=needed)
    if text is not None and not text.strip():
        found.append(
            _missing_description("is blank", "Write what the skill does and when to use it.")
        )
    return text


def _take_scalar(value: Any, fields: FieldRules, found: Findings, *, needed: bool) -> str | None:
    text = None
    if isinstance(value, (str, bool, int, float)):
        text = render_scalar(value)
        text = text.strip() if fields.trim else text
    elif value is not _MISSING and value is not None:
        message = f"`description` is {describe(value)}; it has to be text and counts as missing."
        found.append(diagnose("field-type", message, field="description"))
    if needed and not (text and text.strip()):
        found.append(_missing_description())
    return text


def _take_text_or_empty(
    value: Any, fields: FieldRules, found: Findings, *, needed: bool
) -> str | None:
    if needed and _is_falsy(value):
        found.append(_missing_description())
    if type(value) is str:
        return value.strip() if fields.trim else value
    if value is not _MISSING and value is not None:
        message = f"`description` is {describe(value)}; it has to be text and counts as empty."
        found.append(diagnose("field-type", message, field="description"))
    return ""


def _is_falsy(value: Any) -> bool:
    """Whether JavaScript takes a value for nothing; empty lists and mappings are something to it."""
    if isinstance(value, (bool, int, float)):
        return not value or value != value
    return value is _MISSING or value is None or value == ""


_DESCRIPTIONS: dict[Description, Callable[..., str | None]] = {
    "text": _take_text,
    "required-text": _take_required_text,
    "text-or-number": _take_scalar,
    "text-or-empty": _take_text_or_empty,
}


def _missing_description(how: str = "is missing", hint: str | None = None) -> Diagnostic:
    message = f"`description` {how}; this host requires one."
    return diagnose("description-missing", message, field="description", hint=hint)


def _stand_in(
    description: str | None, reading: HeaderReading, fields: FieldRules, found: Findings
) -> str | None:
    """The first line of the body, or a fixed word, where there is no description and the host
    allows it.
    """
    if not fields.description_from_body:
        return description
    if reading.lead:
        message = (
            "There is no description; the first line of the body stands in:"
            f" {describe(reading.lead)}."
        )
        found.append(diagnose("description-from-body", message, field="description"))
        return reading.lead
    return fields.empty_description if fields.empty_description is not None else description


def _report_missing(value: Any, fields: FieldRules, found: Findings, *, needed: bool) -> str | None:
    if fields.description_hidden_when_missing and value is _MISSING:
        return "it has no description"
    if not needed and fields.description_from_body:
        message = "There is neither a description nor a body to take one from."
        found.append(
            diagnose("description-missing", message, field="description", severity=Severity.WARNING)
        )
    return None


def _check_standard(
    reading: HeaderReading,
    name: str,
    folder: str,
    description: str | None,
    manifest: Manifest,
    fields: FieldRules,
    found: Findings,
) -> None:
    """The rules of the standard; each breach is an error."""
    if manifest.name is not None:
        _check_name(name, folder, found)
    if description is not None and len(description) > MOST_DESCRIPTION:
        found.append(
            _too_long("description", len(description), MOST_DESCRIPTION, "description-too-long")
        )
    compatibility = manifest.compatibility
    if compatibility is not None and len(compatibility) > MOST_COMPATIBILITY:
        found.append(
            _too_long("compatibility", len(compatibility), MOST_COMPATIBILITY, "field-too-long")
        )
    _report_unknown(reading.frontmatter, fields, found, severity=Severity.ERROR)


def _check_name(name: str, folder: str, found: Findings) -> None:
    if len(name) > MOST_NAME:
        message = f"`name` has {len(name)} characters; at most {MOST_NAME} are allowed."
        found.append(diagnose("name-invalid", message, field="name"))
    elif not is_standard(name):
        message = (
            f"`name` is {describe(name)}; only a-z, 0-9 and single hyphens between them are"
            " allowed."
        )
        found.append(diagnose("name-invalid", message, field="name"))
    if name != folder:
        message = (
            f"`name` is {describe(name)} and the folder {describe(folder)}; they have to be the"
            " same."
        )
        found.append(diagnose("name-mismatch", message, field="name", severity=Severity.ERROR))


def is_standard(name: str) -> bool:
    """Whether the standard allows a name: 1 to 64 of a-z, 0-9 and single hyphens between them."""
    if not 0 < len(name) <= MOST_NAME or name.strip(_NAME_CHARACTERS):
        return False
    return name[0] != "-" and name[-1] != "-" and "--" not in name


def _warn_of_name(name: str, folder: str, found: Findings) -> None:
    """What the standard would refuse of a name that is taken as it is."""
    if not is_standard(name):
        length = f" of {len(name)} characters" if len(name) > MOST_NAME else ""
        message = (
            f"`name` is {describe(name)}{length}; the standard allows 1 to 64 of a-z, 0-9 and"
            " single hyphens."
        )
        found.append(diagnose("name-invalid", message, field="name", severity=Severity.WARNING))
    if name != folder:
        message = (
            f"`name` is {describe(name)} and the folder {describe(folder)}; hosts differ in which"
            " of them they use."
        )
        found.append(diagnose("name-mismatch", message, field="name"))


def _too_long(key: str, length: int, most: int, code: str) -> Diagnostic:
    return diagnose(
        code, f"`{key}` has {length} characters; at most {most} are allowed.", field=key
    )


def _report_unknown(
    frontmatter: dict[str, Any], fields: FieldRules, found: Findings, *, severity: Severity | None
) -> None:
    known = ", ".join(fields.known)
    for key in frontmatter:
        if key not in fields.known:
            message = f"`{key}` is not one of the known fields ({known})."
            found.append(diagnose("field-unknown", message, field=key, severity=severity))
