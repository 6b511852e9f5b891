"""Who signed a site, and whether its files are those that were signed.

`prowess publish --key` signs a list of all files. A site without a signature is not signed; one
whose signature or files do not fit is refused, even with a known signer.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit, urlunsplit

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError
from prowess.errors.install import RefusedTree, SourceFailed
from prowess.machine.http_client import FetchError, HttpSession
from prowess.machine.processes import ProcessRunner
from prowess.state.remote_cache import FetchedIndex
from prowess.supply.install.fetch import FetchContext, list_private_hosts
from prowess.supply.install.source import InstallSource
from prowess.supply.publish.signature import SignatureError, SshSignatures
from prowess.supply.publish.site import (
    FILE_LIST,
    SIGNATURE,
    InvalidFileList,
    parse_file_list,
)

_SECONDS = 60.0
_MOST_LIST = 16 << 20
_MOST_SIGNATURE = 1 << 16
_ABSENT = (404, 410)


class SiteSignature(msgspec.Struct, frozen=True):
    """Who signed a site, "" for nobody who is known here, and what to say about it."""

    signer: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()


def check_site(
    source: InstallSource,
    index: FetchedIndex,
    digests: Mapping[str, str],
    context: FetchContext,
) -> SiteSignature:
    """Who signed the fetched files of a site, given by their digests.

    Raises `RefusedTree` for a signature or files that do not fit, and `SourceFailed` where the
    site does not answer.
    """
    fetched = _fetch(source, _find_base(index.found_at), context)
    if fetched is None:
        return SiteSignature()
    data, signature = fetched
    # It takes no key to see that the files are others than the list has.
    _compare(source, index.skills, digests, data)
    signatures = SshSignatures(ProcessRunner(context.facts), context.facts.env)
    try:
        key = signatures.find_key(data, signature)
    except MachineError as error:
        # Where somebody must have signed, the policy refuses what was not checked.
        message = f"The signature of {source.text} was not checked: {error}"
        return SiteSignature(diagnostics=(diagnose("install-signature-unchecked", message),))
    if key is None:
        raise RefusedTree(source.text, "the signature of its list of files is broken")
    return _identify(source, signatures, data, signature, key, context)


def _fetch(source: InstallSource, base: str, context: FetchContext) -> tuple[bytes, bytes] | None:
    """The list of files and its signature; None for a site that is not signed."""
    hosts = list_private_hosts(source, context)
    try:
        with HttpSession(seconds=_SECONDS, private_hosts=hosts) as session:
            try:
                signature = session.get(f"{base}/{SIGNATURE}", most_bytes=_MOST_SIGNATURE).body
            except FetchError as error:
                # Most sites are not signed. Any other failure could be somebody who hides the
                # signature.
                if error.status in _ABSENT:
                    return None
                raise
            # Many sites answer every URL with a page.
            if not signature.startswith(b"-----BEGIN SSH SIGNATURE-----"):
                return None
            return session.get(f"{base}/{FILE_LIST}", most_bytes=_MOST_LIST).body, signature
    except FetchError as error:
        cause = f"its signature cannot be checked: {error.message}"
        raise SourceFailed(source.text, cause) from error


def _find_base(index_url: str) -> str:
    """The top of a site, from the URL where its index was found."""
    parts = urlsplit(index_url)
    folder = posixpath.dirname(parts.path)
    top = f"{folder}/".partition("/.well-known/")[0].rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, top, "", ""))


def _compare(
    source: InstallSource, names: Iterable[str], digests: Mapping[str, str], data: bytes
) -> None:
    """Raise `RefusedTree` unless the list has exactly the fetched files of each skill."""
    try:
        signed = parse_file_list(data)
    except InvalidFileList as error:
        raise RefusedTree(source.text, f"its signed list of files is invalid: {error}") from error
    # The list also has the indexes and the archives, which are not installed.
    folders = tuple(f"{name}/" for name in names)
    expected = {path: digest for path, digest in signed.items() if path.startswith(folders)}
    different = sorted({*expected.items()} ^ {*digests.items()})
    if different:
        path = different[0][0]
        raise RefusedTree(source.text, f"{path[:200]!r} is not what was signed")


def _identify(
    source: InstallSource,
    signatures: SshSignatures,
    data: bytes,
    signature: bytes,
    key: str,
    context: FetchContext,
) -> SiteSignature:
    reason = "is not in your allowed signers: you have no `allowed_signers` file"
    if context.signers_file:
        try:
            return SiteSignature(signatures.verify(data, signature, context.signers_file).principal)
        except SignatureError as error:
            reason = f"does not count: {error.problem[:1].lower()}{error.problem[1:]}"
    message = f"{source.text} is signed with key {key}, which {reason}."
    return SiteSignature(diagnostics=(diagnose("install-signer-unknown", message),))
