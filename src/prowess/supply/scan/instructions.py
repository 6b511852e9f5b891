"""Rules about instructions that turn a model against its user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prowess.diagnostics import Severity
from prowess.supply.scan.rule import Kind, Match, Passage, ScanRule

# Every gap has a limit, so that a search takes time in proportion to the text.
_OLD = r"(?:previous|prior|preceding|above|earlier|existing|original|initial|former|current|other)"
_RULES = (
    r"(?:instructions?|prompts?|rules|guidelines|directions?|directives?|commands|constraints"
    r"|restrictions|polic(?:y|ies)|context|messages?|guardrails|safeguards)"
)
_DROP = r"(?:ignore|disregard|forget|override|bypass|discard|set\s+aside|do\s+not\s+follow)"
_WHOSE = r"(?:(?:all|any|every|each|of|the|your|my|its|these|those|everything)\s+){0,4}"
_OVERRIDE = re.compile(
    "|".join(
        (
            rf"\b{_DROP}\s+{_WHOSE}(?:{_OLD}|system|developer|safety|built-?in)\s+"
            rf"(?:and\s+\w+\s+)?(?:(?:system|safety|security|user)\s+)?{_RULES}\b",
            rf"\b{_DROP}\s+(?:all|any|everything|what(?:ever)?)\s+(?:of\s+)?"
            r"(?:\w+\s+){0,4}(?:above|before(?:\s+this)?|said\s+(?:earlier|before)|were\s+told)\b",
            rf"\b{_DROP}\s+(?:all\s+)?(?:of\s+)?your\s+(?:\w+\s+)?{_RULES}\b",
            rf"\b(?:{_OLD}|system)\s+{_RULES}\s+(?:no\s+longer|do(?:es)?\s+not|don'?t)\s+"
            r"(?:apply|count|matter|bind)\b",
            rf"\b(?:treat|consider|regard)\s+{_WHOSE}(?:{_OLD}|system)\s+{_RULES}\s+(?:as\s+)?"
            r"(?:void|invalid|obsolete|superseded|revoked)\b",
            rf"\b(?:drop|abandon)\s+(?:all|any|every|each)\s+(?:\w+\s+)?{_RULES[:-1]}|rule)\s+"
            r"(?:that\s+)?you\s+(?:were|have\s+been)\b",
            r"\bact\s+as\s+(?:if|though)\s+(?:you|there)\s+(?:had|have|were|are)\s+(?:no|without)\s+"
            r"(?:\w+\s+)?(?:restrictions|rules|limits|filters|guidelines)\b",
            r"\byou\s+are\s+(?:now|no\s+longer)\s+(?:in\s+)?(?:\w+\s+){0,3}"
            r"(?:developer\s+mode|dan\b|jailbroken|unrestricted|unfiltered|uncensored"
            r"|bound\s+by|restricted|without\s+(?:any\s+)?(?:restrictions|limits|filters))",
            r"\b(?:enter|enable|activate|switch\s+to)\s+(?:\w+\s+){0,2}"
            r"(?:developer|god|jailbreak|dan|unrestricted|sudo)\s+mode\b",
            r"\b(?:disable|turn\s+off|bypass|circumvent|evade)\s+(?:all\s+|any\s+|your\s+|the\s+)"
            r"{0,2}(?:model'?s?\s+|agent'?s?\s+|ai\s+)?(?:safety|content|ethical|security|alignment)"
            r"\s+(?:\w+\s+)?(?:filters?|guidelines|guardrails|restrictions|checks|protocols"
            r"|policies|training|measures)\b",
            r"\b(?:this|these)\s+(?:\w+\s+){0,2}(?:instructions?|message|skill)\s+"
            r"(?:supersedes?|overrides?|replaces?|takes?\s+(?:precedence|priority)\s+over)\s+"
            r"(?:\w+\s+){0,3}(?:system|developer|safety|user'?s?|previous|other)\b",
        )
    ),
    re.IGNORECASE,
)
_MARKS = re.compile(
    r"<\|(?:im_start|system|start_header_id)\|>|(?-i:\[(?:INST|SYS)\])|<<SYS>>"
    r"|^\s*</?(?:system(?:[-_](?:prompt|message|instructions?|override))?)>",
    re.IGNORECASE | re.MULTILINE,
)
_CONCEAL = re.compile(
    "|".join(
        (
            r"\bwithout\s+(?:the\s+user(?:'s|s')?|their|his|her|user|anyone)\s+"
            r"(?:\w+\s+)?(?:knowledge|knowing|noticing|awareness|realizing|seeing)\b",
            r"\bbehind\s+(?:the\s+)?(?:user'?s?\s+)?back(?:\s+of\s+the\s+user)?\b",
            r"\b(?:do\s+not|don'?t|never)\s+let\s+the\s+(?:user|human|operator)\s+"
            r"(?:see|know|notice|find\s+out)\s+that\s+you\b",
            r"\b(?:user|person|human|operator)(?:\s+\w+){0,3}\s+(?:never|must\s+not|should\s+not)\s+"
            r"(?:finds?\s+out|notices?|learns?|suspects?)\b",
            r"\bno\s+need\s+for\s+the\s+(?:user|human|operator)\s+to\s+(?:know|learn|hear|see)\b",
            r"\b(?:remove|erase|clear|delete)\s+(?:all|any|every)\s+traces?\s+(?:of|from)\b",
            r"\b(?:hide|conceal|keep)\s+(?:\w+\s+){1,6}"
            r"(?:secret\s+|hidden\s+|private\s+)?from\s+the\s+(?:user|human|developer|operator)\b",
            r"\bthe\s+(?:user|human|operator|developer)\s+(?:must|should|can|may|shall)\s*"
            r"(?:not|n't|never)\s+(?:to\s+)?(?:ever\s+)?"
            r"(?:know|notice|find\s+out|be\s+(?:aware|told|informed|notified)|learn|suspect)\b",
            r"\b(?:do\s+not|don'?t|never|must\s+not|avoid|refrain\s+from)\s+"
            r"(?:tell|inform|notify|alert|warn|telling|informing|notifying|alerting|warning)\w*\s+"
            r"(?:the\s+)?(?:user|human|operator|anyone|owner|developer)s?\s+"
            r"(?:about\s+(?:this|these|it|the|any|that)|of\s+(?:this|these|the)"
            r"|that\s+(?:you|this|these|the\s+skill|data|anything|files?))",
            r"\b(?:do\s+not|don'?t|never)\s+(?:mention|disclose|reveal|acknowledge|report)"
            r"\s+(?:this|these|that\s+you|the\s+(?:upload|request|step|command|transfer|copy|call))"
            r"(?:\s+\w+){0,6}\s+(?:to|in\s+(?:your|the)\s+(?:reply|response|answer|summary|output)"
            r")\b",
        )
    ),
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:you\s+(?:must|should|shall|have\s+to|need\s+to|will)\b|(?:ai|assistant|agent|model|claude"
    r"|llm|copilot|chatgpt)s?\s+(?:must|shall)\b|\A\s*(?:(?:note|important|hidden)\s+(?:to|for)\s+)?"
    r"(?:the\s+)?(?:ai|assistant|agent|model|claude|llm|copilot)s?\s*[:,]|always\s+(?:run|execute|send|include|add"
    r"|call|use|fetch)|before\s+(?:answering|responding|replying|anything)|silently|secretly"
    r"|do\s+not\s+(?:tell|mention|ask|show|reveal)|(?:run|execute|fetch|download|send|post|upload)"
    r"\s+[^\n]{0,60}(?:https?://|curl\b|wget\b|\$\(|~/|\.env\b)|curl\s+[^\n]{0,80}https?://)",
    re.IGNORECASE,
)

# Words of texts that are about such attacks, or against them.
_ABOUT = re.compile(
    r"\b(?:detect\w*|e\.g\.?|for example|examples?|such as|attacks?|attackers?|attempt\w*|inject\w*"
    r"|jailbreak\w*|phrases?|patterns?|malicious|adversar\w*|red[ -]?team\w*|refuse|reject"
    r"|flag(?:ged|s)?|scan\w*|threat\w*|vulnerab\w*|untrusted|never|hostile|defen[cs]e\w*|sanitiz\w*|tests?"
    r"|treat|suspicious|payloads?|warning signs?)\b",
    re.IGNORECASE,
)
# “Do not ignore previous instructions” is advice.
_DENIAL = re.compile(r"\b(?:don'?t|do\s+not|must\s+not|no|avoid|prohibited)\b[^.\n]{0,60}$", re.I)
_QUOTES = tuple("\"'`“”‘’«»")
_BEFORE = 160


def find_override(text: str) -> str | None:
    """The first words that override other instructions or hide something; None if none do."""
    # In a comment or a blob, which no reader sees, both are equally bad.
    phrase = _OVERRIDE.search(text) or _CONCEAL.search(text)
    return _quote(phrase) if phrase is not None else None


def find_order(text: str) -> str | None:
    """The first words of a text that order a model to do something; None if there are none."""
    order = _ORDER.search(text)
    return _quote(order) if order is not None else None


def _quote(found: re.Match[str]) -> str:
    return " ".join(found[0].split())[:100]


def is_about(text: str, start: int, end: int) -> bool:
    """Whether words are quoted or discussed rather than said."""
    # What another paragraph says is no excuse for this one.
    before = text[max(0, start - _BEFORE) : start].rpartition("\n\n")[2]
    if before.rstrip().endswith(_QUOTES):
        return True
    after = text[end : end + 60]
    return _ABOUT.search(before) is not None or _ABOUT.search(after) is not None


def _is_denied(text: str, start: int) -> bool:
    """Whether the sentence forbids what the words say."""
    return _DENIAL.search(text[max(0, start - 80) : start]) is not None


def _match_phrases(pattern: re.Pattern[str], passage: Passage, reason: str) -> Iterator[Match]:
    text = passage.plain
    for phrase in pattern.finditer(text):
        start = phrase.start()
        # A text about attacks names them; such a mention is worth a look, not an alarm.
        is_mention = is_about(text, start, phrase.end()) or _is_denied(text, start)
        severity = Severity.INFO if is_mention else None
        yield Match(passage.find_plain_line(start), f"“{_quote(phrase)}” {reason}", severity)


def _match_override(passage: Passage) -> Iterator[Match]:
    return _match_phrases(_OVERRIDE, passage, "tells the model to drop other instructions.")


def _match_marks(passage: Passage) -> Iterator[Match]:
    """Marks between the messages of a conversation; several show how a model is prompted."""
    marks = list(_MARKS.finditer(passage.plain))
    # A tag `<system>` comes as a pair anyway; two marks of a chat format are a sample of it.
    of_chat_format = [mark for mark in marks if not mark[0].strip().startswith(("<s", "</"))]
    is_sample = len(of_chat_format) > 1 or "`" in passage.text
    severity = Severity.INFO if is_sample else None
    for mark in marks:
        line = passage.find_plain_line(mark.start())
        yield Match(line, f"“{mark[0]}” imitates the start of a system message.", severity)


def _match_conceal(passage: Passage) -> Iterator[Match]:
    return _match_phrases(_CONCEAL, passage, "tells the model to hide something from the user.")


RULES = (
    ScanRule(
        code="override-instructions",
        severity=Severity.ERROR,
        summary="The text tells the model to drop the instructions of its user or its system.",
        hint="Remove the sentence; a skill adds instructions, it does not replace others.",
        reads=(Kind.PROSE,),
        match=_match_override,
    ),
    ScanRule(
        code="fake-message",
        severity=Severity.WARNING,
        summary="The text contains a marker that starts a system or user message.",
        hint="Remove the marker, or put the sample prompt in a code block.",
        reads=(Kind.PROSE,),
        match=_match_marks,
    ),
    ScanRule(
        code="conceal-from-user",
        severity=Severity.ERROR,
        summary="The text tells the model to hide something from the user.",
        hint="Remove the sentence, or explain why the user does not need to know.",
        reads=(Kind.PROSE,),
        match=_match_conceal,
    ),
)
