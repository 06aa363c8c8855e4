"""Names that a client's API allows and the vendor behind the server does not: sent under others, and restored."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import httpx2
import pytest

from abstractcore.schema import (
    Message,
    ModelCall,
    ModelReply,
    TextPart,
    ToolCall,
    ToolCallDelta,
    ToolChoice,
    ToolSpec,
    WireRequest,
    WireResponse,
    accumulate,
    deltas_of,
)
from abstractcore_providers.formats.registered import FORMATS
from tests.chaos_server import LAST_CHUNK, answer, chunk, stream_head
from tests.server.serving import Served

LONG = "mcp__plugin_browser__" + "performance_analyze_insight_" * 4
CLIENTS: Mapping[str, tuple[str, str, str]] = {
    "openai_chat": ("/v1", "list-items", "filter[x]"),
    "openai_responses": ("/v1", "list-items", "größe"),
    "anthropic_messages": ("/v1", LONG[:128], "a.b"),
    "cohere_chat": ("/v2", "list items!", "$top"),
    "gemini": ("/v1beta", f"ns.server:{LONG}"[:128], "$top"),
    "ollama": ("", "天気", "k" * 80),
}
"""The path of each client's API here, and a name of a tool and of a property that its API allows."""
ANY = re.compile(".*")
VENDORS: Mapping[str, tuple[str, re.Pattern[str], re.Pattern[str]]] = {
    "anthropic/claude-sonnet-4-5": (
        "anthropic_messages",
        re.compile("[a-zA-Z0-9_-]{1,128}"),
        re.compile("[a-zA-Z0-9_.-]{1,64}"),
    ),
    "openai/gpt-4.1": ("openai_chat", re.compile("[a-zA-Z0-9_-]{1,64}"), ANY),
    "openai-responses/gpt-5.6": ("openai_responses", re.compile("[a-zA-Z0-9_-]{1,64}"), ANY),
    "google/gemini-2.5-flash": ("gemini", re.compile("[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"), ANY),
    "ollama/llama3.2-vision": ("ollama", ANY, ANY),
}
"""Models, the format of each, and the names of tools and properties that its vendor accepts."""


def answered(format: str, part: Any, *, streamed: bool) -> bytes:
    reply = ModelReply((part,), "tool_calls" if isinstance(part, ToolCall) else "stop", model="m")
    if not streamed:
        return answer(FORMATS[format]().render(reply).body)
    renderer = FORMATS[format]().renderer()
    body = b"".join(map(renderer.feed, split(reply))) + renderer.finish()
    return stream_head() + chunk(body) + LAST_CHUNK


def split(reply: ModelReply) -> Iterator[Any]:
    for delta in deltas_of(reply):
        if isinstance(delta, ToolCallDelta):
            yield from (ToolCallDelta(0, delta.block, letter) for letter in delta.arguments_text)
        else:
            yield delta


def asked(http: httpx2.Client, client: str, call: ModelCall) -> ModelReply:
    """What a client of this API reads of the server's response."""
    transpiler = FORMATS[client]()
    encoded = transpiler.encode(call)
    assert encoded.names is None, "the client's API allows these names"
    headers = {**encoded.request.headers, "anthropic-version": "2023-06-01"} if client == "anthropic_messages" else {}
    response = http.post(CLIENTS[client][0] + encoded.request.url, content=encoded.request.body, headers=headers)
    assert response.status_code == 200, response.text
    if not call.stream:
        return transpiler.decode(WireResponse(200, dict(response.headers), response.content))
    framer, decoder = transpiler.framer(), transpiler.decoder()
    deltas = [each for frame in (*framer.feed(response.content), *framer.finish()) for each in decoder.feed(frame)]
    return accumulate([*deltas, *decoder.finish()])


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_gets_its_own_names_from_every_vendor(
    served: Served, http: httpx2.Client, client: str, streamed: bool
):
    _, name, property = CLIENTS[client]
    schema = {"type": "object", "properties": {property: {"type": "integer"}}, "required": [property]}
    tool, walked = ToolSpec(name, "A tool.", schema), 0
    for model, (format, tools, properties) in VENDORS.items():
        choice = None if "ollama" in (client, format) or client == "cohere_chat" else ToolChoice("tool", name)
        call = ModelCall(model, (Message.user("hi"),), tools=(tool,), tool_choice=choice, stream=streamed)
        served.vendor.requests.clear()
        served.vendor.always_by(partial(vendor_of, format, streamed))
        reply = asked(http, client, call)
        (said,) = reply.tool_calls
        assert (said.name, said.arguments) == (name, {property: 7}), model
        history = (Message.user("hi"), Message("assistant", reply.parts), Message.tool(said.result("done")))
        assert asked(http, client, call.with_(messages=history, tool_choice=None)).parts == (TextPart("ok"),), model
        first, second = (read(format, request) for request in served.vendor.requests)
        assert tools.fullmatch(first.tools[0].name), model
        assert properties.fullmatch(*first.tools[0].parameters["properties"]), model
        assert first.tools == second.tools, model
        assert choice is None or first.tool_choice == ToolChoice("tool", first.tools[0].name), model
        (again,) = [each for message in second.messages for each in message.tool_calls]
        assert (again.name, again.arguments) == (first.tools[0].name, {next(iter(properties_of(first))): 7}), model
        walked += 1
    assert walked == 5


def read(format: str, request: Any) -> ModelCall:
    """The call as the vendor reads it."""
    return FORMATS[format]().parse(WireRequest(request.target, {"content-type": "application/json"}, request.body)).call


def properties_of(call: ModelCall) -> Mapping[str, Any]:
    return call.tools[0].parameters["properties"]  # type: ignore[return-value]


def vendor_of(format: str, streamed: bool, request: Any) -> tuple[bytes]:
    """Calls the tool that the vendor is offered, and answers its result."""
    call = read(format, request)
    if call.messages[-1].role == "tool":
        return (answered(format, TextPart("ok"), streamed=streamed),)
    arguments = json.dumps({next(iter(properties_of(call))): 7}, ensure_ascii=False)
    return (answered(format, ToolCall("call_1", call.tools[0].name, arguments), streamed=streamed),)
