"""What a window of a text consists of: sections of prose, definitions of code, hunks of a diff, lines of JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engram.longinput.headings import Path, heading_of, is_underline, under
from engram.regex import regex

LINE: Final = regex(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BARE_CHARACTERS: Final = 20
"""A section with less than this beside its heading is hardly more than a heading: it joins the next."""
_SMALL_PART: Final = 8
"""A definition smaller than this part of a chunk does not make a chunk."""

_FENCE = regex(r" {0,3}(`{3,}|~{3,})([^\r\n]*)")
_DEFINITION = regex(
    # what begins with a word of its own, in Python, JavaScript, TypeScript, Go, Rust, Java, C, C#, Kotlin, Ruby, PHP
    r"(?:(?:export|default|async|public|private|protected|internal|abstract|final|static|sealed|partial|unsafe|extern"
    r"|declare|inline|const|open|data|virtual|override|pub(?:\([a-z: ]{1,30}\))?)[ \t]+){0,6}"
    r"(?:def|class|func|function|fn|struct|enum|trait|impl|interface|mod|module|namespace|union|record|type|object|fun"
    r"|macro_rules!|protocol|extension|service|message)(?:\*?[ \t]+[A-Za-z_$(*<~]|[<*])"
    # a function or a class as a value
    r"|(?:export[ \t]+)?(?:const|let|var)[ \t]+[A-Za-z_$][\w$]{0,80}[ \t]*(?::[^=\r\n]{1,120})?="
    r"[ \t]*(?:async\b|function\b|\(|class\b)"
    r"|export[ \t]+default\b|(?:var|const|type)[ \t]*\(|(?:typedef|template)\b"
    # a statement of SQL
    r"|(?:CREATE|ALTER|DROP|INSERT|UPDATE|DELETE|SELECT|WITH|GRANT|REVOKE|TRUNCATE|MERGE|COMMENT[ ]ON)[ \t\r\n]"
    r"|(?:create|alter|drop|insert|grant|revoke)[ \t](?=[a-z])"
    # a function of C: a type, a name, an opening bracket, no semicolon
    r"|(?!return\b|else\b|if\b|for\b|while\b|switch\b|import\b|from\b|use\b|using\b|assert\b|raise\b"
    r"|del\b|print\b|not\b)"
    r"[A-Za-z_][\w:<>,\[\]]{0,60}(?:[ \t]{1,4}[*&]{0,3}|[ \t]{0,2}[*&]{1,3}[ \t]{0,2})"
    r"(?:[A-Za-z_~][\w:~]{0,80}[ \t]{1,4}[*&]{0,3}){0,4}"
    r"[A-Za-z_~][\w:~]{0,80}[ \t]{0,2}\([^;=\r\n]{0,400}(?:\{[^\r\n]*)?[ \t]*(?=[\r\n]|\Z)"
)
_ATTACHED = regex(r"@\w|#\[|//|/\*|[ \t]{0,4}\*|--|#(?!include|if|ifdef|ifndef|endif|else|elif|define|undef|pragma|!)")
_FILE = regex(r"diff --git |diff -|Index: |commit [0-9a-f]{7,64}\b|From [0-9a-f]{40} ")
_HUNK = regex(r"@@ -\d")
_PATH = regex(r"(?:diff --git [^\r\n]* b/|Index: |\+\+\+ (?:b/)?|--- (?:a/)?)([^\t\r\n]+)")


@dataclass(frozen=True, slots=True)
class Before:
    """What is known, at the beginning of a window, of the text before it."""

    said: str = ""  # its last characters
    heading: str | None = None
    fence: str | None = None
    path: Path = ()

    @property
    def within_a_line(self) -> bool:
        """Whether the window begins in the middle of a line."""
        return self.said[-1:] not in ("", "\r", "\n")

    @property
    def line(self) -> str | None:
        """The line before the window; None at the beginning of the text."""
        found = LINE.findall(self.said)
        return found[-1] if found else None


@dataclass(slots=True)
class Section:
    """A part of a window that is a chunk if it fits: its span, its heading, and what in it should stay whole."""

    start: int
    end: int
    heading: str | None
    lead: int = 0  # characters of the headings it begins with
    joins: bool = False  # may share a chunk with what came before
    fences: list[tuple[int, int, str]] | None = None
    path: Path = ()  # of the headings it stands under


Outline = Callable[[str, Before, int], list[Section]]


def of_prose(text: str, before: Before, _: int) -> list[Section]:
    """Sections that begin with a heading, where "1. Definitions" is one."""
    return _prose(text, before, numbered=True)


def of_markdown(text: str, before: Before, _: int) -> list[Section]:
    """Sections that begin with a heading, where "1. Definitions" is an item of a list."""
    return _prose(text, before, numbered=False)


def _prose(text: str, before: Before, *, numbered: bool) -> list[Section]:
    lines = LINE.findall(text)
    section = Section(0, 0, before.heading, path=before.path)
    found = [section]
    at = index = 0
    opened, opened_at = before.fence, 0
    hopeless: dict[str, int] = {}
    previous, two_before = before.line, None
    last = len(lines) - 1
    while index <= last:
        line = lines[index]
        if opened is None and not (at == 0 and before.within_a_line):
            if "```" in line or "~~~" in line:
                opened = _opened(line, lines, index, hopeless)
                opened_at = at
            if opened is None and not line.isspace():
                after = lines[index + 1] if index < last else None
                below = section.lead > 0 and at == section.start + section.lead
                heading = heading_of(line, previous, after, below=below, numbered=numbered)
                if heading is not None:
                    if at and len(text[section.start + section.lead : at].strip()) >= _BARE_CHARACTERS:
                        section.end = at
                        section = Section(at, at, heading, path=section.path)
                        found.append(section)
                    section.heading = heading
                    section.path = under(section.path, heading, below=below)
                    section.lead = at + len(line) - section.start
                elif below and is_underline(line, previous, two_before):
                    section.lead += len(line)
        elif opened is not None and _closes(line, opened):
            section.fences = [*(section.fences or []), (opened_at, at + len(line), opened)]
            opened = None
        at += len(line)
        two_before, previous = previous, line
        index += 1
    section.end = at
    return found


def _opened(line: str, lines: list[str], index: int, hopeless: dict[str, int]) -> str | None:
    """The mark of the fenced block that a line opens, if the block is closed within the window."""
    match = _FENCE.match(line)
    if match is None or (match[1][0] == "`" and "`" in match[2]):
        return None
    mark = match[1]
    if len(mark) >= hopeless.get(mark[0], len(mark) + 1):
        return None
    if any(_closes(other, mark) for other in lines[index + 1 :]):
        return mark
    hopeless[mark[0]] = len(mark)
    return None


def _closes(line: str, mark: str) -> bool:
    if mark not in line:
        return False
    rest = line.strip()
    return len(rest) >= len(mark) and not rest.strip(mark[0])


def of_code(text: str, before: Before, characters: int) -> list[Section]:
    """Definitions that begin a line without indentation, with the comments and decorators right above them."""
    found = [Section(0, 0, before.heading)]
    at = attached = 0
    begun = not before.within_a_line
    ended = True  # a statement of SQL that goes on holds words that begin others
    for line in LINE.findall(text):
        if begun or at:
            first = line[0]
            if first in "\r\n" or (first in " \t})]" and not line.lstrip(" \t").startswith("*")):
                attached = at + len(line)
            elif _DEFINITION.match(line) and (ended or not line[:1].isupper()):
                found[-1].end = attached
                found.append(Section(attached, at, _named(line), joins=True))
                attached = at + len(line)
            elif not _ATTACHED.match(line):
                attached = at + len(line)
        at += len(line)
        if not line.isspace():
            ended = line.rstrip()[-1] in ";}{:)/*" or line.startswith("--")
    found[-1].end = at
    return _joined(found, characters, lambda section: (section.end - section.start) * _SMALL_PART < characters)


def of_diff(text: str, before: Before, characters: int) -> list[Section]:
    """Files with their hunks: a chunk holds as many hunks of one file as fit."""
    lines = LINE.findall(text)
    found = [Section(0, 0, before.heading)]
    at, header = 0, False
    for index, line in enumerate(lines):
        if line[0] in "dIcF-" and (at or not before.within_a_line) and (
            _FILE.match(line) or (not header and _is_plain_file(lines, index))
        ):  # fmt: skip
            path = _PATH.match(line)
            heading = path[1].strip() if path else _named(line)
            # What a commit says stands with its first file.
            commit = line.startswith(("commit ", "From "))
            found[-1].end = at
            found.append(Section(at, at, heading, joins=bool(found[-1].lead)))
            found[-1].lead = int(commit)
            header = True
        elif line[0] == "@" and _HUNK.match(line):
            if not header:
                found[-1].end = at
                found.append(Section(at, at, found[-1].heading, joins=True))
            header = False
        at += len(line)
    found[-1].end = at
    sections = _joined(found, characters, lambda _: True)
    for section in sections:
        section.lead = 0
    return sections


def _is_plain_file(lines: list[str], index: int) -> bool:
    return (
        lines[index].startswith("--- ")
        and index + 2 < len(lines)
        and lines[index + 1].startswith("+++ ")
        and lines[index + 2].startswith("@@ ")
    )


def of_lines(text: str, _: Before, characters: int) -> list[Section]:
    """Lines of JSON, as many to a chunk as fit."""
    found: list[Section] = []
    at = 0
    for line in LINE.findall(text):
        if found and at + len(line) - found[-1].start <= characters:
            found[-1].end = at + len(line)
        else:
            found.append(Section(at, at + len(line), None))
        at += len(line)
    return found


def _joined(sections: list[Section], characters: int, takes: Callable[[Section], bool]) -> list[Section]:
    """The sections, with those that may and fit put together; the heading is that of the first that has one,
    but of a commit that of its first file."""
    found: list[Section] = []
    for section in sections:
        if section.start == section.end:
            continue
        whole = found[-1] if found else None
        if whole and section.joins and takes(whole) and section.end - whole.start <= characters:
            whole.end = section.end
            whole.heading = section.heading if whole.lead else whole.heading or section.heading
            whole.lead = 0
        else:
            found.append(section)
    return found


def _named(line: str) -> str:
    return " ".join(line[:400].split())[:120].rstrip(" {(:")
