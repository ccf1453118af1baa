"""Items: what may be printed of the material, with its marks, and how much of it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from engram import served
from engram.citations import whole_of
from engram.context.sections import (
    AGENT,
    ARTIFACTS,
    CHECKPOINTS,
    CORE,
    CRITICAL,
    CUT,
    DECISIONS,
    EVENTS,
    GRAPH,
    MOST_CHECKPOINTS,
    MOST_EVENTS,
    MOST_OF_FACT,
    MOST_RELEVANT,
    PRIVILEGED,
    RECENT,
    RELEVANT,
    STATE,
    TASK,
    TASKS,
    TOPICS,
    TRIGGERS,
    Material,
    Named,
    Open,
    Related,
    Style,
)
from engram.context.showing import delimiter, in_fence, in_line, is_printable, marks_of
from engram.recall import EVIDENCE
from engram.values import Checkpoint, Citation, ContextItem, Event, Memory, SearchResult, TaskRun, Trust, trust_rank

MOST_OF_NAME: Final = 40
COMPACT_CHARACTERS: Final = 80
NO_SESSION: Final = "no session"
MOST_OF_INDEX: Final = 120  # characters of a name in an index
MOST_LINES: Final = 60  # of one task run in a list of several
MOST_OF_SAVED: Final = 40  # of these, of its checkpoint
MOST_NEEDED: Final = 20  # of those, next steps, blockers and how things stand


class Item(NamedTuple):
    """One thing that may be printed in a section: a memory, an event, a relation, or a line of an index or a run."""

    section: str
    place: int  # where it is printed within its section
    item_id: str
    mark: str
    lead: str
    body: str
    trust: Trust
    fenced: bool
    source: tuple[str, str]
    keys: frozenset[str]  # what is in the block once this item is
    hidden_by: frozenset[str]  # what makes this item a repetition
    cuttable: bool = False
    needs: frozenset[str] = frozenset()  # what must be in the block already
    tail: str = ""  # of Engram's own words
    after: str = ""  # behind the mark
    group: str = ""
    row: Memory | Event | None = None
    at: datetime | None = None

    @property
    def name(self) -> str:
        """What it is called where it is left out: its id, or the line that it is of a run or an index."""
        return self.item_id or next(iter(self.keys))

    def said(self, length: int) -> str:
        """What is printed of it, with so many characters of its body."""
        body = self.body if length >= len(self.body) else self.body[:length].rstrip() + CUT
        mark = f" [{self.mark}]" if self.mark else ""
        return f"{self.lead}{body}{self.tail}{mark}{self.after}"


def candidates(material: Material, worst: int, wanted: Mapping[str, float]) -> Iterator[Item]:
    """Everything that may be printed, most important first within each section."""
    material = _without_shadowed(material)
    relevant = material.relevant[:MOST_RELEVANT]
    memories = [
        *material.critical, *(one.memory for one in relevant if one.derived), *material.decisions,
        *(one.other for one in material.related), *material.core, *material.recent,
    ]  # fmt: skip
    events = [*material.events, *material.artifacts, *(event for one in material.open for event in one.events)]
    late = [one.memory.event_id for one in relevant if not one.derived]
    marks = marks_of(
        [("mem", one.memory_id) for one in memories] + [("evt", i) for i in (*late, *(e.event_id for e in events))]
    )
    for place, memory in enumerate(material.critical):
        yield from _of_memory(CRITICAL, place, memory, marks, worst)
    if material.task is not None and wanted.get(TASK):
        yield from _of_task(material.task, worst)
    for place, saved in enumerate(material.checkpoints[:MOST_CHECKPOINTS]):
        section = CHECKPOINTS if place else STATE
        if wanted.get(section):
            yield from _of_checkpoint(section, -place, saved, worst)
    if wanted.get(EVENTS):
        newest = True
        for place, event in enumerate(material.events[:MOST_EVENTS]):
            for item in _of_event(EVENTS, -place, event, marks, worst, cuttable=newest):
                newest = False
                yield item
    for place, one in enumerate(relevant if wanted.get(RELEVANT) else ()):
        yield from _of_memory(RELEVANT, place, one.memory, marks, worst, one)
    for place, memory in enumerate(material.decisions if wanted.get(DECISIONS) else ()):
        yield from _of_memory(DECISIONS, place, memory, marks, worst)
    for place, event in enumerate(material.artifacts if wanted.get(ARTIFACTS) else ()):
        yield from _of_event(ARTIFACTS, place, event, marks, worst)
    for place, tie in enumerate(material.related if wanted.get(GRAPH) else ()):
        yield from _of_relation(place, tie, marks, worst)
    for place, memory in enumerate(material.core if wanted.get(CORE) else ()):
        yield from _of_memory(CORE, place, memory, marks, worst)
    for place, memory in enumerate(material.recent if wanted.get(RECENT) else ()):
        yield from _of_memory(RECENT, place, memory, marks, worst)
    yield from _of_open(material.open if wanted.get(TASKS) else (), marks, worst)
    for section, names in ((TOPICS, material.topics), (TRIGGERS, material.triggers)):
        for place, named in enumerate(names if wanted.get(section) else ()):
            yield from _of_name(section, place, named, worst)


def _without_shadowed(material: Material) -> Material:
    """The material without what a nearer scope says otherwise; what is pinned was chosen by the nearest of its slot."""

    def kept(found: Sequence[Memory]) -> list[Memory]:
        return [one for one in found if one.memory_id not in material.shadowed]

    return replace(
        material,
        relevant=[one for one in material.relevant if "shadowed" not in one.labels],
        related=[one for one in material.related if one.other.memory_id not in material.shadowed],
        decisions=kept(material.decisions), core=kept(material.core), recent=kept(material.recent),
    )  # fmt: skip


def _of_memory(
    section: str, place: int, memory: Memory, marks: Mapping[str, str], worst: int, found: SearchResult | None = None
) -> Iterator[Item]:
    if not is_printable(memory) or trust_rank(memory.trust) > worst:
        return
    fenced = _is_fenced(section, memory)
    late = found is not None and not found.derived
    item_id, own = (
        (memory.event_id, f"evt:{memory.event_id}") if late else (memory.memory_id, f"mem:{memory.memory_id}")
    )
    evidence = memory.category in EVIDENCE
    # A verbatim row is its event; a chunk is a part of it, and other chunks may stand beside it.
    keys = {own, f"evt:{memory.event_id}"} if memory.category == EVIDENCE[0] else {own}
    note = " (partly superseded)" if found is not None and "partly superseded" in found.labels else ""
    body = in_fence(memory.fact) if fenced else in_line(memory.fact)
    if not body:
        return
    who = memory.actor if evidence else None
    yield Item(
        section=section, place=place, item_id=item_id, mark=marks[item_id],
        lead=_lead(fenced, memory.trust, memory.valid_from, bare=section == CRITICAL, who=who),
        body=body, trust=memory.trust, fenced=fenced, tail=note, row=memory, at=memory.valid_from,
        source=_source(memory),
        keys=frozenset(keys), hidden_by=frozenset(keys | ({f"evt:{memory.event_id}"} if evidence else set())),
    )  # fmt: skip


def _is_fenced(section: str, memory: Memory) -> bool:
    rank = trust_rank(memory.trust)
    return rank > AGENT or (rank == AGENT and (section == DECISIONS or memory.memory_type in PRIVILEGED))


def _source(memory: Memory) -> tuple[str, str]:
    return memory.trust, memory.source or memory.actor or memory.session_id or ""


def _of_event(
    section: str, place: int, event: Event, marks: Mapping[str, str], worst: int, *, cuttable: bool = False
) -> Iterator[Item]:
    if trust_rank(event.trust) > worst or not event.content:
        return
    fenced = trust_rank(event.trust) > AGENT
    said = served.without(event.content)
    body = in_fence(said) if fenced else in_line(said)
    if not body:
        return
    who = event.role if event.actor in (None, event.role) else f"{event.role} {event.actor}"
    keys = frozenset({f"evt:{event.event_id}"})
    yield Item(
        section=section, place=place, item_id=event.event_id, mark=marks[event.event_id],
        lead=_lead(fenced, event.trust, event.occurred_at, who=who), body=body, trust=event.trust, fenced=fenced,
        source=(event.trust, event.actor or event.session_id or ""), keys=keys, hidden_by=keys, cuttable=cuttable,
        row=event, at=event.occurred_at,
    )  # fmt: skip


def _of_relation(place: int, tie: Related, marks: Mapping[str, str], worst: int) -> Iterator[Item]:
    """A relation as a line, with the mark of its other end behind that, or without one where it is cited already."""
    seed, other = tie.seed, tie.other
    trust = max(seed.trust, other.trust, key=trust_rank)
    if trust_rank(trust) > worst or not (is_printable(seed) and is_printable(other)):
        return
    fenced = any(_is_fenced(GRAPH, one) for one in (seed, other))
    ends = (seed, other) if tie.outbound else (other, seed)
    said = [(in_fence if fenced else in_line)(short(one.fact)) for one in ends]
    arrow = f" —{in_line(tie.relation_type)}→ "
    edge = f"rel:{ends[0].memory_id} {tie.relation_type} {ends[1].memory_id}"
    cited = f"mem:{other.memory_id}"
    both = frozenset({edge, cited})
    line = Item(
        section=GRAPH, place=place, item_id=other.memory_id, mark=marks[other.memory_id],
        lead=_lead(True, trust, other.valid_from) if fenced else "",
        body=f"{said[0]}{arrow}{said[1]}" if tie.outbound else said[0], after="" if tie.outbound else arrow + said[1],
        trust=trust, fenced=fenced, source=_source(other), keys=both, hidden_by=both, row=other, at=other.valid_from,
    )  # fmt: skip
    yield line
    own = frozenset({edge})
    yield line._replace(item_id="", mark="", keys=own, hidden_by=own, needs=frozenset({cited}))


def _of_name(section: str, place: int, named: Named, worst: int) -> Iterator[Item]:
    """A line of an index: a name, and how many memories stand behind it."""
    rank = trust_rank(named.trust)
    fenced = rank > AGENT
    body = (in_fence if fenced else in_line)(named.name[:MOST_OF_INDEX])
    if rank > worst or not body:
        return
    keys = frozenset({f"{section}/{named.name}"})
    yield Item(
        section=section, place=place, item_id="", mark="", lead=f"[{named.trust}] " if fenced else "",
        body=body if named.memories is None else f"{body} [{named.memories}]", trust=named.trust, fenced=fenced,
        source=(named.trust, section), keys=keys, hidden_by=keys,
    )  # fmt: skip


def _of_open(runs: Sequence[Open], marks: Mapping[str, str], worst: int) -> Iterator[Item]:
    """The runs that go on: first of all where each stands and what is next, then what was decided, happened, was done.

    Each run is printed together, its events last.
    """
    for number, one in enumerate(runs):
        task = one.task
        if trust_rank(task.trust) <= worst:
            yield _own(TASKS, number * MOST_LINES, f"{task.status.capitalize()}: ", task.goal, task.trust,
                       task.started_at, f"{task.task_run_id}/goal")  # fmt: skip
            yield from _of_saved(number, one.checkpoint, worst, needed=True)
    for number, one in enumerate(runs):
        if trust_rank(one.task.trust) <= worst:
            yield from _of_saved(number, one.checkpoint, worst, needed=False)
        for back, event in enumerate(one.events[: MOST_LINES - MOST_OF_SAVED]):
            yield from _of_event(TASKS, (number + 1) * MOST_LINES - 1 - back, event, marks, worst)


def _of_saved(number: int, saved: Checkpoint | None, worst: int, *, needed: bool) -> Iterator[Item]:
    """What is next in a run among others and how things stand in it, or else the details of its latest checkpoint."""
    if saved is None or saved.erased or trust_rank(saved.trust) > worst:
        return
    parts = _parts_of(saved, "Next")
    first = [*(parts["Next"] + parts["Blocked"])[: MOST_NEEDED - 1], ("State: ", saved.summary)]
    rest = [*parts["Decided"], *parts["Done"], *parts["Made"]]
    rest += [("Values: ", _json(saved.state))] if saved.state else []
    lines = list(enumerate([*first, *rest][: MOST_OF_SAVED - 1], 1))
    for line, (lead, said) in lines[: len(first)] if needed else lines[len(first) :]:
        if said:
            yield _own(TASKS, number * MOST_LINES + line, lead, said, saved.trust, saved.recorded_at,
                       f"{saved.checkpoint_id}/{line}")  # fmt: skip


def short(fact: str, longest: int = MOST_OF_FACT) -> str:
    """A fact, or of one that is longer than `longest` its first line, cut where that is long too."""
    if len(fact) <= longest:
        return fact
    first = next((line for line in fact.splitlines() if line.strip()), fact)
    return first if len(first) <= MOST_OF_FACT else first[: MOST_OF_FACT - len(CUT)].rstrip() + CUT


def _of_task(task: TaskRun, worst: int) -> Iterator[Item]:
    """The goal, which may be cut, and beside it the state and what came of it."""
    if trust_rank(task.trust) > worst:
        return
    lines = [("goal", "", task.goal), ("status", "Status: ", task.status), ("outcome", "Outcome: ", task.outcome or "")]
    for place, (name, lead, said) in enumerate(lines):
        if said:
            yield _own(TASK, place, lead, said, task.trust, task.started_at, name, cuttable=name == "goal")


def _of_checkpoint(section: str, place: int, saved: Checkpoint, worst: int) -> Iterator[Item]:
    """The latest checkpoint line by line, the most needed first; an earlier one by its summary."""
    if trust_rank(saved.trust) > worst or saved.erased:
        return
    said = [("", saved.summary)]
    if section == STATE:
        said += itertools.chain(*_parts_of(saved, "Pending").values())
        said += [("State: ", _json(saved.state))] if saved.state else []
    for line, (lead, one) in enumerate(said):
        where = line if section == STATE else place
        day = "" if section == STATE else _lead(False, saved.trust, saved.recorded_at)
        yield _own(section, where, day + lead, one, saved.trust, saved.recorded_at, f"{saved.checkpoint_id}/{line}")


def _parts_of(saved: Checkpoint, pending: str) -> dict[str, list[tuple[str, str]]]:
    """The lists of a checkpoint as lines with their leads, those needed most first; what was done last comes first."""
    parts = {
        pending: saved.pending_steps, "Blocked": saved.blockers, "Decided": saved.decisions,
        "Done": saved.completed_steps[::-1], "Made": saved.artifacts,
    }  # fmt: skip
    return {name: [(f"{name}: ", one) for one in lines] for name, lines in parts.items()}


def _json(state: Mapping[str, object]) -> str:
    return json.dumps(state, ensure_ascii=False, sort_keys=True)


def _own(
    section: str, place: int, lead: str, said: str, trust: Trust, at: datetime, key: str, *, cuttable: bool = False
) -> Item:
    """A line of what a run says of itself: fenced like everything else where it is trusted too little."""
    fenced = trust_rank(trust) > AGENT
    keys = frozenset({f"run:{key}"})
    return Item(
        section, place, "", "", (_lead(True, trust, at) if fenced else "") + lead,
        in_fence(said) if fenced else in_line(said), trust, fenced, (trust, key.split("/")[0]), keys, keys,
        cuttable=cuttable, at=at,
    )  # fmt: skip


def _lead(fenced: bool, trust: str, at: datetime, *, bare: bool = False, who: str | None = None) -> str:
    day = f"{at.astimezone(UTC):%Y-%m-%d}"
    if fenced:
        return f"[{trust} {day}] "
    if bare:
        return ""
    return f"{day} {in_line(who)[:MOST_OF_NAME]}: " if who else f"{day}: "


def delimiter_of(items: Sequence[Item], key: bytes) -> str:
    """What opens and closes the data block of these items."""
    said = (f"{item.lead}{item.body}{item.tail}{item.after}{item.group}" for item in items)
    return delimiter((f"{item.item_id}\x00{one}" for item, one in zip(items, said, strict=True)), key)


def styled(item: Item, style: Style) -> Item:
    """An item in a style; a line of a run or of an index has no type and no session, and stays as it is."""
    row, at = item.row, item.at
    if row is None or at is None or not (style.metadata or style.detail == "compact" or style.group_by is not None):
        return item
    kind = row.memory_type if isinstance(row, Memory) else in_line(row.event_type)[:MOST_OF_NAME]
    day = f"{at.astimezone(UTC):%Y-%m-%d}"
    if style.group_by is not None and not item.fenced:
        session = in_line(row.session_id or "")[:MOST_OF_NAME] or NO_SESSION
        item = item._replace(group={"type": kind, "date": day, "session": session}[style.group_by])
    about = list(_about(row, kind, at, style.now)) if style.metadata else []
    if style.detail == "compact":
        lead = f"[{item.trust} {day} {kind}] " if item.fenced else f"{day} {kind}: "
        # What is pinned is followed to the letter, and is not cut.
        body = item.body if item.section == CRITICAL else _shortened(item.body)
        item, about = item._replace(lead=lead, body=body), about[1:]
    if not about:
        return item
    said = ", ".join(about)
    if item.fenced:  # before the text, which could pretend to such a note at its end
        return item._replace(lead=f"{item.lead.rstrip().removesuffix(']')}; {said}] ")
    return item._replace(tail=f"{item.tail} ({said})")


def _about(row: Memory | Event, kind: str, at: datetime, now: datetime | None) -> Iterator[str]:
    yield kind
    if now is not None:
        days = max(0, (now - at).days)
        yield "1 day old" if days == 1 else f"{days} days old"
    if isinstance(row, Memory):
        yield f"importance {row.importance:.2f}"


def _shortened(body: str) -> str:
    said = " ".join(body.split())
    return said if len(said) <= COMPACT_CHARACTERS else said[: COMPACT_CHARACTERS - 1].rstrip() + "…"


def context_item(item: Item) -> ContextItem:
    """An item as a caller is told that it is in the block."""
    return ContextItem(
        mark=item.mark, item_id=item.item_id, section=item.section, trust=item.trust, at=item.at,
        source=item.source[1], fenced=item.fenced, citations=_rests_on(item),
    )  # fmt: skip


def _rests_on(item: Item) -> tuple[Citation, ...]:
    """The characters of events an item rests on: those its memory cites, or all that its event says."""
    row = item.row
    if row is None or not item.mark:
        return ()
    if isinstance(row, Memory):
        return row.citations
    return (whole_of(row.event_id, row.content or ""),)
