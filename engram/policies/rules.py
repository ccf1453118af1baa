"""The shapes of a policy: rules that type a memory, rules that pin it to a slot, and the policy that holds them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from functools import lru_cache
from string import Formatter
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from engram import decay, inputs
from engram.errors import InvalidInput, PolicyError
from engram.policies.guards import Guard, Keep
from engram.policies.patterns import Joined, Pattern, compile_safe, joined
from engram.ranking import BUILT_IN as PROFILES
from engram.ranking import Profile
from engram.secrets import MODES as SECRETS
from engram.settings import COMPONENTS, LLM_LEVELS
from engram.text import normalise_key
from engram.values import MEMORY_TYPES, ROLES, MemoryType, Role

WriteMode = Literal["return", "report", "gate", "merge", "absorb", "store"]
WRITE_MODES: Final = get_args(WriteMode)
DERIVER_NAMES: Final = ("verbatim", "rules", "llm")
UNVERIFIED: Final = ("quarantine", "keep", "reject")
MAX_RULES: Final = 200
MAX_PATTERNS: Final = 100
LAST_VERSION: Final = 2**31 - 1  # which the rows of memories can hold
LONGEST_EXPIRY: Final = timedelta(days=36_525)  # a century, as for what is added

# What `thresholds` may name: the fields of the rooms' own, which stand above this one.
THRESHOLDS: Final = (
    "near", "conflict_distance", "conflict_distance_default", "conflict_jaccard", "surprise", "insert_dedup",
    "captured_dedup", "insert_merge", "dedup_jaccard", "dedup_cosine", "absorb", "merge", "merge_text",
    "merge_other_type", "reconcile_min", "reconcile_max", "audit_min", "audit_max", "core_overlap", "triage_dedup",
    "cluster", "cluster_jaccard", "cluster_words", "redundant", "redundant_deviation", "link_distance", "topic_assign",
    "topic_merge", "topic_inner", "topic_absorb", "topic_redundant",
)  # fmt: skip

_EVIDENCE: Final = ("verbatim",)
_ALL: Final = ("verbatim", "rules", "llm")  # without a language model the last is left out when an event is captured
# The key (role, event type); "*" stands for every role or every type, and the closest key wins.
DEFAULT_DERIVE: Final[Mapping[tuple[str, str], tuple[str, ...]]] = MappingProxyType(
    {
        ("user", "user_message"): _ALL,
        ("user", "*"): _EVIDENCE,
        ("assistant", "assistant_message"): _EVIDENCE,
        ("agent", "assistant_message"): _EVIDENCE,
        ("*", "tool_result"): _EVIDENCE,
        ("*", "observation"): _EVIDENCE,
        ("*", "artifact"): _EVIDENCE,
        ("*", "error"): _EVIDENCE,
        ("*", "decision"): ("rules",),
        ("*", "meeting"): ("rules",),
    }
)


@dataclass(frozen=True, slots=True)
class TypeRule:
    """Gives a memory its type when a pattern matches its compared text or its metadata says a value."""

    name: str
    memory_type: MemoryType
    patterns: tuple[str, ...] = ()
    metadata_values: tuple[str, ...] = ()
    category: str | None = None
    importance: float | None = None
    expires_in: timedelta | None = None
    compiled: tuple[Pattern, ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        _check_name(self.name)
        _check_type(self.memory_type)
        _set(self, "patterns", _texts(self.patterns, "patterns"))
        _set(self, "metadata_values", _texts(self.metadata_values, "metadata_values"))
        if not self.patterns and not self.metadata_values:
            raise PolicyError("a type rule needs a pattern or a metadata value")
        if self.importance is not None and not _is_unit(self.importance):
            raise PolicyError("the importance of a rule must be a number from 0 to 1")
        length = self.expires_in
        if length is not None and not (isinstance(length, timedelta) and timedelta(0) <= length <= LONGEST_EXPIRY):
            raise PolicyError(f"expires_in of a rule must be a timedelta of 0 to {LONGEST_EXPIRY.days} days")
        _check_optional_text(self.category, "category")
        _set(self, "compiled", tuple(compile_safe(pattern) for pattern in self.patterns))


@dataclass(frozen=True, slots=True)
class SlotRule:
    """Pins a memory to a slot, so that a newer value of the same thing supersedes an older one.

    `slot` may hold groups of the patterns (`profile:allergy:{allergen}`). `subject="self"` asks that the statement is
    about the user (or that the caller names another subject); `"named"` says that the slot itself names whose it is
    (a section, a suite, a topic).
    A group called `city`, `person`, `allergen`, `untolerated`, `substance` or `condition` is checked to be such a thing
    before it counts; `purpose`, `aim`, `repo_rule`, `party_duty` and `section_duty` become what a decision, a rule or a
    duty is about.
    """

    name: str
    slot: str
    patterns: tuple[str, ...]
    memory_types: tuple[MemoryType, ...] = ()
    subject: Literal["self", "named"] = "self"
    critical: bool = True
    groups: tuple[str, ...] = field(init=False, repr=False, compare=False, default=())
    compiled: tuple[Pattern, ...] = field(init=False, repr=False, compare=False, default=())
    says_value: bool = field(init=False, repr=False, compare=False, default=False)
    """Whether its patterns read the value of the slot beside its name: then a denial takes back that value."""

    def __post_init__(self) -> None:
        _check_name(self.name)
        _set(self, "patterns", _texts(self.patterns, "patterns"))
        _set(self, "memory_types", _texts(self.memory_types, "memory_types"))
        for memory_type in self.memory_types:
            _check_type(memory_type)
        if not self.patterns:
            raise PolicyError("a slot rule needs a pattern")
        if self.subject not in ("self", "named"):
            raise PolicyError("the subject of a slot rule is 'self' or 'named'")
        if not isinstance(self.critical, bool):
            raise PolicyError("critical of a slot rule is True or False")
        _set(self, "groups", _slot_groups(self.slot))
        _set(self, "compiled", tuple(compile_safe(pattern) for pattern in self.patterns))
        missing = [name for name in self.groups if not any(name in pattern.groupindex for pattern in self.compiled)]
        if missing:
            raise PolicyError("a slot names a group that no pattern has")
        _set(self, "says_value", any("held" in pattern.groupindex for pattern in self.compiled))

    @property
    def attribute(self) -> str | None:
        """The last part of a slot without groups: the attribute it holds one value of."""
        return None if self.groups else self.slot.rsplit(":", 1)[-1]


@dataclass(frozen=True, slots=True)
class MemoryPolicy:
    """How memories of a scope are typed, pinned, keyed and judged; named and versioned, never changed in place.

    `unverified` says what becomes of a fact whose quote a language model made up: kept apart, kept, or refused. `llm`
    gives single components a level or a model of their own, `daily_budget` caps what a tenant spends on models in a
    day, in dollars, where the setting does not cap it lower. `profiles` are scoring profiles that searches may name,
    and `profile` names the one they take where they name none; it comes before the setting.

    `secrets` says what becomes of keys, tokens, passwords and card numbers before anything is kept: a mark in their
    place, a refusal, or nothing; `secret_patterns` adds kinds of one's own, as patterns by name.
    `guards` are pure functions that see every candidate before it is judged: each takes a mapping with the fact and
    what else is said of it, and returns one, changed or not, or `Reject("why")`. `keep` takes a memory and says whether
    it may never be put away by the life cycle. `decay` names the forgetting curve of the table `ops.decay`. A memory
    rated down three times or more is archived when its confidence falls under `feedback_floor`.

    `intake` is the layer of new memories: `working`, or the `buffer`, out of which they rise when they are reinforced.
    `buffer_cap` is how many the buffer of a scope holds (None is 200), `max_memories` how many current ones a
    scope may hold at all (None is no limit): a cycle puts away what is over them. A working memory comes before the
    gate of the core from a reinforcement score of `promote_score` and an importance of `promote_importance` on.

    `links` says when new memories are put into topics and tied to their nearest: after a `cycle`, or seconds after each
    `write`, which adds one row of work to a scope for every five seconds in which it is written to.
    """

    name: str
    version: int = 1
    type_rules: tuple[TypeRule, ...] = ()
    slot_rules: tuple[SlotRule, ...] = ()
    critical_types: tuple[MemoryType, ...] = ()
    write_mode: WriteMode = "return"
    surprise: Literal["off", "score"] = "score"
    surprise_threshold: float = 0.15
    thresholds: Mapping[str, float] = field(default_factory=dict)
    functional_attributes: tuple[str, ...] = ()
    derive: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=lambda: DEFAULT_DERIVE)
    unverified: Literal["quarantine", "keep", "reject"] = "quarantine"
    llm: Mapping[str, str] = field(default_factory=dict)
    daily_budget: Decimal | None = None
    checkpoint_every: int = 50
    checkpoint_tokens: int = 32_000
    session_gap: timedelta = timedelta(minutes=30)  # of silence, which ends a session that Engram named
    summary_every: int = 20  # events of a session
    summary_style: Literal["concise", "structured"] = "concise"
    profile: str | None = None
    profiles: tuple[Profile, ...] = ()
    guards: tuple[Guard, ...] = ()
    secrets: Literal["redact", "refuse", "allow"] = "redact"
    secret_patterns: Mapping[str, str] = field(default_factory=dict)
    keep: Keep | None = None
    decay: str = "access"
    feedback_floor: float = 0.15
    intake: Literal["working", "buffer"] = "working"
    buffer_cap: int | None = None
    max_memories: int | None = None
    promote_score: float = 3.0
    promote_importance: float = 0.6
    links: Literal["cycle", "write"] = "cycle"

    def __post_init__(self) -> None:
        _check_name(self.name)
        is_whole = isinstance(self.version, int) and not isinstance(self.version, bool)
        if not is_whole or not 1 <= self.version <= LAST_VERSION:
            raise PolicyError(f"the version of a policy is a whole number from 1 to {LAST_VERSION:,}")
        _set(self, "type_rules", _rules(self.type_rules, TypeRule))
        _set(self, "slot_rules", _rules(self.slot_rules, SlotRule))
        _set(self, "critical_types", _texts(self.critical_types, "critical_types"))
        for memory_type in self.critical_types:
            _check_type(memory_type)
        if self.write_mode not in WRITE_MODES:
            raise PolicyError(f"write_mode must be one of {', '.join(WRITE_MODES)}")
        if self.surprise not in ("off", "score"):
            raise PolicyError("surprise must be 'off' or 'score'")
        if not _is_unit(self.surprise_threshold):
            raise PolicyError("surprise_threshold must be a number from 0 to 1")
        _set(self, "thresholds", _thresholds(self.thresholds))
        _set(self, "functional_attributes", _texts(self.functional_attributes, "functional_attributes"))
        _set(self, "derive", _derive_map(self.derive))
        if self.unverified not in UNVERIFIED:
            raise PolicyError(f"unverified must be one of {', '.join(UNVERIFIED)}")
        _set(self, "llm", _llm_map(self.llm))
        cap = self.daily_budget
        if cap is not None and not (isinstance(cap, Decimal) and cap.is_finite() and cap >= 0):
            raise PolicyError("daily_budget must be a Decimal of 0 or more dollars")
        _check_count(self.checkpoint_every, "checkpoint_every")
        _check_count(self.checkpoint_tokens, "checkpoint_tokens")
        _check_count(self.summary_every, "summary_every")
        if not isinstance(self.session_gap, timedelta) or not timedelta(0) < self.session_gap <= timedelta(days=366):
            raise PolicyError("session_gap must be a timedelta of more than nothing and at most 366 days")
        if self.summary_style not in ("concise", "structured"):
            raise PolicyError("summary_style must be 'concise' or 'structured'")
        _set(self, "profiles", _profiles(self.profiles))
        if self.profile is not None and self.profile not in (*PROFILES, *(one.name for one in self.profiles)):
            raise PolicyError("profile names a scoring profile that is neither built in nor one of profiles")
        _set(self, "guards", _guards(self.guards))
        if self.secrets not in SECRETS:
            raise PolicyError(f"secrets must be one of {', '.join(SECRETS)}")
        _set(self, "secret_patterns", _secret_patterns(self.secret_patterns))
        if self.keep is not None and not callable(self.keep):
            raise PolicyError("keep must be a function of a memory")
        if inspect.iscoroutinefunction(self.keep):
            raise PolicyError("keep must give its answer, and is one to be awaited (async def)")
        if self.decay not in decay.CURVES:
            raise PolicyError(f"decay must be one of {', '.join(decay.CURVES)}")
        if not _is_unit(self.feedback_floor):
            raise PolicyError("feedback_floor must be a number from 0 to 1")
        if self.intake not in ("working", "buffer"):
            raise PolicyError("intake must be 'working' or 'buffer'")
        for limit in ("buffer_cap", "max_memories"):
            if getattr(self, limit) is not None:
                _check_count(getattr(self, limit), limit)
        if not _is_number(self.promote_score) or not 0 < self.promote_score <= 1_000:
            raise PolicyError("promote_score must be a number of more than 0 and at most 1000")
        if not _is_unit(self.promote_importance):
            raise PolicyError("promote_importance must be a number from 0 to 1")
        if self.links not in ("cycle", "write"):
            raise PolicyError("links must be 'cycle' or 'write'")

    def derivers(self, role: str, event_type: str) -> tuple[str, ...]:
        """The names of the derivers that read an event of this role and type; () when none does."""
        for key in ((role, event_type), ("*", event_type), (role, "*"), ("*", "*")):
            if key in self.derive:
                return self.derive[key]
        return ()

    @property
    def types_joined(self) -> Joined | None:
        """The patterns of all type rules as one question, made when it is first asked."""
        return _types_joined(self.type_rules)

    @property
    def functional(self) -> frozenset[str]:
        """The attributes that hold one value at a time, as keys are written; by default those with a slot."""
        if self.functional_attributes:
            return frozenset(map(normalise_key, self.functional_attributes))
        return frozenset(normalise_key(rule.attribute) for rule in self.slot_rules if rule.attribute)

    def slot_of(self, attribute: str) -> SlotRule | None:
        """The rule whose slot holds an attribute of the user; None where none does, or its slot names a value too."""
        wanted = normalise_key(attribute)
        rules = (rule for rule in self.slot_rules if rule.attribute and not rule.groups)
        return next((rule for rule in rules if normalise_key(rule.attribute or "") == wanted), None)


@lru_cache(maxsize=64)
def _types_joined(rules: tuple[TypeRule, ...]) -> Joined | None:
    return joined(tuple(said for rule in rules for said in rule.patterns))


def _set(rule: Any, name: str, value: Any) -> None:
    object.__setattr__(rule, name, value)


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.:\-]{0,63}", name):
        raise PolicyError("the name of a policy or rule is 1 to 64 letters, digits and . _ - :")


def _check_type(memory_type: Any) -> None:
    if memory_type not in MEMORY_TYPES:
        raise PolicyError(f"the memory type of a rule must be one of {', '.join(MEMORY_TYPES)}")


def _check_optional_text(value: Any, field_name: str) -> None:
    if value is not None and (not isinstance(value, str) or not 0 < len(value) <= 64 or not _is_storable(value)):
        raise PolicyError(f"{field_name} of a rule is text of 1 to 64 characters")


def _is_storable(said: str) -> bool:
    """Whether PostgreSQL can hold a text of a rule, which has no NUL and no half characters then."""
    try:
        inputs.text(said, "text", limit=1_000, empty=True)
    except InvalidInput:
        return False
    return True


def _texts(values: Any, field_name: str) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, tuple | list):
        raise PolicyError(f"{field_name} must be a tuple of texts")
    if len(values) > MAX_PATTERNS or not all(isinstance(value, str) and value for value in values):
        raise PolicyError(f"{field_name} must hold at most {MAX_PATTERNS} texts, none empty")
    return tuple(values)


def _rules(rules: Any, kind: type) -> tuple[Any, ...]:
    if not isinstance(rules, tuple | list) or not all(isinstance(rule, kind) for rule in rules):
        raise PolicyError(f"rules must be a tuple of {kind.__name__}")
    if len(rules) > MAX_RULES or len({rule.name for rule in rules}) != len(rules):
        raise PolicyError(f"a policy has at most {MAX_RULES} rules of a kind, each with its own name")
    return tuple(rules)


def _profiles(values: Any) -> tuple[Profile, ...]:
    if not isinstance(values, tuple | list) or not all(isinstance(value, Profile) for value in values):
        raise PolicyError("profiles must be a tuple of Profile")
    if len(values) > MAX_RULES or len({value.name for value in values}) != len(values):
        raise PolicyError(f"a policy has at most {MAX_RULES} profiles, each with its own name")
    return tuple(values)


def _secret_patterns(values: Any) -> Mapping[str, str]:
    if not isinstance(values, Mapping) or len(values) > MAX_PATTERNS:
        raise PolicyError(f"secret_patterns must map at most {MAX_PATTERNS} kinds to patterns")
    for kind, pattern in values.items():
        if not isinstance(kind, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", kind):
            raise PolicyError("a kind of secret_patterns is 1 to 64 small letters, digits and _")
        if not isinstance(pattern, str):
            raise PolicyError("a pattern of secret_patterns must be text")
        if compile_safe(pattern).match(""):
            raise PolicyError("a pattern of secret_patterns must not match an empty text")
    return MappingProxyType(dict(values))


def _guards(values: Any) -> tuple[Guard, ...]:
    if not isinstance(values, tuple | list) or not all(callable(value) for value in values):
        raise PolicyError("guards must be a tuple of functions of a candidate")
    if any(map(inspect.iscoroutinefunction, values)):
        raise PolicyError("guards must give the candidate, and one is to be awaited (async def)")
    if len(values) > MAX_RULES:
        raise PolicyError(f"a policy has at most {MAX_RULES} guards")
    return tuple(values)


def _check_count(value: Any, field_name: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 1_000_000:
        raise PolicyError(f"{field_name} must be a whole number from 1 to 1000000")


def _is_unit(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _slot_groups(slot: Any) -> tuple[str, ...]:
    if not isinstance(slot, str) or not 0 < len(slot) <= 200 or slot != slot.strip() or not _is_storable(slot):
        raise PolicyError("a slot is text of 1 to 200 characters")
    try:
        parts = list(Formatter().parse(slot))
    except ValueError:
        raise PolicyError("a slot has unmatched braces") from None
    names = [name for _, name, _, _ in parts if name is not None]
    if any(spec or conversion for _, _, spec, conversion in parts) or not all(name.isidentifier() for name in names):
        raise PolicyError("a slot may hold {group} and nothing else in braces")
    return tuple(names)


def _thresholds(values: Any) -> Mapping[str, float]:
    if not isinstance(values, Mapping) or not all(isinstance(key, str) and _is_unit(v) for key, v in values.items()):
        raise PolicyError("thresholds must map names to numbers from 0 to 1")
    unknown = next((name for name in values if name not in THRESHOLDS), None)
    if unknown is not None:
        known = ", ".join(THRESHOLDS)
        raise PolicyError(f"thresholds names one that does not exist, {unknown[:64]!r}; there are {known}")
    return MappingProxyType(dict(values))


def _llm_map(values: Any) -> Mapping[str, str]:
    if not isinstance(values, Mapping):
        raise PolicyError("llm must map names of components to levels or models")
    for component, said in values.items():
        if component not in COMPONENTS:
            known = ", ".join(COMPONENTS)
            raise PolicyError(f"llm names a component that does not exist, {str(component)[:64]!r}; there are {known}")
        if not inputs.is_model_name(said):
            levels = ", ".join(LLM_LEVELS)
            raise PolicyError(f"llm of {component} must be one of {levels}, or the name of a model of 1 to 200 bytes")
    return MappingProxyType(dict(values))


def _derive_map(values: Any) -> Mapping[tuple[str, str], tuple[str, ...]]:
    if not isinstance(values, Mapping):
        raise PolicyError("derive must map (role, event type) to names of derivers")
    checked: dict[tuple[str, str], tuple[str, ...]] = {}
    for key, names in values.items():
        if not isinstance(key, tuple) or len(key) != 2 or not all(isinstance(part, str) for part in key):
            raise PolicyError("a key of derive is (role, event type)")
        if key[0] not in (*ROLES, "*"):
            raise PolicyError("a key of derive names a role that does not exist")
        if isinstance(names, str) or not isinstance(names, tuple | list) or any(n not in DERIVER_NAMES for n in names):
            raise PolicyError(f"derive names a deriver that does not exist; there are {', '.join(DERIVER_NAMES)}")
        checked[key] = tuple(dict.fromkeys(names))
    return MappingProxyType(checked)


__all__ = ["DEFAULT_DERIVE", "MemoryPolicy", "Role", "SlotRule", "TypeRule", "WriteMode"]
