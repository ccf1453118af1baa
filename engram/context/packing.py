"""Packing: what is printed within a budget of tokens, tried against the whole text as it would be printed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from engram import text
from engram.context.forms import FORMS, Form, Lines
from engram.context.items import Item, candidates, context_item, delimiter_of, styled
from engram.context.sections import (
    ARTIFACTS,
    CORE,
    CRITICAL,
    CRITICAL_SHARE,
    DATA,
    DECISIONS,
    DISTRUSTED,
    EVENTS,
    FLOW,
    MOST_EVENTS,
    MOST_RELEVANT,
    NO_ROOM,
    NO_SHARE,
    NOT_CURRENT,
    RECENT,
    RELEVANT,
    REPEATED,
    SHADOWED,
    SHARES,
    SOURCE_FULL,
    STATE,
    TASK,
    TASKS,
    Layout,
    Material,
    Style,
)
from engram.context.showing import is_printable
from engram.counting import Counter
from engram.errors import LimitExceeded
from engram.values import ContextBlock, ContextSection, Format, SearchResult, Trust, trust_rank

PER_SESSION: Final = 4
SOURCE_SHARE: Final = 0.20  # of the budget, for everything of one untrusted source
STABLE: Final = (CRITICAL, TASK, STATE, CORE)  # sections that hold the same whatever is asked
KEPT_CHARACTERS: Final = 24  # of the newest event, before anything else is packed


def pack(
    material: Material, *, max_tokens: int, shares: Mapping[str, float] = SHARES, format: Format = "markdown",
    min_trust: Trust = "web", strict: bool = False, count: Counter = text.count_tokens, key: bytes = b"",
    critical_share: float = CRITICAL_SHARE, grows: bool = True, layout: Layout | None = None,
    style: Style | None = None, part_of: int | None = None,
) -> ContextBlock:  # fmt: skip
    """The block of at most `max_tokens` that holds the most important of the material.

    An item is whole or left out; only the newest event and the goal may be cut, with a mark. Nothing is printed twice.
    With `grows` critical memories take more than their share where all of them then fit. `strict` raises LimitExceeded
    when one of them does not. Of a block that is `part_of` a larger one, a source has its fifth of that one.
    """
    worst = trust_rank(min_trust)
    layout = layout or Layout(shares, FLOW)
    style = style or Style()
    items = tuple(styled(item, style) for item in candidates(material, worst, layout.shares))
    packing = _Packing(
        items, tuple(material.critical_omitted), FORMS[format], delimiter_of(items, key), max_tokens, count,
        tuple(layout.shares), by_day=style.group_by == "date",
    )  # fmt: skip
    packing.most_of_source = SOURCE_SHARE * (part_of or max_tokens)
    packing.fill(layout, critical_share, grows=grows)
    omitted = packing.critical_omitted()
    if strict and omitted:
        total = len(packing.of[CRITICAL]) + len(material.critical_omitted)
        raise LimitExceeded("build_context", total - len(omitted), total, "critical memories within the budget")
    shown = packing.whole()
    printed = packing.printed()
    newest = next((item for item in items if item.section == EVENTS and item.cuttable), None)
    said = newest is None or newest in printed or bool(newest.hidden_by & packing.keys)
    unsaid = () if said else (f"the newest event does not fit in {max_tokens} tokens",)
    return ContextBlock(
        text=shown, format=format, tokens=count(shown), max_tokens=max_tokens,
        sections=tuple(packing.sections(printed)), complete=not omitted,
        citations={item.mark: item.item_id for item in printed if item.mark},
        critical_omitted=omitted, max_trust=max((item.trust for item in printed), key=trust_rank, default="operator"),
        warnings=(*material.notes, *_warnings(material, min_trust), *unsaid), watermark=material.watermark,
        trimmed=_trimmed(material, worst, layout.shares, packing), items=tuple(map(context_item, printed)),
    )  # fmt: skip


def diverse(
    results: Iterable[SearchResult], *, per_session: int = PER_SESSION, limit: int = MOST_RELEVANT
) -> tuple[SearchResult, ...]:
    """The best results with at most `per_session` of one session, filled up with the rest where there are too few."""
    seen: dict[str, int] = {}
    first: list[SearchResult] = []
    later: list[SearchResult] = []
    for result in results:
        session = result.session_id
        if session is not None:
            seen[session] = seen.get(session, 0) + 1
        (first if session is None or seen[session] <= per_session else later).append(result)
    return tuple([*first, *later][:limit])


def _trimmed(material: Material, worst: int, wanted: Mapping[str, float], packing: _Packing) -> dict[str, str]:
    """What was gathered for a section that was wanted and is not in the block, by its id, and why."""
    given = [(CRITICAL, one) for one in material.critical] + [(DECISIONS, one) for one in material.decisions]
    given += [(CORE, one) for one in material.core] + [(RECENT, one) for one in material.recent]
    trimmed = dict.fromkeys(material.critical_omitted, NO_SHARE)
    for name, memory in given:
        if wanted.get(name) or name == CRITICAL:
            hidden = memory.memory_id in material.shadowed and name != CRITICAL
            trimmed |= _refused(memory.memory_id, memory.trust, is_printable(memory), worst, shadowed=hidden)
    for one in material.relevant if wanted.get(RELEVANT) else ():
        name = one.memory.memory_id if one.derived else one.memory.event_id
        hidden = "shadowed" in one.labels
        trimmed |= _refused(name, one.memory.trust, is_printable(one.memory), worst, shadowed=hidden)
    said = [(EVENTS, event) for event in material.events[:MOST_EVENTS]]
    said += [(ARTIFACTS, event) for event in material.artifacts]
    said += [(TASKS, event) for one in material.open for event in one.events]
    for name, event in said:
        if wanted.get(name) and event.content:
            trimmed |= _refused(event.event_id, event.trust, True, worst)
    trimmed |= packing.left_out()
    there = {packing.items[index].name for index in packing.chosen}
    return {name: reason for name, reason in trimmed.items() if name not in there}


def _refused(name: str, trust: Trust, current: bool, worst: int, *, shadowed: bool = False) -> dict[str, str]:
    if shadowed:
        return {name: SHADOWED}
    if not current:
        return {name: NOT_CURRENT}
    return {name: DISTRUSTED} if trust_rank(trust) > worst else {}


def _warnings(material: Material, min_trust: str) -> Iterator[str]:
    worst = trust_rank(min_trust)
    unseen = sum(trust_rank(memory.trust) > worst for memory in material.critical)
    if unseen:
        yield f"{unseen} critical memories are trusted less than {min_trust}"


_SLACK: Final = 8  # tokens that two texts may have fewer together than apart
_Lines = tuple[list[tuple[str, str]], list[str]]  # those a section prints itself, and those it has in the data block
NO_LINES: Final[_Lines] = ([], [])


class _Packing:
    """A block being packed. `chosen` maps items to the characters of them that are printed; it always fits.

    Items are tried together, as many as should fit by what each costs alone, and by halves where they do not: the whole
    text is counted a few times a section, however many items there are.
    """

    def __init__(
        self, items: Sequence[Item], before: tuple[str, ...], form: Form, delimiter: str, most: int, count: Counter,
        names: Sequence[str] = tuple(SHARES), *, by_day: bool = False,
    ) -> None:  # fmt: skip
        self.items, self.before, self.form, self.delimiter = items, before, form, delimiter
        self.most, self.count, self.by_day = most, count, by_day
        self.most_of_source = SOURCE_SHARE * most
        self.chosen: dict[int, int] = {}
        self.used = 0  # tokens of the whole text
        self.keys: set[str] = set()
        self.reasons: dict[int, str] = {}
        self.budgets: dict[str, int] = {}
        self.costs: dict[int, int] = {}
        self.of: dict[str, list[int]] = {name: [] for name in (CRITICAL, *names)}
        for index, item in enumerate(items):
            self.of[item.section].append(index)
        self.grouped = any(item.group for item in items)
        self.lines: dict[str, _Lines] = dict.fromkeys(self.of, NO_LINES)  # of what is chosen, section by section
        self.shown: dict[str, tuple[int, Lines, str]] = {}  # each section as it was printed last
        self.noticed = True
        self.noticed = count(self._text({}, self.lines)) <= most  # where the notice does not fit, `complete` says it

    def fill(self, layout: Layout, critical_share: float, *, grows: bool) -> None:
        """Critical first, then each section within its share, then whatever is left in the order of the flow.

        The newest event comes after critical memories that all fit, and before those that do not.
        """
        newest = next((index for index in self.of.get(EVENTS, ()) if self.items[index].cuttable), None)
        self.budgets[CRITICAL] = int(critical_share * self.most)
        pinned = grows and self._fit_all(self.of[CRITICAL])
        if newest is not None:
            self._largest(newest, KEPT_CHARACTERS, capped=False)
        if not pinned:
            self._fill_section(CRITICAL, self.budgets[CRITICAL])
        left, unused = self.most - self._cost(CRITICAL), 0
        for name, share in layout.shares.items():
            self.budgets[name] = int(share * left)
            within = self.budgets[name] + unused
            self._fill_section(name, within)
            unused = max(0, within - self._cost(name)) if layout.downward else 0
        for name in (*layout.flow, *([CRITICAL] if grows else [])):
            self._fill_section(name, None)

    def _fit_all(self, indexes: Sequence[int]) -> bool:
        """Print every one of these, or none."""
        if sum(map(self._alone, indexes)) > self.most + _SLACK * len(indexes):
            return False
        return bool(indexes) and self._try({index: len(self.items[index].body) for index in indexes}) is None

    def _fill_section(self, name: str, within: int | None) -> None:
        """Print what fits, in order: an item that does not is skipped, and is not the end."""
        rest = [index for index in self.of[name] if self.chosen.get(index, -1) < len(self.items[index].body)]
        if not rest:
            return
        start, several, room = 0, len(rest), self._room(name, within)
        while start < len(rest):
            index = rest[start]
            size = self._run(rest[start : start + several], room)
            wanted = {one: len(self.items[one].body) for one in rest[start : start + size]}
            least = self.most if self.chosen.get(index) else room  # what is there in part is in no room that is left
            if size == 1 and self._alone(index) > least + _SLACK:
                reason: str | None = NO_ROOM if self._alone(index) > self.most - self.used else NO_SHARE
            else:
                reason = self._try(wanted, within=within)
                room = self._room(name, within) if reason is None else room
            if reason is not None and size > 1:
                several = size // 2
                continue
            if reason is not None:
                self.reasons[index] = reason
                if self.items[index].cuttable:
                    self._largest(index, len(self.items[index].body), within=within)
                    room = self._room(name, within)
            start, several = start + size, max(1, 2 * size)

    def _room(self, name: str, within: int | None) -> int:
        left = self.most - self.used
        return left if within is None else min(left, within - self._cost(name))

    def _run(self, rest: Sequence[int], room: int) -> int:
        """How many of the next items should fit together, but at least one."""
        size = 0
        for index in rest:
            room -= self._alone(index) + 1
            if room < 0:
                break
            size += 1
        return max(1, size)

    def _alone(self, index: int) -> int:
        """What an item costs alone."""
        if index not in self.costs:
            item = self.items[index]
            self.costs[index] = self.count(item.said(len(item.body)))
        return self.costs[index]

    def _largest(self, index: int, most: int, *, within: int | None = None, capped: bool = True) -> None:
        """Print as many characters of an item as fit, at most `most`."""
        whole = len(self.items[index].body)
        may_fit = most >= whole and self._alone(index) <= self.most + _SLACK
        if may_fit and self._try({index: whole}, within=within, capped=capped) is None:
            return
        low, high = self.chosen.get(index, 0) + 1, min(most, whole - 1)
        probe = 2 * low + KEPT_CHARACTERS
        while probe < high:  # so that a long text is never counted whole
            if self._try({index: probe}, within=within, capped=capped) is not None:
                high = probe - 1
                break
            low, probe = probe + 1, 2 * probe
        while low <= high:
            middle = (low + high + 1) // 2
            if self._try({index: middle}, within=within, capped=capped) is None:
                low = middle + 1
            else:
                high = middle - 1

    def _try(self, wanted: Mapping[int, int], *, within: int | None = None, capped: bool = True) -> str | None:
        """Print some items of one section if the whole block then fits, the section its share, and each source its own.

        None where they are there or need not be; otherwise why they cannot.
        """
        trial, keys = dict(self.chosen), set(self.keys)
        added = []
        for index, length in wanted.items():
            item = self.items[index]
            if index not in self.chosen:
                if item.hidden_by & keys or not item.needs <= keys:
                    self.reasons[index] = REPEATED
                    continue
                keys |= item.keys
            trial[index] = length
            added.append(item)
        if not added:
            return None
        name = added[0].section
        lines = self.lines | {name: self._lines_of(name, trial)}
        if within is not None and self._cost(name, lines) > within:
            return NO_SHARE
        sources = {item.source for item in added if item.fenced} if capped else ()
        if any(self._taken(source, trial) > self.most_of_source for source in sources):
            return SOURCE_FULL
        used = self.count(self._text(trial, lines))
        if used > self.most:
            return NO_ROOM
        self.chosen, self.keys, self.used, self.lines = trial, keys, used, lines
        return None

    def _lines_of(self, name: str, chosen: Mapping[int, int]) -> _Lines:
        """The lines a section prints itself, and those it has in the data block."""
        own: list[tuple[str, str]] = []
        fenced: list[str] = []
        for index in self._in_order(name, chosen):
            item, said = self.items[index], self.items[index].said(chosen[index])
            if item.fenced:
                fenced.append(said)
            else:
                own.append((item.group, said))
        return own, fenced

    def _in_order(self, name: str, chosen: Collection[int]) -> list[int]:
        """What a section prints, in printed order: groups by their first item, those of days by the day."""
        there = sorted((index for index in self.of[name] if index in chosen), key=lambda i: self.items[i].place)
        if not self.grouped:
            return there
        groups = dict.fromkeys(self.items[index].group for index in there)
        if len(groups) < 2:
            return there
        ranks = {group: rank for rank, group in enumerate(sorted(groups) if self.by_day else groups)}
        return sorted(there, key=lambda index: ranks[self.items[index].group])

    def _cost(self, name: str, lines: Mapping[str, _Lines] | None = None) -> int:
        """What a section costs, as it is chosen or as it is tried."""
        own, fenced = (self.lines if lines is None else lines)[name]
        return (self.count(self._section(name, 0, own)) if own else 0) + (
            self.count("\n".join(fenced)) if fenced else 0
        )

    def _section(self, name: str, left: int, own: Lines) -> str:
        """A section as it is printed; one that is tried again with the same lines is not put together again."""
        known = self.shown.get(name)
        if known is None or known[0] != left or known[1] is not own:
            known = self.shown[name] = left, own, self.form.section(name, left, own)
        return known[2]

    def _taken(self, source: tuple[str, str], chosen: Mapping[int, int]) -> int:
        """What a source costs as it is printed, escaped and indented."""
        of_it = (i for i in chosen if self.items[i].fenced and self.items[i].source == source)
        return self.count(self.form.inside([self.items[i].said(chosen[i]) for i in of_it]))

    def _parts(self, chosen: Mapping[int, int], lines: Mapping[str, _Lines]) -> dict[str, str]:
        """What is printed, section by section, the data block last."""
        parts: dict[str, str] = {}
        data: list[str] = []
        for name, (own, fenced) in lines.items():
            left = len(self._omitted(chosen)) if name == CRITICAL and self.noticed else 0
            if own or left:
                parts[name] = self._section(name, left, own)
            data += fenced
        if data:
            parts[DATA] = self.form.data(self.delimiter, data)
        return parts

    def _text(self, chosen: Mapping[int, int], lines: Mapping[str, _Lines]) -> str:
        return self.form.whole(list(self._parts(chosen, lines).values()))

    def _omitted(self, chosen: Mapping[int, int]) -> tuple[str, ...]:
        if not self.of[CRITICAL] and not self.before:
            return ()
        there = {self.items[index].item_id for index in chosen}
        ids = [*(self.items[index].item_id for index in self.of[CRITICAL]), *self.before]
        return tuple(item_id for item_id in dict.fromkeys(ids) if item_id not in there)

    # What came of it

    def whole(self) -> str:
        """The text of the block; nothing at all where not even an empty one fits."""
        shown = self._text(self.chosen, self.lines)
        return shown if self.count(shown) <= self.most else ""

    def critical_omitted(self) -> tuple[str, ...]:
        """The critical memories that are nowhere in the block."""
        return self._omitted(self.chosen)

    def printed(self) -> list[Item]:
        """The items of the block, in printed order."""
        there = [self.items[index] for name in self.of for index in self._in_order(name, self.chosen)]
        return sorted(there, key=lambda item: item.fenced)

    def sections(self, printed: Sequence[Item]) -> Iterator[ContextSection]:
        """The sections that had something to print, and the data block, of all that is `printed`."""
        parts = self._parts(self.chosen, self.lines)
        there = {item.item_id for item in printed}
        for name, indexes in self.of.items():
            if not indexes and name not in parts:
                continue
            shown = parts.get(name, "")
            own = (item.item_id for item in printed if item.section == name and not item.fenced)
            yield ContextSection(
                name=name, text=shown, tokens=self.count(shown), budget=self.budgets.get(name, 0),
                item_ids=tuple(item_id for item_id in own if item_id),
                omitted_ids=tuple(self.items[i].item_id for i in indexes if self._is_left_out(i, there)),
                stable=name in STABLE,
            )  # fmt: skip
        if DATA in parts:
            cost = self.count(parts[DATA])
            fenced = (item.item_id for item in printed if item.fenced and item.item_id)
            yield ContextSection(DATA, parts[DATA], cost, cost, tuple(fenced))

    def left_out(self) -> Iterator[tuple[str, str]]:
        """What is nowhere in the block, by its name, and why."""
        there = {self.items[index].name for index in self.chosen}
        for index, reason in self.reasons.items():
            item = self.items[index]
            is_said = not item.item_id and item.keys <= self.keys
            if index not in self.chosen and item.name not in there and item.needs <= self.keys and not is_said:
                yield item.name, reason

    def _is_left_out(self, index: int, there: set[str]) -> bool:
        item = self.items[index]
        return bool(item.item_id) and item.item_id not in there and not item.hidden_by & self.keys
