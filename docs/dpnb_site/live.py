"""A live page of each interaction: one file that drags without a kernel and asks the network for nothing, as ``%dp export`` writes it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpnb.client.handles import Dataset
    from dpnb.widgets._base import Interaction


def _wall(_: Dataset) -> Interaction:
    """Thirty answers of simulated people, whose truth may be drawn."""
    import dpnb
    from dpnb import widgets

    lesson = dpnb.open("incentive33", seed=7, quiet=True)
    return widgets.wall([dpnb.release([lesson.got.mean()], epsilon=0.1, fresh=True)[0] for _ in range(30)])


def _plan(hiv: Dataset) -> Interaction:
    import dpnb
    from dpnb import widgets

    questions = {
        "collected": hiv.got.mean(),
        "effect": hiv.got.difference(by="any"),
        "age": hiv.age.quantile([0.5]),
    }
    return widgets.plan(dpnb.plan(questions, epsilon=0.9, assume_n=2834))


def _released(hiv: Dataset) -> Any:
    import dpnb

    return dpnb.release({"collected": hiv.got.mean()}, epsilon=0.25)["collected"]


def makers() -> dict[str, Callable[[Dataset], Interaction]]:
    """Return how the gallery's example of each interaction is made, from one open study."""
    from dpnb import widgets

    return {
        "attach": widgets.attach,
        "attack": lambda _: widgets.attack_bench("reconstruction"),
        "budget": widgets.budget,
        "clamp": lambda _: widgets.clamp(epsilon=0.5),
        "compare": lambda hiv: widgets.compare(
            {
                "collected": hiv.got.mean(),
                "effect": hiv.got.difference(by="any"),
                "age": hiv.age.median(),
                "people": hiv[hiv.any == 1].count(),
            },
            epsilon=0.5,
        ),
        "coverage": lambda _: widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.5),
        "deposit": lambda _: widgets.deposit(_town()),
        "exhibits": lambda _: widgets.exhibits("resized-bootstrap"),
        "guide": widgets.guide,
        "noises": lambda _: widgets.noises(0.4, n=500, epsilon=0.5),
        "odds": lambda _: widgets.odds(0.1, epsilon=0.5),
        "panel": lambda _: widgets.panel(),
        "person": lambda _: widgets.drag_person(kind="mean"),
        "plan": _plan,
        "remeasure": lambda hiv: widgets.remeasure(_released(hiv), name="collected"),
        "seesaw": lambda hiv: widgets.seesaw(hiv.got.mean(), assume_n=2834, epsilon=0.25),
        "sentence": lambda _: widgets.sentence(
            "At ε = {epsilon} a count is off by {off:.2g} people on average. Of {n} people that is {part:.2%}.",
            epsilon=(0.05, 0.5, 5),
            n=(20, 1_000, 100_000),
            off=lambda epsilon: 1 / epsilon,
            part=lambda epsilon, n: 1 / epsilon / n,
            picture="part",
            label="mean error, as a part of the people",
        ),
        "stored": lambda hiv: widgets.stored(_released(hiv), name="collected"),
        "wall": _wall,
    }


def _town() -> Path:
    """A file that nobody declared yet."""
    path = Path(tempfile.mkdtemp()) / "town.csv"
    path.write_text("person,age,sex,income\n1,34,f,41000\n", encoding="utf-8")
    return path


def write(folder: Path, names: Collection[str] = ()) -> set[str]:
    """Write the pages, or some of them, and return their names; none where the front end is not built: the site then shows pictures."""
    import dpnb
    from dpnb import widgets
    from dpnb.errors import DpnbError

    folder.mkdir(parents=True)
    if not widgets.built():
        print(
            "-- The front end is not built: the site shows pictures instead of live interactions.", flush=True
        )
        return set()
    hiv = dpnb.open("hiv", seed=7, quiet=True)  # public data: the same noise in every build
    made = {name: make for name, make in makers().items() if not names or name in names}
    dpnb.release({"distance": hiv.distvct.mean()}, epsilon=0.75)
    for name, make in made.items():
        try:
            text = widgets.page([make(hiv)], name)
        except DpnbError as fault:
            raise SystemExit(f"-- The live page of {name} was not made: {fault}") from fault
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    dpnb.session().close()
    return set(made)
