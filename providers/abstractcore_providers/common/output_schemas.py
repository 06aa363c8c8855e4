"""Schemas of answers: alone, or as in OpenAI's formats with a name, a description and `strict`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from abstractcore.schema import CallWarning, JSONObject, OutputSchema, SchemaError

from .json_reading import Object, as_object, text_of
from .json_schemas import SchemaRules
from .reading import ErrorsAt, get_flag, get_object, get_text

_UNNAMED = "output"


def bare_schema(output: OutputSchema, rules: SchemaRules, warnings: list[CallWarning]) -> JSONObject:
    """Returns the schema adapted to these rules, with its name as title, and a warning for what cannot be sent.

    Raises `InvalidInputError` for a schema that cannot be sent.
    """
    from .json_schemas.fitting import fit_output

    sent, _ = fit_output(output, rules, warnings)
    name = _name_of(sent)
    if name != output.name:
        message = "the name of a schema is sent only as its title"
        warnings.append(CallWarning("name_left_out", "output.name", message, output.name, name))
    if output.description is not None:
        message = "a description is sent only within the schema"
        warnings.append(CallWarning("description_left_out", "output.description", message, output.description))
    if not output.strict:
        warnings.append(CallWarning("always_strict", "output.strict", "schemas are always enforced", False, True))
    return sent


def named_schema(schema: Mapping[str, Any], path: str) -> OutputSchema:
    """Reads a client's schema at `path`; raises `SchemaError` with the path of an invalid one."""
    try:
        return OutputSchema(_name_of(schema), schema)
    except SchemaError as error:
        raise SchemaError(error.message, error.path.replace("schema", path, 1)) from None


def write_output(output: OutputSchema, rules: SchemaRules, warnings: list[CallWarning]) -> Object:
    """Returns the adapted schema with its name, as in OpenAI's formats; raises `InvalidInputError` if it cannot be
    sent.
    """
    from .json_schemas.fitting import fit_output

    sent, strict = fit_output(output, rules, warnings)
    described: Object = {} if output.description is None else {"description": output.description}
    return {"name": output.name, **described, "schema": sent, "strict": strict}


def read_output(value: Any, path: str) -> OutputSchema:
    """Reads a client's schema with its name at `path`; raises `InvalidInputError` with the path of what is wrong."""
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
