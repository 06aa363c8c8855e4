"""Offers two functions of this file to MCP clients, and calls them as a client would.

The server alone, for the configuration of an editor or an agent:

    abstractcore mcp serve --tool mcp_server
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

from abstractcore import MissingExtraError, ToolContext, ToolFailed, tool
from abstractcore.schema import install_hint

try:
    from mcp import Client, types
    from mcp.client.stdio import StdioServerParameters, stdio_client
except ImportError as error:
    raise MissingExtraError(
        "a client needs mcp, which is not installed.", hint=install_hint("mcp", extra="mcp")
    ) from error


@dataclass
class Order:
    """An order of the shop."""

    number: int
    items: list[str]
    total: float


ORDERS = {7: Order(7, ["tea", "cups"], 31.5)}


@tool(read_only=True)
def order(number: int) -> Order:
    """Looks up an order.

    Args:
        number: The number on the invoice.
    """
    if number not in ORDERS:
        raise ToolFailed(f"there is no order {number}")
    return ORDERS[number]


@tool
async def ship(number: int, context: ToolContext[None]) -> str:
    """Ships an order."""
    items = ORDERS[number].items
    for done, item in enumerate(items, 1):
        context.progress(done, len(items), f"packed {item}")
        await asyncio.sleep(0.1)
    return f"order {number} is on its way"


def text(result: types.CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, types.TextContent))


async def on_progress(progress: float, total: float | None, message: str | None) -> None:
    print(f"   {progress:g} of {total:g}: {message}")


async def main() -> None:
    no_model = ["--no-ask", "--no-transcribe", "--no-describe", "--no-extract"]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "abstractcore", "mcp", "serve", *no_model, "--tool", "mcp_server"],
        cwd=Path(__file__).parent,
    )
    async with Client(stdio_client(server)) as client:
        for each in (await client.list_tools()).tools:
            print(f"{each.name}: {each.description}")
        found = await client.call_tool("order", {"number": 7})
        print(found.structured_content)
        shipped = await client.call_tool("ship", {"number": 7}, progress_callback=on_progress)
        print(text(shipped))
        unknown = await client.call_tool("order", {"number": 8})
        print("error:" if unknown.is_error else "", text(unknown))


if __name__ == "__main__":
    asyncio.run(main())
