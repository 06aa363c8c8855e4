"""`response_model` as users give it, and the type of answers that it stands for: `python_type.py` parses the answers of
most, and `engine/output_rounds.py` asks again where one does not fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Union, cast

from ..errors import InvalidInputError
from ..schema import JSONObject
from .output_types import OutputType

if TYPE_CHECKING:
    import typing_extensions

ResponseModel: TypeAlias = Union["typing_extensions.TypeForm[Any]", JSONObject]
"""A class, a type expression such as `list[City]`, `City | None`, `Literal["yes", "no"]`, or a JSON Schema."""


def output_type(response_model: ResponseModel, context: Any = None) -> OutputType:
    """Returns the type of an answer: a JSON Schema is a mapping, anything else a Python type.

    `context` is pydantic's validation context. Raises `InvalidInputError` for a value that is neither, and for a type
    without a JSON Schema.
    """
    if isinstance(response_model, Mapping):
        from .json_schema_type import JsonSchemaType

        if context is not None:
            hint = "Use a pydantic model as response_model, or output_check=FUNCTION."
            message = "a JSON Schema has no validators that could use it"
            raise InvalidInputError(message, path="validation_context", hint=hint)
        return JsonSchemaType(cast("Mapping[str, Any]", response_model))
    from .python_type import PythonType

    return PythonType(response_model, context)
