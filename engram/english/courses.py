"""The course of things: what a statement says is over, has taken the place of something, or goes on. Pure.

People have many words for an end ("packed it in", "that's behind me", "came off it") and for a change ("swapped X for
Y", "it used to be X, now it's Y"), but few ways to build such a sentence. So a small closed grammar is read here:
verbs of ending with their object, subjects that are over, verbs of change with what goes and what comes, and adverbs
that set now against before. It gives words, not attributes: of which memory they speak is found by the words of that
memory (`Told.is_over`, `Told.replaced`, `Told.otherwise`), under conditions that rather miss a change than let
something true disappear.

Everything here reads statements in the third person and compared text: "user has packed in the cello".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

from engram.english import brands, verbs
from engram.english.claims import stem
from engram.english.feasts import EVENTS, MEALS, MONTHS, WEEKDAY
from engram.english.names import CITIES, REGIONS
from engram.regex import regex
from engram.wording import OfWords, worded
from engram.wordlists import word_set

MAX_READ: Final = 300


class Course(NamedTuple):
    """What a statement says of the course of things: the words of what is `over`, or of what went and what came."""

    over: str | None = None
    old: str | None = None
    new: str | None = None
    says: str | None = None  # what is so instead of `old`, as a statement
    back: str | None = None  # the words of what is so again
    alone: bool = False  # the statement tells nothing of its own: it only points back
    said: str = ""  # the whole statement of what is `over`


_ADV: Final = (
    r"(?:(?:now|just|finally|recently|already|also|completely|totally|officially|sadly|definitely|really|since|"
    r"actually|eventually|then|simply|altogether|happily|reluctantly|apparently|ultimately|long) )*"
)
_HAS: Final = rf"{_ADV}(?:has |had |is |was |got |has been |had been )?{_ADV}"
_NP: Final = r"[^,;:]{2,90}?"
_V: Final = r"[^,;:]{1,60}?"
_BY_THEN: Final = (
    r"(?:earlier )?(?:last|this) (?:week|month|year|weekend|night|morning|afternoon|evening|spring|summer|autumn|fall|"
    rf"winter|quarter|sprint|{WEEKDAY})|yesterday|today|the other day"
)
"""When something came to be so, before what it was or behind it."""
_CLOSE: Final = (
    r"(?: (?:now|for good|for ever|forever|entirely|completely|altogether|at last|in the end|recently|lately|"
    rf"{_BY_THEN}|tonight|"
    r"over (?:the )?(?:weekend|holidays|christmas|easter|summer|winter|new year)|"
    r"(?:an?|a few|a couple of|some|several|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) "
    r"(?:minutes?|hours?|days?|nights?|weeks?|months?|years?|sprints?) ago|"
    rf"(?:back )?in (?:{MONTHS}|(?:the )?(?:spring|summer|autumn|winter)|20\d\d)|on {WEEKDAY}|"
    r"ago|a while back|a while ago|already|again|too|anyway))*"
)
NO_OCCASION: Final = (
    r"(?! (?:[\w'-]+ ){0,2}?(?:trip|journey to|holiday|vacation|honeymoon|visit|interview|wedding|birthday|party|"
    r"weekend|exam|race|demo|test|talk|son|daughter|kid|children|mother|mum|mom|father|dad|wife|husband|partner|"
    r"brother|sister|parent|friend|colleague)s?\b)"
)
"""What is changed for it is so for good, and for the user: not "for user's trip to France"."""
_FIRST_WHEN: Final = regex(rf"^(?:{_BY_THEN}|over the weekend),? (?=user\b|they\b)")

# ------------------------------------------------ what is over

_ENDED: Final = (
    r"(?:(?:been )?(?:fired|laid off) (?:by|from|at)|stopped|quit|ceased|gave up(?: on)?|given up(?: on)?|"
    r"finished(?= with | \w+ing | .*\b(?:project|course|class|degree|training|thesis|studies|treatment|therapy|"
    r"internship|"
    r"apprenticeship|contract|book|novel|series)\b)|dropped|ditched|abandoned|cancelled|canceled|"
    r"ended|terminated|discontinued|packed in|packed up|cut out|gone off|went off|got off|gotten off|come off|"
    r"came off|"
    r"sold|deleted|uninstalled|deactivated|(?:closed|shut)(?: down)?(?= .*\b(?:account|membership|shop|business|"
    r"practice|"
    r"company|blog|channel)\b)|lost interest in|fallen out of (?:love|the habit) (?:with|of)|fell out of (?:love|"
    r"the habit) "
    r"(?:with|of)|lost|shelved|scrapped|binned|axed|kicked|retired from|resigned from|"
    r"resigned as|"
    r"stepped down (?:as|from|at)|bowed out of|been (?:sacked|made redundant) (?:by|from|at)|"
    r"handed in user's notice (?:at|to)|"
    r"(?:sacked|made redundant) (?:by|from|at)|stepped back from|stepped away from|dropped out(?: of| in| at)?|"
    r"backed out of|"
    r"pulled out of|moved out of|moved away from|checked out of|unsubscribed from|withdrew from|withdrawn from|"
    r"signed off from|opted out of|got rid of|gotten rid of|gave away|given away|parted ways with|parted company "
    r"with|"
    r"said goodbye to|broke up with|broken up with|split up with|split from|cut ties with|turned user's back on|left|"
    r"walked away from|let go of|outgrown|outgrew|graduated (?:from|in|at)|done away with|did away with|fallen "
    r"out with|"
    r"thrown out|threw out|dismissed|fired|laid down|given notice (?:at|to)|gave notice (?:at|to)|taken off|"
    r"let go (?:by|from)|removed from|kicked out of|thrown out of|done with|through with|finished with|over with|"
    r"fed up with|off|out of(?= the )|done|through|parted with|moved on from|"
    r"jacked in|chucked in|sacked off|ripped out|sworn off|swore off|called time on|got shot of|gotten shot of|"
    r"weaned off|(?:killed(?: off)?|chucked)(?! (?:an?|the|user's|in|out|up|down|away)\b))"
)
_HEALER: Final = (
    r"(?:doctor|doc|gp|physician|consultant|specialist|cardiologist|neurologist|dermatologist|psychiatrist|nurse|"
    r"surgeon|pharmacist|vet)"
)
_SET_BY: Final = rf"(?:they|user's (?:{_HEALER}|boss|company|employer|school)|(?:the )?{_HEALER})"
"""Who decides what somebody takes or does: of healers it need not be said that they are the user's."""
_OVERS: Final = tuple(
    (regex(pattern), alone)
    for pattern, alone in (
        (rf"^user {_HAS}{_ENDED} (?:with )?(?P<over>{_NP}){_CLOSE}$", False),
        (
            (
                rf"^user {_HAS}(?:given|gave|packed|called|put|left|turned|cut|jacked|chucked|ripped) "
                rf"(?P<over>{_NP}) (?:up|in|off|behind(?: user)?|out|down|to sleep)"
                rf"{_CLOSE}$"
            ),
            False,
        ),
        (rf"^user {_HAS}(?:put|set|laid) (?P<over>{_NP}) (?:aside|to one side){_CLOSE}$", False),
        (rf"^user {_HAS}knocked (?P<over>{_NP}) on the head{_CLOSE}$", False),
        (rf"^user {_HAS}to say goodbye to (?P<over>{_NP}){_CLOSE}$", False),
        (rf"^user (?:has |had )(?P<over>{_NP}) put (?:down|to sleep){_CLOSE}$", False),
        (rf"^user {_HAS}lets? (?P<over>{_NP}) (?:lapse|run out|expire|go|slide|drop){_CLOSE}$", False),
        (
            r"^(?P<over>.{3,120}?) (?:any ?more|any longer)(?:,? (?:because|since|due to|as|so|after|thanks to) .*)?$",
            False,
        ),
        (
            (
                rf"^user (?:does|is) not (?!have (?:time|room|money|to)\b)(?P<over>{_NP})"
                rf"(?: (?:these days|nowadays|now|at all|currently|at the moment|since (?:(?:an?|two|three|four|"
                rf"five|six|\d+|some|many|several) (?:days?|weeks?|months?|years?)|last \w+|{MONTHS}|20\d\d)))*$"
            ),
            False,
        ),
        (
            (
                rf"^user has not (?!spoken |known )(?P<over>[a-z]+ {_NP}) (?:in|for|since) "
                r"(?:a long time|a year|[a-z]+)(?: now)?$"
            ),
            False,
        ),
        (rf"^user {_HAS}(?:had |taken |attended |played )?user's last (?P<over>{_NP}){_CLOSE}$", False),
        (
            rf"^user {_HAS}(?:given|gave) (?P<over>{_NP}) away(?: to (?!be\b)(?:(?! for )[^,;:]){{2,60}}?)?{_CLOSE}$",
            False,
        ),
        (rf"^user {_HAS}finished (?:reading |watching |listening to )?(?P<over>{_NP}){_CLOSE}$", False),
        (rf"^user {_HAS}(?:rehomed|re-homed) (?P<over>{_NP}){_CLOSE}$", False),
        (rf"^user {_HAS}to put (?P<over>{_NP}) (?:down|to sleep){_CLOSE}$", False),
        (rf"^user {_HAS}(?:given|gave|sold|donated|passed on) (?P<over>user's {_NP}) to [^,;:]{{2,60}}$", False),
        (r"^(?P<over>(?:user|[\w'. ]{2,40}) no longer .{3,100})$", False),
        (
            (
                rf"^user (?:used to|once|formerly|previously) (?P<over>{_NP})(?:,? but (?:no longer|not "
                rf"now))?{_CLOSE}$"
            ),
            False,
        ),
        (rf"^(?P<over>{_NP}) (?:is|was|has been|are) (?:user's|the) (?:ex|former|old|previous)\b.*$", False),
        (
            (
                rf"^(?:the|user's|all) (?P<over>{_NP}) {_HAS}(?:over|ended|finished|history|done|no more|come to "
                rf"an end|came to an end|"
                r"a thing of the past|behind user|cancelled|canceled|expired|lapsed|run out|ran out|dead and buried)"
                rf"(?: (?:for|with) user)?{_CLOSE}$"
            ),
            True,
        ),
        (
            (
                rf"^(?P<over>[\w' -]{{2,40}}?) is (?:over|history|done|finished|a thing of the past|behind "
                rf"user)(?: for user)?{_CLOSE}$"
            ),
            True,
        ),
        (
            (
                rf"^(?:user's |the )?(?P<over>{_NP}) {_HAS}(?:died|passed away|(?:to be )?put (?:down|to sleep)|stolen|"
                rf"written off|"
                rf"gone|cancelled|canceled|called off|scrapped|come off|came off|cleared up|discontinued)"
                rf"(?: (?:away|now|for good|last \w+|this \w+|yesterday|today|on {WEEKDAY}|in (?:{MONTHS})))*$"
            ),
            True,
        ),
        (
            (
                rf"^(?:user's |the )?(?P<over>{_NP}) (?:(?:has|have) {_ADV}been|is being|was|got) {_ADV}(?:axed|binned|"
                rf"ditched|shelved|withdrawn|phased out){_CLOSE}$"
            ),
            True,
        ),
        (
            (
                rf"^(?:user's |the )?(?P<over>(?:[\w-]+ ){{0,2}}(?:{EVENTS}|{MEALS})"
                rf"(?: (?:with|at|for|on) [\w' -]{{2,40}}?)?) (?:is|are) off{_CLOSE}$"
            ),
            True,
        ),
        (
            (
                rf"^(?P<over>{_NP}) {_HAS}(?:(?:dumped|left|fired|sacked|dismissed) user|let user go|laid user off|"
                rf"made user redundant|(?:broke|broken|split) up with user){_CLOSE}$"
            ),
            True,
        ),
        (rf"^(?:there (?:is|are|will be) )?no more (?P<over>{_NP})(?: for user| in user's life)?{_CLOSE}$", True),
        (
            (
                rf"^(?P<over>{_NP}) and user (?:(?:have|has|got|been|are|is|now|since \w+(?: \w+)?) )*(?:parted "
                rf"(?:ways|company)|split(?: up|$| now$)|broken up|broke up|fallen out(?! of)|separated|divorced|"
                rf"called off|called it (?:off|quits|a day)).*$"
            ),
            True,
        ),
        (rf"^{_SET_BY} {_ADV}(?:has |have )?(?:stopped|ended|cancelled|discontinued) (?P<over>{_NP}){_CLOSE}$", False),
        (rf"^{_SET_BY} {_ADV}(?:has |have )?(?:took|taken) user off (?P<over>{_NP}){_CLOSE}$", False),
        (rf"^(?P<over>[\w'. -]{{2,40}} stepped down as user's {_NP}){_CLOSE}$", False),
        (rf"^(?P<over>[\w'. -]{{2,40}} (?:stopped|quit) (?:being )?{_NP}){_CLOSE}$", False),
    )
)  # fmt: skip
_ENDING: Final = OfWords(_OVERS, itemgetter(0))
_SCRAPPED: Final = regex(
    r"^(?:please )?(?:forget|scrap|ignore|disregard|strike|take back|scratch|never mind|undo|drop) "
    r"(?:everything |all |anything |whatever )?(?:(?:that |what )?(?:i|user) (?:have |has |'ve )?(?:ever |just )?"
    r"(?:said|told you|mentioned|wrote|claimed) about|(?:about|the bit about|the part about|the thing about)) "
    r"(?P<over>[^,;:.!]{2,80})(?:[,;:.!].*)?$"
)
_ONCE: Final = worded(
    r"\b(?:will|would|might|(?<!\bin )(?<!since )may|could|should|shall|plans?|hopes?|wants?|going to|about to|"
    r"thinking|considering|"
    r"almost|"
    r"nearly|until|unless|if|whether|maybe|perhaps|never)\b"
)


_PASSING: Final = worded(
    r"\b(?:for (?:now|today|tonight|(?:the|a) (?:day|night|morning|afternoon|evening|week|weekend|moment|"
    r"minute|second|"
    r"bit|while|time being))|(?:today|tonight|yesterday)'s|tonight|this (?:time|morning|afternoon|evening|weekend)|"
    r"just left|has not (?!.*\bany ?(?:more|longer)\b).* (?:for )?(?:(?:very|all that|so) )?long$|"
    r"(?:cancell?ed|swapped|traded)\b.* (?:today|this (?:week|\w+day))|"
    r"as a (?:child|kid|boy|girl|teenager|student)|"
    r"(?:does|is) not (?!.*\b(?:as of|from|since|starting|any ?more|any longer)\b).*\b(?:today|tomorrow|forever|"
    r"this (?:week|month|spring|summer|autumn|winter)|all (?:day|night|week|year))|"
    r"(?:went|gone|passed|came|come|jumped) from (?:the .+ to the .+|.+ (?:by (?:train|car|bus|bike|plane|"
    r"boat|ferry)|"
    r"on foot))|"
    r"(?:moved|transferred|changed|converted|shifted) .*\b(?:money|cash|funds?|payments?|savings|salary|"
    r"files?|photos?|"
    r"furniture|boxes|shifts?|appointments?|meetings?)\b.* from)\b"
)
"""What is over for a while alone, or goes from one place to another: nothing that was so has changed by it."""


@lru_cache(maxsize=4096)
def read(statement: str) -> Course | None:
    """What a whole statement says is over, or of what has become what; None for a statement that says neither."""
    if len(statement) > MAX_READ:
        return None
    text = statement.strip(" .!,;:")
    scrapped = _SCRAPPED.match(text)
    if scrapped is not None:
        return Course(over=scrapped["over"], alone=True, said=text)
    if not _HINTS.search(text) or _ONCE.search(text):
        return None
    if _PASSING.search(text):
        return _of_tools(text)
    text = _SLIP.sub("", _WRONG.sub("", text))
    found = _pair(text) or _corrected(text) or _over(text)
    return found if found is not None or not _AGAIN.search(text) else Course(back=_AGAIN.sub(" ", text))


def _of_tools(text: str) -> Course | None:
    """What a statement says has become of a well-known thing today: who went from Jenkins to Buildkite, stays there."""
    when = _TODAY.search(text)
    found = (
        None
        if when is None or not _ANEW.search(text) or _PASSING.search(text[: when.start()])
        else _pair(text[: when.start()])
    )
    if found is None or found.old is None or found.new is None:
        return None
    return found if brands.are_of_one_sort(found.old, found.new) else None


_TODAY: Final = regex(r"(?:,? (?:earlier )?(?:today|this (?:morning|afternoon|week)))$")
_ANEW: Final = regex(r"\b(?:switched|migrated|moved|replaced)\b")


def is_scrapped(sentence: str) -> bool:
    """Whether a sentence takes back what was said of something: "Forget what I said about X"."""
    return _SCRAPPED.match(sentence.strip(" .!")) is not None


_HINTS: Final = worded(
    r"\b(?:no|not|n't|any ?more|any longer|used to|once|formerly|previously|former|ex|old|over|ended|end|history|"
    r"done|"
    r"finished|past|behind|stopped|quit|ceased|gave|given|dropped|ditched|abandoned|cancell?ed|terminated|lapse|"
    r"lapsed|"
    r"discontinued|packed|cut|gone|went|got|gotten|come|came|sold|deleted|uninstalled|closed|lost|shelved|scrapped|"
    r"binned|axed|kicked|retired|resigned|stepped|backed|pulled|moved|checked|unsubscribed|withdrew|withdrawn|signed|"
    r"opted|parted|said|broke|broken|split|turned|left|walked|let|outgrown|outgrew|graduated|thrown|threw|dismissed|"
    r"fired|laid|taken|took|removed|through|fed|off|out|for|from|instead|rather|again|once|back|rejoined|"
    r"resubscribed|resumed|returned|lets|replaced|swapped|traded|exchanged|"
    r"deactivated|shut|interest|handed|sacked|redundant|dumped|died|stolen|written|passed|put|cleared|last|bowed|"
    r"goodbye|divorced|quits|jacked|chucked|ripped|killed|set|knocked|sworn|swore|shot|weaned|aside|axed|binned|"
    r"ditched|"
    r"shelved|way|"
    r"renamed|rebranded|rechristened|switched|changed|transferred|succeeded|now|fallen|called|put|separated|did|"
    r"expired|run|ran)\b"
)


_TIMES: Final = (
    r"(?:(?:winter|summer|spring|autumn|fall|weekend|holiday|morning|evening|afternoon|night|week|month|mon|tues|"
    r"wednes|thurs|"
    rf"fri|satur|sun)(?:day)?s?|{MONTHS})"
)
_PART: Final = (
    rf"(?:(?:in|on|at|over|during) (?:the )?{_TIMES}|a (?:little|bit|little bit|tad)|slightly|mildly|partly|sometimes|"
    r"occasionally|(?:full|part)[ -]time|permanently|year-round|"
    r"all (?:the )?(?:year|time|week|day)(?:[ -](?:round|long))?|"
    rf"every (?:day|{_TIMES})|(?:this|next) {_TIMES}|most of the (?:year|time|week)|(?:that|so|very|too) (?:much|"
    rf"often)|"
    r"(?:for )?(?:very |all that )?long|by choice|for (?:fun|money|work|love|the [a-z]+)|near the [^,;:]{2,40}|"
    r"as (?:much|often|frequently)\b[^,;:]{0,60})"
)
"""What says when, how much or why: who denies this of something does not deny the rest."""
_IN_PART: Final = regex(
    r"^user\b[^,;:]{0,40}?(?:\bnot|n't|\bno longer) [^,;:]{2,90}?(?:[,;]| [-–—])? (?:(?:but )?(?:just|only) )?"
    rf"{_PART}(?: any ?more| any longer)?$"
)
_LESS: Final = regex(
    r"^user (?:(?:is|has been) (?:not|no longer)|isn't) "
    r"(?:very|severely|extremely|highly|deathly|that|so|badly|seriously|terribly|fully|completely|entirely|strictly) |"
    r"^user (?:does not|doesn't|no longer) ha(?:ve|s) (?:a|an|any|that) "
    r"(?:severe|bad|serious|terrible|strong|life-threatening) |"
    r"^user\b[^,;:]{0,30}?(?:\bnot|n't|\bno longer) "
    r"(?:always |[^,;:]{2,40}? (?<!at )(?<!after )(?:all|every|each|most) )"
)
"""What denies how much it is: who is not severely allergic, or not to all nuts, may well be allergic."""


@lru_cache(maxsize=1024)
def is_in_part(statement: str) -> bool:
    """Whether a denial is of a part only.

    >>> is_in_part("user does not live in rome in winter"), is_in_part("user is not severely allergic to nuts")
    (True, True)
    """
    said = statement.strip(" .!")
    return _LESS.match(said) is not None or _IN_PART.match(said) is not None


_TIME_WORD: Final = regex(rf"\b{_TIMES}\b")


def _over(text: str) -> Course | None:
    for pattern, alone in _ENDING.asked_of(text):
        match = pattern.match(text)
        if match is not None:
            over = _STEPPED_DOWN.sub(" ", match["over"])
            return None if _SOMEWHERE.match(over) else Course(over=over, alone=alone, said=text)
    return None


_STEPPED_DOWN: Final = regex(r" (?:stepped down as|(?:stopped|quit) being) ")


_SOMEWHERE: Final = regex(r"(?:at|to|in|into|on|onto|by|for|from|against|about|near|around|over|off|early|late)\b")
"""Where or how something ended that is not named: "I lost at chess", "I stopped by the bakery"."""


# ------------------------------------------------ what went, and what came

_MY: Final = (
    r"(?:user's |the |an? |user's own |having |being |doing |using |reading |playing |drinking |taking |learning )?"
)
_TO: Final = (
    r"(?:switched|changed|gone|went|moved|turned|transferred|shifted|converted|migrated|upgraded|downgraded|"
    r"passed|come "
    r"round|came round|jumped|progressed|swapped|moved on|gone over|went over|moved over|changed over|defected|"
    r"been moved|"
    r"been transferred|got moved)"
)
_INSTEAD: Final = (
    r"(?:replaced|substituted|swapped|swapped out|traded|traded in|exchanged|dropped|ditched|left|abandoned|forsook|"
    r"forsaken|turned in)"
)
"""What puts one thing in the place of another; "I gave up coffee for Lent" does not."""
_FOR: Final = (
    r"(?:replaced|swapped|swapped out|traded|traded in|exchanged|substituted|gave up|given up|dropped|ditched|"
    r"left|abandoned|"
    r"quit|sold|cancelled|canceled|stopped|forsook|forsaken|gave away|turned in|gone off|went off|packed in|"
    r"retired|ended)"
)
_TAKEN: Final = (
    r"(?:took up|taken up|joined|subscribed to|signed up (?:for|with|to)|started|started with|begun|began|picked "
    r"up|moved to|"
    r"switched to|turned to|bought|got|chose|chosen|went with|went for|gone with|went to|gone to|opted for|"
    r"settled on|"
    r"settled for|put on|been put on|was put on|tried|adopted|hired|took on|taken on|(?:now )?(?:is |does |has |"
    r"uses |"
    r"drinks |takes |plays |reads |sees |goes to |goes with )(?:now |currently )?(?:learning |doing |using |"
    r"taking |playing |"
    r"with |on |at |studying )?)"
)
_PAIRS: Final = tuple(
    regex(pattern)
    for pattern in (
        (
            rf"^{_MY}(?P<old>{_V}) (?:(?:(?:has|have) {_ADV}been|was|were|got|is being) {_ADV}(?:replaced|superseded|"
            rf"succeeded|swapped(?: out)?|traded(?: in)?|exchanged|ditched|dropped)|(?:has |have )?made way) "
            rf"(?:by|with|for|in favou?r of) {_MY}(?P<new>{_V}){_CLOSE}$"
        ),
        (
            rf"^(?:for [^,]{{3,40}} )?user(?:'s [\w' -]{{2,40}}?)? {_HAS}{_TO} (?:over )?(?:[\w' ]{{1,30}} "
            rf")?(?:from|off(?: of)?|away from) {_MY}(?P<old>{_V}) "
            rf"(?:over )?(?:on |and )?(?:to|into|onto) {_MY}(?P<new>{_V})(?P<rest> (?:in|as|for|at|on|with) "
            rf"[^,;:]{{2,40}})?{_CLOSE}$"
        ),
        (
            rf"^(?:they|(?:user's|the) [\w -]{{2,30}}) {_HAS}(?:moved|switched|changed|transferred|put|took) "
            rf"(?:user(?:'s [\w-]+(?: [\w-]+)?)? )(?:off )?"
            rf"(?:from )?{_MY}(?P<old>{_V}) (?:over )?(?:and put user on|to|onto|into) {_MY}(?P<new>{_V}){_CLOSE}$"
        ),
        (
            rf"^(?:user|they|user's [\w -]{{2,30}}|(?:the )?{_HEALER}) {_HAS}(?:replaced|substituted) "
            rf"{_MY}(?P<old>{_V}) (?:with|by) "
            rf"{_MY}(?P<new>{_V})(?P<rest> (?:in|as) [^,;:]{{2,40}})?{_CLOSE}$"
        ),
        (
            rf"^(?:user|they|user's [\w -]{{2,30}}|(?:the )?{_HEALER}) {_HAS}{_INSTEAD} "
            rf"{_MY}(?P<old>{_V})(?: (?:in|out|up))? for "
            rf"{_MY}(?P<new>{_V})"
            rf"(?P<rest> (?:in|as|for user's{NO_OCCASION}) [^,;:]{{2,40}})?{_CLOSE}$"
        ),
        (
            rf"^(?:user|they|user's [\w -]{{2,30}}) {_HAS}{_FOR} {_MY}(?P<old>{_V}) in favou?r of {_MY}(?P<new>{_V})"
            rf"(?P<rest> (?:in|as) [^,;:]{{2,40}})?{_CLOSE}$"
        ),
        (
            rf"^user {_HAS}(?:left|quit) {_MY}(?P<old>{_V}) to (?:join|work (?:at|for)|start (?:at|with)|move to|"
            rf"go to) "
            rf"{_MY}(?P<new>{_V}){_CLOSE}$"
        ),
        (
            rf"^user {_HAS}{_FOR} {_MY}(?P<old>{_V}),? and(?: user)? (?:now )?[a-z]+ (?:(?:with|on|at|in|to|for|by) )?"
            rf"{_MY}(?P<new>{_V}) (?:now|these days|instead)$"
        ),
        (
            rf"^user {_HAS}(?:{_ENDED}|{_FOR}|(?:set|put|laid|packed|jacked|chucked)(?= .* (?:aside|in|up)\b)) "
            rf"{_MY}(?P<old>{_V})(?: up| in| out| aside)?(?:,? and(?: user)?|;(?: now)?(?: "
            rf"user)?|, (?:and )?now(?: user)?|,? then(?: user)?) "
            rf"(?:has |now |instead )*{_TAKEN} ?{_MY}(?P<new>{_V})(?: instead)?{_CLOSE}$"
        ),
        (
            rf"^user {_HAS}(?:moved|switched|changed) (?:user's )?[\w -]{{2,30}} from {_MY}(?P<old>{_V}) (?:over "
            rf")?(?:to|into) {_MY}(?P<new>{_V}){_CLOSE}$"
        ),
        (
            rf"^{_MY}(?P<new>{_V}) (?:has |have |just |recently |now )*(?:replaced|succeeded|overtaken|overtook|"
            rf"supplanted|taken over from|"
            rf"took over from|taken the place of|took the place of|ousted) {_MY}(?P<old>{_V})(?P<rest> (?:as|in|"
            rf"for) [^,;:]{{2,40}})?{_CLOSE}$"
        ),
        (
            rf"^{_MY}(?P<new>{_V}) (?:has |now |recently )*(?:took over|taken over|inherited) (?:user's "
            rf"[\w ]{{2,30}}|from user's) from {_MY}(?P<old>{_V}){_CLOSE}$"
        ),
        rf"^instead of {_MY}(?P<old>{_V}),? user (?:now )?[a-z]+s (?:now )?{_MY}(?P<new>{_V}){_CLOSE}$",
        (
            rf"^(?:user|user's [\w' -]{{2,40}}?) (?:(?:used to|once) (?:be|[a-z]+)|was|were|had been) "
            rf"(?:(?:called|in|at|with|on|by|for) )?{_MY}(?P<old>{_V})"
            rf"(?P<rest> (?:in|as|for|at|on|with|to) [^,;:]{{2,40}}?)?,? ?(?:but |and |; ?|, ?)*(?:now|these "
            rf"days|nowadays|today|since then|currently)"
            rf" (?:it's|it is|user is|user [a-z]+s|that's|that is|that has become|i'm)? ?(?:(?:in|at|with|on|by|"
            rf"for) )?{_MY}(?P<new>{_V}){_CLOSE}$"
        ),
        (
            rf"^(?:user|user's [\w' -]{{2,40}}?) (?:(?:used to|once) (?:be|[a-z]+)|was|were|had been) "
            rf"(?:(?:called|in|at|with|on|by|for) )?{_MY}(?P<old>{_V})"
            rf"(?P<rest> (?:in|as|for|at|on|with|to) [^,;:]{{2,40}}?)?,? ?(?:but|and|;|,) (?:it's|it is|that's|"
            rf"user is|user [a-z]+s) "
            rf"(?:now |these days )?(?:(?:in|at|with|on|by|for) )?{_MY}(?P<new>{_V}) ?(?:now|these days|nowadays|"
            rf"today|instead|currently)$"
        ),
        (
            rf"^user's (?:ex|former|old|previous)[ -][\w ]{{2,30}} (?:is|was) {_MY}(?P<old>{_V}),? (?:and |but "
            rf")?(?:the|user's) (?:new|current|present) "
            rf"(?:one|[\w ]{{2,30}}) is {_MY}(?P<new>{_V}){_CLOSE}$"
        ),
        (
            rf"^user (?:no longer|does not|doesn't|is not|isn't) (?![a-z]+ly\b)[a-z]+"
            rf"(?: (?:in|at|with|on|by|for|to|the))* (?P<old>{_V})(?: any ?more| any longer)?[,;] "
            rf"(?:but )?user (?:now )?(?!(?:does|did|do)\b)[a-z']+ (?:now )?"
            rf"(?:(?:in|at|with|on|by|for|to) )?{_MY}(?P<new>{_V})(?: now| these days| instead)?$"
        ),
        (
            rf"^(?:these days|nowadays|now|currently|at present),? (?:it's|it is) {_MY}(?P<new>{_V}) (?:that "
            rf")?user [^,;]{{2,40}}, (?:and )?not {_MY}(?P<old>{_V})$"
        ),
        (
            rf"^(?:it's|it is) {_MY}(?P<new>{_V}) (?:that )?user [^,;]{{2,40}}, (?:and )?(?:not|never|no longer) "
            rf"{_MY}(?P<old>{_V})$"
        ),
        (
            rf"^(?:i|user) (?:said|wrote|meant to say) {_MY}(?P<old>{_V}) but user [a-z]+(?: (?:in|at|with|on|by|"
            rf"for|to))? {_MY}(?P<new>{_V})$"
        ),
        rf"^not {_MY}(?P<old>{_V}), user (?:is )?[a-z]+(?: (?:in|at|with|on|by|for|to|from))? {_MY}(?P<new>{_V})$",
        rf"^user {_HAS}{_TO} from {_MY}(?P<old>{_V}) to {_MY}(?P<new>{_V})$",
        (
            rf"^(?:user|they|user's (?:team|group)) {_HAS}(?:renamed|rebranded|rechristened) "
            rf"(?!the |user's |an? |it |this |that )(?P<old>{_V}) (?:to|as|into) (?P<new>{_V}){_CLOSE}$"
        ),
        rf"^user {_HAS}been taken off {_MY}(?P<old>{_V}) and put on {_MY}(?P<new>{_V})$",
    )
)  # fmt: skip


_PAIRING: Final = OfWords(_PAIRS)
_CORRECTED: Final = tuple(
    regex(pattern)
    for pattern in (
        (
            rf"^(?P<says>(?:user|user's|[\w'.]+) [^;:]{{2,120}}?),? (?:and |but )?(?:not|never|no longer) "
            rf"(?:(?:in|at|with|on|by|for|to|from) )?{_MY}"
            rf"(?P<old>{_V})(?: any ?more| any longer)?$"
        ),
        (
            rf"^(?P<says>(?:user|user's) [^;:]{{2,120}}?),? (?:instead of|rather than|in place of) (?:(?:in|at|"
            rf"with|on|by|for|to|from) )?{_MY}(?P<old>{_V}){_CLOSE}$"
        ),
    )
)  # fmt: skip
_WRONG: Final = regex(
    r"^(?:user (?:was wrong|got (?:that|it|this) wrong|misspoke|made a mistake|mixed (?:that|it|them) up|meant "
    r"to say|"
    r"mistyped|said it wrong)|wrong \w+|my mistake|user's mistake|typo|mistake|my bad)\b[,:;.]? (?:that |but )?"
)
_SLIP: Final = regex(
    r"(?:,|;| [–—-]) (?:that (?:was|is) (?:a |user's )?(?:slip|mistake|typo|error|wrong)|(?:user's |the )?(?:my "
    r")?(?:mistake|bad|fault)|typo|"
    r"sorry(?: about that)?|user (?:always |just |keeps? )?(?:mix(?:es|ed|ing)?|misread|misreads|mistyped|misspoke|"
    r"confused?|confuses|"
    r"typed|got|gets|had) [^,;]{1,60})[\s.!]*$"
)
"""What says at the end of a correction how the mistake came about."""
_AGAIN: Final = regex(
    r"\b(?:again|once more|back|returned|went back to|gone back to|rejoined|resubscribed|re-joined|resumed|restarted|"
    r"re-enrolled|reenrolled|re-subscribed|reinstalled|readopted|reactivated)\b"
)


def _corrected(text: str) -> Course | None:
    for pattern in _CORRECTED:
        match = pattern.match(text)
        if match is not None:
            old, says = _bare(match["old"]), match["says"].strip(" ,")
            if _is_value(old) and len(says.split()) >= _LEAST:
                return Course(old=old, says=says)
    return None


_LEAST: Final = 3


def _pair(text: str) -> Course | None:
    text = _FIRST_WHEN.sub("", text)
    for pattern in _PAIRING.asked_of(text):
        match = pattern.match(text)
        if match is not None:
            old, new = _bare(match["old"]), _bare(match["new"])
            if _FOR_A_PART.search(new):
                return None
            if old != new and _is_value(old) and _is_value(new) and old.endswith("ing") <= new.endswith("ing"):
                return Course(old=old, new=new)
    return None


_FOR_A_PART: Final = regex(r" for (?!good\b|ever\b|now\b)")
"""What went for a purpose or for some went for no others: "replaced Stripe with Adyen for the EU"."""
_ARTICLE: Final = regex(r"^(?:an?|the|user's|in|at|on|by|with|for|to) ")
_DOING: Final = regex(r"^(?:up )?[a-z]+ing (?:(?:for|at|with|in|on|to) )(?:the )?(?=[a-z])")
_NO_VALUE: Final = word_set(
    "it this that these those one ones him her them they he she you me we us user user's so here there now then "
    "not no "
    "something anything nothing everything someone nobody none side sides mind topic subject"
)


def _bare(value: str) -> str:
    text = value.strip(" '\"")
    while (cut := _ARTICLE.sub("", _DOING.sub("", text))) != text:
        text = cut
    return text


def _is_value(value: str) -> bool:
    parts = value.split()
    return 0 < len(parts) <= 4 and not _NO_VALUE.intersection(parts)


# ------------------------------------------------ news in few words, of what was told before

_BYE: Final = r"(?:(?:good)?bye(?:[ -]bye)?(?: to)?|farewell(?: to)?|so long|no more|ciao)"
_QUIT: Final = (
    r"(?:done with|finished with|finished|through with|enough of|no more|out with|dumped|ditched|cancelled|"
    r"canceled|dropped|"
    r"quit|left|sold|traded in|traded|put|gave up)"
)
_SWAPS: Final = tuple(
    regex(pattern)
    for pattern in (
        rf"^{_BYE} {_MY}(?P<old>{_V})[,.!;]* (?:and )?(?:hello|hi|hey|welcome),? {_MY}(?P<new>{_V})$",
        rf"^(?:hello|hi|welcome),? {_MY}(?P<new>{_V})[,.!;]* (?:and )?{_BYE} {_MY}(?P<old>{_V})$",
        (
            rf"^(?:user (?:has |is )?)?{_QUIT} {_MY}(?P<old>{_V})(?: down| away| in| up|"
            rf" aside)?[,;.]+ (?:and )?(?:(?:it's|"
            r"it is|user is|user has|user|now|so|back|over|moved|signed up) )*(?:on to|onto|hello|in with|"
            r"signed up with|"
            r"signed up for|started with|started|joined|bought|got|welcome|switched to|over to|with|reading|"
            r"using|drives|"
            rf"driving|watching|learning|playing|uses|plays|has) {_MY}(?P<new>{_V})(?: now| instead| these days)*$"
        ),
        rf"^{_MY}(?P<old>{_V}) is out[,;]? (?:and )?{_MY}(?P<new>{_V}) is in$",
        (
            rf"^(?:user (?:has )?)?(?:signed (?:up )?(?:with|for)|joined|started (?:at|with)|(?:was |"
            rf"got )?hired by|bought|got)"
            rf" {_MY}(?P<new>{_V})[,;] (?:and )?(?:{_BYE}|left|quit|dumped|ditched|dropped|cancelled|canceled) "
            rf"{_MY}(?P<old>{_V})$"
        ),
        (
            rf"^(?:(?:they(?:'ve)?|user's [\w -]{{2,20}}) {_HAS}(?:raised|lowered|increased|cut|upped|bumped|"
            rf"put up|reduced|changed) "
            rf"user's [\w -]{{2,30}}?|user's [\w -]{{2,30}}? {_HAS}(?:went|gone|rose|risen|dropped|fell|fallen|changed|"
            rf"raised|increased|reduced|cut)(?: up| down| over)?) from (?P<old>{_V}) to (?P<new>{_V})$"
        ),
        (
            rf"^after (?:all |so )?(?:(?:those|these|many|some|several|a few|[a-z]+) )?(?:years|months|ages|"
            rf"weeks) (?:at|with|of|"
            rf"on) {_MY}(?P<old>{_V}),? user {_HAS}(?:gone|went|moved|switched|changed|turned) (?:over )?to {_MY}"
            rf"(?P<new>{_V})$"
        ),
        rf"^no longer {_MY}(?P<old>{_V})[,;] (?:but |now |it's )*{_MY}(?P<new>{_V})(?: now| instead)?$",
    )
)
_SWAPPING: Final = OfWords(_SWAPS)
_DAY: Final = (
    r"(?:(?:last |this |on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday|today|last (?:week|month|year))"
)
_CUES: Final = regex(
    rf"\b(?:(?:user's )?(?:last|final) (?:day|shift|week) (?:at|with)(?= .* (?:was|is) {_DAY}$)|(?:was|is) {_DAY}$|"
    r"let user go|not with(?= .* any ?more$)|any ?more$|any longer$|(?:for user(?:'s (?:group|team))?)$|"
    rf"^{_BYE}(?= )|"
    r"hung up user's|handed (?:in|back) user's (?:badge|notice|keys|laptop|uniform|membership)(?: card)?(?: at| to)?|"
    r"(?:went|gone|off) to (?:the )?(?:scrapyard|scrap|dump|tip|charity|recycling|landfill)|called it (?:quits|a day) "
    r"(?:with|on)|user's (?:days|time|stint|career|years) (?:as|at|with)|(?:career|job) as|out at|is (?:gone|"
    r"over|history|"
    r"toast)$|(?:has |have )?(?:not|n't) (?:touched|opened|used|played|been to|worn|ridden|driven) (?:user's )?|"
    r"in (?:months|weeks|years|ages|forever)|,? (?:and )?(?:that's (?:it|that)|user has (?:stopped|quit)|it's over)$|"
    r"the end of|pulled the plug on|says? goodbye to|said goodbye to|threw in the towel (?:at|with)|gave up the ghost|"
    r"bit the dust|kicked the bucket)"
)
_LEAST_CUES: Final = regex(
    rf"let user go|any ?more$|any longer$|\b(?:last|final) (?:day|shift|week)\b|^{_BYE}\b|hung up|handed (?:in|back)|"
    r"scrap|dump$|tip$|charity$|recycling$|landfill$|called it|user's (?:days|time|stint|career|years) (?:as|at|"
    r"with) .*"
    r"(?:over|done|behind)|out at|is (?:gone|over|history|toast)$|user has (?:stopped|quit)$|that's (?:it|that)$|"
    r"pulled the|"
    r"goodbye|threw in|ghost$|dust$"
)


@lru_cache(maxsize=1024)
def pointed(statement: str) -> Course | None:
    """What a few words say is over, or what came for it, that mean something only beside what was told before.

    "Goodbye X, hello Y" and "last day at X was Friday" have no verb or subject by which a statement is read; what they
    name must be all that a memory tells.
    """
    text = statement.strip(" .!,;:").replace("user's group", "user")
    if len(text) > MAX_POINTED or _ONCE.search(text) or _PASSING.search(text):
        return None
    for pattern in _SWAPPING.asked_of(text):
        match = pattern.match(text)
        if match is not None:
            old, new = _bare(match["old"]), _bare(match["new"])
            return Course(old=old, new=new, alone=True) if old != new and _is_value(old) and _is_value(new) else None
    if not _LEAST_CUES.search(text):
        return None
    over = re.sub(r"^(?:the|user is|user has|user)\b", " ", _CUES.sub(" ", text)).strip(" ,.!")
    return Course(over=over, alone=True, said=text) if over and _is_value(_bare(over)) else None


MAX_POINTED: Final = 120


# ------------------------------------------------ signs that now differs from before

_WEAK: Final = regex(
    r"\b(?:(?<!for )now|nowadays|these days|currently|at present|at the moment|again|back|once more|once again|"
    r"from now on|"
    r"from here on|as of|has become|have become|became|lately|at last|finally|turned into|ended up|moved|changed|"
    r"transferred|went back|gone back|returned)\b"
)


def says_otherwise(statement: str) -> bool:
    """Whether a statement sets how things are now against how they were."""
    return _WEAK.search(statement) is not None and _BESIDE.search(statement) is None


_BESIDE: Final = regex(r"\b(?:too|also|as well|another|besides|in addition)\b")


# ------------------------------------------------ of what it is said

_FUNCTION: Final = word_set(
    """
    user user's the a an my our from by at to with on in for of off as up out over into onto about after before is
    am are was were been being be has have had do does did done doing goes going go went gone and or but not no
    longer any more anymore nor never now nowadays these days currently present moment again back once lately here
    last least still already also just finally recently completely totally officially sadly really ever all every
    isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't won't
    each some it its it's that this those one ones which who what when where he she they him her them his their used
    use uses using own owns so then than too very instead rather today yesterday week month year ago good ever
    forever entirely dr mr mrs ms prof there will can become became becomes turned ended moved move moves changed
    switched transferred relocated stayed remains called named s t get gets got
    """
)
_LIGHT: Final = word_set(
    """
    lesson lessons class classes course courses account subscription subscribe subscribed member membership contract
    plan time times job work working works worked stint days thing things stuff habit hobby job customer fan run
    running do learning learn play playing drink drinking eat eating read reading take taking study studying
    practise practising practice volunteer volunteering see seeing live living sleep sleeping pay paying having
    studies part
    """
)
_ALIKE: Final = {
    "love": "like", "enjoy": "like", "ador": "like", "fond": "like", "hate": "dislik", "loath": "dislik",
    "resid": "live", "dwell": "live", "attend": "studi", "flat": "home", "hous": "home", "apart": "home",
    "employ": "work", "favorit": "favourit", "color": "colour", "plane": "aeroplan",  # and no plan
}  # fmt: skip


_COUNT: Final = regex(r"\d[\d.,:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve")


@lru_cache(maxsize=8192)
def _same_stem(word: str) -> str:
    """The stem of a word, one for those that say the same: "supervisor" and "supervises", "membership" and "member"."""
    if _COUNT.fullmatch(word):
        return word
    found = "supervis" if word.startswith("supervis") else stem(word)
    found = _ALIKE.get(found, found)
    while (root := _DERIVED.sub("", found)) != found and len(root) >= _ROOT:
        found = root
    return found.replace("script", "scrib") if "script" in found[3:] else found


_ROOT: Final = 4
_DERIVED: Final = regex(r"(?:ship|or|er|e)$")
_LIGHT_STEMS: Final = frozenset(map(_same_stem, _LIGHT))


_LASTING: Final = frozenset(
    map(
        _same_stem,
        word_set(
            """
    speak know like love hate dislike fear afraid allergic born grew can understand remember believe loved met meet
    visited want wish need collect stand can't cannot able spoken favourite hometown sell repair fix make build
    photograph admire miss recommend invest
    """
        ),
    )
)
"""What goes on when what somebody does of it is over: who stops a course still speaks the language."""
_COMPANY: Final = regex(
    r"\b(?:work|play|train|practi[sc]e|go|talk|hang|travel|run|walk|study|chat|eat|meet)\w* (?:out )?with (?!the )"
)
"""Whom something is done with: with another, too."""
_SIDES: Final = frozenset(map(_same_stem, word_set("left right upper lower front rear older younger elder big little")))
_SEVERAL: Final = frozenset(
    map(
        _same_stem,
        word_set(
            """
    have has own know speak like love hate dislike want need wish see meet visit collect fear enjoy can able learn
    grow bake cook sell make wear listen call phone text water feed invest support donate pay visit fan
    mum mom mother dad father parent gran granny grandma grandpa
    study read play watch write buy remember understand teach manage lead follow organise help love try fluent
    allergic friend friends brother sister sibling cousin uncle aunt nephew niece son daughter child kid colleague
    coworker neighbour neighbor roommate flatmate classmate teammate dog cat pet puppy kitten horse rabbit
    """
        ),
    )
)
"""What people have or do several of at a time: "now" alone does not say that another of them is over."""
_TAKE: Final = _same_stem("take")
_RIDES: Final = frozenset(
    map(_same_stem, word_set("bus tram train metro subway underground tube ferry boat car bike taxi cab"))
)
"""What is taken one at a time: of medicines and courses another may be taken beside, at the same hour."""
_WHEN: Final = frozenset(
    map(
        _same_stem,
        word_set(
            "take morning noon afternoon evening night bedtime breakfast lunch dinner daily twice weekly monthly "
            "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays "
            "saturdays sundays weekend weekends"
        ),
    )
)
_SEASONS: Final = frozenset(map(_same_stem, word_set("spring summer autumn fall winter year month season")))
_WORD: Final = regex(r"[^\W_](?:[\w'’.@&+-]*[^\W_])?")
_TENSE_PAST: Final = regex(
    r"^user(?:'s (?:(?!is |are |has )[\w-]+ ){1,3}?)? ?(?:(?:just|once|also|never|recently) )*(?:was|were|had|did|"
    r"named|inherited|"
    r"went|visited|"
    r"met|saw|weighed|"
    r"bought|watched|ordered|heard|painted|gave|parked|read about|tried|ate|left|stopped|quit|used to|dreamt|dreamed|"
    r"considered|almost|nearly)\b"
)


def _stems(text: str) -> list[str]:
    found = (word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text))
    return [_same_stem(word) for word in found if word not in _FUNCTION and (len(word) > 1 or word.isdigit())]


_NONE: Final = regex(r"\b(?:no|not|never|none|nobody|nothing)\b")


@dataclass(frozen=True, slots=True)
class Told:
    """A memory as far as it must be known here: its words in compared form, and as they were written."""

    plain: str
    written: str

    def is_over(self, over: str, said: str = "") -> float:
        """How much of this memory some words name that say what is over; 0 where they speak of something else too."""
        if is_in_part(said) and not set(_TIME_WORD.findall(said)) <= set(self.plain.split()):
            return 0.0  # who does not work from home on Mondays may do so on Fridays
        if not _may_end(self.plain, over, said):
            return 0.0
        return 1.0 if is_pet(self.plain, over) else _named(self.plain, over, said)

    def denies(self, said: str) -> bool:
        """Whether it tells nothing but that something is not so, or no longer, of which a statement says that it is."""
        own = read(self.plain)
        if own is None or own.over is None or own.alone or not is_state(said) or _NONE.search(said):
            return False
        if not (self.plain.startswith("user ") and said.startswith("user ")):
            return False  # of whom both are said is not told by their words alone: "Ann teaches user"
        gone, back = ([one for one in _content(text) if one not in _LIGHT_STEMS] for text in (own.over, said))
        return bool(gone) and gone == back

    def may_end(self, said: str) -> bool:
        """Whether it tells of something that may end by such words: not of company, or of what somebody likes."""
        return _may_end(self.plain, said, said) and not is_in_company(self.plain)

    def replaced(self, old: str, new: str, said: str) -> str | None:
        """This memory with another value in the place of one it names; None where it does not name it as a value.

        `said` is the statement that it has changed, in compared text. One that tells of a part of what the memory is
        about ("We moved the API from Flask to FastAPI") gives the rest no other value.
        """
        return _replaced(self.plain, self.written, old, new, said)

    def writes(self, old: str, new: str) -> bool:
        """Whether it writes a value of its own as another is written: both as names or numbers, or neither."""
        place = re.search(rf"(?<![\w'-]){re.escape(old)}(?![\w-])", self.written, re.IGNORECASE)
        named = [one[:1].isupper() or one[:1].isdigit() for one in (place.group() if place else "", new)]
        beside = re.search(rf"(?<!is)(?<!banks) with (?:the )?{re.escape(old)}", self.plain)
        return named[0] == named[1] and beside is None

    def otherwise(self, statement: str, written: str) -> float:
        """How alike a statement is that tells the same with another value; 0 where it does not."""
        return _otherwise(self.plain, self.written, statement, written)

    def set_against(self, statement: str, beside: str) -> bool:
        """Whether a statement gives another value to what this memory tells, whose value the words beside it name."""
        return _set_against(self.plain, statement, beside)

    def is_same(self, statement: str) -> float:
        """How alike a statement is that says nothing but what this memory says; 0 for any other."""
        own, said = set(_content(self.plain)), set(_content(statement))
        same = bool(said) and is_state(self.plain) and own - _LIGHT_STEMS == said - _LIGHT_STEMS
        return 1.0 + len(own & said) / 100 if same and own & said else 0.0

    def names(self, value: str) -> bool:
        """Whether it names a value, and tells how things are."""
        place = re.search(rf"(?<![\w'-]){re.escape(value)}(?![\w'-])", self.plain)
        return place is not None and is_state(self.plain)

    def was_only(self, value: str, says: str) -> bool:
        """Whether it tells little but a value that is said not to be what something else is, and tells it last."""
        own, gone = set(_content(self.plain)), set(_content(value))
        if not gone or not gone <= set(_content(self.plain)[-len(gone) - 1 :]) or not is_state(self.plain):
            return False
        if (
            _BEST.search(says)
            or _TASTES.search(says)
            or _TASTES.search(self.plain)
            or _SEVERAL & {*own, *_content(says)}
        ):
            return False
        if any(kind.search(self.plain) or kind.search(says) for kind in (_AS_LOVE, _COMPANY)):
            return False
        places = [(_AS_HOME.search(one) is not None, _AS_WORK.search(one) is not None) for one in (self.plain, says)]
        return not own - gone - _LIGHT_STEMS - _WHEN - _SEASONS and {(True, False), (False, True)} != set(places)

    def preferred(self, statement: str) -> bool:
        """Whether it prefers the very thing to which a statement prefers another, over nothing or over that one."""
        own, said = _PREFERS.match(self.plain), _PREFERS.match(statement)
        if own is None or said is None or said["old"] is None:
            return False
        return _bare(own["new"]) == _bare(said["old"]) and own["old"] in (None, said["new"])

    def gave(self, statement: str, written: str) -> bool:
        """Whether it gives another value to the thing of the user's of which a statement says what it is now."""
        thing = _OWNED.match(statement)
        np = "" if thing is None else _NEW_ONE.sub("", thing["np"])
        if not np or not is_state(self.plain) or not is_state(statement) or set(_stems(np)) & _SEVERAL:
            return False
        value = next((found["value"] for shape in _shapes(np) if (found := shape.match(self.plain))), None)
        told = [one for one in _content(statement) if one not in _stems(np)]
        held = _stems(value or "")
        if not held or not told or len(held) > _MOST or len(told) > _MOST:
            return False
        if held == told or (set(held) & set(told) and not (_COUNT.fullmatch(held[0]) and _COUNT.fullmatch(told[0]))):
            return False  # "User pays 710 euros rent" is another amount of the same money
        return _is_named(self.written, held) == _is_named(written, told)

    def is_other(self, says: str) -> bool:
        """Whether a statement is of another thing of the same kind: "my piano teacher", "my violin teacher"."""
        owned, too = _OWNED.match(self.plain), _OWNED.match(says)
        if owned is None or too is None:
            return False
        one, other = _stems(owned["np"]), _stems(too["np"])
        return one[-1:] == other[-1:] and bool(set(one) - set(other)) and bool(set(other) - set(one))

    def shares(self, statement: str) -> float:
        """How much of the words of this memory a statement has."""
        own = set(_content(self.plain))
        return len(own & set(_content(statement))) / len(own) if own else 0.0


@lru_cache(maxsize=8192)
def _content(text: str) -> tuple[str, ...]:
    return tuple(_stems(text))


def topic(plain: str) -> frozenset[str]:
    """What a statement is about beside its values: the stems of its words that say more than how and when."""
    return frozenset(_content(plain)) - _LIGHT_STEMS - _WHEN


def is_of_several(stems: Iterable[str]) -> bool:
    """Whether stems name what people have or do several of at a time."""
    return not _SEVERAL.isdisjoint(stems)


def is_lasting(stems: Iterable[str]) -> bool:
    """Whether stems name what goes on when what somebody does of it is over, as a favourite or where they grew up."""
    return not _LASTING.isdisjoint(stems)


def is_passing(plain: str) -> bool:
    """Whether a statement tells of what is over for a while alone, or went from one place to another."""
    return _PASSING.search(plain) is not None


def is_in_company(plain: str) -> bool:
    """Whether a statement tells with whom something is done, or how much it is liked: with another, too."""
    return _COMPANY.search(plain) is not None or _TASTES.search(plain) is not None


_PET: Final = regex(
    r"^user's (?:dog|cat|puppy|kitten|pup|hound|pet|horse|pony|rabbit|bunny|hamster|parrot|budgie|canary|goldfish|"
    r"tortoise|turtle|snake|guinea pig|ferret|donkey|goat|hen)(?:'s name)? is (?:an? [\w -]{2,30}? (?=called |named |"
    r"by ))?(?:called |named |by the name of )?(?P<name>[^,;:]{2,40})$"
)


def is_pet(plain: str, name: str) -> bool:
    """Whether a statement says that a pet of the user's has a name."""
    match = _PET.match(plain)
    return match is not None and match["name"] == name


_NAMED_SO: Final = regex(
    r"^user's (?:[\w-]+ ){1,2}?(?:(?:is |'s name is )?(?:called |named )?)(?P<name>[^,;:]{2,60})$|"
    r"^user(?:'s name is| is married to| is dating) (?P<own>[^,;:]{2,60})$"
)


def is_named(plain: str, name: str) -> bool:
    """Whether a statement says of somebody of the user's that they have a name, or do something under it."""
    match = _NAMED_SO.match(plain)
    return match is not None and (match["name"] or match["own"]).split()[0] == name


def names(said: str, subject: str | None) -> bool:
    """Whether words name somebody by all the words of their name."""
    words = set(_WORD.findall((subject or "").casefold())) - _FUNCTION
    return bool(words) and words <= set(_WORD.findall(said.casefold()))


def is_state(plain: str) -> bool:
    """Whether a memory tells how things are, which may end, rather than what happened once or is denied."""
    return _TENSE_PAST.match(plain) is None and re.search(r"\b(?:not|no longer|never)\b", plain) is None


_PREFERS: Final = regex(
    r"^(?:(?:now|these days|nowadays|currently|lately),? )?user "
    r"(?:(?:now|really|still|actually|currently|generally|definitely|much) )*prefers (?P<new>[^,;:]{1,40}?)"
    r"(?: (?:over|to|rather than|instead of) (?P<old>[^,;:]{1,40}?))?"
    r"(?:,? (?:now|these days|nowadays|again|any ?more|at the moment|lately))*$"
)
_NEW_ONE: Final = regex(r"^(?:(?:new|current|latest) )+")
_DOES: Final = (
    r"user (?:(?:has been|is|was|also|still|now|usually) )*(?:(?:uses|using|sees|seeing|has|pays|paying|wears|"
    r"takes|taking|"
    r"drives|driving|goes to|going to|with|plays|playing|gets|getting|buys|rents|keeps|picked|chose|reads|drinks|"
    r"works with) )?"
)


@lru_cache(maxsize=1024)
def _shapes(np: str) -> tuple[re.Pattern[str], ...]:
    """How somebody says of a thing by its name what it is, but for "my <thing> is"."""
    thing, value = re.escape(np), r"(?:an? |the |user's )?(?P<value>[^,;:]{1,40}?)"
    return tuple(
        regex(pattern + r"(?: (?:now|these days|at the moment|currently|again))*$")
        for pattern in (
            rf"^{_DOES}{value} (?:for|as) (?:user's |the |an? )?{thing}",
            rf"^{_DOES}{value}, (?:that's|that is|which is|who's|who is) user's {thing}",
            rf"^{_DOES}(?P<value>[€$£]?\d[\w.,€$£ ]{{0,20}}?) (?:of |in )?{thing}",
            rf"^{_DOES}user's {thing} (?:from|through|with|by) {value}",
            rf"^user's {thing} (?:is|are) (?:from|through|with|by|called )?\s?{value}",
        )
    )


_BEST: Final = regex(r"\b(?:favou?rite|best|first|main|old|only|dream)\b")


def value_of(says: str, old: str) -> str | None:
    """The last words of a statement that can stand in the place of a value: as many, behind a small word."""
    words, most = says.split(), len(old.split()) + 1
    for place in range(len(words) - 1, max(len(words) - most - 1, 0), -1):
        if words[place - 1] in _FUNCTION:
            return " ".join(words[place:]) if words[place] not in _FUNCTION else None
    return None


_IS_CALLED: Final = regex(r"(?:'s name)? is (?:called|named) |'s name is ")


def _named(plain: str, over: str, whole: str) -> float:
    plain = _IS_CALLED.sub(" is ", plain)
    own, said = set(_content(plain)), set(_content(over))
    heavy = said - _LIGHT_STEMS
    if not heavy or not heavy <= set(_content(_COMPARED.sub(r"\1", plain))) or not is_state(plain):
        return 0.0
    if (own & _LASTING) - said and not _SCRAPPED.match(whole) and not (own <= said | _TASTED and _TASTE.search(whole)):
        return 0.0
    shared = own & said
    weight = own - _LIGHT_STEMS
    share = len(heavy) / len(weight) if weight else 0.0
    if share < _HALF or not _names_the_end(plain, heavy):
        return 0.0
    return share + len(shared) / 100


_HALF: Final = 0.5
_COMPARED: Final = regex(r"(?:(\bprefers? (?!to\b).+?) (?:to|over)|\b(?:than|instead of|without|except))\b.*")
"""What a memory names only to tell it from what it is of: who likes dogs more than cats need not like cats."""


# ------------------------------------------------ what may end by such an end

_TASTED: Final = frozenset({_same_stem("favourite")})
_TASTE: Final = regex(r"\b(?:gone off|went off|lost interest|out of love|fan of|fed up|likes?|over)\b")
_AS_WORK: Final = regex(
    r"\b(?:work|works|working|worked|employ\w*|jobs?|hired|joined|started|intern\w*|apprentice\w*|volunteer\w*|shifts?|"
    r"contract\w*|position|role|manag\w+|leads?|runs?|teach\w*|serves?|company|boss|supervisor|colleague|coworker|"
    r"freelanc\w*|consult\w*|(?:drives|writes|plays|drive|write|play) for|on the|"
    r"is (?:an?|the) (?!regular|customer|fan|client|patient)[\w -]+ (?:at|for|with|in|of)|is (?:at|with))\b"
)
_AS_LOVE: Final = regex(
    r"\b(?:dat(?:e|es|ing)|marri\w*|engag\w*|seeing|girlfriend|boyfriend|partner|wife|husband|fianc\w*|spouse|"
    r"together|(?:is|lives|goes out|in love) with|sees)\b"
)
_AS_HOME: Final = regex(
    r"^(?!user (?:has|owns) ).*\b(?:liv(?:e|es|ing)|resid\w*|rents?|stays?|based|home|flat|house|apartment|"
    r"room\w*|flatmate|address|share[sd]?|moved|settled|tenant|dorm|lodges?|sleep(?:s|ing)?|slept|bed(?:room)?|"
    r"user is in)\b"
)
_AWAY: Final = regex(
    r"\b(?:shops?|parks?|orders?|supports?|hometown|near|next to|drives? (?:an?|the)|subscri\w+)\b|"
    r"^user (?:has|owns) .* in "
)
_KINDS: Final = tuple(
    (regex(said), must, never)
    for said, must, never in (
        (
            (
                r"(?:(?:^|\buser's |\bthe )(?:last|final) (?:day|shift|week)|"
                r"\b(?:badge|notice|out at|career|let user go))\b"
            ),
            _AS_WORK,
            None,
        ),
        (
            (
                r"\b(?:fired|sacked(?! off\b)|dismissed|let user go|laid (?:user )?off|redundant|user's job|works?(?! "
                r"out)|"
                r"worked|working(?! out))\b"
            ),
            _AS_WORK,
            None,
        ),
        (r"\b(?:dumped user|(?:broke|broken|split) up|dating|engaged to|married to|divorced)\b", _AS_LOVE, None),
        (r"\b(?:moved (?:out|away)|lives?|living|lived|resid\w+)\b", _AS_HOME, None),
        (r"^user (?:has |just )*(?:left|quit)\b", None, _AWAY),
        (
            r"^user (?:has |just )*left\b.*\b(?:yesterday|today|last (?:night|week|weekend)|this (?:week|weekend))$",
            None,
            regex(r"\b(?:lives?|resides?|moved|based|goes)\b"),  # that is a journey, or one visit
        ),
        (
            r"\b(?:lessons?|class(?:es)?)\b",
            None,
            regex(r"\b(?:plays?|speaks?|likes?|loves?|enjoys?)\b|^user (?:has|owns) (?:an?|the) [\w-]+$"),
        ),
        (
            (
                r"^user's (?:\w+ )?(?:phone|smartphone|mobile|laptop|computer|pc|tablet|ipad|camera|watch|smartwatch|"
                r"battery|car|van|bike|e-bike|scooter|headset|printer|router|tv|internet|wifi|fridge|boiler|mic|"
                r"speaker|keyboard|"
                r"mouse) (?:has |just )*died\b"
            ),
            regex(r"(?!)"),  # that is its battery, more often than not
            None,
        ),
        (
            (
                r"^user (?:has |just |finally |recently |now |also )*finished (?!with )(?!.*\b(?:project|course|class|"
                r"degree|training|thesis|studies|treatment|therapy|internship|apprenticeship|contract|book|novel|"
                r"series)\b)"
            ),
            regex(r"^user is (?:(?:now|still|currently|also|just) )*(?:re-?)?(?:reading|watching|listening to)\b"),
            None,
        ),
        (
            r"^user .*\b(?:put|set|laid) .* (?:aside|to one side)\b",
            None,
            regex(r"^user (?:has|owns|uses|wears|drives|rides)\b"),  # that is what is done with a thing at hand
        ),
        (r"\b(?:lost|stolen)\b", None, regex(r"\b(?:wears?|takes?|needs?|uses? .* for)\b")),
    )
)
"""What an end is an end of, and what a memory must say, or must not, to be what ended: a firm that fires somebody ends
their job, and not that they shop there."""
_DOINGS: Final = tuple(
    (
        regex(rf"^(?:user )?(?:(?:does|has|is|no longer|not|stopped|quit) )*(?:{verb})\b"),
        regex(rf"\b(?:{fits}|has|is)\b"),
    )
    for verb, fits in (
        ("eat|eats|eating", r"eats?|diet|keeps|takes|lives on"),
        ("drink|drinks|drinking", r"drinks?|takes"),
        ("read|reads|reading", r"reads?|subscri\w+|gets"),
        (
            "play|plays|playing",
            r"plays?|playing|practi\w+|does|train\w*|learn\w*|takes?|taking|sings?|goes|member|lessons?|streams?",
        ),
        (
            "learn|learns|learning|study|studies|studying",
            r"learn\w*|stud\w+|takes?|taking|does|practi\w+|attends?|goes|enrol\w*|course|class\w*|lessons?",
        ),
    )
)
"""What somebody no longer does with a thing, and the memories of it that end by that: who does not play football may
watch it."""


def _may_end(plain: str, over: str, said: str) -> bool:
    """Whether a memory tells of what a statement says is over, rather than of something else about the same thing."""
    if any(verb.match(over) and not fits.search(plain) for verb, fits in _DOINGS):
        return False
    if _names_a_part(plain, over) or any(one not in plain.split() for one in _PARTLY.findall(said)):
        return False
    return all(
        (must is None or must.search(plain) is not None) and (never is None or never.search(plain) is None)
        for kind, must, never in _KINDS
        if kind.search(said)
    )


_PARTLY: Final = regex(
    r"\b(?:not|no longer)\b.*? (just|each|every|completely|totally|entirely|(?<!at )(?<!after )all)\b"
)
"""What goes on where a denial is of more than it: who does not like all dogs, or does not just use Vim, does."""
_LIST: Final = regex(
    r"(?P<items>.+),? (?:and|or) (?P<last>(?:(?:at|in|on|with|for|by|an?|the|user's) )*[^\s,]+(?: [^\s,]+)?)$"
)


def _names_a_part(plain: str, over: str) -> bool:
    """Whether some words name one of the things a memory lists at its end, and not another: that one goes on."""
    match = _LIST.match(plain)
    if match is None:
        return False
    items = [_stems(one)[-1:] for one in match["items"].split(", ")] + [_stems(match["last"])]
    named = [not set(one).isdisjoint(_content(over)) for one in items if one]
    return any(named) and not all(named)


def _names_the_end(plain: str, heavy: Iterable[str]) -> bool:
    """Whether some words name what a memory says last of its subject, or the subject of another: its value."""
    content = [one for one in _content(plain) if one not in _LIGHT_STEMS]
    return bool(content) and (bool(set(content[-2:]) & set(heavy)) or content[0] in set(heavy))


def _replaced(plain: str, written: str, old: str, new: str, said: str) -> str | None:
    if not is_state(plain) or f" {new} " in f" {plain} " or _TASTES.search(plain):
        return None
    if _is_of_a_part(said, plain) or _is_somewhere_else(said, plain):
        return None
    place = re.search(rf"(?<![\w'-]){re.escape(old)}(?![\w-])", written, re.IGNORECASE)
    if place is None or (place.start() > 0 and place.end() < len(written) and written[place.end()] == "'"):
        return None
    before, after = written[: place.start()], written[place.end() :]
    if not old[:1].isdigit():
        after = _VERSION.sub("", after)  # "MySQL 8" and not "Postgres 8"
        if before.rstrip() and place.group()[:1].isupper() and new[:1].isupper():
            after = _NAME_GOES_ON.sub("", after)  # "a Skoda Octavia" and not "a Kia Octavia"
    if f" the {old} " in f" {said} " and f" the {new.casefold()} " not in f" {said} ":
        before = before.removesuffix("the ")  # "the UK", but not "the Peru"
    return f"{before}{_without(new, after)}{after}"


_NAME_GOES_ON: Final = regex(r"^(?: [A-ZÀ-ÖØ-Þ][\w-]*)+")
_VERSION: Final = regex(r"^ v?\d[\d.]*(?! to \d)(?=$|[,;.]| (?:and|with|on|for|in|at|as|to|from)\b)")
_MOVES_A_PART: Final = regex(
    r"\b(?:moved|switched|migrated|ported|converted|changed) (?:the |our |user's )*"
    r"(?P<part>[\w-]+(?: [\w-]+){0,2}) from "
)


def _is_somewhere_else(said: str, plain: str) -> bool:
    """Whether a change is told of one place, time or surrounding, of which a memory says nothing: "in Germany".

    Elsewhere it may well be as it was.
    """
    own = f"{plain} work" if "user's team" in plain else plain  # what a team has it has at work
    return any(_is_a_surrounding(found["where"]) and found["where"] not in own for found in _WHERE.finditer(said))


def _is_a_surrounding(where: str) -> bool:
    return _SURROUNDING.fullmatch(where) is not None or where in CITIES or where in REGIONS


_WHERE: Final = regex(
    r"\b(?:in|on|at) (?:(?:the|our|user's|team's) )*(?P<where>[a-z][\w-]*(?: [a-z][\w-]*)?)"
    r"(?= (?:now|office|branch|only|too|last|this|today|yesterday|instead)\b|[,;.!]|$)"
)
_SURROUNDING: Final = regex(
    r"(?:(?:the )?(?:staging|production|prod|preview|dev|development|testing|qa|sandbox)(?: (?:environment|cluster|"
    rf"server))?|mobile|desktop|ios|android|{WEEKDAY}s|weekends|weekdays|mornings?|evenings?|afternoons?|winters|"
    r"summers|work|home|school|europe|asia|africa|apac|emea|us|uk|eu)"
)


def _is_of_a_part(said: str, plain: str) -> bool:
    """Whether a change is told of one of several things that a memory is about."""
    moved = _MOVES_A_PART.search(said)
    if moved is None:
        return False
    part = re.escape(moved["part"])
    another = r"(?:the |our |user's )*[\w-]+(?:$|[.;,]| (?:and|or|plus) )"
    listed = rf"\b{part}(?: and| or| plus|,| ?&) {another}|\b(?:and|or|plus|&) (?:the |our |user's )*{part}\b"
    return re.search(listed, plain) is not None


def _without(value: str, rest: str) -> str:
    """A value without the words at its end with which what follows begins: "the tram to work" before " to work"."""
    words, after = value.split(), rest.casefold().split()
    for most in range(min(len(words) - 1, len(after)), 0, -1):
        if [word.casefold() for word in words[-most:]] == after[:most]:
            return " ".join(words[:-most])
    return value


_TASTES: Final = regex(r"^user (?:really |also |still )*(?:likes|loves|enjoys|admires|adores)\b")
"""What somebody likes goes on when they switch to something else."""


_SINCE: Final = regex(r"^(?:since|as of|from|starting|effective) [\w ]{3,25}?,? (?=user\b)")


def _otherwise(plain: str, written: str, statement: str, said: str) -> float:
    statement = _SINCE.sub("", statement)
    if not is_state(plain) or not is_state(statement):
        return 0.0
    own, other = _content(plain), _content(statement)
    shared = [one for one in own if one in other]
    mine, its = [one for one in own if one not in other], [one for one in other if one not in own]
    if not shared and _is_of_an_hour(plain, statement):
        return _HALF
    if not shared or not mine or not its or len(mine) > _MOST or len(its) > _MOST:
        return 0.0
    counted = all(_COUNT.fullmatch(word) for word in (*mine, *its))
    if _SIDES.issuperset((*mine, *its)) or (_COMPANY.search(plain) and not counted):
        return 0.0
    alone = _THE_ONE.match(plain) and _THE_ONE.match(statement)
    several = _SEVERAL & {*own, *other} - _of_one_thing(plain, statement)
    if (several and not counted and not alone) or (
        _TAKE in own and set(shared) <= _WHEN and not _RIDES & {*mine, *its}
    ):
        return 0.0
    owned, too = _OWNED.match(plain), _OWNED.match(statement)
    if owned is not None and too is not None and not {*_stems(owned["np"]), *_stems(too["np"])} <= {*shared}:
        return 0.0  # "my thesis is supervised by" and "my thesis supervisor is" are of the same
    if not (_stand_together(own, mine) and _stand_together(other, its)):
        return 0.0
    if _is_named(written, mine) != _is_named(said, its):
        return 0.0
    if len(shared) < 2 and (_GOES.match(plain) or not _same_frame(plain, mine, statement, its)):
        return 0.0
    return len(shared) / max(len(own), len(other))


def _set_against(plain: str, statement: str, beside: str) -> bool:
    if not is_state(plain) or not is_state(statement) or _COMPANY.search(plain) or _TASTES.search(plain):
        return False
    if _BEST.search(plain) or any(map(verbs.is_past, statement.split())):
        return False
    own, other = _content(plain), _content(statement)
    shared = {one for one in own if one in other}
    mine = [one for one in own if one not in other and one not in _AS_A_RULE]
    mine = [one for one in mine if one not in _WHEN] or mine  # "every morning" is no value where there is another
    its = [one for one in other if one not in own]
    named = set(_stems(beside))
    is_a_day = not set(mine) - _WHEN  # then the day is what changed
    if _OF_A_PART.search(statement) or (not is_a_day and _is_of_other_days(plain, statement)):
        return False
    if not shared - _WHEN or not mine or not its or len(mine) > _MOST or named & set(its):
        return False
    return set(mine) <= named and not _SEVERAL & {*shared} and _stand_together(own, mine)


def _is_of_other_days(one: str, other: str) -> bool:
    """Whether the second of two statements is of some days, or of a part of the day, of which the first is not."""
    days, others = (frozenset(_ON_DAYS.findall(text)) for text in (one, other))
    return bool(others) and days != others


_ON_DAYS: Final = regex(
    rf"\b(?:{WEEKDAY}s|weekends|weekdays|(?:in|at) (?:the )?(?:mornings?|evenings?|afternoons?|night))\b"
)
_OF_A_PART: Final = regex(r"\b(?:there|elsewhere|the (?:rest|others?)|this time)\b")
"""Of a part, or once: "DHL was too slow for Spain, so we ship with UPS there"."""
_AS_A_RULE: Final = frozenset(map(_same_stem, word_set("default usually mostly normally always standard")))


def _of_one_thing(one: str, other: str) -> frozenset[str]:
    """The stems that tell which thing of the user's two statements are of, where what it is does not come in several.

    "Phone" in "phone contract" is nothing that is phoned, and a son who goes to a school goes to one.
    """
    owned, too = _OWNED.match(one), _OWNED.match(other)
    if owned is not None and too is not None and owned["np"] == too["np"]:
        return frozenset(_stems(owned["np"])[:-1])
    kin, same = _KIN_AT_SCHOOL.match(one), _KIN_AT_SCHOOL.match(other)
    return frozenset(_stems(kin[1])) if kin is not None and same is not None and kin[0] == same[0] else frozenset()


_KIN_AT_SCHOOL: Final = regex(
    r"user's ((?:(?:eldest|oldest|youngest|older|younger|little|big) )?(?:son|daughter|kid|child|brother|sister)) "
    r"(?:goes to|attends|is at|studies at|works at|works for) "
)


def kin_at_school(plain: str) -> str | None:
    """Whose school or work a statement tells, where it is somebody of the user's kin."""
    match = _KIN_AT_SCHOOL.match(plain)
    return None if match is None else match[1]


_GOES: Final = regex(r"user's [^,;:]{2,40} goes to ")
"""Who goes to a school may go to a club, too; another school is told by its word."""


def _is_of_an_hour(one: str, other: str) -> bool:
    """Whether two statements say at which hour the same is done, in no word that says more: "gets up at 6"."""
    first, second = _AT_AN_HOUR.match(_SIGNS.sub("", one).strip()), _AT_AN_HOUR.match(_SIGNS.sub("", other).strip())
    return first is not None and second is not None and first[1] == second[1] and first[2] != second[2]


_AT_AN_HOUR: Final = regex(
    rf"(user (?:gets|is) (?:up|out of bed|home)) (?:at|by) ((?:(?:quarter|half|five|ten|twenty) (?:past|to) )?"
    rf"(?:{_COUNT.pattern})(?: ?(?:am|pm|o'clock))?)(?: in the (?:morning|evening))?$"
)
_MOST: Final = 3
_THE_ONE: Final = regex(r"^user's (?:best|closest) friend (?:now )?is ")


def _stand_together(words: Sequence[str], some: Sequence[str]) -> bool:
    places = [place for place, word in enumerate(words) if word in some]
    return places[-1] - places[0] == len(places) - 1


def _is_named(written: str, some: Sequence[str]) -> bool:
    """Whether words are written as a name, wherever they stand but at the start."""
    return any(
        word[0].isupper() or word[0].isdigit()
        for word in _WORD.findall(written)[1:]
        if _same_stem(word.casefold().removesuffix("'s")) in some
    )


_SIGNS: Final = regex(
    r"\b(?:now|nowadays|these days|currently|at present|at the moment|again|once more|back|again|lately|at last|"
    r"finally)\b"
)


_OWNED: Final = regex(
    r"^user's (?P<np>[\w'-]+(?: [\w'-]+){0,2}?) (?:(?:now|still|again|just|recently|finally|also) )*(?:is|are|"
    r"has|have|moved|"
    r"changed|became|becomes|switched|went|turned|remains|stays)\b"
)


def _same_frame(one: str, first: Sequence[str], other: str, second: Sequence[str]) -> bool:
    """Whether two statements say the same of two values, or give two to the same thing of the user's."""
    owned, too = _OWNED.match(one), _OWNED.match(other)
    if owned is not None and too is not None:
        return owned["np"] == too["np"]
    return _frame(one, first) == _frame(other, second)


def _frame(plain: str, value: Sequence[str]) -> tuple[str, ...]:
    """The words around a value, small ones too: equal frames say the same of two values."""
    found = (word for word in _WORD.findall(_SIGNS.sub(" ", plain)) if word not in _UNTOLD)
    words = ["_" if _same_stem(word) in value else word for word in found]
    return tuple(word for place, word in enumerate(words) if word != "_" or words[place - 1 : place] != ["_"])


_UNTOLD: Final = word_set("a an the is has")


__all__ = [
    "Course", "Told", "is_in_company", "is_in_part", "is_lasting", "is_named", "is_of_several", "is_passing", "is_pet",
    "is_state", "kin_at_school", "names", "pointed", "read", "says_otherwise", "topic", "value_of",
]  # fmt: skip
