"""An agent with the tools of an MCP server, and a worker of it: `python -m ... DATABASE PAYMENTS AGENT [URL]`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from abstractcore import MCPTools, ModelCall
from abstractcore.testing import ScriptedReply, VirtualClock
from abstractruntime import Runtime
from abstractruntime.agents import Agent
from tests.runtime.agents.treasury import pays_once, results
from tests.runtime.conftest import BEGIN

PATIENCE_SECONDS = 120.0
BANK = Path(__file__).with_name("bank.py")


def withdraws(call: ModelCall) -> ScriptedReply | str:
    """Withdraws money, and answers with the result."""
    return " | ".join(results(call)) or ScriptedReply.tool_call("withdraw", {"euros": 80})


REPLIES = {"payer": pays_once, "cashier": withdraws}


def bank(payments: Path, url: str | None = None) -> MCPTools:
    """Returns the tools of a server of its own, or of that at `url`."""
    options: dict[str, Any] = {"connect_timeout": PATIENCE_SECONDS}
    if url is None:
        return MCPTools(command=[sys.executable, str(BANK), str(payments)], **options)
    return MCPTools(url=url, headers={"x-worker": str(os.getpid())}, **options)


def banker(payments: Path, url: str | None = None, name: str = "payer", **options: Any) -> Agent:
    """Returns an agent that pays once by a tool of the server, or that asks for money."""
    tools = [bank(payments, url)]
    return Agent(name, model="scripted", replies=REPLIES[name], max_retries=0, tools=tools, **options)


if __name__ == "__main__":
    database, payments, name, *url = sys.argv[1:]
    agent = banker(Path(payments), *url, name=name)
    with Runtime(Path(database), programs=[agent], clock=VirtualClock(time_of_day=BEGIN)) as runtime:
        asyncio.run(runtime.worker().run(until="idle"))
