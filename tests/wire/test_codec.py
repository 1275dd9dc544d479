"""The codec refuses, before anything is built, what is not in the vocabulary; what is in it survives exactly."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import tempfile
from itertools import accumulate
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.client.transport import decode_reply
from dpnb.errors import PlanError
from dpnb.trusted.wire import codec, decode_request, encode
from dpnb.trusted.wire.codec import exact_json, limited, raw
from dpnb.trusted.wire.messages import Answered, Hello, Reply, Request, ServiceRequest, Submit, Welcome

GOLDEN = Path(__file__).parents[1] / "golden" / "wire.json"


def submit(**changes):
    record = {"is": "submit", "handle": "a" * 32, "request": "b" * 32, "digest": "c" * 64, "plan": {}}
    return json.dumps({**record, **changes}).encode()


def test_the_vocabulary_is_permanent():
    """Tags and field names of every message are those of the golden file."""
    found = {}
    for kind in (*get_args(Request), *get_args(ServiceRequest), *get_args(Reply)):
        found[kind.__struct_config__.tag] = list(kind.__struct_fields__)
    assert found == json.loads(GOLDEN.read_text())


def test_no_message_has_a_field_for_a_seed_code_or_a_value():
    """A request carries public terms alone."""
    names = {
        name for kind in (*get_args(Request), *get_args(ServiceRequest)) for name in kind.__struct_fields__
    }
    assert not names & {"seed", "code", "sql", "rng", "value", "values", "rows", "noise"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"null",
        b"[]",
        b'{"is":"hello"',
        b'{"is":"hello","more":1}',
        b'{"is":"eval","code":"1"}',
        b'{"is":["hello"]}',
        b"\x80\x04\x95pickle",
        b"\xff\xfe",
        submit(seed=1),
        submit(handle="../../etc"),
        submit(request="short"),
        submit(digest=12),
        submit(besides=[]),
        b'{"is":"cap","handle":"' + b"a" * 32 + b'","epsilon":0.1}',
    ],
)
def test_what_is_not_in_the_vocabulary_is_refused(body):
    """Unknown tags and fields, other types, broken text: one refusal, before any charge."""
    with pytest.raises(PlanError):
        decode_request(body)


def test_a_body_that_is_too_long_is_refused_unread(monkeypatch):
    """Length is checked first."""
    monkeypatch.setattr(codec, "MAX_REQUEST", 100)
    with pytest.raises(PlanError, match="longer than"):
        decode_request(submit(plan="x" * 200))


@pytest.mark.parametrize("depth", [201, 10_000, 1_000_000])
def test_a_body_nested_too_deeply_is_refused(depth):
    """Depth is counted on the bytes, so that no parser's stack is used for it."""
    body = submit().replace(b"{}", b"[" * depth + b"]" * depth)
    with pytest.raises(PlanError, match="deep"):
        decode_request(body)


MOST = codec.MAX_REQUEST
HOSTILE = {
    "quotes": b'"' * MOST,
    "escaped quotes": b'"' + b'\\"' * (MOST // 2 - 1),
    "a text that never ends": b'"' + b"a" * (MOST - 1),
    "backslashes": b"\\" * MOST,
    "backslashes in a text": b'"' + b"\\" * (MOST - 3) + b'"',
    "escapes across": b'"\\\\\\"' * (MOST // 5),
    "texts of one letter": b'"a"' * (MOST // 3),
    "brackets in texts": b'"[\\"{"' * (MOST // 6),
    "open brackets": b"[" * MOST,
    "pairs of brackets": b"[]" * (MOST // 2),
    "a number": b"9" * MOST,
    "NUL": b"\0" * MOST,
    "blanks": b" " * MOST,
    "a plan of escaped quotes": b'{"is":"submit","plan":"' + b'\\"' * (MOST // 2 - 20) + b'"}',
    "a plan of lists": b'{"is":"submit","plan":[' + b"[]," * (MOST // 3 - 20) + b"[]]}",
}


@contextlib.contextmanager
def within(seconds):
    """End a body that takes longer, in whatever C function it is: the process would not hear a signal there."""
    with tempfile.TemporaryFile("w") as told:
        faulthandler.dump_traceback_later(seconds, exit=True, file=told)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_the_longest_hostile_body_is_read_in_linear_time(body):
    """Every body as long as a body may be is refused in a moment; one pattern with a way back would take hours."""
    with within(60), pytest.raises(PlanError):
        decode_request(body)


def test_a_million_lists_are_refused_before_they_are_walked_through(monkeypatch):
    """They are counted, which takes a moment; how deep each of them is would take a second or two, on every such message."""
    monkeypatch.setattr(codec, "accumulate", None)
    for body in (HOSTILE["a plan of lists"], b'{"is":"submit","plan":[' + b'{"a":[]},' * 400_000 + b"1]}"):
        with pytest.raises(PlanError, match="500,000 lists"):
            decode_request(body)


def depth_of(text):
    """The nesting of a JSON text, letter by letter."""
    depth = most = 0
    quoted = escaped = False
    for letter in text:
        if quoted:
            quoted, escaped = escaped or letter != '"', letter == "\\" and not escaped
        elif letter == '"':
            quoted = True
        elif letter in "[{":
            depth += 1
            most = max(most, depth)
        elif letter in "]}":
            depth -= 1
    return most


TEXTS = st.text(st.sampled_from('"\\[]{}a'), max_size=6)


@given(
    st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))
)
def test_the_depth_of_any_json_is_counted_exactly(value):
    """Brackets, quotes and backslashes in texts and keys are never taken for nesting, and nesting is never missed."""
    text = json.dumps(value)
    counted = max(
        accumulate(1 if bracket in b"[{" else -1 for bracket in codec._brackets(text.encode())), default=0
    )
    assert counted == depth_of(text)


@pytest.mark.parametrize("end", ["\n", "\r", " ", "\u2028"])
def test_an_id_ends_where_its_digits_end(end):
    """A line break behind a handle, a request id or a file of rows is part of it, and refused."""
    for field in ("handle", "request", "digest"):
        with pytest.raises(PlanError):
            decode_request(submit(**{field: "a" * 32 + end}))
    source = {"is": "hand-over", "file": "a" * 32 + ".npz" + end, "schema": {}}
    with pytest.raises(PlanError):
        decode_request(json.dumps({"is": "attach", "source": source}).encode())


def test_a_text_that_no_file_can_hold_is_refused():
    """Half a surrogate pair has no bytes: it is refused where the plan is read, as a value, a key or in a list."""
    for value in ("\ud800", {"\udfff": 1}, [["a\udc00"]]):
        with pytest.raises(PlanError, match="text"):
            limited(exact_json(msgspec.Raw(json.dumps(value).encode())))


def test_brackets_inside_texts_are_not_nesting():
    """A text full of brackets is a text."""
    message = decode_request(submit(plan="[" * 1000 + '\\"' + "{" * 1000))
    assert exact_json(message.plan).startswith("[")


def test_repeated_keys_and_nan_in_a_plan_are_refused():
    """A plan has one reading."""
    for text in (b'{"a":1,"a":2}', b'{"a":NaN}', b'{"a":Infinity}'):
        with pytest.raises(PlanError):
            exact_json(msgspec.Raw(text))


def test_long_lists_and_texts_in_a_plan_are_refused():
    """Lists and texts have limits, at any depth."""
    for value in ({"a": [[0] * 100_001]}, ["x" * 262_145]):
        with pytest.raises(PlanError, match="limit"):
            limited(value)


@pytest.mark.slow
@given(st.recursive(st.integers() | st.text() | st.none() | st.booleans(), st.lists, max_leaves=20))
def test_integers_of_any_length_survive(value):
    """What a lower room wrote is read back exactly."""
    reply = Answered(
        request="b" * 32,
        releases=raw([value]),
        charged=raw({}),
        left=raw({}),
        cap=raw({}),
        whose="",
        entry=2**40,
    )
    assert exact_json(decode_reply(encode(reply)).releases) == [value]


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_and_nothing_else_happens(body):
    """Any body either is a message or raises PlanError."""
    with contextlib.suppress(PlanError):
        decode_request(body)


def test_messages_round_trip():
    """Encoding then decoding gives an equal message."""
    assert decode_request(encode(Hello())) == Hello()
    assert decode_reply(encode(Welcome(protocol=1, pid=7))) == Welcome(protocol=1, pid=7)
    sent = Submit(handle="a" * 32, request="b" * 32, digest="c" * 64, plan=raw({"n": 2**200}))
    assert exact_json(decode_request(encode(sent)).plan) == {"n": 2**200}


def test_the_wire_never_unpickles():
    """No module of the wire, the client or the curator's service imports pickle."""
    import dpnb

    package = Path(dpnb.__file__).parent
    for room in ("wire", "client", "curator"):
        for path in (package / room).rglob("*.py"):
            assert "import pickle" not in path.read_text(), path
