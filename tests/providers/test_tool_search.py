"""Tool search by the provider: requests that the vendors' types accept, replies, loops, and other models."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from abstractcore import (
    LLM,
    GenerateResponse,
    HostedTool,
    Message,
    PendingCall,
    Services,
    Suspend,
    ToolChoice,
    ToolEnded,
    ToolPolicy,
    ToolSpec,
    create_llm,
    from_json,
    to_json,
    tool,
)
from abstractcore.schema import HostedToolCall, HostedToolResult, OpaquePart, ToolLoop
from abstractcore.testing import CallStyle
from tests.providers.catalogue_rows import rows
from tests.providers.formats.anthropic_messages import wire as anthropic
from tests.providers.formats.openai_responses import wire as responses
from tests.providers.published import stream_of
from tests.providers.strict_fakes import anthropic_messages, openai_responses
from tests.providers.strict_fakes.fake import Fake, StrictServer, strict_server

MODELS = {"anthropic": "claude-opus-4-8", "openai-responses": "gpt-5.4"}
FAKES = {"anthropic": anthropic_messages.FAKE, "openai-responses": openai_responses.FAKE}
WHOLE_OR_STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
EVERY_PROVIDER = pytest.mark.parametrize("provider", MODELS)
ARGUMENTS = {"customer": "Ada"}
REFERENCE = {"type": "tool_reference", "tool_name": "send_invoice"}
ANTHROPIC_SEARCH: list[dict[str, Any]] = [
    {"type": "text", "text": "Let me look."},
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": {"query": "invoice"}},
    {
        "type": "tool_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": {"type": "tool_search_tool_search_result", "tool_references": [REFERENCE]},
    },
    {"type": "tool_use", "id": "toolu_1", "name": "send_invoice", "input": ARGUMENTS},
]
FUNCTION = {"type": "function", "name": "send_invoice", "parameters": {"type": "object"}, "strict": False}
RESPONSES_SEARCH: list[dict[str, Any]] = [
    {
        "type": "tool_search_call",
        "id": "tsc_1",
        "call_id": None,
        "execution": "server",
        "status": "completed",
        "arguments": {"paths": ["send_invoice"]},
    },
    {
        "type": "tool_search_output",
        "id": "tso_1",
        "call_id": None,
        "execution": "server",
        "status": "completed",
        "tools": [{**FUNCTION, "defer_loading": True}],
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "send_invoice",
        "namespace": "send_invoice",
        "arguments": json.dumps(ARGUMENTS),
        "status": "completed",
    },
]


@tool(defer=True)
def send_invoice(customer: str) -> str:
    """Sends the latest invoice to a customer."""
    return f"sent to {customer}"


@tool(defer=True)
def delete_customer(customer: str) -> str:
    """Deletes a customer."""
    return "deleted"


@tool
def clock() -> str:
    """The time."""
    return "12:30"


TOOLS = [send_invoice, clock, delete_customer]


def replies_of_anthropic(stream: bool, *contents: list[Any]) -> Iterator[tuple[str, bytes]]:
    """Answers with these blocks, one after the other."""
    for content in contents:
        reason = "tool_use" if content[-1]["type"] == "tool_use" else "end_turn"
        if not stream:
            yield "application/json", json.dumps(anthropic.message(*content, stop_reason=reason)).encode()
            continue
        events = [anthropic.start(input_tokens=3, output_tokens=1)]
        for index, block in enumerate(content):
            if "input" in block:
                piece = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
                events += anthropic.block(index, piece, **{**block, "input": {}})
            elif block["type"] == "text":
                events += anthropic.text(index, block["text"])
            else:
                events += anthropic.block(index, **block)
        events += anthropic.end(reason, output_tokens=5)
        yield "text/event-stream", stream_of(anthropic.MESSAGES, events)


def replies_of_responses(stream: bool, *contents: list[Any]) -> Iterator[tuple[str, bytes]]:
    """Answers with these items, one after the other."""
    usage = {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8}
    for items in contents:
        if not stream:
            yield "application/json", json.dumps(responses.completed(*items, usage=usage)).encode()
            continue
        pieces = [e for i, item in enumerate(items) for e in (responses.added(item, i), responses.done(item, i))]
        yield "text/event-stream", responses.events([responses.begin(), *pieces, responses.end(*items, usage=usage)])


SEARCHED = {"anthropic": ANTHROPIC_SEARCH, "openai-responses": RESPONSES_SEARCH}
DONE = {"anthropic": [{"type": "text", "text": "Done."}], "openai-responses": [responses.message("Done.")]}
REPLIES = {"anthropic": replies_of_anthropic, "openai-responses": replies_of_responses}


@contextmanager
def server_of(provider: str, model: str, *contents: list[Any]) -> Iterator[StrictServer]:
    """A strict server that answers with these contents; by default with a search, a call, and an answer."""
    given = contents or (SEARCHED[provider], DONE[provider])
    answers = {stream: REPLIES[provider](stream, *given) for stream in (False, True)}
    fake: Fake = replace(FAKES[provider], answer=lambda stream: next(answers[stream]))
    with strict_server(fake) as server:
        server.row = rows(provider)[model]
        yield server


def llm_of(server: StrictServer, provider: str, services: Services, model: str = "", **options: Any) -> LLM:
    name = model or MODELS[provider]
    return create_llm(provider, model=name, base_url=server.url, api_key="k", services=services, **options)


def generated(
    call_style: CallStyle, llm: LLM, streamed: bool, **request: Any
) -> tuple[GenerateResponse[Any], list[Any]]:
    """The response, and the events of a stream."""
    if not streamed:
        return call_style.generate(llm, "Send Ada her invoice.", **request), []
    with call_style.stream(llm, "Send Ada her invoice.", **request) as stream:
        events = list(stream)
    return stream.response, events


def deferred(body: Any) -> list[str]:
    return [each["name"] for each in body["tools"] if each.get("defer_loading")]


def conversation(body: Any) -> list[Any]:
    return body["messages"] if "messages" in body else body["input"]


@WHOLE_OR_STREAMED
@EVERY_PROVIDER
def test_a_tool_that_the_provider_has_found_is_run_and_the_search_goes_back_unchanged(
    provider: str, streamed: bool, call_style: CallStyle, services: Services
):
    asked: list[Any] = []

    def approve(pending: PendingCall) -> bool:
        asked.append(pending.tool)
        return True

    policy = ToolPolicy(approve=approve, max_uses={"send_invoice": 1})
    with server_of(provider, MODELS[provider]) as server:
        llm = llm_of(server, provider, services)
        response, events = generated(call_style, llm, streamed, tools=TOOLS, run_tools=policy)
    assert (response.content, response.loop.status) == ("Done.", "answered")
    assert [(step.call.name, step.outcome, step.result.as_text) for step in response.tool_steps] == [
        ("send_invoice", "done", "sent to Ada")
    ]
    assert [spec.name for spec in asked] == ["send_invoice"]
    assert sum(isinstance(event, ToolEnded) for event in events) == int(streamed)
    assert [each.code for each in response.warnings if "tool" in each.code] == []
    assert (response.usage.input, response.usage.output) == (6, 10)

    first, second = server.bodies
    assert deferred(first) == ["send_invoice", "delete_customer"]
    others = [each for each in first["tools"] if not each.get("defer_loading")]
    search = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
    assert others[0]["name"] == "clock"
    assert others[1:] == [search if provider == "anthropic" else {"type": "tool_search"}]
    assert second["tools"] == first["tools"]  # the beginning of the prompt is that of the first round
    if provider == "anthropic":
        assert conversation(second)[1] == {"role": "assistant", "content": ANTHROPIC_SEARCH}
        assert conversation(second)[2]["content"][0]["tool_use_id"] == "toolu_1"
    else:
        sent = [{**item, "id": item.get("id")} for item in conversation(second)[1:4]]
        expected = [*RESPONSES_SEARCH[:2], {**RESPONSES_SEARCH[2], "id": None}]
        assert [{k: v for k, v in each.items() if k != "status"} for each in sent] == [
            {k: v for k, v in each.items() if k != "status"} for each in expected
        ]
        assert conversation(second)[4]["call_id"] == "call_1"


@WHOLE_OR_STREAMED
def test_the_parts_of_a_reply_name_the_tools_that_were_found(streamed: bool, call_style: CallStyle, services: Services):
    with server_of("anthropic", MODELS["anthropic"]) as server:
        llm = llm_of(server, "anthropic", services)
        response, _ = generated(call_style, llm, streamed, tools=TOOLS)
    kinds = [type(part) for part in response.reply.parts]
    assert kinds[1:3] == [HostedToolCall, HostedToolResult]
    result = response.reply.parts[2]
    assert isinstance(result, HostedToolResult)
    assert [part.text for part in result.content] == ["send_invoice"]  # type: ignore[union-attr]


@EVERY_PROVIDER
def test_calls_without_a_loop_are_searched_by_the_provider_too(
    provider: str, call_style: CallStyle, services: Services
):
    with server_of(provider, MODELS[provider]) as server:
        llm = llm_of(server, provider, services)
        response = call_style.generate(llm, "Send Ada her invoice.", tools=TOOLS)
        assert [call.name for call in response.tool_calls] == ["send_invoice"]
        history = [Message.user("Send Ada her invoice."), response, response.tool_calls[0].result("sent")]
        assert call_style.generate(llm, messages=history, tools=TOOLS).content == "Done."
        assert llm.plan("hi", tools=TOOLS).tool_search == "hosted"
        assert llm.build("hi", tools=TOOLS).tools[0].defer
    first, second = server.bodies
    assert first["tools"] == second["tools"]
    assert deferred(first) == ["send_invoice", "delete_customer"]


@pytest.mark.parametrize(
    ("provider", "model"),
    [("anthropic", "claude-opus-4-1"), ("anthropic", "claude-sonnet-5"), ("openai-responses", "gpt-5.4-nano")],
)
@pytest.mark.parametrize("option", [None, "client"])
def test_models_without_a_tool_search_get_ours(provider: str, model: str, option: Any, services: Services):
    """The same for a model with one, if the call says so."""
    name = MODELS[provider] if option else model
    with server_of(provider, name, DONE[provider]) as server:
        llm = llm_of(server, provider, services, name)
        response = llm.generate("hi", tools=TOOLS, run_tools=True, tool_search=option)
        assert llm.plan("hi", tools=TOOLS, run_tools=True, tool_search=option).tool_search == "client"
    (body,) = server.bodies
    assert [each["name"] for each in body["tools"]] == ["clock", "search_tools"]
    assert [each.code for each in response.warnings if "tool" in each.code] == []


def test_a_hosted_search_that_the_model_does_not_have_is_a_warning(services: Services):
    model = "claude-opus-4-1"
    with server_of("anthropic", model, DONE["anthropic"]) as server:
        llm = llm_of(server, "anthropic", services, model, tool_search="hosted")
        response = llm.generate("hi", tools=TOOLS, run_tools=True)
    (warning,) = [each for each in response.warnings if each.path == "tool_search"]
    assert (warning.code, warning.requested, warning.sent) == ("tool_search_changed", "hosted", "client")
    assert "claude-opus-4-1 is not known to have a tool search" in warning.message


def test_facts_of_a_model_of_your_own_turn_it_on(services: Services):
    model = "claude-sonnet-5"
    with server_of("anthropic", model, DONE["anthropic"]) as server:
        server.row = {**server.row, "tool_search": True}
        llm = llm_of(server, "anthropic", services, model, facts={"tool_search": True})
        llm.generate("hi", tools=TOOLS, run_tools=True)
    assert deferred(server.bodies[0]) == ["send_invoice", "delete_customer"]


@pytest.mark.parametrize("given", ["hosted tool", "cache", "chosen"])
def test_what_goes_with_deferred_tools(given: str, services: Services):
    regex = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
    with server_of("anthropic", "claude-opus-4-8", DONE["anthropic"]) as server:
        llm = llm_of(server, "anthropic", services)
        if given == "hosted tool":
            named = HostedTool("tool_search", {"type": "tool_search_tool_regex_20251119"})
            llm.generate("hi", tools=[*TOOLS, named], run_tools=True)
        elif given == "cache":
            llm.generate("hi " * 5000, tools=TOOLS, run_tools=True, cache=True)
        else:
            llm.generate("hi", tools=TOOLS, run_tools=True, tool_choice=ToolChoice("tool", "delete_customer"))
    (body,) = server.bodies
    by_name = {each["name"]: each for each in body["tools"]}
    if given == "hosted tool":
        assert body["tools"][-1] == regex
    elif given == "cache":
        assert by_name["clock"]["cache_control"] == {"type": "ephemeral"}
    else:
        assert deferred(body) == ["send_invoice"]


def suspended(provider: str, services: Services) -> ToolLoop:
    """The state of a loop that waits for the approval of a call that the provider's search led to."""
    with server_of(provider, MODELS[provider]) as server:
        policy = ToolPolicy(approve=lambda pending: Suspend())
        response = llm_of(server, provider, services).generate("Go.", tools=TOOLS, run_tools=policy)
    assert response.loop is not None
    assert response.loop.status == "suspended"
    loop = from_json(to_json(response.loop))
    assert isinstance(loop, ToolLoop)
    return loop


@EVERY_PROVIDER
def test_a_state_goes_on_with_the_same_model(provider: str, services: Services):
    loop = suspended(provider, services)
    with server_of(provider, MODELS[provider], DONE[provider]) as server:
        llm = llm_of(server, provider, services)
        response = llm.resume(loop, [each.allow() for each in loop.pending], tools=TOOLS)
    assert (response.content, response.tool_steps[0].outcome) == ("Done.", "done")
    assert deferred(server.bodies[0]) == ["send_invoice", "delete_customer"]


OTHERS = [
    ("anthropic", "anthropic", "claude-opus-4-1"),
    ("anthropic", "openai-responses", "gpt-5.4"),
    ("openai-responses", "openai-responses", "gpt-5.4-nano"),
    ("openai-responses", "anthropic", "claude-opus-4-8"),
]


@pytest.mark.parametrize(("provider", "other", "model"), OTHERS, ids=["->".join(each) for each in OTHERS])
def test_a_state_goes_on_with_another_model(provider: str, other: str, model: str, services: Services):
    loop = suspended(provider, services)
    moved = loop.with_(call=loop.call.with_(provider=other, model=model))
    search = {"query": "delete a customer"}
    asks = {
        "anthropic": [{"type": "tool_use", "id": "toolu_2", "name": "search_tools", "input": search}],
        "openai-responses": [responses.function_call("c2", json.dumps(search), name="search_tools")],
    }
    is_hosted = rows(other)[model].get("tool_search") is True
    contents = [DONE[other]] if is_hosted else [asks[other], DONE[other]]
    with server_of(other, model, *contents) as server:
        llm = llm_of(server, other, services, model)
        response = llm.resume(moved, [each.allow() for each in moved.pending], tools=TOOLS)
    assert (response.content, response.tool_steps[0].outcome) == ("Done.", "done")
    offered = [[each.get("name") for each in body["tools"]] for body in server.bodies]
    if is_hosted:
        assert deferred(server.bodies[0]) == ["send_invoice", "delete_customer"]
        assert "tool_reference" not in json.dumps(server.bodies[0])
        assert "tool_search_output" not in json.dumps(server.bodies[0])
        return
    # What the other provider had found and called is kept; the rest is found by our own search.
    assert sorted(offered[0]) == ["clock", "search_tools", "send_invoice"]
    assert sorted(offered[1]) == ["clock", "delete_customer", "search_tools", "send_invoice"]
    assert "part_left_out" in {each.code for each in response.warnings}


def test_a_state_of_our_search_goes_on_where_the_provider_searches(services: Services):
    search = {"type": "tool_use", "id": "toolu_1", "name": "search_tools", "input": {"query": "invoice"}}
    call = {"type": "tool_use", "id": "toolu_2", "name": "send_invoice", "input": ARGUMENTS}
    with server_of("anthropic", "claude-opus-4-1", [search], [call]) as server:
        policy = ToolPolicy(approve=lambda pending: Suspend())
        llm = llm_of(server, "anthropic", services, "claude-opus-4-1")
        loop = llm.generate("Go.", tools=TOOLS, run_tools=policy).loop
    assert loop is not None
    assert loop.found == ("send_invoice",)
    moved = loop.with_(call=loop.call.with_(model="claude-opus-4-8"))
    with server_of("anthropic", "claude-opus-4-8", DONE["anthropic"]) as server:
        llm = llm_of(server, "anthropic", services)
        response = llm.resume(moved, [each.allow() for each in moved.pending], tools=TOOLS)
    assert response.content == "Done."
    (body,) = server.bodies
    names = [each["name"] for each in body["tools"]]
    assert names == ["clock", "delete_customer", "send_invoice", "tool_search_tool_bm25"]
    assert deferred(body) == ["delete_customer"]


@pytest.mark.parametrize(
    ("content", "tools"),
    [
        pytest.param(ANTHROPIC_SEARCH, [clock], id="no tool search"),
        pytest.param(ANTHROPIC_SEARCH, [clock, delete_customer], id="a tool is gone"),
    ],
)
def test_a_search_that_the_api_would_refuse_is_left_out(content: list[Any], tools: list[Any], services: Services):
    with server_of("anthropic", "claude-opus-4-8") as server:
        llm = llm_of(server, "anthropic", services)
        first = llm.generate("Send Ada her invoice.", tools=TOOLS)
        response = llm.generate(messages=[Message.user("Hi."), first, first.tool_calls[0].result("sent")], tools=tools)
    assert [block["type"] for block in server.bodies[1]["messages"][1]["content"]] == ["text", "tool_use"]
    left = [(each.code, each.path) for each in response.warnings if each.code == "part_left_out"]
    assert left == [("part_left_out", "messages[1].parts[1]"), ("part_left_out", "messages[1].parts[2]")]


def test_searches_of_another_provider_are_left_out_as_other_parts_are(services: Services):
    search = OpaquePart("openai-responses", "tool_search_call", {**RESPONSES_SEARCH[0]})
    with server_of("anthropic", "claude-opus-4-8", DONE["anthropic"]) as server:
        llm = llm_of(server, "anthropic", services)
        said = Message("assistant", (search, *Message.assistant("Hm.").parts))
        response = llm.generate(messages=[Message.user("Hi."), said, Message.user("And?")], tools=TOOLS)
    assert [each.path for each in response.warnings if each.code == "part_left_out"] == ["messages[1].parts[0]"]


def large(count: int) -> list[ToolSpec]:
    """Deferred tools with long definitions."""
    parameters = {"type": "object", "properties": {"item": {"type": "string", "description": "What to handle. " * 9}}}
    return [ToolSpec(f"handle_{n:03}", f"Handles {n}. " * 9, parameters, defer=True) for n in range(count)]


def sizes(provider: str, model: str, services: Services, count: int, **options: Any) -> tuple[int, Mapping[str, Any]]:
    with server_of(provider, model, DONE[provider]) as server:
        llm_of(server, provider, services, model).generate("hi", tools=large(count), run_tools=True, **options)
    (body,) = server.bodies
    return len(json.dumps(body)), body


@pytest.mark.parametrize(("provider", "model"), [("anthropic", "claude-opus-4-1"), ("openai-responses", "gpt-5.2")])
def test_200_deferred_tools_cost_our_search_nothing(provider: str, model: str, services: Services):
    one, _ = sizes(provider, model, services, 1)
    many, body = sizes(provider, model, services, 200)
    assert many == one
    assert "handle_" not in json.dumps(body)


@EVERY_PROVIDER
def test_200_deferred_tools_are_all_sent_to_a_provider_that_searches(provider: str, services: Services):
    _, body = sizes(provider, MODELS[provider], services, 200)
    assert len(deferred(body)) == len(body["tools"]) - 1 == 200
