"""What becomes of facts that change: what ends them, what takes their place, what stays beside, and what was then."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from engram import Engram
from engram.ids import new_id

BEGIN: Final = datetime(2024, 1, 9, tzinfo=UTC)
STEP: Final = timedelta(days=95)

# First what was so, then what ends it.
ENDED: Final = (
    "I work at Tesco. | Tesco fired me.",
    "I work at Tesco. | Tesco let me go.",
    "I work at Tesco. | I was sacked by Tesco.",
    "I work at Tesco. | I got made redundant at Tesco.",
    "I'm dating Anna. | Anna dumped me.",
    "I'm married to Anna. | Anna and I got divorced.",
    "I'm engaged to Anna. | Anna and I called off the engagement.",
    "I have a dog named Rex. | Rex died last night.",
    "I'm working on the Acme project. | The Acme project has been cancelled.",
    "I take sertraline every evening. | My doctor took me off sertraline.",
    "I take cello lessons. | I've had my last cello lesson.",
    "I play the cello. | I haven't played the cello in years.",
    "I use Duolingo every day. | I don't use Duolingo.",
    "I'm on sertraline. | I don't take sertraline these days.",
    "I write a blog. | I shut down my blog.",
    "I have a Facebook account. | I deactivated my Facebook account.",
    "I do pottery on Sundays. | I've lost interest in pottery.",
    "I practise meditation daily. | I fell out of the habit of meditation.",
    "I sing in the choir. | I bowed out of the choir.",
    "I have a fever. | My fever is gone.",
    "I wear braces. | My braces came off.",
    "I drive a Honda. | I gave my Honda to my nephew.",
    "I drive a Honda. | The Honda got stolen.",
    "I'm a cashier at Tesco. | Tesco fired me.",
    "I'm dating Anna. | I'm single again.",
    "My girlfriend is Anna. | Anna dumped me.",
    "I collect Lego. | Forget what I said about Lego.",
    "I love Blur. | Scrap what I said about Blur.",
    "I play football. | I don't play football.",
    "I eat meat. | I stopped eating meat.",
    "I live in Leeds. | I moved out of Leeds.",
    "I sleep in the attic. | I moved out of the attic.",
    "I speak French at work. | I no longer speak French at work.",
    "I'm allergic to peanuts. | I'm not allergic to peanuts after all.",
    "My favourite colour is blue. | Blue isn't my favourite colour at all.",
    "I work at Tesco. | I don't work at Tesco anymore because they fired me.",
    "I live in Rome. | I don't live in Rome because I've moved away.",
    "I live in Rome. | Since I moved to Oslo I don't live in Rome anymore.",
    "I'm allergic to nuts. | I'm not allergic to nuts, just peanuts.",
    "I live in Rome. | I no longer live in Rome, just to be clear.",
    "I'm allergic to nuts. | I'm not at all allergic to nuts.",
    "I'm allergic to nuts. | I'm not allergic to nuts any longer.",
    "I live in Rome. | I don't live in Rome, just near it.",
    "My laptop is a ThinkPad. | My laptop isn't a ThinkPad, it's Monday.",
)
# What was so, what is said of it, the value that is gone, and the one that came.
CHANGED: Final = (
    "I live in Rome. | I don't live in Rome because I moved to Oslo. | Rome | Oslo",
    "I live in Rome. | I no longer live in Rome, since I've moved to Oslo. | Rome | Oslo",
    "I live in Rome. | I don't live in Rome anymore as we moved to Oslo; it rains there. | Rome | Oslo",
    "I work at Tesco. | I don't work at Tesco because I joined Aldi. | Tesco | Aldi",
    "I live in Rome. | I live in Oslo, not in Rome, just for work. | Rome | Oslo",
    "I take sertraline. | My doctor switched me from sertraline to fluoxetine. | sertraline | fluoxetine",
    "My favourite team is Arsenal. | I've switched my favourite team to Chelsea. | Arsenal | Chelsea",
    "My favourite band is Blur. | Ran is still my favourite band, of course. | Blur | Ran",
    "My favourite band is Blur. | I mixed them up: my favourite band is Ran. | Blur | Ran",
    "My surname is Alder. | I made a typo: my surname is Adler. | Alder | Adler",
    "I'm based in Bristol. | Leeds is home now. | Bristol | Leeds",
    "I'm employed at Tesco. | I left Tesco to join Aldi. | Tesco | Aldi",
    "I shoot with a Nikon. | I sold the Nikon and shoot with a Fuji now. | Nikon | Fuji",
    "I get up at 7 every day. | I get up at 6 every day now. | 7 | 6",
    "My son is 12. | My son is 14 now. | 12 | 14",
    "I have three cats. | I have two cats now. | three | two",
    "My bedroom is painted green. | My bedroom is painted blue now. | green | blue",
    "I work at Tesco. | Today was my first day at Aldi. | Tesco | Aldi",
    "I work at Tesco. | Started my new job at Aldi. | Tesco | Aldi",
    "My best friend is Omar. | My best friend is Nina now. | Omar | Nina",
    "My team uses Jira. | My team switched from Jira to Linear. | Jira | Linear",
    "My laptop is a ThinkPad. | My laptop is not a ThinkPad, it's a MacBook. | ThinkPad | MacBook",
    "I work at Siemens. | Siemens isn't my employer anymore, it's Bosch. | Siemens | Bosch",
    "My favourite team is Arsenal. | Chelsea's my favourite team now. | Arsenal | Chelsea is",
    "My birthday is May 3. | Oops, I meant my birthday is May 4. | May 3 | May 4",
)
# What was said over time, a question, and words of its answer.
ASKED: Final = (
    "I live in Bristol. | I moved to Leeds. | I moved to York. | Where did I live before Leeds? | Bristol",
    "I live in Bristol. | I moved to Leeds. | Since when do I live in Leeds? | Since 2024-04-13: User moved to Leeds",
    "My manager is Anna. | My manager is Rosa now. | How long has Rosa been my manager? | Since 2024-04-13: User",
    "I'm vegetarian. | I'm vegan now. | What was my diet in March 2024? | User is vegetarian",
    "My manager is Anna. | My manager is Rosa now. | Who was I reporting to in March 2024? | User's manager is Anna",
    "My manager is Anna. | My manager is Rosa now. | Who was my boss before Rosa? | User's manager is Anna",
    "I go to Dr. Whitby, that's my dentist. | My dentist is Dr. Moreau. | Who was my dentist in March 2024? | Whitby",
    "I live in Bristol. | I moved to Leeds. | Where was home in March 2024? | Bristol",
    "I work at Tesco. | I work at Aldi now. | What was my last employer? | User works at Tesco",
)
# Two statements that may both be so, or of which the second says nothing of the first.
BESIDE: Final = (
    "I live in Rome. | I don't live in Rome because I like it.",
    "I live in Rome. | I don't live in Rome because I want to move to Oslo.",
    "I live in Rome. | I don't live in Rome because I moved to Rome for work.",
    "I live in Rome. | I don't live in Rome because I moved jobs.",
    "I live in Rome. | I don't live in Rome because I moved to Oslo but because I was born there.",
    "I live in Rome. | Anna says I don't live in Rome because I moved to Oslo.",
    "I live in Rome. | I don't live in Rome because I moved to a vegan diet.",
    "I'm allergic to peanuts. | I'm not allergic to nuts, just peanuts.",
    "I'm allergic to nuts. | I'm not allergic to nuts, just a bit.",
    "I live in Rome. | I don't live in Rome, only in summer.",
    "I live in Rome. | I don't live in Rome in winter.",
    "I live in Rome. | I don't live in Rome by choice.",
    "I live in Rome. | I don't live in Rome for the weather.",
    "My favourite food is pizza. | My favourite food isn't always pizza.",
    "I live in Rome. | I don't live in Rome all year round.",
    "I live in Rome. | I no longer live in Rome full-time.",
    "I live in Rome. | I don't live in Rome as much since the baby.",
    "I live in Rome. | I haven't lived in Rome for long.",
    "I'm allergic to nuts. | I'm not severely allergic to nuts.",
    "I'm allergic to nuts. | I'm not that allergic to nuts.",
    "I'm allergic to nuts. | I'm not allergic to all nuts.",
    "I'm allergic to nuts. | I don't have a severe nut allergy.",
    "I eat meat. | I don't eat meat, just on Sundays.",
    "I eat meat. | I don't eat meat, only organic meat.",
    "I eat meat. | I don't just eat meat, only mostly.",
    "I drink tea. | I don't drink coffee anymore, only tea.",
    "I drink coffee. | I don't drink coffee, only a little.",
    "I drink wine. | I don't drink wine, only red.",
    "I play tennis. | I don't play tennis, only doubles.",
    "I eat meat. | I don't eat meat, just special occasions.",
    "I read books. | I don't read books, only novels.",
    "I own a car. | I don't own a car, just a Tesla.",
    "I smoke. | I don't smoke, only cigars.",
    "I drive to work. | I'm not driving today.",
    "I work at Siemens. | I'm not working at Siemens this week.",
    "I live with my parents. | I'm not living with my parents forever.",
    "I like dogs more than cats. | I don't like cats.",
    "I use Vim. | I don't just use Vim.",
    "I'm a nurse. | I'm not just a nurse.",
    "My hometown is Rome. | My hometown is not just Rome.",
    "I'm a teacher. | I'm not only a teacher but also a painter.",
    "I'm a teacher. | I'm more than a teacher.",
    "I'm allergic to peanuts. | I'm not only allergic to peanuts.",
    "I eat meat. | I don't eat just meat.",
    "I work at Siemens. | I don't work at Siemens because of the money.",
    "I have an idea. | I have no idea.",
    "I play the piano. | I stopped taking piano lessons.",
    "I speak Greek. | I quit my Greek lessons.",
    "I live in Oslo. | I left Oslo yesterday.",
    "I go to the gym every day. | I left the gym yesterday.",
    "I live in Oslo. | I live in Turin. Just kidding!",
    "I live in Oslo. | People think I live in Turin but I don't.",
    "I live in Oslo with Anna. | Anna moved to Turin.",
    "I work at Siemens. | Siemens fired 500 people.",
    "I work at Siemens. | I work out at FitX now.",
    "My favourite team is Arsenal. | Chelsea is Anna's favourite team now.",
    "My favourite team is Arsenal. | Chelsea is the favourite now.",
    "My dentist is Dr. Kim. | Dr. Lee is Anna's dentist now.",
    "My dentist is Dr. Kim. | Anna's the new dentist.",
    "I prefer trains to planes. | I don't like planes.",
    "I like dogs. | I don't like all dogs.",
    "I eat meat. | I don't eat meat every day.",
    "I play tennis and chess. | I no longer play chess.",
    "I take metformin and ramipril. | I stopped taking ramipril.",
    "I use Slack and Teams. | I stopped using Teams.",
    "I commute by bike. | I left my bike and took the bus.",
    "I commute by bike. | I left my bike at home and took the bus today.",
    "I use Notion for my notes. | I closed Notion.",
    "I use Notion. | I closed Notion and opened Slack.",
    "I work with Kim. | I work with Lou now.",
    "I'm a fan of Arsenal. | I'm a fan of the Celtics now.",
    "I like jazz. | I like folk now.",
    "I listen to jazz. | I listen to folk now too.",
    "I speak Spanish. | I'm learning Italian now.",
    "My friend is Anna. | My new friend is Rosa.",
    "My sister is Anna. | My other sister is Rosa.",
    "My daughter Anna plays chess. | My daughter Rosa plays football now.",
    "My colleague Anna lives in Oslo. | My colleague Rosa lives in Turin now.",
    "I play chess. | I play go as well now.",
    "I play chess. | I've started playing poker.",
    "I do yoga on Mondays. | I do pilates on Fridays now.",
    "I do yoga. | I also do pilates now.",
    "I live in Oslo. | My brother moved to Turin.",
    "I live in Oslo. | I moved my furniture to Turin.",
    "I live in Oslo. | I'm travelling to Turin tomorrow.",
    "I live in Oslo. | I'm in Turin this week.",
    "I live in Oslo. | I'm in Turin for a conference.",
    "I live in Oslo. | I left Oslo this morning and arrived in Turin at noon.",
    "I live in Oslo. | I used to live in Turin.",
    "I live in Oslo. | I lived in Turin as a student.",
    "I live in Oslo. | I have a holiday flat in Turin now.",
    "I live in Oslo. | I might move to Turin.",
    "I live in Oslo. | If I moved to Turin, I'd miss my friends.",
    "I live in Oslo. | I stopped in Turin on the way.",
    "I work at Tesco. | I went to Aldi after work.",
    "I work at Tesco. | I left Tesco at six and went to Aldi.",
    "I work at Tesco. | I worked at Aldi before that.",
    "I work at Tesco. | I had an interview at Aldi.",
    "I work at Tesco. | Aldi offered me a job.",
    "I work at Tesco. | I turned down an offer from Aldi.",
    "I work at Tesco. | I shop at Aldi now.",
    "I work at Tesco. | I left Tesco early today.",
    "I work at Tesco. | I was off work yesterday.",
    "I drive a Honda. | I rented a Skoda for the weekend.",
    "I drive a Honda. | I test-drove a Skoda.",
    "I drive a Honda. | My wife drives a Skoda now.",
    "I drive a Honda. | I sold my old Skoda years ago.",
    "I drive a Honda. | I took the Honda to the garage.",
    "I drive a Honda. | I left the Honda at the airport.",
    "I love coffee. | I drink tea at work now.",
    "I love coffee. | I've run out of coffee.",
    "I drink coffee every morning. | I finished my coffee.",
    "I drink coffee every morning. | I gave up coffee for Lent.",
    "I drink coffee every morning. | I didn't drink coffee today.",
    "I drink coffee every morning. | I could stop drinking coffee.",
    "I drink coffee every morning. | I tried to quit coffee.",
    "I drink coffee every morning. | I want to stop drinking coffee.",
    "I play the piano. | I stopped playing the piano when the phone rang.",
    "I play the piano. | I sold my old piano to buy a better piano.",
    "I play the piano. | I moved the piano to the cellar.",
    "I play the piano. | My sister gave up the cello.",
    "I play the piano. | My sister gave up the piano.",
    "I play the piano. | I'd never give up the piano.",
    "I play the piano. | I nearly gave up the piano.",
    "I subscribe to Netflix. | Netflix cancelled my favourite show.",
    "I subscribe to Netflix. | I stopped Netflix halfway through the film.",
    "I have a Netflix subscription. | I'm thinking of cancelling Netflix.",
    "I have a Netflix subscription. | I got a Disney subscription.",
    "My boss is Anna. | I had lunch with Rosa now.",
    "My boss is Anna. | Anna left early.",
    "My boss is Anna. | Anna is on holiday now.",
    "My boss is Anna. | Anna left the meeting.",
    "My dentist is Anna. | I broke my tooth, so I saw Anna.",
    "I'm married to Anna. | I left Anna at the station.",
    "My flatmate is Anna. | Anna moved out of the way.",
    "I have a dog named Rex. | I have a cat named Luna now.",
    "I have a dog named Rex. | We adopted a second dog, Luna.",
    "I have a dog named Rex. | Rex ran away but came back.",
    "My dog is called Rex. | Rex lost his ball.",
    "I have therapy on Mondays. | I have choir on Thursdays now.",
    "I weigh 62 kg. | I'm 180 cm tall now.",
    "I take sertraline. | I took ibuprofen this morning.",
    "I take sertraline in the morning. | I take vitamin D in the morning now.",
    "I take sertraline. | I forgot my sertraline today.",
    "I take sertraline. | I ran out of sertraline.",
    "I'm allergic to peanuts. | I'm now allergic to cashews too.",
    "I'm allergic to peanuts. | I'm allergic to cashews.",
    "I know Python. | I'm learning Rust now.",
    "I use Python at work. | I use Rust for my hobby projects now.",
    "I use Vim. | I quit Vim by accident.",
    "I use Firefox. | I opened Chrome.",
    "I use Firefox. | Firefox crashed again.",
    "I'm on Facebook. | I joined Instagram.",
    "I play chess. | I lost at chess yesterday.",
    "I play chess on Tuesdays. | I missed chess on Tuesday.",
    "I play chess on Tuesdays. | No chess this Tuesday.",
    "I play chess on Tuesdays. | Chess is cancelled this week.",
    "I go running every morning. | I stopped running when it started to rain.",
    "I go running every morning. | I've taken a break from running this week.",
    "I go running every morning. | I go swimming in the evening now.",
    "I speak Turkish. | I dropped my Turkish class.",
    "I'm learning Turkish. | I finished my Turkish homework.",
    "I'm learning Turkish. | My friend gave up Turkish.",
    "I'm learning Turkish. | I was told to give up Turkish.",
    "My brother lives in Oslo. | I left Oslo on Sunday.",
    "I was born in Oslo. | I moved away from Oslo.",
    "I grew up in Oslo. | I left Oslo.",
    "I was born in Oslo. | I live in Turin now.",
    "My parents live in Oslo. | I live in Turin now.",
    "I studied at Oxford. | I work at Shell now.",
    "I have a guitar. | I bought drums.",
    "I grow tomatoes. | I grow beans now.",
    "I grow tomatoes. | I gave away some tomatoes.",
    "I've read Dune. | I'm reading Emma now.",
    "I have a cat. | My cat is gone to sleep now.",
    "I hate nuts. | I left the nuts on my plate.",
    "I write a blog. | I stopped by a blog yesterday.",
    "I run a shop. | I closed the shop at six.",
    "I run a shop. | We're closed on Mondays.",
    "I sing in a choir. | I left the choir practice early.",
    "I sing in a choir. | I play in a band now.",
    "I'm working on the Acme project. | I'm working on the Beta project as well.",
    "I'm working on the Acme project. | I finished the first part of the Acme project.",
    "I'm working on the Acme project. | I took Friday off from the Acme project.",
    "Bob lives next door. | Tim lives next door but one now.",
    "I play tennis with Bob. | I play squash with Tim now.",
    "My house is red. | My car is blue now.",
    "I have a red bike. | I have a blue tent now.",
    "My left knee hurts. | My right knee hurts now too.",
    "I like wine. | I stopped drinking wine on weekdays.",
    "I collect Lego. | I sold a Lego set.",
    "I collect Lego. | I collect stamps now.",
    "I read the Guardian. | I left the Guardian on the train.",
    "I have an iPad. | I have an iPhone now.",
    "Alice is my aunt. | Eve is my aunt too.",
    "I play the cello. | I don't play the cello for money.",
    "I play the cello. | I don't play the cello well.",
    "I have a garden. | I don't have time for the garden.",
    "I moved to Oslo in 2019. | I bought a house in 2021.",
    "I have hay fever. | I have asthma now.",
    "I bake bread on Sundays. | I bake cake on Saturdays now.",
    "I have an office in Berlin. | I moved from Berlin Street to the Berlin office.",
    "My cousin stays with us. | My cousin went out.",
    "I have two sisters, Anna and Rosa. | Anna lives in Turin now.",
    "I listen to Bach when I work. | I listened to Ravel this evening.",
    "I shop at Tesco. | Tesco fired me.",
    "I shop at Tesco. | I quit my job at Tesco.",
    "I drive a Tesla. | Tesla fired me.",
    "I live near Tesco. | I no longer work at Tesco.",
    "I have shares in Shell. | I no longer work at Shell.",
    "I live with Anna. | I no longer work with Anna.",
    "My dentist is Anna. | I broke up with Anna.",
    "I'm dating Anna. | Anna and I have fallen out of bed laughing.",
    "I'm dating Anna. | My sister is single again.",
    "I'm dating Anna. | I was single last year.",
    "I support Leeds. | I left Leeds.",
    "I work in Leeds. | I no longer live in Leeds.",
    "I have friends in Leeds. | I moved away from Leeds.",
    "My hometown is Leeds. | I left Leeds.",
    "I live in Lyon. | I don't live in the suburbs of Lyon.",
    "I watch football. | I don't play football.",
    "I bake bread. | I stopped eating bread.",
    "I write for Wired. | I quit reading Wired.",
    "I teach Spanish. | I stopped learning Spanish.",
    "I sell cars. | I sold my car.",
    "I repair bikes. | My bike got stolen.",
    "I wear glasses. | I lost my glasses.",
    "I miss Rex. | Rex died.",
    "I named my boat after Rex. | Rex died.",
    "My favourite car is the Honda. | I sold my Honda.",
    "My favourite drink is coffee. | I don't drink coffee.",
    "I drive a Honda. | The radio of the Honda got stolen.",
    "I drive a Honda. | My brother's Honda got stolen.",
    "I like jazz. | I switched from jazz to rock on the radio.",
    "I speak French. | I haven't spoken French in years.",
    "I collect Lego. | Forget what Omar said about Lego.",
    "I work at Tesco. | My brother started his new job at Aldi.",
    "My best friend is Anna. | My sister's best friend is Rosa now.",
    "My sister uses Jira. | My team switched from Jira to Linear.",
)


@pytest.fixture(scope="module")
def engram(database_url: str) -> Iterator[Engram]:
    with Engram(database_url) as one:
        yield one


def parts(row: str) -> list[str]:
    return [part.strip() for part in row.split("|")]


def told(engram: Engram, *said: str) -> Engram:
    door = engram.scoped(tenant_id=f"t-{new_id()}", user_id="ada")
    days = [{"role": "user", "content": one, "occurred_at": BEGIN + place * STEP} for place, one in enumerate(said)]
    door.remember(days, wait=30.0)
    return door


def facts(door: Engram) -> list[str]:
    return [one.fact for one in door.list_memories(limit=50) if one.category != "verbatim"]


@pytest.mark.parametrize("row", ENDED)
def test_what_is_said_to_be_over_is_not_told_as_so(engram: Engram, row: str) -> None:
    first, end = parts(row)
    (fact,) = facts(told(engram, first))
    assert fact not in facts(told(engram, first, end))


@pytest.mark.parametrize(
    ("first", "end"),
    [
        ("I work at Tesco.", "I left Tesco last month."),
        ("I work at Tesco.", "I quit my job at Tesco yesterday."),
        ("I smoke.", "I quit smoking yesterday."),
    ],
)
def test_what_ended_before_it_was_told_of_has_ended(engram: Engram, first: str, end: str) -> None:
    door = engram.scoped(tenant_id=f"t-{new_id()}", user_id="ada")
    door.remember([{"role": "user", "content": one, "occurred_at": BEGIN} for one in (first, end)], wait=30.0)
    held = facts(door)
    assert any(end.removeprefix("I ").split()[0] in fact for fact in held), held
    assert len(held) == 1, held


@pytest.mark.parametrize("row", CHANGED)
def test_another_value_takes_the_place_of_the_one_before(engram: Engram, row: str) -> None:
    first, change, old, new = parts(row)
    held = facts(told(engram, first, change))
    assert any(new in fact for fact in held), held
    assert not any(old in fact and new not in fact for fact in held), held


@pytest.mark.parametrize("row", ASKED)
def test_a_question_of_the_past_is_told_what_was_then(engram: Engram, row: str) -> None:
    *said, question, expected = parts(row)
    answer = told(engram, *said).recall(question).answer_text
    assert expected in answer
    assert len(answer.splitlines()) == 1


@pytest.mark.parametrize("row", BESIDE)
def test_what_may_both_be_so_stays_side_by_side(engram: Engram, row: str) -> None:
    first, second = parts(row)
    assert set(facts(told(engram, first))) <= set(facts(told(engram, first, second)))
