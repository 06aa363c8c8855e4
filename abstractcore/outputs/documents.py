"""JSON documents and digests of schema objects; `output` of a response may be of any type that pydantic supports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from .. import schema
from ..schema import CallWarning, GenerateResponse, JournalEntry, SchemaError, ToolEnded, ToolLoop, ToolStep, freeze
from ..schema.base_error import shortened


def to_json(value: object) -> str:
    """Returns a call, reply, response, message, event or other schema object as a JSON document for `from_json`.

    The `output` of a response and the `data` of a tool step are serialised by pydantic; data that it cannot serialise
    is left out of the document, with a warning in the step. `from_json` returns its JSON data, which
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
    """Returns the value; of what has an output or steps, a copy with `output` and `data` as JSON data."""
    if isinstance(value, ToolStep):
        return _step(value)
    if isinstance(value, ToolEnded):
        return ToolEnded(_step(value.step))
    if isinstance(value, ToolLoop):
        steps = _steps(value.steps)
        return value if steps is value.steps else value.with_(steps=steps)
    if isinstance(value, JournalEntry):
        loop, step = cast("ToolLoop | None", _as_data(value.loop)), cast("ToolStep | None", _as_data(value.step))
        return value if loop is value.loop and step is value.step else replace(value, loop=loop, step=step)
    if not isinstance(value, GenerateResponse):
        return value
    response = cast("GenerateResponse[Any]", value)
    steps = _steps(response.tool_steps)
    if steps is not response.tool_steps:
        response = replace(response, tool_steps=steps)
    if response.loop is not None:
        response = replace(response, loop=cast(ToolLoop, _as_data(response.loop)))
    try:
        freeze(response.output)
    except SchemaError:
        return replace(response, output=_json_data(response.output, "output"))
    return response


def _steps(steps: tuple[ToolStep, ...]) -> tuple[ToolStep, ...]:
    if all(step.data is None for step in steps):
        return steps
    return tuple(map(_step, steps))


def _step(step: ToolStep) -> ToolStep:
    """Returns the step with JSON data. Data that cannot be JSON is left out, with a warning: a loop must be kept."""
    if step.data is None:
        return step
    try:
        freeze(step.data)
    except SchemaError:
        try:
            data = freeze(_json_data(step.data, "data"))
        except SchemaError as error:
            warning = CallWarning("data_left_out", "data", error.message)
            return replace(step, data=None, warnings=(*step.warnings, warning))
        return replace(step, data=data)
    return step


def _json_data(value: Any, path: str) -> Any:
    """Returns a value as pydantic serialises it: by its class, else by its value."""
    from pydantic import TypeAdapter
    from pydantic_core import to_jsonable_python

    try:
        return to_jsonable_python(value, bytes_mode="base64")
    except Exception:  # a type that only its own class can serialise, which may raise any exception
        try:
            return cast(Any, TypeAdapter)(type(value)).dump_python(value, mode="json")
        except Exception as error:
            raise SchemaError(
                f"{type(value).__name__} is not a JSON value: {shortened(str(error), 200)}", path
            ) from None
