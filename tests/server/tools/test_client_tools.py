"""Tools of each API's own types, for models of other APIs: those that clients run are functions there, and their calls
come back as the client knows them.

The types are those of the vendors' packages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import anthropic
import httpx2
import openai
import pytest
from anthropic.types.beta import (
    BetaComputerMemberName,
    BetaMemoryTool20250818Command,
    BetaToolUnionParam,
)
from cohere.types import ToolV2
from google.genai import types
from ollama import Tool
from openai.types.chat import ChatCompletionToolUnionParam
from openai.types.responses import ResponseApplyPatchToolCall, ResponseFunctionShellToolCall, ToolParam
from openai.types.responses.response_output_item import LocalShellCallAction

from abstractcore_server.dialects import ANTHROPIC, OPENAI_RESPONSES
from tests.server.conversations.clients import PARAMETERS
from tests.server.conversations.scripts import problems, script
from tests.server.conversations.upstreams import UPSTREAMS, Call, Said, Upstream
from tests.server.serving import Served

GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": 'start: "*** Begin Patch"'}
WEATHER: dict[str, Any] = {"type": "function", "name": "weather", "parameters": PARAMETERS, "strict": False}
OFFERED, HOSTED, REFUSED = "offered", "hosted", "refused"
RESPONSES: dict[str, tuple[dict[str, Any], str]] = {
    "function": (WEATHER, "weather"),
    "file_search": ({"vector_store_ids": ["vs_1"]}, HOSTED),
    "computer": ({}, REFUSED),
    "computer_use_preview": ({"display_width": 1, "display_height": 1, "environment": "linux"}, REFUSED),
    "web_search": ({}, HOSTED),
    "web_search_2025_08_26": ({}, HOSTED),
    "web_search_preview": ({}, HOSTED),
    "web_search_preview_2025_03_11": ({}, HOSTED),
    "mcp": ({"server_label": "docs", "server_url": "https://mcp.test"}, REFUSED),
    "code_interpreter": ({"container": {"type": "auto"}}, HOSTED),
    "programmatic_tool_calling": ({}, HOSTED),
    "image_generation": ({}, HOSTED),
    "local_shell": ({}, "local_shell"),
    "shell": ({"environment": {"type": "local"}}, "shell"),
    "custom": ({"name": "apply_patch", "description": "Edits files.", "format": GRAMMAR}, "apply_patch"),
    "namespace": ({"name": "crm", "description": "Customers.", "tools": [WEATHER]}, "crm__weather"),
    "tool_search": ({"execution": "client", "description": "Finds tools.", "parameters": PARAMETERS}, "tool_search"),
    "apply_patch": ({}, "apply_patch"),
}
"""A tool of every type of responses, and the function that stands for it with models of other APIs."""
CHAT: dict[str, tuple[dict[str, Any], str]] = {
    "function": ({"function": {"name": "weather", "parameters": PARAMETERS}}, "weather"),
    "custom": ({"custom": {"name": "apply_patch", "format": {"type": "grammar", "grammar": GRAMMAR}}}, "apply_patch"),
}
_DISPLAY = {"name": "computer", "display_width_px": 1024, "display_height_px": 768}
ANTHROPICS: dict[str, tuple[dict[str, Any], str]] = {
    "custom": ({"name": "weather", "input_schema": PARAMETERS}, "weather"),
    **{f"bash_{version}": ({"name": "bash"}, "bash") for version in ("20241022", "20250124")},
    **{
        f"text_editor_{version}": ({"name": name}, name)
        for version, name in (
            ("20241022", "str_replace_editor"),
            ("20250124", "str_replace_editor"),
            ("20250429", "str_replace_based_edit_tool"),
            ("20250728", "str_replace_based_edit_tool"),
        )
    },
    "memory_20250818": ({"name": "memory"}, "memory"),
    **{f"computer_{version}": (_DISPLAY, "computer") for version in ("20241022", "20250124", "20251124")},
    "computer_toolset_20260801": ({}, REFUSED),
    "browser_toolset_20260801": ({}, REFUSED),
    **{
        f"code_execution_{version}": ({"name": "code_execution"}, HOSTED)
        for version in ("20250522", "20250825", "20260120", "20260521")
    },
    **{f"web_search_{version}": ({"name": "web_search"}, HOSTED) for version in ("20250305", "20260209", "20260318")},
    **{
        f"web_fetch_{version}": ({"name": "web_fetch"}, HOSTED)
        for version in ("20250910", "20260209", "20260309", "20260318")
    },
    "advisor_20260301": ({"name": "advisor", "model": "claude-opus-5-5"}, HOSTED),
    "tool_search_tool_bm25_20251119": ({"name": "tool_search_tool_bm25"}, HOSTED),
    "tool_search_tool_regex_20251119": ({"name": "tool_search_tool_regex"}, HOSTED),
    "tool_search_tool_bm25": ({"name": "tool_search_tool_bm25"}, HOSTED),
    "tool_search_tool_regex": ({"name": "tool_search_tool_regex"}, HOSTED),
    "mcp_toolset": ({"mcp_server_name": "docs"}, HOSTED),
}
GEMINI: dict[str, tuple[Any, str]] = {
    "functionDeclarations": ([{"name": "weather", "parametersJsonSchema": PARAMETERS}], "weather"),
    "computerUse": ({"environment": "ENVIRONMENT_BROWSER"}, REFUSED),
    "fileSearch": ({"fileSearchStoreNames": ["fileSearchStores/1"]}, HOSTED),
    "mcpServers": ([{"name": "docs", "streamableHttpTransport": {"url": "https://mcp.test"}}], HOSTED),
    **{
        name: ({}, HOSTED)
        for name in (
            *("codeExecution", "enterpriseWebSearch", "exaAiSearch", "googleMaps", "googleSearch"),
            *("googleSearchRetrieval", "parallelAiSearch", "retrieval", "urlContext"),
        )
    },
}
QUESTION: list[Any] = [{"role": "user", "content": "hi"}]
SAID_GEMINI = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


@dataclass(frozen=True)
class Offer:
    """A tool as a client of an API offers it; `kind` is its type, `function` its name for other APIs."""

    client: str
    path: str
    body: Mapping[str, Any]
    kind: str
    tool: Any
    function: str


def offers() -> Iterator[Offer]:
    """A tool of every type of every API."""
    for kind, (more, function) in RESPONSES.items():
        yield Offer("openai_responses", "/v1/responses", {"input": "hi"}, kind, {"type": kind, **more}, function)
    for kind, (more, function) in CHAT.items():
        tool = {"type": kind, **more}
        yield Offer("openai_chat", "/v1/chat/completions", {"messages": QUESTION}, kind, tool, function)
        if kind == "function":
            yield Offer("ollama", "/api/chat", {"messages": QUESTION, "stream": False}, kind, tool, function)
            yield Offer("cohere_chat", "/v2/chat", {"messages": QUESTION}, kind, tool, function)
    for kind, (more, function) in ANTHROPICS.items():
        body = {"messages": QUESTION, "max_tokens": 10}
        yield Offer("anthropic_messages", "/v1/messages", body, kind, {"type": kind, **more}, function)
    for kind, (more, function) in GEMINI.items():
        yield Offer("gemini", "/v1beta/models/{model}:generateContent", SAID_GEMINI, kind, {kind: more}, function)


OFFERS = list(offers())
COUNTS = {
    "openai_responses": 18,
    "openai_chat": 2,
    "ollama": 1,
    "cohere_chat": 1,
    "anthropic_messages": len(ANTHROPICS),
    "gemini": 13,
}
"""How many types of tools each API has."""


def kinds_of(union: Any) -> set[str]:
    """The types of tools in a union of typed dictionaries."""
    found: set[str] = set()
    for each in get_args(union):
        hints = get_type_hints(each, include_extras=False)
        values = get_args(hints["type"])
        found |= {value for value in values if isinstance(value, str)}
        for value in values:
            found |= {inner for inner in get_args(value) if isinstance(inner, str)}
    return found


def test_the_types_of_tools_are_those_of_the_packages():
    assert kinds_of(ToolParam) == {*RESPONSES}
    assert kinds_of(ChatCompletionToolUnionParam) == {*CHAT}
    assert kinds_of(BetaToolUnionParam) == {*ANTHROPICS}
    fields = types.Tool.model_fields
    assert {field.alias or name for name, field in fields.items()} == {*GEMINI}
    assert ToolV2.model_fields["type"].default == Tool.model_fields["type"].default == "function"
    assert len(OFFERS) == sum(COUNTS.values())


def except_for(format: str) -> list[Any]:
    """The upstreams of other wire formats."""
    return [pytest.param(each, id=each.format) for each in UPSTREAMS if each.format != format]


every_upstream = pytest.mark.parametrize("upstream", except_for(""))
every_stream = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@every_upstream
@pytest.mark.parametrize("client", COUNTS)
def test_no_tool_vanishes_silently(served: Served, http: httpx2.Client, client: str, upstream: Upstream):
    walked = 0
    for offer in OFFERS:
        if offer.client != client:
            continue
        served.vendor.requests.clear()
        served.vendor.always(upstream.reply(Said("Sunny."), stream=False))
        body = {**offer.body, "model": upstream.model, "tools": [offer.tool]}
        response = http.post(offer.path.format(model=upstream.model), json=body)
        what = (offer.kind, response.text)
        if client != upstream.format and offer.function == REFUSED:
            assert response.status_code == 400, what
            assert "tools" in response.text
            assert served.vendor.requests == []
        else:
            assert response.status_code == 200, what
            sent = served.vendor.requests[-1].json.get("tools", [])
            if client == upstream.format:
                assert sent == [offer.tool], what
            elif offer.function == HOSTED:
                assert sent or int(response.headers["x-abstractcore-warnings"]), what
            else:
                assert f'"{offer.function}"' in json.dumps(sent), what
        walked += 1
    assert walked == COUNTS[client]


def test_arguments_of_functions_are_those_of_the_packages_types():
    def properties(dialect: Any, definition: Mapping[str, Any]) -> set[str]:
        (tool,) = dialect.client_tools(definition)
        return {*tool.spec.parameters["properties"]}

    (local_shell,) = OPENAI_RESPONSES.client_tools({"type": "local_shell"}) or ()
    assert {*local_shell.spec.parameters["properties"], *local_shell.defaults} == {*LocalShellCallAction.model_fields}
    action: Any = ResponseFunctionShellToolCall.model_fields["action"].annotation
    assert properties(OPENAI_RESPONSES, {"type": "shell"}) == {*action.model_fields}
    operations: Any = get_args(ResponseApplyPatchToolCall.model_fields["operation"].annotation)
    fields = {name for each in operations for name in each.model_fields}
    assert properties(OPENAI_RESPONSES, {"type": "apply_patch"}) == fields
    commands: Any = get_args(get_args(BetaMemoryTool20250818Command)[0])
    memory = {name for each in commands for name in each.model_fields}
    assert properties(ANTHROPIC, {"type": "memory_20250818", "name": "memory"}) == memory
    (computer,) = ANTHROPIC.client_tools({"type": "computer_20251124", "name": "computer"}) or ()
    assert computer.spec.parameters["properties"]["action"]["enum"] == [*get_args(BetaComputerMemberName)]


PATCH = '*** Begin Patch\n*** Add File: ä.txt\n+"hi"\n*** End Patch'
FOUND = {"type": "function", "name": "news", "description": "News.", "parameters": PARAMETERS}
Item = dict[str, Any]


@dataclass(frozen=True)
class Use:
    """A tool of responses, the call of its function that a model makes, what the client has of it, and its answer."""

    tool: Item
    function: str
    arguments: Item
    call: Item
    answer: Item


USES = {
    "custom": Use(
        {"type": "custom", **RESPONSES["custom"][0]},
        "apply_patch",
        {"input": PATCH},
        {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH},
        {"type": "custom_tool_call_output", "output": "Done."},
    ),
    "local_shell": Use(
        {"type": "local_shell"},
        "local_shell",
        {"command": ["ls"]},
        {"type": "local_shell_call", "action": {"type": "exec", "env": {}, "command": ["ls"]}},
        {"type": "local_shell_call_output", "output": "Done."},
    ),
    "shell": Use(
        {"type": "shell", "environment": {"type": "local"}},
        "shell",
        {"timeout_ms": 5, "commands": ["ls"]},
        {"type": "shell_call", "action": {"commands": ["ls"], "timeout_ms": 5}},
        {
            "type": "shell_call_output",
            "output": [{"stdout": "Done.", "stderr": "Hm.", "outcome": {"type": "exit", "exit_code": 0}}],
        },
    ),
    "apply_patch": Use(
        {"type": "apply_patch"},
        "apply_patch",
        {"type": "delete_file", "path": "a.txt"},
        {"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "a.txt"}},
        {"type": "apply_patch_call_output", "status": "completed", "output": "Done."},
    ),
    "namespace": Use(
        {"type": "namespace", **RESPONSES["namespace"][0]},
        "crm__weather",
        {"city": "Ulm"},
        {"type": "function_call", "name": "weather", "namespace": "crm"},
        {"type": "function_call_output", "output": "Done."},
    ),
    "tool_search": Use(
        {"type": "tool_search", **RESPONSES["tool_search"][0]},
        "tool_search",
        {"city": "Ulm"},
        {"type": "tool_search_call", "execution": "client", "arguments": {"city": "Ulm"}},
        {"type": "tool_search_output", "execution": "client", "tools": [{**FOUND, "description": "Done."}]},
    ),
}
"""Every tool of responses that clients run, but a computer."""


@every_stream
@pytest.mark.parametrize("upstream", except_for("openai_responses"))
@pytest.mark.parametrize("kind", USES)
def test_calls_of_client_tools_come_back_as_the_client_knows_them(
    served: Served, openai_client: openai.OpenAI, kind: str, upstream: Upstream, stream: bool
):
    use = USES[kind]
    call = Call(use.function, json.dumps(use.arguments), None if upstream.format in ("gemini", "ollama") else "c_1")
    script(served, upstream, [Said(calls=(call,)), Said(calls=(call,)), Said("Sunny.")], stream=stream)
    history: list[Item] = [{"role": "user", "content": "hi"}]
    for _ in range(2):
        item = answered(openai_client, upstream.model, history, use.tool, stream=stream)
        assert item.items() >= use.call.items()
        history += [item, {**use.answer, "call_id": item["call_id"]}]
        if kind == "local_shell":
            assert item["id"]
    assert answered(openai_client, upstream.model, history, use.tool, stream=stream)["type"] == "message"
    sent = json.dumps(served.vendor.requests[-1].json, ensure_ascii=False)
    assert sent.count("Done.") >= 2
    assert kind != "shell" or "Hm." in sent
    assert kind != "tool_search" or '"news"' in json.dumps(served.vendor.requests[-1].json["tools"])
    assert kind != "custom" or sent.count("*** Add File: ä.txt") == 2
    assert [*problems(served, upstream)] == []


@every_stream
@pytest.mark.parametrize("upstream", except_for("openai_responses"))
def test_tools_in_an_item_of_the_input_are_offered(
    served: Served, openai_client: openai.OpenAI, upstream: Upstream, stream: bool
):
    custom = {"type": "custom", "name": "exec"}
    tools = [{"type": "namespace", "name": "functions", "description": "", "tools": [custom]}, WEATHER, {"type": "mcp"}]
    history: list[Item] = [{"type": "additional_tools", "role": "developer", "tools": tools}, *QUESTION]
    call = Call("functions__exec", '{"input": "ls"}', None if upstream.format in ("gemini", "ollama") else "c_1")
    script(served, upstream, [Said(calls=(call,)), Said("Sunny.")], stream=stream)
    item = answered(openai_client, upstream.model, history, None, stream=stream)
    assert item.items() >= {"type": "custom_tool_call", "name": "exec", "namespace": "functions", "input": "ls"}.items()
    history += [item, {"type": "custom_tool_call_output", "call_id": item["call_id"], "output": "Done."}]
    assert answered(openai_client, upstream.model, history, None, stream=stream)["type"] == "message"
    sent = [json.dumps(request.json["tools"]) for request in served.vendor.requests]
    assert all('"functions__exec"' in each and '"weather"' in each for each in sent)
    assert [*problems(served, upstream)] == []


@pytest.fixture(scope="module")
def openai_client(running: Served) -> Iterator[openai.OpenAI]:
    """The openai package; making a client takes longer than a reply."""
    with openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def answered(client: openai.OpenAI, model: str, history: Any, tool: Any, *, stream: bool) -> Item:
    """The one item of the next answer. Of a stream, the events have the same."""
    request: Any = {"model": model, "input": history, "tools": [tool] if tool else [], "store": False}
    if not stream:
        response = client.responses.create(**request)
        (item,) = response.output
        return item.model_dump(exclude_none=True)
    events = [*client.responses.create(**request, stream=True)]
    (item,) = events[-1].response.output
    (done,) = [event.item for event in events if event.type == "response.output_item.done"]
    assert done == item
    if item.type == "custom_tool_call":
        deltas = [event.delta for event in events if event.type == "response.custom_tool_call_input.delta"]
        (end,) = [event.input for event in events if event.type == "response.custom_tool_call_input.done"]
        assert "".join(deltas) == end == item.input
    return item.model_dump(exclude_none=True)


@every_stream
@pytest.mark.parametrize("upstream", except_for("openai_chat"))
def test_custom_tools_of_chat_completions_come_back(
    served: Served, http: httpx2.Client, upstream: Upstream, stream: bool
):
    call = Call("apply_patch", json.dumps({"input": PATCH}), None if upstream.format in ("gemini", "ollama") else "c_1")
    script(served, upstream, [Said(calls=(call,)), Said("Sunny.")], stream=stream)
    tool = {"type": "custom", **CHAT["custom"][0]}
    messages = list(QUESTION)
    request = {"model": upstream.model, "messages": messages, "tools": [tool], "stream": stream}
    request["tool_choice"] = {"type": "custom", "custom": {"name": "apply_patch"}}
    message = chat_message(http.post("/v1/chat/completions", json=request).text, stream=stream)
    (got,) = message["tool_calls"]
    assert (got["type"], got["custom"]) == ("custom", {"name": "apply_patch", "input": PATCH})
    choice = served.vendor.requests[-1].json.get("tool_choice")
    assert upstream.format not in ("anthropic_messages", "openai_responses") or choice["name"] == "apply_patch"
    messages += [message, {"role": "tool", "tool_call_id": got["id"], "content": "Done."}]
    message = chat_message(http.post("/v1/chat/completions", json=request).text, stream=stream)
    assert message["content"] == "Sunny."
    assert [*problems(served, upstream)] == []


def chat_message(body: str, *, stream: bool) -> Item:
    """The message of an answer. A client puts the pieces of a custom tool's input together, as of any arguments."""
    if not stream:
        return json.loads(body)["choices"][0]["message"]
    deltas = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: {")]
    message: Item = {"role": "assistant", "content": ""}
    for delta in (chunk["choices"][0]["delta"] for chunk in deltas if chunk["choices"]):
        message["content"] += delta.get("content") or ""
        for piece in delta.get("tool_calls", ()):
            calls = message.setdefault("tool_calls", [])
            if piece["index"] == len(calls):
                calls.append({"id": piece["id"], "type": piece["type"], "custom": dict(piece["custom"])})
            else:
                calls[piece["index"]]["custom"]["input"] += piece["custom"]["input"]
    return message


@every_stream
@pytest.mark.parametrize("upstream", except_for("anthropic_messages"))
def test_client_tools_of_anthropic_are_called(
    served: Served, anthropic_client: anthropic.Anthropic, upstream: Upstream, stream: bool
):
    given = {
        "bash_20250124": ("bash", {"command": "ls"}),
        "text_editor_20250728": ("str_replace_based_edit_tool", {"command": "view", "path": "/a"}),
        "memory_20250818": ("memory", {"command": "delete", "path": "/memories/a"}),
    }
    calls = tuple(Call(name, json.dumps(arguments)) for name, arguments in given.values())
    script(served, upstream, [Said(calls=calls), Said("Sunny.")], stream=stream)
    tools: Any = [{"type": kind, "name": name} for kind, (name, _) in given.items()]
    history: Any = list(QUESTION)
    request: Any = {"model": upstream.model, "messages": history, "tools": tools, "max_tokens": 100}
    message = anthropic_message(anthropic_client, request, stream=stream)
    assert [(block.name, block.input) for block in message.content] == [*given.values()]
    history += [{"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in message.content]}]
    results = [{"type": "tool_result", "tool_use_id": block.id, "content": "Done."} for block in message.content]
    history += [{"role": "user", "content": results}]
    message = anthropic_message(anthropic_client, request, stream=stream)
    assert message.content[0].text == "Sunny."
    assert [*problems(served, upstream)] == []


@pytest.fixture(scope="module")
def anthropic_client(running: Served) -> Iterator[anthropic.Anthropic]:
    """The anthropic package."""
    with anthropic.Anthropic(base_url=running.url, api_key="none", max_retries=0) as client:
        yield client


def anthropic_message(client: anthropic.Anthropic, request: Any, *, stream: bool) -> Any:
    """The next message."""
    if not stream:
        return client.messages.create(**request)
    with client.messages.stream(**request) as streamed:
        return streamed.get_final_message()


CHAT_UPSTREAM = next(each for each in UPSTREAMS if each.format == "openai_chat")


@every_stream
@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        ("custom", {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin"}),
        ("local_shell", {"type": "function_call", "name": "local_shell", "arguments": "*** Begin"}),
        ("namespace", {"type": "function_call", "name": "weather", "namespace": "crm", "arguments": "*** Begin"}),
    ],
)
def test_a_call_with_damaged_arguments_is_sent_all_the_same(
    served: Served, openai_client: openai.OpenAI, kind: str, sent: Item, stream: bool
):
    said = Said(calls=(Call(USES[kind].function, "*** Begin", "c_1"),))
    script(served, CHAT_UPSTREAM, [said], stream=stream)
    item = answered(openai_client, CHAT_UPSTREAM.model, "hi", USES[kind].tool, stream=stream)
    assert item.items() >= sent.items()


def test_two_tools_of_one_name_stay_two(served: Served, openai_client: openai.OpenAI):
    said = Said(calls=(Call("weather", "{}", "c_1"), Call("weather_2", json.dumps({"input": "Ulm"}), "c_2")))
    script(served, CHAT_UPSTREAM, [said], stream=False)
    custom: Any = {"type": "custom", "name": "weather"}
    tools: Any = [WEATHER, custom]
    response = openai_client.responses.create(model=CHAT_UPSTREAM.model, input="hi", tools=tools, tool_choice=custom)
    assert [item.type for item in response.output] == ["function_call", "custom_tool_call"]
    sent = served.vendor.requests[-1].json
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["weather", "weather_2"]
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "weather_2"}}


def test_a_grammar_that_nothing_enforces_is_a_warning(served: Served, http: httpx2.Client):
    served.vendor.always(CHAT_UPSTREAM.reply(Said("Sunny."), stream=False))
    body = {"model": CHAT_UPSTREAM.model, "input": "hi", "tools": [USES["custom"].tool], "abstractcore": {}}
    warnings = http.post("/v1/responses", json=body).json()["abstractcore"]["warnings"]
    assert "the grammar of 'apply_patch'" in json.dumps(warnings)
    (tool,) = served.vendor.requests[-1].json["tools"]
    assert GRAMMAR["definition"] in tool["function"]["description"]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "custom"},
        {"type": "custom", "name": 5},
        {"type": "custom", "name": ""},
        {"type": "custom", "name": "x", "description": ["y"]},
        {"type": "namespace", "name": "x"},
        {"type": "namespace", "name": "x", "tools": ["y"]},
        {"type": "namespace", "name": "x", "tools": [{"type": "function", "name": "y", "parameters": "z"}]},
        {"type": "namespace", "name": "x", "tools": [{"type": "function", "name": "y", "strict": 1}]},
        {"type": "tool_search", "execution": "client", "parameters": 5},
    ],
)
def test_a_tool_that_is_not_well_formed_is_refused_with_its_place(served: Served, http: httpx2.Client, tool: Any):
    body = {"model": CHAT_UPSTREAM.model, "input": "hi", "tools": [tool]}
    response = http.post("/v1/responses", json=body)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["param"].startswith("tools")
    assert served.vendor.requests == []
