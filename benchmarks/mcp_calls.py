"""CPU time of a call of an MCP server's tool, compared with the SDK's own client."""

from __future__ import annotations

import asyncio
import time

from mcp import Client
from mcp.server import MCPServer
from rounds import Row, Setup

from abstractcore import MCPTools

_GOAL_SECONDS = 300e-6
_ARGUMENTS = {"first": 1, "second": 2}


def mcp_calls(setup: Setup) -> list[Row]:
    """`MCPTools.acall`, which lists the tools too, on a server in this process, in both eras of the protocol."""
    return [row for mode in ("auto", "legacy") for row in asyncio.run(_calls(setup, mode))]


async def _calls(setup: Setup, mode: str) -> list[Row]:
    server = MCPServer("sums")

    @server.tool()
    def add(first: int, second: int) -> int:
        """Adds two numbers."""
        return first + second

    count = 40 if setup.quick else 100
    best = {"ours": float("inf"), "sdk": float("inf")}
    tools = MCPTools(server, mode="legacy" if mode == "legacy" else "auto")
    async with tools, Client(server, mode=mode) as client:
        for _ in range(setup.rounds):
            start = time.process_time()
            for _ in range(count):
                await client.call_tool("add", _ARGUMENTS)
            best["sdk"] = min(best["sdk"], (time.process_time() - start) / count)
            start = time.process_time()
            for _ in range(count):
                await tools.acall("add", _ARGUMENTS)
            best["ours"] = min(best["ours"], (time.process_time() - start) / count)
    return [
        Row(f"MCP call / SDK, {mode}", best["ours"], best["sdk"]),
        Row(f"MCP call over the SDK, {mode}", best["ours"] - best["sdk"], goal=_GOAL_SECONDS),
    ]
