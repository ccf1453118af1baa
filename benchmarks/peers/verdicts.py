"""What the figures say, in words that are made from them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from work import BIG, SMALL

OWN = "engram"
SAME_RECALL = 0.01  # so much less recall still counts as equal
CLEAR = 1.05  # a ratio below which nobody is called better
SLOWER = 1.15  # so many times slower a machine is said to be


@dataclass(frozen=True, slots=True)
class Speed:
    """One way of one peer to search, and what its writing cost; None where it was not measured.

    `recall` is the share of the exactly nearest ten that was found, by user; `target` the mean of one by the place of
    the memory a question was made from; `pace` what a fixed piece of work and a `SELECT 1` took before and after, ms.
    """

    peer: str
    mode: str
    one_rate: float | None
    many_rate: float
    settle_seconds: float
    p50: Mapping[str, float]
    p95: Mapping[str, float]
    recall: Mapping[str, float]
    target: float
    strangers: int
    memory_mib: float
    disk_bytes: float | None
    floor: bool = False
    pace: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Quality:
    """What one way of one peer to search found of labelled evidence, each measure between 0 and 1."""

    peer: str
    mode: str
    measures: Mapping[str, float]
    p50: float


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so large a share is not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def paces(rows: Sequence[Speed]) -> list[str]:
    """How much slower the machine was around each row's turn than at its best: for itself, and for messages."""
    known = [row.pace for row in rows if row.pace is not None]
    quickest = [min(each) for each in zip(*known, strict=True)]
    return [
        "–" if row.pace is None
        else " / ".join(f"{took / least:.2f}" for took, least in zip(row.pace, quickest, strict=True))
        for row in rows
    ]  # fmt: skip


def slowness(own: Speed, row: Speed) -> float:
    """How many times slower than in Engram's turn the machine was in a row's, by the worse pace; 1 if hardly."""
    if own.pace is None or row.pace is None:
        return 1.0
    times = max(late / early for early, late in zip(own.pace, row.pace, strict=True))
    return times if times > SLOWER else 1.0


def called(own: Speed, row: Speed) -> str:
    """A peer, with how much slower the machine was in its turn."""
    more = 100 * (slowness(own, row) - 1)
    return f"{row.peer} (machine up to {more:.0f} % slower)" if more else row.peer


def ratio(better: float, worse: float) -> str:
    """How many times, for a sentence."""
    times = better / worse
    return f"{times:.0f} times" if times >= 10 else f"{times:.1f} times"


def speeds(rows: Sequence[Speed]) -> list[str]:
    """Every figure in which somebody is clearly better than Engram; one sentence that nobody is, where that is so."""
    rivals = [row for row in rows if row.peer != OWN and not row.floor]
    own = {row.mode: row for row in rows if row.peer == OWN}
    if not own or not rivals:
        return []
    both = {row.peer for row in rivals if row.mode == "vector"}
    nearest = [row for row in rivals if row.mode == "vector" or row.peer not in both]
    mixed = [row for row in rivals if row.mode == "hybrid"]
    said = [*_searches(own["vector"], nearest, "vector search", equal_recall=True)]
    said += _searches(own["hybrid"], mixed, "hybrid search", equal_recall=False)
    said += _writes(own["hybrid"], rivals)
    said += _sizes(own["hybrid"], rivals)
    for row in rows:
        if row.strangers:
            said.append(f"{row.peer} ({row.mode}) returned {row.strangers} memories of other users.")
    return said


def _searches(own: Speed, rivals: Sequence[Speed], what: str, *, equal_recall: bool) -> Iterable[str]:
    """Who is faster for each user; where recall counts, who finds less is named apart. One sentence each."""
    for user in (BIG, SMALL):
        mine, recall = own.p50[user], own.recall[user]
        fair = [row for row in rivals if not equal_recall or row.recall[user] >= recall - SAME_RECALL]
        faster = [row for row in fair if row.p50[user] * CLEAR < mine]
        shown = f" and recall {recall:.3f}" if equal_recall else ""
        about, among = f"{what}, the {user} user", " at equal or better recall" * equal_recall
        head = f"{about}: Engram has {mine:.1f} ms{shown}"
        if faster:
            names = [f"{_timed(own, row, user)} ({ratio(mine, row.p50[user])})" for row in _by(user, faster)]
            yield f"{head}. Faster{among}: {', '.join(names)}."
        elif fair:
            rival = _by(user, fair)[0]
            place = "as fast as" if rival.p50[user] < mine else f"the fastest{among}; next is"
            yield f"{head}, {place} {called(own, rival)}, {rival.p50[user]:.1f} ms."
        hidden = [row for row in fair if row not in faster and row.p50[user] / slowness(own, row) * CLEAR < mine]
        if hidden:
            names = [_timed(own, row, user) for row in _by(user, hidden)]
            yield f"{about}: may be faster on an equal machine: {', '.join(names)}."
        quick = [row for row in rivals if row not in fair and row.p50[user] < mine]
        if quick:
            names = [f"{_timed(own, row, user)}, recall {row.recall[user]:.3f}" for row in _by(user, quick)]
            yield f"{about}: faster, but finding less than Engram: {'; '.join(names)}."


def _timed(own: Speed, row: Speed, user: str) -> str:
    return f"{called(own, row)} {row.p50[user]:.1f} ms"


def _by(user: str, rows: Iterable[Speed]) -> list[Speed]:
    return sorted(rows, key=lambda row: row.p50[user])


def _writes(own: Speed, rivals: Sequence[Speed]) -> Iterable[str]:
    seen = list({row.peer: row for row in rivals}.values())
    for name, what in (("one_rate", "memories one at a time"), ("many_rate", "memories in bulk")):
        mine = getattr(own, name)
        if mine is None:
            continue
        ranked = sorted(((getattr(row, name) or 0.0, row) for row in seen), key=lambda one: one[0], reverse=True)
        faster = [(rate, row) for rate, row in ranked if rate > CLEAR * mine]
        names = [f"{called(own, row)} {rate:,.0f} ({ratio(rate, mine)})" for rate, row in faster]
        more = f" More: {', '.join(names)}." if names else ""
        behind = f"not fewer than {len(seen) - len(faster)} of {len(seen)}"
        yield f"{what}: Engram writes {mine:,.0f} a second, {behind}.{more}"
        hidden = [
            f"{called(own, row)} {rate:,.0f}" for rate, row in ranked
            if rate <= CLEAR * mine < rate * slowness(own, row)
        ]  # fmt: skip
        if hidden:
            yield f"{what}: may be more on an equal machine: {', '.join(hidden)}."


def _sizes(own: Speed, rivals: Sequence[Speed]) -> Iterable[str]:
    seen = {row.peer: row for row in rivals}.values()
    smaller = [row for row in seen if row.disk_bytes and own.disk_bytes and row.disk_bytes * CLEAR < own.disk_bytes]
    if smaller:
        least = min(smaller, key=lambda row: row.disk_bytes or 0)
        yield (
            f"disk: {len(smaller)} of {len(seen)} need less than Engram's {own.disk_bytes:,.0f} bytes a memory, the"
            f" least {least.peer} with {least.disk_bytes:,.0f}."
        )
    lighter = [row for row in seen if row.memory_mib * CLEAR < own.memory_mib]
    names = ", ".join(f"{row.peer} ({row.memory_mib:.0f})" for row in sorted(lighter, key=lambda row: row.memory_mib))
    if lighter:
        yield f"memory of the process: less than Engram's {own.memory_mib:.0f} MiB are taken by {names}."


def qualities(rows: Sequence[Quality]) -> list[str]:
    """For each measure, who is above the best of Engram, or how far Engram is ahead."""
    rivals = [row for row in rows if not row.peer.startswith(OWN)]
    mine = [row for row in rows if row.peer.startswith(OWN)]
    if not rivals or not mine:
        return []
    said = []
    for name in mine[0].measures:
        best, other = (max(some, key=lambda row: row.measures[name]) for some in (mine, rivals))
        ours, theirs = 100 * best.measures[name], 100 * other.measures[name]
        if theirs > ours:
            said.append(f"{name}: {other.peer} ({other.mode}) is above Engram, {theirs:.1f} against {ours:.1f}.")
        else:
            rival = f"{other.peer} ({other.mode}) {theirs:.1f}"
            said.append(f"{name}: {best.peer} ({best.mode}) has {ours:.1f}, the best rival {rival}.")
    return said
