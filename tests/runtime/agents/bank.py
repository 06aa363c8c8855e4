"""An MCP server, over stdio or HTTP: `python bank.py PAYMENTS [PORT]`. Each payment is a line with the key of its call.

If the file `PAYMENTS.kill` is there, `pay` removes it, and kills the worker after it has paid.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel

server = MCPServer("bank")
payments = Path(sys.argv[1])


class Account(BaseModel):
    """The account that pays."""

    account: str


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def balance() -> int:
    """The balance in euros."""
    return 250


@server.tool(annotations=ToolAnnotations(open_world_hint=False))
def pay(to: str, euros: int, context: Context[Any]) -> str:
    """Pays."""
    key = (context.request_context.meta or {}).get("idempotencyKey")
    with payments.open("a") as file:
        file.write(f"{to} {euros} {key}\n")
    order = Path(f"{payments}.kill")
    if order.exists():
        order.unlink()
        request = context.request_context.request
        os.kill(os.getppid() if request is None else int(request.headers["x-worker"]), signal.SIGKILL)
    return f"paid {to}"


def which_account() -> Elicit[Account]:
    """Asks for the account."""
    return Elicit("From which account?", Account)


@server.tool(annotations=ToolAnnotations(open_world_hint=False))
def withdraw(euros: int, source: Annotated[Account, Resolve(which_account)]) -> str:
    """Pays out, from an account that the user names."""
    return f"{euros} from {source.account}"


class Ready(uvicorn.Server):
    """Reports that it listens."""

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        sys.stdout.write("ready\n")
        sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        config = uvicorn.Config(server.streamable_http_app(), port=int(sys.argv[2]), log_level="critical")
        Ready(config).run()
    else:
        server.run()
