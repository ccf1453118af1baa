"""Sayings: what a user said after a fact was told that may say what has become of it.

A rule puts a memory away only where it is sure. Most of what changes people say in words that no rule is sure of:
"closed Fineco, everything goes through BBVA now". What that is *about* is easier to tell than what it does to it: it is
nearer to "I bank with Fineco" than to anything else that is known. So an answer that tells a fact tells too what was
said of it later, where that speaks of a change; whoever reads both knows. Nothing is put away by it, so a guess that is
wrong costs a line.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import lru_cache
from itertools import groupby, islice
from typing import Any, Final

from engram import memories
from engram.channels import keyword
from engram.database import Connection, fetch_ahead, fetch_all
from engram.english import news
from engram.english.claims import stem
from engram.english.subjects import MAX_SENTENCE, PERSONS, mood_of, plain, sentence_spans
from engram.recall.question import Looked
from engram.recall.results import OF_THE_USER
from engram.regex import regex
from engram.scales import REFERENCE
from engram.text import STOP_WORDS, compared
from engram.values import Memory, trust_rank

__all__ = ["TOLD", "about", "ahead", "is_supposed", "turns"]

LOOKED_AT: Final = 10  # sayings with a sign that may be about a fact, of those nearest to it
FEW: Final = 200  # sayings since a fact that are all compared with it
READ: Final = 40  # of the nearest of them, those in which a sign is looked for
NEIGHBOURS: Final = 100  # memories nearest to a fact or to a saying, of which the others are some
TOLD: Final = 2  # sayings that an answer tells
OF_VECTORS: Final = 0.5  # the weight of a cosine beside the words that are shared
LEAST: Final = 0.15  # nearness of a saying to what it is about
ALMOST: Final = 0.7  # of the greatest nearness: of two facts about one thing a saying may be about either


def ahead(conn: Connection, looked: Looked, memory: Memory) -> Callable[[Memory], list[Memory]]:
    """Ask, in one message with the next statement, what was said in the scope of a memory since that was told.

    What is given back takes a memory and gives what of it is about it, where it is the same: first what is nearly as
    near to it as the nearest, the newest before the others. Nothing is asked of the past, nor where nothing has a
    vector.
    """
    if not looked.moment.is_now or looked.model_id is None:
        return lambda _: []
    scope_id = looked.visible.id_of(memory.scope)
    params = {
        "tenant_id": looked.tenant_id, "scope_id": scope_id, "own": looked.visible.own, "memory_id": memory.memory_id,
        "model_id": looked.model_id, "graphed": [number for number in looked.graphed if number == scope_id],
        "fetch": NEIGHBOURS,
    }  # fmt: skip
    rows = fetch_ahead(conn, "list_said_since", **params, few=FEW, trusted=sorted(map(trust_rank, OF_THE_USER)))

    def of(told: Memory) -> list[Memory]:
        if told.memory_id != memory.memory_id:
            return []
        said = dict(islice(_hopeful(rows(), told.fact, looked.told), LOOKED_AT))
        if not said:
            return []
        away = fetch_ahead(conn, "list_gone_sayings", tenant_id=looked.tenant_id, said_ids=list(said))
        near = fetch_all(conn, "list_facts_near", **params, said_ids=list(said))
        gone = {row.memory_id for row in away()}
        left = (
            (saying, [one for one in facts if not _says_the_same(one.fact, said[saying])])
            for saying, facts in _by_saying(near)
            if saying not in gone
        )
        ways = ((saying, about(said[saying], facts, looked.told)) for saying, facts in left)
        found = {saying: way[memory.memory_id] for saying, way in ways if memory.memory_id in way}
        kept = memories.load(conn, looked.visible, list(found)) if found else []
        near_enough = ALMOST * max(found.values(), default=0.0)
        return sorted(
            kept, key=lambda one: (found[one.memory_id] >= near_enough, one.valid_from, one.memory_id), reverse=True
        )

    return of


def _hopeful(rows: Iterable[Any], fact: str, judged: Callable[[float], float]) -> Iterator[tuple[str, str]]:
    """Of sayings those with a sign that may be about a fact: they share a word with it, or are near without. Pure."""
    own = _words(fact[:MAX_SENTENCE])

    def may_be_about_it(row: Any, said: str) -> bool:
        return OF_VECTORS * judged(row.cosine) >= LEAST or not own.isdisjoint(_words(said))

    for row in islice((row for row in rows if may_be_about_it(row, row.fact[:MAX_SENTENCE])), READ):
        signed = turns(row.fact, fact)
        if signed and may_be_about_it(row, signed):
            yield row.memory_id, signed


def _says_the_same(fact: str, said: str) -> bool:
    """Whether a fact is a saying as it stands, in the third person: no saying is about itself."""
    own = _words(fact[:MAX_SENTENCE]) - _SPEAKERS
    return bool(own) and own == _words(said) - _SPEAKERS


_SPEAKERS: Final = frozenset(("user", "user's", "i", "my", "me"))


def _by_saying(rows: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    ordered = sorted(rows, key=lambda row: (row.said_id, row.memory_id))
    for said_id, facts in groupby(ordered, key=lambda row: row.said_id):
        yield said_id, list(facts)


def about(said: str, facts: Sequence[Any], judged: Callable[[float], float] = REFERENCE.told) -> dict[str, float]:
    """Which of some facts a saying is about, and how near it is: by the words they share and by their vectors. Pure.

    Nearness is the rarity of the shared words as a share of the geometric mean of both texts', and half the cosine,
    which `judged` tells on the scale by which all are judged.
    """
    words = _words(said)
    held = {one.memory_id: _words(one.fact[:MAX_SENTENCE]) for one in facts}
    among = Counter(word for one in held.values() for word in one)
    of_one = {word: keyword.rarity(len(held), among[word]) for word in {*among, *words}}

    def rarity(some: Set[str]) -> float:
        return math.fsum([of_one[word] for word in some])

    said_in_all = rarity(words)

    def nearness(one: Any) -> float:
        own = held[one.memory_id]
        both, near = own & words, OF_VECTORS * max(judged(one.cosine), 0.0)
        return float(near + (rarity(both) / math.sqrt(rarity(own) * said_in_all) if both else 0.0))

    near = {one.memory_id: nearness(one) for one in facts}
    least = max(LEAST, ALMOST * max(near.values(), default=0.0))
    return {memory_id: nearness for memory_id, nearness in near.items() if nearness >= least}


@lru_cache(maxsize=4096)
def _words(said: str) -> frozenset[str]:
    words = (word.removesuffix("'s") for word in _WORD.findall(compared(said)))
    return frozenset(stem(_SAME.get(word, word)) for word in words if word not in STOP_WORDS and word not in _OF_ANY)


_SAME: Final = {
    "mum": "mother", "mom": "mother", "mam": "mother", "mummy": "mother", "dad": "father", "daddy": "father",
    "nan": "grandmother", "gran": "grandmother", "grandma": "grandmother", "granny": "grandmother",
    "grandpa": "grandfather", "grandad": "grandfather", "granddad": "grandfather",
    "kids": "children", "kid": "children", "child": "children",
}  # fmt: skip
_ANY: Final = """
    user user's i i'm i've i'd my mine we we're we've our us it's that's he's she's they're there's monday mondays
    tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday saturdays sunday sundays day
    days week weeks month months year years morning mornings afternoon afternoons evening evenings night nights
    today every one two three now new time times last next
"""
_OF_ANY: Final = frozenset(_ANY.split())
"""What says nothing of what a saying is about: days are of everything."""


def turns(said: str, fact: str = "") -> str:
    """The sentences of somebody's words that say that something has not always been so, or is so no more. Pure.

    Of somebody else ("My colleague ...") they may say so where the fact in question speaks of them.
    """
    said, own = said[:MAX_SENTENCE].replace("’", "'"), _words(fact[:MAX_SENTENCE])
    sentences = (said[start:end] for start, end in sentence_spans(said))
    return " ".join(one for one in sentences if _is_turn(one, own))


def _is_turn(sentence: str, own: Set[str]) -> bool:
    return _speaks_of_a_change(sentence) and not _is_of_another(sentence, own)


@lru_cache(maxsize=4096)
def _speaks_of_a_change(sentence: str) -> bool:
    """Whether a sentence says that something has changed: kept, as recalls ask it of the same ones."""
    if _PASSES.search(sentence) or is_supposed(sentence):
        return False
    if news.sign(plain(sentence)) in ("new", "over", "back", "slip"):
        return _DENIED.search(sentence) is None
    return any(_DENIES.search(sentence[: turn.start()]) is None for turn in _TURN.finditer(sentence))


def is_supposed(sentence: str) -> bool:
    """Whether a sentence tells nothing that is so: it asks, orders, plans or supposes. What has to be, is."""
    mood = mood_of(sentence)
    return mood in _SUPPOSED and not (mood == "plan" and _HAS_TO.search(sentence))


_SUPPOSED: Final = ("conditional", "question", "plan", "quotation", "command")
_HAS_TO: Final = regex(r"(?i)\b(?:have|has|need|needs) to\b(?!.*\b(?:want|plan|hope|intend|going|aim)\w*\b)")
_WORD: Final = regex(r"\w+(?:['-]+\w+)*")
_DENIES: Final = regex(r"(?i)(?:\bnot|n't|\bnever|\bnothing (?:has|had|is|was)) (?:\w+ )?$")
_DENIED: Final = regex(
    r"(?i)(?:\bnot|n't|\bnever|\bnothing (?:has|had|is|was)) (?:left|changed|closed|quit|moved|sold|lost)\b"
)
_TURN: Final = regex(
    r"(?i)\b(?:retired|resigned|quit|left|moved|sold|traded|swapped|switched|replaced|changed|joined|died|passed|"
    r"closed|dropped|ditched|dumped|deleted|renamed|promoted|stolen|stole|nicked|drowned|gone|dead|graduated|"
    r"emigrated|divorced|married|remarried|upgraded|downgraded|raised|bumped|lowered|halved|doubled|threw|thrown|"
    r"chucked|handed|transferred|cancel\w*|finished|lost|took over|taken over|stepped down|pulled out|ripped out|"
    r"split up|broke up|gave (?:up|in|back|it|the|my)|given (?:up|back|it|the|my)|"
    r"started (?:at|in|as|with|seeing|(?:[\w'-]+ )?(?:grade|school|university|college|kindergarten|nursery|year))|"
    r"(?:had|having|expecting) (?:an?|our|my|another) (?:\w+ )?(?:child|baby|kid|son|daughter|boy|girl)|was born|"
    r"turned (?:\d+|[a-z]+teen|[a-z]+ty(?:-\w+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)|"
    r"birthday|made (?:me|him|her|us) (?:a|an|the)|put (?:me|him|her|us|my)|took (?:me|him|her) off|"
    r"no more|no longer|any ?more|never again|after all|fired|sacked|laid off|let go|"
    r"healed|recovered|cured|repaired|fixed|gave birth|adopted|found (?:an?|my|our)|"
    r"paid (?:[\w'-]+ ){0,2}(?:back|off)|"
    r"from now on|as of|these days|nowadays|now|instead|permanent\w*|"
    r"for good|finally|at last|goodbye|bye|up to|down to|is off|are off|called off|slipped|extension|"
    r"correct myself|i said|(?:told you|had (?:that|it)|got (?:that|it)) wrong|mixed (?:up|that|it)|turns out|"
    r"took a job|more time|gave (?:us|everyone)|granted|celebrated|never (?:was|were)|was never|"
    r"have(?:n't| not) \w+ (?:in|since|for)|only \w+ left|just \w+ left|sat the|runs|heads|leads|conducts)\b"
)
_PASSES: Final = regex(
    r"(?i)\?|\b(?:might|(?:i|we|he|she|they|it|you) may|maybe|perhaps|could|would|if|wish\w*|hop(?:e|es|ed|ing)|"
    r"thinking (?:of|about)|considering|"
    r"plan(?:s|ning)? to|want(?:s|ed)? to|going to|tonight|tomorrow|yesterday's|"
    r"for (?:a|the) (?:day|week|weekend|moment|bit|while|night)|borrow\w*|lent|loan|"
    r"rental|used to|when i was|as a (?:kid|child|teen\w*)|almost|nearly|(?<!extension )until|"
    r"while|(?:before|after|when) (?:i|we)|should have|(?:i|we)'d|novel|stor(?:y|ies)|dream\w*|imagine)\b"
)
"""What is only thought of, or of a moment."""
_WHO: Final = regex(
    r"(?i)\s*(?:(?:and|but|so|yesterday|today|recently|last week),? )*"
    r"(?:(?:both )?(?:my|our)|an?|some|the|her|his|their) "
    r"(?P<who>(?:[\w'-]+ ){1,3})(?P<rest>.*)"
)
_OWN: Final = regex(r"(?i)\b(?:i|i'm|i've|me|my|us|we|our)\b")
_TO_KIN: Final = regex(r"(?i)\b(?:my|our) (?P<who>[a-z-]+)")
_OTHERS: Final = frozenset(("neighbour", "neighbor", "stranger", "guy", "lady", "man", "woman", "boy", "girl"))
_THEY: Final = regex(
    r"\s*(?:(?:[Ss]he|[Hh]e|[Ss]omeone|[Ss]omebody)\b|"
    r"(?!(?:My|Our|The|An?|Some|I|We|Both)\b)(?P<name>[A-Z][\w'-]+)(?: [A-Z][\w'-]+)?(?: \w+){1,2} (?:her|his)\b)"
)


_THING: Final = regex(
    r"\s*(?:(?i:and|but|so),? )*(?:(?i:the|this|that|an?|my|our|his|her|their) (?P<what>(?:[\w'-]+ ){1,4}?)"
    r"(?:(?:was|were|is|are|has|have|had|got|been|being|just|now|\w+ly) )*|"
    r"(?P<name>[A-Z][\w'-]+ )(?:was|were|got|(?:has|had) been) )(?P<verb>[a-z]+ed|sold|left|lost|taken|given|gone)\b"
)
_SELF: Final = regex(r"(?i)\b(?:i|i'm|i've|me|us|we|we've)\b")


def _is_of_another_thing(sentence: str, own: Set[str]) -> bool:
    """Whether a sentence only says of a thing that a fact does not name what that says of the user: "was moved"."""
    thing = _THING.match(sentence)
    if thing is None or _SELF.search(sentence) is not None:
        return False
    return own.isdisjoint(_words(thing["what"] or thing["name"])) and not own.isdisjoint(_words(thing["verb"]))


def _is_of_another(sentence: str, own: Set[str]) -> bool:
    """Whether a sentence is about somebody whom a fact of these words does not name, and about nobody else."""
    if _is_of_another_thing(sentence, own):
        return True
    they = _THEY.match(sentence)
    if they is not None:
        named = they["name"]
        return _OWN.search(sentence) is None and (named is None or own.isdisjoint(_words(named)))
    found = _WHO.match(sentence)
    if found is None:
        return False
    words = [word.casefold().removesuffix("'s") for word in found["who"].split()]
    somebody = (at for at, word in enumerate(words, 1) if word.partition("-")[0] in _PERSONS or word in _OTHERS)
    upto = next(somebody, 0)
    to_whom = {word["who"].casefold() for word in _TO_KIN.finditer(found["rest"])} & _PERSONS
    if to_whom and own.isdisjoint(_words(" ".join(to_whom))):
        return _OWN.search(_TO_KIN.sub(" ", found["rest"])) is None  # "the doctor put my mother on warfarin"
    if _OWN.search(" ".join((*found["who"].split()[upto:], found["rest"]))) is not None:
        return False  # "the doctor said I'm not allergic"
    return upto > 0 and own.isdisjoint(_words(" ".join(words[:upto])))


_PERSONS: Final = PERSONS - {"agent", "boss's"}
