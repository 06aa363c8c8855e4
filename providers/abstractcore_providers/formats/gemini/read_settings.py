"""Reads the settings of a client's request: sampling, output, thinking, tools (server side).

Converts the API's older schemas, a subset of OpenAPI 3.0 with types in capitals, to JSON Schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    CallWarning,
    HostedTool,
    HostedToolKind,
    Modality,
    OutputSchema,
    Sampling,
    ThinkingLevel,
    ToolChoice,
    ToolSpec,
)

from ...common.function_tools import named_schema, read_tool_spec
from ...common.reading import Object, as_object, get_flag, get_list, get_object, get_text, name_the_rest, text_of
from .provider_options import is_of_call, is_thinking, is_tool_choice, is_tool_of_call
from .vocabulary import HOSTED_TOOLS, LEVELS, MODALITIES, SAMPLING, with_names

_SCHEMAS = ("items",)
_LISTS_OF_SCHEMAS = ("anyOf", "any_of")
_MAPS_OF_SCHEMAS = ("properties",)
_DEEPEST = 90
_RENAMED = {
    "any_of": "anyOf",
    "max_items": "maxItems",
    "min_items": "minItems",
    "max_length": "maxLength",
    "min_length": "minLength",
    "max_properties": "maxProperties",
    "min_properties": "minProperties",
}
_LEFT_OUT = ("nullable", "propertyOrdering", "property_ordering", "example")


def to_json_schema(schema: Any, path: str, depth: int = 0) -> Object:
    """Returns the schema as JSON Schema; raises `InvalidInputError` with the path of an invalid one."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        raise InvalidInputError("expected a schema", path=path)
    converted: Object = {}
    data = cast(Object, schema)
    for name, value in data.items():
        field_path = f"{path}.{name}"
        if name in _LEFT_OUT or value is None:
            continue
        if name in _SCHEMAS:
            value = to_json_schema(value, field_path, depth + 1)
        elif name in _LISTS_OF_SCHEMAS and isinstance(value, list):
            items = enumerate(cast("list[Any]", value))
            value = [to_json_schema(item, f"{field_path}[{i}]", depth + 1) for i, item in items]
        elif name in _MAPS_OF_SCHEMAS and isinstance(value, dict):
            entries = cast(Object, value).items()
            value = {key: to_json_schema(item, f"{field_path}.{key}", depth + 1) for key, item in entries}
        elif name == "type" and isinstance(value, str):
            value = _type(value, data.get("nullable") is True)
        converted[_RENAMED.get(name, name)] = value
    return converted


def _type(name: str, nullable: bool) -> Any:
    return [name.lower(), "null"] if nullable else name.lower()


_KINDS: dict[str, HostedToolKind] = {theirs: ours for ours, theirs in HOSTED_TOOLS.items()}
_WHOLE = frozenset({"maxOutputTokens", "topK", "seed", "logprobs"})
_FUNCTION = frozenset({"name", "description", "parameters", "parametersJsonSchema"})


def read_sampling(config: Object) -> Sampling:
    """Reads the sampling options; raises `SchemaError` with the path in the request."""
    alternatives = config.get("logprobs")
    if alternatives is None and get_flag(config, "responseLogprobs", "generationConfig."):
        alternatives = 0
    get_list(config, "stopSequences", "generationConfig.")
    whole = {name: _number(name, value) for name, value in config.items()}
    return SAMPLING.read(whole, top_logprobs=_number("logprobs", alternatives))


def _number(name: str, value: Any) -> Any:
    """Converts floats without a fractional part to integers, since clients write both."""
    return int(value) if name in _WHOLE and isinstance(value, float) and value.is_integer() else value


def read_output(config: Object) -> OutputSchema | None:
    """Reads the schema of the answer, in either form."""
    path = "generationConfig.responseJsonSchema"
    schema = config.get("responseJsonSchema")
    if schema is None:
        if config.get("responseSchema") is None:
            return None
        schema = to_json_schema(config["responseSchema"], "generationConfig.responseSchema")
    return named_schema(get_object(schema, path), path)


def read_thinking(config: Object) -> ThinkingLevel | int | None:
    """Reads a level, a budget in tokens, or "off"; None for what a call cannot express."""
    thinking = with_names(as_object(config.get("thinkingConfig")))
    if not is_thinking(thinking):
        return None
    level = text_of(thinking, "thinkingLevel")
    if level is not None:
        return LEVELS[level.upper()]
    return thinking["thinkingBudget"] if thinking.get("includeThoughts") else "off"


def read_modalities(config: Object) -> tuple[Modality, ...]:
    """Reads the modalities of the answer."""
    names = get_list(config, "responseModalities", "generationConfig.")
    if not is_of_call("generationConfig", "responseModalities", names):
        return ()
    return tuple(MODALITIES[name] for name in names)


def read_tool_choice(config: Object) -> ToolChoice | None:
    """Reads the tool choice; None for what a call cannot express."""
    choice = with_names(as_object(config.get("functionCallingConfig")))
    if not is_tool_choice(choice):
        return None
    if choice.get("allowedFunctionNames"):
        path = "toolConfig.functionCallingConfig.allowedFunctionNames[0]"
        return ToolChoice("tool", get_text(choice["allowedFunctionNames"][0], path))
    modes: dict[str, Any] = {"ANY": "required", "AUTO": "auto", "NONE": "none"}
    return ToolChoice(modes[choice["mode"]])


def read_functions(tools: Sequence[Object], warnings: list[CallWarning]) -> Iterable[ToolSpec]:
    """Reads the functions in all of `tools`."""
    for index, tool in enumerate(tools):
        for number, value in enumerate(get_list(tool, "functionDeclarations", f"tools[{index}].")):
            path = f"tools[{index}].functionDeclarations[{number}]"
            yield _function(with_names(get_object(value, path)), path, warnings)


def _function(function: Object, path: str, warnings: list[CallWarning]) -> ToolSpec:
    name_the_rest(function, _FUNCTION, path, warnings)
    schema = function.get("parametersJsonSchema")
    if schema is None and function.get("parameters") is not None:
        schema = to_json_schema(function["parameters"], f"{path}.parameters")
    parameters = {} if schema is None else get_object(schema, f"{path}.parametersJsonSchema")
    return read_tool_spec(function, path, parameters)


def read_hosted_tools(tools: Sequence[Object], warnings: list[CallWarning]) -> Iterable[HostedTool]:
    """Reads the hosted tools that a call can express."""
    for index, tool in enumerate(tools):
        if not is_tool_of_call(tool):
            continue
        name_the_rest(tool, frozenset({"functionDeclarations", *_KINDS}), f"tools[{index}]", warnings)
        for name, options in tool.items():
            if name in _KINDS and options is not None:
                yield HostedTool(_KINDS[name], get_object(options, f"tools[{index}].{name}"))
