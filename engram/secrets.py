"""Secrets: keys, tokens, passwords, card and account numbers, found in a text before anybody keeps it. Pure.

A kind has a pattern and the literal texts without which it cannot match, so that a text without any of them costs a few
searches for a substring. What looks like a number is counted only where its check digits say so.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar, get_args

from engram.errors import InvalidInput

T = TypeVar("T")
Mode = Literal["redact", "refuse", "allow"]
MODES: Final = get_args(Mode)
MARK: Final = re.compile(r"\[secret:[a-z0-9_]{1,64}:[0-9a-f]{8}\]")
PURPOSE: Final = b"engram-secret\x00"
UNKEYED: Final = "0" * 8
DEEPEST: Final = 40  # deeper data is refused by the checks of the door
HELD: Final = 16_384  # characters of a stream held back: a secret may reach into what comes next
WINDOW: Final = 1_024  # characters for which the steps of a pattern of a policy were counted
PART: Final = 500_000  # characters that a part of a long text may have
MOST_DATA: Final = 200_000  # values of one argument that are looked at
LONGEST: Final = 8 * 2**20  # characters: no argument holds a longer text, so the checks that follow refuse it
_WORD: Final = re.compile(r"[\w\-]")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_JOINTS: Final = re.compile(r"[_./:\\~@-]+")
_NAMED: Final = re.compile(r"(?=[A-Za-z])[a-z]*(?:[A-Z]+[a-z]{2,})*(?:[A-Z]+[a-z]?)?[0-9]{0,3}")
_DUMMY: Final = re.compile(
    r"(?i)\[secret:|^(?:[x*.#\-_0]+|<.*|\$\{?.*|%.*%?|\{.*|.*(?:example|placeholder|change_?me|your|dummy|redacted|none|null"
    r"|true|false|env\b|getenv|os\.|self\.).*)$"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of secret: what a text must hold somewhere, its pattern, and what else must be so of a match.

    The group `v`, where a pattern has one, is what is replaced; without it all that matched is. `loose` patterns may
    stand within a longer word; a `folded` one is written in small letters and matches capitals too.
    """

    name: str
    markers: tuple[str, ...]
    pattern: re.Pattern[str]
    holds: Callable[[str], bool] | None = None
    folded: bool = False
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text: its kind, and its characters."""

    kind: str
    start: int
    end: int


# Numbers with check digits -------------------------------------------------------------------------------------------

_ISSUERS: Final = re.compile(
    r"(?:4[0-9]{12}(?:[0-9]{3}){0,2}|5[1-5][0-9]{14}|2(?:2(?:2[1-9]|[3-9])|[3-6]|7(?:[01]|20))[0-9]{12,14}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[689][0-9])[0-9]{11}|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}|35(?:2[89]|[3-8][0-9])[0-9]{12}"
    r"|62[0-9]{14,17})"
)
_IBAN_LENGTHS: Final[Mapping[str, int]] = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "CH": 21,
    "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "ES": 24, "FI": 18, "FO": 18, "FR": 27,
    "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26,
    "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24,
    "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25,
    "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24, "TR": 26, "UA": 29,
    "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
_UNJOINED: Final = str.maketrans("", "", " -.")


def is_card(text: str) -> bool:
    """Whether digits, perhaps in groups, are a number that an issuer of cards may have given. Pure."""
    digits = text.translate(_UNJOINED)
    if not _ISSUERS.fullmatch(digits) or len(set(digits)) < 2:
        return False
    total = 0
    for place, digit in enumerate(map(int, reversed(digits))):
        total += digit if place % 2 == 0 else (2 * digit - 9 if digit > 4 else 2 * digit)
    return total % 10 == 0


def is_iban(text: str) -> bool:
    """Whether a text, perhaps in groups, is an account number of the right length and check digits. Pure."""
    plain = text.translate(_UNJOINED).upper()
    if _IBAN_LENGTHS.get(plain[:2]) != len(plain):
        return False
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1


def _is_assigned(value: str) -> bool:
    """Whether what a name such as `password` is given looks like a secret, and not like code or a stand-in. Pure."""
    if _DUMMY.search(value) or len(set(value)) < 5:
        return False
    groups = sum(bool(re.search(group, value)) for group in (r"[a-z]", r"[A-Z]", r"[0-9]", r"[^A-Za-z0-9]"))
    return groups >= 3 or (groups >= 2 and bool(re.search(r"[0-9]", value)) and len(value) >= 10)


def _is_name(value: str) -> bool:
    """Whether a value is the name of something: words of code joined by points, strokes or slashes, or a UUID. Pure."""
    if _UUID.fullmatch(value):
        return True
    words = [word for word in _JOINTS.split(value) if word]
    is_path = "/" in value
    return bool(_JOINTS.search(value.rstrip(".:"))) and all(
        _NAMED.fullmatch(word) or (is_path and word.isdigit() and len(word) < 5) for word in words
    )


def _is_bare(value: str) -> bool:
    """Whether what stands without quotation marks behind a name looks like a secret, and not like code. Pure."""
    return _is_assigned(value) and not _is_name(value)


def _is_token(value: str) -> bool:
    return _mixed(value) and not _DUMMY.search(value) and not _is_name(value)


def _is_password(value: str) -> bool:
    return not _DUMMY.search(value) and value.lower() not in ("password", "pass", "user", "secret", "pwd")


def _mixed(value: str) -> bool:
    """Whether letters and digits are mixed as in a random text. Pure."""
    tail = value[4:]
    return bool(re.search(r"[0-9]", tail)) and bool(re.search(r"[A-Za-z]", tail)) and len(set(value)) > 8


# Kinds ---------------------------------------------------------------------------------------------------------------


def _kind(name: str, pattern: str, *markers: str, holds: Callable[[str], bool] | None = _mixed, **more: Any) -> Kind:
    return Kind(name, markers, re.compile(pattern), holds, **more)


_ASSIGNED: Final = (
    r"(?:pass(?:word|wd|phrase|wort)|(?<![a-z])(?:pass|pw)|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|api[_-]?key|access[_-]?key|auth[_-]?token"
    r"|access[_-]?token|client[_-]?secret|private[_-]?key|encryption[_-]?key)[\"']?[ \t]{0,3}(?::=|=>|[:=])[ \t]{0,3}"
)
KINDS: Final[tuple[Kind, ...]] = (
    _kind(
        "private_key",
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!-)){16,12000}"
        r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----",
        "PRIVATE KEY", holds=None, loose=True,
    ),
    _kind("jwt", r"\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,6000}\.[A-Za-z0-9_-]{16,1000}", "eyJ"),
    _kind("aws_access_key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", "AKIA", "ASIA", "ABIA", "ACCA", holds=None),
    _kind("google_api_key", r"AIza[0-9A-Za-z_-]{35}", "AIza"),
    _kind("google_oauth", r"(?:GOCSPX-[0-9A-Za-z_-]{28}|ya29\.[0-9A-Za-z_-]{30,400})", "GOCSPX-", "ya29."),
    _kind("github_token", r"(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{36,251})",
          "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    _kind("gitlab_token", r"gl(?:pat|rt|dt|ptt|cbt|oas)-[A-Za-z0-9_-]{20,64}",
          "glpat-", "glrt-", "gldt-", "glptt-", "glcbt-", "gloas-"),
    _kind("slack_token", r"xox[abeprs]-(?:[0-9A-Za-z]{1,64}-){1,4}[0-9A-Za-z]{10,64}", "xox"),
    _kind("slack_webhook", r"hooks\.slack\.com/(?:services|workflows)/(?P<v>[A-Za-z0-9_/]{30,120})",
          "hooks.slack.com/"),
    _kind("stripe_key", r"(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{16,128}|whsec_[0-9A-Za-z]{24,64}",
          "_live_", "_test_", "whsec_"),
    _kind("anthropic_key", r"sk-ant-[A-Za-z0-9_-]{24,200}", "sk-ant-"),
    _kind("openai_key", r"sk-(?!ant-)(?:(?:proj|svcacct|admin|or-v1)-)?[A-Za-z0-9_-]{32,200}", "sk-"),
    _kind("sendgrid_key", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}", "SG."),
    _kind("twilio_key", r"SK[0-9a-f]{32}", "SK"),
    _kind("npm_token", r"npm_[A-Za-z0-9]{36}", "npm_"),
    _kind("pypi_token", r"pypi-AgE[A-Za-z0-9_-]{40,300}", "pypi-AgE"),
    _kind("huggingface_token", r"hf_[A-Za-z]{30,40}", "hf_", holds=lambda value: len(set(value)) > 12),
    _kind("telegram_token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", ":AA"),
    _kind("mailgun_key", r"key-[0-9a-f]{32}", "key-"),
    _kind("digitalocean_token", r"do[oprt]_v1_[0-9a-f]{64}", "_v1_"),
    _kind("shopify_token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", "shpat_", "shpca_", "shppa_", "shpss_"),
    _kind("databricks_token", r"dapi[0-9a-f]{32}(?:-[0-9])?", "dapi"),
    _kind("azure_key", r"(?:AccountKey|SharedAccessKey)=(?P<v>[A-Za-z0-9+/]{40,100}={0,2})",
          "AccountKey=", "SharedAccessKey="),
    _kind("connection_string",
          r"[A-Za-z][A-Za-z0-9+.-]{1,24}://(?:(?<!http://)(?<!https://)|(?![^\s/:@]{1,100}:[0-9]{2,5}@))"
          r"[^\s/:@\"'<>\[\]]{0,100}:(?P<v>[^\s/@\"'<>]{3,200})@[^\s@]",
          "://", holds=_is_password, loose=True),
    _kind("password",
          r"curl\b[^\n]{0,200}?\s(?:-u|--user)[ =]\s{0,2}[\"']?[^\s:\"']{1,100}:(?P<v>[^\s\"'$<]{3,200})",
          "curl", holds=_is_password, loose=True),
    _kind("authorization",
          r"(?:authorization|bearer)[\"']?\s{0,2}[:=]?\s{0,2}[\"']?(?:bearer|basic|token)?\s{0,2}"
          r"(?P<v>[a-z0-9_\-.~+/]{24,2000}={0,2})", "bearer", "authorization", holds=_is_token, folded=True),
    _kind("password", _ASSIGNED + r"(?:\"(?P<v>[^\"\n]{6,200})\"|'(?P<w>[^'\n]{6,200})')",
          "pass", "pw", "secret", "key", "token", holds=_is_assigned, folded=True, loose=True),
    _kind("password",
          rf"(?:{_ASSIGNED}|pass(?:word|phrase|wort)[ \t]{{1,3}}(?:is|was|ist)[ \t]{{1,3}})"
          r"(?![a-z_][\w.]{0,200}[(\[])(?P<v>[^\s\"',;)(\]\[{}<>]{8,200})",
          "pass", "pw", "secret", "key", "token", holds=_is_bare, folded=True, loose=True),
    _kind("password",
          r"(?<![a-z])(?<!page_)(?<!page-)token[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?![a-z_][\w.]{0,200}[(\[])"
          r"(?P<v>[a-z0-9_\-.~+/]{20,200}={0,2})",
          "token", holds=_is_token, folded=True, loose=True),
    _kind("card", r"[2-6][0-9]{3}(?:([ .-]?)[0-9]{4}\1[0-9]{4}\1[0-9]{1,7}|([ .-]?)[0-9]{6}\2[0-9]{4,5})",
          holds=is_card),
    _kind("iban", r"[A-Z][A-Z][0-9]{2}(?:[A-Z0-9]{11,27}|([ -])[A-Z0-9]{4}(?:\1[A-Z0-9]{4}){1,6}(?:\1[A-Z0-9]{1,3})?)",
          holds=is_iban),
    # In small letters a group behind the bank's has a digit: what has none is the next word.
    _kind("iban",
          r"[A-Za-z][A-Za-z][0-9]{2}(?:[A-Za-z0-9]{11,27}"
          r"|([ -])[A-Za-z0-9]{4}(?:\1(?=[A-Za-z]{0,3}[0-9])[A-Za-z0-9]{4}){1,6}"
          r"(?:\1(?=[A-Za-z]{0,2}[0-9])[A-Za-z0-9]{1,3}(?![A-Za-z0-9]))?)", holds=is_iban),
)  # fmt: skip


SHORTEST: Final = 11
"""Characters of the shortest text that holds a secret of some kind; most names of mappings are shorter."""
_UNMARKED: Final = tuple(kind for kind in KINDS if not kind.markers)
_MARKERS: Final = tuple({marker for kind in KINDS if not kind.folded for marker in kind.markers})
_FOLDED_MARKERS: Final = tuple({marker for kind in KINDS if kind.folded for marker in kind.markers})


def find(text: str, own: Iterable[tuple[str, re.Pattern[str]]] = ()) -> list[Found]:
    """The secrets of a text, in order, none within another. Pure."""
    found = _of_kinds(text) if len(text) >= SHORTEST else []
    for name, pattern in own:
        found += [Found(name, one.start(), one.end()) for one in _by_window(pattern, text) if one.end() > one.start()]
    return _apart(found, text) if found else found


def _by_window(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """What a pattern of a policy finds, in no more of a text at once than twice what its steps were counted for.

    In the whole of a long text an open repeat takes the square of its length. What is longer is found in parts.
    """
    at = 0
    for start in range(0, len(text), WINDOW):
        for match in pattern.finditer(text, max(at, start), start + 2 * WINDOW):
            if match.start() >= start + WINDOW:
                break
            at = match.end()
            yield match


def _of_kinds(text: str) -> list[Found]:
    folded = _folded(text)
    held = {marker for marker in _MARKERS if marker in text}
    held_folded = {marker for marker in _FOLDED_MARKERS if marker in folded}
    found: list[Found] = []
    for kind in KINDS if held or held_folded else _UNMARKED:
        if not kind.markers or not (held_folded if kind.folded else held).isdisjoint(kind.markers):
            found += _matches(kind, text, folded if kind.folded and kind.markers else text)
    return found


def _folded(text: str) -> str:
    """The text in small letters, each in its place. Pure."""
    small = text.lower()
    return small if len(small) == len(text) else re.sub(r"[A-Z]+", lambda match: match[0].lower(), text)


def _matches(kind: Kind, text: str, where: str) -> Iterator[Found]:
    for match in kind.pattern.finditer(where):
        group: int | str = 0
        if kind.pattern.groupindex:
            group = next((name for name in kind.pattern.groupindex if match[name] is not None), 0)
        start, end = match.span(group)
        if not kind.loose and (_is_word(text, match.start() - 1) or _is_word(text, end)):
            continue
        if kind.holds is None or kind.holds(text[start:end]):
            yield Found(kind.name, start, end)


def _is_word(text: str, place: int) -> bool:
    return 0 <= place < len(text) and _WORD.match(text[place]) is not None


def _apart(found: list[Found], text: str) -> list[Found]:
    """Each character once: what begins first wins, then what is longer; what was replaced before stays."""
    taken = [(one.start(), one.end()) for one in MARK.finditer(text)]
    kept: list[Found] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if kept and one.start < kept[-1].end:
            continue
        if not any(one.start < end and start < one.end for start, end in taken):
            kept.append(one)
    return kept


def told_apart(names: dict[Any, Any]) -> dict[Any, Any]:
    """Names and what each is cleaned to; those cleaned to the same are numbered. Pure."""
    taken = {key for key, clean in names.items() if key == clean}
    for key in sorted(key for key, clean in names.items() if key != clean):
        mark, number = names[key], 1
        while names[key] in taken:
            number += 1
            names[key] = f"{mark} {number}"
        taken.add(names[key])
    return names


# What is done about them ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Censor:
    """What is done about secrets at a door: how, the key of the marks, and the patterns of the policy.

    A mark tells equal secrets from others by eight digits that are made with the ledger's key; without a key they would
    let anybody test a guess, so they are zeros.
    """

    mode: Mode = "redact"
    key: bytes | None = None
    own: tuple[tuple[str, re.Pattern[str]], ...] = ()
    seen: Counter[str] = field(default_factory=Counter, compare=False)

    def text(self, value: str, name: str) -> str:
        """The text with marks in place of secrets; InvalidInput where the policy refuses them."""
        if self.mode == "allow" or len(value) > LONGEST:
            return value
        return self._replaced(value, find(value, self.own), name)

    def checking(self, check: Callable[[Any, str], T]) -> Callable[[Any, str], T]:
        """A check of an argument that cleans it, too: what is refused anyway, as a text too long, is not searched."""
        return lambda value, name: check(self.data(check(value, name), name), name)

    def _replaced(self, value: str, found: Sequence[Found], name: str) -> str:
        if not found:
            return value
        if self.mode == "refuse":
            raise InvalidInput(name, "a text without secrets", f"something like a secret of kind {found[0].kind}")
        self.seen.update(one.kind for one in found)
        parts, at = [], 0
        for one in found:
            parts += [value[at : one.start], self.mark(one.kind, value[one.start : one.end])]
            at = one.end
        return "".join((*parts, value[at:]))

    def data(self, value: Any, name: str) -> Any:
        """The same data with every text in it cleaned; what is no text, list or mapping stays as it is."""
        if self.mode == "allow":
            return value
        try:
            return self._data(value, name, DEEPEST, [MOST_DATA])
        except RecursionError:
            return value  # it holds itself: refused by the checks that follow

    def _data(self, value: Any, name: str, depth: int, left: list[int], above: tuple[int, ...] = ()) -> Any:
        left[0] -= 1
        if id(value) in above:
            raise RecursionError
        if isinstance(value, str):
            return self.text(value, name)
        if depth == 0 or left[0] < 0:
            return value  # more than any argument may hold: refused by the checks that follow
        if type(value) is dict:
            names, here = self._names(value, name, left), (*above, id(value))
            return {names[key]: self._data(one, name, depth - 1, left, here) for key, one in value.items()}
        if type(value) in (list, tuple):
            here = (*above, id(value))
            return type(value)(self._data(one, name, depth - 1, left, here) for one in value)
        return value

    def _names(self, value: Mapping[Any, Any], name: str, left: list[int]) -> dict[Any, Any]:
        """The names of a mapping, cleaned, each another one."""
        return told_apart({key: self._data(key, name, 0, left) for key in value})

    def stream(self, parts: Iterable[str], name: str) -> Iterator[str]:
        """The parts of a long text, cleaned as if they were one, in parts of the size they came in."""
        if self.mode == "allow":
            yield from parts
            return
        sizes: list[int] = []
        held = ""
        for piece in self._cleaned(parts, name, sizes):
            held += piece
            while len(sizes) > 1 and len(held) > sizes[0]:
                yield held[: sizes[0]]
                held = held[sizes[0] :]
        size = sizes[0] if len(sizes) > 1 else PART
        yield from (held[at : at + size] for at in range(0, len(held), size))

    def _cleaned(self, parts: Iterable[str], name: str, sizes: list[int]) -> Iterator[str]:
        """The text of some parts as far as it is certain, and into `sizes` how long the first two of them are."""
        held = ""
        for part in parts:
            if len(sizes) < 2:
                sizes.append(len(part))
            held += part
            if len(held) < 2 * HELD:
                continue
            found = find(held, self.own)
            if cut := _cut(held, found):
                yield self._replaced(held[:cut], [one for one in found if one.end <= cut], name)
                held = held[cut:]
        if held:
            yield self.text(held, name)

    def mark(self, kind: str, secret: str) -> str:
        """What stands in the place of a secret."""
        if self.key is None:
            return f"[secret:{kind}:{UNKEYED}]"
        told = hmac.new(self.key, PURPOSE + kind.encode() + b"\x00" + secret.encode("utf-8", "replace"), hashlib.sha256)
        return f"[secret:{kind}:{told.hexdigest()[:8]}]"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was replaced so far, by kind, for whoever asked."""
        return tuple(f"secret replaced: {kind} ({n})" for kind, n in sorted(self.seen.items()))


def _cut(held: str, found: list[Found]) -> int:
    """How much of a text is certain whatever follows: up to a white space well before the end, in no secret. Pure."""
    cut = len(held) - HELD
    if cut <= 0:
        return 0
    begun = held.rfind("-----BEGIN", 0, cut + 10)
    if begun >= 0 and "-----END" not in held[begun:cut]:
        cut = min(cut, begun) if cut - begun < HELD else cut
    for one in found:
        if one.start < cut < one.end:
            cut = one.start
    space = max(held.rfind(" ", 0, cut), held.rfind("\n", 0, cut))
    inside = [one for one in found if one.start <= space < one.end]
    return inside[0].start if inside else (space + 1 if space >= 0 else cut)
