"""The schema and the modalities of an answer: `response_format`, written and read."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from abstractcore.schema import CallWarning, Modality, ModelCall, OutputSchema

from ...common.function_tools import bare_schema, named_schema
from ...common.json_schemas import GEMINI
from ...common.reading import Object, as_object
from .vocabulary import MODALITIES

_JSON = "application/json"


class RequestedOutput(NamedTuple):
    """What a client wants the answer to be."""

    output: OutputSchema | None = None
    modalities: tuple[Modality, ...] = ()


def write_response_format(call: ModelCall, warnings: list[CallWarning]) -> Any:
    """Returns one entry, or one for each modality; None if the call says nothing about the answer.

    Raises `InvalidInputError` for a schema that cannot be sent.
    """
    text: Object = {"type": "text"}
    if call.output is not None:
        text |= {"mime_type": _JSON, "schema": bare_schema(call.output, GEMINI, warnings)}
    if not call.modalities:
        return None if call.output is None else text
    names: list[str] = list(call.modalities)
    if call.output is not None and "text" not in names:
        names.append("text")
        message = "an answer that matches a schema is text"
        warnings.append(CallWarning("modalities_changed", "modalities", message, list(call.modalities), names))
    return [text if name == "text" else {"type": name} for name in names]


def read_response_format(value: Any) -> RequestedOutput | None:
    """Reads the format of the answer; None for one that a call cannot express.

    Raises `SchemaError` with the path of an invalid schema.
    """
    if not isinstance(value, list):
        output = _output(value, "response_format")
        return None if output is None else RequestedOutput(output)
    entries = [as_object(entry) for entry in cast("list[Any]", value)]
    names = [entry.get("type") for entry in entries]
    if not names or len(names) != len({str(name) for name in names}):
        return None
    output: OutputSchema | None = None
    for index, entry in enumerate(entries):
        own = _output(entry, f"response_format[{index}]")
        if own is None and not (entry.keys() == {"type"} and entry["type"] in tuple(MODALITIES)):
            return None
        output = own or output
    return RequestedOutput(output, tuple(MODALITIES[str(name)] for name in names))


def _output(value: Any, path: str) -> OutputSchema | None:
    entry = as_object(value)
    schema = entry.get("schema")
    fields = entry.keys() == {"type", "mime_type", "schema"} and isinstance(schema, dict)
    if not fields or entry["type"] != "text" or entry["mime_type"] != _JSON:
        return None
    return named_schema(cast(Object, schema), f"{path}.schema")
