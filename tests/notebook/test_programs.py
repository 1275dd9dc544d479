"""Random small programs release exactly what they hold."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.notebook.fakes import FakeSession, Study

NAMES = ("u", "v", "w")
KEYS = ("a", "b", "c", "d")
name, key = st.sampled_from(NAMES), st.sampled_from(KEYS)
STEPS = st.one_of(
    st.tuples(st.just("ask"), name, key),
    st.tuples(st.just("alias"), name, name),
    st.tuples(st.just("delete"), name),
    st.tuples(st.just("bare"), key),
    st.tuples(st.just("scratch"), name, key, key),
    st.tuples(st.just("put"), key, name),
    st.tuples(st.just("drop"), key),
    st.tuples(st.just("derive"), name, name, key),
    st.tuples(st.just("closure"), name, key),
)


class Model:
    """The meaning of a program over sets of questions: what each name holds."""

    def __init__(self) -> None:
        self.names: dict[str, frozenset[str]] = {}
        self.box: dict[str, frozenset[str]] = {}

    def step(self, step: tuple[str, ...]) -> str:
        """Do a step, and return it as a line of Python that cannot fail."""
        what, *args = step
        return getattr(self, what)(*args)

    def ask(self, to, question):
        self.names[to] = frozenset({question})
        return f"{to} = study.ask({question!r})"

    def alias(self, to, source):
        if source not in self.names:
            return "pass"
        self.names[to] = self.names[source]
        return f"{to} = {source}"

    def delete(self, gone):
        if self.names.pop(gone, None) is None:
            return "pass"
        return f"del {gone}"

    def bare(self, question):
        return f"study.ask({question!r}) + 1; None"

    def scratch(self, to, inner, question):
        self.names[to] = frozenset({question})
        return f"{to} = (lambda s: study.ask({question!r}))(study.ask({inner!r}))"

    def put(self, place, source):
        if source not in self.names:
            return "pass"
        self.box[place] = self.names[source]
        return f"box[{place!r}] = {source}"

    def drop(self, place):
        self.box.pop(place, None)
        return f"box.pop({place!r}, None); None"

    def derive(self, to, source, question):
        if source not in self.names:
            return "pass"
        self.names[to] = self.names[source] | {question}
        return f"{to} = abs({source}() if callable({source}) else {source}) - study.ask({question!r})"

    def closure(self, to, question):
        self.names[to] = frozenset({question})
        return f"{to} = (lambda q: lambda: q)(study.ask({question!r}))"

    @property
    def held(self) -> frozenset[str]:
        return frozenset().union(*self.names.values(), *self.box.values())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(cells=st.lists(st.lists(STEPS, min_size=1, max_size=8), min_size=1, max_size=3))
def test_the_released_set_is_what_live_objects_need(notebook, cells, monkeypatch):
    """After each cell the charge names exactly the held questions that were not paid for before."""
    shell, session, model = notebook.shell, FakeSession(cap=10**6), Model()
    monkeypatch.setattr("dpnb.notebook.cell_release.current_session", lambda: session)
    for gone in (*NAMES, "box"):
        shell.user_ns.pop(gone, None)
    shell.user_ns.update(study=Study(), box={})
    paid: set[str] = set()
    for steps in cells:
        lines = [model.step(step) for step in steps]
        charges = len(session.charges)
        shell.cell("%%dp epsilon=1\n" + "\n".join(lines) + "\nNone")
        new = {f"study.{question}" for question in model.held} - paid
        assert [set(texts) for texts, _ in session.charges[charges:]] == ([new] if new else []), lines
        paid |= new
        for held in model.names:
            value = shell.user_ns[held]
            assert not (value() if callable(value) else value).pending
