"""What `prowess install` can be given, as a value. Nothing is fetched here."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

from prowess.errors.install import InvalidSource

FOLDER = "folder"
ARCHIVE = "archive"
GIT = "git"
SITE = "site"
CLAWHUB = "clawhub"
PLUGIN = "plugin"
MCP = "mcp"

# A site or an MCP server has only what it has now, so there the digest decides.
VERSIONED = frozenset({GIT, CLAWHUB, PLUGIN})
"""The kinds whose source can be asked for the exact version that is locked."""

ARCHIVE_SUFFIXES = (".zip", ".skill", ".tar.gz", ".tgz")
_GITHUB = "https://github.com"
_GITLAB = "https://gitlab.com"
# A path on this disk: `/x`, `./x`, `~/x`, `.`, `..`, `~`, `C:\x`.
_LOCAL = re.compile(r"(\.{1,2}|~)?/|\.{1,2}$|~$|[A-Za-z]:[\\/]")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9_][\w.-]*(/.+)?")
# `/OWNER/NAME` and `/OWNER/NAME/tree/REF/PATH`; GitLab has `/-/` before `tree`.
_REPOSITORY_PAGE = re.compile(r"/([^/]+)/([^/]+?)(?:\.git)?(?:/(?:-/)?tree/([^/]+)(?:/(.*))?)?/?")
_SCP = re.compile(r"[\w.-]+@[\w.-]+:(?!/)[^\s]+")
_LOCAL_GIT = re.compile(r".*\.git/?(@[^/@#]+)?(#.*)?")
_LOCAL_ARCHIVE = re.compile(r"(.*\.(?:zip|skill|tar\.gz|tgz))(?:#sha256[=:]([0-9a-f]{64}))?")
_DIGEST = re.compile(r"sha256[=:]([0-9a-f]{64})")
_SCHEME = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]*://")
# curl decodes percent signs and wide letters in a host, Python does not: both must see one host.
_AUTHORITY = re.compile(r"(?:[^@]*@)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# What git refuses in the name of a branch, or takes for an expression such as `HEAD~1`.
_NOT_IN_REF = re.compile(r"[\s\x00-\x1f\x7f:^~?*\[\\]|\.\.|@\{")
# How each scheme of a git URL is reached; http may be redirected to https, never the other way.
_PROTOCOLS = {
    "https": ("https",),
    "http": ("http", "https"),
    "ssh": ("ssh",),
    "file": ("file",),
}


class InstallSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where skills are to be installed from.

    `kind` chooses the fetcher. `location` is an absolute path or a URL, `path` a folder inside it,
    `ref` a branch, tag, commit or version, `skill` the only skill that is wanted, and `digest` the
    SHA-256 that an archive must have. `text` is what is kept in the lock file: the source without
    `skill` and `ref`. `prefix` is what comes before the location in it.
    """

    kind: str
    location: str
    text: str
    path: str = ""
    ref: str = ""
    skill: str = ""
    digest: str = ""
    prefix: str = ""

    @property
    def protocols(self) -> tuple[str, ...]:
        """What git may use to reach a git source."""
        if self.is_local:
            return _PROTOCOLS["file"]
        if _SCP.fullmatch(self.location):
            return _PROTOCOLS["ssh"]
        return _PROTOCOLS[urlsplit(self.location).scheme]

    @property
    def is_local(self) -> bool:
        """Whether it is on this disk."""
        return self.location.startswith(("/", "file://"))


Parser = Callable[[str, str], "InstallSource | None"]
"""A text and the working folder become a source; None for a text that is of another kind."""


def parse_source(
    text: str, *, cwd: str, home: str, parsers: tuple[Parser, ...] = ()
) -> InstallSource:
    """What a text on the command line means. Raises `InvalidSource`.

    `parsers` for further kinds are asked first.
    """
    stripped = lower_scheme(text.strip())
    if not stripped:
        raise InvalidSource(text, "it is empty")
    # git and other programs would take it for an option.
    if stripped.startswith("-"):
        raise InvalidSource(text, "it is not a source")
    if _CONTROL.search(stripped):
        raise InvalidSource(text, "it has control characters")
    for parse in parsers:
        source = parse(stripped, cwd)
        if source is not None:
            return source
    # A path comes before everything else, because only it may have these marks in its name.
    if _LOCAL.match(stripped):
        return _parse_local(stripped, cwd=cwd, home=home)
    if "://" in stripped or stripped.startswith(("github:", "gitlab:")):
        return _parse_url(stripped)
    if _SCP.match(stripped):
        return _parse_scp(stripped)
    body = _cut_fragment(stripped)[0]
    # `pdf.zip` is no repository, so it needs no `./`.
    if body.endswith(ARCHIVE_SUFFIXES):
        return _parse_local(stripped, cwd=cwd, home=home)
    return _parse_repository(stripped, _GITHUB)


def restore_source(
    *,
    kind: str,
    text: str,
    ref: str,
    path: str,
    base: str,
    home: str,
    parsers: tuple[Parser, ...] = (),
) -> InstallSource:
    """The source of a lock file. Raises `InvalidSource` for one that was tampered with."""
    if kind == GIT:
        # Without the parsers of other kinds: the lock file says that git fetches it, so git must.
        source = parse_source(text, cwd=base, home=home)
        if source.kind != GIT:
            raise InvalidSource(text, "the lock file says that it is a git repository")
        check_ref(text, ref)
        return msgspec.structs.replace(source, ref=ref, path=path)
    source = parse_source(text, cwd=base, home=home, parsers=parsers)
    return msgspec.structs.replace(source, path=path, ref=ref)


def lower_scheme(text: str) -> str:
    """An address with its scheme in lower case, as everything else here expects it."""
    return _SCHEME.sub(lambda found: found[0].lower(), text)


def split_address(text: str, url: str, *, hint: str | None = None) -> SplitResult:
    """The parts of a URL whose host every program reads alike. Raises `InvalidSource`.

    `hint` says where a password belongs.
    """
    try:
        parts = urlsplit(url)
        # Python checks the number only when somebody asks for it.
        _ = parts.port
    except ValueError as error:
        raise InvalidSource(text, f"the URL is malformed ({error})") from None
    # `ssh://git@host` names a user and needs one; elsewhere the name is half of a password.
    has_user = parts.username is not None and parts.scheme != "ssh"
    if has_user or parts.password is not None:
        raise InvalidSource(text, "a URL with a password would end up in the lock file", hint)
    if parts.scheme == "file":
        return parts
    if not parts.hostname:
        raise InvalidSource(text, "the URL has no host")
    if not _AUTHORITY.fullmatch(parts.netloc):
        plain = "Write the host with plain letters and digits; other letters as xn--…."
        raise InvalidSource(text, "the host of the URL has characters that are not allowed", plain)
    return parts


def _parse_local(text: str, *, cwd: str, home: str) -> InstallSource:
    if _LOCAL_GIT.fullmatch(text):
        path, skill, ref = _cut_suffixes(text)
        location = _resolve_local(path, cwd=cwd, home=home)
        shown = _show_local(location, cwd)
        return InstallSource(kind=GIT, location=location, text=shown, skill=skill, ref=ref)
    archive = _LOCAL_ARCHIVE.fullmatch(text)
    if archive is not None:
        location = _resolve_local(archive[1], cwd=cwd, home=home)
        shown = _show_local(location, cwd)
        digest = archive[2] or ""
        return InstallSource(kind=ARCHIVE, location=location, text=shown, digest=digest)
    # A folder may have `@` and `#` in its name, so nothing is cut off.
    location = _resolve_local(text, cwd=cwd, home=home)
    return InstallSource(kind=FOLDER, location=location, text=_show_local(location, cwd))


def _resolve_local(path: str, *, cwd: str, home: str) -> str:
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return posixpath.normpath(posixpath.join(cwd, path))


def _show_local(location: str, cwd: str) -> str:
    """Relative inside the working folder, so that a lock file means the same for everybody."""
    if location == cwd:
        return "./"
    inside = f"{cwd}/"
    if location.startswith(inside):
        return f"./{location.removeprefix(inside)}"
    return location


def _parse_repository(text: str, server: str) -> InstallSource:
    """`owner/repo[/path][@skill][#ref]`, also with the ref first."""
    body, skill, ref = _cut_suffixes(text)
    if not _REPOSITORY.fullmatch(body):
        hint = "Use OWNER/REPO, a URL, or a path that begins with ./ or /."
        raise InvalidSource(text, "it is neither a path, a URL nor a repository", hint)
    owner, name, *inner = body.split("/")
    name = name.removesuffix(".git")
    prefix = "" if server == _GITHUB else "gitlab:"
    return InstallSource(
        kind=GIT,
        location=f"{server}/{owner}/{name}.git",
        text=f"{prefix}{owner}/{name}",
        path=check_path(text, "/".join(inner)),
        ref=ref,
        skill=skill,
    )


def _parse_url(text: str) -> InstallSource:
    for prefix, server in (("github:", _GITHUB), ("gitlab:", _GITLAB)):
        if text.startswith(prefix):
            return _parse_repository(text.removeprefix(prefix), server)
    is_git = text.startswith("git+")
    url = text.removeprefix("git+")
    scheme = url.partition("://")[0]
    if scheme not in _PROTOCOLS:
        allowed = ", ".join(f"{known}://" for known in _PROTOCOLS)
        raise InvalidSource(text, f"“{scheme[:40]}” URLs are not supported; use {allowed}")
    parts = split_address(text, url, hint="Let git's credential helper keep the password.")
    host = parts.hostname or ""
    # ssh takes a host with a dash as an option, and git runs `ext::PROGRAM`.
    if host.startswith("-") or "::" in url:
        raise InvalidSource(text, "git would treat the URL as an option or run it as a program")
    is_web = parts.scheme in ("http", "https")
    # `git+https://` says that it is a repository, whatever its path looks like.
    source = _parse_web(text, url, parts) if is_web and not is_git else None
    if source is not None:
        return source
    return _parse_git_url(text, url)


def _parse_web(text: str, url: str, parts: SplitResult) -> InstallSource | None:
    """A page of GitHub or GitLab, or an archive; None for any other address."""
    if parts.path.endswith(ARCHIVE_SUFFIXES):
        location = url.partition("#")[0]
        fragment_digest = _DIGEST.fullmatch(parts.fragment)
        digest = fragment_digest[1] if fragment_digest is not None else ""
        return InstallSource(kind=ARCHIVE, location=location, text=location, digest=digest)
    page = _REPOSITORY_PAGE.fullmatch(parts.path)
    server = parts.netloc
    if page is None or server not in ("github.com", "gitlab.com"):
        return None
    owner, name, ref, inner = page.groups()
    name, _, skill = name.partition("@")
    prefix = "" if server == "github.com" else "gitlab:"
    fragment_ref, _, fragment_skill = parts.fragment.partition("@")
    return InstallSource(
        kind=GIT,
        location=f"{parts.scheme}://{server}/{owner}/{name}.git",
        text=f"{prefix}{owner}/{name}",
        path=check_path(text, unquote(inner or "").strip("/")),
        ref=check_ref(text, unquote(ref or fragment_ref)),
        skill=skill or fragment_skill,
    )


def _parse_git_url(text: str, url: str) -> InstallSource:
    body, skill, ref = _cut_suffixes(url)
    body = location = body.rstrip("/")
    if body.startswith("file://"):
        path = unquote(urlsplit(body).path)
        if not path.startswith("/"):
            raise InvalidSource(text, "a file:// URL needs an absolute path")
        if _CONTROL.search(path):
            raise InvalidSource(text, "it has control characters")
        location = path
    is_named_git = body.endswith(".git")
    if not is_named_git and not text.startswith(("git+", "ssh://", "file://")):
        hint = "Add .git to the URL, or write git+https://…, if it is a git repository."
        raise InvalidSource(text, "this URL does not show what kind of source it is", hint)
    # Without the mark a lock file could not tell it from a web page.
    needs_mark = text.startswith("git+") and not is_named_git
    shown = f"git+{body}" if needs_mark else body
    return InstallSource(kind=GIT, location=location, text=shown, ref=ref, skill=skill)


def _parse_scp(text: str) -> InstallSource:
    """`git@host:owner/repo.git`."""
    user, _, rest = text.partition("@")
    body, skill, ref = _cut_suffixes(rest)
    location = f"{user}@{body}"
    if not _SCP.fullmatch(location):
        raise InvalidSource(text, "it is not an address of git, such as git@host:owner/repo.git")
    return InstallSource(kind=GIT, location=location, text=location, ref=ref, skill=skill)


def _cut_fragment(text: str) -> tuple[str, str]:
    body, _, fragment = text.partition("#")
    return body, fragment


def _cut_suffixes(text: str) -> tuple[str, str, str]:
    """A text without its `@skill` and its `#ref`, then both."""
    body, fragment = _cut_fragment(text)
    ref, _, skill = fragment.partition("@")
    folder, slash, last = body.rpartition("/")
    name, mark, wanted = last.partition("@")
    # In `ssh://git@host` it is a user.
    is_host = folder.endswith(":/")
    if mark and slash and not is_host:
        body, skill = f"{folder}/{name}", wanted
    return body, skill, check_ref(text, ref)


def check_ref(text: str, ref: str) -> str:
    """A branch, tag or commit that git takes as such. Raises `InvalidSource`."""
    # A refspec could write any branch, and a dash begins an option.
    is_refused = ref.startswith("-") or _NOT_IN_REF.search(ref)
    if is_refused:
        raise InvalidSource(text, f"“{ref[:100]}” is not a branch, tag or commit")
    return ref


def check_path(text: str, path: str) -> str:
    """A folder inside a repository. Raises `InvalidSource`."""
    if ".." in path.split("/"):
        raise InvalidSource(text, "the path inside the repository leads out of it")
    if _CONTROL.search(path):
        raise InvalidSource(text, "the path inside the repository has control characters")
    return posixpath.normpath(path).strip("/") if path else ""
