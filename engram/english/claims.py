"""What a fact says, taken apart: quantities, dates, polarity, order words and content words. Pure.

`read()` makes a `Claim` of a text in four steps: cut into tokens → expand contractions and set phrases → recognise
numbers, units and dates → walk once over the tokens and sort each into the part of the claim it belongs to. Nothing
here judges whether two facts agree; `differences` does. English is read closely; of other languages the words,
numbers, names and common negations are seen, which is enough to notice that something differs.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

import Stemmer

from engram.english import lexicon as lex
from engram.regex import regex
from engram.text import CJK, QUESTION_MARKS, is_identifier

Kind = Literal["word", "number", "date", "time", "id", "cjk", "symbol", "sign", "comma", "stop", "phrase"]


class Token(NamedTuple):
    """One piece of a text: a word, a number, a date, an identifier, a mark."""

    kind: Kind
    text: str  # compared form
    case: str = ""  # "mid": written like a name, "first": capital at the start of a sentence
    owner: bool = False  # carries a possessive 's
    value: Fraction | None = None  # of numbers


class Unit(NamedTuple):
    """One content word, quantity or date of a claim, in its place."""

    stem: str  # what is compared; owners end with "~", quantities and dates begin with "#"
    surface: str
    case: str
    phrase: int
    marker: str  # the preposition that opens its phrase, "" in the bare sentence
    article: bool
    after_verb: bool
    joined: str = ""  # "and" or "," where that alone stands between it and the unit before
    bare_left: bool = False  # nothing that could be its adjective stands right before it


@dataclass(frozen=True, slots=True)
class Claim:
    """What one text says, ready to be compared."""

    units: tuple[Unit, ...]
    quantities: tuple[tuple[str, str], ...]
    dates: tuple[tuple[str, str], ...]
    polarity: tuple[tuple[str, str], ...]
    order: tuple[tuple[str, str], ...]
    english: bool
    copula: int | None = None


@lru_cache(maxsize=4_096)
def read(text: str) -> Claim:
    """Take a text apart into what it claims."""
    tokens = _join_numbers(_replace_phrases(_expand(_cut(_prepare(text)))))
    reader = _Reader(_name_dates(tokens))
    return reader.claim()


# --- 1. Cut -------------------------------------------------------------------------------------------------------
_VULGAR = regex("(?<=\\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"', "\u2212": "-"})
_DAY = "(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}"
_SPANS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("-", regex(r"(?<![\w.:/-])(\d{1,4})\s?[-–]\s?(?=\d{1,4}(?![\w.-]*[-:/]))"), r"\1 to "),
    ("-", regex(r"(\d:\d\d|\d\s?[ap]m)\s?[-–]\s?(?=\d)", re.I), r"\1 to "),
    ("-", regex(rf"\b({_DAY})\s?[-–]\s?(?={_DAY}\b)", re.I), r"\1 to "),
    (
        "-",
        regex(r"(?<=\d)-(?=(?:second|minute|hour|day|week|month|year|mile|km|kg|page|step|inch)s?\b)", re.I),
        " ",
    ),
    ("-", regex(r"\b(year|month|week|day)(s?)-old\b", re.I), r"\1\2 old"),
    ("://", regex(r"\bhttps?://(?:www\.)?", re.I), "https://"),
)
_WORDCHAR = f"[^\\W{CJK}]"
_LEX = regex(
    rf"""
    (?P<word>[A-Za-z]+(?=[\s,;!?)]|[.:](?:\s|\Z)|\Z))
    |(?P<url>[A-Za-z][A-Za-z0-9+.-]{{1,15}}://[^\s<>"]+)
    |(?P<mail>{_WORDCHAR}[\w.+-]{{0,63}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{1,5}})
    |(?P<iso>(?<![\w.])[12]\d{{3}}-[01]?\d-[0-3]?\d
        (?:[T\ ][0-2]?\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-]))
    |(?P<dmy>(?<![\w./])(?:\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}}|\d{{4}}[/.]\d{{1,2}}[/.]\d{{1,2}})(?![\w/]|\.\d))
    |(?P<clock>(?<![\w:.])\d{{1,2}}(?:[:.]\d\d){{0,2}}\s?[AaPp]\.?[Mm]\b\.?|(?<![\w:.])\d{{1,2}}:\d\d(?::\d\d)?(?![\w:])
        |(?<![\w:.])\d{{1,2}}\s?o'clock\b)
    |(?P<fraction>(?<![\w./])\d{{1,6}}[/⁄]\d{{1,6}}(?![\w/]))
    |(?P<number>(?<![\w.])-?(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,30}})(?:\.\d{{1,30}})?
        (?P<suffix>\s?°\s?[CF]?|\s?%|km/h|m/s|[A-Za-zµ]{{1,12}}|m2|[€£$])?(?![\w°%]|[-./:\\@\#+]\w))
    |(?P<sign>(?:\b(?:US|CA|AU|NZ|HK|[CASR]))?[$€£¥₹₩₽₺₴฿₿])
    |(?P<chunk>[@\#]?{_WORDCHAR}+(?:['./:\\@\#+&-]+{_WORDCHAR}+)*(?:\+\+|\#)?)
    |(?P<cjk>[{CJK}])
    |(?P<arrow>->|→|=>)
    |(?P<other>\S)
    """,
    re.VERBOSE,
)
_CHUNKS = ("word", "chunk")
_QUOTED = regex(r"\"[^\"]{1,200}\"|`[^`]{1,200}`|«[^»]{1,200}»|(?<![\w'])'[^'\s][^']{0,200}'(?!\w)")
_MARKED = regex("[\"'`«]")
_COMPARING = {">=": "at least", "≥": "at least", "<=": "at most", "≤": "at most", "~": "about"}


def _prepare(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _VULGAR.sub(" ", text)).translate(_QUOTES)
        text = "".join([c for c in text if c < "\x7f" or unicodedata.category(c) != "Cf"])
    for mark, pattern, into in _SPANS:
        if mark in text or "–" in text:
            text = pattern.sub(into, text)
    return " ".join(text.split())


def _cut(text: str) -> list[Token]:
    # Combining marks belong to the letter before them, which \w does not know: match on a shadow without them.
    plain = text.isascii()
    shadow = text if plain else "".join(["x" if unicodedata.category(c)[0] == "M" else c for c in text])
    quoted = [match.span() for match in _QUOTED.finditer(text)] if _MARKED.search(text) else []
    tokens: list[Token] = []
    found: Sequence[Token]
    first, span = True, 0
    for match in _LEX.finditer(shadow):
        while span < len(quoted) and quoted[span][1] <= match.start():
            span += 1
        inside = span < len(quoted) and quoted[span][0] < match.start()
        raw = match.group() if plain else text[match.start() : match.end()]
        found = _chunk(raw, first, inside) if match.lastgroup in _CHUNKS else _token(match, raw)
        tokens.extend(found)
        first = found[-1].kind == "stop" if found else first
    return tokens


def _token(match: re.Match[str], raw: str) -> list[Token]:
    group = match.lastgroup if match.lastgroup != "suffix" else "number"
    low = raw.casefold()
    if group in ("url", "mail"):
        return [Token("id", low.rstrip(".,;:!?)'/"), "mid")]
    if group in ("iso", "dmy"):
        return _numeric_date(low)
    if group == "clock":
        return [Token("time", _clock(low))]
    if group == "fraction":
        top, bottom = (int(part) for part in re.split("[/⁄]", low))
        return [Token("number", low.replace("⁄", "/"), value=Fraction(top, bottom) if bottom else None)]
    if group == "number":
        return _number(low, match.group("suffix"))
    if group == "sign":
        return [Token("sign", lex.CURRENCY_SIGNS.get(low, low))]
    if group == "cjk":
        return [Token("cjk", low)]
    return _mark(low)


def _mark(mark: str) -> list[Token]:
    if mark in ("->", "→", "=>"):
        return [Token("word", "to")]
    if mark in ",/()[]{}":
        return [Token("comma", mark)]
    if mark in QUESTION_MARKS:
        return [Token("symbol", "?"), Token("stop", mark)]
    if mark in ".!:;—–…。！；|":
        return [Token("stop", mark)]
    if mark == "&":
        return [Token("word", "and")]
    if mark in _COMPARING:
        return [Token("word", word) for word in _COMPARING[mark].split()]
    if mark in "<>+=" or unicodedata.category(mark) in ("So", "Sm", "Sc"):
        return [Token("symbol", mark)]
    return []


def _number(raw: str, suffix: str | None) -> list[Token]:
    suffix = (suffix or "").casefold()
    digits = raw[: len(raw) - len(suffix)] if suffix else raw
    digits = digits.replace(",", "")
    value = _fraction(digits)
    if value is None:
        return [Token("id", raw, "mid")]
    suffix = suffix.replace(" ", "")
    if not suffix:
        return [Token("number", digits, value=value)]
    if suffix in ("st", "nd", "rd", "th"):
        return [Token("number", f"{digits}th", value=value)]
    if suffix in lex.UNITS or suffix in lex.SUFFIXES or suffix in lex.CURRENCY_SIGNS:
        kind: Kind = "sign" if suffix in lex.CURRENCY_SIGNS else "word"
        return [Token("number", digits, value=value), Token(kind, lex.CURRENCY_SIGNS.get(suffix, suffix), "unit")]
    return [Token("id", raw, "mid")]


def _fraction(digits: str) -> Fraction | None:
    try:
        return Fraction(digits)
    except (ValueError, ZeroDivisionError):
        return None


def _clock(raw: str) -> str:
    digits = [int(part) for part in re.findall(r"\d+", raw)]
    hour, minute = digits[0], digits[1] if len(digits) > 1 else 0
    letters = re.sub(r"[\W\d]", "", raw)
    if letters == "pm" and hour < 12:
        hour += 12
    elif letters == "am" and hour == 12:
        hour = 0
    second = f":{digits[2]:02}" if len(digits) > 2 and digits[2] else ""
    return f"{hour:02}:{minute:02}{second}" + ("?" if letters == "oclock" else "")


def _numeric_date(raw: str) -> list[Token]:
    date, _, clock = raw.replace("t", " ").partition(" ")
    parts = [int(part) for part in re.split(r"[-/.]", date)]
    if parts[0] > 99:
        year, month, day = parts
    else:
        # 13/05 and 05/13 can only be read one way; 03/05 stays as it is written: doubt counts as changed.
        first, second, year = parts
        day, month = (first, second) if first > 12 or first == second else (second, first)
        if first <= 12 and second <= 12 and first != second:
            return [Token("date", f"{year}?{first}/{second}")]
    found = [Token("date", f"{year}-{month}-{day}")]
    if clock:
        zone = re.search(r"(z|[+-]\d\d:?\d\d)\Z", clock)
        found.append(Token("time", _clock(clock[: zone.start()] if zone else clock)))
        if zone:
            found.append(Token("date", f"zone {'utc' if zone.group() == 'z' else zone.group()}"))
    return found


@lru_cache(maxsize=16_384)
def _chunk(raw: str, first: bool, quoted: bool) -> tuple[Token, ...]:
    low = raw.casefold()
    if low in lex.CONTRACTIONS or low.endswith(("n't", "'re", "'m", "'ll", "'ve", "'d")):
        return (Token("word", low),)
    owner = low.endswith(("'s", "s'"))
    if owner:
        raw, low = (raw[:-2], low[:-2]) if low.endswith("'s") else (raw[:-1], low[:-1])
    case = _case(raw, first, quoted)
    if low in lex.UNITS:
        return (Token("word", low, "", owner),)
    if raw.isalpha() or (not raw.isascii() and raw.isalnum()):
        return (Token("word", low, case, owner),)
    if is_identifier(low) and not (low.startswith("non-") or "'" in low):
        return (Token("id", low.lstrip("@#") if low[1:].isalpha() else low, "mid", owner),)
    if any(c.isdigit() for c in low):
        return (Token("id", low, "mid", owner),)
    parts = [part for part in re.split(r"[\W_]+", low) if part] if low.isascii() else [low]
    joined = [Token("word", part, case, owner and i == len(parts) - 1) for i, part in enumerate(parts)]
    return tuple(token for pair in joined for token in ((pair,) if "/" not in low else (pair, Token("comma", "/"))))


def _case(raw: str, first: bool, quoted: bool) -> str:
    low = raw.casefold()
    if quoted:
        return "mid"
    if raw == low:
        return ""
    if not raw[:1].isupper() or low in lex.SYNONYMS or low in _PLAIN:
        return "mid" if raw != low and not raw.isupper() and raw[1:] != raw[1:].casefold() else ""
    # Two capitals, as in TypeScript or NASA, make a name wherever they stand.
    inner = len(raw) > 1 and raw[1:] != raw[1:].casefold()
    return "mid" if not first or inner else "first"


_PLAIN: frozenset[str] = frozenset(
    word
    for table in (
        lex.OPERATORS, lex.NEGATIONS, lex.FILLERS, lex.DETERMINERS, lex.BE, lex.DO, lex.HAVE, lex.PRONOUNS,
        lex.POSSESSIVES, lex.PREPOSITIONS, lex.DENIED, lex.ORDER, lex.CONJUNCTIONS, {"or"}, lex.ONES, lex.SCALES,
        lex.UNITS,
    )
    for word in table
)  # fmt: skip


# --- 2. Contractions and set phrases ------------------------------------------------------------------------------
_ENDINGS = {"n't": "not", "'re": "are", "'m": "am", "'ll": "will", "'ve": "have", "'d": "would"}


def _expand(tokens: list[Token]) -> list[Token]:
    found: list[Token] = []
    for place, token in enumerate(tokens):
        if token.kind != "word":
            found.append(token)
        elif token.text in lex.CONTRACTIONS:
            found.extend(Token("word", word) for word in lex.CONTRACTIONS[token.text].split())
        elif "'" in token.text:
            ending = next((end for end in _ENDINGS if token.text.endswith(end)), "")
            stem = token.text.removesuffix(ending)
            found.append(Token("word", stem, token.case))
            found.extend([Token("word", _ENDINGS[ending])] if ending else [])
        elif token.owner and _is_short_for_is(token, tokens[place + 1 : place + 2]):
            found.extend((token._replace(owner=False), Token("word", "is")))
        else:
            found.append(token)
    return found


def _is_short_for_is(token: Token, after: Sequence[Token]) -> bool:
    if token.text in lex.IS_AFTER or not after:
        return token.text in lex.IS_AFTER
    word = after[0].text
    return (
        word in lex.DETERMINERS
        or word in lex.NEGATIONS
        or word in ("been", "in", "on", "at", "from", "going", "allergic")
    )


_PHRASES_BY_HEAD: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
for _phrase, _into in sorted(lex.PHRASES.items(), key=lambda item: -len(item[0])):
    _PHRASES_BY_HEAD.setdefault(_phrase[0], []).append((_phrase, _into))
_HEADS = frozenset([*_PHRASES_BY_HEAD, *(first for first, _ in lex.NAMING)])


def _replace_phrases(tokens: list[Token]) -> list[Token]:
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if token.text not in _HEADS:
            found.append(token)
            place += 1
            continue
        if (token.text, _at(tokens, place + 1).text) in lex.NAMING and found and found[-1].kind == "word":
            found[-1] = found[-1]._replace(owner=True)
            found.append(Token("word", "name"))
            place += 2
            continue
        match = _phrase_at(tokens, place) if token.kind == "word" and not token.owner else None
        if match is None:
            found.append(token)
            place += 1
            continue
        phrase, into = match
        found.extend(Token("word", word.rstrip("~"), owner=word.endswith("~")) for word in into if word != "_")
        place += len(phrase)
    return _fold_any_more(found)


def _phrase_at(tokens: list[Token], place: int) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    following = _at(tokens, place + 1).text
    for phrase, into in _PHRASES_BY_HEAD.get(tokens[place].text, ()):
        if len(phrase) > 1 and phrase[1] != following:
            continue
        part = tokens[place : place + len(phrase)]
        if len(part) == len(phrase) and all(t.text == w and not t.owner for t, w in zip(part, phrase, strict=True)):
            return phrase, into
    return None


_STOPPING = frozenset({"stopped", "quit", "ceased", "stops", "quits"})
_ENDING_WORDS = _STOPPING | {"any", "anymore"}
_REACH = 12  # how many tokens back "any more" looks for its "not"


def _fold_any_more(tokens: list[Token]) -> list[Token]:
    """ "not … any more" and "stopped …ing" say that something ended."""
    if _ENDING_WORDS.isdisjoint([token.text for token in tokens]):
        return tokens
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        token, following = tokens[place], _at(tokens, place + 1).text
        used = 2 if token.text == "any" and following in ("more", "longer") else int(token.text == "anymore")
        denied = _last_denial(found) if used else None
        if denied is not None:
            found[denied] = Token("word", "ended")
        elif token.text in _STOPPING and following.endswith("ing"):
            found.append(Token("word", "ended"))
        else:
            found.append(token)
        place += used if denied is not None else 1
    return found


def _last_denial(found: Sequence[Token]) -> int | None:
    for place in range(len(found) - 1, max(-1, len(found) - 1 - _REACH), -1):
        if found[place].text in ("not", "never"):
            return place
    return None


# --- 3. Numbers and dates -----------------------------------------------------------------------------------------
def _join_numbers(tokens: list[Token]) -> list[Token]:
    """Number words and scales become numbers: "two hundred and five", "1.5 million", "half a dozen"."""
    if _has_none(tokens, _NUMBER_WORDS):
        return tokens
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        token, used = _number_at(tokens, place)
        if token.kind == "number" and token.value is not None and _half_follows(tokens, place + used):
            value = token.value + Fraction(1, 2)
            token, used = Token("number", _plain(value), value=value), used + 3
        found.append(token)
        place += used
    return found


_NUMBER_WORDS = frozenset({"half", "a", "an", *lex.TIMES, *lex.ORDINALS, *lex.ONES, *lex.SCALES})


def _number_at(tokens: list[Token], place: int) -> tuple[Token, int]:
    token = tokens[place]
    if token.kind == "number":
        return _scaled(tokens, place)
    if token.kind != "word" or token.owner or token.text not in _NUMBER_WORDS:
        return token, 1
    if token.text in lex.TIMES:
        return Token("number", "", value=Fraction(lex.TIMES[token.text])), 1
    after = tokens[place + 1].text if place + 1 < len(tokens) else ""
    if token.text == "half" and after in ("a", "an"):
        return _half(tokens, place)
    if token.text in ("a", "an") and after in lex.SCALES:
        number, used = _number_words(tokens, place + 1)
        return number, used + 1
    if token.text in lex.ORDINALS and token.text != "last":
        before = tokens[place - 1] if place else None
        if not (token.text == "second" and before is not None and before.kind == "number"):
            return Token("number", f"{lex.ORDINALS[token.text]}th", value=Fraction(lex.ORDINALS[token.text])), 1
    return _number_words(tokens, place)


def _half_follows(tokens: list[Token], place: int) -> bool:
    return _at(tokens, place).text == "and" and [token.text for token in tokens[place : place + 3]] == [
        "and",
        "a",
        "half",
    ]


def _half(tokens: list[Token], place: int) -> tuple[Token, int]:
    """ "half a dozen", "half an hour"."""
    after = tokens[place + 2].text if place + 2 < len(tokens) else ""
    if after in lex.SCALES:
        value = Fraction(lex.SCALES[after], 2)
        return Token("number", _plain(value), value=value), 3
    return (Token("number", "1/2", value=Fraction(1, 2)), 2) if after in lex.UNITS else (tokens[place], 1)


def _scaled(tokens: list[Token], place: int) -> tuple[Token, int]:
    token, used = tokens[place], 1
    value = token.value
    if value is None or token.text.endswith("th"):
        return token, 1
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if after is not None and after.kind == "number" and "/" in after.text and after.value is not None:
        return Token("number", "", value=value + after.value), 2
    money = place > 0 and tokens[place - 1].kind == "sign"
    if after is not None and after.kind == "word":
        scale = lex.SCALES.get(after.text)
        further = tokens[place + 2].text if place + 2 < len(tokens) else ""
        money = money or lex.UNITS.get(further, ("",))[0] in ("usd", "eur", "gbp")
        if scale is None and after.case == "unit" and (after.text not in lex.UNITS or money):
            scale = lex.SUFFIXES.get(after.text)
        if scale is not None:
            value, used = value * scale, 2
            return Token("number", _plain(value), value=value), used
    return token, used


def _number_words(tokens: list[Token], place: int) -> tuple[Token, int]:
    total, current, used, seen = 0, 0, 0, False
    while place + used < len(tokens):
        token = tokens[place + used]
        word = token.text if token.kind == "word" and not token.owner else ""
        if word in lex.ONES and (not current or current % 100 == 0 or (current % 10 == 0 and lex.ONES[word] < 10)):
            current, seen = current + lex.ONES[word], True
        elif word in lex.SCALES:
            scale = lex.SCALES[word]
            if scale in (100, 12):
                current = (current or 1) * scale
            else:
                total, current = total + (current or 1) * scale, 0
            seen = True
        elif not (word == "and" and seen and _more_number(tokens, place + used + 1, current or total)):
            break
        used += 1
    if not seen:
        return tokens[place], 1
    return Token("number", str(total + current), value=Fraction(total + current)), used


def _has_none(tokens: list[Token], words: frozenset[str]) -> bool:
    """Whether some tokens are no number, and none of some words."""
    return words.isdisjoint([token.text for token in tokens]) and "number" not in [token.kind for token in tokens]


def _more_number(tokens: list[Token], place: int, so_far: int) -> bool:
    return so_far >= 100 and place < len(tokens) and tokens[place].text in lex.ONES


def _plain(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else str(value)


def _name_dates(tokens: list[Token]) -> list[Token]:
    """Month names with their days and years, weekdays, relative days: one token a date."""
    if _has_none(tokens, _DATE_WORDS):
        return tokens
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        token, used = _date_at(tokens, place)
        found.append(token)
        place += used
    return found


def _date_at(tokens: list[Token], place: int) -> tuple[Token, int]:
    token = tokens[place]
    if token.kind == "word" and token.text not in _DATE_WORDS:
        return token, 1
    for finder in _DATE_FINDERS.get(token.kind, ()):
        match = finder(tokens, place)
        if match is not None:
            return match
    return token, 1


_NOTHING = Token("stop", "")


def _at(tokens: list[Token], place: int) -> Token:
    return tokens[place] if 0 <= place < len(tokens) else _NOTHING


def _day_number(token: Token) -> int | None:
    digits = token.text.removesuffix("th")
    return (
        int(digits)
        if token.kind == "number" and digits.isdecimal() and len(digits) < 3 and 0 < int(digits) < 32
        else None
    )


def _year_number(token: Token) -> int | None:
    return (
        int(token.text)
        if token.kind == "number" and token.text.isdecimal() and 1900 <= int(token.text) < 2200
        else None
    )


def _month_date(tokens: list[Token], place: int) -> tuple[Token, int] | None:
    """ "3 May 2024", "3rd of May", "May 3, 2024", "May 2024", "May"."""
    day, used = _day_number(tokens[place]), 0
    if day is not None:
        used = 2 if _at(tokens, place + 1).text == "of" else 1
    name = _at(tokens, place + used)
    month = lex.MONTHS.get(name.text) if name.kind == "word" else None
    if month is None or not _surely_month(tokens, place + used, day is not None):
        return None
    used += 1
    if day is None and (day := _day_number(_at(tokens, place + used))) is not None:
        used += 1
    skip = 1 if _at(tokens, place + used).text in (",", "of") else 0
    year = _year_number(_at(tokens, place + used + skip))
    used += skip + 1 if year is not None else 0
    return Token("date", f"{year or ''}-{month}-{day or ''}"), used


def _surely_month(tokens: list[Token], place: int, day: bool) -> bool:
    name = tokens[place]
    if name.text not in lex.AMBIGUOUS_MONTHS or day or name.case == "mid":
        return True
    before, after = _at(tokens, place - 1), _at(tokens, place + 1)
    return before.text in ("in", "of", "by", "since", "until", "next", "last", "this", "for") or after.kind == "number"


def _weekday(tokens: list[Token], place: int) -> tuple[Token, int] | None:
    token = tokens[place]
    number = lex.WEEKDAYS.get(token.text) if token.kind == "word" else None
    if number is None or (token.text in lex.AMBIGUOUS_WEEKDAYS and not token.case):
        return None
    # "Mondays" and "every Monday" repeat; "Monday" may be one day: they are not told apart here, "every" is.
    return Token("date", f"weekday {number}"), 1


def _direction(tokens: list[Token], place: int) -> tuple[Token, int] | None:
    """ "next week", "last May", "this Friday"."""
    direction = lex.DIRECTIONS.get(tokens[place].text) if tokens[place].kind == "word" else None
    after = _at(tokens, place + 1)
    if direction is None or after.kind != "word":
        return None
    singular = after.text.removesuffix("s")
    if singular in lex.PERIODS or after.text in lex.RELATIVE_DAYS:
        return Token("date", f"{direction} {singular}"), 2
    if after.text in lex.WEEKDAYS or after.text in lex.MONTHS:
        return Token("date", f"{direction}"), 1
    return None


def _relative(tokens: list[Token], place: int) -> tuple[Token, int] | None:
    token = tokens[place]
    named = lex.RELATIVE_DAYS.get(token.text) if token.kind == "word" and not token.owner else None
    if token.kind == "word" and token.text == "ago":
        return Token("date", "ago"), 1
    if named is None:
        return None
    return (Token("time", named), 1) if named[0].isdigit() else (Token("date", named), 1)


def _year(tokens: list[Token], place: int) -> tuple[Token, int] | None:
    year, before = _year_number(tokens[place]), _at(tokens, place - 1)
    if year is None or before.text not in _BEFORE_YEAR or _at(tokens, place + 1).text in lex.UNITS:
        return None
    return Token("date", f"{year}--"), 1


_BEFORE_YEAR = frozenset(
    ["in", "since", "until", "till", "before", "after", "of", "year", "early", "late", "mid", "during"]
)


def _zone(tokens: list[Token], place: int) -> tuple[Token, int] | None:
    if tokens[place].text in lex.ZONES and _at(tokens, place - 1).kind == "time":
        return Token("date", f"zone {tokens[place].text}"), 1
    return None


_DATE_WORDS = frozenset(
    {"ago", *lex.MONTHS, *lex.WEEKDAYS, *lex.DIRECTIONS, *lex.RELATIVE_DAYS, *lex.ZONES}
)  # fmt: skip
_DateFinder = Callable[[list[Token], int], tuple[Token, int] | None]
_DATE_FINDERS: dict[Kind, tuple[_DateFinder, ...]] = {
    "number": (_month_date, _year),
    "word": (_month_date, _weekday, _direction, _relative, _zone),
}


# --- 4. One walk over the tokens ----------------------------------------------------------------------------------
_stemmer = Stemmer.Stemmer("english", 0)


class _Own(threading.local):
    """A stemmer of each thread: it keeps the word it is at in itself, so two threads may not share one."""

    def __init__(self) -> None:
        self.stemmer = Stemmer.Stemmer("english", 0)


_own = _Own()


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The stem that stands for a word and its small set of synonyms."""
    word = lex.IRREGULAR.get(word, word)
    known = lex.SYNONYMS.get(word)
    if known is not None:
        return known
    found: str = _own.stemmer.stemWord(word) if len(word) < 40 and word.isalpha() else word
    return _STEMMED.get(found, found)


# Stems of the tables, so that "resided" and "prefers" find their line; the first line that has a stem keeps it.
_STEMMED: dict[str, str] = {}
for _word, _target in lex.SYNONYMS.items():
    if _word.isalpha():
        _STEMMED.setdefault(_stemmer.stemWord(_word), _target)
# Operators that are verbs or nouns are known in all their forms; adverbs ("likely") would meet other words' stems.
_OPERATOR_STEMS = {_stemmer.stemWord(word): target for word, target in lex.OPERATORS.items() if not word.endswith("ly")}
_STATES = frozenset(stem(word) for word in lex.STATES)
_LIST_VERBS = frozenset(stem(word) for word in lex.LIST_VERBS)
_VERBS = (
    _STATES
    | _LIST_VERBS
    | frozenset(stem(word) for word in lex.IRREGULAR.values())
    | frozenset(stem(word) for word in lex.VERBS)
)


@dataclass(slots=True)
class _Reader:
    """Walks once over the tokens and sorts each into its part of the claim."""

    tokens: list[Token]
    place: int = 0
    units: list[Unit] = field(default_factory=list)
    quantities: list[tuple[str, str]] = field(default_factory=list)
    dates: list[tuple[str, str]] = field(default_factory=list)
    polarity: list[tuple[str, str]] = field(default_factory=list)
    order: list[tuple[str, str]] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)  # wait for the word they say something about
    bounds: list[str] = field(default_factory=list)
    phrase: int = 0
    marker: str = ""
    comparator: str = ""
    article: bool = False
    verb: bool = False
    english: bool = False
    joined: str = ""
    copula: int | None = None
    copulas: int = 0
    sentence: int = 0  # where it begins among the units
    passives: list[tuple[int, int]] = field(default_factory=list)  # (sentence, place of "was signed")

    def claim(self) -> Claim:
        """Read all tokens and hand over the claim."""
        while self.place < len(self.tokens):
            self.place += self._step()
        self._settle("")
        units = _sort_lists(_active(self.units, self.passives))
        return Claim(
            units=tuple(units),
            quantities=tuple(self.quantities),
            dates=tuple(self.dates),
            polarity=tuple(sorted(self.polarity)),
            order=tuple(sorted(self.order)),
            english=self.english,
            copula=self.copula if self.copulas == 1 else None,
        )

    def _step(self) -> int:
        token = self.tokens[self.place]
        if token.kind == "word":
            if token.case == "mid" and token.text not in _PLAIN:
                return self._content(token)
            for handler in _handlers(token.text):
                used = handler(self, token)
                if used:
                    return used
            return self._content(token)
        if token.kind in ("stop", "comma"):
            return self._break(token)
        if token.kind in ("date", "time"):
            return self._date(token)
        if token.kind in ("number", "sign"):
            return self._quantity()
        if token.kind == "symbol" and token.text == "?":
            self.polarity.append(("?", ""))
            return 1
        return self._content(token)

    def _peek(self, offset: int = 1) -> Token:
        return _at(self.tokens, self.place + offset)

    def _open(self, marker: str) -> None:
        self.phrase += 1
        self.marker = marker
        self.article = False

    def _break(self, token: Token) -> int:
        if token.kind == "stop":
            self._settle("")
            self.verb = False
            self.sentence = len(self.units)
        joined = "," if token.text == "," else ""
        self._open("or" if self.marker == "or" and joined else "")
        self.joined = joined
        return 1

    def _settle(self, scope: str) -> None:
        if not self.operators and not self.bounds:
            return
        self.polarity.extend((operator, scope) for operator in self.operators)
        self.order.extend((bound, scope) for bound in self.bounds)
        self.operators.clear()
        self.bounds.clear()

    def _push(self, stem_: str, surface: str, case: str = "") -> None:
        before = self.tokens[self.place - 1] if self.place else _NOTHING
        bare_left = before.kind != "word" or before.text in _PLAIN or stem(before.text) in _LIST_VERBS
        self.units.append(
            Unit(stem_, surface, case, self.phrase, self.marker, self.article, self.verb, self.joined, bare_left)
        )
        self.article, self.joined = False, ""

    # -- quantities and dates
    def _date(self, token: Token) -> int:
        kind = (
            "time"
            if token.kind == "time"
            else token.text.split()[0]
            if token.text.startswith(("weekday ", "zone "))
            else "date"
        )
        self._settle("#date")
        self.dates.append((kind, token.text))
        self._open("@")
        self._push(f"#{token.text}", token.text)
        self._open("")
        return 1

    def _quantity(self) -> int:
        sign, used = "", 0
        if self.tokens[self.place].kind == "sign":
            sign, used = self.tokens[self.place].text, 1
        number = self._peek(used)
        if number.kind != "number":
            return self._content(self.tokens[self.place])
        used += 1
        unit, more = self._unit(used) if not sign else ((sign, Fraction(1)), self._skip_currency(used, sign))
        used += more
        after = (self._peek(used).text, self._peek(used + 1).text)
        if after in lex.COMPARATORS_AFTER:
            self.comparator, used = lex.COMPARATORS_AFTER[after], used + 2
        self._measure(number, unit)
        return used

    def _skip_currency(self, used: int, sign: str) -> int:
        word = self._peek(used).text
        return 1 if lex.UNITS.get(word, ("",))[0] == sign else 0

    def _unit(self, used: int) -> tuple[tuple[str, Fraction] | None, int]:
        token = self._peek(used)
        for length in (3, 2) if token.text in _UNIT_HEADS else ():
            words = tuple(self._peek(used + i).text for i in range(length))
            if words in lex.UNIT_PHRASES:
                return lex.UNITS[lex.UNIT_PHRASES[words]], length
        if token.kind == "sign":
            return (token.text, Fraction(1)), 1
        if (
            token.kind == "word"
            and token.text in lex.UNITS
            and not (token.text in ("x", "v", "w") and token.case != "unit")
        ):
            return lex.UNITS[token.text], 1
        return None, 0

    def _measure(self, number: Token, unit: tuple[str, Fraction] | None) -> None:
        dimension, value = "", number.text
        if unit is not None and number.value is not None and not number.text.endswith("th"):
            dimension, factor = unit
            amount = number.value * factor
            if dimension == "fahrenheit":
                dimension, amount = "celsius", (amount - 32) * Fraction(5, 9)
            value = _plain(amount)
        elif number.text == "" and number.value is not None:
            dimension, value = ("times" if number.value < 4 else ""), _plain(number.value)
        value = f"{self.comparator}{value}"
        self.comparator = ""
        self._settle("#number")
        self.quantities.append((dimension, value))
        self._push(f"#{value}{dimension}", value)

    # -- words
    def _content(self, token: Token) -> int:
        surface = token.text
        root = stem(surface) if token.kind == "word" else lex.SYNONYMS.get(surface, surface)
        self._settle(root)
        self._push(root + ("~" if token.owner else ""), lex.SYNONYMS.get(surface, surface), token.case)
        self.verb = self.verb or root in _VERBS
        return 1


_COMPARATOR_HEADS = frozenset(words[0] for words in lex.COMPARATORS)
_UNIT_HEADS = frozenset(words[0] for words in lex.UNIT_PHRASES)


def _read_comparator(reader: _Reader, token: Token) -> int:
    if token.text not in _COMPARATOR_HEADS:
        return 0
    for length in (4, 3, 2, 1):
        words = tuple(reader._peek(i).text for i in range(length))
        sign = lex.COMPARATORS.get(words)
        if sign is not None and reader._peek(length).kind in ("number", "sign"):
            reader.comparator = "" if sign[0] == "_" else sign[0]
            return length
    return 0


def _read_rate(reader: _Reader, token: Token) -> int:
    """ "daily", "every day", "per month", "$5 a month", "every two weeks"."""
    after = reader._peek()
    if token.text in lex.RATES:
        return _rate(reader, lex.UNITS.get(lex.RATES[token.text], (lex.RATES[token.text], Fraction(1))), 1)
    measured = bool(reader.quantities)
    if token.text in ("every", "each") or (token.text in ("per", "a", "an", "/") and (measured or token.text == "per")):
        if token.text == "every" and after.kind == "number" and after.value is not None:
            unit = lex.UNITS.get(reader._peek(2).text)
            if unit is not None:
                return _rate(reader, (unit[0], unit[1] * after.value), 3)
        if after.kind == "word" and after.text in lex.PERIODS and after.text in lex.UNITS:
            return _rate(reader, lex.UNITS[after.text], 2)
        if token.text in ("every", "each") and after.kind == "date":
            reader.quantities.append(("rate", after.text))
            return 1
    if token.text in ("a", "an") and after.kind == "word" and after.text in lex.UNITS and len(after.text) > 2:
        half = 3 if _half_follows(reader.tokens, reader.place + 2) else 0
        amount = Fraction(3, 2) if half else Fraction(1)
        reader._measure(Token("number", _plain(amount), value=amount), lex.UNITS[after.text])
        return 2 + half
    return 0


def _rate(reader: _Reader, unit: tuple[str, Fraction], used: int) -> int:
    if reader.quantities[-1:] == [("times", "1")]:  # "once a day" is "daily"
        reader.quantities.pop()
        reader.units.pop()
    value = f"{_plain(unit[1])}{unit[0]}"
    reader._settle("#number")
    reader.quantities.append(("rate", value))
    reader._open("@")
    reader._push(f"#per {value}", value)
    reader._open("")
    return used


def _read_order(reader: _Reader, token: Token) -> int:
    after = reader._peek()
    skip = after.text in lex.DETERMINERS
    dated = (reader._peek(2) if skip else after).kind in ("date", "time", "number")
    if token.text in lex.ORDER:
        reader.bounds.append(lex.ORDER[token.text])
        reader._open("@")
        return 1
    if token.text in lex.BOUNDS and dated:
        if token.text == "from" and any(
            t.text in ("to", "until", "through") for t in reader.tokens[reader.place + 2 : reader.place + 5]
        ):
            return 1  # "from Monday to Friday" and "Monday to Friday" are one span
        reader.bounds.append(lex.BOUNDS[token.text])
        return 1
    return 0


def _read_operator(reader: _Reader, token: Token) -> int:
    word = token.text
    if word in ("ended", "formerly"):
        reader.operators.append(word)
        return 1
    if word in lex.NEGATIONS:
        reader.operators.append("not")
        reader.english = True
        if word == "without":
            reader._open("@")
        return 1
    if word in lex.DENIED:
        reader.operators.append("not")
        return reader._content(token._replace(text=lex.DENIED[word]))
    name = lex.OPERATORS.get(word) or lex.FOREIGN_NEGATIONS.get(word)
    if name is None and not token.owner:
        name = _OPERATOR_STEMS.get(stem(word))
    if name is None:
        return 0
    if name == "may" and token.case == "mid":
        return 0
    reader.operators.append(name)
    reader.verb = reader.verb or name in ("must", "should", "can", "could", "will", "would", "may", "want", "plan")
    return 1


def _read_person(reader: _Reader, token: Token) -> int:
    word = token.text
    if word in lex.POSSESSIVES and not (word == "her" and reader._peek().kind in ("stop", "comma")):
        reader.english = True
        reader._push(lex.POSSESSIVES[word], lex.POSSESSIVES[word])
        return 1
    person = lex.PRONOUNS.get(word)
    if person is None:
        return 0
    reader.english = True
    if reader.marker not in ("", "or") and reader.units and reader.units[-1].phrase == reader.phrase:
        reader._open("")
    if not token.owner:
        reader._settle(person)
    reader._push(person + ("~" if token.owner else ""), person)
    return 1


def _read_glue(reader: _Reader, token: Token) -> int:
    """Articles, forms of "be" and "do", fillers, "and", "or"."""
    word = token.text
    if word in lex.DETERMINERS:
        if reader.marker not in ("", "or") and reader.units and reader.units[-1].phrase == reader.phrase:
            reader._open("")
        reader.article = reader.english = True
        return 1
    if word in lex.BE:
        return _read_be(reader, word)
    if word in lex.DO or word in lex.FILLERS:
        reader.verb = reader.verb or word in lex.DO
        if word == "did" and reader._peek().text == "not" and stem(reader._peek(2).text) in _STATES:
            reader.dates.append(("tense", "past"))
        return 1
    if word in lex.CONJUNCTIONS:
        reader._open("")
        reader.joined = "and"
        reader.english = True
        return 1
    if word == "or":
        reader._open("or")
        reader.joined = "and"
        return 1
    return 0


def _read_be(reader: _Reader, word: str) -> int:
    after = next((t for t in (reader._peek(1), reader._peek(2)) if t.text not in lex.FILLERS), reader._peek())
    participle = _is_participle(after.text)
    reader.verb = reader.english = True
    reader.joined = ""
    if participle and len(reader.units) > reader.sentence:
        reader.passives.append((reader.sentence, len(reader.units)))
    if word in ("was", "were") and not participle and not after.text.endswith("ing"):
        reader.dates.append(("tense", "past"))
    if word in ("is", "are", "was", "were", "am"):
        reader.copulas += 1
        reader.copula = len(reader.units)
    return 1


def _is_participle(word: str) -> bool:
    return word in lex.PARTICIPLES or (len(word) > 4 and word.endswith("ed"))


def _read_have(reader: _Reader, token: Token) -> int:
    if token.text not in lex.HAVE:
        return 0
    after = next(
        (t for t in (reader._peek(1), reader._peek(2)) if t.text not in lex.FILLERS | lex.NEGATIONS), reader._peek()
    )
    reader.verb = True
    if _is_participle(after.text):
        return 1  # "has moved" is "moved"
    if token.text == "had":
        reader.dates.append(("tense", "past"))
    return 0


def _read_preposition(reader: _Reader, token: Token) -> int:
    marker = lex.PREPOSITIONS.get(token.text)
    if marker is None or token.owner:
        return 0
    if token.text == "of":
        return _read_of(reader)
    if token.text in ("if", "unless", "whether", "than", "against", "despite"):
        reader.operators.append(token.text)
    reader.english = True
    if marker != "~" and _ends_here(reader._peek()):
        return 0  # a particle at the end says something itself: "the server is up"
    reader._open(marker)
    return 1


def _ends_here(token: Token) -> bool:
    return token.kind in ("stop", "comma") or token.text in ("and", "but", "or")


def _read_of(reader: _Reader) -> int:
    """ "the manager of Bob" is "Bob's manager"."""
    skip = 1 + (reader._peek().text in lex.DETERMINERS)
    owner = reader._peek(skip)
    name = lex.PRONOUNS.get(owner.text) or (owner.text if owner.case == "mid" and owner.kind == "word" else None)
    start = len(reader.units)
    while start and reader.units[start - 1].phrase == reader.phrase and not reader.units[start - 1].after_verb:
        start -= 1
        if reader.units[start].article:
            break
    if name is None or owner.owner or start == len(reader.units) or not reader.units[start].article:
        reader._open("~")
        return 1
    head = reader.units[start]
    reader.units.insert(start, head._replace(stem=f"{name}~", surface=name, case=owner.case, article=False))
    return skip + 1


def _read_past(reader: _Reader, token: Token) -> int:
    """States have a tense that matters: "worked at Acme" is not "works at Acme". Adds to the claim, uses nothing."""
    past = token.text in lex.PAST_FORMS or (token.text.endswith("ed") and len(token.text) > 4)
    if past and stem(token.text) in _STATES and not token.owner:
        before = [t.text for t in reader.tokens[max(0, reader.place - 2) : reader.place]]
        if not any(word in lex.BE or word in lex.HAVE for word in before) and token.text != "preferred":
            reader.dates.append(("tense", "past"))
    return 0


_Handler = Callable[[_Reader, Token], int]
# Each with the words it may have something to do with, beside those that only look like one.
_HANDLERS: tuple[tuple[_Handler, frozenset[str]], ...] = (
    (_read_comparator, _COMPARATOR_HEADS),
    (_read_rate, frozenset({"every", "each", "per", "a", "an", "/", *lex.RATES})),
    (_read_order, frozenset({*lex.ORDER, *lex.BOUNDS})),
    (_read_person, frozenset({*lex.POSSESSIVES, *lex.PRONOUNS})),
    (_read_operator, frozenset({"ended", "formerly", *lex.NEGATIONS, *lex.DENIED, *lex.OPERATORS,
                                *lex.FOREIGN_NEGATIONS})),
    (_read_glue, frozenset({"or", *lex.DETERMINERS, *lex.BE, *lex.DO, *lex.FILLERS, *lex.CONJUNCTIONS})),
    (_read_have, frozenset(lex.HAVE)),
    (_read_preposition, frozenset(lex.PREPOSITIONS)),
    (_read_past, frozenset(lex.PAST_FORMS)),
)  # fmt: skip


@lru_cache(maxsize=16_384)
def _handlers(word: str) -> tuple[_Handler, ...]:
    """Who may read a word, in their order: nobody, of most words."""
    operator, past = stem(word) in _OPERATOR_STEMS, word.endswith("ed")
    return tuple(
        handler
        for handler, words in _HANDLERS
        if word in words or (operator and handler is _read_operator) or (past and handler is _read_past)
    )


_PASSIVES = 8  # a fact has few; what follows them is compared as it stands


def _active(units: list[Unit], passives: Sequence[tuple[int, int]]) -> list[Unit]:
    """ "The contract was signed by Ann" as "Ann signed the contract"."""
    for start, verb in passives[:_PASSIVES]:
        agent = next((i for i in range(verb, len(units)) if units[i].marker == "by"), None)
        if agent is None or units[agent].phrase - units[verb].phrase > 3:
            continue
        by = units[agent].phrase
        done = [u for u in units[verb:] if u.phrase == units[verb].phrase]
        rest = [u for u in units[verb:] if u.phrase not in (by, units[verb].phrase)]
        home = units[start]._replace(marker="", after_verb=False)
        doer = [replace_place(u, home) for u in units[verb:] if u.phrase == by]
        object_ = [replace_place(u, home)._replace(after_verb=True) for u in units[start:verb]]
        units = [*units[:start], *doer, *(replace_place(u, home) for u in done), *object_, *rest]
    return units


def _sort_lists(units: list[Unit]) -> list[Unit]:
    """ "tea and coffee" is "coffee and tea", as long as nothing else in the sentence goes by their order."""
    runs = [run for run in _runs(units) if len(run) > 1 and any(units[i].joined == "and" for i in run[1:])]
    if len(runs) != 1 or sum(unit.stem.startswith("#") for unit in units) > 1:
        return units
    run = runs[0]
    if any(units[i].stem == "respect" for i in range(len(units))):
        return units
    chosen = sorted((units[i] for i in run), key=lambda unit: unit.stem)
    first = units[run[0]]
    found = list(units)
    for place, unit in zip(run, chosen, strict=True):
        found[place] = replace_place(unit, first)
    return found


def replace_place(unit: Unit, place: Unit) -> Unit:
    """The unit, standing where another stood."""
    return unit._replace(phrase=place.phrase, marker=place.marker, after_verb=place.after_verb)


def _runs(units: Sequence[Unit]) -> Iterable[list[int]]:
    run: list[int] = []
    for i, unit in enumerate(units):
        last_of_phrase = i + 1 == len(units) or units[i + 1].phrase != unit.phrase
        item = not unit.stem.startswith("#") and last_of_phrase
        if run and item and unit.joined and unit.bare_left and unit.marker == units[run[0]].marker:
            run.append(i)
            continue
        yield run
        run = [i] if item and unit.bare_left else []
    yield run
