"""`A2AAgent`: a remote agent as a tool, in `tools=[...]`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from abstractcore import CallWarning, InvalidInputError, ToolCall, ToolContext, ToolOutput
from abstractcore.toolservers import (
    Definition,
    Headers,
    Labels,
    Prices,
    Secrets,
    ToolServerBase,
    check_flag,
    check_positive,
    checks_option_names,
    nearest_name,
    shown,
    unused_patterns,
)

from .addresses import AgentAddress

if TYPE_CHECKING:
    import httpx
    from a2a.types import AgentCard

    from .connections import AgentConnection

_NOTHING_OFFERED: tuple[AgentCard | None, tuple[Sequence[Definition], tuple[CallWarning, ...]]] = (None, ((), ()))
_MAX_MESSAGE_BYTES = 64 * 1024 * 1024


@checks_option_names
class A2AAgent(ToolServerBase["AgentConnection"]):
    """A remote agent that speaks the Agent2Agent protocol (A2A); an item of `tools=[...]`, as one tool.

    Exactly one of these is given: `url`, the address of the agent, whose card is at `/.well-known/agent-card.json`
    below it, or that of the card itself, which ends in `.json`; or `card`, the agent's card as the path of a file, as
    a mapping, or as an `AgentCard` of the SDK. The card is fetched when the agent is first used, and again when it may
    have changed.

    `headers` are sent to the agent; as a function of the `deps` of a call they are computed for every request, and each
    result has a connection of its own. `auth` is an `httpx.Auth`; a user and password in `url` are sent too. Requests
    go to the origin of `url` or of the given card only; `origins` are further ones, such as
    `"https://api.agent.example"`.

    `name` and `description` are those of the tool, by default from the card. Without `required`, an agent that cannot
    be reached is a warning, and tried again later. `defer` leaves it to tool search. `labels` say what it does with
    data: unless given, its results are untrusted, and what it is asked is sent out. `pins` is a file that keeps the
    digest of the tool: after a change of the card a call waits for approval.

    A call may take `timeout` seconds, by default those of the `ToolPolicy`: then the agent is asked to cancel its task.
    `price` is what a call costs in US dollars: it is added to the cost of the response.
    Fetching the card may take `connect_timeout` seconds, and a message of the agent may have `max_message_bytes`.
    Connections belong to the event loop that uses them: sync calls share one. Raises `InvalidInputError` for arguments
    that do not fit.
    """

    _source = "a2a"

    def __init__(
        self,
        url: str | None = None,
        *,
        card: AgentCard | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        headers: Headers | None = None,
        auth: httpx.Auth | None = None,
        origins: Sequence[str] = (),
        name: str | None = None,
        description: str | None = None,
        required: bool = True,
        defer: bool = False,
        labels: Labels | None = None,
        pins: str | os.PathLike[str] | None = None,
        timeout: float | None = None,
        price: Prices | None = None,
        connect_timeout: float = 30.0,
        max_message_bytes: int = _MAX_MESSAGE_BYTES,
    ) -> None:
        self._address = AgentAddress.of(url, card, origins)
        if auth is not None and not hasattr(auth, "async_auth_flow"):
            raise InvalidInputError(f"expected an httpx.Auth, got {shown(auth)}", path="auth")
        if description is not None and not isinstance(description, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected text, got {shown(description)}", path="description")
        if isinstance(name, str) and name and nearest_name(name) != name:
            hint = f"For example name={nearest_name(name)!r}."
            raise InvalidInputError(f"{shown(name)} cannot be the name of a tool", path="name", hint=hint)
        check_flag("defer", defer)
        check_positive("connect_timeout", connect_timeout)
        check_positive("max_message_bytes", max_message_bytes)
        super().__init__(
            self._address.name if name is None else name,
            headers=headers,
            required=required,
            labels=labels,
            pins=pins,
            credentials={"url": url},
            timeout=timeout,
            price=price,
        )
        self._auth = auth
        self._tool_name = name
        self._description = description
        self._defer = defer
        self._connect_timeout = connect_timeout
        self._max_message_bytes = int(max_message_bytes)
        self._latest = _NOTHING_OFFERED

    def new_connection(self, headers: Mapping[str, str], secrets: Secrets) -> AgentConnection:
        """Returns a new connection to the agent; see `ToolServerBase`."""
        from .connections import AgentConnection
        from .http import http_client

        client = http_client(headers, self._auth or self._address.user, self._max_message_bytes)
        return AgentConnection(
            self._name, self._address, client, secrets, self._connect_timeout, self._max_message_bytes
        )

    async def definitions(self, connection: AgentConnection) -> tuple[Sequence[Definition], tuple[CallWarning, ...]]:
        """Returns the definition of the agent's tool, made once for each card; raises `ToolServerError`."""
        card = await connection.card()
        latest, offered = self._latest
        if latest is not card:
            offered = self._offered(card)
            self._latest = card, offered
        return offered

    def _offered(self, card: AgentCard) -> tuple[Sequence[Definition], tuple[CallWarning, ...]]:
        from .cards import definition_of

        definition = definition_of(
            card, self._name, self._tool_name, self._description, self._labels, defer=self._defer
        )
        return (definition,), tuple(
            unused_patterns([definition.name], self._name, labels=self._labels, price=self._prices)
        )

    async def run_call(
        self, connection: AgentConnection, definition: Definition, call: ToolCall, context: ToolContext[Any]
    ) -> ToolOutput:
        """Sends the agent a message, and returns its answer; see `ToolServerBase`."""
        from .results import output_of

        return output_of(await connection.ask(call.arguments or {}, context), self._name, call.id)
