"""Expressions that are compiled at their first use do what compiled ones do."""

from __future__ import annotations

import copy
import re
import subprocess
import sys

import pytest

from engram.regex import regex


def test_an_expression_answers_as_a_compiled_one() -> None:
    late, now = regex(r"(?P<word>[a-z]+)(\d)?", re.IGNORECASE), re.compile(r"(?P<word>[a-z]+)(\d)?", re.IGNORECASE)
    said = "Ann has 3 cats, b2 none"
    for _ in range(2):  # asked for the first time, and again
        assert [one.span() for one in late.finditer(said)] == [one.span() for one in now.finditer(said)]
        assert late.sub("-", said) == now.sub("-", said)
        assert late.match(said) is not None
        assert late.fullmatch(said) is None
        assert (late.groupindex, late.flags, late.pattern) == (now.groupindex, now.flags, now.pattern)


def test_an_expression_can_be_copied() -> None:
    late = copy.deepcopy(regex("a+"))
    assert late.fullmatch("aa") is not None
    assert copy.copy(late).fullmatch("b") is None


def test_what_is_wrong_with_an_expression_is_told_when_it_is_asked() -> None:
    wrong = regex("(")
    for _ in range(2):
        with pytest.raises(re.error):
            wrong.search("x")
    with pytest.raises(AttributeError, match="look"):
        regex("x").look  # noqa: B018


def test_a_process_that_reads_no_sentence_compiles_no_rule_for_one() -> None:
    code = (
        "import re; from engram.english import attributes, courses as rules, shorthand, subjects, windows\n"
        "late = type(rules._SCRAPPED)\n"
        "print(late is not re.Pattern, '_compiled' in vars(rules._SCRAPPED))\n"
        "rules.read('user has sold the car')\n"
        "print('_compiled' in vars(rules._SCRAPPED))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == ["True", "False", "True"]
