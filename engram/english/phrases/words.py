"""Words of daily life by what they name, and whether a value is one of them. Pure."""

from __future__ import annotations

from typing import Final, Literal

from engram.regex import regex
from engram.wordlists import word_set

Kind = Literal[
    "name", "phrase", "hour", "number", "pastime", "drink", "instrument", "tongue", "code", "colour", "means", "room"
]
"""What a value has to be: a name, any short phrase, an hour, a number, or one of a closed list."""

SPORTS: Final = word_set(
    """
    aerobics aikido archery athletics badminton ballet ballroom barre baseball basketball biking billiards bmx
    bodybuilding bouldering bowling bowls boxing callisthenics calisthenics canoeing capoeira climbing cricket
    croquet crossfit curling cycling dancing darts diving dodgeball fencing fishing football freediving frisbee
    futsal golf gymnastics handball hiking hockey hurling jogging judo jujitsu jiu-jitsu karate kayaking kendo
    kickboxing kitesurfing krav-maga lacrosse motocross netball orienteering paddling padel parkour pickleball
    pilates polo powerlifting rowing rugby running sailing salsa skateboarding skating skiing skydiving snooker
    snorkelling snowboarding soccer softball spinning squash surfing swimming taekwondo tai-chi tango tennis
    trampolining triathlon volleyball walking weightlifting windsurfing wrestling yoga zumba
    """
)
CRAFTS: Final = word_set(
    """
    astronomy baking beekeeping birdwatching birding brewing calligraphy carpentry ceramics chess cooking crocheting
    crochet drawing embroidery foraging gaming gardening genealogy geocaching improv journaling juggling knitting
    leatherwork magic meditation modelling origami painting photography poker pottery printmaking puzzles quilting
    scrapbooking sculpting sewing singing sketching sudoku weaving whittling woodcarving woodworking writing
    """
)
_TWO_WORDS: Final = frozenset(
    (
        "tai chi",
        "krav maga",
        "jiu jitsu",
        "rock climbing",
        "table tennis",
        "martial arts",
        "water polo",
        "bird watching",
    )
)
_ROOMS: Final = word_set(
    """
    annex annexe attic basement bedroom cabin caravan cellar conservatory garage hut lounge loft room shed studio tent
    """
)
_DRINKS: Final = word_set(
    """
    americano cappuccino cortado espresso latte macchiato mocha ristretto decaf cocoa chai matcha oolong rooibos
    sencha tea coffee juice water smoothie milk white brew chocolate mate kombucha lemonade grey breakfast mint
    camomile chamomile darjeeling assam frappuccino affogato lungo doppio kefir
    """
)
INSTRUMENTS: Final = word_set(
    """
    accordion bagpipes banjo bass bassoon bongos bugle cello clarinet cornet didgeridoo drums dulcimer euphonium
    fiddle flute glockenspiel guitar harmonica harp harpsichord horn kalimba keyboard lute lyre mandolin marimba
    oboe organ piano piccolo recorder saxophone sax sitar tambourine trombone trumpet tuba ukulele viola violin
    xylophone zither
    """
)
TONGUES: Final = word_set(
    """
    afrikaans albanian arabic armenian basque bengali bosnian bulgarian cantonese catalan chinese croatian czech
    danish dutch english esperanto estonian farsi finnish flemish french gaelic galician georgian german greek
    hebrew hindi hungarian icelandic indonesian irish italian japanese korean latin latvian lithuanian macedonian
    malay maltese mandarin norwegian persian polish portuguese punjabi romanian russian serbian slovak slovene
    slovenian spanish swahili swedish tagalog tamil thai turkish ukrainian urdu vietnamese welsh yiddish
    """
)
_CODES: Final = word_set(
    """
    ada assembly bash c c# c++ clojure cobol crystal dart elixir elm erlang f# fortran go golang groovy haskell java
    javascript julia kotlin lisp lua matlab nim ocaml perl php prolog python r ruby rust scala scheme solidity sql
    swift typescript zig
    """
)
_COLOURS: Final = word_set(
    """
    black blond blonde blue brown brunette ginger green grey gray orange pink platinum purple red silver teal
    turquoise violet white
    """
)
_MEANS: Final = word_set(
    """
    bike bicycle bus car carpool coach cycle e-bike ferry foot metro moped motorbike motorcycle scooter skateboard
    subway taxi train tram trolleybus tube underground van
    """
)
_LISTED: Final = {
    "pastime": SPORTS | CRAFTS, "drink": _DRINKS, "instrument": INSTRUMENTS, "tongue": TONGUES, "code": _CODES,
    "colour": _COLOURS, "room": _ROOMS, "means": _MEANS,
}  # fmt: skip
_NUMBER: Final = regex(r"(?:(?:number|no\.?|#) ?)?[a-z]?\d{1,4}[a-z]?")
_HOUR: Final = regex(
    r"(?:about |around |roughly )?(?:(?:(?:a )?quarter|half|five|ten|twenty) (?:past|to) )?"
    r"(?:\d{1,2}(?:[:.]\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight)"
    r"(?: ?(?:am|pm|a\.m|p\.m|o'clock))?(?: (?:in the (?:morning|evening)|at night|sharp))?"
)
_MOST_WORDS: Final = 4


def fits(kind: Kind, value: str) -> bool:
    """Whether a value, as compared text, is one of its kind; of names only the writing can tell."""
    parts = value.split()
    if not parts:
        return False
    if kind == "hour":
        return _HOUR.fullmatch(value) is not None
    if kind == "number":
        return _NUMBER.fullmatch(value) is not None
    if kind in _LISTED:
        return parts[-1] in _LISTED[kind] or (kind == "pastime" and value in _TWO_WORDS)
    return len(parts) <= _MOST_WORDS


__all__ = ["CRAFTS", "INSTRUMENTS", "SPORTS", "TONGUES", "Kind", "fits"]
