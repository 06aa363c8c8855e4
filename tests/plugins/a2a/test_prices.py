"""What runs of tools cost that are declared with a price: of functions, of MCP servers, and of agents alike."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

import pytest
from mcp.server import MCPServer

from abstracta2a import A2AAgent
from abstractcore import Budget, InvalidInputError, MCPTools, Price, Services, ToolRecord, create_llm, tool
from tests.core.tools.loops import Way, calls
from tests.plugins.a2a.conftest import Served

Tools: TypeAlias = Callable[..., Any]
NAME = "echo_price"


def echo(message: str) -> str:
    """Says the message again."""
    return message


def function(served: Served, price: Any) -> Any:
    return tool(echo, name=NAME, price=price)


def mcp_server(served: Served, price: Any) -> Any:
    server = MCPServer("prices")
    server.tool(name=NAME)(echo)
    return MCPTools(server, price=price)


def mcp_server_by_pattern(served: Served, price: Any) -> Any:
    server = MCPServer("prices")
    server.tool(name=NAME)(echo)
    return MCPTools(server, price={"echo_*": price, "*": 100}).only("echo_*")


def agent(served: Served, price: Any) -> Any:
    return A2AAgent(served.url, name=NAME, price=price)


SIBLINGS: list[Tools] = [function, mcp_server, mcp_server_by_pattern, agent]


@pytest.mark.parametrize("tools", SIBLINGS)
def test_price_of_a_run_is_in_the_response_the_record_and_the_budget(
    one_of_two_ways: Way, served_agent: Served, tools: Tools
):
    budget, records = Budget(1_000), list[Any]()
    services = Services(environment={})
    run = calls((NAME, {"message": "echo hi"}))
    llm = create_llm("scripted", replies=[run, run, "Done."], price=Price(0, 0), budgets=[budget], services=services)
    with services.records.subscribe(records.append, records="all"):
        response = one_of_two_ways.generate(llm, tools=[tools(served_agent, "0.25")], run_tools=True)
        assert services.records.flush(60.0)
    services.close()
    assert [step.outcome for step in response.tool_steps] == ["done"] * 2
    assert [each.cost for each in records if isinstance(each, ToolRecord)] == [Decimal("0.25")] * 2
    assert response.loop is not None
    assert response.cost == response.loop.cost == budget.state().known == Decimal("0.5")


@pytest.mark.parametrize("tools", SIBLINGS)
@pytest.mark.parametrize("price", ["much", -1, True])
def test_price_is_a_number_of_at_least_0(served_agent: Served, tools: Tools, price: Any):
    with pytest.raises(InvalidInputError) as caught:
        tools(served_agent, price)
    assert caught.value.path.startswith("price")


def test_price_that_matches_no_tool_is_a_warning():
    server = MCPServer("prices")
    server.tool(name=NAME)(echo)
    llm = create_llm("scripted", replies=["Done."])
    [warning] = llm.generate("hi", tools=[MCPTools(server, price={"ehco_*": 1, "echo_*": 2})]).warnings
    assert (warning.code, warning.message) == (
        "no_tool_matches",
        "price['ehco_*'] matches no tool of the server prices",
    )
