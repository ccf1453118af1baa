"""The policy of a coding agent: rules of the repository, results of test suites, decisions by topic."""

from __future__ import annotations

from typing import Final

from engram.policies.default import SLOT_RULES, TYPE_RULES
from engram.policies.rules import DEFAULT_DERIVE, MemoryPolicy, SlotRule, TypeRule

_RESULT = r"(?:passed|failed|passes|fails|failing|passing|exit code \d{1,3}|exited with|green|red|succeeded|errors?)"
_SUITE = r"(?P<suite>[\w./-]{1,80})"
_DECIDERS = (
    r"^(?:user|user's team|user's group|the team|the agent|the project|we|i|decision:) (?:(?:has|have|now|just|"
    r"also|finally|recently|already) ){0,2}"
)
_MOVED = (
    r"(?:decided (?:to use|on|to go with|to switch to|to move to)|chose|picked|adopted|switched (?:back |over "
    r")?(?:from [\w.+# -]{1,40}? )?to|migrated (?:from [\w.+# -]{1,40}? )?to|moved (?:from [\w.+# -]{1,40}? "
    r")?to|standardi[sz]ed on|settled on|went with|is going with|is using|uses|agreed on|agreed to use|"
    r"replaced [\w.+# -]{1,40}? with)"
)

RESULT: Final = TypeRule(
    name="run_result",
    memory_type="tool_result",
    patterns=(
        r"\bexit(?:ed with)? (?:code|status) \d+\b",
        r"\b\d+ (?:tests? )?(?:passed|failed|errors?|skipped)\b",
        (
            r"\b(?:tests?|builds?|suites?|lint|ci|pipelines?) (?:[\w./:-]+ )?(?:passed|failed|passes|fails|"
            r"succeeded|is green|is red|are green|are red)\b"
        ),
    ),
)
REPOSITORY: Final = TypeRule(
    name="repository_rule",
    memory_type="constraint",
    patterns=(
        r"\bsandbox(?:ed)?\b",
        r"\b(?:requires?|needs?|without|ask for|wait for) (?:\w+ )?approval\b",
        r"\b(?:repo|repository)\b.{0,80}\b(?:never|always|must|do not|don't|only|require[sd]?|forbid[s]?)\b",
        (
            r"\b(?:never|always|must|do not|don't|only)\b.{0,80}\b(?:repo|repository|main branch|force[- ]push|"
            r"commit to main)\b"
        ),
    ),
)
WORK: Final = TypeRule(
    name="work",
    memory_type="task",
    patterns=(
        r"^(?:please )?(?:implement|fix|ship|refactor|add tests|write tests)\b",
        r"\bneeds? to (?:implement|fix|ship|refactor)\b",
    ),
)

_TOPICS: Final = (
    ("database", (
        "postgres|postgresql|mysql|mariadb|sqlite|mongodb|mongo|dynamodb|cockroachdb|cassandra|oracle|sql "
        "server|duckdb|firestore"
    )),
    ("cache", "redis|memcached|valkey|dragonfly"),
    ("queue", "kafka|rabbitmq|sqs|nats|celery|dramatiq|sidekiq|pulsar"),
    ("language", "python|typescript|javascript|rust|go|golang|java|kotlin|scala|elixir|ruby|swift|c\\+\\+|c#|zig|php"),
    ("package_manager", "npm|pnpm|yarn|bun|uv|pip|poetry|pipenv|conda"),
    ("test_runner", "pytest|jest|vitest|mocha|unittest|playwright|cypress|rspec|junit"),
    ("ci", "github actions|gitlab ci|circleci|jenkins|buildkite|travis|teamcity"),
    ("cloud", "aws|gcp|azure|google cloud|hetzner|digitalocean|fly\\.io|heroku|vercel|netlify|cloudflare"),
    ("web_framework", (
        "django|flask|fastapi|express|rails|next\\.js|nextjs|react|vue|svelte|sveltekit|angular|spring boot|"
        "laravel|phoenix"
    )),
    ("formatter", "prettier|black|ruff|biome|gofmt|rustfmt"),
)  # fmt: skip


def _decision(topic: str, tools: str) -> SlotRule:
    return SlotRule(
        name=f"decision_{topic}",
        slot=f"coding:implementation_decision:{topic}",
        patterns=(rf"{_DECIDERS}{_MOVED} (?P<tool>{tools})(?: \d[\w.]*)?(?:$|[ .,;:!)])",),
        memory_types=("decision",),
        subject="named",
    )


SLOTS: Final = (
    SlotRule(
        name="test_result",
        slot="coding:test_result:{suite}",
        patterns=(
            rf"\bexit(?:ed with)? (?:code|status) \d{{1,3}} (?:in|for|from) (?:the )?(?:test )?(?:suite )?{_SUITE}",
            rf"\bsuite[ :=]{{1,2}}{_SUITE}[ :,(].{{0,80}}?{_RESULT}\b",
            rf"\b{_RESULT}\b.{{0,60}}?\bsuite[ :=]{{1,2}}{_SUITE}",
            rf"^(?:the )?{_SUITE} (?:test )?suite (?:\w+ )?{_RESULT}\b",
            rf"^(?:the )?tests? (?:in|of|for) (?:the )?{_SUITE} (?:\w+ )?{_RESULT}\b",
        ),
        subject="named",
    ),
    SlotRule(
        name="repo_constraint",
        slot="coding:repo_constraint:{repo}",
        patterns=(
            (
                r"\b(?:repo|repository) (?P<repo>[\w./-]{1,100})[ ,:].{0,120}?\b(?:never|always|must|do not|"
                r"don't|only|requires?|forbids?)\b"
            ),
            r"\b(?:never|always|must|do not|don't|only)\b.{0,120}?\b(?:repo|repository) (?P<repo>[\w./-]{1,100})",
            r"\b(?:never|always|must|do not|don't|only)\b.{0,120}?\bthe (?P<repo>[\w./-]{1,100}) (?:repo|repository)\b",
            (
                r"\b(?:in|for) the (?P<repo>[\w./-]{1,100}) (?:repo|repository)\b.{0,120}?\b(?:never|always|"
                r"must|do not|don't|only)\b"
            ),
        ),
        subject="named",
    ),
    *(_decision(topic, tools) for topic, tools in _TOPICS),
    SlotRule(
        name="decision_topic",
        slot="coding:implementation_decision:{topic}",
        patterns=(
            (
                rf"{_DECIDERS}{_MOVED} (?P<tool>[\w.+#-]{{1,40}}(?: [\w.+#-]{{1,40}})?) (?:for|"
                rf"as) (?:the |our |user's )?(?P<topic>[\w-]{{2,40}}(?: [\w-]{{2,40}})?)$"
            ),
        ),
        memory_types=("decision",),
        subject="named",
    ),
)

CODING_AGENT: Final = MemoryPolicy(
    name="coding_agent",
    type_rules=(RESULT, REPOSITORY, WORK, *TYPE_RULES),
    slot_rules=(*SLOT_RULES, *SLOTS),
    derive={**DEFAULT_DERIVE, ("*", "tool_result"): ("verbatim", "rules"), ("*", "error"): ("verbatim", "rules")},
)
