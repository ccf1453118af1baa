"""What people have from a provider, and the ways in which they say from whom. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engram.english.phrases.table import SERVICES, STANDS_FOR
from engram.regex import regex

AUX: Final = STANDS_FOR["<aux>"]
_INSURED: Final = regex(r"(?P<of>car|auto|home|house|health|travel|dental|life|pet|household|contents) insurance")
_CALLED: Final = re.compile("|".join(f"(?P<s{place}>{said})" for place, (_, said) in enumerate(SERVICES)))
_WHOSE: Final = r"(?:user's |the |all (?:of )?user's |(?:user's |the )?home )?"
_S: Final = rf"{_WHOSE}(?P<service>[a-z-]+(?: [a-z-]+){{0,2}})"
_OF_SERVICE: Final = tuple(
    regex(f"^user {said}$")
    for said in (
        rf"(?:is|has been|went|goes) (?:back )?(?:with|on) (?P<value>.+?) for {_S}",
        rf"(?:gets|receives|sources) {_S} (?:from|through|via) (?P<value>.+)",
        rf"buys {_WHOSE}(?P<service>(?:[a-z-]+ ){{0,2}}[a-z-]*groceries) at (?P<value>.+)",
        rf"(?:does|orders) {_S} (?:at|from|with) (?P<value>.+)",
        rf"(?:has|keeps|bought|took out) {_S} (?:with|from|through|at) (?P<value>.+)",
        rf"(?:uses|is using|pays|pays for|relies on|trusts|chose|picked) (?P<value>.+?) for {_S}",
        (
            r"(?:has )?(?:signed up (?:with|for|to)|went with|gone with|subscribed to|subscribes to|took out) "
            rf"(?P<value>.+?) for {_S}"
        ),
        rf"(?:has )?(?:switched|moved|changed|transferred|migrated) {_S} (?:over )?(?:back )?to (?P<value>.+)",
        (
            r"(?:is|has )?(?:switched|moved|changed|gone|went|come|came|is) (?:over )?(?:back )?to (?P<value>.+?) "
            rf"for {_S}"
        ),
        rf"(?:has|got|pays for) an? (?P<value>.+?) (?:subscription|account|plan|contract|membership) for {_S}",
        rf"(?:listens to|streams) {_S} (?:on|with|through|via|over) (?P<value>.+)",
        rf"(?:goes|turns) to (?:the pharmacy )?(?P<value>.+?) for {_S}",
        rf"(?:has|gets) {_S} (?:made up|filled|delivered|dispensed) (?:at|by|from) (?P<value>.+)",
        rf"(?:fills|picks up|collects) {_S} (?:at|from) (?P<value>.+)",
    )
)
_SERVICE_IS: Final = tuple(
    regex(said)
    for said in (
        (
            rf"^{_S} (?:is|are|comes|come|remains)(?: (?:now|provided|supplied|delivered|run)){{0,2}} "
            r"(?:with|from|through|by|over|via) (?P<value>.+)$"
        ),
        rf"^(?P<value>[^,;:]{{1,40}}?) (?:provides|supplies|delivers|runs|handles|insures) {_S}$",
    )
)
_Q: Final = r"(?:my |all (?:of )?my )?(?P<service>[a-z-]+(?: [a-z-]+){0,2}?)"
_ASKED_SERVICE: Final = tuple(
    regex(f"^{pattern}$")
    for pattern in (
        rf"(?:where|who|whom) {AUX} i (?:get|buy|have|getting|buying|got|source) {_Q}(?: (?:from|at|through|with))?",
        rf"(?:what|which (?:app|service|company|provider)|who|whom) {AUX} i (?:use|using|pay|go to|with) for {_Q}",
        rf"(?:who|whom) (?:is|was) {_Q} (?:with|from|through|by)",
        rf"(?:what|which (?:app|service)|where) {AUX} i (?:listen(?:ing)? to|stream(?:ing)?) {_Q}(?: (?:on|with))?",
        rf"who (?:provides|supplies|provided|supplied) {_Q}",
    )
)
_FOR: Final = regex(rf" for {_S}(?: now| again| instead)?$")


def attribute_of(said: str) -> str | None:
    """The attribute that a service is an attribute of: "broadband" is of the internet provider."""
    insured = _INSURED.fullmatch(said)
    if insured is not None:
        return f"{insured['of']} insurer"
    match = _CALLED.fullmatch(said)
    if match is None:
        return None
    return next(name for place, (name, _) in enumerate(SERVICES) if match[f"s{place}"] is not None)


def read(plain: str) -> Iterator[tuple[str, str]]:
    """Each attribute that a statement of a service may set, and the text at whose start its value stands."""
    if _MAY_NAME_ONE.search(plain) is None:
        return
    for pattern in (*_OF_SERVICE, *_SERVICE_IS):
        match = pattern.match(plain)
        name = None if match is None else attribute_of(match["service"])
        if match is not None and name is not None:
            yield name, match["value"]


_MAY_NAME_ONE: Final = regex(r"\b(?:" + "|".join((*(said for _, said in SERVICES), "insurance")) + r")\b")


def asked(question: str) -> str | None:
    """The attribute that a question for a provider asks for; None for other questions."""
    for pattern in _ASKED_SERVICE:
        match = pattern.match(question)
        name = None if match is None else attribute_of(match["service"])
        if name is not None:
            return name
    return None


def is_for_a_service(said: str) -> bool:
    """Whether words end in what somebody has from a provider: "tidal for user's music"."""
    match = _FOR.search(said)
    return match is not None and attribute_of(match["service"]) is not None


__all__ = ["AUX", "asked", "attribute_of", "is_for_a_service", "read"]
