"""`Offer`: the tools of MCP servers that one request gets, and how its client learns of their calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from abstractcore import Allow, Decision, Deny, Suspend
from abstractcore.errors import InvalidInputError
from abstractcore.schema import EMPTY, CallWarning, ModelCall, PendingCall
from abstractcore.toolservers import nearest_name

from .servers import Listing, MCPServers, ServedTool

_NOTHING: Any = EMPTY


@dataclass(frozen=True, slots=True)
class Approval:
    """What a client has decided about a call that waited; `request` is the id of the item that asked."""

    request: str
    is_given: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of one request. With `is_shown`, the client's API has items for their calls, and for the approval of
    calls; else it does not learn of them, and only tools are offered whose calls need none.

    `listings` are those that the client is shown, `approvals` what it has decided, by the ids of calls. `most_calls` is
    the client's own limit.
    """

    servers: MCPServers
    tools: tuple[ServedTool, ...]
    is_shown: bool
    warnings: tuple[CallWarning, ...] = ()
    listings: tuple[Listing, ...] = ()
    approvals: Mapping[str, Approval] = field(default=_NOTHING)
    most_calls: int | None = None

    def named(self, taken: Collection[str]) -> dict[str, ServedTool]:
        """Returns the tools by the names that the model is given: one whose name is `taken`, or that two servers have,
        gets that of its server before it.
        """
        uses = Counter([*taken, *(each.tool.name for each in self.tools)])
        named: dict[str, ServedTool] = {}
        for each in self.tools:
            name = each.tool.name
            if uses[name] > 1:
                each = replace(each, tool=each.tool.renamed(f"{nearest_name(each.server)}_{name}"))
            if each.tool.name in taken or each.tool.name in named:
                raise InvalidInputError(f"two tools are named {each.tool.name!r}", path="tools")
            named[each.tool.name] = each
        return named

    def decide(self, pending: PendingCall, tools: Mapping[str, ServedTool]) -> Decision:
        """Returns what happens to a call of one of the tools."""
        if pending.input is not None:
            return Deny("the tool asks the user a question, which clients of this server cannot be asked")
        if tools[pending.call.name].rule == "never" and pending.reason == "approval":
            return Allow()
        return Suspend() if self.is_shown else Deny("it needs an approval, for which this client has no words")


def hidden_offer(servers: MCPServers, listings: Iterable[Listing], most: int) -> Offer:
    """Returns the offer for a client whose API has no words for calls that the server runs, of `most` tools."""
    found = list(listings)
    tools = [each for listing in found for each in listing.tools if each.rule == "never"]
    warnings = [warning for listing in found for warning in listing.warnings]
    if len(tools) > most:
        message = f"{len(tools) - most:,} tools of MCP servers are left out: the limit is {most} (limits.tools)"
        warnings.append(CallWarning("tool_left_out", "tools", message))
    return Offer(servers, tuple(tools[:most]), False, tuple(warnings))


def names_of(call: ModelCall) -> frozenset[str]:
    """Returns the names of the tools that the client itself runs."""
    return frozenset(spec.name for spec in call.tools)
