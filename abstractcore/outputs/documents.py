"""JSON documents and digests of schema objects; `output` of a response may be of any type that pydantic supports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from .. import schema
from ..schema import GenerateResponse, SchemaError, freeze
from ..schema.quoting import shortened


def to_json(value: object) -> str:
    """Returns a call, reply, response, message or other schema object as a JSON document, which `from_json` reads.

    The `output` of a response is serialised by pydantic. `from_json` returns its JSON data, which
    `TypeAdapter(City).validate_python(response.output)` validates again. Raises `SchemaError` for an object of a class
    without a document type, and with the path of a value that JSON cannot represent.
    """
    return schema.to_json(_as_data(value))


def canonical_json(value: object) -> str:
    """Returns the canonical JSON of a value: sorted keys, no spaces, without fields at their default.

    A blob is written as its hash, wherever its content is, so the value cannot be read back. Raises as `to_json` does.
    """
    return schema.canonical_json(_as_data(value))


def digest(value: object) -> str:
    """Returns the SHA-256 of `canonical_json(value)` in hex: equal for equal content, in every process."""
    return schema.digest(_as_data(value))


def _as_data(value: object) -> object:
    """Returns the value; of a response, a copy with `output` as JSON data."""
    if not isinstance(value, GenerateResponse):
        return value
    response = cast("GenerateResponse[Any]", value)
    try:
        freeze(response.output)
    except SchemaError:
        return replace(response, output=_output_data(response.output))
    return response


def _output_data(output: Any) -> Any:
    """Returns the output as pydantic serialises it: by its class, else by its value."""
    from pydantic import TypeAdapter
    from pydantic_core import to_jsonable_python

    try:
        return to_jsonable_python(output, bytes_mode="base64")
    except Exception:  # a type that only its own class can serialise, which may raise any exception
        try:
            return cast(Any, TypeAdapter)(type(output)).dump_python(output, mode="json")
        except Exception as error:
            raise SchemaError(
                f"{type(output).__name__} is not a JSON value: {shortened(str(error), 200)}", "output"
            ) from None
