"""Kinds: what a question asks for by a general word, and facts by a particular one. Pure.

"What medication do I take?" is answered by "User takes metoprolol", which no vector of words is near to, and not by the
bus that the user takes. A kind has the questions that ask for it, the facts that tell of one, and whether a fact that
tells of none answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from engram import text
from engram.english import brands
from engram.english.claims import stem
from engram.english.phrases.words import CRAFTS, SPORTS
from engram.recall import kin
from engram.regex import regex
from engram.text import compared

__all__ = [
    "KINDS", "MAX_READ", "Kind", "asked", "begins_with_one", "holds_the_rest", "may_answer", "names_in_passing",
    "of_the_best", "sort_asked", "tells",
]  # fmt: skip

MAX_READ: Final = 300  # characters of a question


class Kind(NamedTuple):
    """A kind: what finds the questions for it, and what the facts that tell of one, both in compared text.

    Where a kind is `alone`, what tells of none does not answer. Where its names are more than can be listed, `other`
    finds what tells of something else, and what tells of none may answer too.
    """

    asked: re.Pattern[str]
    told: re.Pattern[str]
    alone: bool = False
    other: re.Pattern[str] | None = None
    rather: re.Pattern[str] | None = None  # what is told of only where nothing else of the kind is
    sort: brands.Sort | None = None  # of things that well-known names stand for, which tell of it by their names


def _either(words: str) -> str:
    """An expression for one of some words; `_` stands for the space within one."""
    return "(?:" + "|".join(word.replace("_", " ") for word in words.split()) + ")"


_DO: Final = "(?:do|did|am|was|are|have|should|must) (?:i|we)"
_ONE: Final = r"\b(?:user|i|we)(?:'m|'ve)?"
_WHICH: Final = "^(?:what|which)"
_WHAT_IS: Final = "^what(?:'s| is| are| was| were) (?:my|our)"
_SOMETIMES: Final = r"(?:(?:\w+ly|still|also|now|just|been) )?"

_TAKEN: Final = _either("medications? medicines? meds? pills? tablets? drugs? prescriptions?")
_TAKES: Final = _either("take taking taken on use using used need prescribed")
_DRUG_ENDS: Final = _either("""
    olol pril sartan statin azole mycin cillin cycline floxacin formin prazole oxetine traline zepam zolam parin xaban
    gliptin flozin glutide tidine dipine thiazide semide profen cetamol codone lukast buterol thyroxine triptan tiapine
    piprazole peridone gabalin pentin trigine zodone faxine solone sonide
""")
"""By the ends of their names drugs say what they are."""
_DRUGS: Final = _either("""
    insulin warfarin aspirin lithium adderall ritalin concerta vyvanse ozempic wegovy mounjaro eliquis xarelto plavix
    coumadin synthroid prozac zoloft lexapro citalopram escitalopram cymbalta wellbutrin bupropion xanax valium ambien
    tylenol advil aleve claritin zyrtec allegra lipitor crestor nexium humira accutane prednisone clopidogrel digoxin
    naproxen methotrexate tamoxifen modafinil clonidine melatonin morphine tramadol codeine birth_control
    anti(?:histamine|depressant|biotic|coagulant|psychotic|convulsant|acid|inflammatory)s? beta[_-]?blockers?
    blood_thinners? pain_?killers? statins? steroids? inhalers? contraceptives? hormones? diuretics? eye_drops?
    medications? medicines? meds? pills? tablets? capsules? injections? prescriptions? dose supplements? vitamins?
""")
_DRUG: Final = rf"\b(?:\w{{2,}}{_DRUG_ENDS}|{_DRUGS}|\d+ ?(?:mg|mcg|milligrams?|micrograms?|iu))\b"
_SUPPLEMENT: Final = _either("""
    (?:multi)?vitamins? supplements? creatine magnesium zinc iron omega.?3? fish_oil cod_liver_oil melatonin collagen
    biotin ashwagandha turmeric probiotics? folic_acid folate calcium potassium selenium protein_powder glucosamine
    b12 b6 d3 k2
""")
_SCHOOL: Final = "(?:(?:law|med|medical|grad|graduate|art|film|business) school|college|university|uni)"
_DEGREE: Final = _either(r"""
    stud(?:y|ied|ying) degrees? bachelor['’]?s? master['’]?s? mba phd ph\.d doctorate undergrad\w* graduat\w+ diploma
""")
_LEARNT: Final = (
    rf"\b(?:{_DEGREE}|studies|major(?:ed|ing|s)?|alma mater|enrolled|bsc|msc|"
    rf"(?:went to|attended|goes to|attends|in|at) {_SCHOOL})(?!\w)"
)
_OFFSPRING: Final = _either("kids? child(?:ren)? sons? daughters? boys? girls? twins triplets bab(?:y|ies) toddlers?")
_ALLERGIC: Final = (
    r"(?:\b(?:allerg|\w*intoleran|coeliac|celiac|anaphyla)|\b(?:hives|rash\w*) from\b|\bthroat (?:swells|closes|itches)"
    r"|\bmakes (?:user|me) (?:sneeze|itch|wheeze))"
)
_NOT: Final = _either(
    "cannot can't can_not does_not doesn't do_not don't never no_longer must_not mustn't should_not shouldn't"
)
_EATS_SO: Final = "(?:vegan|vegetarian|pescatarian|kosher|halal|keto|gluten|lactose|diabetic)"
_NOT_EATEN: Final = (
    rf"(?:{_ALLERGIC}|\b(?:{_EATS_SO}|avoids?)\b|"
    rf"\b{_NOT} (?:\w+ )?(?:eats?|have|drinks?|touch|tolerate|digest)\b|\bmakes? (?:user|me) (?:sick|ill)\b|"
    r"\b(?:sick|ill|migraines?|bloated|heartburn) from\b|\bgives? (?:user|me) (?:hives|"
    r"(?:a |an )?(?:\w+ )?(?:rash|cramps|migraines?|heartburn|(?:stomach|tummy) ?aches?)))"
)
_PASTIMES: Final = _either(r"""
    collect(?:s|ing)? paint(?:s|ing)? knit\w* crochet\w* draw(?:s|ing)? sing(?:s|ing)? danc(?:es?|ing) climb\w*
    fish(?:es|ing)? hik(?:es?|ing) surf\w* skat(?:es?|ing) skis? skiing garden(?:s|ing) bak(?:es?|ing) brew\w*
    sew(?:s|ing)? sail(?:s|ing)? practi[cs]es? keeps_bees into obsessed_with fond_of a_big_fan_of gaming reading cooking
    running cycling swimming play(?:s|ing)?(?!_with\b) go(?:es)?_[a-z]+ing
""")


_BREEDS: Final = _either("""
    akita beagle bernese bichon bloodhound bulldog cavapoo chihuahua cockapoo collie corgi dachshund dalmatian doberman
    doodle frenchie goldendoodle greyhound havanese husky labrador labradoodle malamute maltese mastiff newfoundland
    papillon pitbull pomeranian poodle pug retriever rottweiler samoyed schnauzer sheepdog shepherd shiba shih-tzu
    spaniel staffie terrier vizsla weimaraner westie whippet yorkie birman burmese calico manx maine_coon persian
    ragdoll shorthair siamese sphynx tabby tortoiseshell
""")
_AS_A_TRADE: Final = (
    rf"{_ONE} (?:\w+ )?(?:works?|working|sells?|selling|cooks?|makes|making|studies|studying|researches|develops|"
    r"trades?|invests?|writes|teaches) (?!(?:in|out|from|at|nights?|days?)\b)|.*\b(?:chef|manual)\b"
)
_FOR_ANOTHER: Final = (
    r".*\bfor (?:user's|my|our|the) (?:\w+ )?(?:cat|dog|pet|horse|rabbit|son|daughter|kids?|baby|mother|mum|mom|father|"
    r"dad|wife|husband|partner|brother|sister|grandmother|grandma|grandfather|grandpa|patients?)\b"
)
"""What somebody has to do with a thing that they do not take themselves."""
_MONEY: Final = (
    r"(?:[$€£]\d|\d{4}|\d{1,3}[.,]\d{3}\b|\d[\d.,]* ?(?:k|grand|thousand|million|dollars?|euros?|pounds|bucks|usd|eur|"
    r"gbp|chf)\b|\d[\d.,]* ?(?:[$€£]|(?:an?|per) (?:hour|day|week|month|year)\b))"
)
_TAKEN_OTHERWISE: Final = _either("""
    bus train tram metro subway tube ferry taxi cab car bike plane flight lift elevator stairs kids? children son
    daughter dog class(?:es)? lessons? course exam test photos? pictures? notes break nap walk shower bath off
    holidays? vacation bins? trash orders? calls? sugar milk coffee tea lunch oil
""")


_ANIMALS: Final = _either("""
    dogs? cats? pupp(?:y|ies) kittens? rabbits? bunn(?:y|ies) hamsters? guinea_pigs? gerbils? rats? mice mouse
    ferrets? chinchillas? hedgehogs? parrots? budgies? canar(?:y|ies) cockatiels? cockatoos? parakeets? birds?
    finch(?:es)? chickens? hens? ducks? geese tortoises? turtles? terrapins? geckos? iguanas? lizards?
    chameleons? snakes? pythons? frogs? newts? axolotls? (?:gold)?fish spiders? tarantulas? stick_insects?
    ants? bees? horses? pon(?:y|ies) donkeys? goats? sheep pigs? alpacas? llamas?
""")
_PASTIME_WORDS: Final = "|".join(sorted(map(re.escape, SPORTS | CRAFTS), key=len, reverse=True))
_DOES_ONE: Final = (
    rf"{_ONE} (?:(?:still|also|really|usually|mostly|now|is|am|has|have|been|just|recently) )*(?:does|"
    rf"doing|do|goes? to|goes|"
    r"going to|plays?|playing|practi[sc]es|practi[sc]ing|taken up|took up|started|signed up for|into|"
    r"takes|taking|attends) "
    rf"(?:user's |my |an? |the )?(?:\w+ )?(?:{_PASTIME_WORDS})\b(?! for (?:work|a living))|"
    rf"^(?:{_PASTIME_WORDS}) is (?:what|how|user's|my|the)\b|\bevenings? (?:is|are) for (?:{_PASTIME_WORDS})\b"
)
_SAVING: Final = _either("saving saves save putting puts put setting sets set")


def _kind(asking: str, telling: str, *, alone: bool = False, other: str | None = None, rather: str = "") -> Kind:
    others = None if other is None else regex(other)
    return Kind(regex(asking), regex(telling), alone, others, regex(rather) if rather else None)


KINDS: Final = (
    _kind(  # what is taken
        rf"{_WHICH} (?:(?:daily|regular|other|kinds? of) )*{_TAKEN} {_DO} (?:\w+ )?{_TAKES}\b|"
        rf"{_WHAT_IS} (?:\w+ )?{_TAKEN}$|^{_DO} (?:\w+ )?{_TAKES} (?:any |some )?{_TAKEN}\b",
        rf"^(?!.*\b(?:allerg|intoleran))(?!{_AS_A_TRADE})(?!{_FOR_ANOTHER}).*?(?:{_DRUG}|"
        r"\btakes? (?!it\b)[\w-]+ (?:daily|twice a|once a|every day)\b)",
        rather=rf"^(?!.*\b\w{{2,}}{_DRUG_ENDS}\b).*\b{_SUPPLEMENT}\b",
        other=rf"\b(?:allerg|intoleran)|\b(?:takes?|taking|took) (?:[\w'-]+ ){{0,3}}?{_TAKEN_OTHERWISE}\b",
    ),
    _kind(
        rf"{_WHICH} (?:supplements?|vitamins?|minerals?) {_DO}\b|"
        rf"^{_DO} (?:\w+ )?{_TAKES} (?:any |some )?(?:supplements?|vitamins?|minerals?)\b",
        rf"^(?!.*\b(?:allerg|intoleran))(?!{_AS_A_TRADE})(?!{_FOR_ANOTHER}).*?\b{_SUPPLEMENT}\b",
        alone=True,
    ),
    _kind(
        rf"{_WHICH} (?:dog |cat )?breed\b|^what(?:'s| is| was) the breed of\b|"
        rf"{_WHICH} (?:kind|sort|type) of (?:dogs?|cats?)\b",
        rf"^(?!{_AS_A_TRADE})(?!{_ONE} (?:\w+ )?(?:loves?|likes?|hates?|wants?|prefers?|breeds?) (?!user's|my|our)).*?"
        rf"(?:\b{_BREEDS}s?\b|\b(?:breed|mix|mixed|mongrel|mutt|cross|crossbreed|purebred)\b)",
        alone=True,
    ),
    _kind(  # where somebody studied, and what
        rf"^(?:where|(?:what|which) (?:school|college|university|uni)) {_DO} (?:\w+ ){{0,3}}?(?:{_DEGREE}|{_SCHOOL})",
        rf"^(?>.*?{_LEARNT}).*?\b(?:at|from|in|to) ",
    ),
    _kind(
        rf"^what {_DO} (?:\w+ )?(?:stud\w+|major\w*|graduat\w+)|{_WHAT_IS} (?:degree|major|field of study)\b",
        rf"\b(?:study|studied|studies|studying|majored|majoring|majors) |^(?>.*?{_LEARNT}).*? in ",
    ),
    _kind(
        r"\b(?:hobb(?:y|ies)|pastimes?)\b|^what do (?:i|we) (?:(?:like|enjoy|love) (?:doing|to do) |do )"
        r"(?:for fun|(?:in|with) (?:my|our) (?:free|spare) time)",
        rf"{_ONE} (?:(?:still|also|really|usually|is|am|likes?|loves?|enjoys?) )*{_PASTIMES}\b|"
        rf"\b(?:hobby|pastime|free time|spare time)\b|{_DOES_ONE}",
    ),
    _kind(
        r"^(?:what|which) sports? (?:do|did|am) i\b|^what(?:'s| is) my sport\b",
        _DOES_ONE,
    ),
    _kind(
        rf"{_WHICH} (?:(?:kind|sort|type)s? of )?(?:pets?|animals?) (?:do|did|have) (?:i|we)\b|"
        rf"{_WHAT_IS} (?:family )?pets?$|^(?:do|have) (?:i|we) (?:have |got )?(?:any |a )?(?:pets?|animals?)\b",
        rf"{_ONE} (?:(?:still|also|now|just|finally|recently) )*(?:has|have|got|adopted|rescued|bought|keeps?|owns?|"
        rf"shares? [\w' ]{{2,20}} with|lives? with)(?: got)? (?:an?|two|three|four|five|six|several|some|user's|my|\d) "
        rf"(?:[\w-]+ ){{0,2}}?(?:{_ANIMALS}|{_BREEDS}s?)\b"
        r"(?! (?:allergy|phobia|food|problem|tattoo|costume|poster|toy|mask|rug|carpet|sofa|cat cafe))|"
        rf"\b(?:user's|my|our) (?:[\w-]+ )?(?:pet|{_ANIMALS}) (?:is|are)\b",
    ),
    _kind(
        r"^what (?:am|was|are|were) (?:i|we) (?:still )?(?:saving|putting money aside)(?: up)?(?: for)?\b|"
        rf"{_WHAT_IS} savings? (?:goal|target)s?\b",
        rf"{_ONE} (?:(?:still|also|now|just|is|am|are) )*(?:{_SAVING} (?:up )?for|"
        rf"{_SAVING} (?:[\w.,€$£]+ ){{1,4}}?(?:aside|by|away) "
        r"(?:[\w ]{2,20} )?for) |\bsavings? (?:goal|target|pot|fund)\b|\bsavings (?:is|are) for\b",
    ),
    _kind(  # what is not eaten
        r"\bdiet(?:ary)? (?:restrictions?|requirements?|needs|rules?)\b|"
        rf"{_WHICH}(?: (?:foods?|things?|dish(?:es)?|meats?))? (?:(?:can't|cannot|can not|shouldn't|don't) (?:i|we)|"
        r"(?:can|should|do|must) (?:i|we) not) (?:eat|have|tolerate|touch)$|"
        r"^(?:what|which)(?: (?:foods?|things?|drinks?|ingredients?))? should i (?:avoid|not (?:eat|drink|have))\b|"
        r"\b(?:foods?|thing|ingredients?) (?:that )?i (?:should avoid|should not eat|can't eat|cannot eat|don't eat)$|"
        r"^(?:what|which) (?:foods? )?makes? me (?:sick|ill)$",
        rf"^(?!.*{_DRUG})(?!.*\b(?:no longer|used to be|was|were) (?:an? |strictly )?{_EATS_SO}\b)"
        rf"(?!{_AS_A_TRADE}).*?{_NOT_EATEN}",
    ),
    _kind(
        r"^(?:what|which foods?) am i (?:allergic|intolerant) to$|^(?:do|am|have) i (?:have |got )?(?:any (?:food )?"
        r"(?:allergies|intolerances?)|(?:allergic|intolerant) to anything)$",
        _ALLERGIC,
    ),
    _kind(
        rf"^how many {_OFFSPRING} (?:do|have) (?:i|we)(?: got| have)?$",
        rf"{_ONE} (?:has|have)(?: got)? (?:[\w-]+ ){{0,3}}?{_OFFSPRING}\b|\b(?:user's|my|our) (?:[\w-]+ )?"
        rf"(?:(?:two|three|four|five|six|seven|\d) (?:\w+ )?{_OFFSPRING}|(?:kids|children) are|twins|triplets)\b",
    ),
    _kind(
        rf"{_WHAT_IS} (?:\w+ )?(?:salary|income|pay|wage)\b|"
        rf"^how much {_DO} (?:make|making|earn|earning|paid|get paid|getting paid)\b",
        rf"{_ONE} {_SOMETIMES}(?:makes?|earns?|made|is paid|am paid|gets? paid|is on|is making|is earning|brings? home|"
        rf"takes? home) (?:(?:about|around|roughly|almost|over) )?{_MONEY}|\b(?:salary|wage|income|pay) is\b",
    ),
    _kind(
        r"^(?:when|(?:at )?what time) do (?:i|we) (?:\w+ )?(?:get|wake) up",
        rf"{_ONE} (?:\w+ )?(?:gets?|wakes?|is|am) up (?:\w+ )?(?:at|around|by|before) |^(?>.*?\balarm\b).*\d",
    ),
    _kind(
        rf"{_WHAT_IS} (?:star |zodiac )?sign$|{_WHICH} (?:star |zodiac )?sign am i$",
        r"\b(?:aries|taurus|gemini|cancer|leo|virgo|libra|scorpio|sagittarius|capricorn|aquarius|pisces)\b",
    ),
    _kind(
        r"^how do (?:i|we) (?:usually )?(?:commute|(?:get|go|travel) (?:in )?to (?:work|the office))$",
        rf"^(?>.*?{_ONE} (?:\w+ )?(?:commutes?|bikes?|cycles?|walks?|drives?|takes?|rides?|catch(?:es)?) ).*\b"
        r"(?:(?:in|in ?to|to) (?:work|the (?:office|hospital|school|shop|factory|lab|clinic)))\b",
    ),
    _kind(  # under which terms code is given away
        r"^(?:what|which) (?:open[- ]source )?licen[cs]e .*\b(?:repo|repository|code|"
        r"project|library|package|software|app|under|we use)\b|"
        r"^what(?:'s| is) (?:the|our|my) licen[cs]e (?:of|for) (?:the|our|my) ",
        r"\b(?:licen[cs]\w*|mit|apache|bsd|a?gpl\w*|lgpl\w*|mpl|isc|unlicense|creative commons|cc[ -]by|proprietary|"
        r"(?:open|closed)[- ]source|public domain)\b",
        alone=True,
    ),
    _kind(
        r"\b(?:urls?|links?|domains?|web ?sites?|web ?pages?|web address(?:es)?|home ?pages?)$",
        r"https?:|(?<![\w@.])(?:[\w-]+\.)+(?:com|org|net|io|dev|app|ai|co|info|eu|de|uk|ch|at|fr|nl|us|ca|au|es|it|se|no|"
        r"pl|me|tv|gov|edu|local|internal|cloud|site|page|shop|online|tech|xyz|so|sh|gg)\b",
    ),
)  # fmt: skip
_LEAD: Final = regex(
    r"^(?:(?:hi|hey|so|and|ok|okay|please|also|well|do you (?:know|remember)|remind me|tell me)[ ,]+)+"
)
_TAIL: Final = regex(
    r"(?:,? (?:now|currently|again|these days|at the moment|right now|nowadays|today|please|every day|daily))+$"
)
_LEVELS: Final = tuple(
    regex(rf"\b(?:{words})(?!\w)")
    for words in (
        r"bachelor['’]?s?|undergrad\w*|bsc|ba",
        r"master['’]?s?|mba|msc|ma",
        r"phd|ph\.d\.?|doctorate|doctoral",
        r"high school|secondary school|a-levels?",
    )
)
_SAYS_NO_KIND: Final = frozenset(
    word
    for words in (
        "any anything some kind kinds sort sorts type types of take takes taking on use using do did am was is are",
        "my our have has had got get go going to for with in at much many time when work living free spare fun like",
        "enjoy love doing make earn paid regularly usually usual currently now daily other there what which where how",
        "dog dogs cat cats puppy kitten pet",
    )
    for word in words.split()
)


def asked(question: str) -> Kind | None:
    """The kind that a question asks for, where it asks for one; a long one asks for more than that.

    >>> asked("Which meds am I on?") is asked("What medication do I take?") is not None
    True
    """
    if len(question) > MAX_READ:
        return None
    said = _bare(question)
    kind = next((kind for kind in KINDS if kind.asked.search(said) is not None), None)
    sort = sort_asked(question) if kind is None else None
    return kind if sort is None else Kind(_of_words(sort.words), _NOTHING, sort=sort)


@lru_cache(maxsize=256)
def _of_words(words: tuple[str, ...]) -> re.Pattern[str]:
    return regex(rf"(?<!\w){re.escape(' '.join(words))}(?!\w)")


def sort_asked(question: str) -> brands.Sort | None:
    """The sort of thing that a question asks for, by the name of one of which it is answered; none of somebody else's.

    >>> sort_asked("Which car does my uncle drive?") is None
    True
    """
    sort = brands.asked(question)
    return None if sort is None or kin.as_own(question) is not None else sort


def holds_the_rest(kind: Kind, question: str, fact: str) -> bool:
    """Whether a fact holds what else a question says of the kind: which medication it is, or of what time."""
    rest = kind.asked.sub(" ", _bare(question))
    words = (word.removesuffix("'s") for word in text.words(rest))
    wanted = {stem(word) for word in words if word not in _SAYS_NO_KIND and word not in text.STOP_WORDS}
    return not wanted or wanted.issubset(map(stem, text.words(compared(fact).replace("'s", " "))))


def tells(kind: Kind, question: str, fact: str) -> bool:
    """Whether a fact tells of one of a kind; of a degree whether it is the one that is named."""
    if kind.sort is not None:
        if names_in_passing(kind, fact):
            return False
        return any(_is_had(name, compared(fact)) for name in kind.sort.names & _named(fact)) or _is_called_so(
            kind, fact
        )
    return kind.told.search(compared(fact)) is not None and not _is_of_another_level(question, fact)


def _is_called_so(kind: Kind, fact: str) -> bool:
    """Whether a fact calls something by a name of a sort what the question calls it: "User's editor is Zed"."""
    held = kind.sort is not None and not kind.sort.names.isdisjoint(_named(fact))
    return held and kind.asked.search(compared(fact)) is not None


@lru_cache(maxsize=4096)
def _is_had(name: str, fact: str) -> bool:
    """Whether a fact in compared text tells that what has a name is used or had, and not seen or tried for a day."""
    is_had = re.search(rf"{_HAD}{re.escape(name)}(?![\w-])(?!.*\b{_NO_USE})", fact) is not None
    return is_had and _IS_ONE.match(fact) is None


_USES: Final = _either("""
    uses? used using have has had got owns? own drives? rides? wears? runs? running hosts? hosted deploys?
    deployed builds? built writes? written codes? coding banks? banking flies fly shops? is are works? went_with
    goes_with go_with chose chosen picked settled_on switched moved migrated sets?_up installed subscribes?
    subscribed pays? streams? takes? buys? bought stores? stored keeps? kept tracks? tracked managed handled
    powered lives? sits? goes? sends? sent records? recorded posts? posted logs? logged sticks? stuck reads?
    monitors? monitored orders? insured upgraded replaced started signs? signed made plays? practises learns?
    been brews? prefers? adopted
""")
_HAD: Final = (
    rf"(?:^|\b{_USES}(?: (?!(?:of|about|for|test|article|advert|ad|review|pet)\b)[\w'-]+){{0,3}} |"
    r"\b(?:on|in|with|via|through|by|at|to) (?:the |our |my |user's )?)"
)
_NO_USE: Final = r"(?:for (?:a|one|the) (?:day|week|weekend|night|trip)|on fire|any good|once)\b"
_named: Final = lru_cache(maxsize=4096)(brands.named)
_NOTHING: Final = regex(r"(?!)")


def names_in_passing(kind: Kind, fact: str) -> bool:
    """Whether a fact names what is asked for on some occasion, and not as had: "User saw a Clio on fire" is no car."""
    if kind.sort is None or kind.sort.names.isdisjoint(_named(fact)):
        return False
    said = compared(fact)
    in_passing = _ON_OCCASION.search(said) is not None or _IS_ONE.match(said) is not None
    return in_passing and kind.asked.search(said) is None


_ON_OCCASION: Final = regex(
    r"\b(?:saw|seen|spotted|noticed|heard|tried|tries|rented|rents|hired|borrowed|borrows|tested|test[- ]drove|"
    r"considered|considers|considering|looked at|looking at|walked past|drove past|passed|mentioned|recommended|"
    r"recommends|laughed|argued|complained|dreamt|dreamed|wants?\b(?! [^,;]* by default\b)|wished|might|"
    r"reads? an? |reads? about|"
    r"there (?:was|were)|(?:film|article|advert|ad|review|test|talk|book|story|news|video|piece|picture|interview|"
    r"report) (?:of|about|on|for|in|from) )"
)


_IS_ONE: Final = regex(r"user is an? [\w-]+[.!]?$")
"""What somebody is, nobody has: "User is a Gemini"."""


def of_the_best(kind: Kind, facts: Sequence[str]) -> list[str]:
    """Those of some facts that tell of a kind before the others: who takes metoprolol takes vitamins too."""
    best = [one for one in facts if kind.rather is None or kind.rather.search(compared(one)) is None]
    return best or list(facts)


def begins_with_one(kind: Kind, fact: str) -> bool:
    """Whether a fact begins with a name of what is asked for, and so is of no person: "Stripe takes ..."."""
    held = frozenset() if kind.sort is None else _named(fact) & kind.sort.names
    return any(compared(fact).startswith(f"{name} ") for name in held)


def may_answer(kind: Kind, question: str, fact: str) -> bool:
    """Whether a fact that tells of none of a kind may answer a question for it all the same."""
    if kind.sort is not None:  # of its own names tells what has one, and of others what calls it so
        return not _named(fact) or kind.asked.search(compared(fact)) is not None
    if kind.alone or (kind.other is not None and kind.other.search(compared(fact)) is not None):
        return False
    return not _is_of_another_level(question, fact)


def _is_of_another_level(question: str, fact: str) -> bool:
    """Whether a question names a degree, and a fact another one: a master's is no bachelor's."""
    wanted, said = compared(question), compared(fact)
    named = [level.search(wanted) is not None for level in _LEVELS]
    told = [level.search(said) is not None for level in _LEVELS]
    return any(named) and any(told) and not any(map(all, zip(named, told, strict=True)))


def _bare(question: str) -> str:
    """A question in compared text without what leads in and what says that it is of now."""
    said = compared(question).replace("’", "'").strip(" ?!.")
    return _TAIL.sub("", _LEAD.sub("", said)).strip(" ,")
