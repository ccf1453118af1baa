"""What is worth keeping of what somebody says, where no other rule knows what it is about. Pure.

`says_enough()` tells a statement about the user that means something by itself from small change ("User threw it
away"). `is_specific()` finds the statements about anything else that give a name, a number or a day: "The bins are
collected every other Wednesday". `without_mail()` blanks out a pasted mail, whose "I" is somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from engram.english import courses, news, predicates, verbs
from engram.english.feasts import MONTHS, WEEKDAY
from engram.regex import regex
from engram.text import compared
from engram.wording import OfWords, worded
from engram.wordlists import word_set

# ------------------------------------------------ enough

_LIGHT: Final = word_set(
    "user user's i me my mine we us our you your he him his she her hers it its they them their theirs this that "
    "these those there here who whom whose which what when where why how one ones someone somebody something anyone "
    "anybody anything everyone everybody everything nobody nothing none themselves himself herself itself each other "
    "another a an the and or but nor so as if than then because though although while since until before after in on "
    "at of to for with from by about into onto over under up down out off back away through around between without "
    "within am is are was were be been being has have had having do does did doing done can cannot could will would "
    "shall should must may might ought not no never n't don't doesn't didn't isn't aren't wasn't weren't won't can't "
    "get gets got gotten getting go goes went gone going come comes came coming make makes made making take takes "
    "took taken taking put puts putting give gives gave given giving keep keeps kept keeping let lets say says said "
    "saying tell tells told telling think thinks thought thinking know knows knew known see sees saw seen look looks "
    "looked looking feel feels felt seem seems seemed want wants wanted need needs needed try tries tried trying "
    "mean means meant guess suppose wonder wondered find finds found use used begin begins began begun start started "
    "happen happens happened turn turned turns like liked thing things stuff lot lots bit way ways idea answer "
    "question reason kind sort rest time times moment minute minutes day days while today tonight tomorrow yesterday "
    "now again still just also too only even very really quite rather pretty much more most less least well better "
    "best worse worst good bad great nice fine ok okay sure right wrong true little same different next far soon "
    "later always often sometimes usually already yet ever once twice maybe perhaps anyway instead together alone "
    "all any some many few every both enough own such fool mess total surprised happy sad glad sorry proud tired yes "
    "yeah lol haha oh ah well hard super gonna wanna gotta ton tons blast fun amazing awesome excited thrilled "
    "stoked pumped grateful thankful hopeful confident lucky wonderful incredible special important difference "
    "journey challenge challenges plowing totally"
)
_POINTS: Final = regex(r"\b(?:it|that|this|these|those|them|they|he|she|him|her|his|their|one|ones|others)\b")
_VERB: Final = regex(
    r"^user (?:\w+ly |now |also |still |just |only |even |already |recently |finally |then |once )*(?P<verb>[a-z']+)"
)
_LIFE: Final = word_set(
    "retired divorced graduated resigned separated engaged married pregnant emigrated quit smokes drinks drives swims "
    "cooks moved widowed unemployed"
)
_LEAST: Final = 2
_SHORT: Final = 4  # words: of a longer one about what is, none is missed


def _meaning(words: Sequence[str]) -> list[str]:
    """The words that mean something by themselves."""
    return [word for word in words if word not in _LIGHT and (not word.endswith("ly") or word in _IN_LY)]


_IN_LY: Final = word_set(
    "family july italy sicily belly jelly lily fly ally reply supply assembly monopoly bully holly rally"
)


def says_enough(text: str, written: str) -> bool:
    """Whether compared text about the user, as `written`, means something: it has a word that does, or a value.

    Of what somebody did two are wanted, and one more where a pronoun points at what was said before.
    """
    said = _meaning(re.findall(r"[^\W_][\w'-]*", text))
    if not _LIFE.isdisjoint(said):
        return True
    verb = _VERB.match(text)
    did = verb is not None and verb["verb"] not in _STATES | _LIGHT and verbs.is_past(verb["verb"])
    least = (_LEAST if did else 1) + (_POINTS.search(_IT.sub("", written).casefold()) is not None)
    return len(said) + len(news.values(written)) >= least or (len(text.split()) > _SHORT and not did)


_IT: Final = regex(r"\bI\.?T\b")
_STATES: Final = word_set(
    "was had got started began used learned learnt grew lived worked could would can cannot will must should may might"
)


# ------------------------------------------------ small talk

_PRAISE: Final = (
    r"(?:(?:so|such|really|pretty|super|very|just|quite|too|crazy|absolutely|truly|definitely|always|also|the|an?|"
    r"pretty much|all) )*(?:cool|awesome|amazing|great|nice|fun|lovely|beautiful|important|special|inspiring|"
    r"rewarding|awful|terrible|crazy|incredible|wonderful|fantastic|good|best|bad|perfect|sweet|cute|impressive|huge|"
    r"tough|worth it|key|hilarious|gorgeous|stunning|exciting|interesting|invaluable|empowering|intense|blast|wild|"
    r"insane|weird|funny|gem|dream|must)"
)
_OF_NOBODY: Final = OfWords(
    map(
        regex,
        (
            (
                r"^\[|^let's |^(?:here's|here is|here are|heres) |^(?:sounds|looks|seems|feels|must have|can't beat|"
                r"glad)\b"
            ),
            r"^(?:hey|hi|hello|yo|thanks|thank you|cheers|congrats)\b",
            r"^(?:it's|its|it is|it has) been (?:a|so|too|ages|forever|long)\b",
            (
                rf"^(?:[\w'’-]+ ){{1,7}}(?:is|are|was|were|be|been|feels?|felt|looks?|looked) {_PRAISE}"
                r"(?: (?:to (?:see|hear|watch|look at)\b.*|here|there|now|again|today))?$"
            ),
            r"^[\w'’-]+(?: (?:and|of|with|like) [\w'’-]+)? can (?:\w+ly )?(?:help|change|teach|inspire)\b",
        ),
    )
)
"""Talk, where it tells nothing of the user and gives no day, number or name."""
_TALK: Final = OfWords(
    map(
        regex,
        (
            (
                r"^(?:here's|here is|heres) (?:an? |the |another |one )?(?:\w+ )?(?:pics?|pictures?|photos?|one|shot|"
                r"selfie)\b"
            ),
            r"^(?:thanks|thank you|cheers)(?: so much| a lot)? for\b",
            r"\b(?:last|lasts) (?:spoke|talked|chatted|caught up)\b|\bbear with\b|\bas user's group speaks\b",
            (
                r"^(?:it|that|this|they|these|those|you|which) (?:\w+ly |all |both )?(?:means?|matters?) (?:a lot|so "
                r"much|the world|everything)\b"
            ),
            (
                r"^user(?:'s group|'s team)? (?:will not|does not|never|to not) (?:ever )?(?:give up|quit|stop|back "
                r"down)(?:, [\w']+)?$"
            ),
            (
                r"^user(?:'s group|'s team)? (?:can|will|is going to|is gonna) (?:\w+ly )?(?:make|do) (?:a difference|"
                r"it|this(?: work)?)$"
            ),
            (
                r"^user (?:is|was) (?:just )?off (?:to|for) (?:bed|lunch|dinner|work|the)\b|^user (?:is|was) out of "
                r"sorts\b"
            ),
        ),
    )
)
_USER: Final = regex(r"\buser\b")


def is_small_talk(text: str, written: str) -> bool:
    """Whether compared text, as `written`, only praises, greets, cheers up or shows a picture."""
    if any(one.search(text) for one in _TALK.asked_of(text)):
        return True
    if _USER.search(text) or not any(one.search(text) for one in _OF_NOBODY.asked_of(text)):
        return False
    return not (any(one.search(text) for one in (_DAY, _COUNT)) or _gives_a_name(written))


def _gives_a_name(written: str) -> bool:
    """Whether a text gives a value behind its first two words: praise of the Eiffel Tower does not."""
    return bool(news.values(" ".join(written.split()[3:])))


# ------------------------------------------------ specific


def is_statement(category: str | None, deriver: str | None) -> bool:
    """Whether a memory is one kept as it was said: a caller may have a category of that name, and derives nothing."""
    return category == STATEMENT and deriver is not None


STATEMENT: Final = "as_said"
"""The category of what is kept as it was said: whose it is, no rule knows, so it answers like somebody's words."""
LOOSE_LEAD: Final = regex(
    r"(?i)(?:(?:btw|by the way|also|oh|and|so|but|well|yes|yeah|yep|ok|okay|right)(?:,\s*|\s+))+(?=\S)"
)
"""What leads in to a statement, with or without a comma."""
MAX_SPECIFIC: Final = 280
FEWEST: Final = 3  # words: "reviewer is Agnieszka"
_UNNAMED: Final = 4  # words, where it does not end in a name
_TELLING: Final = 5  # words that mean something, where there is no value
_DAY: Final = regex(rf"(?i)\b(?:{WEEKDAY}s?|(?:{MONTHS})(?<!may)(?<!march)|\d)\b|\d")
_COUNT: Final = regex(
    r"(?i)\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|"
    r"hundred|thousand|half a|a dozen|once a|twice a|every(?: other| second)?) (?:\w+ )?(?:years?|months?|weeks?|"
    r"days?|hours?|minutes?|times|kids?|children|people|euros?|pounds?|dollars?|quid|kilos?|miles?|metres?|meters?|"
    r"floors?|rooms?|bedrooms?|thousand|hundred|percent|morning|evening|night)\b"
)
_CODE: Final = regex(r"(?<![\w/])(?:[a-z]+(?:[_/.][a-z0-9]+)+|[a-z]+[A-Z]\w+|`[^`]+`|[A-Z]{2,}-\d+)(?![\w/])")
_TO_SOMEBODY: Final = worded(
    r"(?i)\b(?:you|your|yours|you're|you've|you'll|you'd|u|ur|let's|lets|please|thanks|thank|imagine)\b"
)
_NO_THING: Final = regex(
    r"(?i)^\W*(?:(?:and|but|so|well|oh|yes|yeah|no|ok|okay|hm+|also|then|now|anyway|honestly|actually|because),? "
    r")*(?:his|her|their|him|them|it|it's|its|that|that's|thats|this|these|those|he|he's|she|she's|they|they're|there|"
    r"there's|here|here's|who|what|when|where|why|how|which|nobody|somebody|someone|everyone|one|people|if|as|like|"
    r"such|gotta|gonna|wanna|error|warning|fatal|traceback|exception|failed|info|debug|note|nb|todo|from|to|subject|"
    r"re|dear|hi|hello)\b"
)
_FINITE: Final = regex(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|will|can|must|should|cannot|won't|isn't|aren't|wasn't|doesn't|"
    r"don't|hasn't|can't|\w+['’](?:s|re|ve|ll))\b"
)
_IN_WORDS: Final = 0.8
_IS_NAMED: Final = regex(r"\b(?:is|are|was) [A-ZÀ-ÖØ-Þ][\w'’-]+[\s.!]*$")


def is_specific(sentence: str, main: str) -> bool:
    """Whether a statement about something gives a name, a number or a day that can be asked for one day.

    `main` is its main part. It is told to nobody in particular, points at nothing said before, supposes nothing, and is
    no line of a log.
    """
    words = compared(main).split()
    said = " ".join(words)
    if len(sentence) > MAX_SPECIFIC or len(words) < (_UNNAMED if _IS_NAMED.search(main) is None else FEWEST):
        return False
    if _TO_SOMEBODY.search(sentence) or _NO_THING.match(sentence) or courses.is_passing(said) or _SUPPOSES.search(said):
        return False
    letters = sum(char.isalpha() or char in " ,.'’" for char in sentence)
    if letters < len(sentence) * _IN_WORDS:
        return False
    if not _FINITE.search(main) and not any(map(predicates.is_verb, words[1:])):
        return False
    if any(one.search(main) for one in (_DAY, _COUNT, _CODE)) or news.values(main):
        return True
    return len(_meaning(words)) >= _TELLING


_SUPPOSES: Final = regex(
    r"\?|\b(?:maybe|perhaps|probably|possibly|hopefully|if|unless|whether|would|might|could|imagine|wish|hope|hopes|"
    r"wonder|almost|nearly)\b"
)
_BEHIND: Final = worded(
    r"(?i),? (?:until|till|because|since|so that|so|which|if|unless|when|while|although|though|on condition|provided|"
    r"as soon as|as long as|in case|i (?:think|guess|believe|suppose)|stiff or not|or not)\b|,? and [^,;]{2,30}? "
    r"(?:says?|said|thinks?|told)\b|, the \w+ says?\b"
)


def main_part(sentence: str) -> str:
    """What a sentence states before it says why, until when, or on which condition; the whole where it does not."""
    behind = _BEHIND.search(sentence)
    return sentence if behind is None else sentence[: behind.start()]


# ------------------------------------------------ what is left out

_DID: Final = regex(
    r"(?i)(?:(?:just|finally|also|already|even|recently|and|so|then) )*(?P<verb>[a-z]{3,})\b(?P<rest> [^?]+)$"
)
_NO_DEED: Final = word_set(
    "thought said heard meant guessed loved liked wanted had hoped wished used did was were been could would should "
    "might must may will shall can seemed felt sounded looked supposed tired excited interested bored scared worried "
    "ended expired rained snowed crashed arrived released merged closed hosted delayed turned proved named dated "
    "happened surprised pleased thrilled amazed blessed confused agreed noted understood sorted indeed hundred need "
    "feed speed cost hurt beat upset cut bet spread shed hit shut split"
)
_OF_OTHERS: Final = regex(r"(?i)\b(?:by|you|your|it|that|this|them|i)\b")
_NAMES: Final = word_set("drew rose wed lit read may will")
_WHEN: Final = regex(
    rf"(?i)\b(?:last|yesterday|ago|now|since|this (?:morning|week|month|year|spring|summer|autumn|fall|winter|"
    rf"weekend)|in (?:{MONTHS})|on (?:{WEEKDAY}))\b"
)


def with_subject(sentence: str) -> str | None:
    """A sentence that leaves out its "I", with it: "gave up the allotment last fall"; None for any other."""
    did = _DID.match(sentence)
    verb = "" if did is None else did["verb"].casefold()
    if did is None or verb in _NO_DEED or not verbs.is_past(verb):
        return None
    if did["verb"][0].isupper() and verb not in verbs.PAST - _NAMES:
        return None  # "Ahmed can help": it may be somebody
    first = did["rest"].partition(",")[0]
    if _FINITE.search(first) or any(map(predicates.is_third, first.split())) or _OF_OTHERS.search(first):
        return None  # "archived logs are deleted", "approved by finance"
    if not (_WHEN.search(sentence) or any(one.search(sentence) for one in (_DAY, _COUNT)) or news.values(did["rest"])):
        return None
    return f"I {sentence[:1].lower()}{sentence[1:]}"


_TOPIC: Final = regex(
    r"(?i)^\W*(?:(?:so|and|ok|okay|well|right|oh|yes|no)[,.]? )?(?P<topic>(?:(?:the|my|our|an?) "
    r")?[^\W\d_][\w'’-]*(?: (?!(?:is|are|was|were|has|have|had|do|does|did|and|"
    r"or)\b)[\w'’-]+){0,3})(?:,[^.]*)?[.:!…]*\s*$"
)
_OF_TOPIC: Final = regex(r"(?i)^(?P<one>it|he|she|they)(?P<be>['’](?:s|re|ve|ll))?(?P<rest> [^?]{6,})$")
_NO_TOPIC: Final = word_set(
    "yes no yeah yep nope ok okay hello hi hey thanks thank good great nice cool perfect sorry please wow lol haha "
    "well so right sure exactly indeed maybe perhaps anyway honestly actually really never always not nothing "
    "everything what who why how when where bye morning evening night i me you we they he she it this that these "
    "those there here done ugh argh hmm oh ah strictly true wrong agreed nobody later soon today tomorrow yesterday"
)
_HAS: Final = regex(
    r"(?i)^ (?:just |also |now |already |never |always )?(?:been|got|had|gone|moved|started|become|taken|lived)\b"
)


def of_topic(before: str, sentence: str) -> str | None:
    """A sentence about "it" or "she", with the name that is all the words before: "The offsite. It's in May"."""
    topic, said = _TOPIC.match(before), _OF_TOPIC.match(sentence)
    if topic is None or said is None:
        return None
    words = topic["topic"].casefold().split()
    head = words[-1] if words else ""
    if not _NO_TOPIC.isdisjoint(words) or head.endswith("ly") or any(map(_FINITE.fullmatch, words)):
        return None
    is_name = topic["topic"][:1].isupper() and len(words) == 1
    if said["one"].casefold() in ("he", "she") and not (is_name or words[0] in ("my", "our")):
        return None
    be = (said["be"] or "").casefold().replace("’", "'")
    does = {"": "", "'re": " are", "'ve": " have", "'ll": " will"}.get(
        be, " has" if _HAS.match(said["rest"]) else " is"
    )
    return f"{topic['topic']}{does}{said['rest']}"


# ------------------------------------------------ rules

_RULES: Final = OfWords(
    regex(rf"(?i){one}")
    for one in (
        (
            r"^\W*(?:(?:and|so|oh|also|btw),? )*(?:generally|in general|as a rule|by default|for future reference|"
            r"going forward|from now on|house rules?|(?:our|my|the) (?:rule|convention)s?(?: here)?)\s*[:,]\s*\S.{7,}$"
        ),
        r"^.{8,},? (?:for the record|as a rule|in general)[\s.!]*$",
        (
            r"^\W*(?:(?:and|so|oh|also|but|please),? )*(?:no|nothing|never|not|only) .{4,}\b(?:ever|anywhere|in here|"
            r"in this (?:repo|repository|project|house))\b(?:,.*)?[\s.!]*$"
        ),
        (
            r"^\W*(?:(?:and|so|oh|also|but|please|hey|[\w ]{0,24}:),? )*(?:please )?(?:don['’]?t|do not|never) "
            r"(?!worry\b|forget\b|bother\b|you\b|be\b|get me\b|know\b|think\b|mind\b|have\b|remember\b|care\b|see\b|"
            r"like\b|want\b|really\b|understand\b).{4,} (?:without|unless|before|when|whenever|while) .{4,}$"
        ),
        (
            r"^\W*(?:(?:and|so|oh|also|but),? )*(?:when|whenever|every time|each time|if) you (?:ever )?(?:do|make|"
            r"write|send|answer|reply|give|format|commit|draft|suggest|list|create|show|explain|name|add|plan|book|"
            r"quote|summari[sz]e) .{5,}\b(?:please|can you|could you|always|never|use|keep|do it|make it|put|"
            r"don['’]?t|only|no)\b.{3,}$"
        ),
        (
            r"^\W*(?:please )?whatever you (?:do|write|make|send|say)\b.{3,}\b(?:no|never|don['’]?t|keep|always|"
            r"nothing)\b.{3,}$"
        ),
        r"^\W*(?:with|using|via|through) [^,]{2,40}, (?:never|not) [^,]{2,40}(?:,.*)?$",
    )
)
_AT_ONCE: Final = worded(
    r"(?i)\b(?:this time|that one|this one|just now|right now|today|tonight|tomorrow|yet|for now|the above|below)\b|"
    r"\b(?:it|that|this)[\s.!]*$"
)


def is_rule(sentence: str) -> bool:
    """Whether a sentence tells how things are to be done from now on: "Generally: commit messages in English"."""
    return (
        len(sentence) <= MAX_SPECIFIC
        and not _AT_ONCE.search(sentence)
        and any(one.search(sentence) for one in _RULES.asked_of(sentence))
    )


# ------------------------------------------------ somebody else's words

_MAIL: Final = regex(
    r"(?im)^[ \t]*(?:from|von|de|sent|date|to|cc|subject|betreff|re|fwd?):[^\n]*\n(?:[ \t]*(?:from|to|cc|sent|date|"
    r"subject|betreff|re|fwd?):[^\n]*(?:\n|\Z))+"
)
_FROM: Final = regex(r"(?im)^[ \t]*(?:from|von|de):[^\n]*@|^[ \t]*(?:subject|betreff):")
_BELOW: Final = regex(r"(?m)^[ \t]*[-_=*]{3,}[ \t]*$")


def without_mail(content: str) -> str:
    """A content, a pasted mail blanked out, character for character: from its head to a line of dashes, or the end.

    A head has an address or a subject: "From: Berlin, To: Rome" is a trip.
    """
    head = _MAIL.search(content)
    if head is None or _FROM.search(head.group()) is None:
        return content
    below = _BELOW.search(content, head.end())
    end = len(content) if below is None else below.start()
    return content[: head.start()] + re.sub(r"[^\n]", " ", content[head.start() : end]) + content[end:]
