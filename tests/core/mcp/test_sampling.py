"""Sampling: what a server asks of the caller's model, in both eras of the protocol."""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    ListToolsResult,
    ModelHint,
    ModelPreferences,
    SamplingMessage,
    TextContent,
    Tool,
    ToolUseContent,
)

from abstractcore import ImagePart, MCPTools, Message, ToolFailed, create_llm, from_json, to_json
from abstractcore.mcp import SamplingRequest
from abstractcore.testing import ScriptedReply
from tests.core.mcp.shop import PNG
from tests.core.tools.loops import Way, calls, scripted

QUESTION = CreateMessageRequestParams(
    messages=[SamplingMessage(role="user", content=TextContent(text="A name for a cat?"))],
    system_prompt="One word.",
    max_tokens=50,
    temperature=0.5,
    stop_sequences=["."],
    model_preferences=ModelPreferences(hints=[ModelHint(name="sonnet"), ModelHint(name="claude")]),
)
Called = Callable[[ServerRequestContext[Any], CallToolRequestParams], Awaitable[CallToolResult | InputRequiredResult]]


def text_result(*texts: str) -> CallToolResult:
    """The result of a tool."""
    return CallToolResult(content=[TextContent(text=" ".join(texts))])


def text_of(answer: Any) -> str:
    """The text and the model of an answer, and why it ended."""
    return " ".join(filter(None, (answer.content.text, answer.model, answer.stop_reason)))


def server_of(called: Called) -> Server[Any]:
    """A server with a tool `name`."""

    async def listed(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="name", input_schema={"type": "object"})])

    return Server("namer", on_list_tools=listed, on_call_tool=called)


def asking(params: CreateMessageRequestParams, mode: str) -> Server[Any]:
    """A server whose tool asks the model, and returns what it answers: by a request, or by its result."""

    async def requests(context: ServerRequestContext[Any], called: CallToolRequestParams) -> CallToolResult:
        if context.session.client_params.capabilities.sampling is None:
            return text_result("not offered")
        answer = await context.session.send_request(CreateMessageRequest(params=params), CreateMessageResult)
        return text_result(text_of(answer))

    async def returns(context: Any, called: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        if called.input_responses is None:
            return InputRequiredResult(input_requests={"name": CreateMessageRequest(params=params)})
        return text_result(text_of(called.input_responses["name"]))

    return server_of(requests if mode == "legacy" else returns)


def answered(way: Way, tools: MCPTools) -> Any:
    """The step of a call of the tool."""
    [step] = way.generate(scripted(calls(("name", {})), "Done."), tools=[tools], run_tools=True).tool_steps
    return step


def test_model_answers(way: Way, mode: str):
    llm = create_llm("scripted", replies=["Tom"])
    with MCPTools(asking(QUESTION, mode), mode=mode, sampling=llm) as tools:  # type: ignore[arg-type]
        step = answered(way, tools)
    assert step.result.as_text == f"Tom {llm.model} endTurn"
    [call] = llm.calls
    assert [(message.role, message.text) for message in call.messages] == [
        ("system", "One word."),
        ("user", "A name for a cat?"),
    ]
    assert (call.sampling.max_output_tokens, call.sampling.temperature, call.sampling.stop) == (50, 0.5, (".",))


@pytest.mark.parametrize("is_async", [False, True])
def test_function_answers(way: Way, mode: str, is_async: bool):
    given: list[SamplingRequest] = []
    threads: list[bool] = []

    def answer(request: SamplingRequest) -> str:
        given.append(request)
        threads.append(threading.current_thread() is threading.main_thread())
        return "Tom"

    async def answer_async(request: SamplingRequest) -> str:
        return answer(request)

    sampling: Any = answer_async if is_async else answer
    with MCPTools(asking(QUESTION, mode), mode=mode, sampling=sampling) as tools:  # type: ignore[arg-type]
        assert answered(way, tools).result.as_text == "Tom unknown"
    assert given == [
        SamplingRequest(
            server="namer",
            messages=(Message.user("A name for a cat?"),),
            system_prompt="One word.",
            max_output_tokens=50,
            temperature=0.5,
            stop=(".",),
            models=("sonnet", "claude"),
        )
    ]
    if not is_async:
        assert threads == [False]  # the event loop is not blocked


def test_sampling_is_not_offered_without_a_function(way: Way, mode: str):
    with MCPTools(asking(QUESTION, mode), mode=mode) as tools:  # type: ignore[arg-type]
        text = answered(way, tools).result.as_text
    assert "not offered" in text


def test_function_refuses_with_its_reason(way: Way, mode: str):
    def refuse(request: SamplingRequest) -> str:
        raise ToolFailed("the user said no")

    with MCPTools(asking(QUESTION, mode), mode=mode, sampling=refuse) as tools:  # type: ignore[arg-type]
        step = answered(way, tools)
    assert step.outcome == "failed"
    assert "the user said no" in step.result.as_text


def test_failure_is_logged_and_its_details_are_not_sent(way: Way, mode: str, caplog: pytest.LogCaptureFixture):
    def fail(request: SamplingRequest) -> str:
        raise RuntimeError("the key sk-1234 is invalid")

    tools = MCPTools(asking(QUESTION, mode), mode=mode, sampling=fail)  # type: ignore[arg-type]
    with tools, caplog.at_level(logging.WARNING, "abstractcore"):
        step = answered(way, tools)
    assert step.outcome == "failed"
    assert "the request failed: RuntimeError" in step.result.as_text
    assert "sk-1234" not in to_json(step)
    assert caplog.messages == ["a sampling request of the MCP server namer failed: the key sk-1234 is invalid"]


def test_answer_of_another_type_is_logged(mode: str, caplog: pytest.LogCaptureFixture):
    tools = MCPTools(asking(QUESTION, mode), mode=mode, sampling=lambda request: 7)  # type: ignore[arg-type, return-value]
    with tools, Way.of("sync-whole") as way, caplog.at_level(logging.WARNING, "abstractcore"):
        assert answered(way, tools).outcome == "failed"
    assert "sampling: expected text or a response, got 7" in caplog.text


def test_images_reach_the_model_and_tools_do_not(mode: str):
    llm = create_llm("scripted", replies=["a dot"], accepts=["image"])
    image = ImageContent(data=base64.b64encode(PNG).decode(), mime_type="image/png")
    seen = CreateMessageRequestParams(messages=[SamplingMessage(role="user", content=image)], max_tokens=9)
    use = ToolUseContent(name="x", id="1", input={})
    used = CreateMessageRequestParams(messages=[SamplingMessage(role="assistant", content=use)], max_tokens=9)
    with Way.of("sync-whole") as way:
        with MCPTools(asking(seen, mode), mode=mode, sampling=llm) as tools:  # type: ignore[arg-type]
            assert answered(way, tools).result.as_text.startswith("a dot")
        with MCPTools(asking(used, mode), mode=mode, sampling=llm) as tools:  # type: ignore[arg-type]
            assert answered(way, tools).outcome == "failed"
    [part] = llm.calls[0].messages[0].parts
    assert isinstance(part, ImagePart)
    assert part.blob.data == PNG
    assert len(llm.calls) == 1


def test_answer_of_the_model_waits_for_that_of_the_user(way: Way):
    """One result may ask both: the model's answer is in the state of the loop, and it is asked once."""
    form = ElicitRequestFormParams(message="Which animal?", requested_schema={"type": "object", "properties": {}})

    async def called(context: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        if params.input_responses is None:
            requests: dict[str, InputRequest] = {
                "name": CreateMessageRequest(params=QUESTION),
                "animal": ElicitRequest(params=form),
            }
            return InputRequiredResult(input_requests=requests, request_state="kept")
        name, animal = params.input_responses["name"], params.input_responses["animal"]
        assert isinstance(name, CreateMessageResult)
        assert params.request_state == "kept"
        return text_result(text_of(name), animal.content["kind"])

    llm = create_llm("scripted", replies=[ScriptedReply.text("Tom")])
    with MCPTools(server_of(called), sampling=llm) as tools:
        response = way.generate(scripted(calls(("name", {})), "Done."), tools=[tools], run_tools=True)
        loop = from_json(to_json(response.loop))
        [pending] = loop.pending
        assert [question.message for question in pending.input.questions] == ["Which animal?"]
        done = way.resume(scripted("Done."), loop, [pending.respond({"kind": "cat"})], tools=[tools])
    assert done.tool_steps[0].result.as_text == f"Tom {llm.model} endTurn cat"
    assert len(llm.calls) == 1
