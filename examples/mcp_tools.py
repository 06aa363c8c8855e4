"""Tools of an MCP server beside a Python function, in one loop. Needs the extra `mcp`.

    python examples/mcp_tools.py

The server is this file too: started with the argument "server", it offers a tool over standard input and output.
"""

from __future__ import annotations

import sys

from abstractcore import MCPTools, create_llm, tool
from abstractcore.testing import ScriptedReply


@tool(read_only=True)
def weather(city: str) -> str:
    """The weather of a city."""
    return "rain"


def serve() -> None:
    """Offers the stock of a shop, as any MCP server would."""
    from mcp.server import MCPServer

    server = MCPServer("shop")

    @server.tool()
    def stock(item: str) -> int:
        """How many of an item there are."""
        return {"umbrella": 3}.get(item, 0)

    server.run()


def main() -> None:
    """Asks a model that uses both tools. Here it is scripted; with create_llm("openai", ...) it decides by itself."""
    replies = [
        ScriptedReply.tool_call("weather", {"city": "Oslo"})
        + ScriptedReply.tool_call("shop_stock", {"item": "umbrella"}),
        "It rains in Oslo, and there are three umbrellas.",
    ]
    llm = create_llm("scripted", replies=replies)
    with MCPTools(command=[sys.executable, __file__, "server"], name="shop") as shop:
        response = llm.generate(
            "Do I need an umbrella in Oslo?", tools=[weather, shop.prefixed("shop_")], run_tools=True
        )
    for step in response.tool_steps:
        print(f"{step.call.name}({step.call.arguments_text}) -> {step.result.as_text}")
    print(response.content)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["server"] else main()
