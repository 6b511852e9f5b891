"""Rules about commands that run what nobody has read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prowess.diagnostics import Severity
from prowess.supply.scan.addresses import find_distrust
from prowess.supply.scan.command_line import CommandLine, ProgramCall
from prowess.supply.scan.rule import Kind, Match, Passage, ScanRule

_FETCHERS = frozenset(
    "curl wget aria2c fetch http https iwr irm invoke-webrequest invoke-restmethod lynx".split()
)
_SOURCES = frozenset(("source", "."))
_NETCATS = frozenset(("nc", "ncat", "netcat"))
# A substitution whose output is a download: `$(curl …)`, `<(curl …)`, `(irm …)`.
_FETCHED = re.compile(
    r"(?:\$\(|<\(|`)\s*(?:sudo\s+)?(?:curl|wget|iwr|irm|aria2c)\b|\b(?:DownloadString|DownloadFile)\("
    r"|\((?:iwr|irm|curl|wget|Invoke-(?:WebRequest|RestMethod))\b",
    re.IGNORECASE,
)
_DECODED = re.compile(
    r"\bbase(?:64|32)\s+(?:-\w*[dD]|--decode)|\bxxd\s+(?:-\w+\s+)*-\w*r|\bopenssl\s+(?:enc|base64)\b"
    r"[^|;\n]{0,80}\s-d\b|FromBase64String\(",
    re.IGNORECASE,
)
# Code is matched by patterns within one line: there is a reader for shells only, and a parser per
# language would be a large dependency for little more (decision 0044).
_RUN_CODE = re.compile(
    r"\b(?:exec|eval|compile|Function|os\.system|subprocess\.\w+|child_process\.\w+|vm\.runIn\w+)\s*"
    r"\([^\n]{0,200}",
)
_CODE_FETCH = re.compile(
    r"requests\.get\(|urlopen\(|urllib\.request|httpx\.get\(|fetch\(|axios\.get\(|http\.get\(", re.I
)
_CODE_DECODE = re.compile(
    r"b64decode\(|b32decode\(|a85decode\(|bytes\.fromhex\(|unhexlify\(|atob\(|zlib\.decompress\("
    r"|marshal\.loads\(|Buffer\.from\([^\n)]{0,2000},\s*['\"](?:base64|hex)|codecs\.decode\(",
)
# PowerShell takes any beginning of `-EncodedCommand`. An encoded command is UTF-16 in base64, so
# that 20 characters are not even eight letters.
_ENCODED_OPTION = re.compile(r"-e(?:c|nc|ncodedcommand)?", re.IGNORECASE)
_ENCODED_VALUE = re.compile(r".{21,}", re.DOTALL)
_REMOTE_NAME = re.compile(r"-\w*O\w*|--remote-name(?:-all)?")
# The `-O` of curl takes no value, and the `-o` of wget names a log.
_OUTPUT_BY_PROGRAM = {
    "curl": re.compile(r"-o|--output"),
    "wget": re.compile(r"-O|--output-document"),
}
_OUTPUT = re.compile(r"-o|--output|--out|(?i:-outfile)")


def _match_pipe(passage: Passage) -> Iterator[Match]:
    if passage.kind is Kind.CODE:
        yield from _match_code(passage, _CODE_FETCH, "runs code that it downloads.")
        return
    # A file may be downloaded on one line of a script and run on a later one.
    url_by_file: dict[str, str] = {}
    for number, call in _list_calls(passage):
        if _runs_download(call):
            what = f"`{call.name}` runs what is downloaded"
            yield _judge(number, what, call.line.urls)
        file = _find_run_file(call)
        url = url_by_file.get(file)
        if url is not None:
            yield _judge(number, f"`{file}` is downloaded and run", (url,))
        url_by_file |= _list_downloads(call)


def _list_calls(passage: Passage) -> Iterator[tuple[int, ProgramCall]]:
    for number, line in passage.command_lines:
        for call in line.calls:
            yield number, call


def _runs_download(call: ProgramCall) -> bool:
    if call.runs_input:
        return _reads_download(call)
    evaluates = call.name == "eval" or call.name in _SOURCES
    if evaluates:
        return any(map(_FETCHED.match, call.arguments))
    if not call.takes_program:
        return False
    # Only a program that is the download: a script that fetches data is an ordinary one.
    program = call.script or call.operand
    return _FETCHED.match(program) is not None


def _reads_download(call: ProgramCall) -> bool:
    """Whether a call that takes its input as its program is given a download."""
    substituted = (*call.arguments, *call.line.targets)
    if any(map(_FETCHED.search, substituted)):
        return True
    fetchers = (before for before in call.input if before.name in _FETCHERS)
    # Without arguments `curl | sh` is a way of speaking, not a command.
    return any(fetcher.arguments for fetcher in fetchers)


def _judge(number: int, what: str, urls: Iterable[str]) -> Match:
    """A download that runs; one from where nobody answers for it is worse."""
    for url in urls:
        why = find_distrust(url)
        if why is not None:
            return Match(number, f"{what}, and {why}.", Severity.ERROR)
    return Match(number, f"{what}.")


def _find_run_file(call: ProgramCall) -> str:
    """The file that a call runs; empty if it runs none."""
    if call.takes_program or call.name in _SOURCES:
        return call.operand.removeprefix("./")
    return call.name


def _list_downloads(call: ProgramCall) -> dict[str, str]:
    """The files that a call downloads, by the ways to name them, each with its address."""
    if call.name not in _FETCHERS:
        return {}
    url = next((word for word in call.arguments if "://" in word), None)
    if url is None:
        return {}
    url_by_file: dict[str, str] = {}
    for name in _list_outputs(call, url):
        short = name.removeprefix("./")
        # Names of programs are compared in lower case, and a later line may run the file from
        # within its folder.
        spellings = (short, short.lower(), short.rpartition("/")[2])
        url_by_file |= dict.fromkeys(spellings, url)
    return url_by_file


def _list_outputs(call: ProgramCall, url: str) -> set[str]:
    """The files that a download is written to."""
    # `2>&1` has a number as its target.
    redirected = set(call.line.targets) - {"/dev/null", "1", "2"}
    if redirected:
        return redirected
    output = _OUTPUT_BY_PROGRAM.get(call.name, _OUTPUT)
    named = {value for option, value in call.list_options() if output.fullmatch(option)}
    if named:
        return named - {"-", ""}
    # Without `-O` curl writes to the output; wget names the file like the address.
    is_saved = call.name != "curl" or any(map(_REMOTE_NAME.fullmatch, call.arguments))
    # There may be slashes in a query.
    address = url.partition("?")[0]
    name = address.rstrip("/").rpartition("/")[2]
    if is_saved and name:
        return {name}
    return set()


def _match_encoded(passage: Passage) -> Iterator[Match]:
    if passage.kind is Kind.CODE:
        yield from _match_code(passage, _CODE_DECODE, "runs code that it decodes first.")
        return
    for number, call in _list_calls(passage):
        if _runs_decoded(call):
            yield Match(number, f"`{call.name}` runs text that is decoded first.")


def _runs_decoded(call: ProgramCall) -> bool:
    if call.is_interpreter and not call.runs_input:
        return _runs_decoded_code(call)
    return _DECODED.search(_get_program(call)) is not None


def _runs_decoded_code(call: ProgramCall) -> bool:
    """Whether an interpreter gets encoded code, or code that decodes some and runs it."""
    if call.name in ("pwsh", "powershell"):
        return call.has_option(_ENCODED_OPTION, _ENCODED_VALUE)
    code = " ".join(call.arguments)
    runs_code = _RUN_CODE.search(code) is not None
    # To decode is common, and harmless where the result is not run.
    return runs_code and _CODE_DECODE.search(code) is not None


def _get_program(call: ProgramCall) -> str:
    """The words that a shell gets its program from: pipes and redirections, or an argument."""
    if call.runs_input:
        piped = "|".join(before.text for before in call.input)
        return " ".join((piped, *call.arguments, *call.line.targets))
    if call.name == "eval":
        return " ".join(call.arguments)
    # A script may decode data; only one that is the output of a command is decoded itself.
    script = call.script or ""
    return script if script.startswith(("$(", "`")) else ""


def _match_code(passage: Passage, source: re.Pattern[str], what: str) -> Iterator[Match]:
    for running in _RUN_CODE.finditer(passage.text):
        if source.search(running[0]):
            name = running[0].partition("(")[0].strip()
            yield Match(passage.find_line(running.start()), f"`{name}` {what}")


_RUNS = re.compile(r"-\w*[ec]|--(?:sh-)?exec")
# `bash -i >& /dev/tcp/HOST/PORT`: these files are bash's own way to open a connection.
_NETWORK_FILE = re.compile(r"/dev/(?:tcp|udp)/")
_SOCAT_SHELL = re.compile(r"(?:exec|system):['\"]?\S*sh\b", re.IGNORECASE)
_SPAWNS = re.compile(r"dup2|pty\.spawn|/bin/(?:ba)?sh|subprocess")
_SHELL_PROGRAM = re.compile(r"(?:.*/)?(?:ba|z|da|k|c|tc)?sh|cmd(?:\.exe)?|powershell(?:\.exe)?")
_CODE_REVERSE = re.compile(
    r"\bdup2\([^\n]{0,60}fileno\(\)|pty\.spawn\(|TCPSocket\.(?:new|open)\([^\n]{0,200}\bexec\b"
    r"|fsockopen\([^\n]{0,200}(?:exec|proc_open)|\bexec[( ]*[\"']/bin/(?:ba)?sh -i"
    r"|net\.(?:connect|Socket)\([^\n]{0,200}\bspawn\(",
)
_CODE_SOCKET = re.compile(
    r"socket\.socket\(|\bsocket\(|fsockopen|TCPSocket|net\.(?:connect|Socket)\("
)


def _match_reverse(passage: Passage) -> Iterator[Match]:
    reason = "A shell is opened to another machine."
    if passage.kind is Kind.CODE:
        # Terminal emulators call `pty.spawn`, too; a shell for others also needs a socket.
        spawned = _CODE_REVERSE.search(passage.text)
        if spawned is not None and _CODE_SOCKET.search(passage.text):
            yield Match(passage.find_line(spawned.start()), reason)
        return
    for number, line in passage.command_lines:
        if _is_reverse(line):
            yield Match(number, reason)


def _is_reverse(line: CommandLine) -> bool:
    if any(map(_connects_shell, line.calls)):
        return True
    opens_connection = any(map(_NETWORK_FILE.match, line.targets))
    # Without a shell it is a test whether a port is open.
    return opens_connection and any(map(_is_redirected, line.calls))


def _is_redirected(call: ProgramCall) -> bool:
    """Whether redirecting it redirects a shell: `exec` does that for the shell that runs it."""
    return call.is_shell or call.name == "exec"


def _connects_shell(call: ProgramCall) -> bool:
    """Whether a program connects a shell to the network."""
    if call.name in _NETCATS:
        return _is_netcat_with_shell(call)
    if call.name == "socat":
        return any(map(_SOCAT_SHELL.match, call.arguments))
    if not call.is_interpreter:
        return False
    code = " ".join(call.arguments)
    # Every language has a word with `sock` for a connection; alone, or a shell alone, is harmless.
    has_socket = "sock" in code.lower()
    return has_socket and _SPAWNS.search(code) is not None


def _is_netcat_with_shell(call: ProgramCall) -> bool:
    """Whether netcat starts a shell (`-e`), or a shell writes into it through a pipe."""
    if call.has_option(_RUNS, _SHELL_PROGRAM):
        return True
    return any(before.is_shell for before in call.input)


RULES = (
    ScanRule(
        code="pipe-to-shell",
        severity=Severity.WARNING,
        summary="A download is run without review.",
        hint="Download a fixed version, check its digest, then run it.",
        reads=(Kind.COMMANDS, Kind.CODE),
        match=_match_pipe,
    ),
    ScanRule(
        code="encoded-command",
        severity=Severity.ERROR,
        summary="Encoded text is decoded and run.",
        hint="Write the command itself.",
        reads=(Kind.COMMANDS, Kind.CODE),
        match=_match_encoded,
    ),
    ScanRule(
        code="reverse-shell",
        severity=Severity.ERROR,
        summary="A shell is opened to another machine.",
        hint="Remove the command, and do not use the skill until you know why it is there.",
        reads=(Kind.COMMANDS, Kind.CODE),
        match=_match_reverse,
    ),
)
