"""The schema of an answer, in a request's `output_config`."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import CallWarning, OutputSchema

from ...common.function_tools import bare_schema, named_schema
from ...common.json_schemas import ANTHROPIC
from ...common.reading import Object, as_object, get_object

_PATH = "output_config.format.schema"


def output_to_theirs(output: OutputSchema, warnings: list[CallWarning]) -> Object:
    """Returns the format of an answer; raises `InvalidInputError` for a schema that cannot be sent."""
    return {"type": "json_schema", "schema": bare_schema(output, ANTHROPIC, warnings)}


def output_to_ours(data: Any) -> OutputSchema | None:
    """Returns the schema in a request's `output_config`; None if there is none. Raises `InvalidInputError` with the
    path.
    """
    return named_schema(get_object(as_object(data["format"]).get("schema"), _PATH), _PATH) if has_output(data) else None


def has_output(config: Any) -> bool:
    """Whether a request's `output_config` contains a schema that a call can express."""
    asked = as_object(as_object(config).get("format"))
    return asked.get("type") == "json_schema" and asked.keys() == {"type", "schema"}
