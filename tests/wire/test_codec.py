"""The codec refuses, before anything is built, what is not in the vocabulary; what is in it survives exactly."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.errors import PlanError
from dpnb.wire import codec, decode_reply, decode_request, encode
from dpnb.wire.binding import request_digest
from dpnb.wire.codec import exact_json, limited, raw
from dpnb.wire.messages import Answered, Hello, Reply, Request, Submit, Welcome

GOLDEN = Path(__file__).parents[1] / "golden" / "wire.json"


def submit(**changes):
    record = {"is": "submit", "handle": "a" * 32, "request": "b" * 32, "digest": "c" * 64, "plan": {}}
    return json.dumps({**record, **changes}).encode()


def test_the_vocabulary_is_permanent():
    """Tags and field names of every message are those of the golden file."""
    found = {}
    for kind in (*get_args(Request), *get_args(Reply)):
        found[kind.__struct_config__.tag] = list(kind.__struct_fields__)
    assert found == json.loads(GOLDEN.read_text())


def test_no_message_has_a_field_for_a_seed_code_or_a_value():
    """A request carries public terms alone."""
    names = {name for kind in get_args(Request) for name in kind.__struct_fields__}
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
        submit(besides=["x"]),
        submit(besides=["a" * 32] * 1001),
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


@given(st.recursive(st.integers() | st.text() | st.none() | st.booleans(), st.lists, max_leaves=20))
def test_integers_of_any_length_survive(value):
    """What a lower room wrote is read back exactly."""
    reply = Answered(request="b" * 32, releases=raw([value]), charged=raw({}), left=raw({}), entry=2**40)
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


def test_the_binding_of_a_request_depends_on_plan_and_draws():
    """Another plan, other draws held, or another order of them is another digest."""
    one, two = "a" * 64, "b" * 64
    digests = {
        request_digest(one),
        request_digest(two),
        request_digest(one, ["c" * 32]),
        request_digest(one, ["c" * 32, "d" * 32]),
        request_digest(one, ["d" * 32, "c" * 32]),
    }
    assert len(digests) == 5


def test_the_wire_never_unpickles():
    """No module of the wire, the client or the curator's service imports pickle."""
    import dpnb

    package = Path(dpnb.__file__).parent
    for room in ("wire", "client", "curator"):
        for path in (package / room).rglob("*.py"):
            assert "import pickle" not in path.read_text(), path
