"""Encodes a call as a request, with a warning for all that the format cannot express. The model is in the URL.

Writes the settings of a call: sampling, output, thinking, tools.
"""

from __future__ import annotations

from urllib.parse import quote

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, Encoded, ModelCall, ThinkingLevel, ToolSpec, WireRequest, to_data

from ...common.call_options import unsupported
from ...common.delta_writer import BodyWriter
from ...common.endpoints import JSON_HEADERS
from ...common.function_tools import bare_schema, describe_tool
from ...common.json_schemas import GEMINI
from ...common.reading import Object
from ...common.request_limits import GEMINI as LIMITS
from ...common.request_limits import within_limits
from ...common.thinking import nearest_level
from .provider_options import add_provider_options, asks_for_server_side_calls, needs_server_side_calls
from .vocabulary import ARGUMENTS, HOSTED_TOOLS, LEVELS, SAMPLING, SERVER_SIDE_CALLS, WARNINGS, GenerateContentDialect
from .write_messages import write_contents, write_system


def write_generation_config(call: ModelCall, writer: BodyWriter) -> Object:
    """Returns sampling options, the answer's schema and modalities, and thinking."""
    sampling = call.sampling
    config = SAMPLING.write(sampling)
    if sampling.top_logprobs is not None:
        config |= {"responseLogprobs": True, "logprobs": sampling.top_logprobs}
    if call.output is not None:
        schema = bare_schema(call.output, GEMINI, writer.warnings)
        config |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
    if call.modalities:
        config["responseModalities"] = [modality.upper() for modality in call.modalities]
    thinking = nearest_level(call.thinking, LEVELS.values(), writer.warnings)
    if thinking is not None:
        config["thinkingConfig"] = _thinking(thinking)
    return config


def _thinking(thinking: ThinkingLevel | int) -> Object:
    """Returns a budget or a level, with thoughts included; thinking is off without a budget."""
    if thinking == "off":
        return {"thinkingBudget": 0}
    if isinstance(thinking, int):
        return {"thinkingBudget": thinking, "includeThoughts": True}
    return {"thinkingLevel": thinking.upper(), "includeThoughts": True}


def write_tools(call: ModelCall, dialect: GenerateContentDialect, writer: BodyWriter) -> list[Object]:
    """Returns the functions together, then the hosted tools one by one.

    Raises `UnsupportedContentError` for both in one call, where the model does not allow that, and for a hosted tool
    that the format does not have.
    """
    if call.tools and call.hosted_tools and not dialect.hosted_with_functions:
        raise UnsupportedContentError(
            f"hosted_tools[0]: {call.model} accepts hosted tools, such as {call.hosted_tools[0].kind}, or functions, "
            "not both.",
            hint="Leave out one of them, or use a model since Gemini 3.",
            provider=call.provider or None,
            model=call.model,
        )
    tools: list[Object] = []
    if call.tools:
        functions = [_function(tool, f"tools[{i}]", writer) for i, tool in enumerate(call.tools)]
        tools.append({"functionDeclarations": functions})
    if any(tool.kind not in HOSTED_TOOLS for tool in call.hosted_tools):
        raise WARNINGS.hosted_tools(call, HOSTED_TOOLS)
    return tools + [{HOSTED_TOOLS[tool.kind]: tool.options} for tool in call.hosted_tools]


def _function(tool: ToolSpec, path: str, writer: BodyWriter) -> Object:
    from ...common.json_schemas.fitting import fit_tool

    WARNINGS.fields(tool, path, ("cache",), writer.warnings)
    if tool.strict is not None:
        writer.warnings.append(unsupported(f"{path}.strict", tool.strict, "strict arguments for a single tool"))
    function = describe_tool(tool)
    parameters, _ = fit_tool(tool, path, GEMINI, writer.warnings)
    if parameters:
        function["parametersJsonSchema"] = parameters
    return function


def write_tool_config(call: ModelCall, writer: BodyWriter) -> Object:
    """Returns the tool choice, which is only allowed beside functions."""
    WARNINGS.options(call, ("parallel_tool_calls",), writer.warnings)
    choice = call.tool_choice
    if choice is None:
        return {}
    if not call.tools:
        code = "no_effect" if choice.mode == "auto" else "unsupported_option"
        message = "a tool choice applies to functions, and the call has none"
        writer.warnings.append(CallWarning(code, "tool_choice", message, to_data(choice)))
        return {}
    if choice.mode == "tool":
        return {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [choice.tool]}}
    return {"functionCallingConfig": {"mode": "ANY" if choice.mode == "required" else choice.mode.upper()}}


def add_server_side_calls(body: Object, dialect: GenerateContentDialect) -> None:
    """Asks for the calls of hosted tools, where the model requires that beside functions.

    Source: `ToolConfig.include_server_side_tool_invocations` in the google-genai package.
    """
    if dialect.server_side_calls and needs_server_side_calls(body) and not asks_for_server_side_calls(body):
        body.setdefault("toolConfig", {})[SERVER_SIDE_CALLS] = True


_COLLECTIONS = ("tunedModels/", "endpoints/", "publishers/")


def encode(call: ModelCall, dialect: GenerateContentDialect) -> Encoded:
    """Returns the request for a lowered call.

    Raises `UnsupportedContentError` for unsupported content, and `InvalidInputError` for provider options that
    duplicate a field of the call.
    """
    writer = BodyWriter(dialect.provider, ARGUMENTS)
    body = body_of(call, dialect, writer)
    operation = "streamGenerateContent?alt=sse" if call.stream else "generateContent"
    request = WireRequest(f"/{resource_of(call.model, dialect)}:{operation}", JSON_HEADERS, writer.json(body))
    return Encoded(request, tuple(writer.warnings), writer.names)


def body_of(call: ModelCall, dialect: GenerateContentDialect, writer: BodyWriter) -> Object:
    """Returns the body of the request for `call`."""
    call, writer.names = within_limits(call, LIMITS, GEMINI, dialect.provider, writer.warnings)
    body: Object = {"contents": write_contents(call.messages, call.model, dialect, writer)}
    system = write_system(call.messages, writer)
    if system:
        body["systemInstruction"] = {"parts": system}
    tools = write_tools(call, dialect, writer)
    if tools:
        body["tools"] = tools
    tool_config = write_tool_config(call, writer)
    if tool_config:
        body["toolConfig"] = tool_config
    config = write_generation_config(call, writer)
    if config:
        body["generationConfig"] = config
    add_provider_options(body, call, dialect.provider, writer.warnings)
    add_server_side_calls(body, dialect)
    return body


def resource_of(model: str, dialect: GenerateContentDialect) -> str:
    """Returns the path of a model below the base URL; the name of a tuned one includes its collection."""
    if model.startswith(_COLLECTIONS):
        name = model
    elif dialect.publisher:
        publisher, _, own = model.rpartition("/")
        name = f"publishers/{publisher or dialect.publisher}/models/{own}"
    else:
        name = f"models/{model}"
    return quote(name, safe="/@:")
