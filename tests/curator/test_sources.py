"""What an owner attaches: content that changes while it is read, damaged hand-overs, a damaged key."""

from __future__ import annotations

import json

import pytest

from dpnb.curator.attached import Shelf
from dpnb.curator.sources import look_up
from dpnb.errors import OwnerError
from dpnb.wire.codec import raw
from dpnb.wire.messages import FileSource, HandOver
from dpnb.wire.places import Home
from tests.curator import small


def test_a_file_that_changes_while_it_is_read_is_refused(dpnb_home, tmp_path):
    """Its rows would be filed under the version the file had before; no copy is left."""
    home = Home(dpnb_home).make()
    path = tmp_path / "small.csv"
    path.write_text("x,g,y\n" + "1,0,1\n" * small.ROWS)

    def prepare(rows, schema, into, table, key):
        into.write_bytes(b"prepared")
        path.write_text("x,g,y\n" + "2,1,0\n" * small.ROWS)

    found = look_up(
        FileSource(path=str(path), schema=raw(small.schema().to_json()), schema_path=None), None, home
    )
    with pytest.raises(OwnerError, match="changed while it was read"):
        Shelf(home, prepare, small.NumpyEngine)._copy(found)
    assert list(home.prepared.iterdir()) == []


def test_a_damaged_hand_over_is_named(dpnb_home):
    """A cut file of handed-over rows is an owner's error with its fix, and is deleted."""
    home = Home(dpnb_home).make()
    name = "0" * 32 + ".npz"
    (home.hand_over / name).write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(OwnerError, match="Open the frame again"):
        look_up(HandOver(file=name, schema=raw(json.loads("null"))), None, home)
    assert not (home.hand_over / name).exists()


def test_an_empty_key_is_refused(dpnb_home):
    """An empty key would make every data version guessable."""
    home = Home(dpnb_home).make()
    home.key.write_bytes(b"")
    with pytest.raises(OwnerError, match="key file is damaged"):
        Shelf(home, small.prepare_numpy, small.NumpyEngine)
