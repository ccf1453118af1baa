"""Replies put whole by their questions: what they say, and what they are never made to say."""

from __future__ import annotations

import doctest
from datetime import UTC, datetime
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.derivation import rules
from engram.english import replies
from engram.english.replies import choices, fitting, others, unmeant, whose
from engram.values import Event

NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)


def said(question: str, reply: str) -> tuple[str, ...]:
    """What a reply says to the question a message ends with."""
    span = replies.question_of(question)
    return () if span is None else replies.whole(question[slice(*span)], reply, question[: span[0]])


@pytest.mark.parametrize(
    "module", [replies, choices, fitting, others, unmeant, whose], ids=lambda module: module.__name__
)
def test_the_examples_of_the_docstrings_hold(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


WHERE_AND_WHEN = [
    ("Where do you live?", "Ottawa, since 2019.", "I live in Ottawa, since 2019"),
    ("Great! And where do you live now?", "Ottawa", "I live in Ottawa now"),
    ("Where do you work?", "Acme", "I work at Acme"),
    ("Where do you work?", "in Berlin", "I work in Berlin"),
    ("Where are you from?", "Kiel originally", "I am from Kiel originally"),
    ("Where did you grow up?", "near Bremen", "I grew up near Bremen"),
    ("Could you tell me where you live?", "Ottawa", "I live in Ottawa"),
    ("Where does your mum live these days?", "still in Gdynia", "My mum lives in Gdynia these days"),
    ("From which airport do you usually leave?", "Graz", "I usually leave from Graz"),
    ("When is your birthday?", "June 3", "My birthday is on June 3"),
    ("When does your lease end?", "mid june", "My lease ends mid june"),
    ("When is the baby due?", "beginning of february", "The baby is due at the beginning of february"),
    ("What time do you get up?", "6:30 usually", "I get up at 6:30 usually"),
    ("On which day does your salary come in?", "the 27th", "My salary comes in on the 27th"),
    ("For the payroll form, when is your first day?", "3 march", "My first day is on 3 march"),
    ("What date should I save for your wife's birthday?", "uh, 11th august", "My wife's birthday is on 11th august"),
    ("Which night is choir?", "It moved to Wednesdays at 19:30.", "Choir moved to Wednesdays at 19:30"),
]  # fmt: skip
WHAT_AND_WHO = [
    ("What's your name?", "Maria", "My name is Maria"),
    ("Your email address?", "ada@example.org", "My email address is ada@example.org"),
    ("Which editor do you use for Python?", "Neovim", "I use Neovim for Python"),
    ("What are you allergic to?", "shellfish", "I am allergic to shellfish"),
    ("What are you working on these days?", "a billing service", "I am working on a billing service these days"),
    ("What did you study?", "physics", "I studied physics"),
    ("What's your dog called?", "Momo", "My dog is called Momo"),
    ("What's your shoe size?", "42", "My shoe size is 42"),
    ("Can I ask what you do for a living?", "nurse", "I am a nurse"),
    ("What do you do for a living?", "I drive the night bus", "I drive the night bus for a living"),
    ("What's your goal for this year?", "I want to run a marathon", "My goal for this year is to run a marathon"),
    ("What does your sister do?", "nurse in a hospice", "My sister is a nurse in a hospice"),
    ("What does your brother do?", "drives a snowplow for the city lol", "My brother drives a snowplow for the city"),
    ("Who is your manager?", "Dana, she joined in May", "My manager is Dana"),
    ("Who's the buyer at Halberg Foods?", "Katrin Vogel", "The buyer at Halberg Foods is Katrin Vogel"),
    ("Who is Albrecht to you?", "My neighbour", "Albrecht is my neighbour"),
    ("Which places are on your bucket list?", "patagonia", "Patagonia is on my bucket list"),
    ("How would you describe your appetite for risk?", "pretty low", "My appetite for risk is pretty low"),
    ("What do you usually do on Sunday mornings?", "I row with the club", "I row with the club on Sunday mornings"),
]  # fmt: skip
HOW = [
    ("How old are you?", "34", "I am 34 years old"),
    ("How old are your nieces?", "4 and 7", "My nieces are 4 and 7 years old"),
    ("How tall are you?", "1.80", "I am 1.80 tall"),
    ("How many kids do you have?", "two, a boy and a girl", "I have two kids, a boy and a girl"),
    ("How long have you lived in Berlin?", "six years", "I have lived in Berlin for six years"),
    ("How often do you run?", "three times a week", "I run three times a week"),
    ("How do you take your coffee?", "black", "I take my coffee black"),
    ("How do you get to work?", "bike", "I get to work by bike"),
    ("How does your boss like to be contacted, by email or phone?", "phone", "My boss likes to be contacted by phone"),
]
YES_OR_NO = [
    ("Are you vegetarian?", "yep", "I am vegetarian"),
    ("Are you vegetarian?", "no", "I am not vegetarian"),
    ("Do you eat meat?", "nope", "I do not eat meat"),
    ("Do you smoke?", "not anymore", "I no longer smoke"),
    ("Do you smoke?", "never", "I never smoke"),
    ("Do you smoke?", "quit in 2018", "I quit smoking in 2018"),
    ("Have you got any pets I need to know about?", "a cat", "I have a cat"),
    ("Did you grow up in Kiel?", "yes", "I grew up in Kiel"),
    ("Have you ever been to Japan?", "no, never", "I have never been to Japan"),
    ("Have you ever been to Japan?", "twice", "I have been to Japan twice"),
    ("Do you have kids?", "yes, two", "I have two kids"),
    ("Do you have a dog?", "yep, a beagle called Momo", "I have a beagle called Momo"),
    ("Do you have any allergies?", "peanuts and cats", "I am allergic to peanuts and cats"),
    ("Any allergies?", "none that I know of", "I do not have any allergies"),
    ("Are you allergic to anything?", "yes!! cashews", "I am allergic to cashews"),
    ("Are you on any medication?", "ramipril, 5mg", "I am on ramipril, 5mg"),
    ("Do you still live in Rome?", "no, Oslo now", "I live in Oslo now"),
    ("Do you drink coffee?", "only in the morning", "I drink coffee only in the morning"),
    ("Do you get seasick?", "horribly", "I get seasick horribly"),
    ("Is your sister married?", "yes", "My sister is married"),
    ("Is your passport good until next year?", "expires this october", "My passport expires this october"),
    ("Is Priya still your manager?", "yes", "Priya is my manager"),
]
CHOICES = [
    ("Do you prefer tea or coffee?", "coffee", "I prefer coffee"),
    ("Do you prefer tea or coffee?", "both", "I prefer tea and coffee"),
    ("Do you prefer tea or coffee?", "the latter", "I prefer coffee"),
    ("Do you edit in VS Code or IntelliJ?", "neither. helix", "I edit in helix"),
    ("Are you left or right handed?", "left", "I am left handed"),
    ("When you travel, do you prefer aisle or window?", "aisle", "I prefer aisle when I travel"),
    ("Would you rather have it on Saturday morning or Monday evening?", "Monday evening", None),
    ("Tabs or spaces for indentation?", "spaces", "I prefer spaces for indentation"),
]
RULES = [
    ("Who should we call in an emergency?", "my husband Olu, 0803", "Call my husband Olu in an emergency, 0803"),
    ("And what should I call you?", "just Max", "Call me Max"),
    ("What should I call you?", "Dee, nobody says Deirdre", "Call me Dee"),
    ("Should I use tabs or spaces?", "spaces pls", "Use spaces"),
    ("Should I correct you on the spot or at the end?", "at the end", "Correct me at the end"),
    ("How often should I nudge you to follow up?", "every ten days", "Nudge me to follow up every ten days"),
    ("May I push straight to main when a fix is tiny?", "no", "Never push straight to main when a fix is tiny"),
    ("In general, may I push straight to main?", "no way, PRs only", "Never push straight to main"),
    ("Can I give out your phone number?", "never", "Never give out my phone number"),
    ("Can I correct typos on my own from now on?", "sure, no need to ask", "You may correct typos on your own"),
    ("Should I keep Fridays free of meetings in general?", "yes, always", "Always keep Fridays free of meetings"),
    ("Which package manager should I use?", "pnpm", "Use pnpm"),
    ("What time zone should I use for your calls?", "CET", "My time zone is CET"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "reply", "whole"), [*WHERE_AND_WHEN, *WHAT_AND_WHO, *HOW, *YES_OR_NO, *CHOICES, *RULES]
)
def test_a_reply_says_what_its_question_asked(question: str, reply: str, whole: str | None) -> None:
    assert said(question, reply) == (() if whole is None else (whole,))


@pytest.mark.parametrize(
    ("question", "reply", "statements"),
    [
        ("Do you still live in Rome?", "no, I moved to Oslo", ("I do not live in Rome", "I moved to Oslo")),
        ("Does your son still play handball?", "no he switched to fencing",
         ("My son does not play handball", "My son switched to fencing")),
        ("Your mother is moving in. Does she need step-free access?", "yes, she's in a wheelchair",
         ("My mother needs step-free access", "My mother is in a wheelchair")),
        ("Is Priya still your manager?", "no, since jan it's Lorenz",
         ("Priya is no longer my manager", "My manager is Lorenz now")),
        ("Is Ana still your manager?", "no, Ben took over in May",
         ("Ana is no longer my manager", "My manager is Ben now")),
        ("Is Ana still your doctor?", "nope, Dr. van der Berg is now",
         ("Ana is no longer my doctor", "My doctor is Dr. van der Berg now")),
        ("Is Ana still your manager?", "no, I forgot who it is", ("Ana is no longer my manager",)),
        ("Is Ana still your manager?", "no, Something happened", ("Ana is no longer my manager",)),
        ("Why are you learning Danish?", "My in-laws live in Aarhus",
         ("I am learning Danish because my in-laws live in Aarhus", "My in-laws live in Aarhus")),
    ],
)  # fmt: skip
def test_a_reply_may_say_two_things(question: str, reply: str, statements: tuple[str, ...]) -> None:
    assert said(question, reply) == statements


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        # of the moment
        ("Should I book it?", "yes please"), ("Do you want me to send it?", "yes"), ("Does that make sense?", "yep"),
        ("Anything else?", "no that's it"), ("How are you today?", "tired"), ("Are you ready?", "yes"),
        ("Do you have a minute?", "yes"), ("Do you have any questions?", "no"), ("Did you sleep well?", "no"),
        ("What did you have for lunch?", "leftover soup"), ("Which file should I open?", "the second"),
        ("What do you think?", "great idea"), ("What do you need help with?", "my essay"),
        ("Is your code still failing?", "it is fixed, so go on"), ("Is that better?", "yes"),
        ("Which ticket should I use?", "318"), ("How's your mum?", "she's good!"), ("How is your week?", "busy"),
        # no answer
        ("Have you been running?", "define running"),
        ("Where do you live?", "why do you ask"), ("Where do you live?", "I'd rather not say"),
        ("Where do you live?", "not sure yet"), ("Where do you live?", "hm"), ("Where do you live?", "ask me later"),
        ("Where do you live?", "can we do that another time"), ("Where do you live?", "Sorry, my bus is here."),
        ("How old are you?", "a lady never tells"), ("Do you have kids?", "maybe"),
        ("Who is your boss?", "the same as before"),
        ("Where do you live?", "what?"), ("Do you have a will?", "that's a bit heavy before coffee"),
        # of nobody
        ("What frightens you about driving?", "My eyes."), ("What does the page say?", "It is about the dog."),
        ("What's the capital of Mongolia?", "Ulaanbaatar"), ("Is the light on the front blinking?", "yes"),
        ("Who decides on purchases there?", "Ingrid signs everything"),
        # of whom is in doubt
        ("Your mum called your aunt. Where does she live?", "Ottawa"), ("Where does he live?", "Ottawa"),
        # several questions
        ("Where do you live? Where do you work?", "Ottawa"),
    ],
)  # fmt: skip
def test_what_answers_nothing_says_nothing(question: str, reply: str) -> None:
    assert said(question, reply) == ()


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        # in play, in practice, in a story
        ("Imagine you are a pilot. Where do you fly?", "Tokyo"), ("Let's rehearse. Where do you live?", "1 Baker St"),
        ("What is your character's name?", "Thorgrim"), ("In this exercise, where do you work?", "at a bank"),
        ("For the demo, what's your name?", "John Doe"), ("As the detective, who do you suspect?", "the butler"),
        ("You enter the tavern. The barkeep looks up. What do you drink?", "mead"),
        ("Scene two. You're the ship's doctor. How long have you served aboard?", "eleven years"),
        ("*leans in* Tell me, where are you from?", "the northern wastes"),
        ("Where did you grow up, brave knight?", "in Camelot"), ("Do you play the lute, bard?", "aye"),
        ("What are you building?", "a hut in the game"), ("If you lived in Rome, what would you miss?", "my garden"),
        # in somebody else's words, and in lessons
        ("The letter ends with: do you have a family?", "no"), ("Now conjugate: where do you live?", "ich wohne hier"),
        ('How do you spell "necessary"?', "with one c"), ("What do you call a baby kangaroo?", "joey"),
        ("Try to answer in Spanish. What do you like to eat?", "me gusta el queso"),
        ("Where do you put the verb in a German clause?", "at the end"), ("What do you get if you add 3 and 4?", "7"),
        # the opposite of what it says, or of one occasion
        ("Do you exercise?", "oh sure, every day"), ("Do you like Mondays?", "yeah right"), ("Are you rich?", "I wish"),
        ("Are you using a virtual environment?", "yes for this one"), ("Do you even lift?", "every day"),
        # what nobody may know
        ("What is your password?", "hunter2"), ("What's your card number?", "4111 1111 1111 1111"),
        ("What are the last four digits of your card?", "9981"), ("Your PIN?", "1234"),
        # what was just done, and what is at hand
        ("What did you change?", "the Dockerfile"), ("What did you get?", "12.5"), ("Did you get my email?", "yes"),
        ("Have you eaten?", "yes"), ("Have you read the error message?", "yes"), ("Did you win?", "no, 3-1"),
        ("When did you last deploy?", "friday"), ("Do you have the receipt?", "yes"), ("Do you have a fever?", "no"),
        ("Is your computer on?", "yes"), ("Is your package damaged?", "yes"), ("Are you at home?", "yes"),
        ("Have you had a chance to look at the PR?", "no"), ("What's your order number?", "A-20991"),
        ("What's your final answer?", "B"), ("What's your move?", "e4"), ("How would you rate your stay?", "excellent"),
        ("What's your favorite?", "the blue one"), ("Which one is yours?", "the left"),
        ("Who took the notes?", "Ben"), ("When did the problem start?", "yesterday"),
        ("Where does the story take place?", "Prague"), ("Which door do you open?", "the left one"),
        # what points at something said before, or is whose who asks
        ("What do you use it for?", "billing"), ("What do you dislike about it?", "the ending"),
        ("What do you like about our product?", "the price"), ("Do you have an account with us?", "no"),
        ("What's your budget for this trip?", "about 500"), ("Should I always name it foo or bar?", "bar"),
        # a choice of the moment
        ("Truth or dare?", "truth"), ("Heads or tails?", "heads"), ("Do you prefer A or B?", "A"),
        ("Do you prefer the first or the second logo?", "second"), ("Would you rather fly or be invisible?", "fly"),
        ("Do you prefer the blue one or the green one?", "green"),
        ("Do you prefer Monday or Tuesday for the call?", "Tuesday"),
        # what would be no sentence
        ("What's the weather like where you are?", "rainy"), ("What is your gamer tag going to be?", "slayer"),
        ("What is your health at?", "12 HP"), ("Do you still have your motorbike?", "sold it"),
        ("Are your parents still alive?", "only my dad"),
    ],
)  # fmt: skip
def test_what_is_of_nobody_or_of_the_moment_says_nothing(question: str, reply: str) -> None:
    assert said(question, reply) == ()


@pytest.mark.parametrize(
    ("question", "reply", "whole"),
    [
        ("Where does your daughter go to school?", "St Anne's", "My daughter goes to school at St Anne's"),
        ("Where do you go on holiday?", "mostly Brittany", "I go mostly to Brittany on holiday"),
        ("What grade is your son in?", "4th", "My son is in 4th"),
        ("What did your father do?", "a miner", "My father was a miner"),
        ("What language should I answer in?", "Polish", "Answer in Polish"),
        ("How should I address you?", "as Dr. Lind", "Call me Dr. Lind"),
        ("What OS do you use?", "Arch btw", "I use Arch"),
        ("How much coffee do you drink?", "3 cups", "I drink 3 cups of coffee"),
        ("Where is your novel set?", "Lisbon", "My novel is set in Lisbon"),
        ("Are you married?", "yes, for ten years", "I have been married for ten years"),
        ("Have you got a garden?", "a small one", "I have a small garden"),
        ("Do you have a cat?", "yes, two", "I have two cats"),
        ("Does your son have any allergies?", "yes, eggs", "My son is allergic to eggs"),
        ("Do you have any allergies?", "only to cats", "I am allergic only to cats"),
        ("Is your wife from Spain too?", "no", "My wife is not from Spain"),
        ("What's your favourite season, by the way?", "autumn", "My favourite season is autumn"),
        # what looks like something of the moment, and is not
        ("Do you live in the US?", "yes", "I live in the US"), ("Did you like school?", "no", "I did not like school"),
        ("Have you ever seen the sea?", "no", "I have never seen the sea"),
        ("What's your credit score?", "720", "My credit score is 720"),
        ("When is your move?", "3 May", "My move is on 3 May"),
        ("I can imagine! How long have you been playing the piano?", "2 years",
         "I have been playing the piano for 2 years"),
        ("It would help if you could tell me: where do you live?", "Ottawa", "I live in Ottawa"),
        ("I'll make you a mock exam. What do you study?", "law", "I study law"),
        ("I ask because of the dosage, do you take blood thinners?", "yes", "I take blood thinners"),
    ],
)  # fmt: skip
def test_a_reply_is_put_in_plain_english(question: str, reply: str, whole: str) -> None:
    assert said(question, reply) == (whole,)


@pytest.mark.parametrize(
    ("question", "reply", "never"),
    [
        ("Does your husband enjoy whisky?", "he doesn't drink at all", "I "),
        ("Do you do yoga?", "I do pilates", "yoga"),
        ("What does your sister do?", "She's a nurse.", "I am"),
        ("How old is your niece?", "turns 9 in may", "I "),
    ],
)
def test_nobody_is_told_what_another_is_asked_about(question: str, reply: str, never: str) -> None:
    assert not any(never in one for one in said(question, reply))


def event(content: str, role: str = "user", position: int | None = None) -> Event:
    kind = "user_message" if role == "user" else "assistant_message"
    return Event(
        event_id=f"{role}-1", stream_id="s", position=position or (2 if role == "user" else 1),
        role=role, event_type=kind,  # type: ignore[arg-type]
        trust="user", content=content, payload={}, metadata={}, occurred_at=NOON, recorded_at=NOON, session_id=None,
        task_run_id=None, actor=None, erased=False, hash="",
    )  # fmt: skip


def test_a_fact_names_the_characters_of_the_answer_and_of_the_question() -> None:
    question, reply = "Welcome! Where do you live?", "Ottawa. I like it there."
    first, *_ = rules.derive(event(reply), preceding=[event(question, "assistant")])
    assert first.fact == "User lives in Ottawa"
    assert reply[first.char_start : first.char_end] == "Ottawa."
    assert [(one, question[start:end]) for one, start, end in first.beside] == [("assistant-1", "Where do you live?")]
    assert rules.derive(event(reply)) == ()


def test_a_question_that_asks_for_no_memory_is_answered_with_none() -> None:
    assert rules.derive(event("Ottawa"), preceding=[event("#nomem Where do you live?", "assistant")]) == ()


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_two_texts_are_read_without_an_error(question: str, reply: str) -> None:
    for one in (question, f"Do you {question}?", f"What {question}?", f"Should I {question} or {reply}?"):
        assert all(isinstance(told, str) and told for told in said(one, reply))


def test_questions_of_any_shape_take_no_time() -> None:
    """No expression goes back and forth over a long clause: the whole list is read as fast as it is long."""
    words = "what where or and your you, do is the a in on to by which who not have any "
    for reply in ("yes, two", "coffee or tea or both", "a " * 15, "no " * 15):
        for at in range(60):
            said((words[at:] + words)[:195] + "?", reply)


def test_what_the_user_said_before_makes_no_play_earnest() -> None:
    """It tells whom the question is about, and nothing else: a question of a game stays one."""
    earlier, reply = event("My sister came by.", position=1), event("Ottawa", position=3)
    for lead, asked, told in (
        ("Let's role-play a job interview.", "Where do you live?", []),
        ("Let's role-play a job interview.", "Where does she live?", []),
        ("How nice.", "Where does she live?", ["User's sister lives in Ottawa"]),
        ("Say hello to your mum and your aunt.", "Where does she live?", []),
    ):
        question = event(f"{lead} {asked}", "assistant", position=2)
        assert [one.fact for one in rules.derive(reply, preceding=[question, earlier])] == told
