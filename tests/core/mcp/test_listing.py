"""Many tools of many servers: listed once, and without a cost in prompts where they are deferred."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp.server import MCPServer

from abstractcore import MCPTools, create_llm
from abstractcore.testing import ScriptedReply
from tests.core.tools.loops import Way, scripted

SERVERS = 10
TOOLS = 20


class CountingServer(MCPServer):
    """Counts how often its tools are listed."""

    listed = 0

    async def list_tools(self, *arguments: Any, **options: Any) -> Any:
        self.listed += 1
        return await super().list_tools(*arguments, **options)


def servers() -> list[CountingServer]:
    """Ten servers with twenty tools each."""
    made = [CountingServer(f"server{number}") for number in range(SERVERS)]
    for server in made:
        for number in range(TOOLS):
            name = f"{server.name}_tool{number}"
            server.add_tool(lambda text: text, name=name, description=f"Does {name} with a text of any length.")
    return made


def test_tools_are_listed_once_while_nothing_changes(mode: str):
    counted = servers()
    tools = [MCPTools(server, mode=mode) for server in counted]  # type: ignore[arg-type]
    with Way.of("sync-whole") as way:
        for _ in range(3):
            llm = scripted("x")
            way.generate(llm, tools=tools)
            assert len(llm.calls[0].tools) == SERVERS * TOOLS
    assert [server.listed for server in counted] == [1] * SERVERS
    for each in tools:
        each.close()


def test_calls_at_the_same_time_list_the_tools_once(mode: str):
    server = servers()[0]
    tools = MCPTools(server, mode=mode)  # type: ignore[arg-type]

    async def all_calls() -> None:
        async with tools:
            assert {len(listed) for listed in await asyncio.gather(*[tools.alist_tools() for _ in range(5)])} == {TOOLS}

    asyncio.run(all_calls())
    assert server.listed == 1


@pytest.mark.parametrize("way_name", ["sync-whole", "async-streamed"])
def test_deferred_tools_cost_no_prompt(mode: str, way_name: str):
    tools = [MCPTools(server, mode=mode, defer=True) for server in servers()]  # type: ignore[arg-type]
    replies = [
        ScriptedReply.tool_call("search_tools", {"query": "server7_tool3"}),
        ScriptedReply.tool_call("server7_tool3", {"text": "hello"}),
        "x",
    ]
    llm = create_llm("scripted", replies=replies)
    with Way.of(way_name) as way:
        response = way.generate(llm, tools=tools, run_tools=True)
    assert response.tool_steps[-1].result.as_text == "hello"
    [offered] = [tool.name for tool in llm.calls[0].tools]
    assert offered == "search_tools"
    assert "server7" not in json.dumps([message.text for message in llm.calls[0].messages])
    for each in tools:
        each.close()
