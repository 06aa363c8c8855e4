"""From a client's request to a call (server side). What the schema has no field for becomes a provider option."""

from __future__ import annotations

from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
    ModelCall,
    OutputSchema,
    Parsed,
    Sampling,
    SchemaError,
    ToolChoice,
    ToolSpec,
    WireRequest,
)

from ...common.json_reading import Object, as_object, text_of
from ...common.output_schemas import named_schema
from ...common.reading import get_flag, get_list, get_object, get_text, locating, name_the_rest, read_request
from ...common.tool_parameters import read_parameters
from .read_messages import read_messages
from .vocabulary import PROVIDER, SAMPLING_FIELDS, has_field, origin_of, thinking_to_ours

_FUNCTION = frozenset({"name", "description", "parameters"})
_NAME_OF = {field: name for name, field in SAMPLING_FIELDS.items()}


def parse(request: WireRequest) -> Parsed:
    """The call; raises `InvalidInputError` with the path, in the request, of what is wrong."""
    data = read_request(request)
    warnings: list[CallWarning] = []
    with locating(request, PROVIDER):
        call = _call(data, warnings)
    return Parsed(call, tuple(warnings))


def _call(data: Object, warnings: list[CallWarning]) -> ModelCall:
    model = get_text(data.get("model"), "model")
    strict = get_flag(data, "strict_tools")
    rest = {name: value for name, value in data.items() if value is not None and not has_field(name, value)}
    return ModelCall(
        model=model,
        provider=PROVIDER,
        messages=read_messages(get_list(data, "messages"), origin_of(model), warnings),
        tools=tuple(_tool(tool, f"tools[{i}]", strict, warnings) for i, tool in enumerate(get_list(data, "tools"))),
        tool_choice=_tool_choice(data.get("tool_choice")),
        sampling=_sampling(data),
        output=_output(data.get("response_format")),
        thinking=thinking_to_ours(data.get("thinking")),
        stream=get_flag(data, "stream") or False,
        provider_options={PROVIDER: rest},
    )


def _sampling(data: Object) -> Sampling:
    asked = {field: data[name] for name, field in SAMPLING_FIELDS.items() if data.get(name) is not None}
    logprobs = 0 if get_flag(data, "logprobs") else None
    try:
        return Sampling(**asked, top_logprobs=logprobs)
    except SchemaError as error:
        field, bracket, rest = error.path.partition("[")
        raise SchemaError(error.message, f"{_NAME_OF.get(field, field)}{bracket}{rest}") from None


def _tool(value: Any, path: str, strict: bool | None, warnings: list[CallWarning]) -> ToolSpec:
    data = get_object(value, path)
    function = get_object(data.get("function"), f"{path}.function")
    name_the_rest(data, frozenset({"type", "function"}), path, warnings)
    name_the_rest(function, _FUNCTION, f"{path}.function", warnings)
    parameters, where = function.get("parameters"), f"{path}.function.parameters"
    try:
        return ToolSpec(
            name=get_text(function.get("name"), f"{path}.function.name"),
            description=text_of(function, "description") or "",
            parameters={} if parameters is None else read_parameters(get_object(parameters, where)),
            strict=strict,
        )
    except SchemaError as error:
        raise error.at(f"{path}.function") from None


def _tool_choice(choice: Any) -> ToolChoice | None:
    if choice is None:
        return None
    if choice not in ("REQUIRED", "NONE"):
        raise InvalidInputError("use 'REQUIRED' or 'NONE'", path="tool_choice")
    return ToolChoice("none" if choice == "NONE" else "required")


def _output(format: Any) -> OutputSchema | None:
    if not has_field("response_format", format):
        return None
    return named_schema(as_object(format)["json_schema"], "response_format.json_schema")
