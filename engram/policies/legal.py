"""The legal policy: obligations, approvals, and slots that know the section or the party they speak of."""

from __future__ import annotations

from typing import Final

from engram.policies.default import SLOT_RULES, TYPE_RULES
from engram.policies.rules import MemoryPolicy, SlotRule, TypeRule

_SECTION = r"(?:section|clause|article|§) ?(?P<section>\d{1,4}(?:\.\d{1,4}){0,2}(?:\([a-z0-9]{1,4}\)){0,4})"
_PARTY = (
    r"(?:the )?(?P<party_duty>supplier|customer|vendor|client|licensor|licensee|landlord|tenant|lessor|lessee|buyer|"
    r"seller|employer|employee|contractor|provider|borrower|lender|party a|party b)"
)


def _about(name: str, words: str, by: str = "section") -> tuple[SlotRule, SlotRule]:
    """The two rules of a legal matter: by section, and, where no section is named, by party and what it must do."""
    section = _SECTION.replace("(?P<section>", f"(?P<{by}>")
    return (
        SlotRule(
            name=f"{name}_section",
            slot=f"legal:{name}:{{{by}}}",
            patterns=(rf"{section}[ :,.;].*\b(?:{words})", rf"\b(?:{words})\b.{{0,200}}?{section}"),
            subject="named",
        ),
        SlotRule(
            name=f"{name}_party",
            slot=f"legal:{name}:{{party_duty}}",
            patterns=(rf"^{_PARTY}(?:'s)? (?:[\w-]+ ){{0,6}}?(?:{words})",),
            subject="named",
        ),
    )


OBLIGATION: Final = TypeRule(
    name="obligation",
    memory_type="constraint",
    patterns=(
        r"\bshall\b",
        r"\bliab(?:ility|le)\b",
        r"\bindemni(?:ty|fy|fies|fication|fied)\b",
        r"\bconfidential",
        r"\bgoverning law\b",
    ),
)
APPROVAL: Final = TypeRule(
    name="approval",
    memory_type="decision",
    patterns=(r"\b(?:approved|rejected|redlined?|redlines|struck out|countersigned)\b",),
)

SLOTS: Final = (
    *_about("citation_requirement", r"citations?|cite|cited|pinpoint"),
    *_about("audit_logs", r"audit logs?|audit trails?|audit records?"),
    *_about("indemnity", r"indemnity|indemnif(?:y|ies|ied|ication)"),
    *_about("confidentiality", r"confidential|confidentiality|non-disclosure"),
    *_about("liability", r"liability|liable"),
    *_about("deadline", r"deadline|due date|no later than|within \d{1,4} (?:business )?days", by="section_duty"),
)

LEGAL: Final = MemoryPolicy(
    name="legal", type_rules=(OBLIGATION, APPROVAL, *TYPE_RULES), slot_rules=(*SLOT_RULES, *SLOTS)
)
