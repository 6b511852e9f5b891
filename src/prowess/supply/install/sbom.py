"""What is installed as a bill of materials, in CycloneDX. Needs the extra `sbom`."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from prowess.state.install_lock import LockedSkill
from prowess.supply.install.source import GIT
from prowess.version import VERSION

# Two documents about the same lock file have the same serial number, and the same bytes.
_NAMESPACE = uuid.UUID("6f0c8d5e-6c0f-5d0f-9c55-3a0c9a3b2f10")
# `owner/repo` in a lock file is a repository on GitHub.
_SERVERS = ("github", "gitlab")
_EPOCH = datetime.fromtimestamp(0, tz=UTC)


def render_sbom(skills: Iterable[LockedSkill], *, project: str) -> str:
    """The document for the skills of a lock file, as JSON.

    It tells the time of the last change to the lock file, not the time it was written.
    """
    listed = list(skills)
    content = "\n".join(f"{skill.label} {skill.path} {skill.tree}" for skill in listed)
    times = [datetime.fromisoformat(skill.installed_at) for skill in listed if skill.installed_at]
    program = Component(name="prowess", version=VERSION, type=ComponentType.APPLICATION)
    metadata = BomMetaData(
        timestamp=max(times, default=_EPOCH),
        component=Component(name=project, type=ComponentType.APPLICATION, bom_ref="project"),
    )
    # Auditors ask which program and version made a document.
    metadata.tools.components.add(program)
    bom = Bom(
        serial_number=uuid.uuid5(_NAMESPACE, content),
        metadata=metadata,
        components=[_describe_skill(skill) for skill in listed],
    )
    bom.register_dependency(bom.metadata.component, bom.components)  # type: ignore[arg-type]
    text = JsonV1Dot6(bom).output_as_string(indent=2)
    return f"{text}\n"


def _describe_skill(skill: LockedSkill) -> Component:
    reference = f"{skill.label}/{skill.path}" if skill.path else skill.label
    files = [
        Component(
            name=path,
            type=ComponentType.FILE,
            bom_ref=f"{reference}#{path}",
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        )
        for path, digest in sorted(skill.files.items())
    ]
    facts = {
        "source": skill.source,
        "ref": skill.ref,
        "path": skill.path,
        "tree": skill.tree,
        "installed-at": skill.installed_at,
    }
    return Component(
        name=skill.name,
        # CycloneDX has no type for instructions that a model follows.
        type=ComponentType.LIBRARY,
        version=skill.resolved or skill.tree,
        bom_ref=reference,
        purl=_make_purl(skill),
        properties=[
            Property(name=f"prowess:{key}", value=value) for key, value in facts.items() if value
        ],
        components=files,
    )


def _make_purl(skill: LockedSkill) -> PackageURL:
    """The package URL: that of a repository if its server has a type, otherwise generic."""
    version = skill.resolved or skill.tree
    server, has_server, rest = skill.source.partition(":")
    if not has_server:
        server, rest = "github", skill.source
    owner, _, name = rest.partition("/")
    if skill.kind == GIT and server in _SERVERS and owner not in ("", ".", ".."):
        return PackageURL(server, owner, name, version, subpath=skill.path or None)
    return PackageURL("generic", None, skill.name, version, {"checksum": skill.tree})
