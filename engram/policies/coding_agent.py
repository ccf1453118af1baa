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
    r")?to|standardi[sz]ed on|settled on|went with|is going with|is using|uses?|agreed on|agreed to use|"
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
        slot="coding:repo_constraint:{repo_rule}",
        patterns=(
            (
                r"\b(?:repo|repository) (?P<repo_rule>[\w./-]{1,100})[ ,:].{0,120}?\b(?:never|always|must|do not|"
                r"don't|only|requires?|forbids?)\b"
            ),
            r"\b(?:never|always|must|do not|don't|only)\b.{0,120}?\b(?:repo|repository) (?P<repo_rule>[\w./-]{1,100})",
            (
                r"\b(?:never|always|must|do not|don't|only)\b.{0,120}?\bthe (?P<repo_rule>[\w./-]{1,100}) "
                r"(?:repo|repository)\b"
            ),
            (
                r"\b(?:in|for) the (?P<repo_rule>[\w./-]{1,100}) (?:repo|repository)\b.{0,120}?\b(?:never|always|"
                r"must|do not|don't|only)\b"
            ),
        ),
        subject="named",
    ),
    SlotRule(
        name="decision_topic",
        slot="coding:implementation_decision:{purpose}",
        patterns=(rf"{_DECIDERS}{_MOVED} (?P<purpose>.{{1,300}})$",),
        memory_types=("decision",),
        subject="named",
    ),
    SlotRule(
        name="decision_aim",
        slot="coding:implementation_decision:{aim}",
        patterns=(rf"^for (?P<aim>[^,]{{1,80}}), {_DECIDERS.removeprefix('^')}{_MOVED} [^,]{{1,80}}$",),
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
