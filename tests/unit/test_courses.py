"""The course of things: what is read as an end or a change, of which memory it is, and what is neither."""

from __future__ import annotations

import pytest
from growth import assert_linear

from engram.english import courses
from engram.english.courses import Told
from engram.english.subjects import plain


@pytest.mark.parametrize(
    ("statement", "over"),
    [
        ("user has packed in the cello", "the cello"),
        ("user has given the cello up", "the cello"),
        ("user is done with stamps", "stamps"),
        ("user let user's gym membership lapse", "user's gym membership"),
        ("user's time with the marmots is over", "time with the marmots"),
        ("no more cello lessons for user", "cello lessons"),
        ("the cello and user have parted company", "the cello"),
        ("user's doctor took user off veratin", "veratin"),
        ("user stepped down as treasurer", "treasurer"),
        ("user used to drink chai", "drink chai"),
        ("forget what i said about the red cross, that's over", "the red cross"),
    ],
)
def test_an_end_is_read_in_many_words(statement: str, over: str) -> None:
    found = courses.read(statement)
    assert found is not None
    assert found.over == over


@pytest.mark.parametrize(
    ("statement", "old", "new"),
    [
        ("user has gone from espresso to chai in the morning", "espresso", "chai"),
        ("user swapped judo for pottery", "judo", "pottery"),
        ("user dropped judo and took up pottery", "judo", "pottery"),
        ("user used to drink espresso in the morning, now it's chai", "espresso", "chai"),
        ("user's office used to be in tower nine, now it's in mill lane", "tower nine", "mill lane"),
        ("instead of judo user does pottery now", "judo", "pottery"),
        ("dr. bell took over user's thesis from dr. novak", "dr. novak", "dr. bell"),
        ("user was taken off lisinol and put on veratin", "lisinol", "veratin"),
    ],
)
def test_a_change_names_what_went_and_what_came(statement: str, old: str, new: str) -> None:
    found = courses.read(statement)
    assert found is not None
    assert (found.old, found.new) == (old, new)


def test_a_correction_names_what_is_not_and_says_what_is() -> None:
    found = courses.read("user was wrong, user runs with the larks, not the owls")
    assert found is not None
    assert (found.old, found.says) == ("owls", "user runs with the larks")


@pytest.mark.parametrize(
    "statement",
    [
        "user drinks chai in the morning",
        "user is not strictly vegetarian, user does eat fish",
        "user might give up chai",
        "user plans to leave the owls",
        "user never drank chai",
        "user would have quit if user had known",
        "user has finished chess for today",
        "user lost at chess",
        "user stopped by the bakery",
        "user is off to the bakery",
        "user is out of tea",
        "user just left the shelter",
        "user moved money from monzo to revolut",
        "user went from the bike to the shower",
        "user moved from berlin to hamburg as a child",
        "user swapped the guardian for the times on the train today",
        "user is looking forward to the summer",
        "user is not driving today",
        "user is not working at siemens this week",
        "user is not living with user's parents forever",
    ],
)
def test_what_is_so_planned_or_supposed_is_no_end(statement: str) -> None:
    assert courses.read(statement) is None


def told(fact: str) -> Told:
    return Told(plain(fact), fact)


@pytest.mark.parametrize(
    ("fact", "over"),
    [
        ("User is learning the cello", "the cello"),
        ("User is a member of the Night Owls", "user is no longer a member of the night owls"),
        ("User subscribes to Vidora", "user's subscription to vidora"),
        ("Dr. Novak supervises User's thesis", "dr. novak no longer supervises user's thesis"),
    ],
)
def test_an_end_is_of_the_memory_whose_words_it_names(fact: str, over: str) -> None:
    assert told(fact).is_over(over) > 0


@pytest.mark.parametrize(
    ("fact", "over"),
    [
        ("User speaks Portuguese", "portuguese"),  # who stops a course still speaks it
        ("User loves sushi", "sushi"),
        ("User has a dog called Rex", "walking rex at night"),
        ("User works at the library", "user's umbrella at the library"),
        ("User visited Portugal", "portugal"),
        ("User plays chess with Ivo in Rome", "chess in vienna"),
        ("User is learning the cello", "user's job"),
        ("User likes dogs more than cats", "like cats"),
        ("User prefers trains to planes", "like planes"),
        ("User prefers tea over coffee", "like coffee"),
        ("User plays tennis and chess", "user no longer plays chess"),
        ("User likes beer, wine and cider", "like wine"),
        ("User has a cat and a dog", "dog"),
        ("User works at Siemens and at a bakery", "bakery"),
    ],
)
def test_an_end_of_something_else_ends_nothing(fact: str, over: str) -> None:
    assert told(fact).is_over(over) == 0


@pytest.mark.parametrize(
    ("fact", "over"),
    [
        ("User plays tennis and chess", "user no longer plays tennis or chess"),
        ("User prefers to go to the gym", "prefer to go to the gym"),
        ("User works at Ernst and Young", "ernst and young"),
        ("User is a member of the Owls and Larks", "user is no longer a member of the owls and larks"),
    ],
)
def test_an_end_of_all_that_is_listed_ends_the_list(fact: str, over: str) -> None:
    assert told(fact).is_over(over) > 0


@pytest.mark.parametrize(
    ("fact", "statement", "ends"),
    [
        ("User uses Vim", "user does not just use vim", False),
        ("User likes dogs", "user does not like all dogs", False),
        ("User likes dogs", "user does not like every dog", False),
        ("User trusts User's doctor", "user does not completely trust user's doctor", False),
        ("User lives in Oslo", "user left oslo yesterday", False),
        ("User lives in Oslo", "user left oslo this week", False),
        ("User goes to the gym every day", "user left the gym yesterday", False),
        ("User goes to the gym every day", "user left the gym", True),
        ("User works at Bosch", "user left bosch yesterday", True),
        ("User plays the piano", "user stopped taking piano lessons", False),
        ("User speaks Greek", "user quit user's greek class", False),
        ("User is learning the piano", "user stopped taking piano lessons", True),
        ("User eats meat every day", "user does not eat meat every day", True),
        ("User uses Vim", "user does not use vim at all", True),
        ("User uses Vim", "user does not use vim after all", True),
    ],
)
def test_a_denial_of_more_than_a_memory_tells_ends_nothing(fact: str, statement: str, ends: bool) -> None:
    found = courses.read(statement)
    assert found is not None
    assert found.over is not None
    assert (told(fact).is_over(found.over, found.said) > 0) is ends


@pytest.mark.parametrize(
    ("fact", "statement"),
    [
        ("User drinks chai in the morning", "User drinks cocoa in the morning now"),
        ("User's office is in Tower Nine", "User's office moved to Mill Lane"),
        ("User runs with the Night Owls", "User runs with the Larks nowadays"),
        ("User takes Lisinol for User's blood pressure", "For User's blood pressure User takes Veratin now"),
        ("User's phone contract is with Giffon", "User's phone contract is with Lebra now"),
        ("User's son goes to Lincoln High", "User's son goes to Jefferson High now"),
        ("User's daughter works at Siltec", "User's daughter works at Cobalt now"),
        ("User gets up at 6", "User gets up at 7 now"),
        ("User gets up at half past six", "User gets up at seven these days"),
    ],
)
def test_the_same_said_of_another_value_is_known(fact: str, statement: str) -> None:
    assert told(fact).otherwise(plain(statement), statement) > 0


@pytest.mark.parametrize(
    ("fact", "statement"),
    [
        ("User's friend is Anna", "User's friend is Ben now"),
        ("User has a dog named Rex", "User has a cat named Mimi now"),
        ("User speaks French", "User speaks Hindi now"),
        ("User loves sushi", "User loves opera now"),
        ("User reads the Courier", "User reads the Beacon now"),
        ("User visited Ghana", "User has now visited Japan"),
        ("User sleeps in the attic", "User works in the basement now"),
        ("User drinks chai in the morning", "User's brother swims in the lake now"),
        ("User knows how to cook dumplings", "User now knows how to cook risotto"),
        ("User's son goes to Lincoln High", "User's son goes to Aikido Club now"),
        ("User's son goes to Lincoln High", "User's nephew goes to Jefferson High now"),
        ("User's friend works at Siltec", "User's friend works at Cobalt now"),
        ("User's son plays chess", "User's son plays go now"),
        ("User gets up at 6", "User gets home at 7 now"),
        ("User gets up at 6 on weekdays", "User gets up at 9 now"),
        ("User is 34", "User is 35 now"),
    ],
)
def test_what_people_have_several_of_is_not_displaced_by_now(fact: str, statement: str) -> None:
    assert told(fact).otherwise(plain(statement), statement) == 0


@pytest.mark.parametrize(
    ("fact", "statement", "is_other"),
    [
        ("User prefers tea", "user now prefers coffee to tea", True),
        ("User prefers tea over coffee", "these days user prefers coffee over tea", True),
        ("User prefers green tea", "user prefers coffee over tea now", False),
        ("User prefers tea to juice", "user prefers coffee over tea now", False),
        ("User prefers to walk", "user prefers coffee to tea now", False),
        ("User prefers tea", "user prefers coffee now", False),
        ("User likes tea", "user prefers coffee to tea now", False),
    ],
)
def test_what_was_preferred_may_be_so_no_longer(fact: str, statement: str, is_other: bool) -> None:
    assert told(fact).preferred(statement) is is_other


@pytest.mark.parametrize(
    ("plain_fact", "name", "is_named"),
    [
        ("user's daughter is called luna", "luna", True),
        ("user's boss is max hall", "max", True),
        ("user is dating rex", "rex", True),
        ("max loves bones", "max", False),
        ("user's daughter likes luna", "luna", False),
    ],
)
def test_somebody_is_known_by_a_name(plain_fact: str, name: str, is_named: bool) -> None:
    assert courses.is_named(plain_fact, name) is is_named


def test_a_memory_told_anew_says_nothing_twice() -> None:
    assert told("User takes the bus to work").replaced("bus", "tram to work", "") == "User takes the tram to work"
    assert told("User takes the bus").replaced("bus", "tram to work", "") == "User takes the tram to work"


@pytest.mark.parametrize(
    ("plain_fact", "name", "is_pet"),
    [
        ("user's dog is called rex", "rex", True),
        ("user's cat's name is mimi", "mimi", True),
        ("user's son is called rex", "rex", False),
        ("user's dog is old", "rex", False),
    ],
)
def test_a_pet_is_known_by_its_name(plain_fact: str, name: str, is_pet: bool) -> None:
    assert courses.is_pet(plain_fact, name) is is_pet


@pytest.mark.parametrize(
    ("fact", "over", "said", "ends"),
    [
        ("User has a dog named Rex", "rex", "rex died last week", True),
        ("User's phone is a Pixel", "phone", "user's phone died", False),
        ("User works at Tesco", "tesco", "user's last day at tesco", True),
        ("User is reading Dune", "dune", "user finished dune", True),
        ("User loves Dune", "dune", "user finished dune", False),
        ("User drinks coffee", "coffee", "user finished user's coffee", False),
    ],
)
def test_an_end_is_of_what_ends_so(fact: str, over: str, said: str, ends: bool) -> None:
    assert (told(fact).is_over(over, said) > 0) is ends


def test_a_memory_is_told_anew_with_what_came() -> None:
    assert (
        told("User drinks espresso in the morning").replaced("espresso", "chai", "")
        == "User drinks chai in the morning"
    )
    assert told("User drank espresso").replaced("tea", "chai", "") is None
    mysql = told("User's database is MySQL 8 and migrations live in db/migrate")
    assert mysql.replaced("mysql", "Postgres", "") == "User's database is Postgres and migrations live in db/migrate"
    moved = "user moved from the uk to peru"
    assert told("User lives in the UK").replaced("uk", "Peru", moved) == "User lives in Peru"
    moved = "user moved from the uk to the philippines"
    assert told("User lives in the UK").replaced("uk", "Philippines", moved) == "User lives in the Philippines"
    part = "user moved the api from flask to fastapi"
    assert told("User's team uses Flask for the API and the admin").replaced("flask", "FastAPI", part) is None
    assert told("User's team uses Flask for the API").replaced("flask", "FastAPI", part) is not None
    assert told("User was in Rome").replaced("rome", "Oslo", "") is None


@pytest.mark.parametrize(
    "statement",
    [
        "user does not live in rome in winter", "user no longer lives in rome full-time",
        "user does not live in rome in august anymore", "user is not severely allergic to nuts",
        "user is not allergic to all nuts", "user does not have a severe nut allergy",
        "user is not allergic to nuts, just a bit", "user has not lived in rome for long",
    ],
)  # fmt: skip
def test_a_denial_of_when_or_how_much_is_of_a_part(statement: str) -> None:
    assert courses.is_in_part(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "user does not live in rome", "user no longer lives in rome anymore", "user is not in a relationship with anna",
        "user does not work with acme", "user is not allergic to nuts at all", "user is not at all allergic to nuts",
        "user lives in rome in winter", "user does not live in rome since last winter",
        "user's sister is not severely allergic to nuts, user is",
    ],
)  # fmt: skip
def test_a_denial_of_the_whole_is_none_of_a_part(statement: str) -> None:
    assert not courses.is_in_part(statement)


@pytest.mark.parametrize("unit", ["not a ", "not all ", "user is not ", "x not in, ", "in winter ", "as much "])
def test_looking_for_a_part_costs_no_more_than_in_proportion(unit: str) -> None:
    assert_linear(lambda text: courses.is_in_part(f"user {text}"), unit, 8_192)
