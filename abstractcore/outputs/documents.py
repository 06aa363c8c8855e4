"""Documents and digests of the schema's objects, in which a response's `output` may be of any type pydantic knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from .. import schema
from ..schema import GenerateResponse, SchemaError, freeze
from ..schema.quoting import shortened


def to_json(value: object) -> str:
    """A call, reply, response, message or another object of the schema as a JSON document; `from_json` reads it.

    The `output` of a response is written whole, as pydantic writes its type. `from_json` gives its JSON data, of which
    `TypeAdapter(City).validate_python(response.output)` makes the value again. Raises `SchemaError` for an object that
    is no document of its own, and with the path for what JSON cannot carry.
    """
    return schema.to_json(_as_data(value))


def canonical_json(value: object) -> str:
    """The one JSON text of a value: sorted keys, no spaces, fields at their default left out.

    A blob stands in it by its hash, wherever its content is, so it cannot be read back. Raises as `to_json` does.
    """
    return schema.canonical_json(_as_data(value))


def digest(value: object) -> str:
    """SHA-256 of `canonical_json(value)` in hex: the same for the same content, in every process."""
    return schema.digest(_as_data(value))


def _as_data(value: object) -> object:
    """The value; a response with its `output` as JSON data."""
    if not isinstance(value, GenerateResponse):
        return value
    response = cast("GenerateResponse[Any]", value)
    try:
        freeze(response.output)
    except SchemaError:
        return replace(response, output=_output_data(response.output))
    return response


def _output_data(output: Any) -> Any:
    """The output as pydantic writes it: by its own class, and where that says nothing, by what it is."""
    from pydantic import TypeAdapter
    from pydantic_core import to_jsonable_python

    try:
        return to_jsonable_python(output, bytes_mode="base64")
    except Exception:  # it holds a type that only its own class can describe; that, too, may raise anything
        try:
            return cast(Any, TypeAdapter)(type(output)).dump_python(output, mode="json")
        except Exception as error:
            raise SchemaError(
                f"{type(output).__name__} is not a JSON value: {shortened(str(error), 200)}", "output"
            ) from None
