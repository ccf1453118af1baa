"""Phrases of time, as windows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from growth import assert_linear
from hypothesis import example, given
from hypothesis import strategies as st
from questions import TABLE, window_of

from engram.english import windows
from engram.english.titles import blanked
from engram.values import Window

NOW = datetime(2025, 6, 18, 15, 30, tzinfo=UTC)  # a Wednesday


def found(text: str, now: datetime = NOW, zone: str = "UTC") -> windows.Found:
    return windows.find(text, now=now, tz=ZoneInfo(zone))


# every row of the requirements' table, and what is of their kind
@pytest.mark.parametrize(
    ("phrase", "window"),
    [
        ("today", "06-18..06-19"),
        ("yesterday", "06-17..06-18"),
        ("this morning", "06-18T05:00..06-18T12:00"),
        ("last night", "06-17T18:00..06-18T05:00"),
        ("this week", "06-16..06-23"),
        ("last week", "06-09..06-16"),
        ("past 7 days", "06-11T15:30..now"),
        ("7d", "06-11T15:30..now"),
        ("two days ago", "06-16..06-17"),
        ("3 weeks ago", "05-26..06-02"),
        ("2 hours ago", "06-18T13:00..06-18T14:00"),
        ("last month", "05-01..06-01"),
        ("last year", "2024-01-01..2025-01-01"),
        ("in March", "03-01..04-01"),
        ("in July", "2024-07-01..2024-08-01"),
        ("in 2023", "2023-01-01..2024-01-01"),
        ("Q2 2024", "2024-04-01..2024-07-01"),
        ("since June 1", "06-01..now"),
        ("before May", "..05-01"),
        ("between May 1 and 3", "05-01..05-04"),
        ("on Monday", "06-16..06-17"),
        ("last Monday", "06-16..06-17"),
        ("last Wednesday", "06-11..06-12"),
        ("next Friday", "06-20..06-21"),
        # days
        ("the day before yesterday", "06-16..06-17"),
        ("the day after tomorrow", "06-20..06-21"),
        ("tomorrow evening", "06-19T18:00..06-20"),
        ("yesterday afternoon", "06-17T12:00..06-17T18:00"),
        ("this afternoon", "06-18T12:00..06-18T18:00"),
        ("this evening", "06-18T18:00..06-19"),
        ("tonight", "06-18T18:00..06-19T05:00"),
        ("the night before last", "06-16T18:00..06-17T05:00"),
        ("on Monday morning", "06-16T05:00..06-16T12:00"),
        ("Tuesday last week", "06-10..06-11"),
        ("last week on Tuesday", "06-10..06-11"),
        ("this Friday", "06-20..06-21"),
        ("next Wednesday", "06-25..06-26"),
        ("next Tuesday", "06-24..06-25"),
        ("on Wednesday", "06-11..06-12"),
        ("what will I do on Monday?", "06-23..06-24"),
        ("on Thu", "06-12..06-13"),
        ("last weekend", "06-14..06-16"),
        ("this weekend", "06-21..06-23"),
        ("next weekend", "06-21..06-23"),
        ("on 5 March 2025", "03-05..03-06"),
        ("March 5th, 2025", "03-05..03-06"),
        ("on December 1,2023", "2023-12-01..2023-12-02"),
        ("the 5th of March", "03-05..03-06"),
        ("on Monday, March 3, 2025", "03-03..03-04"),
        ("on June 18", "06-18..06-19"),
        ("July 4", "2024-07-04..2024-07-05"),
        ("on 29 February", "2024-02-29..2024-03-01"),
        ("March 5 last year", "2024-03-05..2024-03-06"),
        ("on sept. 3", "2024-09-03..2024-09-04"),
        ("2025-03-05", "03-05..03-06"),
        ("2025/3/5", "03-05..03-06"),
        ("at 2025-03-05T14:30:00Z", "03-05..03-06"),
        ("25/12/2024", "2024-12-25..2024-12-26"),
        ("12/25/2024", "2024-12-25..2024-12-26"),
        ("05/05/2025", "05-05..05-06"),
        ("on the 5th?", "06-05..06-06"),
        ("on the 25th", "05-25..05-26"),
        ("the 3rd of last month", "05-03..05-04"),
        # weeks, months, quarters, years
        ("the week before last", "06-02..06-09"),
        ("the month before last", "04-01..05-01"),
        ("next week", "06-23..06-30"),
        ("at the end of last week", "06-09..06-16"),
        ("next month", "07-01..08-01"),
        ("next year", "2026-01-01..2027-01-01"),
        ("this year", "01-01..2026-01-01"),
        ("this quarter", "04-01..07-01"),
        ("last quarter", "01-01..04-01"),
        ("in the second quarter of 2024", "2024-04-01..2024-07-01"),
        ("in Q3", "2024-07-01..2024-10-01"),
        ("2024 Q2", "2024-04-01..2024-07-01"),
        ("Q4 last year", "2024-10-01..2025-01-01"),
        ("in the first half of 2024", "2024-01-01..2024-07-01"),
        ("in July 2024", "2024-07-01..2024-08-01"),
        ("July 2024", "2024-07-01..2024-08-01"),
        ("in March of 2024", "2024-03-01..2024-04-01"),
        ("in June", "06-01..07-01"),
        ("last June", "2024-06-01..2024-07-01"),
        ("this July", "07-01..08-01"),
        ("next May", "2026-05-01..2026-06-01"),
        ("in early March", "03-01..03-11"),
        ("in late 2023", "2023-09-01..2024-01-01"),
        ("at the end of May", "05-21..06-01"),
        ("back in 2019", "2019-01-01..2020-01-01"),
        ("during 2021", "2021-01-01..2022-01-01"),
        ("in the 1990s", "1990-01-01..2000-01-01"),
        ("last summer", "2024-06-01..2024-09-01"),
        ("this summer", "06-01..09-01"),
        ("in spring 2023", "2023-03-01..2023-06-01"),
        ("in the winter of 2023", "2023-12-01..2024-03-01"),
        ("last winter", "2024-12-01..03-01"),
        ("next spring", "2026-03-01..2026-06-01"),
        # so long ago, so long
        ("a week ago", "06-09..06-16"),
        ("a couple of days ago", "06-16..06-17"),
        ("a few days ago", "06-13..06-17"),
        ("two months ago", "04-01..05-01"),
        ("a year ago", "2024-01-01..2025-01-01"),
        ("ten years back", "2015-01-01..2016-01-01"),
        ("half an hour ago", "06-18T14:55..06-18T15:05"),
        ("an hour and a half ago", "06-18T13:45..06-18T14:15"),
        ("about a year and a half ago", "2023-10-01..2024-03-01"),
        ("two and a half years ago", "2022-10-01..2023-03-01"),
        ("a week and a half ago", "06-07..06-10"),
        ("in the past year and a half", "2023-12-18T15:30..now"),
        ("over the last two and a half hours", "06-18T13:00..now"),
        ("10 minutes ago", "06-18T15:15..06-18T15:25"),
        ("two minutes ago", "06-18T15:23..now"),
        ("just now", "06-18T15:20..now"),
        ("in the last 3 hours", "06-18T12:30..now"),
        ("over the past two weeks", "06-04T15:30..now"),
        ("in the last 6 months", "2024-12-18T15:30..now"),
        ("during the last year", "2024-06-18T15:30..now"),
        ("in the last week", "06-11T15:30..now"),
        ("in the past few days", "06-13T15:30..now"),
        ("the last 24 hours", "06-17T15:30..now"),
        ("last half hour", "06-18T15:00..now"),
        ("the next 3 days", "now..06-21T15:30"),
        ("in 3 days", "06-21..06-22"),
        ("in two weeks' time", "06-30..07-07"),
        ("a week from now", "06-23..06-30"),
        ("earlier today", "06-18..now"),
        ("earlier this week", "06-16..now"),
        ("later today", "now..06-19"),
        ("so far this year", "01-01..now"),
        ("two weeks before August 11, 2023", "2023-07-24..2023-07-31"),
        ("a day after March 5", "03-06..03-07"),
        # bounds
        ("since Monday", "06-16..now"),
        ("since 2020", "2020-01-01..now"),
        ("ever since March", "03-01..now"),
        ("after March 5", "03-06.."),
        ("after 2019", "2020-01-01.."),
        ("until 2020", "..2020-01-01"),
        ("before last week", "..06-09"),
        ("before yesterday", "..06-17"),
        ("prior to 2020", "..2020-01-01"),
        ("from March onwards", "03-01.."),
        ("from yesterday", "06-17..06-18"),
        ("between May and July", "05-01..08-01"),
        ("between November and February", "2024-11-01..03-01"),
        ("from May to July", "05-01..08-01"),
        ("from March 2019 to May", "2019-03-01..2019-06-01"),
        ("from January to March 2024", "2024-01-01..2024-04-01"),
        ("from November to February 2024", "2023-11-01..2024-03-01"),
        ("between 2019 and 2021", "2019-01-01..2022-01-01"),
        ("from 2019 till now", "2019-01-01..now"),
        ("between 3 and 5 May", "05-03..05-06"),
        ("from May 5 to May 9", "05-05..05-10"),
        ("May 1-3", "05-01..05-04"),
        ("March 5 - March 9", "03-05..03-10"),
        ("between 2025-03-01 and 2025-03-05", "03-01..03-06"),
        ("between last Monday and yesterday", "06-16..06-18"),
        ("what did I do from Monday to Wednesday", "06-16..06-19"),
        ("between yesterday and today", "06-17..06-19"),
        ("what did I do from June 3 to Monday", "06-03..06-17"),
        ("what did I do from last Monday to June 17", "06-16..06-18"),
        ("between March 3 and March 5, 2024", "2024-03-03..2024-03-06"),
        ("from March 5th until now", "03-05..now"),
        # a year, or a month, that only one of two ends says
        ("between March 3 and 5, 2024", "2024-03-03..2024-03-06"),
        ("from March 3 to 5, 2024", "2024-03-03..2024-03-06"),
        ("from March 3rd to the 5th, 2024", "2024-03-03..2024-03-06"),
        ("March 3-5, 2024", "2024-03-03..2024-03-06"),
        ("March 3-5,2024", "2024-03-03..2024-03-06"),
        ("Mar 3rd – 5th 2024", "2024-03-03..2024-03-06"),
        ("between March 3 and 5 of 2024", "2024-03-03..2024-03-06"),
        ("between March 3 and 5 last year", "2024-03-03..2024-03-06"),
        ("between February 27 and 29, 2024", "2024-02-27..2024-03-01"),
        ("between 3 and 5 March 2024", "2024-03-03..2024-03-06"),
        ("3-5 March 2024", "2024-03-03..2024-03-06"),
        ("on 3 to 5 March", "03-03..03-06"),
        ("between the 3rd and the 5th", "06-03..06-06"),
        ("March to May 2024", "2024-03-01..2024-06-01"),
        ("March through May of 2024", "2024-03-01..2024-06-01"),
        ("from March thru May", "03-01..06-01"),
        ("in May and June 2024", "2024-05-01..2024-07-01"),
        ("in May/June 2024", "2024-05-01..2024-07-01"),
        ("on March 3 and 4, 2024", "2024-03-03..2024-03-05"),
        ("in 2023 and 2024", "2023-01-01..2025-01-01"),
        ("in Q1 and Q2 2024", "2024-01-01..2024-07-01"),
        ("yesterday and today", "06-17..06-19"),
        ("what did I do on Monday and Tuesday", "06-16..06-18"),
        ("in 2019-2021", "2019-01-01..2022-01-01"),
        ("2024-03-03..2024-03-05", "2024-03-03..2024-03-06"),
        ("2024-03-03/2024-03-05", "2024-03-03..2024-03-06"),
        ("between Tuesday and Thursday last week", "06-10..06-13"),
        # the start and the end of something
        ("until the end of May", "..06-01"),
        ("until the end of 2024", "..2025-01-01"),
        ("until the end of last month", "..06-01"),
        ("until the end of last week", "..06-16"),
        ("until the end of the year", "..2026-01-01"),
        ("until the end of Q2 2024", "..2024-07-01"),
        ("up to the end of May 2024", "..2024-06-01"),
        ("before the end of May", "..06-01"),
        ("before the end of last month", "..06-01"),
        ("before the end of the 1990s", "..2000-01-01"),
        ("until the beginning of May", "..05-01"),
        ("until late May", "..05-21"),
        ("since the end of May", "05-21..now"),
        ("since the end of last month", "05-21..now"),
        ("since the start of the year", "01-01..now"),
        ("from the beginning of May", "05-01..05-11"),
        ("from the beginning of May to the end of June", "05-01..07-01"),
        ("between May 20 and the end of May", "05-20..06-01"),
        ("after the start of 2024", "2024-01-01.."),
        ("after the beginning of May", "05-01.."),
        ("after the end of May", "06-01.."),
        ("after early May", "05-11.."),
        ("at the end of last month", "05-21..06-01"),
        ("at the end of the year 2024", "2024-09-01..2025-01-01"),
        ("late last year", "2024-09-01..2025-01-01"),
        ("mid last month", "05-11..05-21"),
        ("at the end of Q2 2024", "2024-06-01..2024-07-01"),
        ("in late summer 2023", "2023-08-01..2023-09-01"),
        ("what did I do at the end of this month", "06-01..07-01"),
        ("towards the end of March", "03-21..04-01"),
        # which day of its name
        ("last June 20", "2024-06-20..2024-06-21"),
        ("last 20 June", "2024-06-20..2024-06-21"),
        ("last June 18", "2024-06-18..2024-06-19"),
        ("last May 5", "05-05..05-06"),
        ("next June 20", "06-20..06-21"),
        ("next May 5", "2026-05-05..2026-05-06"),
        ("this June 20", "06-20..06-21"),
        ("last May 5, 2024", "2024-05-05..2024-05-06"),
        ("since last June 20", "2024-06-20..now"),
        ("last Friday, June 13", "06-13..06-14"),
        ("last year on March 3", "2024-03-03..2024-03-04"),
        ("last year in March", "2024-03-01..2024-04-01"),
        ("on the twenty-first of March", "03-21..03-22"),
        ("on the morning of March 3, 2024", "2024-03-03T05:00..2024-03-03T12:00"),
        ("March 3 in the evening", "03-03T18:00..03-04"),
        ("last Friday at night", "06-13T18:00..06-14T05:00"),
        ("in March '24", "2024-03-01..2024-04-01"),
        ("in the summer of '69", "1969-06-01..1969-09-01"),
        # pieces of a period
        ("in the last week of May", "05-25..06-01"),
        ("the first week of May", "05-01..05-08"),
        ("the last week in May", "05-25..06-01"),
        ("the last week of last month", "05-25..06-01"),
        ("since the last week of May", "05-25..now"),
        ("before the first week of May", "..05-01"),
        ("the first week of 2024", "2024-01-01..2024-01-08"),
        ("the first week of the month", "06-01..06-08"),
        ("the last two weeks of May", "05-18..06-01"),
        ("on the last day of May", "05-31..06-01"),
        ("the last days of May", "05-27..06-01"),
        ("in the last few days of May", "05-27..06-01"),
        ("the first three months of 2024", "2024-01-01..2024-04-01"),
        ("in the last quarter of 2024", "2024-10-01..2025-01-01"),
        ("the last month of last year", "2024-12-01..2025-01-01"),
        ("the first half of May", "05-01..05-16"),
        ("in the second half of last month", "05-16..06-01"),
        ("in the first half of last year", "2024-01-01..2024-07-01"),
        ("in the first half of the year", "01-01..07-01"),
        ("in H2 last year", "2024-07-01..2025-01-01"),
        ("in the 3rd quarter of 2024", "2024-07-01..2024-10-01"),
        ("on the first Monday of May", "05-05..05-06"),
        ("the last Friday of May 2024", "2024-05-31..2024-06-01"),
        ("the last weekend in May", "05-31..06-02"),
        ("the week of March 3, 2025", "03-03..03-10"),
        ("between the first week of May and the last week of May", "05-01..06-01"),
        # decades
        ("in the early 2020s", "2020-01-01..2023-05-01"),
        ("late 2010s", "2016-09-01..2020-01-01"),
        ("in the mid-1990s", "1993-05-01..1996-09-01"),
        ("in the '90s", "1990-01-01..2000-01-01"),
        ("in the late nineties", "1996-09-01..2000-01-01"),
        ("last decade", "2010-01-01..2020-01-01"),
        # so far from something
        ("two Fridays ago", "06-06..06-07"),
        ("the Friday before last", "06-06..06-07"),
        ("the weekend before last", "06-07..06-09"),
        ("two weekends ago", "06-07..06-09"),
        ("Friday two weeks ago", "06-06..06-07"),
        ("two weeks ago on Friday", "06-06..06-07"),
        ("a year ago today", "2024-06-18..2024-06-19"),
        ("a week ago yesterday", "06-10..06-11"),
        ("two or three weeks ago", "05-26..06-09"),
        ("3-5 days ago", "06-13..06-16"),
        ("twenty-five days ago", "05-24..05-25"),
        ("thirty five days ago", "05-14..05-15"),
        ("twenty to twenty-five days ago", "05-24..05-30"),
        ("between twenty-one and twenty-five days ago", "05-24..05-29"),
        ("two hundred days ago", "2024-11-30..2024-12-01"),
        ("one hundred and twenty days ago", "02-18..02-19"),
        ("1,000 days ago", "2022-09-22..2022-09-23"),
        ("over the last twenty-five days", "05-24T15:30..now"),
        ("between 3 and 5 days ago", "06-13..06-16"),
        ("a week or two ago", "06-02..06-16"),
        ("over the last weeks", "05-14T15:30..now"),
        ("since the weekend", "06-14..now"),
        ("the day before March 3", "03-02..03-03"),
        ("in the week after March 3", "03-04..03-11"),
        ("the two weeks before March 3", "02-17..03-03"),
        ("the year before 2020", "2019-01-01..2020-01-01"),
        ("a month after 2024", "01-01..02-01"),
        ("the year before last year", "2023-01-01..2024-01-01"),
        ("earlier than March 2024", "..2024-03-01"),
        ("later than March 2024", "2024-04-01.."),
        # weekends about a day
        ("over the weekend of June 1", "05-31..06-02"),
        ("the weekend of Friday, June 6", "06-07..06-09"),
        ("the weekend before June 1", "05-24..05-26"),
        ("the weekend after June 1", "06-07..06-09"),
        # numbered weeks
        ("in week 23 of 2024", "2024-06-03..2024-06-10"),
        ("in week 23 of last year", "2024-06-03..2024-06-10"),
        ("in week 1 of 2025", "2024-12-30..2025-01-06"),
        ("in calendar week 23", "06-02..06-09"),
        ("in calendar week 40", "2024-09-30..2024-10-07"),
        ("calendar week 23 of 2026", "2026-06-01..2026-06-08"),
        ("since CW 23", "06-02..now"),
        ("2024-W23", "2024-06-03..2024-06-10"),
        # up to now
        ("year to date", "01-01..now"),
        ("YTD", "01-01..now"),
        ("month-to-date", "06-01..now"),
        ("this month so far", "06-01..now"),
        ("so far this quarter", "04-01..now"),
        # feasts
        ("last Christmas", "2024-12-24..2024-12-27"),
        ("next Halloween", "10-31..11-01"),
        ("Christmas 2023", "2023-12-24..2023-12-27"),
        ("on Thanksgiving 2023", "2023-11-23..2023-11-24"),
        ("Easter last year", "2024-03-29..2024-04-02"),
        ("last year at Christmas", "2024-12-24..2024-12-27"),
        ("since New Year", "01-01..now"),
        ("since Christmas", "2024-12-25..now"),
        ("after Easter", "04-21.."),
        ("before Christmas", "..2025-12-25"),
        ("the day after Christmas", "2024-12-26..2024-12-27"),
        ("the day before last Monday", "06-15..06-16"),
        ("the week before last Christmas Day", "2024-12-18..2024-12-25"),
        ("two weeks after Easter", "04-28..05-05"),
        ("at the turn of the year", "2024-12-25..01-08"),
        ("the turn of the year 2022/23", "2022-12-25..2023-01-08"),
    ],
)
def test_a_phrase_of_time_is_a_window(phrase: str, window: str) -> None:
    assert found(phrase).window == window_of(window, NOW)
    assert found(f"And Anna's plan {phrase}, please?").window == window_of(window, NOW) or phrase == "7d"
    assert found(phrase).notes == ()


@pytest.mark.parametrize(
    "text",
    [
        "before I changed it",
        "before the meeting",
        "after lunch",
        "since the launch",
        "May I eat peanuts?",
        "What does May think?",
        "What did April say?",
        "a letter from June",
        "What is April's number?",
        "What did I do in April's room?",
        "the call with May",
        "did we march for it?",
        "the second meeting",
        "every Monday",
        "on Mondays",
        "Black Friday",
        "which Friday?",
        "do I work from Monday to Friday?",
        "from 9 to 5",
        "in 2000 words",
        "a limit of 1999 users",
        "port 2024",
        "what is 2024?",
        "the budget for 2024",
        "version 2025.3",
        "call 2025-0042",
        "a 3d printer",
        "in the 24h format",
        "3 days",
        "how many days ago",
        "how long ago was it?",
        "What must be done by Friday?",
        "What must be done by May 5?",
        "What must be done by the end of next week?",
        "What must be done by next Friday?",
        "the last 3 meetings",
        "the first half",
        "in the second",
        "one day",
        "spring rolls",
        "I fall asleep",
        "on the sun",
        "10:30",
        "2025",
        "192.168.2.2025",
        "on the 5th floor",
        "the third quarter",
        "What took me so long in two hours?",
        "之前",
        "What must be done by the end of the year?",
        "no later than March 2024",
        "the end of the book",
        "at the end of the day",
        "the first day of school",
        "the last week of the project",
        "the evening of my life",
        "the second half of the game",
        "a woman in her late 50s",
        "the 50s diner",
        "3 to 5 people",
        "chapter 2 to the 3rd",
        "pages 2019-2021",
        "two or three days",
        "the year",
        # a feast that comes every year, or that something is only called after
        "What do I eat at Christmas?",
        "Do I work on Good Friday?",
        "What did I buy for Christmas?",
        "What did I say about last Christmas?",
        "What is my New Year's resolution?",
        "Who came to the last Christmas party?",
        "Did I like the Easter eggs?",
        "Did I live at Easter Road?",
        "Was Easter Sunday fun?",
        "What did I do in week 3 of the course?",
        # a day that something is called by, or that comes again and again
        "What's my Sunday morning routine?",
        "What did we decide in our Monday morning meeting?",
        "What do I do on Sunday mornings?",
        "Where do I go on Friday nights?",
    ],
)
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert found(text).window is None


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("05/06/2025", "two days may be meant: 05/06/2025"),
        ("what did I do on 05/06/2025?", "two days may be meant: on 05/06/2025"),
        ("in 99999 years", "no such time: in 99999 years"),
        ("99999999999999 days ago", "no such time: 99999999999999 days ago"),
        ("the past 100000000 weeks", "no such time: the past 100000000 weeks"),
        ("on February 30", "no such day: on february 30"),
        ("on 31 June 2024", "no such time: on 31 june 2024"),
        ("32/13/2024", "no such day: 32/13/2024"),
        ("in 1492", "no such time: in 1492"),
        ("since 2150", "no such time: since 2150"),
        ("between March 2025 and January 2025", "no such time: between march 2025 and january 2025"),
        ("300 years ago", "no such time: 300 years ago"),
        ("the last 0 days", "no such time: the last 0 days"),
        ("2025-13-45", "no such time: 2025-13-45"),
        ("from February 27 to 29, 2025", "no such day: from february 27 to 29, 2025"),
        ("the last 999999999 months of May", "no such time: the last 999999999 months of may"),
        ("the 99999 years before May", "no such time: the 99999 years before may"),
        ("the weekend of March 3", "two weekends may be meant: the weekend of march 3"),
        ("in week 23", "several weeks may be meant: in week 23"),
        ("in week 53 of 2024", "no such time: in week 53 of 2024"),
        ("the turn of the year 2022/24", "no such time: the turn of the year 2022/24"),
    ],
)
def test_a_time_that_is_none_is_noted(text: str, note: str) -> None:
    assert found(text).window is None
    assert found(text).notes == (note,)


@pytest.mark.parametrize(
    ("question", "window"),
    [
        ("What did I do on Christmas?", "2024-12-25..2024-12-26"),
        ("What did I do over Christmas?", "2024-12-24..2024-12-27"),
        ("What did I do on Christmas Eve?", "2024-12-24..2024-12-25"),
        ("What did we do on Christmas morning?", "2024-12-25T05:00..2024-12-25T12:00"),
        ("Where was I on Boxing Day?", "2024-12-26..2024-12-27"),
        ("Where was I at New Year’s?", "2024-12-31..2025-01-02"),
        ("Where was I on New Year's Eve with Anna?", "2024-12-31..2025-01-01"),
        ("What did I wear on Halloween night?", "2024-10-31T18:00..2024-11-01T05:00"),
        ("What did I get on Valentine's Day?", "02-14..02-15"),
        ("Who visited us at Easter, what did we do?", "04-18..04-22"),
        ("What did we eat on Easter Monday last year?", "2024-04-01..2024-04-02"),
        ("What happened on Thanksgiving?", "2024-11-28..2024-11-29"),
        ("Where will I be at Easter?", "2026-04-03..2026-04-07"),
        ("What are we doing on Halloween?", "10-31..11-01"),
        ("What did I do before Christmas?", "..2024-12-25"),
        ("What did I do this Christmas?", "2024-12-24..2024-12-27"),
        ("What did I do between Christmas and New Year?", "2024-12-25..2025-01-02"),
        ("What did we do between Thanksgiving and Christmas?", "2024-11-28..2024-12-26"),
        ("Where was I in the week of Christmas?", "2024-12-23..2024-12-30"),
    ],
)
def test_a_feast_that_has_been_or_comes_is_a_window(question: str, window: str) -> None:
    assert found(question).window == window_of(window, NOW)


@pytest.mark.parametrize(
    "text", ["What did I recently buy?", "lately", "What did we do the other day?", "my recent trips"]
)
def test_lately_favours_the_last_days_and_filters_nothing(text: str) -> None:
    assert found(text).recent
    assert found(text).window is None


def test_a_time_that_is_named_is_not_lately() -> None:
    assert not found("What did I buy last week?").recent


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Where did I live in March 2024?", "Where did I live?"),
        ("What did Zoë say yesterday about Łódź?", "What did Zoë say about Łódź?"),
        ("Since June 1, what is new?", "what is new?"),
        ("What did I buy between May 1 and 3 in Rome?", "What did I buy in Rome?"),
        ("What did I recently buy last week?", "What did I buy?"),
        ("What did I buy from March 3 to 5, 2024?", "What did I buy?"),
        ("What did I buy last June 20?", "What did I buy?"),
        ("What did I buy in the early 2020s?", "What did I buy?"),
        ("What did I buy in the last week of May?", "What did I buy?"),
        ("What did I buy in the week before March 3?", "What did I buy?"),
        ("yesterday", ""),
        ("Ｗｈａｔ　ｗａｓ　ｙｅｓｔｅｒｄａｙ？", "Ｗｈａｔ ｗａｓ ？"),
        ("ŉİß yesterday ŉİß", "ŉİß ŉİß"),
    ],
)
def test_the_phrase_is_cut_from_the_text_and_nothing_else_is(text: str, rest: str) -> None:
    assert windows.cut(text, found(text).spans) == rest


def test_the_first_time_counts_and_the_others_are_noted() -> None:
    both = found("What did I say yesterday about the trip in July 2024?")
    assert both.window == window_of("06-17..06-18", NOW)
    assert both.notes == ("only the first time named counts, not: in july 2024",)


# The local calendar


@pytest.mark.parametrize(
    ("phrase", "zone", "now", "start", "end"),
    [
        # 23 hours on the day the clocks go forward, 25 on the day they go back
        ("today", "Europe/Berlin", "2025-03-30T10:00Z", "2025-03-29T23:00Z", "2025-03-30T22:00Z"),
        ("yesterday", "Europe/Berlin", "2025-10-27T10:00Z", "2025-10-25T22:00Z", "2025-10-26T23:00Z"),
        # seven days back on the clock on the wall: an hour less than 168 hours
        ("past 7 days", "Europe/Berlin", "2025-04-01T10:00Z", "2025-03-25T11:00Z", "2025-04-01T10:00Z"),
        # hours pass, whatever the clock says
        ("past 24 hours", "Europe/Berlin", "2025-03-30T10:00Z", "2025-03-29T10:00Z", "2025-03-30T10:00Z"),
        # the hour that there is twice
        ("1 hour ago", "Europe/Berlin", "2025-10-26T01:30Z", "2025-10-26T00:00Z", "2025-10-26T01:00Z"),
        ("1 hour ago", "Europe/Berlin", "2025-10-26T02:30Z", "2025-10-26T01:00Z", "2025-10-26T02:00Z"),
        # it is tomorrow already in Auckland, and still yesterday in Honolulu
        ("today", "Pacific/Auckland", "2025-06-18T15:30Z", "2025-06-18T12:00Z", "2025-06-19T12:00Z"),
        ("today", "Pacific/Honolulu", "2025-06-18T05:00Z", "2025-06-17T10:00Z", "2025-06-18T10:00Z"),
        # a day without midnight
        ("today", "America/Sao_Paulo", "2018-11-04T15:00Z", "2018-11-04T03:00Z", "2018-11-05T02:00Z"),
        ("2 hours ago", "Asia/Kolkata", "2025-06-18T15:45Z", "2025-06-18T13:30Z", "2025-06-18T14:30Z"),
        ("last month", "America/New_York", "2025-04-15T12:00Z", "2025-03-01T05:00Z", "2025-04-01T04:00Z"),
    ],
)
def test_days_follow_the_local_calendar(phrase: str, zone: str, now: str, start: str, end: str) -> None:
    window = found(phrase, datetime.fromisoformat(now), zone).window
    assert window == (datetime.fromisoformat(start), datetime.fromisoformat(end))


def test_a_day_that_was_left_out_is_no_window() -> None:
    left_out = found("on 30 December 2011", NOW, "Pacific/Apia")
    assert (left_out.window, left_out.notes) == (None, ("no such time: on 30 december 2011",))


def test_bounds_are_in_utc() -> None:
    window = windows.find("today", now=NOW.astimezone(timezone(timedelta(hours=3))), tz=ZoneInfo("Asia/Tokyo")).window
    assert window is not None
    assert {at.tzinfo for at in window if at is not None} == {UTC}


# Whatever the text

SCRIPTS = st.one_of(
    st.text(max_size=80),
    st.text(st.characters(min_codepoint=0x0600, max_codepoint=0x06FF), max_size=30),
    st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x4FFF), max_size=30),
)
_WORDS = """
    between and from to since before after until in on at of for by the a last this next past few couple half day days
    week weeks month months year years hour minutes ago may march june monday fri q1 q5 2024 1899 2200 99999 31 0 1st
    30th 05/06/2025 2025-02-30 7d spring today yesterday so far earlier recently 's , - : ? weekend quarter 29 february
    early late mid end decade second third will did first weekend friday morning '24 90s 1990s .. & or
    christmas easter thanksgiving eve sunday new year's halloween calendar week 53 cw ytd turn to-date
    before through ½ ² ٣ 三 Ⅷ İ ß
"""
WORDS = st.sampled_from(_WORDS.split())
TEXTS = st.one_of(SCRIPTS, st.lists(WORDS, max_size=14).map(" ".join))
CLOCKS = st.datetimes(datetime(1900, 1, 2), datetime(2199, 12, 30)).map(lambda at: at.replace(tzinfo=UTC))  # noqa: DTZ001
ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "Pacific/Apia", "America/Sao_Paulo", "Asia/Kathmandu", "Africa/Monrovia"]
)


@given(TEXTS, CLOCKS, ZONES)
@example("between may 31 and 30 february", NOW, "UTC")
@example("on 29 february", datetime(1900, 1, 2, tzinfo=UTC), "UTC")
@example("the last friday of 3 march 2024", NOW, "UTC")
@example("last decade", datetime(1900, 1, 2, tzinfo=UTC), "UTC")
@example("on 29 february ahead will", datetime(2199, 12, 30, tzinfo=UTC), "UTC")
def test_no_text_breaks_it_and_every_window_is_one(text: str, now: datetime, zone: str) -> None:
    one = found(text, now, zone)
    assert all(0 <= start < end <= len(text) for start, end in one.spans)
    assert len(windows.fold(text)) == len(text)
    if one.window is not None:
        start, end = one.window
        assert start is None or end is None or start < end
        assert all(at is None or 1900 <= at.year < 2200 for at in one.window)
        assert (start, end) != (None, None)
    assert one == found(text, now, zone)


@pytest.mark.parametrize(
    "text",
    [
        "Do I like the song Last Christmas?",
        "My favourite song is Last Friday Night.",
        "What did I say about the film Yesterday?",
        "the book The Last Summer",
        "the series called This Week Tonight",
        "Why do I like “Last Christmas”?",
        "Who gave me the book 'One Day in December'?",
        "Which song is 'last christmas'?",
        "Do I like the song November Rain?",
        "Who wrote the song Friday I'm in Love?",
        "What did I say of the band Joy Division?",
    ],
)
def test_a_title_is_no_time(text: str) -> None:
    assert found(text) == windows.Found()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I heard the song Last Christmas last week", "last week"),
        ('I saw the film "Tomorrow" yesterday', "yesterday"),
        ("Which film did I see last night?", "last night"),
        ("I bought the album last week", "last week"),
        ("I finished the book Monday", "monday"),
        ("I saw the film Dune Monday", "monday"),
        ("Did I read the book Emma in March?", "in march"),
        ("WHICH FILM DID I SEE LAST NIGHT", "last night"),
        ("Which Film Did I See Last Night", "last night"),
        ('"what did I do last week"', "last week"),
        ('She said "Tomorrow"', "tomorrow"),
        ('What did I mean by "last week"?', "last week"),
        ('What did I do on "Monday"?', "on monday"),
        ("Did I read the book Emma on Sunday with Tom?", "on sunday"),
        ("Did I see the film Dune Last Night?", "last night"),
        ("Did I finish the book Dune Monday Morning?", "monday morning"),
        ("Was the band on Friday in Berlin?", "on friday"),
        ("What did I play Tennis in March with Anna for?", "in march"),
        ("Did we play Friday at the Apollo?", "friday"),
    ],
)
def test_a_time_beside_a_title_is_one(text: str, words: str) -> None:
    (span,) = found(text).spans
    assert text[slice(*span)].strip('" ').lower().replace('"', "") in (words, words.removeprefix("on "))


def test_a_long_text_is_read_to_its_bound_only() -> None:
    assert found("x " * 900 + "yesterday").window is not None
    assert found("x " * 1_100 + "yesterday").window is None


@pytest.mark.parametrize(("question", "window"), [(row[0], row[2]) for row in TABLE])
def test_the_time_of_a_question_is_read(question: str, window: str) -> None:
    wanted: Window | None = window_of(window, NOW)
    assert found(question).window == wanted


@pytest.mark.parametrize("unit", ['"Ab" ', "'Ab' ", '«Ab» "', '"Ab ', "„Ab“ ", 'the song "Ab" ', "song Ab of the "])
def test_looking_for_titles_costs_no_more_than_in_proportion(unit: str) -> None:
    assert_linear(blanked, unit, 20_000)
