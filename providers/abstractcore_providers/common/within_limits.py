"""Brings a call within the limits of a vendor: names are replaced, and what exceeds another limit is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import cast

from abstractcore import schema
from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, JSONValue, ModelCall, ToolCall, ToolSpec

from .json_schemas import SchemaRules
from .name_rules import NameRule
from .request_limits import PairsLimit, RequestLimits, TextLimit

_NONE: Mapping[str, str] = {}


def within_limits(
    call: ModelCall, limits: RequestLimits, schemas: SchemaRules, provider: str, warnings: list[CallWarning]
) -> tuple[ModelCall, schema.SentNames | None]:
    """Returns the call with names that the vendor accepts, with a warning for each other one, and what restores them in
    the reply; None if all names are the call's own.

    The names of properties in schemas stay: they are replaced where a schema is adapted to the vendor. Raises
    `InvalidInputError` with the path of what exceeds a limit, and what to write instead.
    """
    _check_limits(call, limits, provider)
    call = _with_fewer_strict_tools(call, limits, warnings)
    call = _with_output_name(call, limits.output_names, warnings)
    tools = _NONE if limits.tool_names is None else limits.tool_names.replacements(_tool_names(call))
    arguments = _properties_by_tool(call.tools, schemas)
    output = _output_properties(call, schemas)
    if not (tools or arguments or output):
        return call, None
    from .sent_names import sent_names, with_sent_names

    names = sent_names(tools, arguments, output)
    if tools or arguments:
        call = with_sent_names(call, tools, arguments, limits.tool_names, warnings)
    return call, names


def _tool_names(call: ModelCall) -> Iterator[str]:
    """Returns the names of all tools that the call defines or has called."""
    yield from (tool.name for tool in call.tools)
    for message in call.messages:
        if message.role == "assistant":
            yield from (part.name for part in message.parts if type(part) is ToolCall)


def _properties_by_tool(tools: Iterable[ToolSpec], schemas: SchemaRules) -> Mapping[str, Mapping[str, str]]:
    rule = schemas.tools.property_names
    if rule is None:
        return {}
    from .json_schemas.property_names import sent_properties

    return {tool.name: names for tool in tools if (names := sent_properties(tool.parameters, rule))}


def _output_properties(call: ModelCall, schemas: SchemaRules) -> Mapping[str, str]:
    rule = schemas.outputs.property_names
    if call.output is None or rule is None:
        return _NONE
    from .json_schemas.property_names import sent_properties

    return sent_properties(call.output.schema, rule)


def _with_output_name(call: ModelCall, rule: NameRule | None, warnings: list[CallWarning]) -> ModelCall:
    output = call.output
    if output is None or rule is None or rule.allow(output.name):
        return call
    name = rule.replacements([output.name])[output.name]
    message = f"the name of a schema is {rule.described}"
    warnings.append(CallWarning("schema_name_changed", "output.name", message, output.name, name))
    return call.with_(output=replace(output, name=name))


def _check_limits(call: ModelCall, limits: RequestLimits, provider: str) -> None:
    """Raises `InvalidInputError` for a call that exceeds `limits`, with the path and what to write instead."""
    hint = "Give the model fewer tools, or some with defer=True, which it finds by tool search."
    _check_number(len(call.tools), limits.tools, "tools", "tools", hint)
    hint = f"Leave out {len(call.sampling.stop) - (limits.stops or 0)} of them."
    _check_number(len(call.sampling.stop), limits.stops, "stop sequences", "sampling.stop", hint)
    given = call.provider_options.get(provider, {})
    for name, limit in limits.options.items():
        if name in given:
            _check_option(given[name], limit, f"provider_options.{provider}.{name}")


def _with_fewer_strict_tools(call: ModelCall, limits: RequestLimits, warnings: list[CallWarning]) -> ModelCall:
    """Returns the call with as many strict tools as `limits` allows, the first ones, and a warning for each other."""
    strict = [index for index, tool in enumerate(call.tools) if tool.strict]
    if limits.strict_tools is None or len(strict) <= limits.strict_tools:
        return call
    tools = list(call.tools)
    message = f"a request has at most {limits.strict_tools} strict tools"
    for index in strict[limits.strict_tools :]:
        tools[index] = replace(tools[index], strict=False)
        warnings.append(CallWarning("strict_left_out", f"tools[{index}].strict", message, True, False))
    return call.with_(tools=tuple(tools))


def _check_number(number: int, limit: int | None, what: str, path: str, hint: str) -> None:
    if limit is not None and number > limit:
        raise InvalidInputError(f"{number} {what}: this provider accepts at most {limit}", path=path, hint=hint)


def _check_option(value: JSONValue, limit: TextLimit | PairsLimit, path: str) -> None:
    if isinstance(limit, TextLimit):
        _check_length(value, limit.longest, path)
    elif isinstance(value, Mapping):
        pairs = cast("Mapping[str, JSONValue]", value)
        _check_number(len(pairs), limit.most, "entries", path, f"Leave out {len(pairs) - limit.most} of them.")
        for name, item in pairs.items():
            _check_length(name, limit.longest_key, path)
            _check_length(item, limit.longest_value, f"{path}.{name}")


def _check_length(value: JSONValue, longest: int, path: str) -> None:
    if isinstance(value, str) and len(value) > longest:
        raise InvalidInputError(
            f"a text of {len(value)} characters: this provider accepts at most {longest}",
            path=path,
            hint="Shorten it; of an identifier, send a hash.",
        )
