"""Entropy comes from the operating system at each request; nothing survives a fork."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from dpnb.trusted.noise.secure import SecureBits

FORK = """
import os
from dpnb.trusted.noise.exact import discrete_laplace
from dpnb.trusted.noise.secure import SecureBits
from fractions import Fraction

def show(bits):
    return bits.words(4).tolist() + discrete_laplace(Fraction(2**40), 4, bits).tolist()

bits = SecureBits()
show(bits)
read, write = os.pipe()
child = os.fork()
if child == 0:
    os.write(write, repr(show(bits)).encode())
    os._exit(0)
os.waitpid(child, 0)
ours, theirs = show(bits), eval(os.read(read, 4096))
print(len(set(ours) & set(theirs)))
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this platform does not fork")
def test_a_forked_process_shares_no_entropy_with_its_parent():
    """After a fork, parent and child draw different words and different noise from the same source object."""
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


def test_the_source_has_no_state_to_predict():
    """A source holds no attribute at all, so neither a buffer nor a seed can leak or be copied."""
    bits = SecureBits()
    assert SecureBits.__slots__ == ()
    assert not hasattr(bits, "__dict__")


def test_words_are_as_many_as_asked_and_all_bits_move():
    """The source gives exactly the words asked for, and each of the 64 bits is about fair."""
    words = SecureBits().words(20_000)
    assert words.shape == (20_000,)
    assert words.dtype == np.uint64
    assert SecureBits().words(0).shape == (0,)
    ones = np.unpackbits(words.view(np.uint8)).reshape(20_000, 64).mean(axis=0)
    assert np.abs(ones - 0.5).max() < 8 * 0.5 / np.sqrt(20_000)


def test_the_noise_room_does_not_import_secure_bits_by_itself():
    """Importing laws, samplers and mechanisms never loads the secure source."""
    program = "import sys, dpnb.trusted.noise.exact, dpnb.inference.fast_noise, dpnb.trusted.mechanisms; print('dpnb.trusted.noise.secure' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
