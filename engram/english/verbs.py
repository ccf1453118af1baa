"""English verbs, as far as turning "I live" into "User lives" needs them: pure word forms, no grammar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engram.wordlists import word_set

_PAST = """
    arose ate awoke became began bent bit blew bled bound bred broke brought built burnt bought came caught chose
    clung crept dealt did drank drew dreamt drove dug fell fed felt flew fled forbade forgave forgot fought found
    froze gave got grew ground had heard held hid hung kept knew knelt laid lay learnt leapt led left lent lit
    lost made meant met misunderstood mistook outgrew overcame overheard overslept paid proved ran rang redid
    rebuilt relaid repaid resold rethought retook rewrote rode rose said sang sank sat saw sent shone shook shot
    shrank slept slid sold sought sowed spat spent spelt spilt spoke spun spoilt sprang stank stole stood strode
    struck stuck stung swam swept swore swung taught thought threw told took tore undertook underwent understood
    undid unwound upheld was went wept were withdrew withstood woke won wore wove wound wrote quit hit shut split
    cost hurt broadcast burst beat upset cut bet spread shed could would should might must may can will shall
"""
PAST: Final = frozenset(_PAST.split())
_BASE_IN_ED = (
    "need feed bleed breed speed proceed exceed succeed embed shed wed heed seed weed knead plead tread read "
    "dread spread lead"
)
BASE_IN_ED: Final = frozenset(_BASE_IN_ED.split())
# Verbs that, after "and", go on with the same subject: "I live in Ottawa and work at a bank".
_COMMON = """
    live work love like prefer have want need use drink eat play run study teach write read drive own rent hate
    enjoy speak build lead manage maintain code train practise practice cook bake travel commute volunteer go do
    make take keep hope plan know believe think feel avoid dislike sleep wake walk cycle swim sing paint draw
"""
COMMON: Final = frozenset(_COMMON.split())
ADVERBS: Final = word_set(
    "now also still just always never often usually currently really already recently finally actually "
    "sometimes only even "
    "no longer once rarely normally mostly generally then first definitely absolutely totally officially "
    "originally formerly previously "
    "temporarily permanently simply truly honestly sincerely personally kind neither hardly barely seldom"
)
_NOT_ADVERBS: Final = word_set("apply supply reply rely multiply comply fly ally rally bully tally imply")
# Between a subject and its verb these are adverbs; elsewhere they may be other words ("my best friend", "all day").
_BEFORE_VERB: Final = word_set(
    "almost all both again each ever half hence however instead kinda later maybe most much nowadays perhaps "
    "quite rather so somehow somewhat soon sorta sure therefore though thus today together tomorrow tonight too "
    "twice very yesterday"
)
_THIRD: Final = {
    "have": "has",
    "do": "does",
    "go": "goes",
    "be": "is",
    "am": "is",
    "are": "is",
    "undo": "undoes",
    "redo": "redoes",
}


SAME_IN_PAST: Final = frozenset(("read", "put", "set", "let"))


def is_adverb(word: str) -> bool:
    """Whether a word may stand between a subject and its verb."""
    return word in ADVERBS or (word.endswith("ly") and len(word) > 4 and word not in _NOT_ADVERBS)


def stands_before_verb(word: str, following: str = "") -> bool:
    """Whether a word behind a subject, with what follows it, is an adverb before the verb: "I almost missed it"."""
    if word == "last":  # "I last saw her in May", but "I last ten minutes"
        return is_past(following) or following in PAST_OF
    if word == "long":
        return is_past(following)
    return is_adverb(word) or word in _BEFORE_VERB or (word in ("kind", "sort") and following == "of")


def is_past(word: str) -> bool:
    """Whether a form is a past tense (or a modal, which takes no ending either)."""
    if word in PAST:
        return True
    return len(word) > 3 and word.endswith("ed") and word not in BASE_IN_ED


def third_person(word: str) -> str:
    """The form after "she" of the form after "I": live → lives, study → studies; past forms stay."""
    if word in _THIRD:
        return _THIRD[word]
    if is_past(word) or not word.isalpha():
        return word
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return word + "es"
    if word.endswith("y") and len(word) > 1 and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def base_form(word: str) -> str:
    """The form after "I" of the form after "she": lives → live, studies → study, has → have."""
    for base, third in _THIRD.items():
        if word == third and base not in ("am", "are"):
            return base
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


# Verbs whose past is another word: a search for one form does not find the other.
_IRREGULAR: Final = """
    be was were been, begin began begun, bite bit, blow blew, break broke broken, bring brought, build built,
    buy bought, catch caught, choose chose chosen, come came, dig dug, do did done, draw drew drawn, drink drank,
    drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found,
    fly flew flown, forget forgot forgotten, freeze froze frozen, get got, give gave given, go went gone,
    grow grew grown, hang hung, have had, hear heard, hide hid hidden, hold held, keep kept, know knew known,
    lay laid, lead led, learn learnt, leave left, lend lent, lie lay, lose lost, make made, mean meant, meet met,
    pay paid, ride rode ridden, ring rang, rise rose, run ran, say said, see saw seen, sell sold, send sent,
    shake shook, shoot shot, show showed shown, sing sang, sink sank, sit sat, sleep slept, speak spoke spoken,
    spend spent, stand stood, steal stole stolen, stick stuck, swim swam, take took taken, teach taught,
    tear tore torn, tell told, think thought, throw threw thrown, understand understood, wake woke, wear wore worn,
    win won, write wrote written
"""
PAST_OF: Final[Mapping[str, tuple[str, ...]]] = {
    words[0]: tuple(words[1:]) for words in (entry.split() for entry in _IRREGULAR.split(","))
}


def past_of(word: str) -> tuple[str, ...]:
    """The forms of a verb that tell of the past by another word ("buy": "bought"); none for any other."""
    return PAST_OF.get(word.casefold(), ())
