"""`response_model`: its JSON Schema for the model, and its check of what came back. pydantic is loaded at first use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Generic, TypeVar

from .errors import InvalidInputError, OutputValidationError
from .schema import ModelReply, OutputSchema

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
_LONGEST_NAME = 64
"""Of an output schema, at OpenAI; letters, digits, `_` and `-` only."""


class OutputType(Generic[T]):
    """A type an answer is to have: a pydantic model, a dataclass, a TypedDict, or any type pydantic knows.

    Raises `InvalidInputError` for a type that has no JSON Schema.
    """

    def __init__(self, response_model: type[T]) -> None:
        from pydantic import TypeAdapter

        self._name = str(getattr(response_model, "__name__", "output"))
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", self._name).strip("_")[:_LONGEST_NAME] or "output"
        try:
            self._adapter: TypeAdapter[T] = TypeAdapter(response_model)
            self.schema = OutputSchema(name, self._adapter.json_schema())
        except Exception as error:  # the type's own hooks may raise anything
            raise InvalidInputError(f"{self._name} has no JSON Schema: {error}", path="response_model") from error

    def read(self, reply: ModelReply) -> T:
        """The answer as this type; raises `OutputValidationError` with the reply in `partial`."""
        from pydantic import ValidationError

        try:
            return self._adapter.validate_json(reply.text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "the answer"
            reason = "it was cut off at max_output_tokens" if reply.finish_reason == "length" else first["msg"]
            raise OutputValidationError(
                f"the answer is not a valid {self._name}: {where}: {reason}",
                hint="The answer itself is in the error's `partial`.",
                partial=reply,
            ) from None


def no_output(reply: ModelReply) -> None:
    """The output of a call without `response_model`."""
    return
