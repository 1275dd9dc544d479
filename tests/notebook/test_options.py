"""The magic line: two spellings, one meaning, and errors that name the fix."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest

from dpnb.errors import OptionError
from dpnb.notebook.options import CellOptions, evaluated, filled, parse


@pytest.mark.parametrize(
    "line",
    [
        "epsilon=1 weights=effect:2,age:1/2 fresh",
        "--epsilon 1 --weights effect:2,age:1/2 --fresh",
        "--epsilon=1 --weights=effect:2,age:1/2 fresh=true",
        "fresh  weights=effect:2,age:1/2  epsilon=1",
    ],
)
def test_both_spellings_mean_the_same(line):
    """``key=value`` and ``--key value`` are one language, in any order."""
    assert parse(line) == CellOptions(
        "", (("epsilon", "1"),), (("effect", Fraction(2)), ("age", Fraction(1, 2))), fresh=True
    )


def test_dashes_may_stand_for_underscores():
    """``--assume-n 100`` is ``assume_n=100``."""
    assert parse("--assume-n 100 epsilon=1") == parse(
        "assume_n=100 epsilon=1".replace("epsilon=1", "--epsilon 1")
    )


@pytest.mark.parametrize("verb", ["plan", "release", "help"])
def test_a_verb_may_stand_anywhere(verb):
    """The verb is a word of its own, before or after the options."""
    assert (
        parse(f"{verb} epsilon=1") == parse(f"epsilon=1 --{verb}") == CellOptions(verb, (("epsilon", "1"),))
    )


def test_an_empty_line_asks_for_the_defaults():
    """A bare ``%%dp`` leaves everything to the configuration."""
    assert parse("  ") == CellOptions()


GOLDEN = {
    "epsilom=1": "unknown option 'epsilom' for %%dp: did you mean epsilon?",
    "eps=1": "unknown option 'eps' for %%dp: did you mean epsilon?",
    "--assume_m 3": "unknown option 'assume_m' for %%dp: did you mean assume_n?",
    "planned epsilon=1": "unknown option 'planned' for %%dp: did you mean plan?",
    "zzz": "unknown option 'zzz' for %%dp: use one of: epsilon, rho, within, weights, assume_n, fresh, sql, plan, "
    "release, help",
    "0.5": "'0.5' has no name: write %%dp epsilon=0.5",
    "epsilon": "epsilon needs a value: %%dp epsilon=1",
    "--within": "within needs a value: %%dp within=0.02",
    "--epsilon --fresh": "epsilon needs a value: %%dp epsilon=1",
    "fresh=3": "fresh takes no value: write fresh alone, or leave it out.",
    "epsilon=1 epsilon=2": "epsilon is given twice, as 1 and 2: write it once, %%dp epsilon=2",
    "epsilon=1 within=2": "epsilon and within ask for the same thing twice: write one, %%dp epsilon=1",
    "plan release epsilon=1": "plan and release contradict each other: write %%dp plan, or %%dp release.",
    "weights=effect": "weights are written name:number, for example weights=effect:2; 0 leaves a question out",
    "weights=a=2,b=1": "weights are written name:number, for example weights=a:2; 0 leaves a question out",
    "weights=effect:-1": "weights are written name:number, for example weights=effect:2; 0 leaves a question out",
    "epsilon='1": "A quote is not closed in: epsilon='1",
}


@pytest.mark.parametrize(("line", "text"), GOLDEN.items())
def test_a_wrong_line_is_told_what_to_write(line, text):
    """Every refusal of the magic line names the line to write."""
    with pytest.raises(OptionError) as caught:
        parse(line)
    assert str(caught.value) == text


NAMES = {"eps": 0.25, "share": Fraction(1, 3), "text": "weights=effect:2 fresh", "n": 40, "nothing": None}
FILLED = {
    "epsilon={eps}": "epsilon=0.25",
    "epsilon=$eps": "epsilon=0.25",
    "--epsilon {eps}": "--epsilon 0.25",
    "epsilon={eps / 2} assume_n=$n": "epsilon=0.125 assume_n=40",
    "epsilon={share}": "epsilon=1/3",
    "epsilon=1 {text}": "epsilon=1 weights=effect:2 fresh",
    "epsilon={[1, 2, 3][1:][0]}": "epsilon=2",
    "epsilon=1": "epsilon=1",
    "{{eps}} $$eps": "{eps} $eps",
}


@pytest.mark.parametrize(("line", "text"), FILLED.items())
def test_a_variable_stands_for_its_value(line, text):
    """``{eps}`` and ``$eps`` are read as IPython's own magics read them."""
    assert filled(line, partial(evaluated, names=dict(NAMES))) == text


UNFILLED = {
    "epsilon={epz}": "{epz}: epz has no value here. Run the cell that sets it first, for example epz = 0.5",
    "epsilon=$epz": "{epz}: epz has no value here. Run the cell that sets it first, for example epz = 0.5",
    "epsilon={eps +}": "{eps +} is not a Python expression. Write for example {eps} or {eps / 2}",
    "epsilon={}": "{} is not a Python expression. Write for example {eps} or {eps / 2}",
    "epsilon={eps:.2f}": "{eps:.2f} is not a Python expression. Write for example {eps} or {eps / 2}",
    "epsilon={1 / 0}": "{1 / 0} could not be computed: division by zero (ZeroDivisionError)",
    "epsilon={nothing}": "{nothing} is None; an option takes a number or a text.",
    "epsilon={[eps]}": "{[eps]} is of type list; an option takes a number or a text.",
    "epsilon={eps": "A brace stands alone in: epsilon={eps. The value of a variable is written %%dp epsilon={eps}",
    "epsilon=eps}": "A brace stands alone in: epsilon=eps}. The value of a variable is written %%dp epsilon={eps}",
}


@pytest.mark.parametrize(("line", "text"), UNFILLED.items())
def test_a_variable_without_a_usable_value_is_told_in_words(line, text):
    """Each refusal names the expression as it was typed, and what to write."""
    with pytest.raises(OptionError) as caught:
        filled(line, partial(evaluated, names=dict(NAMES)))
    assert str(caught.value) == text
