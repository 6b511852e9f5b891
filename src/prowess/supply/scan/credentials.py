"""The rule about credentials that are read where they are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prowess.diagnostics import Severity
from prowess.supply.scan.command_line import ProgramCall
from prowess.supply.scan.instructions import is_about
from prowess.supply.scan.rule import Kind, Match, Passage, ScanRule

_HOME = r"(?:~|\$HOME|\$\{HOME\}|\$env:USERPROFILE|%USERPROFILE%|/root|/(?:home|Users)/[\w.$-]+|\.)"
CREDENTIALS = re.compile(
    rf"{_HOME}[/\\](?:\.ssh(?:[/\\](?:id_\w+(?!\.pub|\w)|\*)?)?(?=[\s'\"`;|)*,]|$|[/\\][\s'\"])"
    r"|\.aws(?:[/\\](?:credentials|\*)?)?(?=[\s'\"`;|)*,]|$)|\.netrc|\.git-credentials|\.pypirc"
    r"|\.npmrc|\.pgpass|\.docker[/\\]config\.json|\.kube[/\\]config|\.gnupg\b"
    r"|\.config[/\\](?:gcloud|gh[/\\]hosts\.yml|op)\b|\.azure[/\\]\w*|\.claude[/\\]\.credentials"
    r"|\.codex[/\\]auth\.json|\.bash_history|\.zsh_history|\.vault-token|\.terraform\.d[/\\]creden"
    r"|Library[/\\](?:Keychains|Application Support[/\\](?:Google[/\\]Chrome|Firefox))"
    r"|\.mozilla[/\\]firefox|\.config[/\\](?:google-chrome|solana)|\.ethereum|\.bitcoin|\.electrum)"
    r"|/etc/(?:shadow|sudoers)\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)|\bwallet\.dat\b"
    r"|\b(?:Login Data|logins\.json|key4\.db|Cookies\.sqlite)\b|/proc/(?:self|\d+)/environ\b"
    r"|\.aws[/\\]credentials\b|\.ssh[/\\]id_\w+(?!\.pub|\w)",
    re.IGNORECASE,
)
_READERS = frozenset(
    "cat less more head tail cp mv tar zip 7z base64 xxd od hexdump strings grep rg awk sed dd gpg"
    " type get-content gc copy-item curl wget nc ncat scp rsync find openssl tee jq cut sort xargs"
    " gzip bat nl rev sqlite3".split()
)
_KEYCHAIN = re.compile(
    r"\bsecurity\s+(?:find-(?:generic|internet)-password|dump-keychain|export)\b|\bsecret-tool\s+"
    r"(?:lookup|search)\b|\bcmdkey\s+/list|\bvaultcmd\b|\bmimikatz\b"
    r"|(?:\$\(|`)\s*gh\s+auth\s+token\b|\bgh\s+auth\s+token\b[^\n|;]{0,60}\|",
    re.IGNORECASE,
)
_PROSE_READ = re.compile(
    r"\b(?:read|open|print|dump|collect|copy|cat|grab|gather|harvest|extract|fetch|retrieve|include"
    r"|upload|send|steal|list|load|show|return|archive|search|look\s+(?:in|into|for|through))\b"
    r"[^\n.]{0,80}",
    re.IGNORECASE,
)
_CODE_READ = re.compile(
    r"\b(?:open|read_text|read_bytes|readFile(?:Sync)?|File\.read|file_get_contents|expanduser|Path"
    r"|readlines|ReadFile|glob|copyfile|copytree|make_archive|createReadStream|join)\s*\([^\n]{0,200}",
)
NEGATION = re.compile(
    r"\b(?:never|not|don'?t|avoid|without|refuse|must\s+not|cannot|forbid\w*|prohibit\w*|deny|denied"
    r"|block(?:s|ed)?|protect\w*|instead\s+of|no\s+need)\b|\bonly\s+$",
    re.IGNORECASE,
)


def _match_credentials(passage: Passage) -> Iterator[Match]:
    if passage.kind is Kind.COMMANDS:
        yield from _match_read_commands(passage)
        return
    pattern = _CODE_READ if passage.kind is Kind.CODE else _PROSE_READ
    text = passage.text
    for reading in pattern.finditer(text):
        # A path may begin inside the match and go on after it.
        path = CREDENTIALS.search(text, reading.start(), reading.end() + 80)
        if path is None or path.start() > reading.end():
            continue
        if passage.kind is Kind.PROSE and _is_harmless(text, reading, path):
            continue
        reason = f"`{path[0].strip()}`, where credentials are stored, is read."
        yield Match(passage.find_line(path.start()), reason)


def _is_harmless(text: str, reading: re.Match[str], path: re.Match[str]) -> bool:
    """Whether a sentence forbids to read a file, or is about those who do."""
    before = text[max(0, reading.start() - 80) : path.start()]
    if NEGATION.search(before):
        return True
    return is_about(text, reading.start(), reading.end())


def _match_read_commands(passage: Passage) -> Iterator[Match]:
    for number, line in passage.command_lines:
        keychain = _KEYCHAIN.search(line.text)
        if keychain is not None:
            reason = f"`{keychain[0]}` reads secrets from the system's credential store."
            yield Match(number, reason)
        for call in line.calls:
            path = _find_credential(call)
            if path is not None:
                reason = f"`{call.name}` reads `{path}`, where credentials are stored."
                yield Match(number, reason)
                break


def _find_credential(call: ProgramCall) -> str | None:
    if call.name not in _READERS:
        return None
    for word in call.arguments:
        # In an address it is a file of the other machine.
        if "://" in word:
            continue
        path = CREDENTIALS.search(word)
        if path is not None:
            return path[0].strip()
    return None


RULES = (
    ScanRule(
        code="credential-read",
        severity=Severity.WARNING,
        summary="A file or store with credentials is read.",
        hint="Let the program that needs the credential find it; a skill does not need to see it.",
        reads=(Kind.PROSE, Kind.COMMANDS, Kind.CODE),
        match=_match_credentials,
    ),
)
