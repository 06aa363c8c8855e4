"""Agents of the crash matrix. Their model is scripted by the results that it has read: any process replies alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from abstractcore import Allow, ModelCall, PendingCall, Suspend, TextPart, ToolPolicy, ToolResult, tool
from abstractcore.testing import ScriptedReply
from abstractruntime.agents import Agent
from tests.runtime.crashes.boundaries import passed
from tests.runtime.crashes.programs import Outside


def _pays_one(name: str, results: list[str]) -> Any:
    """Looks at the balance, pays Ann, and answers with the results."""
    match results:
        case []:
            return ScriptedReply.tool_call("balance", {"of": name})
        case [_]:
            return ScriptedReply.tool_call("pay", {"to": f"Ann of {name}"})
        case _:
            return " | ".join(results)


def _pays_two(name: str, results: list[str]) -> Any:
    """Looks at the balance and pays Ann and Bob in one reply, and answers with the results."""
    if results:
        return " | ".join(results)
    look = ScriptedReply.tool_call("balance", {"of": name})
    ann, bob = (ScriptedReply.tool_call("pay", {"to": f"{to} of {name}"}) for to in ("Ann", "Bob"))
    return look + ann + bob


def _allow(pending: PendingCall) -> Allow | Suspend:
    """Allows calls, but no interrupted one: whoever is asked may repeat it."""
    return Suspend() if pending.reason == "interrupted" else Allow()


PAYS: dict[str, tuple[Callable[[str, list[str]], Any], tuple[str, ...]]] = {
    "treasurer": (_pays_one, ("Ann",)),
    "treasurer-of-two": (_pays_two, ("Ann", "Bob")),
}
"""By the name of an agent, its script and whom it pays."""


def treasurers(outside: Outside) -> list[Agent]:
    """Returns an agent that pays once somebody has approved it, and one that makes three calls at once. The prompt is a
    name.
    """

    @tool(read_only=True)
    def balance(of: str) -> str:
        """The balance."""
        return _work(f"look {of}")

    @tool
    def pay(to: str) -> str:
        """Pays 80 euros."""
        return _work(f"pay {to}")

    def _work(what: str) -> str:
        passed("in a tool, before its work")
        outside.do(what)
        passed("in a tool, after its work")
        return f"did {what}"

    def made(name: str) -> Agent:
        def reply(call: ModelCall) -> Any:
            parts = [part for message in call.messages for part in message.parts]
            prompt = next(part.text for part in parts if isinstance(part, TextPart))
            results = [part.as_text for part in parts if isinstance(part, ToolResult)]
            passed("in the model")
            outside.do(f"model {len(results)} {prompt}")
            return PAYS[name][0](prompt, results)

        policy = None if name == "treasurer" else ToolPolicy(approve=_allow)
        return Agent(name, model="scripted", replies=reply, max_retries=0, tools=[balance, pay], policy=policy)

    return [made(name) for name in PAYS]
