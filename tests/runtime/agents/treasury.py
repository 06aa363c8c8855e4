"""A treasurer whose model is scripted by the results that it has read: any process gives the right reply."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from abstractcore import ModelCall, ToolResult, tool
from abstractcore.testing import ScriptedReply
from abstractruntime.agents import Agent


def results(call: ModelCall) -> list[str]:
    """Returns the results of tools that the model has read."""
    parts = (part for message in call.messages for part in message.parts)
    return [part.as_text for part in parts if isinstance(part, ToolResult)]


def pays_once(call: ModelCall) -> ScriptedReply | str:
    """Looks at the balance, pays Ann, and answers with the results."""
    match results(call):
        case []:
            return ScriptedReply.tool_call("balance", {})
        case [_]:
            return ScriptedReply.tool_call("pay", {"to": "Ann", "euros": 80})
        case read:
            return " | ".join(read)


def pays_twice(call: ModelCall) -> ScriptedReply | str:
    """Looks at the balance and pays two people in one reply, and answers with the results."""
    read = results(call)
    if read:
        return " | ".join(read)
    pays = [ScriptedReply.tool_call("pay", {"to": name, "euros": 80}) for name in ("Ann", "Bob")]
    return ScriptedReply.tool_call("balance", {}) + pays[0] + pays[1]


def nothing(point: str) -> None:
    """Happens at each point of a program."""


def treasurer(
    payments: Path,
    replies: Callable[[ModelCall], Any] = pays_once,
    at: Callable[[str], object] = nothing,
    **options: Any,
) -> Agent:
    """Returns an agent that pays by adding a line to a file. `at` is called in the model and around the payment."""

    @tool(read_only=True)
    def balance() -> int:
        """The balance in euros."""
        at("in balance")
        return 250

    @tool
    def pay(to: str, euros: int) -> str:
        """Pays."""
        at("before pay")
        with payments.open("a") as file:
            file.write(f"{to} {euros}\n")
        at("after pay")
        return f"paid {to}"

    def reply(call: ModelCall) -> Any:
        at(f"in model {len(results(call))}")
        return replies(call)

    scripted = {} if "model" in options else {"model": "scripted", "replies": reply, "max_retries": 0}
    return Agent("treasurer", tools=[balance, pay], **scripted, **options)


def paid(payments: Path) -> list[str]:
    """Returns the payments that were made."""
    return payments.read_text().splitlines() if payments.exists() else []
