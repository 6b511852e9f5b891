"""Rules about secrets: reading where they are kept, and sending them away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from prowess.diagnostics import Severity
from prowess.supply.scan.addresses import find_drop, is_local
from prowess.supply.scan.command_line import Call
from prowess.supply.scan.instructions import is_about
from prowess.supply.scan.rule import Kind, Match, Passage, Rule

_HOME = r"(?:~|\$HOME|\$\{HOME\}|\$env:USERPROFILE|%USERPROFILE%|/root|/(?:home|Users)/[\w.$-]+|\.)"
_CREDENTIALS = re.compile(
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
_NEGATION = re.compile(
    r"\b(?:never|not|don'?t|avoid|without|refuse|must\s+not|cannot|forbid\w*|prohibit\w*|deny|denied"
    r"|block(?:s|ed)?|protect\w*|instead\s+of|no\s+need)\b",
    re.IGNORECASE,
)


def _match_credentials(passage: Passage) -> Iterator[Match]:
    if passage.kind is Kind.COMMANDS:
        yield from _match_read_commands(passage)
        return
    pattern = _CODE_READ if passage.kind is Kind.CODE else _PROSE_READ
    text = passage.text
    for found in pattern.finditer(text):
        path = _CREDENTIALS.search(text, found.start(), found.end() + 80)
        if path is None or path.start() > found.end():
            continue
        before = text[max(0, found.start() - 80) : path.start()]
        if passage.kind is Kind.PROSE and (_NEGATION.search(before) or _is_about(text, found)):
            continue
        reason = f"`{path[0].strip()}` is read, where credentials are kept."
        yield Match(passage.find_line(path.start()), reason)


def _is_about(text: str, found: re.Match[str]) -> bool:
    return is_about(text, found.start(), found.end())


def _match_read_commands(passage: Passage) -> Iterator[Match]:
    for number, line in passage.command_lines:
        found = _KEYCHAIN.search(line.text)
        if found is not None:
            yield Match(number, f"`{found[0]}` takes secrets out of the system's store.")
        for call in line.calls:
            path = _find_credential(call)
            if path is not None:
                yield Match(number, f"`{call.name}` reads `{path}`, where credentials are kept.")
                break


def _find_credential(call: Call) -> str | None:
    if call.name not in _READERS:
        return None
    for word in call.arguments:
        # In an address it is a file of the other machine.
        found = None if "://" in word else _CREDENTIALS.search(word)
        if found is not None:
            return found[0].strip()
    return None


_SENDERS = frozenset(
    "curl wget http https nc ncat netcat scp rsync ftp sftp iwr irm invoke-webrequest"
    " invoke-restmethod telnet socat dig nslookup host ping".split()
)
_RESOLVERS = frozenset("dig nslookup host ping".split())
_BODY = re.compile(
    r"-(?:d|F|T)|--(?:data(?:-\w+)?|form|json|upload-file|post-(?:file|data)|body-(?:file|data))"
    r"|-(?:body|infile)",
    re.IGNORECASE,
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
        for call in line.calls:
            if call.name not in _SENDERS:
                continue
            urls = [url for url in line.urls if not is_local(url)]
            if line.urls and not urls:
                continue
            judged = _judge_sent(call)
            if judged is not None:
                reason, severity = judged
                yield Match(number, reason, severity)
                break


def _judge_sent(call: Call) -> tuple[str, Severity] | None:
    text = call.line.text
    sent = " ".join(_list_sent(call))
    drop = find_drop(text)
    secret = _CREDENTIALS.search(sent)
    secret = secret or _SECRET_WORD.search(sent if drop is None else text)
    dumped = any(before.name in _DUMPS for before in call.input)
    if (secret is not None and not _is_login(secret[0], call)) or dumped:
        what = f"`{secret[0].strip()}`" if secret is not None else "the environment"
        return f"`{call.name}` sends {what} to another machine.", Severity.ERROR
    if drop is not None and (sent or call.name in ("nc", "ncat")):
        reason = f"`{call.name}` sends data to {drop}, which shows it to whoever set it up."
        return reason, Severity.WARNING
    if call.name in _RESOLVERS and any(map(_WHO.search, call.arguments)):
        reason = f"`{call.name}` puts the output of a command into a name that it looks up."
        return reason, Severity.ERROR
    return None


def _is_login(secret: str, call: Call) -> bool:
    """Whether a secret only logs in: `scp -i KEY`, or a token in a header."""
    if call.name in ("scp", "rsync", "sftp"):
        pairs = pairwise(call.arguments)
        return any(option in ("-i", "-e") and secret in value for option, value in pairs)
    return False


def _list_sent(call: Call) -> Iterator[str]:
    """The words that leave the machine: bodies, files, filled-in addresses, and piped input."""
    words = call.arguments
    for before in call.input:
        yield " ".join((before.name, *before.arguments))
    if call.name in ("scp", "rsync", "ftp", "sftp", "nc", "ncat", "netcat"):
        yield from words
        yield from call.line.targets
        return
    for option, value in pairwise((*words, "")):
        if _BODY.fullmatch(option):
            # A token in the body of a request logs in as one in a header does.
            is_file = option in ("-T", "--upload-file") or "@" in value
            yield value if is_file or _FILLED.search(value) else ""
        elif "://" in option and _FILLED.search(option):
            yield option
        elif _BODY.fullmatch(option.partition("=")[0]) and "=" in option:
            yield option


_CODE_SENDERS = re.compile(
    r"\b(?:requests|httpx|session|client)\.(?:post|put)\(|urlopen\(|\baxios\.(?:post|put)\("
    r"|\bfetch\([^\n]{0,200}|\.sendall?\(|XMLHttpRequest|sendBeacon\(|Invoke-RestMethod|http\.request\(",
)
_CODE_DUMPS = re.compile(
    r"(?:json\.dumps|dict|str|repr|list|urlencode|JSON\.stringify|Object\.entries)\(\s*(?:os\.environ"
    r"|process\.env)\b(?!\s*[.\[])|\bos\.environ\.(?:copy|items)\(\)|(?:json|data|body)\s*[=:]\s*"
    r"(?:os\.environ|process\.env)\b(?!\s*[.\[])",
)
_NEAR = 1_500


def _match_sent_code(passage: Passage) -> Iterator[Match]:
    text = passage.text
    for sender in _CODE_SENDERS.finditer(text):
        around = text[max(0, sender.start() - _NEAR) : sender.end() + _NEAR // 3]
        path, dump = _CREDENTIALS.search(around), _CODE_DUMPS.search(around)
        secret = path or dump
        if secret is not None:
            reason = f"`{secret[0].strip()}` is read near code that sends data to another machine."
            yield Match(passage.find_line(sender.start()), reason, Severity.ERROR)
            return
        drop = find_drop(around)
        if drop is not None:
            reason = f"Data is sent to {drop}, which shows it to whoever set it up."
            yield Match(passage.find_line(sender.start()), reason)
            return


_SECRETS = re.compile(
    r"\b(?:(?:api|access|ssh|private|secret)[ _-]?(?:keys?|tokens?)|tokens|credentials|passwords?"
    r"|secrets|environment\s+variables|env\s+vars|cookies|seed\s+phrase"
    r"|(?:conversation|chat|shell)\s+history|(?:system|full)\s+prompt"
    r"|(?:full|entire|whole)\s+conversation|user'?s?\s+(?:files|messages|data|input))"
    r"|\.(?:env|ssh|aws)\b",
    re.IGNORECASE,
)
_SEND = re.compile(
    r"\b(?:send|upload|post|transmit|forward|e-?mail|exfiltrate|leak|submit|append"
    r"|relay|deliver)\b[^\n]{0,240}",
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


def _match_sent_prose(passage: Passage) -> Iterator[Match]:
    text = passage.plain
    for found in _SEND.finditer(text):
        sentence = _SENTENCE_END.split(found[0], maxsplit=1)[0]
        if not (_SECRETS.search(sentence) and _WHERE.search(sentence)):
            continue
        before = text[max(0, found.start() - 60) : found.start()]
        if _NEGATION.search(before) or is_about(text, found.start(), found.end()):
            continue
        reason = "The model is told to send secrets to another machine."
        yield Match(passage.find_plain_line(found.start()), reason, Severity.ERROR)
    for found in _IMAGE.finditer(text):
        reason = "The address of an image is filled with data, which leaves as soon as it is shown."
        yield Match(passage.find_plain_line(found.start()), reason, Severity.ERROR)


RULES = (
    Rule(
        code="credential-read",
        severity=Severity.WARNING,
        summary="A file or a store where credentials are kept is read.",
        hint="Let the program that needs the credential find it; a skill need not see it.",
        reads=(Kind.PROSE, Kind.COMMANDS, Kind.CODE),
        match=_match_credentials,
    ),
    Rule(
        code="exfiltration",
        severity=Severity.WARNING,
        summary="Secrets or other data are sent to another machine.",
        hint="Remove it, or send only what the task needs to where the user knows it goes.",
        reads=(Kind.PROSE, Kind.COMMANDS, Kind.CODE),
        match=_match_exfiltration,
    ),
)
