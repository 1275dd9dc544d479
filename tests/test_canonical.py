"""Permanent JSON: one text for a value, another for another, and nothing that two programs could read apart."""

from __future__ import annotations

import enum
import json
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpnb.errors import PlanError
from dpnb.trusted.canonical import canonical, read_json

PLAIN = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]))


def nested(inner):
    """Lists and records of some values."""
    return st.lists(inner) | st.dictionaries(st.text("aé\x00\U0001f600"), inner)


VALUES = st.recursive(PLAIN, nested, max_leaves=15)


def typed(value):
    """Tell values apart that Python takes for equal."""
    if isinstance(value, dict):
        return ("object", sorted((key, typed(one)) for key, one in value.items()))
    if isinstance(value, list):
        return ("list", [typed(one) for one in value])
    return (type(value).__name__, repr(value))


def test_the_form_never_changes():
    """Sorted by code point, no spaces, Unicode as it is, control characters escaped: bytes that hashes depend on."""
    value = {"é": 1, "z": [True, None, 2**70, -0], "Z": ("1/10",), "\U0001f600": 'ε \x00\n"\\/\u2028', "": {}}
    text = '{"":{},"Z":["1/10"],"z":[true,null,1180591620717411303424,0],"é":1,"😀":"ε \\u0000\\n\\"\\\\/\u2028"}'
    assert canonical(value) == text


@given(VALUES, VALUES)
def test_two_values_have_one_text_exactly_if_they_are_one_value(one, other):
    """The form is injective and typed, and read back it is the value."""
    assert (canonical(one) == canonical(other)) == (typed(one) == typed(other))
    assert typed(read_json(canonical(one))) == typed(one)
    assert typed(read_json(json.dumps(one, indent=1).encode())) == typed(one)


class Text(str):
    """A text by descent."""

    __slots__ = ()


class Kind(enum.IntEnum):
    """An integer by descent."""

    ONE = 1


@given(st.recursive(PLAIN | st.builds(Text) | st.just(Kind.ONE), nested, max_leaves=15))
@example([{chr(code): chr(code) for code in (*range(0x300), 0x2028, 0x2029, 0xFFFF, 0x10FFFF)}])
@example([2**63, 2**64, -(2**64), 10**4000, {"\U00010000": 1, "\uffff": 2}])
def test_both_writers_write_the_same_bytes(value):
    """What is written fast is what the standard library writes, whether or not a value has descendants of the plain types."""
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert canonical(value) == written
    assert canonical({"é": [value], "a": (value, Text("a"))}) == f'{{"a":[{written},"a"],"é":[{written}]}}'


@pytest.mark.parametrize(
    "value",
    [
        0.5,
        1.0,
        float("nan"),
        float("inf"),
        b"a",
        {1},
        frozenset(),
        Decimal(1),
        date(2026, 1, 1),
        1j,
        {1: "a"},
        {None: 1},
        {True: 1},
        {"a": {2: 1}},
    ],
)
def test_what_has_no_one_text_is_not_written(value):
    """Floats, keys that are no texts, and whatever JSON has no word for, at any depth."""
    for whole in (value, [value], {"a": [1, (value,)]}):
        with pytest.raises(ValueError, match="canonical form"):
            canonical(whole)


@pytest.mark.parametrize("value", ["\ud800", ["a\udfff"], {"\udc00": 1}])
def test_a_text_without_bytes_is_not_written(value):
    """Half a surrogate pair is refused by name, not by a codec's error."""
    with pytest.raises(PlanError, match="not Unicode"):
        canonical(value)


@pytest.mark.parametrize("text", ["1.0", "[1e3]", '{"a":-0.0}', "NaN", "[Infinity]", "[-Infinity]", "1E400"])
def test_no_float_is_read(text):
    """A number that is no integer is refused, and not rounded."""
    with pytest.raises(PlanError, match="exact number"):
        read_json(text)


@pytest.mark.parametrize("text", ['"\\ud800"', '["\\uDC00a"]', '{"\\udfff":1}', '["\\ude00\\ud83d"]'])
def test_a_text_without_bytes_is_not_read(text):
    """Half a surrogate pair is no letter, in an escape or as it is; a whole pair is the letter that it is."""
    for form in (text, text.encode(), json.dumps(json.loads(text), ensure_ascii=False)):
        with pytest.raises(PlanError, match="not Unicode"):
            read_json(form)
    assert read_json('["\\ud83d\\ude00", "\\\\ud800"]') == ["\U0001f600", "\\ud800"]


@pytest.mark.parametrize("form", ["utf-16", "utf-16-le", "utf-32-be", "utf-8-sig", "latin-1"])
def test_bytes_are_utf_8(form):
    """What json would guess is refused; so are bytes that no text has."""
    for text in ('["é"]'.encode(form), b'"\xed\xa0\x80"', b'"\xff"'):
        with pytest.raises(ValueError, match=r"codec|Expecting|BOM|line 1"):
            read_json(text)


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', '[{"b":{"\\u0061":1,"a":2}}]'])
def test_a_repeated_key_is_not_read(text):
    """A record has one reading, also where a key is escaped the second time."""
    with pytest.raises(PlanError, match="repeated key"):
        read_json(text)
