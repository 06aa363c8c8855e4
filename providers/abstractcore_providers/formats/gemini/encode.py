"""Encodes a call as a request, with a warning for all that the format cannot express. The model is in the URL."""

from __future__ import annotations

from urllib.parse import quote

from abstractcore.schema import Encoded, ModelCall, WireRequest

from ...common.delta_writer import BodyWriter
from ...common.endpoints import JSON_HEADERS
from ...common.json_schemas import GEMINI
from ...common.reading import Object
from ...common.request_limits import GEMINI as LIMITS
from ...common.request_limits import within_limits
from .dialect import GenerateContentDialect
from .provider_options import add_provider_options
from .vocabulary import ARGUMENTS
from .write_messages import write_contents, write_system
from .write_settings import add_server_side_calls, write_generation_config, write_tool_config, write_tools

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
