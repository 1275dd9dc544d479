"""Random small programs release exactly what they hold: the pending questions of live objects, each once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dpnb.estimate import Batch
from tests.estimate.fakes import fill, pending

NAMES = "abcde"
names = st.sampled_from(NAMES)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), names, st.integers(0, 5)),
        st.tuples(st.just("delete"), names),
        st.tuples(st.just("alias"), names, names),
        st.tuples(st.just("derive"), names, names, names),
        st.tuples(st.just("box"), names, names),
        st.tuples(st.just("bare"), st.integers(0, 5)),
        st.tuples(st.just("released"), names),
        st.tuples(st.just("component"), names, names),
    ),
    max_size=25,
)


class Model:
    """The oracle: each name holds the set of texts of the pending questions that it needs."""

    def __init__(self):
        self.texts: dict[str, frozenset[str]] = {}
        self.objects = {}
        self.paid = 0

    def put(self, name, thing, texts):
        self.objects[name], self.texts[name] = thing, frozenset(texts)

    def run(self, step):
        kind, *args = step
        if kind == "ask":
            name, number = args
            self.put(name, pending(f"q{number}"), {f"q{number}"})
        elif kind == "bare":
            pending(f"q{args[0]}")
        elif kind == "released":
            self.paid += 1
            self.put(args[0], fill(pending(f"paid {self.paid}")), ())
        elif args[-1] in self.objects and all(name in self.objects for name in args[1:]):
            self.use(kind, args)

    def use(self, kind, args):
        if kind == "delete":
            del self.objects[args[0]], self.texts[args[0]]
        elif kind == "alias":
            self.put(args[0], self.objects[args[1]], self.texts[args[1]])
        elif kind == "box":
            self.put(args[0], [{"k": (self.objects[args[1]],)}], self.texts[args[1]])
        elif kind == "component":
            self.put(args[0], unboxed(self.objects[args[1]]) * 2 - 1, self.texts[args[1]])
        elif kind == "derive":
            left, right = unboxed(self.objects[args[1]]), unboxed(self.objects[args[2]])
            self.put(args[0], left + right, self.texts[args[1]] | self.texts[args[2]])


def unboxed(thing):
    while isinstance(thing, list):
        thing = thing[0]["k"][0]
    return thing


@given(steps)
def test_what_a_random_program_holds_is_what_its_batch_releases(program):
    model = Model()
    with Batch() as batch:
        for step in program:
            model.run(step)
    held = set().union(*model.texts.values()) if model.texts else set()
    found = batch.pending_leaves()
    assert {measurement.text for measurement in found} == held
    assert len(found) == len(held), "nothing twice"
    for measurement in found:
        fill(next(e for e in batch.alive() if measurement in e.leaves() and e.op is None), 1.0)
    assert batch.pending_leaves() == []
    assert not any(unboxed(thing).pending for thing in model.objects.values())
