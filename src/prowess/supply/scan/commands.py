"""Rules about commands that run what nobody has read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from prowess.diagnostics import Severity
from prowess.supply.scan.addresses import find_distrust
from prowess.supply.scan.command_line import Call, CommandLine
from prowess.supply.scan.rule import Kind, Match, Passage, Rule

_FETCHERS = frozenset(
    "curl wget aria2c fetch http https iwr irm invoke-webrequest invoke-restmethod lynx".split()
)
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
_ENCODED_POWERSHELL = re.compile(r"-e(?:c|nc|ncodedcommand)?", re.IGNORECASE)
_REMOTE_NAME = re.compile(r"-\w*O\w*|--remote-name(?:-all)?")
_OUTPUT = re.compile(r"-\w*o|--output|-O|--output-document|-outfile", re.IGNORECASE)


def _match_pipe(passage: Passage) -> Iterator[Match]:
    if passage.kind is Kind.CODE:
        yield from _match_code(passage, _CODE_FETCH, "runs code that it downloads.")
        return
    fetched: dict[str, str] = {}
    for number, call in _list_calls(passage):
        if _runs_download(call):
            yield _judge(number, call.line, f"`{call.name}` runs what is downloaded")
        file = _find_file(call)
        if file in fetched:
            yield _judge(number, call.line, f"`{file}` is downloaded and run", fetched[file])
        fetched |= _list_fetched(call)


def _list_lines(passage: Passage) -> Iterator[tuple[int, CommandLine]]:
    for number, line in passage.command_lines:
        for nested in line.list_nested():
            yield number, nested


def _list_calls(passage: Passage) -> Iterator[tuple[int, Call]]:
    for number, line in _list_lines(passage):
        for call in line.calls:
            yield number, call


def _runs_download(call: Call) -> bool:
    if call.runs_input:
        # Without arguments `curl | sh` is a way of speaking, not a command.
        is_piped = any(one.name in _FETCHERS and one.arguments for one in call.input)
        is_filled = any(map(_FETCHED.search, (*call.arguments, *call.line.targets)))
        return is_piped or is_filled
    if call.name in ("eval", "source", "."):
        return any(map(_FETCHED.match, call.arguments))
    if call.is_shell or call.is_interpreter:
        program = call.script or _find_operand(call)
        return _FETCHED.match(program) is not None
    return False


def _find_operand(call: Call) -> str:
    """The first argument that is not an option; empty if there is none."""
    return next((word for word in call.arguments if not word.startswith("-")), "")


def _judge(number: int, line: CommandLine, what: str, url: str | None = None) -> Match:
    """A download that runs; one from where nobody answers for it is worse."""
    for one in (url,) if url is not None else line.urls:
        why = find_distrust(one)
        if why is not None:
            return Match(number, f"{what}, and {why}.", Severity.ERROR)
    return Match(number, f"{what}.")


def _find_file(call: Call) -> str:
    """The file that a call runs; empty if it runs none."""
    takes_file = call.is_shell or call.is_interpreter or call.name in ("source", ".")
    return _find_operand(call).removeprefix("./") if takes_file else call.name


def _list_fetched(call: Call) -> dict[str, str]:
    """The files that a call downloads, by the ways to name them, each with its address."""
    url = next((word for word in call.arguments if "://" in word), None)
    if call.name not in _FETCHERS or url is None:
        return {}
    found: dict[str, str] = {}
    for name in _list_outputs(call, url):
        short = name.removeprefix("./")
        found |= dict.fromkeys((short, short.lower(), short.rpartition("/")[2]), url)
    return found


def _list_outputs(call: Call, url: str) -> set[str]:
    """The files that a download is written to."""
    redirected = set(call.line.targets) - {"/dev/null", "1", "2"}
    if redirected:
        return redirected
    for option, value in pairwise(call.arguments):
        if _OUTPUT.fullmatch(option) and "://" not in value:
            return {value} - {"-"}
    # Without `-O` curl writes to the output; wget names the file like the address.
    is_named = call.name != "curl" or any(map(_REMOTE_NAME.fullmatch, call.arguments))
    name = url.rstrip("/").rpartition("/")[2].partition("?")[0]
    return {name} if is_named and name else set()


def _match_encoded(passage: Passage) -> Iterator[Match]:
    if passage.kind is Kind.CODE:
        yield from _match_code(passage, _CODE_DECODE, "runs code that it decodes first.")
        return
    for number, call in _list_calls(passage):
        if _runs_decoded(call):
            yield Match(number, f"`{call.name}` runs text that is decoded first.")


def _runs_decoded(call: Call) -> bool:
    if call.is_interpreter and not call.runs_input:
        return _runs_decoded_code(call)
    return _DECODED.search(_get_program(call)) is not None


def _runs_decoded_code(call: Call) -> bool:
    """Whether an interpreter gets encoded code, or code that decodes some and runs it."""
    if call.name in ("pwsh", "powershell"):
        pairs = pairwise(call.arguments)
        return any(_ENCODED_POWERSHELL.fullmatch(one) and len(two) > 20 for one, two in pairs)
    code = " ".join(call.arguments)
    return _RUN_CODE.search(code) is not None and _CODE_DECODE.search(code) is not None


def _get_program(call: Call) -> str:
    """The words that a shell gets its program from: pipes and redirections, or an argument."""
    if call.runs_input:
        piped = "|".join(" ".join((one.name, *one.arguments)) for one in call.input)
        return " ".join((piped, *call.arguments, *call.line.targets))
    if call.name == "eval":
        return " ".join(call.arguments)
    # A script may decode data; only one that is the output of a command is decoded itself.
    script = call.script or ""
    return script if script.startswith(("$(", "`")) else ""


def _match_code(passage: Passage, source: re.Pattern[str], what: str) -> Iterator[Match]:
    for found in _RUN_CODE.finditer(passage.text):
        if source.search(found[0]):
            name = found[0].partition("(")[0].strip()
            yield Match(passage.find_line(found.start()), f"`{name}` {what}")


_RUNS = re.compile(r"-\w*[ec]|--(?:sh-)?exec")
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
        found = _CODE_REVERSE.search(passage.text)
        if found is not None and _CODE_SOCKET.search(passage.text):
            yield Match(passage.find_line(found.start()), reason)
        return
    for number, line in _list_lines(passage):
        if _is_reverse(line):
            yield Match(number, reason)


def _is_reverse(line: CommandLine) -> bool:
    to_network = any(target.startswith(("/dev/tcp/", "/dev/udp/")) for target in line.targets)
    if to_network and any(call.is_shell or call.name == "exec" for call in line.calls):
        return True
    return any(map(_hands_over, line.calls))


def _hands_over(call: Call) -> bool:
    """Whether a program connects a shell to the network."""
    if call.name in ("nc", "ncat", "netcat"):
        pairs = pairwise(call.arguments)
        is_given = any(_RUNS.fullmatch(one) and _SHELL_PROGRAM.fullmatch(two) for one, two in pairs)
        return is_given or any(before.is_shell for before in call.input)
    if call.name == "socat":
        return any(map(_SOCAT_SHELL.match, call.arguments))
    code = " ".join(call.arguments)
    is_connected = call.is_interpreter and "sock" in code.lower()
    return is_connected and _SPAWNS.search(code) is not None


RULES = (
    Rule(
        code="pipe-to-shell",
        severity=Severity.WARNING,
        summary="A download is run without review.",
        hint="Download a fixed version, check its digest, then run it.",
        reads=(Kind.COMMANDS, Kind.CODE),
        match=_match_pipe,
    ),
    Rule(
        code="encoded-command",
        severity=Severity.ERROR,
        summary="Encoded text is decoded and run.",
        hint="Write the command itself.",
        reads=(Kind.COMMANDS, Kind.CODE),
        match=_match_encoded,
    ),
    Rule(
        code="reverse-shell",
        severity=Severity.ERROR,
        summary="A shell is opened to another machine.",
        hint="Remove the command, and do not use the skill until you know why it is there.",
        reads=(Kind.COMMANDS, Kind.CODE),
        match=_match_reverse,
    ),
)
