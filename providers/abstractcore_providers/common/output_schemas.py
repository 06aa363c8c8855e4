"""Schemas of answers: alone, or as OpenAI has them with a name, a description and a choice of strictness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from abstractcore.schema import CallWarning, JSONObject, OutputSchema, SchemaError

from .json_reading import Object, as_object, text_of
from .json_schemas import SchemaRules, fit_output
from .reading import ErrorsAt, get_flag, get_object, get_text

_UNNAMED = "output"


def bare_schema(output: OutputSchema, rules: SchemaRules, warnings: list[CallWarning]) -> JSONObject:
    """The schema by these rules, with a warning for what is said beside it and cannot be sent. Its title is its name.

    Raises `InvalidInputError` for a schema that cannot be sent.
    """
    sent, _ = fit_output(output, rules, warnings)
    name = _name_of(sent)
    if name != output.name:
        message = "a schema is known by its title only"
        warnings.append(CallWarning("name_left_out", "output.name", message, output.name, name))
    if output.description is not None:
        message = "a schema has no description beside its own"
        warnings.append(CallWarning("description_left_out", "output.description", message, output.description))
    if not output.strict:
        warnings.append(CallWarning("always_strict", "output.strict", "a schema is always enforced", False, True))
    return sent


def named_schema(schema: Mapping[str, Any], path: str) -> OutputSchema:
    """A client's schema, which stands at `path`; raises `SchemaError` with the path for one that is none."""
    try:
        return OutputSchema(_name_of(schema), schema)
    except SchemaError as error:
        raise SchemaError(error.message, error.path.replace("schema", path, 1)) from None


def write_output(output: OutputSchema, rules: SchemaRules, warnings: list[CallWarning]) -> Object:
    """The schema by these rules with its name, as OpenAI has it; raises `InvalidInputError` if it cannot be sent."""
    sent, strict = fit_output(output, rules, warnings)
    described: Object = {} if output.description is None else {"description": output.description}
    return {"name": output.name, **described, "schema": sent, "strict": strict}


def read_output(value: Any, path: str) -> OutputSchema:
    """A client's schema with its name, at `path`; raises `InvalidInputError` with the path of what is wrong."""
    data = get_object(value, path)
    with ErrorsAt(path):
        return OutputSchema(
            name=get_text(data.get("name"), f"{path}.name"),
            schema=as_object(data.get("schema")),
            description=text_of(data, "description"),
            strict=get_flag(data, "strict", f"{path}.") or False,
        )


def _name_of(schema: Mapping[str, Any]) -> str:
    title = schema.get("title")
    return title if isinstance(title, str) else _UNNAMED
