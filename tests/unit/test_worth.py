"""What is worth keeping: what a statement about anything gives to ask for, and what is only talk."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engram.derivation import rules
from engram.english import worth
from engram.english.subjects import plain, third_person
from engram.ids import new_id
from engram.values import Event

AT = datetime(2026, 5, 11, 9, tzinfo=UTC)


def facts(said: str) -> list[str]:
    """What the rules make of a message."""
    return [one.fact for one in derived(said)]


def derived(said: str) -> tuple[rules.Proposed, ...]:
    event = Event(
        event_id=new_id(), stream_id=new_id(), position=1, role="user", event_type="message", trust="user",
        content=said, payload={}, metadata={}, occurred_at=AT, recorded_at=AT, session_id=None, task_run_id=None,
        actor=None, erased=False, hash="",
    )  # fmt: skip
    return rules.derive(event)


SPECIFIC = [
    ("The bins are collected every other Wednesday.", "The bins are collected every other Wednesday"),
    ("btw staging deploys itself at 18:00", "Staging deploys itself at 18:00"),
    ("Biggest client is Harbour Lines, 410k a year.", "Biggest client is Harbour Lines, 410k a year"),
    ("yes, reviewer is Agnieszka", "Reviewer is Agnieszka"),
    ("Johanna has booked the train for December 19, until I come back.",
     "Johanna has booked the train for December 19, until User comes back"),
    ("Handlers live in app/routes and never touch the database.",
     "Handlers live in app/routes and never touch the database"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "kept"), SPECIFIC)
def test_a_statement_that_gives_something_to_ask_for_is_kept_as_it_stands(said: str, kept: str) -> None:
    (one,) = [one for one in derived(said) if one.fact == kept]
    assert said[one.char_start : one.char_end] in said
    assert said[one.char_start : one.char_end].split()[-1] == kept.split()[-1]


def test_what_no_rule_knows_whose_it_is_says_so_by_its_category() -> None:
    (one,) = derived("The bins are collected every other Wednesday.")
    assert (one.category, one.subject) == (worth.STATEMENT, None)


@pytest.mark.parametrize(
    "said",
    [
        "It's on Friday at nine.",  # what is?
        "If the release slips to June 4, we're in trouble.",
        "Could you move it to Friday?",
        "Would the bins be collected on Wednesday?",
        "You said the launch was on May 3.",
        "FATAL: sorry, 97 clients already",
        "[image: two people at the Eiffel Tower]",
        "Here's a picture of Tom at the beach",
        "Hey Maria, it's been a few days!",
        "Wow Maria, that's so cool",
        "The Eiffel Tower is so cool",
        "Nature is really awesome",
        "Sounds like a great way to relax",
        "We can make a difference",
        "I will not give up",
        "It means a lot to me",
        "Let's work hard",
        "Since we last talked a lot happened in June",
        "Music can help people relax after work",
    ],
)
def test_talk_is_not_kept(said: str) -> None:
    assert facts(said) == []


@pytest.mark.parametrize(
    ("text", "enough"),
    [
        ("user threw it away", False),
        ("user sold the thing", False),
        ("user has no idea", False),
        ("user is going", False),
        ("user wants to be", False),
        ("user likes jazz", True),
        ("user cannot swim", True),
        ("user is stubborn", True),
        ("user has asthma", True),
        ("user quit", True),
        ("user sold the car", True),
        ("user drives her to school on mondays", True),
    ],
)
def test_what_says_nothing_by_itself_is_not_enough(text: str, enough: bool) -> None:
    assert worth.says_enough(text, text.replace("user", "User", 1)) is enough


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("gave up the allotment last fall", "User gave up the allotment last fall"),
        ("got an epipen in every bag now", "User got an epipen in every bag now"),
        ("nah, found out in May", "User found out in May"),
    ],
)
def test_who_leaves_out_the_subject_means_themselves(said: str, kept: str) -> None:
    assert kept in facts(said)


@pytest.mark.parametrize("said", ["approved by finance on Friday", "loved it last week", "thought so since Monday"])
def test_what_may_be_of_somebody_else_or_of_nothing_is_not_completed(said: str) -> None:
    assert worth.with_subject(said) is None


def test_what_it_is_about_is_told_by_the_words_before() -> None:
    assert "The offsite is in Westport this year, 11 to 13 September" in facts(
        "The offsite. It's in Westport this year, 11 to 13 September."
    )
    assert worth.of_topic("Exactly.", "It's in Westport this year") is None
    assert worth.of_topic("The offsite is near.", "It's in Westport this year") is None
    assert worth.of_topic("The offsite.", "She lives in Westport") is None


@pytest.mark.parametrize(
    "said",
    [
        "Generally: commit messages in English, at most 60 characters",
        "squash merges only, for the record",
        "And nothing async in app/repo ever.",
        "Don't touch pyproject without asking me first.",
        "Please do not correct my style when I read to you.",
        "When you do a shopping list, please do it by aisle.",
        'Whatever you write for me, no "passionate"',
    ],
)
def test_how_things_are_to_be_done_is_kept_as_a_rule(said: str) -> None:
    assert worth.is_rule(said)
    assert facts(said)


@pytest.mark.parametrize(
    "said",
    ["Don't worry before you see it.", "Don't send that before lunch today.", "When you write, I read.", "Only you."],
)
def test_what_is_asked_for_once_is_no_rule(said: str) -> None:
    assert not worth.is_rule(said)


def test_a_pasted_mail_says_nothing_of_the_user() -> None:
    mail = "She did:\n\nFrom: Karin Lind\nSubject: Re: support\nI have a slot Thursday 10:30. I live in Lund.\n"
    assert facts(mail) == []
    assert worth.without_mail(mail).splitlines()[0] == "She did:"
    assert len(worth.without_mail(mail)) == len(mail)
    assert worth.without_mail("From: Lund\nI live in Oslo.") == "From: Lund\nI live in Oslo."


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("I almost never eat meat", "User almost never eats meat"),
        ("I so want a dog", "User so wants a dog"),
        ("I kind of like tea", "User kind of likes tea"),
        ("I, however, like tea", "User, however, likes tea"),
        ("Since I last saw you I moved", "Since User last saw you User moved"),
        ("I last ten minutes", "User lasts ten minutes"),
        ("I get up at six and don't eat before ten", "User gets up at six and does not eat before ten"),
        ("I don't eat meat but eat fish", "User does not eat meat but eats fish"),
        ("I wake up, make coffee and read the news", "User wakes up, makes coffee and reads the news"),
        ("I go running every morning and then swim", "User goes running every morning and then swims"),
        ("I like apples, pears and plums", "User likes apples, pears and plums"),
        ("I love dance, travel and music", "User loves dance, travel and music"),
        ("I want to quit, move to Rome and open a bar", "User wants to quit, move to Rome and open a bar"),
        ("I use Python, write short answers", "User uses Python, write short answers"),
        ("I'm vegan and don't suggest meat", "User is vegan and don't suggest meat"),
        ("My wife and I cook", "User's wife and User cook"),
        ("My wife teaches and I cook", "User's wife teaches and User cooks"),
        ("My brother moved out, and I want his room", "User's brother moved out, and User wants his room"),
        ("I work in Rome, where my wife and I live", "User works in Rome, where User's wife and User live"),
    ],
)
def test_verbs_of_the_user_agree_with_them(said: str, written: str) -> None:
    assert third_person(said) == written
    assert plain(third_person(said)) == plain(written)


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("hey claude, i'm allergic to nuts", "allergic to nuts"),
        ("Sounds good, I live in Rome.", "lives in Rome"),
        ("Looks like I'm allergic to penicillin", "penicillin"),
        ("[10:05] I'm allergic to nuts", "allergic to nuts"),
        ("Looks like the deadline is 5 May", "5 May"),
        ("Let's use Postgres, not MySQL", "Postgres"),
        ("Ibuprofen is bad for Tom", "Tom"),
        ("Anna can take the Friday shift", "Friday"),
        ("My trip:\nFrom: Berlin\nTo: Rome\nI'm allergic to nuts.", "allergic to nuts"),
        ("From: a@b.org\nSubject: x\nI live in Lund.\n---\nI'm allergic to penicillin.", "penicillin"),
    ],
)
def test_what_matters_is_kept_however_it_begins(said: str, held: str) -> None:
    assert any(held in fact for fact in facts(said)), facts(said)
    assert "User lives in Lund" not in facts(said)


@pytest.mark.parametrize(
    "said",
    [
        "Ahmed can help with Kubernetes",
        "Archived logs are deleted after 30 days",
        "Paid leave is 25 days",
        "Expired in May",
        "Ann told Bob, I'm a nurse",
        "Tom wrote, my son has asthma",
    ],
)
def test_what_others_are_or_say_is_not_the_users(said: str) -> None:
    assert not any(fact.startswith("User") for fact in facts(said)), facts(said)


@pytest.mark.parametrize("said", ["From now on: remember that:\n- use British English", "generally: generally: :"])
def test_no_fact_is_empty(said: str) -> None:
    assert all(one.fact.strip() and one.char_start < one.char_end for one in derived(said))


@pytest.mark.parametrize("said", ["Don't remember when he came", "Don't care when you come over"])
def test_what_is_no_order_is_no_rule(said: str) -> None:
    assert not worth.is_rule(said)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("I take vitamins, iron tablets and fish oil", "User takes vitamins, iron tablets and fish oil"),
        ("I take metformin, water tablets and iron", "User takes metformin, water tablets and iron"),
        ("My husband Will and I live in Rome", "User's husband Will and User live in Rome"),
        ("I told Ann to wait, then call me", "User told Ann to wait, then call User"),
        ("I work for people who care and don't eat meat", "User works for people who care and don't eat meat"),
    ],
)
def test_nouns_and_what_others_do_take_no_ending(said: str, written: str) -> None:
    assert third_person(said) == written
