"""Questions of servers: what the user answers reaches the call that asked, in both eras of the protocol."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server import MCPServer, Server
from mcp.server.mcpserver import Context
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListToolsResult,
    TextContent,
    Tool,
)
from pydantic import BaseModel

from abstractcore import MCPTools
from tests.core.tools.loops import Way, calls, scripted


class Answer(BaseModel):
    """The answer of a user."""

    ok: bool


class Warehouse(MCPServer):
    """Asks before it removes an item. `removed` are the items for which the answer was yes."""

    def __init__(self) -> None:
        super().__init__("warehouse")
        self.removed: list[str] = []
        self.asked: list[str] = []
        self.has_asked = asyncio.Event()
        self.add_tool(self.remove)
        self.add_tool(self.close_down)
        self.add_tool(self.count)

    async def remove(self, item: str, context: Context[Any]) -> str:
        """Removes an item."""
        self.asked.append(item)
        if len(self.asked) == 2:
            self.has_asked.set()
        answer = await context.elicit("Really?", Answer)
        if answer.action != "accept" or not answer.data.ok:
            return f"kept {item}"
        self.removed.append(item)
        return f"removed {item}"

    async def close_down(self, context: Context[Any]) -> str:
        """Asks two questions, one after the other."""
        for question in ("Now?", "For ever?"):
            answer = await context.elicit(question, Answer)
            if answer.action != "accept":
                return f"{question} {answer.action}"
        return "closed"

    async def count(self) -> str:
        """Counts, until two calls have asked."""
        await self.has_asked.wait()
        return "two"


def begun(way: Way, tools: MCPTools, *given: tuple[str, dict[str, Any]]) -> Any:
    """The response to a loop of one round of calls."""
    return way.generate(scripted(calls(*given), "Done."), tools=[tools], run_tools=True)


def resumed(way: Way, response: Any, tools: MCPTools, answers: dict[str, bool]) -> Any:
    """The loop goes on with the answers by item."""
    given = [pending.respond({"ok": answers[str(pending.call.arguments["item"])]}) for pending in response.loop.pending]
    return way.resume(scripted("Done."), response.loop, given, tools=[tools])


def test_two_calls_with_the_same_question_get_the_answers_to_their_own(way: Way):
    """A server of the older protocol does not say which call a question is of. A third call runs beside them."""
    server = Warehouse()
    given = [("remove", {"item": "tea"}), ("remove", {"item": "gold"}), ("count", dict[str, str]())]
    with MCPTools(server, mode="legacy") as tools:
        response = begun(way, tools, *given)
        assert [step.result.as_text for step in response.tool_steps] == ["two"]
        assert sorted(len(pending.input.questions) for pending in response.loop.pending) == [1, 1]
        done = resumed(way, response, tools, {"tea": True, "gold": False})
    assert {step.result.as_text for step in done.tool_steps} == {"removed tea", "kept gold", "two"}
    assert server.removed == ["tea"]


def test_second_question_of_a_call_keeps_the_answer_to_the_first(way: Way):
    with MCPTools(Warehouse(), mode="legacy") as tools:
        response: Any = begun(way, tools, ("close_down", {}))
        for question in ("Now?", "For ever?"):
            [pending] = response.loop.pending
            assert [each.message for each in pending.input.questions] == [question]
            answers = [pending.respond({"ok": True})]
            response = way.resume(scripted("Done."), response.loop, answers, tools=[tools])
    [step] = response.tool_steps
    assert step.result.as_text == "closed"


def test_answers_reach_a_server_that_keeps_no_state(way: Way):
    """`requestState` is optional (https://modelcontextprotocol.io/specification, `InputRequiredResult`)."""

    async def listed(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="greet", input_schema={"type": "object"})])

    async def called(context: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        if params.input_responses is None:
            form = ElicitRequestFormParams(message="Who?", requested_schema={"type": "object", "properties": {}})
            return InputRequiredResult(input_requests={"who": ElicitRequest(params=form)})
        answer: Any = params.input_responses["who"]
        return CallToolResult(content=[TextContent(text=f"Hello {answer.content['name']}")])

    with MCPTools(Server("greeter", on_list_tools=listed, on_call_tool=called)) as tools:
        response = begun(way, tools, ("greet", {}))
        [pending] = response.loop.pending
        done = way.resume(scripted("Done."), response.loop, [pending.respond({"name": "Ann"})], tools=[tools])
    [step] = done.tool_steps
    assert step.result.as_text == "Hello Ann"
