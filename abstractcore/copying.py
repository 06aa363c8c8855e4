"""Objects that are neither copied nor pickled, since they hold a connection, a thread or a running call."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, SupportsIndex, TypeVar

from .errors import InvalidInputError
from .schema.base_error import one_line

T = TypeVar("T")


class NotCopied:
    """Base of such objects: `copy.copy`, `copy.deepcopy` and `pickle` raise `InvalidInputError`, which says what the
    object holds, and what to do instead.
    """

    __slots__ = ()

    _holds: ClassVar[str]
    _instead: ClassVar[str]

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        name = type(self).__name__
        message = f"{name} objects are neither copied nor pickled: this one holds {self._holds}."
        raise InvalidInputError(message, hint=self._instead)


def with_same_attributes(original: T) -> T:
    """Returns another object of the class with the attributes of `original`, for a class that changes some of them."""
    made = object.__new__(type(original))
    vars(made).update(vars(original))
    return made


def check_picklable(value: Any, path: str) -> None:
    """Raises `InvalidInputError` with the path of a value that cannot be pickled."""
    import pickle

    try:
        pickle.dumps(value)
    except Exception as error:
        hint = "Define functions and classes at the top of a module, or call create_llm in the other process."
        raise InvalidInputError(f"cannot be pickled: {one_line(str(error))}", path=path, hint=hint) from None
