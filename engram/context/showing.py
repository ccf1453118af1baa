"""Text that can be shown: nothing hidden, nothing that ends a line or a fence or looks like a citation."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Final

from engram.context.sections import CUT, MOST_CHARACTERS
from engram.regex import regex
from engram.values import Memory

_BREAKS: Final = regex("\r\n|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
# Characters that show nothing or change how others are shown: controls, format characters, private use, surrogates,
# tags, variation selectors, fillers. They carry hidden text past people and reorder what they read.
_HIDDEN: Final = regex(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3"
    "\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_JOINERS: Final = "\u200c\u200d"
_PRESENTATION: Final = "\ufe0e\ufe0f"
_DASHES: Final = "-\u2010-\u2015\u2212"
_CITATION: Final = regex(rf"[\[\uff3b\u3010\u3014\u27e6](?=\s*(?:mem|evt)[{_DASHES}])", re.IGNORECASE)
_MARK: Final = regex(rf"(?<![0-9a-z])(mem|evt)[{_DASHES}](?=[0-9a-f]{{8}})", re.IGNORECASE)
# What templates of chats end a turn or begin another with: a tokenizer may read it as such wherever it stands.
_TURN: Final = regex(
    r"[<\uff1c](?=[|\uff5c]|</?SYS>>|/?\w{1,40}[|\uff5c][>\uff1e]"
    r"|/?(?:s|bos|eos|pad|unk|mask|sep|cls|(?:start|end)_of_\w{1,20}|\w{1,20}_token|extra_id_\d+|unused_?\d+"
    r"|reserved_\w{1,20}|0x[0-9a-f]{2})[>\uff1e]"
    r"|/?(?:\w{1,20}:)?(?:system|assistant|human|think|thinking|function_(?:call|result)s?"
    r"|tool_(?:call|response|result|use|output)s?|(?:system|developer)[-_]\w{1,20})[\s/>\uff1e])"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])",
    re.IGNORECASE,
)
SHORTEST: Final = 8  # digits of an id that a mark has at least
_STARTS: Final = regex(r"[#>`~<|]|[-+*=](?=[-+*=\s])")


def in_line(said: str) -> str:
    """Trusted text as one line that starts no heading, list or fence and cites nothing."""
    if _is_plain(said):
        folded = " ".join(said.split())
    else:
        folded = " ".join(_without_hidden(_BREAKS.sub(" ", said), joined=True).split())
        folded = _CITATION.sub("(", folded)
    return f"\\{folded}" if _STARTS.match(folded) else folded


def _is_plain(said: str) -> bool:
    """Whether a text has nothing that could hide, break a line, cite or end a turn; most have not."""
    return said.isascii() and said.isprintable() and "<" not in said and "[" not in said


def in_fence(said: str) -> str:
    """Untrusted text as data: lines normalised, everything invisible spelled out, at most 700 characters."""
    shown = spelled(said[: 4 * MOST_CHARACTERS])
    if len(shown) <= MOST_CHARACTERS and len(said) <= 4 * MOST_CHARACTERS:
        return shown
    return shown[: MOST_CHARACTERS - len(CUT)].rstrip() + CUT


def spelled(said: str) -> str:
    """Untrusted text of any length as data: lines normalised, everything invisible spelled out; it cites nothing."""
    lines = (line.rstrip() for line in _BREAKS.sub("\n", said).replace("\t", "    ").split("\n"))
    shown = _CITATION.sub("(", _without_hidden("\n".join(line for line in lines if line), joined=False))
    return _MARK.sub(r"\1\\u{002d}", shown)  # so that whoever repeats it cites nothing either


def _without_hidden(said: str, *, joined: bool) -> str:
    def spell(found: re.Match[str]) -> str:
        keep = joined and _joins(said, found.start())
        return found.group() if keep else _spelled(found)

    return _TURN.sub(_spelled, _HIDDEN.sub(spell, said))


def _spelled(found: re.Match[str]) -> str:
    return f"\\u{{{ord(found.group()):04x}}}"


def _joins(said: str, place: int) -> bool:
    """Whether a joiner or presentation selector stands where writing needs it: in emoji, or between joined letters."""
    before, after = said[place - 1 : place], said[place + 1 : place + 2]
    if said[place] in _PRESENTATION:
        return (before > "\x7f" and not _HIDDEN.match(before)) or after == "\u20e3"
    return said[place] in _JOINERS and before > "\x7f" and after > "\x7f" and not _HIDDEN.match(after)


def is_printable(memory: Memory) -> bool:
    """Whether a memory holds: not superseded, contested, expired, ended, forgotten (then or since) or quarantined."""
    gone = {"expired", "ended", "since_forgotten"} & {*memory.labels, memory.status_reason}
    return memory.status == "active" and memory.consolidated_into is None and not gone


def marks_of(named: Sequence[tuple[str, str]]) -> dict[str, str]:
    """What each id is cited by: its last eight digits, or as many as tell it from the others."""
    alike: dict[tuple[str, str], set[str]] = {}
    for prefix, item_id in named:
        alike.setdefault((prefix, item_id[-SHORTEST:]), set()).add(item_id)
    marks: dict[str, str] = {}
    for (prefix, _), item_ids in alike.items():
        digits = SHORTEST if len(item_ids) == 1 else next(
            n for n in (SHORTEST, 12, 16, 20, 24, 32) if len({_digits(i, n) for i in item_ids}) == len(item_ids)
        )  # fmt: skip
        marks |= {item_id: f"{prefix}-{_digits(item_id, digits)}" for item_id in item_ids}
    return marks


def _digits(item_id: str, count: int) -> str:
    return item_id.replace("-", "")[-count:]


def delimiter(said: Iterable[str], key: bytes) -> str:
    """What opens and closes the data block: a keyed hash of all that may be printed, and found in none of it.

    The ids are hashed too and are random, so nobody who writes an item can know the hash; it is looked for anyway.
    """
    content = "\x00".join(said)
    data, written = content.encode("utf-8", "surrogatepass"), content.casefold()
    made = (hmac.new(key, b"%d:" % turn + data, hashlib.sha256).hexdigest()[:16] for turn in itertools.count())
    return next(one for one in made if one not in written)
