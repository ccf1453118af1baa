"""What kind of text a chunk is, by its heading, its form and its words, and the type of memory that makes of it."""

from __future__ import annotations

import re
from typing import Final, Literal

from engram.regex import regex
from engram.values import MemoryType

ChunkKind = Literal[
    "legal_clause",
    "requirement",
    "constraint",
    "decision",
    "question",
    "tool_result",
    "source_doc",
    "instruction",
    "background_context",
]

MEMORY_TYPE_OF: Final[dict[ChunkKind, MemoryType | None]] = {
    "legal_clause": "constraint",
    "requirement": "constraint",
    "constraint": "constraint",
    "decision": "decision",
    "question": None,
    "tool_result": "tool_result",
    "source_doc": "semantic",
    "instruction": "procedural",
    "background_context": "semantic",
}
"""The type of the memories that are made of a chunk; a question makes none."""

_LOOKED_AT: Final = 2_000
_SENTENCES: Final = 30
_LINES: Final = 60
_SOME: Final = 0.2
_MANY: Final = 0.3
_MOST: Final = 0.5
_OUTPUT_LINES: Final = 4
_NEAR_THE_BEGINNING: Final = 60

_HEADING_WORDS: Final[dict[ChunkKind, str]] = {
    "tool_result": r"(?:tool )?(?:output|result of|logs?\Z)|console",
    "source_doc": r"references\Z|literature\Z|bibliography|abstract\Z|table of contents|index\Z|works cited|changelog",
    "decision": r"decisions?|decided|resolutions?|outcome|verdict|ruling|adr[ -]\d+",
    "question": r"(?:open |unresolved )?questions?|unresolved|faq|frequently asked",
    "constraint": r"(?:\w+ )?constraints?|limits?\Z|limitations?\Z|restrictions?|prohibited|rate limits|non-goals",
    "requirement": r"(?:[\w-]+ )?requirements?|acceptance criteria|user stor(?:y|ies)|req-\d+|must have",
    "instruction": r"install(?:ation|ing)|getting started|how to|steps?|usage|instructions?|tutorial|procedure|set-?up",
}
_HEADINGS: Final = {kind: regex(rf"(?i)\A[\d.:\s()-]{{0,12}}(?:{words})\b") for kind, words in _HEADING_WORDS.items()}
_LEGAL_HEADING = regex(
    r"(?i)\A(?:section|article|clause|schedule|annex|exhibit|§|\d{1,3}(?:\.\d{1,3})*\.?\s+(?:definitions"
    r"|term|fees|notices"
    r"|governing law|liability|confidential|termination|warrant|indemni|assignment|payment))"
    r"|\A(?:force majeure|limitation of liability"
    r"|governing law|indemnification|warranties|severability|entire agreement|confidentiality|assignment)\b"
)
_ARTICLE = regex(r"(?i)\A(?:article|clause|§) ?[\dIVXLC]")
_CHARACTERS_A_LEGAL_WORD: Final = 400
_LEGAL_NAMES = """
    licensor licensee lessor lessee landlord tenant hereby herein hereinafter thereof hereto hereunder whereas
    indemnify indemnifies indemnity indemnification liable liability notwithstanding premises undertakes
    severable severability policyholder borrower lender contractor employer employee warrants lawful unlawful
    consent supersedes purchaser obligation obligations jurisdiction arbitration remedy remedies grantor
    trustee supplier buyer seller
"""
_LEGAL_WORDS: Final = frozenset(_LEGAL_NAMES.split())
_LEGAL_PHRASES: Final = (
    "this agreement", "this lease", "this contract", "the contract", "this deed", "this regulation", "this directive",
    "this act", "the party", "the parties", "either party", "neither party", "each party", "now, therefore",
    "hold harmless", "governed by", "breach of", "represents and warrants", "data subject", "the controller",
    "without prejudice", "pursuant to", "prior written consent", "written notice", "consequential damages",
    "in no event", "force and effect", "set out in this", "confidential information", "takes effect", "upon default",
    "non-exclusive", "shall be deemed", "shall not be", "in accordance with", "subject to", "provided that",
    "bear interest", "bears interest", "the customer", "the client",
)  # fmt: skip
_WORD = regex(r"[a-z]+")
_OUTPUT = regex(
    r"(?m)^(?:(?:[A-Z][a-z]{2} [ \d]\d|\d{4}-\d\d-\d\d)[T ]\d\d:\d\d:\d\d\S* \S+ [\w./-]+(?:\[\d+\])?: "
    r"|\$ \w|>>> |Traceback \(most recent|HTTP/\d|npm (?:ERR!|error)|[drwx-]{10} |exit code:? ?-?\d"
    r"|std(?:out|err):|PING "
    r"|\(\d{1,9} rows?\)|\d{1,6} (?:passed|failed)\b|make(?:\[\d\])?: \*\*\*|fatal: "
    r"|error(?:\[\w{1,8}\])?: |Seq Scan|Exception in thread"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\r\n]{0,40}\b(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL|TRACE)\b"
    r"|(?:INFO|WARN|WARNING|ERROR|DEBUG)[: ])"
    r"|\"(?:tool|tool_call_id|tool_result|exit_code)\" ?:|\"role\" ?: ?\"tool\"|\bbytes from \d"
    r"|\b\d{1,6} passed in \d|Query returned \d"
    r"|\A\{\"(?:status|error|exit|result)\w{0,10}\" ?:"
    r"|(?m:^[\w./\\-]{1,120}[(:]\d{1,7}[,:]\d{1,5}\)?: (?:error|warning|note)\b)"
    r"|(?m:^\[\d\d:\d\d(?::\d\d)?[^\]\r\n]{0,12}\] )|(?m:^[ \t]{1,40}at [\w.$<>]{1,200}\([\w.$]{1,80}(?::\d+)?\))"
    r"|(?m:^(?:[A-Z]{2,20}(?: [A-Z]{2,20})?(?: {2,}|\t)){2,8}[A-Z]{2,20}[ \t]*$)"
)
_PROGRAM = regex(
    r"(?:\s*(?:(?:def|class|fn|func|function|struct|enum|impl)\b[^.\r\n]*[({:]|(?:import|from|using"
    r"|package|use) [\w.:{}*]+[\w\s,.*;{}]*\Z"
    r"|(?:CREATE|ALTER|SELECT|INSERT|UPDATE|DELETE|DROP) [A-Z*\w]"
    r"|[a-z_]{1,40} [a-z]{2,20}(?:\(\d+\))? ?(?:NOT NULL|PRIMARY KEY|NULL|REFERENCES|DEFAULT)\b"
    r"|#(?:include|define|if|ifdef|endif)\b|(?:return|for|if|while|else|try|except"
    r"|elif)\b[^.\r\n]*[:;{]\s*\Z|[\w.\[\]]{1,60} [+*-]?= \S|//|/\*|[{}\[\]()]+[;,]?\s*\Z|@\w+))|[^\r\n]*[;{}]\s*\Z"
)
_RECORD = regex(
    r"\s*(?:\||[{\[]\"|\[\d{1,3}\] |\[[\w.-]{1,40}\]\s*\Z|[\w.-]{1,40} ?= ?\S|(?:From|To|Cc|Subject|Date"
    r"|Received): |[^,\s][^,.]{0,40},[^,\s][^,]{0,40},[^,\s]|[^;\s][^;]{0,40};[^;\s][^;]{0,40};[^;\s]"
    r"|\s*</?[A-Za-z][^<>]{0,120}>|[^\t]{1,60}\t[^\t]{1,60}(?:\t|\Z)"
    r"|\s*(?:- )?[\w.-]{1,40}:(?: [^\s.]{1,60})?\s*\Z"
    r"|[A-Z][\w'’-]+, (?:[A-Z]\. ?){1,3}[^\r\n]{0,80}\(?(?:18|19|20)\d\d\b)"
)

_ITEM = regex(
    r"\A[\s>*+•–-]{0,8}(?:\(?\d{1,3}[.)]\s|\(?[a-z][.)]\s|step \d{1,3}[:.]\s|\[[ x]\]\s)?\s{0,4}[*_`\"“]{0,3}",
    re.IGNORECASE,
)
_SENTENCE = regex(r"(?<=[.!?;])\s+|(?<=[.!?][\"”'’)*])\s+|[\r\n]+")
_DECISION = regex(
    r"\b(?:(?:we|they|i|board|team|trustees|members|committee|council|court|management|group|has|have"
    r"|had|was|were)(?:'ve|'re)?(?: have| has| had| also| then| finally| all| unanimously)?"
    r" (?:decided|agreed|resolved|approved|chose|chosen|opted|settled|rejected|selected|picked|voted"
    r"|went with|going with|ruled)\b"
    r"|decided(?: against)?\b\W|decision(?: was|:)|status: (?:accepted|rejected|superseded)|resolved, that"
    r"|we(?:'ll| will| shall) (?:use|store|keep|go|adopt|move|build|write|drop|switch)\b"
    r"|going with option|was (?:dropped|chosen|approved))"
)
_DECIDED = regex(r"(?i)\Adeci(?:ded|sion)\b ?[.:*]")
_QUESTION = regex(r"(?i)\?[\"”'’)*]{0,3}\s*\Z|\A(?:q:|tbd\b|to be decided|open:)")
_FORBIDDING = regex(
    r"\b(?:must(?: not|n't)|shall not|may not|should not|can(?:not|'t)|never|not (?:permitted|allowed"
    r"|be \w+ed)|prohibited|forbidden"
    r"|no (?:\w+ ){0,3}(?:may|can|shall|exceptions)|limited to|restricted to|capped at|allergic to"
    r"|no more than|at most|not exceed|maximum of|up to a maximum"
    r"|under (?:any|no) circumstances|do not|don't|only (?:\S+ ){1,8}(?:is|are|may) |is fixed at|without exception)"
)
_REQUIRING = regex(
    r"\b(?:must|shall|should|(?:is|are) required to|has to|have to|needs? to|we (?:require|need)"
    r"|required|as an? [^,.]{1,60},? i (?:want|need)"
    r"|req-\d+|given [^,]{1,80}, when|availability of)\b"
)
_TO_DO = regex(
    r"(?i)\A(?:to \w[^,.]{1,80}, (?:first )?|then |first,? |next,? |finally,? |now |please "
    r"|if [^,.]{1,80}, |when [^,.]{1,80}, |always |(?:do not|don't|never) )"
)
_IMPERATIVE = regex(
    r"(?i)\A(?:add|allow|answer|apply|ask|assign|attach|avoid|bake|begin|boil|bring|build|call|change"
    r"|check|choose|clean|clear|click|close"
    r"|combine|compile|configure|confirm|connect|consider|convert|copy|create|cut|define|delete|deploy"
    r"|describe|disable|disconnect|download"
    r"|drag|draw|edit|enable|ensure|enter|explain|export|fill|find|fix|fold|follow|give|go|heat|hold"
    r"|import|insert|install|keep|launch|leave"
    r"|let|list|load|log|look|make|measure|mix|modify|mount|move|navigate|note|open|paste|place|pour"
    r"|prefer|preheat|prepare|press|provide|pull"
    r"|push|put|read|rebuild|reboot|remember|remove|rename|repeat|replace|reset|respond|restart|return"
    r"|review|rinse|rotate|run|save|scan|scroll"
    r"|search|select|send|set|show|shut|sign|specify|start|stir|stop|store|submit|switch|take|tap|tell"
    r"|test|tighten|translate|try|turn|type|unpack"
    r"|unplug|unscrew|update|upgrade|upload|use|validate|verify|visit|wait|wash|wipe|write)\b(?! (?:is"
    r"|was|are|were|has|had)\b)|\Ayou are an? "
)
# Whatever verb it is, it tells somebody to do something: "Soak the beans", "Roll back with care".
_BARE_VERB = regex(
    r"\A(?!(?:[A-Z]?[a-z]*(?:ing|ed|ly|ion|ness|ment|[^s]s))\s)(?!(?:In|On|At|By|For|From|With|Without"
    r"|Of|To|As|And|But|Or|Nor|So|Yet|If|When|While"
    r"|Where|Since|After|Before|Until|Till|Through|Over|Under|Into|Onto|Upon|Between|Among|Across|Along"
    r"|Behind|Beyond|Near|Per|Via|Both"
    r"|Not|Once|Than|That|Though|Although|Because|Unlike|Like|Despite|Half|Even|Only|Just|Then|There"
    r"|Here|What|Which|Who|Whose|Why|How"
    r"|Did|Do|Does|Is|Are|Was|Were|Has|Have|Had|Will|Would|Can|Could|May|Might|Must|Shall|Should|About"
    r"|Above|Against|Around|Out|Off"
    r"|Down|Up|It|He|She|They|We|You|I|Told|Made|Gave|Took|Within|Toward|Towards|Throughout|Amid|Besides"
    r"|Except|Now|Today|Tomorrow|Yesterday|Later|Often|Soon|Again|Still|Maybe|Perhaps|Also|Such|Quite|Rather)\s)"
    r"[A-Z]?[a-z]{1,14} (?:the|a|an|your|it|them|its|their|all|each|every|this|these|any|back|down|up"
    r"|off|out|in the|to (?:the|every|each|your))\b"
)
_SPEECH = regex(
    r"\A\s*[\"“«]|[\"”»]\s*(?:\w+ ){1,3}(?:said|asked|replied|cried)\b|\b(?:he|she|they|i) (?:said|asked"
    r"|replied|cried)\b"
)


def kind_of(text: str, heading: str | None = None, media: str = "text") -> ChunkKind:
    """The kind of a chunk: its form first, then its heading, then what most of its sentences say."""
    if media in ("code", "diff"):
        return "source_doc"
    seen = text[:_LOOKED_AT]
    if _is_output(seen):
        return "tool_result"
    if media == "jsonl" or _is_record(seen):
        return "source_doc"
    for kind, pattern in _HEADINGS.items():
        if heading and pattern.match(heading):
            return kind
    lower = seen.lower()
    legal = len(_LEGAL_WORDS.intersection(_WORD.findall(lower))) + sum(phrase in lower for phrase in _LEGAL_PHRASES)
    needed = 1 if heading and _LEGAL_HEADING.match(heading) else max(2, len(seen) // _CHARACTERS_A_LEGAL_WORD)
    if legal >= needed or (heading and _ARTICLE.match(heading)):
        return "legal_clause"
    return _by_sentences(seen, heading)


def _by_sentences(seen: str, heading: str | None) -> ChunkKind:
    """What enough of the sentences say, the more telling kinds first; the heading's own line says nothing."""
    body = seen.split("\n", 1)[1] if heading and "\n" in seen and seen.lstrip("# ").startswith(heading[:40]) else seen
    sentences = [
        said for said in (_ITEM.sub("", one, count=1) for one in _SENTENCE.split(body, _SENTENCES)) if said.strip()
    ]
    del sentences[_SENTENCES:]
    if not sentences:
        return "background_context"
    if _DECIDED.match(sentences[0]):
        return "decision"
    many = len(sentences)
    if sum(1 for said in sentences if _QUESTION.search(said)) / many >= _MOST:
        return "question"
    forbidding = requiring = deciding = 0
    for said in map(str.lower, sentences):
        deciding += bool(_DECISION.search(said))
        if _FORBIDDING.search(said):
            forbidding += 1
        elif _REQUIRING.search(said) and not _SPEECH.search(said):
            requiring += 1
    if deciding / many >= _SOME:
        return "decision"
    doing = sum(map(_is_instruction, sentences))
    if doing / many >= _MOST and doing > forbidding:
        return "instruction"
    if max(forbidding, requiring) / many >= _MANY:
        return "constraint" if forbidding >= requiring else "requirement"
    return "instruction" if doing / many >= _MANY else "background_context"


def _is_instruction(said: str) -> bool:
    rest = _TO_DO.sub("", said, count=1)
    return _IMPERATIVE.match(rest) is not None or _BARE_VERB.match(rest) is not None


def _is_output(seen: str) -> bool:
    """Whether a chunk begins with what a program printed, or has much of it."""
    places = [match.start() for match in _OUTPUT.finditer(seen)]
    if not places:
        return False
    lines = seen.count("\n") + 1
    ends = not seen[places[-1] :].partition("\n")[2].strip()
    return (
        ends or not seen[: places[0]].strip() or len(places) * _OUTPUT_LINES >= lines or places[0] < _NEAR_THE_BEGINNING
    )


def _is_record(seen: str) -> bool:
    """Whether most lines are code, rows, records or references rather than sentences."""
    lines = [line for line in seen.splitlines()[:_LINES] if line.strip()]
    if seen.lstrip().startswith(("```", "~~~")):
        return True
    if len(lines) < 2:
        return False
    return sum(1 for line in lines if _PROGRAM.match(line) or _RECORD.match(line)) / len(lines) > 0.55
