"""The limits of a vendor's requests: names, numbers and lengths, as data. Those of schemas are in `json_schemas`.

Brings a call within the limits of a vendor: names are replaced, and what exceeds another limit is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from abstractcore import schema
from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, JSONValue, ModelCall, ToolCall, ToolSpec

from . import name_rules
from .json_schemas import SchemaRules
from .name_rules import NameRule


@dataclass(frozen=True, slots=True)
class TextLimit:
    """The limit of an option that is a text, in characters."""

    longest: int


@dataclass(frozen=True, slots=True)
class PairsLimit:
    """The limits of an option that is a mapping of texts: how many there are, and the characters of each."""

    most: int
    longest_key: int
    longest_value: int


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What a vendor accepts in one request, by the page or package `source`. None means that no limit is published.

    `tool_names` and `output_names` are the accepted names of tools and of schemas of answers: others are replaced, and
    restored in the reply. `tools` is the number of tools, `strict_tools` that of strict ones, `stops` that of stop
    sequences. `options` are the limits of provider options.
    """

    source: str
    tool_names: NameRule | None = None
    output_names: NameRule | None = None
    tools: int | None = None
    strict_tools: int | None = None
    stops: int | None = None
    options: Mapping[str, TextLimit | PairsLimit] = field(
        default_factory=dict[str, "TextLimit | PairsLimit"], hash=False
    )


UNLIMITED = RequestLimits("no limit is published: Ollama, and servers of one's own")
LIKE_OPENAI = RequestLimits(
    "`FunctionDefinition` and `JSONSchema` in the openai package, for vendors whose reference is OpenAI's",
    tool_names=name_rules.OPENAI,
    output_names=name_rules.OPENAI,
)
_OPENAI_OPTIONS: Mapping[str, TextLimit | PairsLimit] = {
    "metadata": PairsLimit(16, 64, 512),
    "safety_identifier": TextLimit(128),
}
OPENAI_CHAT = replace(
    LIKE_OPENAI,
    source="openai/types/chat/completion_create_params.py in the openai package",
    stops=4,
    options=_OPENAI_OPTIONS,
)
OPENAI_RESPONSES = replace(
    LIKE_OPENAI,
    source="openai/types/responses/response_create_params.py in the openai package",
    options=_OPENAI_OPTIONS,
)
MISTRAL = replace(LIKE_OPENAI, source="`validator.py` in the mistral-common package")
GROQ = replace(
    LIKE_OPENAI, source="groq/types/chat/completion_create_params.py in the groq package", tools=128, stops=4
)
XAI = replace(LIKE_OPENAI, source="`tool` and `BaseClient.create` in xai_sdk/chat.py", tools=128, stops=4)
DEEPSEEK = replace(
    LIKE_OPENAI, source="api-docs.deepseek.com/api/create-chat-completion", output_names=None, tools=128, stops=16
)
CEREBRAS = replace(LIKE_OPENAI, source="inference-docs.cerebras.ai/api-reference/chat-completions", stops=4)
ANTHROPIC = RequestLimits(
    "platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, and for strict tools "
    "platform.claude.com/docs/en/build-with-claude/structured-outputs",
    tool_names=name_rules.ANTHROPIC,
    strict_tools=20,
)
BEDROCK = RequestLimits(
    "`ToolName`, `InferenceConfiguration` and `RequestMetadata` in botocore's model of bedrock-runtime",
    tool_names=name_rules.BEDROCK,
    stops=2500,
    options={"requestMetadata": PairsLimit(16, 256, 256)},
)
GEMINI = RequestLimits(
    "`FunctionDeclaration` and `Tool` in the google-genai package, and ai.google.dev/api/generate-content",
    tool_names=name_rules.GEMINI,
    tools=512,
    stops=5,
)
COHERE = RequestLimits("`ClientV2.chat` in the cohere package", stops=5)


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
    tools = _replaced_tools(call, limits.tool_names)
    arguments = _properties_by_tool(call.tools, schemas)
    output = _output_properties(call, schemas)
    if not (tools or arguments or output):
        return call, None
    from .sent_names import sent_names, with_sent_names

    names = sent_names(tools, arguments, output)
    if tools or arguments:
        call = with_sent_names(call, tools, arguments, limits.tool_names, warnings)
    return call, names


def _replaced_tools(call: ModelCall, rule: NameRule | None) -> Mapping[str, str]:
    """Returns valid names in place of those of tools that the call defines or has called, and the vendor refuses."""
    names = [tool.name for tool in call.tools]
    for message in call.messages:
        if message.role == "assistant":
            names += [part.name for part in message.parts if type(part) is ToolCall]
    return rule.replacements(names) if names and rule is not None else _NONE


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
