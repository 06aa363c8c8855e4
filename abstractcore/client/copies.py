"""Copies of an LLM, each created anew of the same arguments: in this process, or in another one that unpickles it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..copying import check_picklable
from ..errors import InvalidInputError
from ..scrubbing import credentials_of

if TYPE_CHECKING:
    from .services import Services


@dataclass(frozen=True, slots=True, repr=False)
class LLMArguments:
    """The arguments that `create`, which is `create_llm`, was called with."""

    create: Callable[..., Any]
    provider: str | None
    model: str | None
    services: Services | None
    options: Mapping[str, Any]

    def again(self) -> Any:
        """Returns another LLM of the same arguments, with the same services."""
        return self.create(self.provider, self.model, services=self.services, **self.options)

    def picklable(self) -> partial[Any]:
        """Returns the function that creates an LLM where it is unpickled, with the key in that environment.

        Raises `InvalidInputError` with the name of an argument that belongs to this process, that cannot be pickled, or
        that holds a credential: a pickle is not a place for one.
        """
        if self.services is not None:
            hint = "Call create_llm in the other process, with Services of its own."
            raise InvalidInputError("an LLM with services of its own is not pickled", path="services", hint=hint)
        for name, value in self.options.items():
            if any(credentials_of({name: value})):
                hint = (
                    "Leave it out and set the provider's environment variable, or call create_llm in the other process."
                )
                raise InvalidInputError("an LLM with a credential in its options is not pickled", path=name, hint=hint)
            if name == "middleware" and isinstance(value, list | tuple):
                for index, each in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
                    check_picklable(each, f"{name}[{index}]")
            else:
                check_picklable(value, name)
        return partial(self.create, self.provider, self.model, **self.options)
