"""What users of coding agents, office agents and assistants say in their work, and ask later.

They were written before it was known what becomes of them. After a message or two comes the question, what its answer
has to hold ("^": in its first line; "/": one of these), and what it must not hold ("^": begin with).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from engram import Engram
from engram.ids import new_id

BEGIN: Final = datetime(2031, 6, 9, 8, tzinfo=UTC)
STEP: Final = timedelta(hours=3)

ROWS: Final = (
    ("Please put all new migrations in db/migrate, not in sql/.", "Where do new migrations go?", "db/migrate", ""),
    (
        "Commit messages should follow Conventional Commits.",
        "What format should commit messages have?",
        "conventional",
        "",
    ),
    ("Run the linter before every commit.", "What should you run before committing?", "linter", ""),
    (
        "CI runs on CircleCI. | CI is on GitHub Actions these days.",
        "Where does our CI run?",
        "github actions",
        "circleci",
    ),
    ("The staging URL is https://stage.acme.dev", "What's the staging URL?", "stage.acme.dev", ""),
    ("Don't touch the legacy/ folder.", "Which folder must you not touch?", "legacy", ""),
    (
        "Don't touch the legacy/ folder. | OK, the legacy folder is fair game now.",
        "May you touch the legacy folder?",
        "fair game",
        "don't touch",
    ),
    ("Branches are named feature/<ticket>.", "How do we name branches?", "feature/", ""),
    ("Our default branch is master. | We renamed master to main.", "What's our default branch?", "main", "is master"),
    ("Use Jest for unit tests. | We're on Vitest now.", "Which test runner do we use?", "vitest", "jest"),
    ("Keep functions under 30 lines.", "How long may functions be?", "30", ""),
    (
        "Always explain your reasoning. | No need to explain your reasoning any more.",
        "Should you explain your reasoning?",
        "",
        "always explain",
    ),
    ("The API key for Mapbox is kept in 1Password.", "Where do we keep the Mapbox key?", "1password", ""),
    ("Never use any in TypeScript.", "Is any allowed in TypeScript?", "never use any", ""),
    ("Prefer composition over inheritance.", "Composition or inheritance?", "composition", ""),
    ("Log messages in English, comments in German.", "In which language do we write comments?", "german", ""),
    ("Our Postgres runs on port 5433.", "On which port does Postgres run?", "5433", ""),
    ("Redis is only used for caching.", "What do we use Redis for?", "caching", ""),
    ("Deploys happen every Tuesday.", "When do deploys happen?", "tuesday", ""),
    ("Deploys happen every Tuesday. | We deploy daily now.", "How often do we deploy?", "daily", "every tuesday"),
    ("Ask me before installing new packages.", "May you install packages without asking?", "ask", ""),
    ("For Python use black with line length 100.", "Which line length do we use for Python?", "100", ""),
    (
        "The ticket system is Jira. | We've moved from Jira to Linear.",
        "What was our ticket system before Linear?",
        "^jira",
        "now:",
    ),
    (
        "The frontend is written in React. | We rewrote the frontend in Svelte.",
        "What is the frontend written in?",
        "svelte",
        "react",
    ),
    (
        "The frontend is written in React. | We rewrote the frontend in Svelte.",
        "What was the frontend written in before?",
        "react",
        "now:",
    ),
    ("Use dark mode in all mockups.", "Light or dark mode for mockups?", "dark", ""),
    ("Leave TODO comments out of the code.", "Are TODO comments ok?", "todo", ""),
    ("Keep my mornings free of meetings.", "When should you not book meetings?", "morning", ""),
    (
        "Keep my mornings free of meetings. | You can book mornings again.",
        "May you book meetings in the morning?",
        "",
        "keep my mornings free",
    ),
    (
        "Don't book anything on Fridays. | Fridays are fine again.",
        "May you book things on Fridays?",
        "fine",
        "don't book",
    ),
    ("Book me aisle seats on flights. | I prefer window seats now.", "Aisle or window?", "window", "aisle"),
    ("Our accountant is Mr. Osei.", "Who is our accountant?", "osei", ""),
    (
        "The quarterly report is due on the 15th. | The quarterly report is now due on the 20th.",
        "When is the quarterly report due?",
        "20th",
        "15th",
    ),
    (
        "The quarterly report is due on the 15th. | The quarterly report is now due on the 20th.",
        "When was the report due originally?",
        "15th",
        "now:",
    ),
    ("CC Lena on all mails to Acme. | Stop cc'ing Lena.", "Whom do you cc on mails to Acme?", "", "cc lena on all"),
    ("Meetings should be 25 minutes, not 30.", "How long should meetings be?", "25", ""),
    (
        "Our contact at Globex is Ravi. | Ravi left Globex, talk to Mei there.",
        "Who is our contact at Globex?",
        "mei",
        "",
    ),
    ("The wifi password in the office is on the whiteboard.", "Where is the office wifi password?", "whiteboard", ""),
    (
        "Invoices go to billing@initech.com. | Invoices go to finance@initech.com now.",
        "Where do invoices go?",
        "finance@",
        "billing@",
    ),
    (
        "Expense reports are approved by Tom. | Expense reports are approved by Greta now.",
        "Who approved expense reports before Greta?",
        "tom",
        "now:",
    ),
    (
        "The all-hands is on Mondays at 9. | They moved the all-hands to Tuesdays.",
        "When is the all-hands?",
        "tuesdays",
        "mondays",
    ),
    (
        "We meet the client in room 4. | We meet the client in room 7 from now on.",
        "In which room do we meet the client?",
        "7",
        "room 4",
    ),
    ("My out-of-office contact is Jonas.", "Who is my out-of-office contact?", "jonas", ""),
    ("The newsletter goes out on the 1st of the month.", "When does the newsletter go out?", "1st", ""),
    (
        "Summaries should be three bullets max. | Make summaries five bullets max.",
        "How many bullets may a summary have?",
        "five",
        "three",
    ),
    ("Translate everything into Spanish for Luis.", "Which language does Luis get?", "spanish", ""),
    ("I work from home on Wednesdays.", "On which day do I work from home?", "wednesday", ""),
    ("Our travel budget is 5000 euros. | Travel budget got cut to 3000.", "What's our travel budget?", "3000", "5000"),
    ("I take my coffee black.", "How do I take my coffee?", "black", ""),
    ("I take my coffee black. | I take milk in my coffee these days.", "How do I take my coffee?", "milk", "black"),
    ("My sister's birthday is on April 9.", "When is my sister's birthday?", "april 9", ""),
    (
        "Remind me to water the plants on Sundays. | Stop reminding me to water the plants.",
        "Do you remind me to water the plants?",
        "",
        "remind me to water the plants on",
    ),
    ("Wake me at 6:30. | Wake me at 7 from now on.", "When do you wake me?", "7", "6:30"),
    ("I'm trying to cut down on sugar.", "What am I trying to cut down on?", "sugar", ""),
    (
        "My plumber is Dave. | Dave retired, so we use Kath now.",
        "Who is our plumber?",
        "kath",
        "^user's plumber is dave",
    ),
    (
        "The spare key is under the flower pot. | The spare key is with the neighbours now.",
        "Where is the spare key?",
        "neighbours",
        "flower",
    ),
    (
        "Our cleaner comes on Fridays. | The cleaner comes on Mondays now.",
        "When does the cleaner come?",
        "monday",
        "friday",
    ),
    ("The vet appointment for Luna is on June 30 at 4pm.", "What's happening on June 30?", "vet", ""),
    (
        "The vet appointment for Luna is on June 30 at 4pm. | Luna's vet appointment got moved to July 3.",
        "When is Luna's vet appointment?",
        "July 3",
        "",
    ),
    ("I have piano on Thursday at 5. | Piano is cancelled this week.", "Do I have piano on Thursday?", "cancelled", ""),
    ("I pay 950 a month in rent. | My rent went up to 1020.", "How much was my rent before?", "950", "now:"),
    ("I pay 950 a month in rent. | My rent went up to 1020.", "How much rent do I pay?", "1020", "950"),
    ("We used to shop at Lidl, but now it's Aldi.", "Where did we shop before?", "lidl", "now:"),
    ("My son Ben can't eat eggs.", "What can't Ben eat?", "egg", ""),
    ("Eggs give me stomach cramps.", "Which food do I not tolerate?", "egg", ""),
    ("I quit smoking in January.", "When did I quit smoking?", "january", ""),
    (
        "I used Todoist for my tasks until last month, it's TickTick now.",
        "Which task app did I use before?",
        "todoist",
        "now:",
    ),
    ("Our babysitter is Amy. | Amy moved away; Zoe babysits now.", "Who babysits?", "zoe", "^user's babysitter is amy"),
    (
        "The kids' bus leaves at 7:40. | The kids' bus leaves at 7:25 now.",
        "When does the kids' bus leave?",
        "7:25",
        "7:40",
    ),
    (
        "Always write docstrings in Google style. | Use NumPy style docstrings from now on.",
        "Which docstring style do we use?",
        "numpy",
        "google style",
    ),
    ("Never commit directly to main.", "May you commit to main?", "never commit", ""),
    (
        "Please use conventional commits. | Drop the conventional commits thing.",
        "Do we use conventional commits?",
        "drop",
        "please use",
    ),
    ("Keep PRs under 400 lines. | Keep PRs under 200 lines.", "How big may a PR be?", "200", "400"),
    (
        "Run prettier before every commit. | No need to run prettier anymore.",
        "Should you run prettier before committing?",
        "no need",
        "run prettier before every",
    ),
    ("Use async functions everywhere.", "Sync or async functions?", "async", ""),
    ("Don't use default exports. | Default exports are ok now.", "Are default exports allowed?", "ok now", "don't use"),
    (
        "Deploy only on weekdays. | You can deploy on weekends again.",
        "May you deploy on weekends?",
        "can deploy",
        "only on weekdays",
    ),
    ("Use UTC for all timestamps.", "Which time zone do timestamps use?", "utc", ""),
    ("Use snake_case in Python. | Use camelCase in TypeScript.", "Which case do we use in Python?", "snake_case", ""),
    (
        "Use snake_case in Python. | Use camelCase in TypeScript.",
        "Which case do we use in TypeScript?",
        "camelcase",
        "",
    ),
    (
        "Always add a changelog entry. | Stop adding changelog entries.",
        "Do you add changelog entries?",
        "stop",
        "always add",
    ),
    ("Answer in German. | Answer in English again.", "In which language do you answer?", "english", "german"),
    ("Put secrets in .env.local. | Put secrets in Vault from now on.", "Where do secrets go?", "vault", ".env.local"),
    (
        "Use four spaces for indentation. | Use two spaces for indentation.",
        "How many spaces do we indent with?",
        "two",
        "four",
    ),
    (
        "Never delete files without asking. | You can delete temp files without asking.",
        "May you delete files without asking?",
        "never delete",
        "",
    ),
    (
        "We pin dependencies with poetry. | We use uv instead of poetry now.",
        "What do we pin dependencies with?",
        "uv",
        "with poetry",
    ),
    (
        "Limit summaries to 100 words. | Limit summaries to 150 words from now on.",
        "How long may summaries be?",
        "150",
        "100 words",
    ),
    ("Tag releases with a v prefix.", "How are releases tagged?", "v prefix", ""),
    (
        "Always use the metric system. | Use imperial units from now on.",
        "Metric or imperial?",
        "imperial",
        "metric system",
    ),
    (
        "No meetings on Fridays. | Friday meetings are fine again.",
        "Can I have meetings on Fridays?",
        "fine again",
        "no meetings",
    ),
    ("Forward invoices to Lena. | Forward invoices to Omar from now on.", "Whom do invoices go to?", "omar", "lena"),
    (
        "Remind me to stretch every hour. | You can stop reminding me to stretch.",
        "Do you remind me to stretch?",
        "stop",
        "remind me to stretch every",
    ),
    ("Start every reply with a joke. | No more jokes please.", "How do replies start?", "no more", "start every reply"),
    ("Use dark mode for screenshots. | Switch back to light mode.", "Which mode for screenshots?", "light", "dark"),
    (
        "Archive newsletters automatically. | Don't archive newsletters any longer.",
        "Do you archive newsletters?",
        "don't archive",
        "automatically",
    ),
    (
        "Send me the weekly report on Mondays. | Send me the weekly report on Fridays instead.",
        "When do you send me the weekly report?",
        "friday",
        "monday",
    ),
    ("Book hotels near the station.", "Where should hotels be?", "station", ""),
    (
        "Our sprint starts on Mondays. | Sprints start on Wednesdays now.",
        "On which day do sprints start?",
        "wednesday",
        "monday",
    ),
    ("My doctor is Dr. Lee. | Dr. Lee retired, so I see Dr. Moss now.", "Who is my doctor?", "moss", ""),
    ("My cleaner is Ana. | Ana quit, we have Rosa now.", "Who is our cleaner?", "rosa", ""),
    (
        "Our landing page is on Webflow. | We moved the landing page to Framer.",
        "What was our landing page on before?",
        "webflow",
        "now:",
    ),
    ("I take 10 mg of lisinopril. | My dose went up to 20 mg.", "How much lisinopril did I take before?", "10", "now:"),
    ("Team lunch on Thursday at noon.", "What do I have on Thursday?", "lunch", ""),
    ("Parents' evening on June 30 at 7.", "What's on June 30?", "parents", ""),
    ("My MRI is on the 18th. | The MRI got pushed to the 21st.", "Anything on the 21st?", "mri", ""),
    ("My MRI is on the 18th. | The MRI got pushed to the 21st.", "Anything on the 18th?", "", "on the 18th"),
    (
        "Dinner with Jo on Saturday. | Dinner with Jo got cancelled.",
        "What do I have on Saturday?",
        "",
        "dinner with jo on",
    ),
    ("I have physio every Wednesday. | I've stopped physio.", "Do I still have physio?", "stopped", ""),
    ("I get migraines from red wine.", "Which drink should I avoid?", "wine", ""),
    ("I was a smoker. I quit in 2019.", "Did I ever smoke?", "smoke", "now:"),
)
# What somebody says in passing ends nothing of what they told before.
BESIDE: Final = (
    ("My doctor is Dr. Lee. | Dr. Lee is on holiday, so I see Dr. Moss this week.", "User's doctor is Dr. Lee"),
    ("My manager is Dave. | Dave is too busy, so I use Slack now.", "User's manager is Dave"),
    ("My cat is Mimi. | Mimi died, so we have Rex now.", "!User's cat is Rex"),
    ("My plumber is Dave. | Dave was late, so we had coffee with Kath.", "User's plumber is Dave"),
    ("Our default branch is master. | We renamed the project to main.", "User's default branch is master"),
    ("My password manager is LastPass. | We use Slack instead of Teams now.", "User's password manager is LastPass"),
    ("We use Jira for tickets. | My sister switched to Linear.", "User's team uses Jira for tickets"),
)


@pytest.fixture(scope="module")
def engram(database_url: str) -> Iterator[Engram]:
    with Engram(database_url) as one:
        yield one


def told(engram: Engram, said: str) -> Engram:
    door = engram.scoped(tenant_id=f"t-{new_id()}", user_id="ada")
    for place, one in enumerate(said.split(" | ")):
        door.remember(one, occurred_at=BEGIN + place * STEP, wait=30.0)
    return door


@pytest.mark.parametrize(("said", "question", "holds", "never"), ROWS)
def test_a_question_of_work_is_answered_by_what_holds(
    engram: Engram, said: str, question: str, holds: str, never: str
) -> None:
    answer = told(engram, said).recall(question, now=BEGIN + 3 * STEP).answer_text.casefold()
    text = answer.partition("\n")[0] if holds.startswith("^") else answer
    assert any(one.casefold() in text for one in holds.removeprefix("^").split("/"))
    if never.startswith("^"):
        assert not answer.startswith(never[1:].casefold())
    elif never:
        assert never.casefold() not in answer


@pytest.mark.parametrize(("said", "stays"), BESIDE)
def test_what_is_said_in_passing_ends_nothing(engram: Engram, said: str, stays: str) -> None:
    held = [one.fact for one in told(engram, said).list_memories()]
    assert (stays.removeprefix("!") in held) != stays.startswith("!")
