"""What a `skill://` address names: a skill's own file, another of its files, or a folder.

Nothing outside the skill's folder is read, whatever symlinks lie in it: the path with every link
resolved decides, and that path is opened. A missing file is not searched for anywhere else.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Mapping

import msgspec

from prowess.activate.resources.addresses import Address
from prowess.activate.resources.line_ranges import select_lines
from prowess.errors import UnknownSkill, name_cause
from prowess.errors.activation import AddressError
from prowess.model.files import FolderItem, Head
from prowess.model.skill import Skill
from prowess.ports import FileSystem
from prowess.profiles.schema.body import ResourceRules
from prowess.text.collation import collate
from prowess.text.markup import tidy_path

PLAIN = "text/plain"
MARKDOWN = "text/markdown"
EMPTY_FOLDER = "(empty folder)"
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


class Resource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an address names. `size` is that of the content in bytes, `path` where it is on disk.

    For an image or a PDF, `data` are the bytes of the file and `media_type` says which it is, by
    what the file holds and not by its name; `content` is then of no use to a model.
    """

    url: str
    content: str
    content_type: str
    path: str
    size: int
    is_folder: bool = False
    media_type: str = ""
    data: bytes = b""


def resolve(
    address: Address,
    skills: Mapping[str, Skill],
    files: FileSystem,
    *,
    rules: ResourceRules,
    told: Iterable[str] | None = None,
) -> Resource:
    """What an address names, among the skills that may be read, by their exact names.

    `told` are the names that may be shown to someone who mistyped one, by default all of `skills`.
    Raises `UnknownSkill` and `AddressError`.
    """
    skill = skills.get(address.name)
    if skill is None:
        raise UnknownSkill(address.name, skills if told is None else told)
    address = _prefer_literal(address, skill, files)
    resource = _Lookup(address, skill, files, rules).find()
    if address.lines is None:
        return resource
    content = select_lines(
        resource.content,
        address.lines,
        url=address.url,
        before=rules.lines_before,
        after=rules.lines_after,
    )
    return msgspec.structs.replace(resource, content=content, size=_measure(content))


def load_head(address: Address, skill: Skill, files: FileSystem, most: int) -> tuple[str, bytes]:
    """The real path of one of a skill's files, and how the file begins. Raises `AddressError`."""
    return _Lookup(address, skill, files, ResourceRules()).load_head(most)


def _prefer_literal(address: Address, skill: Skill, files: FileSystem) -> Address:
    """The address of a file whose name only looks as if it ended with a range, if it exists."""
    if not address.literal:
        return address
    if files.find_kind(f"{skill.folder.rstrip('/')}/{address.literal}") != "file":
        return address
    return msgspec.structs.replace(address, path=address.literal, lines=None)


class _Lookup:
    """Finds what one address names in one skill."""

    def __init__(
        self, address: Address, skill: Skill, files: FileSystem, rules: ResourceRules
    ) -> None:
        self._address = address
        self._skill = skill
        self._files = files
        self._rules = rules
        self._folder = skill.folder.rstrip("/")

    def find(self) -> Resource:
        """The file or folder. Raises `AddressError`."""
        if not self._address.path:
            return self._find_skill_file()
        return self._find_other_file()

    def _find_skill_file(self) -> Resource:
        if self._skill.file is None:
            return self._make_resource("", self._skill.load().content, MARKDOWN)
        return self._read_file(self._skill.location, self._get_own_path())

    def _find_other_file(self) -> Resource:
        address, skill = self._address, self._skill
        if skill.read_served is not None:
            return self._make_served(skill.read_served)
        if skill.file is None:
            # The files of a skill in code are unpacked with its prompt, and not before.
            skill.load()
        if not self._folder:
            # Without a folder the path would be read as an absolute one.
            raise self._miss(address.path)
        own = self._get_own_path()
        path = f"{self._folder}/{address.path}"
        if path == skill.location:
            return self._read_file(path, own)
        real = self._get_real_path(path)
        kind = self._files.find_kind(real)
        if kind == "folder":
            return self._list_folder(path, real)
        if kind == "file" and not address.is_folder:
            return self._read_file(path, real)
        if kind == "other":
            problem = f"“{address.path}” is neither a file nor a folder"
            raise self._fail("not-a-file", problem, address.path)
        raise self._miss(address.path)

    def load_head(self, most: int) -> tuple[str, bytes]:
        """The real path of a file, and how it begins."""
        shown = self._address.path
        if self._skill.file is None:
            # Its files are unpacked with its prompt.
            self._skill.load()
        if not shown or not self._folder:
            raise self._miss(shown)
        self._get_own_path()
        real = self._get_real_path(f"{self._folder}/{shown}")
        if self._files.find_kind(real) != "file":
            raise self._fail("not-a-file", f"“{shown}” is not a file", shown)
        return real, self._read_head(real, shown, most).data

    def _get_own_path(self) -> str:
        """The real path of the skill's own file.

        The scan judged whether it may be a symlink; where it leads now must be the same.
        """
        skill = self._skill
        if skill.file is None or skill.real is None:
            return skill.location
        real = self._files.find_real_path(skill.location)
        if real is None:
            raise self._miss(self._address.path or _get_name(skill.location))
        if real != skill.real:
            raise self._refuse_moved()
        return real

    def _get_real_path(self, path: str) -> str:
        """The real path of a file, which must be in the skill's folder."""
        base, real = self._files.find_real_path(self._folder), self._files.find_real_path(path)
        if base is None or real is None:
            raise self._miss(self._address.path)
        scanned = self._skill.real
        if scanned is not None:
            # The folder that was scanned: it holds the skill's file, or no link leads to it.
            known = (scanned.rpartition("/")[0], self._folder)
            if base not in known:
                raise self._refuse_moved()
        if not _is_inside(real, base):
            problem = f"“{self._address.path}” is a symlink that points outside the skill"
            raise self._fail("outside", problem, self._address.path)
        return real

    def _read_file(self, path: str, real: str) -> Resource:
        most = self._rules.most_bytes
        shown = self._address.path or _get_name(path)
        head = self._read_head(real, shown, most)
        return self._make_file(path, head.data, shown=shown, size=head.size)

    def _make_served(self, read: Callable[[str], bytes]) -> Resource:
        """A file that a server has, which it must have listed."""
        path = self._address.path
        try:
            data = read(path)
        except OSError as error:
            problem = f"“{path}” cannot be read: {name_cause(error)}"
            raise self._fail("unreadable", problem, path) from None
        return self._make_file(path, data, shown=path, size=len(data))

    def _make_file(self, path: str, data: bytes, *, shown: str, size: int) -> Resource:
        most = self._rules.most_bytes
        if size > most:
            problem = f"“{shown}” has {size:,} bytes; the limit is {most:,}"
            raise self._fail("too-large", problem, shown)
        resource = self._make_resource(path, _decode(data), _find_type(path, self._rules))
        media_type = find_media_type(data)
        if not media_type:
            return resource
        return msgspec.structs.replace(resource, media_type=media_type, data=data)

    def _read_head(self, real: str, shown: str, most: int) -> Head:
        try:
            # Whatever is swapped for a link from here on is refused, not followed.
            return self._files.read_real_head(real, most)
        except FileNotFoundError:
            raise self._miss(shown) from None
        except OSError as error:
            problem = f"“{shown}” cannot be read: {name_cause(error)}"
            raise self._fail("unreadable", problem, shown) from None

    def _list_folder(self, path: str, real: str) -> Resource:
        """The names in a folder, one a line: folders first, then the rest, each alphabetically."""
        most, shown = self._rules.most_items, self._address.path
        try:
            items = self._files.list_real_folder(real)
        except OSError as error:
            problem = f"the folder “{shown}” cannot be listed: {name_cause(error)}"
            raise self._fail("unreadable", problem, shown) from None
        items.sort(key=lambda item: (item.kind != "folder", collate(item.name)))
        lines = [_render_item(item) for item in items[:most]]
        if len(items) > most:
            lines.append(f"(and {len(items) - most:,} more)")
        content = "\n".join(lines) or EMPTY_FOLDER
        resource = self._make_resource(path, content, PLAIN)
        return msgspec.structs.replace(resource, is_folder=True)

    def _make_resource(self, path: str, content: str, content_type: str) -> Resource:
        return Resource(
            url=self._address.url,
            content=content,
            content_type=content_type,
            path=path,
            size=_measure(content),
        )

    def _miss(self, path: str) -> AddressError:
        return self._fail("missing", f"the skill has no file “{path}”", path)

    def _refuse_moved(self) -> AddressError:
        name = _get_name(self._skill.location)
        problem = f"“{name}” has been moved or replaced by a link since the scan; scan again"
        return self._fail("outside", problem, name)

    def _fail(self, kind: str, problem: str, path: str) -> AddressError:
        return AddressError(self._address.url, kind, problem, path=path)


def _is_inside(real: str, base: str) -> bool:
    # A backslash in a POSIX path is an ordinary character.
    is_windows = "\\" in base and "/" not in base
    separator = "\\" if is_windows else "/"
    # With the separator, or `/skills/a-secret` would count as inside `/skills/a`.
    return real == base or real.startswith(base.rstrip(separator) + separator)


def _get_name(path: str) -> str:
    return path.rpartition("/")[2]


def _decode(data: bytes) -> str:
    """The bytes of a file as text; what is not a character becomes U+FFFD."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            # A last half of a character is dropped, as hosts do.
            whole = len(data) - len(data) % 2
            return data[len(mark) : whole].decode(encoding, "replace")
    return data.decode("utf-8-sig", "replace")


def _find_type(path: str, rules: ResourceRules) -> str:
    ending = path.lower().rpartition(".")[2]
    return rules.content_types.get(f".{ending}", PLAIN)


def find_media_type(data: bytes) -> str:
    """The media type of an image or a PDF that models can be given; "" for anything else."""
    for start, media_type in _SIGNATURES:
        if data.startswith(start):
            return media_type
    # RIFF holds sounds and films, too; its length lies between the two words.
    is_webp = data[:4] == b"RIFF" and data[8:12] == b"WEBP"
    return "image/webp" if is_webp else ""


def _render_item(item: FolderItem) -> str:
    name = tidy_path(item.name)
    return f"{name}/" if item.kind == "folder" else name


def _measure(content: str) -> int:
    return len(content.encode("utf-8", "surrogatepass"))
