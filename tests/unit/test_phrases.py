"""The things of daily life: the phrases that set them, the questions that ask for them, and what a value has to be."""

from __future__ import annotations

import pytest

from engram.english import frames, phrases
from engram.english.attributes import Attribute, asked
from engram.english.phrases.table import ENTRIES, STANDS_FOR
from engram.english.subjects import plain, third_person


@pytest.mark.parametrize(
    ("said", "sets"),
    [
        ("I rent from Mr. Haines now.", ("landlord", "mr. haines")),
        ("I switched my coffee order to an americano.", ("coffee order", "americano")),
        ("My new sport is judo.", ("~sport", "judo")),
        ("I do judo twice a week.", ("~sport", "judo")),
        ("I've taken up rowing as my sport.", ("~sport", "rowing")),
        ("I've moved to Tidal for my music.", ("~music service", "tidal")),
        ("I have a Spotify subscription for my music.", ("~music service", "spotify")),
        ("I'm with Netwave for broadband.", ("internet provider", "netwave")),
        ("My phone contract is with Lebra again.", ("phone provider", "lebra")),
        ("I get my car insurance from Allied.", ("car insurer", "allied")),
        ("Dr. Moreau supervises my thesis.", ("thesis supervisor", "dr. moreau")),
        ("I'm working on project Cascade.", ("~project", "cascade")),
        ("I go to bed at half past ten.", ("bedtime", "half past ten")),
        ("My alarm's still set for 6:15.", ("wake-up time", "6:15")),
        ("I wake up at 5:30 every morning.", ("wake-up time", "5:30")),
        ("I play the clarinet again.", ("~instrument", "clarinet")),
        ("I'm still learning Spanish, slowly.", ("~language being learned", "spanish")),
        ("I write Rust at work.", ("~programming language", "rust")),
        ("I take the ferry to work.", ("commute", "ferry")),
        ("I'm in the middle of The Overstory.", ("~book being read", "overstory")),
        ("I have locker 112.", ("locker", "112")),
        ("I use a Pixel 8, so give me the steps for that.", ("phone", "pixel 8")),
        ("I sleep in the studio, not the loft.", ("~bedroom", "studio")),
        ("I use Vim for everything.", ("editor", "vim")),
        ("I code in Zed now.", ("editor", "zed")),
        ("i use vim", ("editor", "vim")),
    ],
)
def test_a_thing_of_daily_life_is_read_in_each_of_its_phrases(said: str, sets: tuple[str, str]) -> None:
    assert frames.read(plain(third_person(said)).rstrip("."), said) == Attribute(*sets)


@pytest.mark.parametrize(
    "said",
    [
        "I do the dishes.",
        "I play tennis with Bob.",
        "I do yoga, mostly in the mornings.",
        "I go to bed when I'm tired.",
        "I take the stairs to work.",
        "I rent a car from time to time.",
        "I also volunteer for the Book Aid.",
        "I get up when the cat does.",
        "I bought a Pixel 8 for my mum.",
        "I sleep in the afternoon.",
    ],
)
def test_what_is_of_another_or_no_value_sets_nothing(said: str) -> None:
    found = frames.read(plain(third_person(said)).rstrip("."), said)
    assert found is None or not phrases.is_known(found.name) or found.name == "~bedroom"


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Who do I rent from?", "landlord"),
        ("What sport do I do?", "~sport"),
        ("Where do I get my internet from?", "internet provider"),
        ("Who is my phone contract with?", "phone provider"),
        ("What do I use for music?", "~music service"),
        ("Which project am I working on?", "~project"),
        ("Who supervised my thesis in May 2024?", "thesis supervisor"),
        ("When do I go to bed?", "bedtime"),
        ("What time did I get up in February 2024?", "wake-up time"),
        ("Which club was I a member of in June 2024?", "~club"),
        ("What's my coffee order?", "coffee order"),
        ("Who cuts my hair?", "hairdresser"),
        ("How do I get to work?", "commute"),
        ("What is my sister's sport?", None),
        ("What should I do for exercise tomorrow?", None),
    ],
)
def test_a_question_asks_for_it_in_several_ways_too(question: str, name: str | None) -> None:
    assert asked(plain(question)) == name


def test_every_entry_of_the_table_is_whole() -> None:
    for entry in ENTRIES:
        assert entry.nouns or entry.said or entry.owned or entry.done, entry.name
        for pattern in (*(rest for _, _, rest in entry.said), *(said for _, said in entry.owned)):
            assert pattern.count("<v>") + pattern.count("(?P<value>") == 1, (entry.name, pattern)
        for pattern in (*entry.done, *entry.asked):
            assert "<v>" not in pattern, (entry.name, pattern)
    known = {mark for entry in ENTRIES for mark in STANDS_FOR if mark in str(entry)}
    assert known == set(STANDS_FOR)
    assert len({noun for entry in ENTRIES for noun in entry.nouns.split("|") if noun}) == len(phrases.NOUNS)


def test_a_value_is_one_of_its_kind() -> None:
    assert phrases.fits("hour", "half past six")
    assert not phrases.fits("hour", "dawn")
    assert phrases.fits("pastime", "table tennis")
    assert not phrases.fits("pastime", "dishes")
    assert phrases.fits("number", "no. 112")
    assert not phrases.fits("phrase", "whatever they happen to have today")


def test_a_service_ends_what_moves_to_it() -> None:
    assert phrases.is_for_a_service("tidal for user's music")
    assert not phrases.is_for_a_service("berlin for user's job")
