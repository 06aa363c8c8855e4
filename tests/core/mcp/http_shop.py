"""A server over HTTP: `python http_shop.py PORT` prints "ready" when it listens."""

from __future__ import annotations

import sys
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("http-shop")


@server.tool()
def whoami(context: Context[Any]) -> str:
    """The user of the request."""
    return context.request_context.request.headers["x-user"]


@server.tool()
def large(size: int) -> str:
    """Returns a long text."""
    return "x" * size


@server.tool()
def forget_sessions() -> str:
    """Forgets all sessions."""
    server.session_manager._server_instances.clear()
    return "forgotten"


class Ready(uvicorn.Server):
    """Says when it listens."""

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        sys.stdout.write("ready\n")
        sys.stdout.flush()


if __name__ == "__main__":
    app = server.streamable_http_app()
    Ready(uvicorn.Config(app, port=int(sys.argv[1]), log_level="critical")).run()
