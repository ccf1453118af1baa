"""Attributes: what a statement sets, what it takes back, what it leaves alone, and which one a question asks for."""

from __future__ import annotations

import pytest

from engram.english import attributes
from engram.policies import get_policy
from engram.policies.classify import Proposal, classify, says_no_more, value_of

DEFAULT = get_policy("default")

SETS = [
    ("My favourite colour is violet", "favourite colour", "violet"),
    ("My favorite color is now violet", "favourite colour", "violet"),
    ("My new favourite colour is violet", "favourite colour", "violet"),
    ("My favourite colour changed to violet", "favourite colour", "violet"),
    ("My bedtime is half past ten", "bedtime", "half past ten"),
    ("My bedtime is 10:30 pm now", "bedtime", "10:30 pm"),
    ("My favourite colour is violet, not indigo", "favourite colour", "violet"),
    ("Alien is my favourite film", "favourite film", "alien"),
    ("Alien is still my favourite movie", "favourite film", "alien"),
    ("My favourite film is Alien again", "favourite film", "alien"),
    ("My least favourite colour is beige", None, None),
    ("My editor is Vim", "editor", "vim"),
    ("I use Helix as my code editor", "editor", "helix"),
    ("I switched my browser from Opera to Brave", "browser", "brave"),
    ("I went back to Brave as my browser", "browser", "brave"),
    ("My car is a Ford Focus", "car", "ford focus"),
    ("I drive a Ford Focus now", "car", "ford focus"),
    ("My phone number is 555-0101", "phone number", "555-0101"),
    ("My email address is ada@example.org", "email", "ada@example.org"),
    ("I work at Acme", "employer", "acme"),
    ("I'm working for Umbra Systems", "employer", "umbra systems"),
    ("I work at Acme as a nurse", "employer", "acme"),
    ("I joined Globex", "employer", "globex"),
    ("I got a new job at Globex", "employer", "globex"),
    ("I'm back at Acme", "employer", "acme"),
    ("I work as a data analyst", "occupation", "data analyst"),
    ("I'm a nurse", "occupation", "nurse"),
    ("I became a pastry chef", "occupation", "pastry chef"),
    ("I'm vegetarian", "diet", "vegetarian"),
    ("I've gone vegan", "diet", "vegan"),
    ("My partner is Maya", "partner", "maya"),
    ("My wife's name is Maya", "partner", "maya"),
    ("I'm dating Maya", "partner", "maya"),
    ("My gym is Ironworks", "gym", "ironworks"),
    ("My dentist is Anna", "dentist", "anna"),
    ("I keep my notes in Joplin", "notes app", "joplin"),
    ("I am 34 years old", "age", "34"),
    ("I'm 35 now", "age", "35"),
    ("I turned 36 last week", "age", "36"),
    ("My age is 36", "age", "36"),
    ("I'm 36, not 35", "age", "36"),
    ("I'm 5 years old", "age", "5"),
    ("I weigh 74 kilos", "weight", "74 kilos"),
    ("I weigh about 11 stone 4", "weight", "11 stone 4"),
    ("I'm down to 160 lbs", "weight", "160 lbs"),
    ("I'm back to 80 kg now", "weight", "80 kg"),
    ("I'm 178 cm tall", "height", "178 cm"),
    ("I'm 1.78 m tall", "height", "1.78 m"),
    ("I'm six feet tall", "height", "six feet"),
    ("I'm 5 foot 11", "height", "5 foot 11"),
    ("I'm vegetarian, not vegan", "diet", "vegetarian"),
    ("I work remotely", "~way of work", "remotely"),
    ("I work from home", "~way of work", "from home"),
    ("I work from the office now", "~way of work", "from the office"),
    ("I'm engaged to Maya now", "partner", "maya"),
    ("I got married to Maya last summer", "partner", "maya"),
    ("I want to be called Sam", "form of address", "sam"),
    ("I want to be called Will", "form of address", "will"),
    ("Please answer in French", "language of answers", "french"),
    ("Always answer me in English from now on", "language of answers", "english"),
]
SETS_NOTHING = [
    "My car is broken",
    "My bedtime is flexible",
    "My bedtime is ten on weekdays",
    "My bedtime was ten",
    "My car is in the garage",
    "My gym is closed on Mondays",
    "My editor is slow",
    "My partner is a doctor",
    "My wife is Italian and loves opera",
    "My old car was a Ford Focus",
    "My dream car is a Ferrari",
    "My second favourite colour is red",
    "My favourite colour for walls is white for now",
    "I also work at Globex",
    "I work at Globex on weekends",
    "I work from home on Mondays",
    "I work from the kitchen table",
    "I'm working from home",
    "I went back to Vim",
    "I returned to Globex",
    "I joined Harbor Gym",
    "I'm back at Christmas",
    "I am 35 weeks pregnant",
    "I'm 5 minutes away",
    "I am 3 points ahead",
    "I am 1 of 5",
    "I'm 100 percent sure",
    "I am 34th in line",
    "I'm 5",
    "I feel 20",
    "I'm 20 again",
    "I was 12 when I moved to Rome",
    "I'll be 40 next year",
    "I turned 30 in 2015",
    "I turned 180 degrees",
    "My daughter is 15",
    "My age group is 30 to 39",
    "I weigh my food",
    "I weigh 5 kilos less",
    "I'm down to 5 kilos",
    "I'm down to 40 kilos of luggage",
    "I'm 6 feet away",
    "I'm 2 cm taller",
    "I'm vegetarian, not pregnant",
    "I'm vegan, not just vegetarian",
    "I'm on a keto diet",
    "I want to be called back",
    "Answer in French or German",
    "Always answer my mother in French",
    "Never answer in French",
    "Please reply in kind",
    "Answer in French if I ask you to",
    "I work with Priya",
    "I joined a choir",
    "I joined Facebook",
    "I joined the Harbor Rowing Club",
    "I'm a runner",
    "I'm a fan of Alien",
    "I'm a mother of two",
    "I'm hungry",
    "I have a dog named Rex",
    "I like blue",
    "I love sushi",
    "I speak French",
    "I rented a Ford Focus",
    "My role is to keep everybody calm",
    "My role is boring",
    "I might join Acme",
    "If I worked at Acme, I would commute",
    "My sister's favourite colour is teal",
    "My sister works at Acme",
    "My brother is a nurse",
    "Bob's editor is Zed",
    "Bob drives a Ford Focus",
    "She works at Acme",
    "Does Ann work at Acme?",
    "My boss's car is a Ford Focus",
    "My favourite thing about Rome is the food when it rains",
]


def key_of(said: str) -> str | None:
    return classify(DEFAULT, Proposal(said, role="user")).conflict_key


@pytest.mark.parametrize(("said", "name", "value"), SETS)
def test_a_statement_sets_one_attribute_of_the_user(said: str, name: str | None, value: str | None) -> None:
    key = None if name is None else f"slot:profile:{name}"
    assert key_of(said) == key
    assert value_of(DEFAULT, said, key) == value


@pytest.mark.parametrize("said", SETS_NOTHING)
def test_what_is_of_another_or_in_doubt_sets_nothing(said: str) -> None:
    assert key_of(said) is None


@pytest.mark.parametrize(
    ("said", "name", "value"),
    [
        ("I don't work at Acme anymore", "employer", "acme"),
        ("I no longer work for Acme", "employer", "acme"),
        ("I quit my job at Acme", "employer", "acme"),
        ("I resigned from Acme", "employer", "acme"),
        ("I left Acme", "employer", "acme"),
        ("I used to work at Acme", "employer", "acme"),
        ("I stopped working as a nurse", "occupation", "nurse"),
        ("I'm no longer a nurse", "occupation", "nurse"),
        ("I'm not vegan anymore", "diet", "vegan"),
        ("I stopped being vegan", "diet", "vegan"),
        ("I broke up with Sam", "partner", "sam"),
        ("Sam is no longer my partner", "partner", "sam"),
        ("Alien isn't my favourite film anymore", "favourite film", "alien"),
        ("My favourite film is no longer Alien", "favourite film", "alien"),
        ("I don't drive a Ford Focus anymore", "car", "ford focus"),
    ],
)
def test_what_is_over_takes_back_its_own_value_only(said: str, name: str, value: str) -> None:
    found = classify(DEFAULT, Proposal(said, role="user"))
    assert (found.conflict_key, found.negates) == (f"slot:profile:{name}", value)
    assert found.critical_slot is None


@pytest.mark.parametrize(
    "said",
    [
        "User is not just a nurse",
        "User's hometown is not only Rome",
        "User's favourite food isn't just ramen",
        "User does not just work at Siemens",
        "User does not work at Siemens because of the money",
        "User is not only allergic to peanuts",
    ],
)
def test_who_says_that_it_is_not_all_takes_nothing_back(said: str) -> None:
    found = classify(get_policy("default"), Proposal(said))
    assert (found.conflict_key, found.negates) == (None, None)


@pytest.mark.parametrize(
    ("said", "name", "value"),
    [
        ("My laptop is not a ThinkPad, it's a MacBook.", "laptop", "MacBook"),
        ("My dentist isn't Dr. Wu anymore, it's Dr. Bell", "dentist", "Dr. Bell"),
        ("My birthday isn't May 3, it is May 5", "birthday", "May 5"),
        ("Siemens isn't my employer any more, it's Bosch now.", "employer", "Bosch"),
        ("My favourite day isn't Sunday, it's Monday", "favourite day", "Monday"),
        ("My favourite film isn't Jaws, it's Halloween", "favourite film", "Halloween"),
        ("My dentist isn't Ann, it's June", "dentist", "June"),
        ("My favourite colour isn't blue anymore, it's green.", "favourite colour", "green"),
        ("My favourite colour is no longer blue, it's green now", "favourite colour", "green"),
        ("My favourite colour isn't blue any longer but green", "favourite colour", "green"),
        ("My dentist isn't Dr. Wu but Dr. Bell", "dentist", "Dr. Bell"),
        ("My favourite food isn't pizza anymore, it's sushi", "favourite dish", "sushi"),
    ],
)
def test_a_denial_may_say_what_is_so_instead(said: str, name: str, value: str) -> None:
    assert attributes.renewed(said) == (name, value)


@pytest.mark.parametrize(
    "said",
    [
        "My mum isn't well, it's Covid",
        "My problem is not money, it's time",
        "My boss isn't angry, it's Monday",
        "My car isn't at Bo's, it's in Rome",
        "My laptop isn't a ThinkPad, it's Tom's",
        "My laptop isn't a ThinkPad, it's Monday",
        "My laptop is no longer a ThinkPad, it's June",
        "A ThinkPad isn't my laptop, it's Christmas Eve",
        "My laptop broke, it's Monday morning",
        "Tom isn't my brother, it's Ben",
        "This isn't my laptop, it's Tom's",
        "My favourite colour isn't blue anymore, it's complicated",
        "My favourite colour isn't blue, it's just a phase",
        "My favourite colour isn't blue anymore, but that's fine",
        "My favourite colour isn't blue anymore",
        "My editor isn't Vim but Emacs is nice",
        "My mum isn't well but happy",
        "My favourite food isn't spicy but mild",
    ],
)
def test_a_denial_of_another_thing_says_of_no_attribute_what_it_is(said: str) -> None:
    assert attributes.renewed(said) is None


def test_a_fact_that_says_more_than_the_attribute_has_no_key_of_it() -> None:
    assert key_of("I work at Acme and drive a Ford Focus") is None


@pytest.mark.parametrize(
    ("fact", "known", "value", "is_all"),
    [
        ("User still works at Acme", "User works for Acme", "acme", True),
        ("User's boss is Ruth", "User reports to Ruth", "ruth", True),
        ("User works at Acme in the basement", "User works at Acme", "acme", False),
        ("User lives in Oslo with her aunt", "User lives in Oslo", "oslo", False),
    ],
)
def test_a_restatement_says_no_more_than_what_is_known(fact: str, known: str, value: str, is_all: bool) -> None:
    assert says_no_more(fact, known, value) is is_all


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("where do i live?", "current_city"),
        ("which city did i live in during may 2024?", "current_city"),
        ("where did i work in july 2024?", "employer"),
        ("who do i work for?", "employer"),
        ("who was my boss in may 2024?", "manager"),
        ("what's my favorite color?", "favourite colour"),
        ("which film is my favourite?", "favourite film"),
        ("which dish do i like best?", "favourite dish"),
        ("what was my previous phone number?", "phone number"),
        ("which editor did i use last year?", "editor"),
        ("what car do i drive now?", "car"),
        ("what is my partner's name?", "partner"),
        ("how old am i?", "age"),
        ("how much do i weigh?", "weight"),
        ("how tall am i?", "height"),
        ("what should you call me?", "form of address"),
        ("what name do i like to go by?", "form of address"),
        ("what do people call me?", "form of address"),
        ("what name do i use for the cat?", None),
        ("which language should you answer in?", "language of answers"),
        ("how old is my sister?", None),
        ("how much does my suitcase weigh?", None),
        ("where did i keep my notes in june 2024?", "notes app"),
        ("where does my sister live?", None),
        ("what is my sister's favourite colour?", None),
        ("when is my wife's birthday?", None),
        ("when is my birthday?", "birthday"),
        ("who is bob's manager?", None),
        ("what did i buy in may 2024?", None),
        ("where did i park my car?", None),
        ("what is my plan for friday?", None),
        ("where do you live?", None),
    ],
)
def test_a_question_asks_for_an_attribute_of_the_asker(question: str, name: str | None) -> None:
    assert attributes.asked(question) == name


def test_a_long_statement_is_not_read() -> None:
    assert attributes.read("user works at " + "a" * 400, "x") is None
    assert attributes.was_so("user left " + "a" * 400) is None


@pytest.mark.parametrize(
    ("said", "old", "new"),
    [
        ("No, it's violet, not indigo.", "indigo", "violet"),
        ("Sorry, it's a ThinkPad, not a Dell.", "Dell", "ThinkPad"),
        ("Not Alien, Heat.", "Alien", "Heat"),
        ("I said winter, but I meant autumn.", "winter", "autumn"),
        ("I meant Acme, not Globex.", "Globex", "Acme"),
    ],
)
def test_a_correction_says_what_it_puts_in_place_of_what(said: str, old: str, new: str) -> None:
    assert attributes.corrected(said) == attributes.Echo(old, new, alone=True)


@pytest.mark.parametrize(
    "said",
    [
        "I like tea, not coffee.",
        "My car is a Volvo, not a Kia.",
        "Coffee, not tea, please.",
        "I want a summary, not an essay.",
        "It's me, not you.",
        "No, I live in Oslo.",
        "It's not that I don't like Rome.",
    ],
)
def test_what_says_whose_value_it_is_is_no_bare_correction(said: str) -> None:
    assert attributes.corrected(said) is None


@pytest.mark.parametrize(
    ("statement", "echo"),
    [
        ("user switched from vim to emacs", attributes.Echo("vim", "emacs")),
        ("user does not use vim any more", attributes.Echo("vim")),
        ("user sold user's tesla model 3", attributes.Echo("tesla model 3")),
        ("user switched back to nano", attributes.Echo(new="nano")),
        ("user replaced user's dell xps with a surface pro", attributes.Echo("dell xps", "surface pro")),
        ("forget user's phone number", attributes.Echo(name="phone number")),
        ("forget user's silly question", None),
        ("user uses vim", None),
        ("user likes tea", None),
    ],
)
def test_a_statement_may_point_at_a_value_said_before(statement: str, echo: attributes.Echo | None) -> None:
    assert attributes.pointed(statement) == echo


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("user's group got divorced", "partner"),
        ("user's group broke up last month", "partner"),
        ("user's group separated in march", "partner"),
        ("user is divorced now", "partner"),
        ("user eats meat again", "diet"),
        ("user has started eating chicken again", "diet"),
        ("user's group broke up the concrete", None),
        ("user's group split up into two teams", None),
        ("user's group got divorced ten years ago and remarried", None),
        ("user's parents got divorced", None),
        ("user eats meat on holidays", None),
        ("user eats meat substitutes now", None),
    ],
)
def test_an_end_may_leave_out_of_whom_or_what(statement: str, name: str | None) -> None:
    found = attributes.pointed(statement)
    assert (None if found is None else found.name) == name


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("user used to work at acme", "acme"),
        ("user worked for acme in 2019", "acme"),
        ("user no longer works at acme", "acme"),
        ("user retired from acme", "acme"),
        ("user left acme", None),
        ("user left spain", None),
        ("user quit smoking", None),
        ("user used to work with python", None),
        ("user worked at home", None),
        ("user works at acme", None),
        ("user went back to acme", None),
    ],
)
def test_for_whom_somebody_worked_before_is_told(statement: str, value: str | None) -> None:
    assert attributes.worked_at(statement) == value
