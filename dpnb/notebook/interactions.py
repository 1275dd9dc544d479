"""``%dp panel | seesaw | plan | remeasure | stored | guide | odds | noises | person | clamp | coverage | attack | exhibits``: the interactions, by one line.

What stands behind the command is ordinary Python in the user's names, as in a cell. None of them spends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.display import display

from dpnb.errors import DpnbError, OptionError

if TYPE_CHECKING:
    from dpnb.notebook.magic import DPMagic


def run(magic: DPMagic, name: str, text: str) -> None:
    """Show one interaction.

    Parameters
    ----------
    magic : DPMagic
        Its shell's names are what the text may use.
    name : str
        The command.
    text : str
        What follows it on the line.

    Raises
    ------
    OptionError
        When the text is missing, is no Python, or names what there is not.
    """
    __tracebackhide__ = True
    display(COMMANDS[name](magic.shell.user_ns, text))


def _value(names: Mapping[str, Any], text: str, example: str) -> Any:
    """Evaluate what follows a command in the user's names."""
    if not text:
        raise OptionError(f"This needs a question: {example}")
    try:
        return eval(text, dict(names))  # noqa: S307  the user's own line
    except DpnbError:
        raise
    except SyntaxError:
        raise OptionError(f"{text} is no Python expression. For example: {example}") from None
    except Exception as error:  # noqa: BLE001  whatever the line raises is told as what it is
        raise OptionError(f"{type(error).__name__} in {text}: {error}") from None


_REQUIRED = object()


@dataclass(frozen=True, slots=True)
class Shown:
    """An interaction that a command shows of one Python value.

    Parameters
    ----------
    name : str
        Its name in :mod:`dpnb.widgets`.
    example : str
        What may follow the command.
    otherwise : object, optional
        What it is shown of where nothing follows; left out where something must.
    named : bool
        Whether it wants the user's own name of the value as well.
    """

    name: str
    example: str
    otherwise: Any = _REQUIRED
    named: bool = False

    def __call__(self, command: str, names: Mapping[str, Any], text: str) -> Any:
        """Return the interaction of what the text says in the user's names."""
        from dpnb import widgets

        show = getattr(widgets, self.name)
        if not text and self.otherwise is not _REQUIRED:
            return show(self.otherwise)
        found = _value(names, text, f"%dp {command} {self.example}")
        return show(found, name=text if text.isidentifier() else None) if self.named else show(found)


SHOWN: dict[str, Shown] = {
    "attach": Shown("attach", "hiv", named=True),
    "clamp": Shown("clamp", "[3, 5, 8, 40]", otherwise=None),
    "guide": Shown("guide", "hiv"),
    "noises": Shown("noises", "0.3", otherwise=0.5),
    "odds": Shown("odds", "0.1", otherwise=0.1),
    "person": Shown("drag_person", "[21, 35, 44]", otherwise=None),
    "remeasure": Shown("remeasure", "effect", named=True),
    "seesaw": Shown("seesaw", "hiv.age.mean()"),
    "stored": Shown("stored", "effect", named=True),
}
"""One line each; an interaction that reads more than one value has a function below."""


def _panel(names: Mapping[str, Any], text: str) -> Any:
    from dpnb import widgets

    del names
    if text:
        raise OptionError("%dp panel stands alone: it shows every open dataset.")
    return widgets.panel()


def _plan(names: Mapping[str, Any], text: str) -> Any:
    from dpnb import plan, widgets
    from dpnb.client.views import PlanView

    found = _value(names, text, '%dp plan {"m": hiv.age.mean()}')
    return widgets.plan(found if isinstance(found, PlanView) else plan(found, epsilon=1))


def _coverage(names: Mapping[str, Any], text: str) -> Any:
    from dpnb import widgets
    from dpnb.widgets.scenes import ASKED

    if not text:
        return widgets.coverage_lab()
    found = _estimate(names, text)
    if found is not None:
        return widgets.coverage_lab(found)
    longest = sorted(ASKED, key=len, reverse=True)
    words = text.split()
    statistic = next((one for one in longest if words[: len(one.split())] == one.split()), words[0])
    rest = words[len(statistic.split()) :]
    if len(rest) > 1:
        raise OptionError(
            f"%dp coverage takes an estimate, or a statistic and a population, not {text}: %dp coverage mean skewed"
        )
    return widgets.coverage_lab(statistic, *rest)


def _estimate(names: Mapping[str, Any], text: str) -> Any:
    """Return the estimate that a line stands for, or nothing: then it is a statistic and a population."""
    from dpnb.estimate import Estimate

    try:
        found = eval(text, dict(names))  # noqa: S307  the user's own line
    except DpnbError:
        raise
    except Exception:  # noqa: BLE001  it is no expression: two words of the lab
        return None
    return found if isinstance(found, Estimate) else None


def _attack(names: Mapping[str, Any], text: str) -> Any:
    from dpnb import widgets

    del names
    return widgets.attack_bench(text) if text else widgets.attack_bench()


def _exhibits(names: Mapping[str, Any], text: str) -> Any:
    from dpnb import widgets

    del names
    return widgets.exhibits(text)


COMMANDS: dict[str, Callable[[Mapping[str, Any], str], Any]] = {
    **{command: partial(shown, command) for command, shown in SHOWN.items()},
    "panel": _panel,
    "plan": _plan,
    "coverage": _coverage,
    "attack": _attack,
    "exhibits": _exhibits,
}
