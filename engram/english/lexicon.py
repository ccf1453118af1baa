"""Small tables of English wording: which words say the same thing, and which words change what a fact says.

Plain data for `claims`. A line of a table is one meaning; the first word of a line stands for the others. The
tables are kept small on purpose: a word missing here makes two facts look different, and then both are stored, which
loses nothing; a wrong line here would make one fact swallow another.
"""

from __future__ import annotations

from fractions import Fraction


def _lines(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


def _words(text: str) -> list[str]:
    return text.split()


def _pairs(table: str) -> dict[str, str]:
    """Each further word of a line → the line's first word."""
    return {word: line[0] for line in _lines(table) for word in line}


def _phrases(table: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """`these words | or these = those words`, one meaning a line."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in table.strip().splitlines():
        left, _, right = line.rpartition(" = ")
        for phrase in left.split("|"):
            if phrase.split():
                found[tuple(phrase.split())] = tuple(right.split())
    return found


# --- Words that carry no claim of their own -----------------------------------------------------------------------
DETERMINERS = frozenset(_words("a an the this that these those"))
BE = frozenset(_words("be am is are was were been being"))
DO = frozenset(_words("do does did doing done"))
HAVE = frozenset(_words("have has had having"))
FILLERS = frozenset(
    _words("""
    very really quite so also too just now currently presently nowadays please there here it itself myself himself
    herself themselves ourselves which who whom already still actually basically simply indeed own""")
)
CONJUNCTIONS = frozenset(_words("and but"))
# Adverbs whose absence makes a fact say less, not something else.
FREQUENCY = frozenset(
    _words("often usually mostly generally normally typically sometimes regularly frequently together again abroad")
)

# --- Who ----------------------------------------------------------------------------------------------------------
SELF = frozenset(_words("i me user myself"))
PRONOUNS = {
    "i": "self", "me": "self", "user": "self", "myself": "self",
    "he": "he", "him": "he", "she": "she", "we": "we", "us": "we", "they": "they", "them": "they", "you": "you",
}  # fmt: skip
POSSESSIVES = {
    "my": "self~", "mine": "self~", "his": "he~", "her": "she~", "hers": "she~", "our": "we~", "ours": "we~",
    "their": "they~", "theirs": "they~", "your": "you~", "yours": "you~", "its": "it~",
}  # fmt: skip

# --- Prepositions: words that say how the next phrase hangs on ----------------------------------------------------
# "in", "at", "for", "of" are one loose class: which of them stands there is idiom more often than meaning.
LOOSE = frozenset(_words("in at for of within inside"))
PREPOSITIONS = dict.fromkeys(LOOSE, "~") | {
    word: word
    for word in _words("""
    on to with by from about via into onto through during as than against despite because while when
    where over under above below behind beside between beyond across toward towards outside off out up down near
    per if unless whether or who whose so_that which""")
}
OPENERS_THAT_BIND = frozenset(_words("or if unless whether than from against despite over under above below off out"))

# --- Operators: their presence or absence changes a claim ---------------------------------------------------------
NEGATIONS = frozenset(_words("not no never nor neither none nobody nothing nowhere without non non-  n't"))
OPERATORS = _pairs(
    """
    must shall
    should ought
    can
    could
    may might maybe perhaps possibly
    will gonna
    would
    probably likely presumably
    almost nearly
    hardly barely scarcely
    rarely seldom infrequently
    sometimes occasionally
    always
    only solely exclusively
    except excluding besides
    instead
    allegedly supposedly reportedly apparently
    want wanna wish
    hope
    plan intend
    consider contemplate
    try attempt
    think believe assume suspect guess suppose
    doubt
    claim allege
    say tell told said
    consider
    pretend
    refuse decline reject deny oppose veto
    fail failed
    forget forgot forgotten
    avoid avoided avoids avoiding
    quit
    cancel cancelled canceled cancels cancelling canceling
    postpone delay defer
    lack lacks lacking
    ban forbid prohibit disallow
    allow permit
    stop

    former formerly ex previous previously old  ago
    future upcoming
    fake false untrue wrong
    true
    half
    some several
    few
    most majority
    many numerous
    all every everyone everybody everything each
    any anyone anybody anything
    both
    either
    more
    less fewer
    enough
    yet
    unlikely
"""
)

# The common negations of other languages; read as operators, so that one more or one less is noticed.
FOREIGN_NEGATIONS = _pairs(
    """
    nicht kein keine keinen keiner keines keinem
    nie niemals
    ohne
    pas aucun aucune
    jamais
    sans
    nunca jamás ningún ninguna ninguno
    sin
    não
    sem
    niet geen
    nooit
    zonder
    inte ikke ikkje icke
    aldrig aldri
    utan uten uden
    senza
    mai
    нет не ни
    никогда
    без
    """
)

# --- One meaning, several words: the stems of these count as equal ------------------------------------------------
SYNONYMS_TABLE = """
    like prefer love enjoy adore favor favour preference
    live reside
    buy purchase
    begin start commence
    finish complete
    big large
    small little
    fast quick rapid speedy
    car automobile
    film movie
    phone telephone
    child kid
    mother mom mum
    father dad
    document doc
    repository repo
    application app
    database db
    configuration config
    production prod
    environment env
    authentication auth
    administrator admin
    information info
    need require
    use utilize utilise
    help assist
    show display
    fix repair
    choose select pick
    reply answer respond
    make create
    get receive obtain
    delete remove
    vacation holiday
    apartment flat
    colleague coworker teammate
    manager boss supervisor
    doctor physician
    sofa couch
    shop store
    allergic allergy
    favorite favourite preferred
    color colour
    organize organise
    organization organisation
    center centre
    theater theatre
    gray grey
    program programme
    neighbor neighbour
    flavor flavour
    behavior behaviour
    license licence
    travel travelling travelled traveller
    mail email
    ill sick
    happy glad
    job occupation profession
    company firm
    bike bicycle
    photo photograph picture
    tv television
    lawyer attorney
    trash garbage rubbish
    speak talk
    own have possess
    deploy deployment
    migrate migration
    decide decision
    discuss discussion
    rent lease
    approve approval
    end conclude
    arrive arrival
    depart departure
    wed marry
    hobby pastime
    dish meal
    pay payment
    python py
    javascript js
    typescript ts
    kubernetes k8s
    postgresql postgres
    usa  u.s u.s.a
    uk u.k
"""
SYNONYMS = _pairs(SYNONYMS_TABLE)

# Disliking is liking, denied: so that "dislikes" meets "does not like" and never meets "likes".
DENIED = dict.fromkeys(
    _words(
        "dislike dislikes disliked disliking hate hates hated hating detest detests detested loathe loathes loathed"
    ),
    "like",
)

IRREGULAR = _pairs(
    """
    be
    buy bought
    choose chose chosen
    go goes went gone
    meet met
    make made
    take took taken
    speak spoke spoken
    write wrote written
    get got gotten
    pay paid
    send sent
    sell sold
    run ran
    begin began begun
    drive drove driven
    eat ate eaten
    drink drank drunk
    sleep slept
    leave left
    lose lost
    keep kept
    hold held
    build built
    teach taught
    learn learnt
    spend spent
    fly flew flown
    grow grew grown
    know knew known
    give gave given
    find found
    feel felt
    come came
    become became
    bring brought
    break broke broken
    see saw seen
    win won
    wear wore worn
    stand stood
    understand understood
    read
    ride rode ridden
    sing sang sung
    swim swam swum
    think thought
    catch caught
    draw drew drawn
    lead led
    show shown
    have has had having
    child children
    person people persons
    man men
    woman women
    tooth teeth
    mouse mice
    wife wives
    knife knives
    life
    """
)
PAST_FORMS = frozenset(
    _words("""
    bought chose went met made took spoke wrote got paid sent sold ran began drove ate drank slept left lost kept
    held built taught learnt spent flew grew knew gave found felt came became brought broke saw won wore stood
    understood rode sang swam thought caught drew led had""")
)
PARTICIPLES = frozenset(
    _words("""
    chosen gone met made taken spoken written gotten paid sent sold run begun driven eaten drunk slept left lost
    kept held built taught learnt spent flown grown known given found felt become brought broken seen won worn stood
    understood ridden sung swum thought caught drawn led shown bought had been born done""")
)
# States: "worked at Acme" and "works at Acme" are different claims, "has decided" and "decided" are not.
STATES = frozenset(
    _words("""live work like own have use need want know belong study speak drive eat drink manage lead rent smoke play
    teach support weigh cost prefer hate stay""")
)
# Verbs after which words are no longer the subject.
VERBS = _words(
    """move start finish fix help reply make receive delete travel deploy migrate decide discuss call ask show report
    handle store run serve return accept require depend happen sign approve manage open close start update create"""
)
# Verbs that a list of nouns may follow: "likes tea and coffee" says the same as "likes coffee and tea".
LIST_VERBS = frozenset(
    _words("""
    like eat drink use speak visit own know need buy learn study meet play read sell teach support include invite
    contain allergic be have""")
)

# --- Contractions and phrases -------------------------------------------------------------------------------------
CONTRACTIONS = {
    "can't": "can not", "cannot": "can not", "cant": "can not", "won't": "will not", "wont": "will not",
    "shan't": "must not", "ain't": "is not", "dont": "do not", "doesnt": "does not", "didnt": "did not",
    "isnt": "is not", "arent": "are not", "wasnt": "was not", "werent": "were not", "hasnt": "has not",
    "havent": "have not", "couldnt": "could not", "shouldnt": "should not", "wouldnt": "would not", "let's": "let us",
    "i'm": "i am", "im": "i am", "y'all": "you", "w/o": "without", "w/": "with", "ive": "i have", "e.g": "for example",
}  # fmt: skip
IS_AFTER = frozenset(_words("it he she that there what who here where how this everything i you we they"))

PHRASES = _phrases(
    """
    no longer | not any longer = ended
    used to = formerly
    used to be = formerly
    a fan of | fan of | big fan of | fond of | keen on = like
    is a fan of | are a fan of | am a fan of | is a big fan of = like
    is fond of | am fond of | is keen on | am keen on = like
    can not stand | could not stand = not like
    is based in | am based in | are based in | based in | resident in | lives in the city of = live in
    makes his home in | has a home in = live in
    is employed at | is employed by | am employed by | am employed at = work at
    are employed by | employed at | employed by = work at
    has a job at | have a job at | holds a job at = work at
    has an allergy to | have an allergy to | had an allergy to = is allergic to
    has no allergy to | have no allergy to = is not allergic to
    has no | have no = not have
    had no = did not had
    has got | have got = have
    have to | has to | need to | needs to | got to | has got to = must
    is required to | are required to | am required to = must
    have got to = must
    is going to | are going to | am going to = will
    is able to | are able to | am able to | able to = can
    is unable to | are unable to | am unable to | unable to = can not
    named = called
    is allowed to | are allowed to | is permitted to = allow
    in order to = to
    as well as = and
    as well | at the moment | at present | right now | these days | as of now | of course = _
    prior to | ahead of | earlier than = before
    subsequent to | later than = after
    no later than | not later than | at the latest by = by
    up until = until
    due to | because of | owing to | thanks to = because
    e mail = mail
    per cent = percent
    co worker = colleague
    web site = website
    data base = database
    according to = claim
    would like to = want
    would prefer = like
    feels like = want
    my name is | i am called = self~ name
    new york city = nyc
    new york = newyork
    united states of america | united states = usa
    united kingdom = uk
    every other day = every 2 day
    takes place | take place | is held | is taking place | is scheduled = is
    set up | setup = setup
    is married to | are married to = wed
    is responsible for | in charge of | is in charge of = responsible
    makes use of | make use of = use
    took part in | takes part in | participates in | participated in = join
    is about to = will
    instead of | rather than = instead
    other than | apart from = except
    a lot of | lots of | plenty of = many
    a few | a couple of = some
    gave up | given up | gives up | giving up = ended
    a member of = member
    is interested in = interest
    date of birth = birthday
    is located | is situated | are located | are situated = is
    """
)

# --- Quantities ---------------------------------------------------------------------------------------------------
COMPARATORS = _phrases(
    """
    at least | no less than | no fewer than | not less than | a minimum of | minimum of | minimum = >=
    at most | no more than | not more than | up to | a maximum of | maximum of | maximum = <=
    more than | over | above | greater than | in excess of = >
    less than | fewer than | under | below = <
    about | around | approximately | roughly | circa | nearly | almost | some | approx = ~
    exactly | precisely = _
    """
)
COMPARATORS_AFTER = {("or", "more"): ">=", ("or", "less"): "<=", ("or", "fewer"): "<=", ("and", "up"): ">="}

ONES = {
    word: number
    for number, word in enumerate(
        _words("""zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""")
    )
} | {word: 20 + 10 * i for i, word in enumerate(_words("twenty thirty forty fifty sixty seventy eighty ninety"))}
SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
ORDINALS = {
    word: number + 1
    for number, word in enumerate(
        _words("""
        first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
        fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""")
    )
} | {"thirtieth": 30, "last": -1}
SUFFIXES = {"k": 10**3, "m": 10**6, "mn": 10**6, "mm": 10**6, "b": 10**9, "bn": 10**9, "t": 10**12, "tn": 10**12}

CURRENCY_SIGNS = {
    "$": "usd", "us$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr", "₩": "krw", "₽": "rub",
    "₺": "try",
    "₴": "uah", "฿": "thb", "c$": "cad", "ca$": "cad", "a$": "aud", "au$": "aud", "nz$": "nzd", "hk$": "hkd",
    "s$": "sgd",
    "₿": "btc", "r$": "brl",
}  # fmt: skip


def _units() -> dict[str, tuple[str, Fraction]]:
    """Unit word → (dimension, how many of the dimension's base unit)."""
    table = """
        m 1 m meter metre meters metres
        m 1000 km kms kilometer kilometre kilometers kilometres
        m 1/100 cm centimeter centimetre centimeters centimetres
        m 1/1000 mm millimeter millimetre millimeters millimetres
        m 1609.344 mi mile miles
        m 0.9144 yd yard yards
        m 0.3048 ft foot feet
        m 0.0254 inch inches
        m2 1 m2 sqm
        m2 10000 hectare hectares ha
        m2 4046.8564224 acre acres
        g 1 g gram grams gramme grammes
        g 1000 kg kgs kilo kilos kilogram kilograms
        g 1/1000 mg milligram milligrams
        g 1000000 tonne tonnes
        g 453.59237 lb lbs
        g 28.349523125 oz ounce ounces
        l 1 l liter litre liters litres
        l 1/1000 ml milliliter millilitre milliliters millilitres
        l 1/100 cl
        l 3.785411784 gallon gallons gal
        s 1 s sec secs second seconds
        s 1/1000 ms millisecond milliseconds
        s 1/1000000 µs  microsecond microseconds
        s 60 min mins minute minutes
        s 3600 h hr hrs hour hours
        s 86400 day days
        s 172800 weekend weekends
        s 604800 week weeks wk wks
        s 1209600 fortnight fortnights
        months 1 month months mo
        months 3 quarter quarters
        months 12 year years yr yrs
        months 120 decade decades
        months 1200 century centuries
        byte 1 byte bytes
        byte 1000 kb kilobyte kilobytes
        byte 1000000 mb megabyte megabytes
        byte 1000000000 gb gigabyte gigabytes gigs
        byte 1000000000000 tb terabyte terabytes
        byte 1024 kib
        byte 1048576 mib
        byte 1073741824 gib
        byte 1099511627776 tib
        bps 1000 kbps
        bps 1000000 mbps mbit
        bps 1000000000 gbps gbit
        hz 1 hz hertz
        hz 1000 khz
        hz 1000000 mhz
        hz 1000000000 ghz
        w 1 w watt watts
        w 1000 kw kilowatt kilowatts
        wh 1000 kwh
        v 1 v volt volts
        cal 1000 kcal
        cal 1 calorie calories
        mps 5/18 kmh kph km/h
        mps 0.44704 mph
        mps 1 m/s
        celsius 1 °c celsius
        fahrenheit 1 °f fahrenheit
        degree 1 ° degree degrees
        kelvin 1 kelvin
        percent 1 % percent pct
        times 1 times  x
        usd 1 usd dollar dollars buck bucks
        usd 1/100 cent cents
        eur 1 eur euro euros
        gbp 1 gbp quid sterling
        pound 1 pound pounds
        jpy 1 jpy yen
        cny 1 cny yuan rmb
        inr 1 inr rupee rupees
        chf 1 chf franc francs
        cad 1 cad
        aud 1 aud
        nzd 1 nzd
        sek 1 sek krona kronor
        nok 1 nok
        dkk 1 dkk
        brl 1 brl
        krw 1 krw
        pln 1 pln
        btc 1 btc bitcoin bitcoins
        """
    return {word: (line[0], Fraction(line[1])) for line in _lines(table) for word in line[2:]}


UNITS = _units()
# Two-word units first: "square meters", "miles per hour".
# What a thing is called is its name: the word before becomes the owner of one.
NAMING = frozenset({("is", "called"), ("is", "named"), ("am", "called"), ("goes", "by"), ("are", "called")})
UNIT_PHRASES = {
    ("miles", "per", "hour"): "mph", ("kilometers", "per", "hour"): "kmh", ("kilometres", "per", "hour"): "kmh",
    ("km", "per", "hour"): "kmh", ("square", "meters"): "m2", ("square", "metres"): "m2", ("sq", "m"): "m2",
    ("degrees", "celsius"): "celsius", ("degrees", "fahrenheit"): "fahrenheit", ("us", "dollars"): "usd",
    ("pounds", "sterling"): "gbp", ("metric", "tons"): "tonne", ("per", "cent"): "percent",
    ("canadian", "dollars"): "cad", ("australian", "dollars"): "aud", ("degree", "celsius"): "celsius",
    ("meters", "per", "second"): "m/s", ("metres", "per", "second"): "m/s", ("km", "h"): "kmh", ("m", "s"): "m/s",
}  # fmt: skip
PERIODS = {
    "second",
    "minute",
    "hour",
    "day",
    "week",
    "month",
    "quarter",
    "year",
    "night",
    "weekday",
    "weekend",
    "decade",
}
RATES = {
    "hourly": "hour", "daily": "day", "nightly": "night", "weekly": "week", "monthly": "month", "quarterly": "quarter",
    "yearly": "year", "annually": "year", "annual": "year", "fortnightly": "fortnight", "biweekly": "fortnight",
}  # fmt: skip
TIMES = {"once": 1, "twice": 2, "thrice": 3}

# --- Dates --------------------------------------------------------------------------------------------------------
_MONTHS = _lines(
    """
    january jan
    february feb
    march mar
    april apr
    may
    june jun
    july jul
    august aug
    september sep sept
    october oct
    november nov
    december dec
    """
)
_WEEKDAYS = _lines(
    """
    monday mondays mon
    tuesday tuesdays tue tues
    wednesday wednesdays wed
    thursday thursdays thu thur thurs
    friday fridays fri
    saturday saturdays sat
    sunday sundays sun
    """
)
MONTHS = {
    name: number
    for number, names in enumerate(
        _MONTHS,
        start=1,
    )
    for name in names
}
AMBIGUOUS_MONTHS = frozenset({"may", "march", "mar", "jan", "jun", "sep", "dec", "august"})
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        _WEEKDAYS,
        start=1,
    )
    for name in names
}
AMBIGUOUS_WEEKDAYS = frozenset({"sat", "sun", "wed", "mon"})
RELATIVE_DAYS = {
    "today": "today", "tonight": "tonight", "tomorrow": "tomorrow", "yesterday": "yesterday", "overmorrow": "+2",
    "noon": "12:00", "midday": "12:00", "midnight": "00:00", "morning": "morning", "mornings": "morning",
    "afternoon": "afternoon", "afternoons": "afternoon", "evening": "evening", "evenings": "evening",
    "night": "night", "nights": "night", "weekdays": "weekday", "weekday": "weekday", "weekends": "weekend",
    "weekend": "weekend", "easter": "easter", "christmas": "christmas", "spring": "spring", "summer": "summer",
    "autumn": "autumn", "winter": "winter",
}  # fmt: skip
DIRECTIONS = {"next": "next", "last": "last", "this": "this", "coming": "next", "past": "last", "previous": "last"}
ZONES = frozenset(_words("utc gmt est edt cst cdt mst mdt pst pdt cet cest bst ist jst aest z"))

# Words that only bound a date or a quantity when one follows; before, after, until and since always count.
ORDER = {
    "before": "before",
    "after": "after",
    "afterwards": "after",
    "until": "until",
    "till": "until",
    "since": "since",
}
BOUNDS = {"by": "by", "from": "from", "to": "to", "through": "to", "thru": "to", "between": "from", "past": "after"}
