"""The rule about secrets and other data that are sent to another machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from prowess.diagnostics import Severity
from prowess.supply.scan.addresses import find_drop, is_local
from prowess.supply.scan.command_line import ProgramCall
from prowess.supply.scan.credentials import CREDENTIALS, NEGATION
from prowess.supply.scan.instructions import is_about
from prowess.supply.scan.rule import Kind, Match, Passage, ScanRule

_SENDERS = frozenset(
    "curl wget http https nc ncat netcat scp rsync ftp sftp iwr irm invoke-webrequest"
    " invoke-restmethod telnet socat dig nslookup host ping".split()
)
# Their arguments are files, so every word may be what is sent.
_COPIERS = frozenset("scp rsync ftp sftp nc ncat netcat".split())
_FILE_OPTIONS = re.compile(r"-T|--(?:upload|post|body)-file|(?i:-infile)")
# They send nothing but a name, which is enough to carry data to a name server.
_RESOLVERS = frozenset("dig nslookup host ping".split())
# PowerShell ignores the case of its options; to curl `-f` and `-D` mean something else.
_BODY = re.compile(
    r"-[dFT]|--(?:data(?:-\w+)?|form|json|upload-file|post-(?:file|data)|body-(?:file|data))"
    r"|(?i:-(?:body|infile))",
)
_DUMPS = frozenset("env printenv history set export".split())
_SECRET_WORD = re.compile(
    r"\$\(\s*(?:env|printenv|set|history)\s*(?:\)|\|)|`\s*(?:env|printenv|history)\s*[`|]"
    r"|(?:^|[@=/\s\"'])\.env(?:\.\w+)?(?=$|[\s'\")|;])|/etc/passwd\b|\.(?:bash|zsh)_history\b"
    r"|\$\{?(?:AWS_SECRET\w*|GITHUB_TOKEN|GH_TOKEN|ANTHROPIC_API_KEY|OPENAI_API_KEY|NPM_TOKEN"
    r"|SSH_PRIVATE_KEY|DATABASE_PASSWORD|DB_PASSWORD)\b",
)
_FILLED = re.compile(r"\$\(|`")
_WHO = re.compile(r"(?:\$\(|`)\s*(?:whoami|hostname|id|uname|pwd|cat|base64|env|ls|git)\b")


def _match_exfiltration(passage: Passage) -> Iterator[Match]:
    if passage.kind is Kind.COMMANDS:
        yield from _match_sent_commands(passage)
    elif passage.kind is Kind.CODE:
        yield from _match_sent_code(passage)
    else:
        yield from _match_sent_prose(passage)


def _match_sent_commands(passage: Passage) -> Iterator[Match]:
    for number, line in passage.command_lines:
        # What a program on this machine is sent stays on this machine.
        if line.urls and all(map(is_local, line.urls)):
            continue
        senders = (call for call in line.calls if call.name in _SENDERS)
        judged = (_judge_sender(number, call) for call in senders)
        # One finding is enough for a line.
        match = next(filter(None, judged), None)
        if match is not None:
            yield match


def _judge_sender(number: int, call: ProgramCall) -> Match | None:
    """What is wrong with what a call sends; None if nothing is."""
    sent = " ".join(_list_sent(call))
    drop = find_drop(call.line.expanded)
    # To such a host even a token that otherwise logs in is given away.
    suspected = sent if drop is None else f"{sent} {call.line.expanded}"
    secret = _find_secret(call, suspected)
    if secret is not None:
        reason = f"`{call.name}` sends {secret} to another machine."
        return Match(number, reason, Severity.ERROR)
    # What goes into netcat may come from a line that is not seen here.
    is_sent = sent or call.name in ("nc", "ncat")
    if drop is not None and is_sent:
        reason = f"`{call.name}` sends data to {drop}, which collects data for its owner."
        return Match(number, reason, Severity.WARNING)
    # The owner of a name server sees every name that is looked up in its domain.
    if call.name in _RESOLVERS and any(map(_WHO.search, call.arguments)):
        reason = f"`{call.name}` looks up a host name that contains the output of a command."
        return Match(number, reason, Severity.ERROR)
    return None


def _find_secret(call: ProgramCall, sent: str) -> str | None:
    """The secret among the words that a call sends; None if there is none."""
    if any(before.name in _DUMPS for before in call.input):
        return "the environment"
    secret = CREDENTIALS.search(sent) or _SECRET_WORD.search(sent)
    if secret is None or _is_login(secret[0], call):
        return None
    return f"`{secret[0].strip()}`"


def _is_login(secret: str, call: ProgramCall) -> bool:
    """Whether a secret only logs in, as in `scp -i KEY`."""
    if call.name not in ("scp", "rsync", "sftp"):
        return False
    pairs = pairwise(call.arguments)
    return any(option in ("-i", "-e") and secret in value for option, value in pairs)


def _list_sent(call: ProgramCall) -> Iterator[str]:
    """The words that leave the machine: bodies, files, filled-in addresses, and piped input."""
    for before in call.input:
        yield before.text
    if call.name in _COPIERS:
        yield from (*call.arguments, *call.line.targets)
        return
    for option, value in call.list_options():
        if _BODY.fullmatch(option) and _comes_from_elsewhere(option, value):
            yield value
    for argument in call.arguments:
        # A command in an address sends its output with the request.
        if "://" in argument and _FILLED.search(argument):
            yield argument


def _comes_from_elsewhere(option: str, value: str) -> bool:
    """Whether the body of a request is a file or the output of a command.

    A variable in the text of a body is not: a token there logs in, as one in a header does.
    """
    # curl reads a file after `@`, as in `-d @FILE` and `-F field=@FILE`.
    is_file = _FILE_OPTIONS.fullmatch(option) is not None or "@" in value
    return is_file or _FILLED.search(value) is not None


_CODE_SENDERS = re.compile(
    r"\b(?:requests|httpx|session|client)\.(?:post|put)\(|urlopen\(|\baxios\.(?:post|put)\("
    r"|\bfetch\([^\n]{0,200}|\.sendall?\(|XMLHttpRequest|sendBeacon\(|Invoke-RestMethod|http\.request\(",
)
_CODE_DUMPS = re.compile(
    r"(?:json\.dumps|dict|str|repr|list|urlencode|JSON\.stringify|Object\.entries)\(\s*(?:os\.environ"
    r"|process\.env)\b(?!\s*[.\[])|\bos\.environ\.(?:copy|items)\(\)|(?:json|data|body)\s*[=:]\s*"
    r"(?:os\.environ|process\.env)\b(?!\s*[.\[])",
)
# How much code around a sender is judged with it, and how far the next one must be.
_BEFORE, _AFTER, _STEP = 1_500, 700, 200


def _match_sent_code(passage: Passage) -> Iterator[Match]:
    text = passage.text
    judged = -_STEP
    for sender in _CODE_SENDERS.finditer(text):
        # What is around the next sender is nearly the same, and a file may have thousands.
        if sender.start() - judged < _STEP:
            continue
        judged = sender.start()
        around = text[max(0, judged - _BEFORE) : judged + _AFTER]
        match = _judge_code(passage, judged, around)
        if match is not None:
            yield match
            return


def _judge_code(passage: Passage, at: int, around: str) -> Match | None:
    """What is wrong with code that sends something, by what is around it; None if nothing is."""
    line = passage.find_line(at)
    secret = CREDENTIALS.search(around) or _CODE_DUMPS.search(around)
    if secret is not None:
        reason = f"`{secret[0].strip()}` is read near code that sends data to another machine."
        return Match(line, reason, Severity.ERROR)
    drop = find_drop(around)
    if drop is None:
        return None
    return Match(line, f"Data is sent to {drop}, which collects data for its owner.")


_SECRETS = re.compile(
    r"\b(?:(?:api|access|ssh|private|secret)[ _-]?(?:keys?|tokens?)|tokens|credentials|passwords?"
    r"|secrets|environment\s+variables|env\s+vars|cookies|seed\s+phrase"
    r"|(?:conversation|chat|shell)\s+history|(?:system|full)\s+prompt"
    r"|(?:full|entire|whole)\s+conversation|user'?s?\s+(?:files|messages|data|input))"
    r"|\.(?:env|ssh|aws)\b",
    re.IGNORECASE,
)
# Neither the method of a request, nor an option or a field of that name.
_SEND = re.compile(
    r"(?<![\w-])(?!(?-i:POST))(?:send|upload|post|transmit|forward|e-?mail|exfiltrate|leak|submit"
    r"|append|relay|deliver)\s[^\n]{0,240}",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"https?://[^\s)>\]]{4,200}|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.]{2,63}|\bour\s+(?:server|endpoint"
    r"|collector|webhook|backend|api)|\b(?:a|the|this)\s+(?:remote|external|webhook|collector)\s*"
    r"(?:server|endpoint|url|host|address)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_IMAGE = re.compile(
    r"!\[[^\]\n]{0,200}\]\(https?://[^\s)]{1,300}[?&/=](?:\{|\$\{|<|%7B|\[)"
    r"[^)\n]{0,60}\b(?:secrets?|keys?|tokens?|history|contents?|summary|conversation|context|env|base64)",
    re.IGNORECASE,
)


def _names_secret_and_target(text: str) -> bool:
    """Whether the first sentence of a text says what is sent, and where to."""
    sentence = _SENTENCE_END.split(text, maxsplit=1)[0]
    # A word in an address, such as `/oauth/access_token`, is not what is sent.
    words, targets = _WHERE.subn(" ", sentence)
    return targets > 0 and _SECRETS.search(words) is not None


def _match_sent_prose(passage: Passage) -> Iterator[Match]:
    text = passage.plain
    for order in _SEND.finditer(text):
        start = order.start()
        before = text[max(0, start - 60) : start]
        # “Never send …”, or a text about attacks.
        is_harmless = NEGATION.search(before) or is_about(text, start, order.end())
        if is_harmless or not _names_secret_and_target(order[0]):
            continue
        reason = "The model is told to send secrets to another machine."
        yield Match(passage.find_plain_line(start), reason, Severity.ERROR)
    for image in _IMAGE.finditer(text):
        reason = "An image URL contains data, which is sent as soon as the image is shown."
        yield Match(passage.find_plain_line(image.start()), reason, Severity.ERROR)


RULES = (
    ScanRule(
        code="exfiltration",
        severity=Severity.WARNING,
        summary="Secrets or other data are sent to another machine.",
        hint="Remove it, or send only what the task needs, to a server that the user knows about.",
        reads=(Kind.PROSE, Kind.COMMANDS, Kind.CODE),
        match=_match_exfiltration,
    ),
)
