"""What a decision or a rule is about, in words that stay the same however it is put; nothing where that is in doubt.

Two statements share a topic only when one can replace the other: the same purpose decided anew, the same act forbidden
and then required. A topic too fine leaves two memories standing; one too coarse would let a rule erase another.
"""

from __future__ import annotations

import re
from typing import Final

from engram.english.feasts import MONTHS
from engram.regex import regex
from engram.wordlists import word_set

# ------------------------------------------------ words

_TOKEN = regex(r"[^\W_]+(?:[.'+#][^\W_]+)*[+#]*")
_ARTICLES: Final = word_set("a an the our my your their its his her user's team's this that these those some any")
_IRREGULAR: Final = {"caching": "cache", "cached": "cache", "queuing": "queue", "queueing": "queue", "ran": "run"}
_SINGULAR: Final = word_set(
    "redis aws kubernetes always https css js ios macos sass postgres status access nats sqs dns tls"
)
_VOWELS: Final = regex(r"[aeiouy]+")
_TAKES_E: Final = regex(r"(?:[rd]g|[vuz]|[^aeiou]at|[aeiou][aeiou]s)$")
_SHORT: Final = regex(r"[^aeiou]*[aeiou][^aeiouwxy]$")


def stem(word: str) -> str:
    """The plain form of a word: "queues" → "queue", "merging" → "merge", "committed" → "commit"."""
    if word in _IRREGULAR or word in _SINGULAR:
        return _IRREGULAR.get(word, word)
    word = _singular(word.removesuffix("'s"))
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 2 and _VOWELS.search(base):
            return _base(base)
    return word


def _singular(word: str) -> str:
    if word in _SINGULAR or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes")) and word != "caches" else word[:-1]


def _base(base: str) -> str:
    """A verb without its ending: the doubled letter goes, the dropped "e" comes back."""
    if base[-1] == base[-2] and base[-1] not in "aeiouls":
        return base[:-1]
    return base + "e" if _TAKES_E.search(base) or _SHORT.match(base) else base


# ------------------------------------------------ purposes

_PURPOSE: Final = regex(r"\b(?P<how>for|as|to)\s+(?P<what>.+)$")
# What follows these says why, when or instead of what, never what for.
_BECAUSE: Final = regex(
    r"[.,;:!?()]|\b(?:because|since|instead|rather|over|due|so|until|now|today|yesterday|tomorrow|after|"
    r"last|next|unless|when|if|but|which|from now|thanks|again|already|this (?:week|month|year|quarter|sprint))\b"
    rf"|\bin (?:(?:19|20)\d\d|q[1-4]|{MONTHS})\b"
)
_REASON: Final = regex(
    r"^(?:(?:the|a|an|its|their|better|more|good|great|easier|lower|higher|faster|some|many|several|obvious|various) )*"
    r"(?:now|good|ever|real|sure|example|free|fun|everything|all|it|that|this|them|us|long|once|first|"
    r"time being|speed|performance|reliability|simplicity|safety|stability|scalability|flexibility|convenience|"
    r"consistency|compatibility|ease|costs?|price|support|quality|maintainability|"
    r"reasons?|\w+ reasons?|(?:\w+ )?(?:days?|weeks?|months?|years?)|well|usual|planned|agreed|discussed|"
    r"expected|before|soon|possible|follows|part|step|start|experiment|trial|test run|"
    r"starting point|(?:first|next|last) \w+)\b"
)
_ITS: Final = regex(r"^(?:its|their)\b")
_SEVERAL: Final = regex(r"\b(?:and|or|nor|plus|both|as well as)\b|/|&")
_LIGHT: Final = word_set("store handle manage run do use get have make perform provide implement build")
_MAIN: Final = word_set("main primary default current new")
_INSIDE: Final = word_set("for of in on at with all every the")
_MOST: Final = 6

_RELATIONAL: Final = r"postgres|postgresql|mysql|mariadb|cockroachdb|sql server"
_STORES: Final = rf"{_RELATIONAL}|sqlite|mongodb|mongo|dynamodb|cassandra|firestore"
_CI: Final = r"github actions|gitlab ci|circleci|jenkins|buildkite|travis|travis ci|teamcity"
# What a product is for where nothing is said; only where it serves one purpose and a project has one of its kind: the
# products that say so when chosen, and those that say so when they replace another.
_KINDS: Final = tuple(
    (name, regex(rf"^(?:{chosen})$"), regex(rf"^(?:{replaced})$"))
    for name, chosen, replaced in (
        ("database", _RELATIONAL, _STORES),
        ("ci", _CI, _CI),
        ("javascript package manager", *(2 * ("npm|pnpm|yarn",))),
        ("python package manager", *(2 * ("pip|poetry|pipenv|uv",))),
        ("javascript test runner", *(2 * ("jest|vitest|mocha",))),
        ("python test runner", *(2 * ("pytest|unittest|nose",))),
    )
)
_LANGUAGES: Final = regex(r"^(?:javascript|python) (?P<kind>package manager|test runner)$")
_REPLACED: Final = regex(r"\b(?:switched|migrated|moved|replaced)\b")
_VERSION: Final = regex(r" v?\d[\w.]*$")


def purpose(found: str, original: str, canonical: str) -> str | None:  # noqa: ARG001
    """What a decision for a product is about: the purpose it states, else the kind of product where that is certain.

    `found` is what follows the verb: "redis as the message queue" → "message queue", "postgres" → "database", and
    nothing for "redis", which may be a cache, a queue or a store.
    """
    stated = _PURPOSE.search(found)
    while stated is not None and _says_why(stated):
        stated = _PURPOSE.search(found, stated.end("how"))
    if stated is not None:
        topic = _named(stated["what"])
        kind = _kind(found[: stated.start()], canonical)
        own = _LANGUAGES.match(kind) if kind is not None else None
        return kind if own is not None and own["kind"] == topic else topic
    return _kind(found, canonical)


def aim(found: str, original: str, canonical: str) -> str | None:  # noqa: ARG001
    """The purpose a decision begins with: "for caching, we chose ..."."""
    return None if _REASON.match(found) or _ITS.match(found) else _named(found)


def _says_why(stated: re.Match[str]) -> bool:
    what = stated["what"]
    if stated["how"] == "to":
        return re.match(r"(?:be|avoid|save|reduce|improve|keep|get|stay|make|the|a|an|our|user's)\b", what) is not None
    return _REASON.match(what) is not None or _ITS.match(what) is not None or what[:1].isdigit()


def _named(what: str) -> str | None:
    """A purpose in its plain words; None where it is several, or too long to be one."""
    stop = _BECAUSE.search(what)
    text = what[: stop.start()] if stop is not None else what
    text = re.split(r"\bas\b", text)[0]
    if _SEVERAL.search(text):
        return None
    taken = [stem(word) for word in _TOKEN.findall(text.replace("-", " ")) if word not in _ARTICLES]
    while len(taken) > 1 and taken[0] in (_LIGHT | _MAIN):
        taken = taken[1:]
    taken = [word for word in taken if word not in _INSIDE]
    return " ".join(taken) if 0 < len(taken) <= _MOST else None


def _kind(found: str, canonical: str) -> str | None:
    stop = _BECAUSE.search(found)
    product = found[: stop.start()] if stop is not None and found[stop.start()] != "." else found
    why = re.search(r"\b(?:for|as|to)\b", product)
    product = _VERSION.sub("", (product[: why.start()] if why is not None else product).strip(" .,;:!"))
    for name, chosen, replaced in _KINDS:
        if (replaced if _REPLACED.search(canonical) else chosen).match(product):
            return name
    return None


# ------------------------------------------------ rules

_MODAL: Final = word_set(
    "never always must should shall may can cannot can't do don't not no mustn't shouldn't only require requires "
    "required forbid forbids forbidden allow allows allowed need needs needed have has be is are was were been being "
    "please ever there here it we you they i user agent agents everyone nobody anyone developers now still "
    "also again just"
)
_COMMON: Final = word_set("to of in on at by for and or with the as from into via") | _ARTICLES
_REPO: Final = regex(r"\b(?:in|for|of|on|at)? ?(?:the )?(?:repo|repository)\b")
_NUMBER: Final = regex(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve) (?=(?:[a-z-]+ )?[a-z]{3,}s\b)|\b\d+ ?%"
    r"|[$€£] ?\d[\d.,]*[mk]?\b|\b\d+(?:[.,]\d+)? (?:percent|usd|eur|million|thousand)\b"
)
_CHOICE: Final = regex(r"\b(?:use|uses|used|prefer|prefers|choose)\b.+?\b(?:for|as) (?P<what>.+)$")
_LONGEST: Final = 12


def act(text: str, without: str) -> str | None:
    """What a rule is about: the stems of its words without who, how strictly and how many; sorted, as order varies.

    "never push to main" and "always push to main" are one topic; "use tabs for indentation" is about indentation,
    whatever is used.
    """
    bare = _NUMBER.sub(" ", re.sub(rf"(?<![\w-]){re.escape(without)}(?![\w-])", " ", _REPO.sub(" ", text)))
    choice = _CHOICE.search(bare)
    named = _named(choice["what"]) if choice is not None else None
    if named is not None:
        return named
    taken = (word for word in _TOKEN.findall(bare.replace("-", " ")) if word not in _MODAL and word not in _COMMON)
    found = sorted({stem(word) for word in taken})
    return " ".join(found) if 0 < len(found) <= _LONGEST else None


def repo_rule(found: str, original: str, canonical: str) -> str | None:  # noqa: ARG001
    """A repository and what the rule is about: "engram:main push"."""
    name = found.strip(".,:;-")
    topic = act(canonical, name) if name and name not in _NOT_REPOS else None
    return f"{name}:{topic}" if topic is not None else None


_NOT_REPOS: Final = word_set(
    "is was are the a an all and in of for with has have must should never always only do don't no rule rules policy "
    "without before after when unless if this that our my same other new old whole main"
)

# ------------------------------------------------ duties

_DUE: Final = regex(
    r"\b(?:(?:no|not) later than|within|deadlines?|due dates?|due)\b|\b(?:business |working |calendar )?"
    r"(?:days?|weeks?|months?|years?|hours?)\b|\b\d[\d.,]*\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|"
    rf"{MONTHS})\b"
    r"|\b(?:sections?|clauses?|articles?|§) ?\d+(?:\.\d+)*(?:\([a-z0-9]{1,4}\))*|[$€£] ?\d[\d.,]*[mk]?\b"
)
_FORMAL: Final = word_set(
    "shall will agrees agree undertakes undertake under pursuant subject hereby thereof such each"
)


def duty(canonical: str, without: str) -> str:
    """What a clause obliges somebody to, in the stems of its words, without dates, sums, sections and strictness."""
    bare = re.sub(rf"(?<![\w-]){re.escape(without)}(?:'s)?(?![\w-])", " ", _DUE.sub(" ", _NUMBER.sub(" ", canonical)))
    taken = (word for word in _TOKEN.findall(bare.replace("-", " ")) if word not in _MODAL | _COMMON | _FORMAL)
    return " ".join(sorted({stem(word) for word in taken})[:_LONGEST])


def party_duty(found: str, original: str, canonical: str) -> str | None:  # noqa: ARG001
    """A party and what it is obliged to; a party has many duties of one kind, a section is about one."""
    obliged = duty(canonical, found)
    return f"{found}:{obliged}" if obliged else None


def result_of(name: str, canonical: str) -> str | None:
    """A suite and where it ran, since a result on one platform says nothing of another; None where that is unclear."""
    ran = _RAN.search(canonical)
    if ran is None:
        return name
    where = [word for word in _TOKEN.findall(ran["where"]) if word not in _ARTICLES]
    return f"{name}:{' '.join(where)}" if 0 < len(where) <= _MOST else None


_RAN: Final = regex(
    r"\b(?:on|under|against|using|with)\b (?!\d+ (?:\w+ )?(?:errors?|warnings?|failures?|failed|passed|skipped|tests?)"
    r"|(?:the |a |an |my |our )?(?:\w+day|\w+ (?:try|run|attempt|time)|exit|errors?|warnings?|failures?|no|code|status|"
    r"20\d\d)\b)(?P<where>[^,;:()]+)"
)
