"""The negative space of handles: what they refuse because they hold no data, with the question to ask instead.

A class with ``__getitem__`` alone is iterable in Python, and numpy turns anything into an array of one object; both would
look like data. Every such door is shut here, by name, with one error text.
"""

from __future__ import annotations

from typing import Any, NoReturn, Self

from dpnb.errors import HandleError


class HoldsNoData:
    """Base of datasets, columns and groups: no iteration, no length, no truth value, no writing, no conversion, no pickle."""

    __slots__ = ()
    __array_ufunc__: Any = None

    def _spoken(self) -> str:
        raise NotImplementedError

    def _instead(self) -> str:
        raise NotImplementedError

    def _refuse(self, verb: str) -> NoReturn:
        raise HandleError(f"{self._spoken()} holds no data here, so it cannot be {verb}. {self._instead()}")

    def __iter__(self) -> NoReturn:
        self._refuse("iterated")

    def __len__(self) -> NoReturn:
        self._refuse("measured with len()")

    def __bool__(self) -> bool:
        self._refuse("true or false")

    def __contains__(self, _: object) -> bool:
        self._refuse("searched with `in`")

    def __setitem__(self, _: object, __: object) -> NoReturn:
        self._refuse("written to")

    def __delitem__(self, _: object) -> NoReturn:
        self._refuse("written to")

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            self._refuse("written to")
        object.__setattr__(self, name, value)

    def __delattr__(self, _: str) -> NoReturn:
        self._refuse("written to")

    def __array__(self, *_: object, **__: object) -> NoReturn:
        self._refuse("turned into an array")

    def __float__(self) -> NoReturn:
        self._refuse("turned into a number")

    def __int__(self) -> NoReturn:
        self._refuse("turned into a number")

    def __complex__(self) -> NoReturn:
        self._refuse("turned into a number")

    def __index__(self) -> NoReturn:
        self._refuse("used as an index")

    def __reversed__(self) -> NoReturn:
        self._refuse("iterated")

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise HandleError(
            f"{self._spoken()} holds no data here, so it cannot be pickled. Open it again where it is needed."
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self
