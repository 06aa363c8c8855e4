"""Conversations of several turns across APIs: every client with every upstream, whole and streamed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, TypeAlias

import anthropic
import cohere
import httpx2
import ollama
import openai
import pytest
from anthropic.types.beta import BetaMessage
from anthropic.types.beta.beta_raw_message_delta_event import Delta as BetaDelta
from cohere.types import ChatMessageEndEventDelta
from google.genai import types
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response

from abstractcore_server.dialects import ANTHROPIC, COHERE, GEMINI, OLLAMA, OPENAI_CHAT, OPENAI_RESPONSES
from tests.chaos_server import answer
from tests.server.conversations.clients import CLIENTS, PARAMETERS, Conversation, Got
from tests.server.conversations.scripts import problems, script
from tests.server.conversations.upstreams import UPSTREAMS, Call, Said, Upstream
from tests.server.serving import Served

Packages: TypeAlias = dict[type[Conversation], Any]
PAIRS = [
    pytest.param(client, upstream, stream, id=f"{client.name}-{upstream.format}-{'stream' if stream else 'whole'}")
    for client, upstream, stream in product(CLIENTS, UPSTREAMS, (False, True))
]
ULM = '{"city": "Ulm"}'
CHAT = {"messages": [{"role": "user", "content": "hi"}]}
ASKED: list[tuple[str, str, dict[str, Any]]] = [
    ("openai_chat", "/v1/chat/completions", CHAT),
    ("openai_responses", "/v1/responses", {"input": "hi"}),
    ("anthropic_messages", "/v1/messages", {**CHAT, "max_tokens": 10}),
    ("gemini", "/v1beta/models/{model}:{operation}", {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
    ("ollama", "/api/chat", CHAT),
    ("cohere_chat", "/v2/chat", CHAT),
]
"""A request of every API."""
every_pair = pytest.mark.parametrize(("client", "upstream", "stream"), PAIRS)


@pytest.fixture(scope="module")
def packages(running: Served) -> Iterator[Packages]:
    """The client of each package."""
    with contextlib.ExitStack() as stack:
        yield {client: stack.enter_context(client.opened(running.url)) for client in CLIENTS}


def test_every_client_meets_every_upstream():
    assert len(PAIRS) == 6 * 6 * 2


def calls_of(client: type[Conversation], upstream: Upstream, turn: int) -> tuple[Call, ...]:
    """Two parallel calls, the same in every turn. They have ids where the client gets the vendor's own bytes; the ids
    of other vendors are the same in every turn, or there are none.
    """
    is_passed_on = client.name == upstream.format and upstream.format not in ("gemini", "ollama")
    return tuple(Call(name, ULM, f"{name}_{turn}" if is_passed_on else None) for name in ("weather", "news"))


@every_pair
def test_ids_of_calls_are_unique_in_a_conversation(
    served: Served, packages: Packages, client: type[Conversation], upstream: Upstream, stream: bool
):
    turns = [Said(calls=calls_of(client, upstream, turn)) for turn in range(3)]
    script(served, upstream, [*turns, Said("Sunny.")], stream=stream)
    conversation = client(packages[client], upstream.model)
    got = conversation.ask("How is it in Ulm?", stream=stream)
    ids: list[str] = []
    for _ in turns:
        assert [(name, arguments) for _, name, arguments in got.calls] == [
            ("weather", {"city": "Ulm"}),
            ("news", {"city": "Ulm"}),
        ]
        ids += (id for id, _, _ in got.calls if id is not None)
        got = conversation.answer(got, stream=stream)
    assert got.text == "Sunny."
    assert len(ids) == len({*ids})
    assert [*problems(served, upstream)] == []


@every_pair
def test_the_reply_has_the_name_of_the_model_that_the_client_sent(
    served: Served, packages: Packages, client: type[Conversation], upstream: Upstream, stream: bool
):
    script(served, upstream, [Said("Sunny."), Said("Rainy.")], stream=stream)
    conversation = client(packages[client], upstream.model)
    for _ in range(2):
        got = conversation.ask("How is it in Ulm?", stream=stream)
        assert got.model == (None if client.name == "cohere_chat" else upstream.model)
        assert {each.model for each in starts(got)} <= {upstream.model}
    assert all(upstream.own_name in (request.json.get("model") or request.target) for request in served.vendor.requests)


def starts(got: Got) -> list[Any]:
    """The chunks of a stream that name the model."""
    return [each for each in got.raw if hasattr(each, "model")] if isinstance(got.raw, list) else []


FOREIGN = {
    "created": 1.5,
    "created_at": 1_750_000_000,
    "system_fingerprint": {"no": "text"},
    "service_tier": 7,
    "total_duration": "long",
    "stop_sequence": 3,
    "createTime": 4,
    "responseId": 5,
    "avgLogprobs": "x",
    "metadata": "x",
    "temperature": "hot",
    "container": "x",
    "error": None,
    "own_field": {"a": 1},
}
"""Fields of one API that another one has, too, with values that are not of its types; and one that none has."""
GEMINI_FIELDS = [
    field.alias or name
    for model in (types.GenerateContentResponse, types.Candidate)
    for name, field in model.model_fields.items()
]
OF_PACKAGE = {"automaticFunctionCallingHistory", "continuationToken", "parsed", "sdkHttpResponse"}
"""Fields that google-genai adds itself."""
PREFIXES = {"openai_chat": "chatcmpl-", "openai_responses": "resp_", "anthropic_messages": "msg_"}


@every_pair
def test_fields_of_the_clients_api_are_the_servers_own(
    served: Served, packages: Packages, client: type[Conversation], upstream: Upstream, stream: bool
):
    if client.name == upstream.format:
        fields: dict[str, Any] = {"own_field": {"a": 1}}
    else:
        fields = {name: value for name, value in FOREIGN.items() if name not in upstream.whole(Said())}
    said = Said("Sunny.", fields=fields)
    script(served, upstream, [said], stream=stream)
    conversation = client(packages[client], upstream.model)
    got = conversation.ask("How is it in Ulm?", stream=stream)
    assert got.text == "Sunny."
    if client.name != upstream.format:
        assert (got.id or "").startswith(PREFIXES.get(client.name, ""))
        conversation.check_types(got)


def test_the_fields_of_each_api_are_those_of_its_package():
    fields = {
        "openai_chat": {*ChatCompletion.model_fields, *ChatCompletionChunk.model_fields},
        "openai_responses": {*Response.model_fields},
        "anthropic_messages": {*BetaMessage.model_fields, *BetaDelta.model_fields},
        "gemini": {*GEMINI_FIELDS}
        - {"automaticFunctionCallingHistory", "continuationToken", "parsed", "sdkHttpResponse"},
        "ollama": {*ollama.ChatResponse.model_fields, *ollama.GenerateResponse.model_fields}
        - {"completed", "image", "total"},
        "cohere_chat": {*cohere.V2ChatResponse.model_fields, *ChatMessageEndEventDelta.model_fields},
    }
    dialects = (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI, OLLAMA, COHERE)
    for dialect in dialects:
        assert fields[dialect.format] <= dialect.reply_fields, dialect.name
    assert len(dialects) == len(CLIENTS)


def test_what_a_reply_leaves_out_is_in_the_field_of_the_server(served: Served, http: httpx2.Client):
    (upstream,) = (each for each in UPSTREAMS if each.format == "openai_responses")
    script(served, upstream, [Said("Sunny.", fields={"own_field": 1})] * 2, stream=False)
    body = {"model": upstream.model, "messages": [{"role": "user", "content": "hi"}], "stream": False}
    plain = http.post("/api/chat", json=body)
    assert plain.json()["own_field"] == 1
    assert plain.headers["x-abstractcore-warnings"]
    fields = http.post("/api/chat", json={**body, "abstractcore": {}}).json()["abstractcore"]
    assert fields["provider_fields"] == {"created_at": 1_750_000_000}
    assert "provider_metadata.created_at" in [warning["path"] for warning in fields["warnings"]]


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_failure_after_our_own_tries_is_not_tried_again_by_clients(served: Served, http: httpx2.Client, status: int):
    walked = 0
    for (client, path, body), upstream, stream in product(ASKED, UPSTREAMS, (False, True)):
        served.vendor.requests.clear()
        served.vendor.always(answer({"error": {"message": "busy"}}, status, retry_after="1"))
        name = "streamGenerateContent" if stream else "generateContent"
        where = path.format(model=upstream.model, operation=name)
        response = http.post(where, json={**body, "model": upstream.model, "stream": stream})
        assert response.status_code >= 429, client
        assert response.headers["x-should-retry"] == "false", client
        assert len(served.vendor.requests) == 1
        walked += 1
    assert walked == 6 * 6 * 2


def test_the_packages_do_not_send_a_request_again_that_was_tried_here(served: Served):
    served.vendor.always(answer({"error": {"message": "busy"}}, 500))
    said: Any = [{"role": "user", "content": "hi"}]
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none") as client, pytest.raises(openai.APIStatusError):
        client.chat.completions.create(model="ollama/m", messages=said)
    with anthropic.Anthropic(base_url=served.url, api_key="none") as client, pytest.raises(anthropic.APIStatusError):
        client.messages.create(model="ollama/m", messages=said, max_tokens=10)
    assert len(served.vendor.requests) == 2


@pytest.mark.parametrize("upstream", [pytest.param(each, id=each.format) for each in UPSTREAMS])
def test_message_start_has_the_tokens_of_the_input_or_an_estimate(
    served: Served, http: httpx2.Client, upstream: Upstream
):
    script(served, upstream, [Said("Sunny.")], stream=True)
    said = [{"role": "user", "content": "x" * 400}]
    body = {"model": upstream.model, "messages": said, "max_tokens": 10, "stream": True}
    lines = http.post("/v1/messages", json=body).text.splitlines()
    first = next(json.loads(line[6:]) for line in lines if line.startswith("data: {"))
    assert first["type"] == "message_start"
    assert first["message"]["usage"]["input_tokens"] in (12, 108)


@pytest.mark.parametrize("path", ["/v1/models/nope", "/v1beta/models/nope"])
@pytest.mark.parametrize("headers", [{}, {"anthropic-version": "2023-06-01"}, {"x-goog-api-key": "none"}])
def test_a_model_that_nobody_knows_is_not_found(http: httpx2.Client, path: str, headers: dict[str, str]):
    response = http.get(path, headers=headers)
    assert response.status_code == 404
    assert "'nope' does not exist here" in response.text
    assert http.get(path.replace("nope", "scripted"), headers=headers).status_code == 200
    assert http.get(path.replace("nope", "ollama/nope"), headers=headers).status_code == 200


HOSTED: dict[str, list[tuple[Any, dict[str, Any]]]] = {
    "openai_responses": [
        ({"type": "web_search"}, {}),
        ({"type": "web_search_preview"}, {}),
        ({"type": "code_interpreter", "container": {"type": "auto"}}, {}),
        ({"type": "file_search", "vector_store_ids": ["vs_1"]}, {}),
        ({"type": "image_generation"}, {}),
    ],
    "anthropic_messages": [
        ({"type": "web_search_20250305", "name": "web_search", "max_uses": 8}, {}),
        ({"type": "web_fetch_20250910", "name": "web_fetch"}, {}),
        ({"type": "code_execution_20250825", "name": "code_execution"}, {}),
    ],
    "gemini": [({"googleSearch": {}}, {}), ({"codeExecution": {}}, {}), ({"urlContext": {}}, {})],
    "openai_chat": [(None, {"web_search_options": {}})],
}
"""Tools that vendors run, as clients of their APIs ask for them."""


def test_hosted_tools_that_a_model_lacks_are_left_out(served: Served, http: httpx2.Client):
    walked = 0
    for (client, path, body), upstream, alone in product(ASKED, UPSTREAMS, (True, False)):
        served.vendor.always(upstream.reply(Said("Sunny."), stream=False))
        for tool, more in HOSTED.get(client, ()):
            if client == upstream.format:
                continue
            functions = [] if alone else [FUNCTIONS[client]]
            tools = [*functions, *([] if tool is None else [tool])]
            asked = {**body, **more, "model": upstream.model, **({"tools": tools} if tools else {})}
            served.vendor.requests.clear()
            response = http.post(path.format(model=upstream.model, operation="generateContent"), json=asked)
            assert response.status_code == 200, (client, upstream.format, tool, response.text)
            sent = served.vendor.requests[-1].json.get("tools", [])
            if not alone:
                assert "weather" in json.dumps(sent)
            if upstream.format in ("openai_chat", "ollama", "cohere_chat"):
                assert len(sent) == len(functions)
                assert int(response.headers["x-abstractcore-warnings"]) >= 1
            assert "max_uses" not in json.dumps(sent)
            walked += 1
    assert walked == 2 * (5 + 3 + 3 + 1) * 5


FUNCTIONS: dict[str, Any] = {
    "openai_chat": {"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}},
    "openai_responses": {"type": "function", "name": "weather", "parameters": PARAMETERS, "strict": False},
    "anthropic_messages": {"name": "weather", "input_schema": PARAMETERS},
    "gemini": {"functionDeclarations": [{"name": "weather", "parametersJsonSchema": PARAMETERS}]},
}
"""A function as clients of each API offer it."""


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/responses", {"input": "hi", "tools": [{"type": "web_search"}], "tool_choice": "required"}),
        ("/v1/responses", {"input": "hi", "tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}}),
        (
            "/v1/messages",
            {
                **CHAT,
                "max_tokens": 9,
                "tools": [{"type": "web_search_20250305", "name": "web_search"}],
                "tool_choice": {"type": "any"},
            },
        ),
        ("/v1/responses", {"input": "hi", "tools": [{"type": "web_search"}], "abstractcore": {"strict": True}}),
    ],
)
def test_a_hosted_tool_that_the_call_needs_is_refused(
    served: Served, http: httpx2.Client, path: str, body: dict[str, Any]
):
    response = http.post(path, json={**body, "model": "ollama/m"})
    assert response.status_code == 400
    assert "web_search" in response.text
    assert served.vendor.requests == []


CHAT_CALL: Any = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
OWN_CALL: Any = {"id": "c1", "function": {"name": "weather", "arguments": {}}}
GEMINI_CALL: Any = {"functionCall": {"id": "c1", "name": "weather", "args": {}}}


def chat_history(call: Any, results: list[str]) -> dict[str, Any]:
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [call]}]
    named = {"role": "tool", "tool_call_id": "c1", "tool_name": "weather"}
    return {"messages": [*said, *({**named, "content": each} for each in results)]}


def messages_history(results: list[str]) -> dict[str, Any]:
    call = {"type": "tool_use", "id": "c1", "name": "weather", "input": {}}
    blocks = [{"type": "tool_result", "tool_use_id": "c1", "content": each} for each in results]
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [call]}]
    return {"max_tokens": 10, "messages": [*said, {"role": "user", "content": blocks}]}


def items_history(results: list[str]) -> dict[str, Any]:
    call = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
    outputs = [{"type": "function_call_output", "call_id": "c1", "output": each} for each in results]
    return {"input": [{"role": "user", "content": "hi"}, call, *outputs]}


def contents_history(results: list[str]) -> dict[str, Any]:
    """As Gemini CLI sends it after `--resume`."""
    said = [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [GEMINI_CALL]}]
    named = {"id": "c1", "name": "weather"}
    parts = [{"functionResponse": {**named, "response": {"output": each}}} for each in results]
    return {"contents": [*said, {"role": "user", "parts": parts}]}


HISTORIES: dict[str, Callable[[list[str]], dict[str, Any]]] = {
    "openai_chat": lambda results: chat_history(CHAT_CALL, results),
    "openai_responses": items_history,
    "anthropic_messages": messages_history,
    "gemini": contents_history,
    "ollama": lambda results: chat_history(OWN_CALL, results),
    "cohere_chat": lambda results: chat_history(CHAT_CALL, results),
}
"""A conversation of each API with a call, and results of it."""


def test_a_result_that_is_there_twice_is_sent_once(served: Served, http: httpx2.Client):
    walked = 0
    for (client, path, _), upstream in product(ASKED, UPSTREAMS):
        served.vendor.requests.clear()
        served.vendor.always(upstream.reply(Said("Sunny."), stream=False))
        where = path.format(model=upstream.model, operation="generateContent")
        own: dict[str, Any] = {"model": upstream.model, "stream": False}
        response = http.post(where, json={**HISTORIES[client](["20 C", "20 C"]), **own})
        assert response.status_code == 200, (client, upstream.format, response.text)
        assert int(response.headers["x-abstractcore-warnings"]) >= 1
        (request,) = served.vendor.requests
        assert request.body.count(b"20 C") == 1
        assert [*upstream.rules(request.json)] == []
        other = http.post(where, json={**HISTORIES[client](["20 C", "30 C"]), **own})
        assert other.status_code == 400, (client, upstream.format)
        assert len(served.vendor.requests) == 1
        walked += 1
    assert walked == 6 * 6


def gemini_turn(reply: dict[str, Any]) -> tuple[list[str], list[dict[str, Any]]]:
    """The ids of the calls of a reply, and what a client adds to the history that drops them, as LangChain does."""
    calls = [part["functionCall"] for part in reply["candidates"][0]["content"]["parts"] if "functionCall" in part]
    named = [{"functionCall": {"name": call["name"], "args": call["args"]}} for call in calls]
    results = [{"functionResponse": {"name": call["name"], "response": {"output": "20 C"}}} for call in calls]
    return [call["id"] for call in calls], [{"role": "model", "parts": named}, {"role": "user", "parts": results}]


def ollama_turn(reply: dict[str, Any]) -> tuple[list[str], list[dict[str, Any]]]:
    """As `gemini_turn`, in Ollama's API, whose ids are optional."""
    calls = reply["message"]["tool_calls"]
    named = [{"function": call["function"]} for call in calls]
    results = [{"role": "tool", "tool_name": call["function"]["name"], "content": "20 C"} for call in calls]
    return [call["id"] for call in calls], [{"role": "assistant", "content": "", "tool_calls": named}, *results]


WITHOUT_IDS: list[tuple[str, str, dict[str, Any], Callable[..., Any]]] = [
    (*ASKED[3][:2], {"role": "user", "parts": [{"text": "hi"}]}, gemini_turn),
    (*ASKED[4][:2], {"role": "user", "content": "hi"}, ollama_turn),
]
"""The APIs whose clients may leave out the ids of calls."""


def test_ids_are_unique_for_a_client_that_does_not_return_them(served: Served, http: httpx2.Client):
    walked = 0
    for (client, path, first, turn), upstream in product(WITHOUT_IDS, UPSTREAMS):
        if client == upstream.format:
            continue  # the client gets the vendor's own bytes
        said = Said(calls=(Call("weather", ULM), Call("news", ULM)))
        served.vendor.always(upstream.reply(said, stream=False))
        where = path.format(model=upstream.model, operation="generateContent")
        history, ids = [first], list[str]()
        for _ in range(3):
            body = {"contents" if client == "gemini" else "messages": history, "model": upstream.model}
            given, added = turn(http.post(where, json={**body, "stream": False}).raise_for_status().json())
            ids += given
            history += added
        assert len({*ids}) == 6, (client, upstream.format, ids)
        walked += 1
    assert walked == 2 * 5


def test_arguments_that_are_not_json_are_no_call_without_arguments(served: Served, packages: Packages):
    walked = 0
    damaged = '{"city": "Ul'
    said = Said(calls=(Call("weather", damaged, "w1"),))
    for client, upstream, stream in product(CLIENTS, UPSTREAMS, (False, True)):
        has_text = upstream.format in ("openai_chat", "openai_responses", "cohere_chat")
        is_passed_on = client.name == upstream.format
        if not has_text and (upstream.format, stream, is_passed_on) != ("anthropic_messages", True, False):
            continue
        script(served, upstream, [said], stream=stream)
        try:
            got = client(packages[client], upstream.model).ask("How is it?", stream=stream)
        except (ValueError, anthropic.APIError):
            pass
        else:
            assert got.calls[0][2] == {"INVALID_JSON": damaged}, (client.name, upstream.format, stream)
        walked += 1
    assert walked == 6 * 3 * 2 + 5


@pytest.mark.parametrize("upstream", [pytest.param(each, id=each.format) for each in UPSTREAMS])
def test_only_anthropic_gets_the_line_for_its_accounts(served: Served, http: httpx2.Client, upstream: Upstream):
    served.vendor.always(upstream.reply(Said("Sunny."), stream=False))
    walked = 0
    prompt = "You are a coding agent.\nBe brief."
    for separate in (True, False):
        bodies: list[Any] = []
        for number in range(2):
            line = f"x-anthropic-billing-header: cc_version=2.1.0; cch={number};"
            block = {"type": "text", "text": prompt, "cache_control": {"type": "ephemeral"}}
            system = [{"type": "text", "text": line}, block] if separate else f"{line}\n{prompt}"
            body = {**CHAT, "model": upstream.model, "max_tokens": 10, "system": system}
            response = http.post("/v1/messages", json=body)
            assert response.status_code == 200
            bodies.append(served.vendor.requests[-1].json)
            if upstream.format == "anthropic_messages":
                assert line in json.dumps(bodies[-1]["system"])
            else:
                assert int(response.headers["x-abstractcore-warnings"]) >= 1
            walked += 1
        assert (bodies[0] == bodies[1]) == (upstream.format != "anthropic_messages")
        assert json.dumps(prompt)[1:-1] in json.dumps(bodies[0])
    assert walked == 4
