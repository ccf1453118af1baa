"""Memory behaviour: lives of the benchmark above a floor, and what points at what was said before."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engram import Engram
from engram.ids import new_id

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import asked
import behaviour
import remarks
import worth
from histories import BANKS, lives

LIVES = 1  # of each bank; the same for everybody
REMARKS = 12  # to one life of each bank
LEAST = {
    "open": {
        "current_state": 0.9,
        "update_capture": 0.9,
        "no_op": 0.9,
        "retraction": 0.9,
        "time": 0.9,
        "abstention": 0.9,
    },
    "held_out": {"current_state": 0.6, "update_capture": 0.8, "no_op": 0.9, "retraction": 0.9, "time": 0.9},
    "fresh": {"current_state": 0.6, "update_capture": 0.4, "no_op": 0.5, "retraction": 0.9, "time": 0.7},
    "unseen": {"current_state": 0.6, "update_capture": 0.4, "no_op": 0.3, "retraction": 0.9, "abstention": 0.9},
    "practice": {"current_state": 0.9, "update_capture": 0.6, "no_op": 0.9, "retraction": 0.9, "time": 0.7},
    "casual": {"current_state": 0.6, "update_capture": 0.5, "time": 0.6, "remembered": 0.5},
    "blind": {"current_state": 0.2, "update_capture": 0.2, "no_op": 0.6, "time": 0.5, "remembered": 0.5},
    "voices": {"current_state": 0.5, "update_capture": 0.5, "abstention": 0.6, "remembered": 0.5},
    "sealed": {"current_state": 0.4, "update_capture": 0.3, "abstention": 0.6, "remembered": 0.5},
    "stranger": {"current_state": 0.4, "update_capture": 0.4, "abstention": 0.6},
    "newcomer": {"current_state": 0.7, "update_capture": 0.6, "abstention": 0.6},
    "regular": {"current_state": 0.5, "update_capture": 0.5, "abstention": 0.6},
    "visitor": {"current_state": 0.3, "update_capture": 0.2, "abstention": 0.6},
}


@pytest.fixture
def engram(database_url: str) -> Iterator[Engram]:
    with Engram(database_url) as one:
        yield one


@pytest.mark.parametrize("bank", BANKS)
def test_a_few_lives_are_remembered_above_the_floor(engram: Engram, bank: str) -> None:
    found = behaviour.run(engram, lives(BANKS[bank], LIVES))
    shares = {score: found.share(score) for score in behaviour.SCORES}
    assert all(shares[score] >= least for score, least in LEAST[bank].items()), (shares, found.notes)
    assert shares["remembered"] >= LEAST[bank].get("remembered", 1), found.notes
    assert found.hits["false_supersession"] == 0, found.notes


ROME, REX = "I live in Rome.", "I have a dog called Rex."


def test_what_a_remark_puts_away_is_counted_by_what_it_ends(engram: Engram) -> None:
    said = [
        remarks.Remark("I moved to Oslo.", frozenset()),  # as if that ended nothing
        remarks.Remark("I moved to Bern.", frozenset({ROME}), ("bern",)),
        remarks.Remark("It rains today.", frozenset({REX}), ("rain",)),  # as if that ended something
        remarks.Remark("I live in Rome, near the river.", frozenset()),
    ]
    asks = {ROME: "Where do I live?", REX: "What is my dog called?"}
    found = remarks.run(engram, [remarks.Life("one", (ROME, REX, "Good morning!"), tuple(said), asks)])
    counted = dict(zip(remarks.COLUMNS[1:], found.row, strict=True))
    assert counted == {
        "lives": 1, "facts": 3, "with a memory": 2, "remarks": 4, "that lost a fact": 1, "facts lost": 1,
        "facts ended": 2, "and put away": 1, "asked about": 2, "and told": 1, "that end nothing": 2,
        "and told of another": 0,
    }  # fmt: skip
    assert [note.split(maxsplit=1)[0] for note in found.notes] == ["lost", "kept", "silent"]


def test_a_question_is_answered_by_its_fact_or_by_another_or_not(engram: Engram) -> None:
    one = remarks.Life("one", (ROME, REX), (), {ROME: "Where do I live?", REX: "Where do I live, please?"})
    two = remarks.Life("two", (cello := "I play the cello.",), (), {cello: "Where do I live?"})
    found = remarks.ask(engram, [one, two])
    assert dict(zip(remarks.ASKED[1:], found.row, strict=True)) == {
        "questions": 3, "answered by their fact": 1, "by another": 1, "not answered": 1, "asked of another life": 3,
        "and answered there": 1,
    }  # fmt: skip
    assert len(found.notes) == 2


def test_what_is_kept_of_a_conversation_is_counted_by_what_is_worth_it(engram: Engram) -> None:
    turns = (
        worth.Turn("user", "I live in Rome and work as a nurse.", (("Rome",), ("nurse",))),
        worth.Turn("assistant", "And where do you work in Rome?"),
        worth.Turn("user", "Thanks! I have a dog called Rex.", ()),  # as if that were worth nothing
        worth.Turn("user", "That was lovely.", ()),
    )
    found = worth.run(engram, [worth.Conversation("one", turns)])
    assert {way: tally.row for way, tally in found.items()} == {
        "by rules": (3, 2, 1, 3, 1, 33, 2, 2, 100),
        "every sentence": (3, 2, 2, 4, 3, 75, 2, 2, 100),
        "every message": (3, 2, 2, 3, 2, 67, 2, 2, 100),
    }


@pytest.mark.parametrize("bank", worth.BANKS)
def test_more_is_kept_than_left_out_and_most_of_it_is_worth_it(engram: Engram, bank: str) -> None:
    tally = worth.run(engram, worth.read(worth.bank(bank))[:2])["by rules"]
    notes = [] if bank in worth.SEALED else tally.notes
    facts, kept, memories, junk = tally.facts, tally.kept, tally.memories, tally.junk  # no failure shows a sealed line
    assert kept >= 0.4 * facts, notes
    assert junk <= 0.5 * memories, notes


def test_a_fact_is_told_by_words_of_its_message(tmp_path: Path) -> None:
    turns = [{"role": "user", "text": "I live in Rome.", "keep": [["Oslo"]]}]
    (path := tmp_path / "one_worth.json").write_text(json.dumps([{"name": "one", "turns": turns}]))
    with pytest.raises(ValueError, match="Oslo"):
        worth.read(path)


@pytest.mark.parametrize("bank", asked.BANKS)
def test_an_answer_in_a_word_is_kept_by_its_question(engram: Engram, bank: str) -> None:
    both, alone = asked.run(engram, asked.read(asked.SUITE.bank(bank))[:40]).values()
    notes = [] if bank in asked.SEALED else both.notes
    facts, kept, kept_alone, wrong = both.facts, both.kept, alone.kept, both.wrong  # no failure shows a sealed line
    assert kept >= max(0.4 * facts, 1.5 * kept_alone), notes
    assert wrong == 0, notes


@pytest.mark.parametrize(("bank", "least"), [("daily", 0.8), ("plain", 0.8), ("office", 0.4), ("trade", 0.2)])
def test_questions_are_answered_by_what_they_are_about(engram: Engram, bank: str, least: float) -> None:
    lives = sorted(remarks.read(remarks.bank(bank)), key=lambda one: one.name)[:2]
    found = remarks.ask(engram, lives)
    assert found.right >= least * found.questions, found.notes
    assert found.told_there <= 0.5 * found.elsewhere


@pytest.mark.parametrize("bank", remarks.BANKS)
def test_ordinary_remarks_put_away_next_to_nothing(engram: Engram, bank: str) -> None:
    life = min(remarks.read(remarks.bank(bank)), key=lambda one: len(one.facts))
    found = remarks.run(engram, [replace(life, remarks=life.remarks[:REMARKS])])
    assert found.remembered >= (0.4 if bank in ("office", "trade") else 0.7) * found.facts
    assert found.losing <= 1, found.notes


def test_an_answer_tells_what_it_says_as_a_word_or_a_number() -> None:
    assert remarks.tells("Said since, 2025-05-13: on ING now", ("ing",))
    assert not remarks.tells("Said since, 2025-05-13: I was banking", ("ing",))
    assert not remarks.tells("Said since, 2025-05-13: 130 of them", ("13",))


def test_a_remark_ends_only_what_was_told(tmp_path: Path) -> None:
    life = {"name": "one", "facts": [ROME], "remarks": [{"said": "Rex died.", "ends": [REX]}]}
    (tmp_path / "bank.json").write_text(json.dumps({"lives": [life]}), encoding="utf-8")
    with pytest.raises(ValueError, match="one: expected facts of the life, found"):
        remarks.read(tmp_path / "bank.json")


def test_lives_are_the_same_every_time() -> None:
    assert list(lives(BANKS["open"], 3)) == list(lives(BANKS["open"], 3))
    assert list(lives(BANKS["open"], 1)) != list(lives(BANKS["open"], 1, seed=7))


def test_results_for_a_folder_that_is_not_there_are_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(behaviour, "address", lambda *_: pytest.fail("it ran"))
    monkeypatch.setattr(sys, "argv", ["behaviour.py", "--json", str(tmp_path / "missing" / "found.json")])
    with pytest.raises(SystemExit) as left:
        behaviour.main()
    assert left.value.code == 2
    assert "--json: there is no folder" in capsys.readouterr().err


def told(engram: Engram, *said: str) -> Engram:
    door = engram.scoped(tenant_id=f"t-{new_id()}", user_id="ada")
    for one in said:
        door.remember(one, wait=30.0)
    return door


def test_a_correction_changes_the_value_it_names_and_nothing_else(engram: Engram) -> None:
    door = told(
        engram,
        "My favourite colour is indigo.",
        "My favourite film is Heat.",
        "No, it's violet, not indigo.",
        "No, it's raining, not snowing.",
    )
    assert door.recall("What is my favourite colour?").answer_text == "User's favourite colour is violet"
    assert door.recall("What is my favourite film?").answer_text == "User's favourite film is Heat"
    assert not [one for one in door.list_memories() if "raining" in one.fact and one.category != "verbatim"]


def test_going_back_to_a_value_makes_it_current_again(engram: Engram) -> None:
    door = told(engram, "My editor is Vim.", "I switched from Vim to Emacs.", "I switched back to Vim.")
    answer = door.recall("Which editor do I use?")
    assert answer.answer_text == "User's editor is Vim"
    assert [one.fact for one in answer.previous][:1] == ["User's editor is Emacs"]


def test_what_is_no_longer_used_or_to_be_forgotten_is_not_told_as_current(engram: Engram) -> None:
    door = told(
        engram,
        "My browser is Opera.",
        "My phone number is 555-0101.",
        "My sister uses Opera.",
        "I don't use Opera anymore.",
        "Forget my phone number.",
    )
    assert door.recall("Which browser do I use?").answer_text == "User does not use Opera anymore"
    assert "555-0101" not in door.recall("What is my phone number?").answer_text
    assert [one.fact for one in door.list_memories() if "sister" in one.fact and one.category != "verbatim"]


def test_an_editor_known_by_its_name_stands_beside_another_until_one_takes_its_place(engram: Engram) -> None:
    door = told(engram, "I use Vim.", "I use VS Code.")
    assert now_told(door) == ["User uses VS Code", "User uses Vim"]
    door.remember("I switched from Vim to Zed.", wait=30.0)
    assert door.recall("Which editor do I use?").answer_text == "User's editor is Zed"
    assert door.recall("Which editor did I use before Zed?").answer_text == "User uses Vim"


def test_who_is_what_is_asked_for_is_told_though_the_fact_is_of_somebody_else(engram: Engram) -> None:
    door = told(engram, "Priya is our designer and Tom does the frontend.", "Dana is my sister's dance teacher.")
    assert door.recall("Who is our designer?").answer_text == "Priya is User's designer"
    assert not door.recall("Who is my dance teacher?").found


def now_told(door: Engram) -> list[str]:
    return sorted(one.fact for one in door.list_memories() if one.category != "verbatim")


def test_what_has_no_key_is_ended_by_its_words_and_its_past_is_kept(engram: Engram) -> None:
    door = told(engram, "I'm learning the cello.", "My aunt is learning the cello.", "I've packed in the cello.")
    assert now_told(door) == ["User has packed in the cello", "User's aunt is learning the cello"]
    ended = next(one for one in door.list_memories() if "packed" in one.fact and one.category != "verbatim")
    line = door.get_lineage(ended.memory_id)
    assert [one.fact for one in line.revisions if one.memory_id != ended.memory_id] == ["User is learning the cello"]


def test_what_has_no_key_is_told_anew_with_what_came_and_again_with_what_was(engram: Engram) -> None:
    door = told(engram, "I drink espresso in the morning.", "I've gone from espresso to chai in the morning.")
    assert now_told(door) == ["User drinks chai in the morning"]
    door.remember("I drink cocoa in the morning these days.", wait=30.0)
    assert now_told(door) == ["User drinks cocoa in the morning these days"]
    door.remember("I drink chai in the morning again.", wait=30.0)
    assert now_told(door) == ["User drinks chai in the morning again"]


def test_an_end_and_a_change_within_one_message_follow_what_it_began_with(engram: Engram) -> None:
    door = told(engram, "I run with the Owls. I swapped the Owls for the Larks. I've quit the Larks.")
    assert now_told(door) == ["User has quit the Larks"]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (("I'm on Giffon for my mobile.", "Giffon and me, that's finished."), ["Giffon and User, that's finished"]),
        (("They gave me locker 208.", "I told you 208, but it's 417."), ["They gave User locker 417"]),
        (("My weight is 78 kilos.", "No, I misread the scales, it's 69 kilos."), ["User's weight is 69 kilos"]),
        (("I have the locker 208.", "My locker is still 208."), ["User has the locker 208"]),
        (
            ("I go to bed at ten.", "I turn in at nine now, not ten.", "I go to bed at ten again."),
            ["User goes to bed at ten again"],
        ),
        (
            ("Branka cleans for me.", "Branka cleans for my aunt."),
            ["Branka cleans for User", "Branka cleans for User's aunt"],
        ),
        (
            ("I take the Herald.", "I've taken my custom from the Herald over to the Courier."),
            ["User takes the Courier"],
        ),
    ],
)
def test_a_value_told_before_is_known_in_other_words(engram: Engram, said: tuple[str, ...], left: list[str]) -> None:
    assert now_told(told(engram, *said)) == left


@pytest.mark.parametrize(
    "said",
    [
        ("My gym is FitX.", "My gym is McFit now.", "I saw an ad of FitX again."),
        ("My dentist is Dr. Bell.", "My dentist is Dr. Hart now.", "I ran into Dr. Bell again."),
        ("I go to bed at ten.", "I go to bed at eleven now.", "The train was at ten again."),
    ],
)
def test_a_value_that_is_met_with_again_has_not_come_back(engram: Engram, said: tuple[str, ...]) -> None:
    assert set(now_told(told(engram, *said[:2]))) <= set(now_told(told(engram, *said)))


def test_where_two_memories_may_be_meant_as_well_neither_is_displaced(engram: Engram) -> None:
    door = told(engram, "They gave me locker 208.", "They gave me locker 417.", "They moved me to locker 519.")
    assert {"They gave User locker 208", "They gave User locker 417"} <= set(now_told(door))


@pytest.mark.parametrize("said", ["iPhone 15", "CPU now 95%", "timeout = 30", "Total: 42", "Attendees: Ben"])
def test_a_label_that_is_of_nobody_is_no_thing_of_the_user(engram: Engram, said: str) -> None:
    assert now_told(told(engram, said)) == []


@pytest.mark.parametrize(
    "said",
    [
        ("I pay 900 euros rent.", "I paid 45 euros for new shoes."),
        ("I drive a Leaf.", "I lost the keys of the Leaf."),
        ("I drive a Leaf.", "I sold the tyres of the Leaf."),
        ("My dentist is Dr. Bell.", "I left my umbrella with Dr. Bell."),
        ("My doctor is Dr. Amsel.", "The appointment with Dr. Amsel is over."),
        ("I play for the Owls.", "The game with the Owls is over, we lost."),
        ("I live with Tom.", "Tom is done with school."),
        ("I bank with Barclays.", "I've lost my Barclays card."),
        ("I use Spotify.", "I no longer get ads on Spotify."),
        ("I work at Siltec.", "I no longer drive to Siltec."),
        ("I work at Siltec.", "I don't work weekends at Siltec any more."),
        ("I take Ramipril.", "I no longer take Ramipril in the evening."),
        ("I take Ramipril.", "I took Ibuprofen instead of Ramipril by mistake."),
        ("I go to the gym FitX.", "I went to McFit, not FitX."),
        ("I go to the pharmacy Linden.", "The pharmacy Linden was closed, so I went to Apollo."),
        ("I take the U4 to work.", "The U4 was out, so I took the U6."),
        ("My doctor is Dr. Bell.", "Dr. Bell was not there, Dr. Hart was."),
        ("I work at Siltec.", "Siltec has moved to Linz."),
        ("I play for the Larks.", "The Hawks replaced the Larks in the first league."),
        ("I play for the Larks.", "The Hawks have replaced the Larks in the first league."),
        ("I fly from Vienna.", "The flight goes from Vienna to Rome now."),
        ("My flight is LH123.", "My return flight is LH456."),
        ("My laptop is a ThinkPad.", "My work laptop is a MacBook now."),
        ("My insurance is with Allianz.", "My travel insurance is with Axa now."),
        ("My score in chess is 1200.", "My score in go is 800 now."),
        ("I weigh 78 kilos.", "I bought 2 kilos of new potatoes."),
        ("My goal is 70 kilos.", "I'm at 78 kilos now."),
        ("My rent is 900 euros.", "My new sofa cost 700 euros."),
        ("I wake up at 7 am.", "My new shift starts at 9 am."),
        ("I wake at six.", "I wake my son at seven now."),
        ("I pay Tom 20 euros a week.", "I pay Lena 30 euros a week now."),
        ("I joined the choir Vocalis.", "I joined the choir Melos."),
        ("My therapist is Nora.", "I cancelled my session with Nora."),
        ("My order is from Amazon.", "My new order is from Zalando."),
        ("My doctor is Dr. Bell.", "I cancelled lunch with Dr. Bell."),
        ("I take the bus 38.", "Bus now 5 minutes late."),
        ("My bank is Monzo.", "My card from Monzo has expired."),
        ("My vet is Dr. Kern.", "It was Dr. Maier who called, not Dr. Kern."),
        ("I work at Siltec.", "I no longer eat at Siltec."),
        ("My bank is Monzo.", "I left my umbrella at Monzo."),
        ("My dentist is Dr. Bell.", "Dr. Bell changed my filling, not Dr. Hart."),
        ("My pharmacy is Rowe.", "My neighbour works in the pharmacy Mercury now."),
        ("My car is a Leaf.", "Ben sold his Leaf and drives a Yaris now."),
        ("I take the Herald.", "I quit reading the Herald on Sundays."),
        ("I live in Graz.", "My office is in Linz now."),
        ("I play for the Owls.", "The Owls lost to the Hawks."),
        ("My friend is Anna.", "My friend is Ben.", "My friend is Carl now."),
        ("My tortoise is Speedy.", "My tortoise is Shelly."),
        ("My colleague is Olga.", "My colleague is Tariq."),
        ("My bestie is Kay.", "My bestie is Lou."),
        ("I speak Portuguese.", "I speak Hindi now.", "I've dropped Italian."),
        ("I have a dog called Rex.", "I've stopped walking Rex at night."),
        ("I'm a member of the Owls.", "My brother left the Owls.", "I might leave the Owls.", "Did I quit the Owls?"),
        ("I'm a member of the Owls.", 'Ben said: "I quit the Owls."', "If I quit the Owls, I would run alone."),
        ("I work in the library.", "I left my umbrella in the library.", "I've finished the book from the library."),
        ("I love sushi.", "I love opera now.", "I've had enough sushi for today."),
        ("I play chess on Fridays.", "I've finished chess for today.", "I lost at chess.", "I lost to Kim at chess."),
        ("I work at the bakery.", "I stopped by the bakery.", "I'm off to the bakery.", "I've closed the bakery."),
        ("I subscribe to the Guardian.", "I swapped the Guardian for the Times on the train today."),
        ("I practise yoga with Mina.", "I've cancelled yoga with Mina this week.", "I quit yoga with Ben."),
        ("I bank with Monzo.", "I moved money from Monzo to Revolut."),
        ("I commute by bike.", "I went from the bike to the shower."),
        ("I work in Berlin.", "I moved from Berlin to Hamburg as a child."),
        ("I drink coffee in the morning.", "I gave up coffee for Lent.", "I'm out of coffee."),
        ("I work night shifts at the hospital.", "I swapped night shifts with Mina."),
        ("I grow tomatoes on the balcony.", "I grow basil on the balcony now."),
        ("I take Veratin in the morning.", "I take Lisinol in the morning now."),
        ("I call my mum on Sundays.", "I call my dad on Sundays now."),
        ("My desk is next to the window.", "My chair is next to the window now."),
        ("I donate to Oxfam every month.", "I donate to Unicef every month now."),
        ("I do yoga with Mina.", "Bye Mina, hello Ben.", "Mina let me go home early.", "The yoga video is gone."),
        ("I like Berlin.", "Goodbye Berlin, hello Ibiza!", "No more Berlin for today."),
        ("I live in Graz.", "Goodbye Graz, hello Ibiza!", "Graz, not Linz, has the better trams."),
        ("I live in Porto.", "My office is in Lisbon, not Porto."),
        ("I'm dating a doctor.", "I'm a nurse, not a doctor."),
        ("My piano teacher is Anna.", "My violin teacher is Ben, not Anna."),
        ("I have a boat in Kiel.", "My boat is a Bavaria now."),
        ("I work at Siltec.", "I joined the Red Cross.", "New question: is Ostra hiring?", "Her new job: nurse."),
        ("I drive a Berlingo.", "The Berlingo is gone for the weekend.", "I parked the Berlingo on Friday."),
        (
            "I drink chai in the morning.",
            "I ordered chai at the station, it was too sweet.",
            "I never drink chai at night.",
        ),
    ],
)
def test_what_nobody_said_has_ended_stays(engram: Engram, said: tuple[str, ...]) -> None:
    door = told(engram, said[0])
    first = now_told(door)
    for one in said[1:]:
        door.remember(one, wait=30.0)
    assert set(first) <= set(now_told(door))
    if said[1].startswith(said[0].split(" is ")[0] + " is "):
        assert len(now_told(door)) >= 2
