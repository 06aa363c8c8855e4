"""`ToolServerBase`: a tool server with connections, users' headers, labels and trusted definitions."""

from __future__ import annotations

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence, Sized
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from .. import concurrency, schema
from ..client.option_values import extra_headers
from ..client.services import default_services
from ..concurrency import drive, is_large
from ..concurrency.asynchronous import LoopLocal
from ..copying import NotCopied
from ..errors import InvalidInputError, ToolServerError
from ..ports import ToolContext
from ..schema import CallWarning, JSONObject, ToolCall, ToolSpec, ToolStep
from ..schema.base_error import shown
from ..scrubbing import Secrets, credentials_of
from ..tools import ServedTools, Tool, execute
from .connection_pool import C, ConnectionPool, Identity
from .definitions import Definition, Labels, Pins, Prices, check_labels, checked_prices, price_of

T = TypeVar("T")
Headers: TypeAlias = (
    Mapping[str, str] | Callable[[Any], Mapping[str, str]] | Callable[[Any], Awaitable[Mapping[str, str]]]
)
"""Headers of all requests, or a function, sync or async, of the `deps` of a call."""


class ToolServerBase(NotCopied, ABC, Generic[C]):
    """A tool server, an item of `tools=[...]`, with one connection for each event loop and each set of headers.

    A subclass says how to connect, what the server offers, and how a tool is called. Without `required`, a server that
    cannot be reached is a warning, and tried again after 30 seconds. `labels` say what the tools do with data. `pins`
    is a file that keeps the digests of their definitions: calls of a tool that has changed wait for approval. The
    values of `credentials`, such as a URL or an environment, are removed from errors. `timeout` is the time limit of a
    call in seconds, by default the policy's. `price` is what a run costs in US dollars, as that of a `Tool`. Raises
    `InvalidInputError` for arguments that do not fit.
    """

    _holds = "connections"
    _instead = "Share the object within a process, and make another one in another process."

    def __init__(
        self,
        name: str,
        *,
        headers: Headers | None,
        required: bool,
        labels: Labels | None,
        pins: str | os.PathLike[str] | None,
        credentials: Mapping[str, object],
        timeout: float | None = None,
        price: Prices | None = None,
    ) -> None:
        _check_headers(headers)
        check_flag("required", required)
        if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected text, got {shown(name)}", path="name")
        if pins is not None and not isinstance(pins, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a path, got {shown(pins)}", path="pins")
        check_labels(labels)
        if timeout is not None:
            check_positive("timeout", timeout)
        self._name = name
        self._headers = headers
        self._required = required
        self._labels = labels
        self._timeout = timeout
        self._prices = checked_prices(price)
        self._pins = Pins(name, pins)
        self._secrets = Secrets(credentials_of(credentials))
        self._made: tuple[list[tuple[Definition, bool]], tuple[Tool[..., Any], ...]] = [], ()
        self._pools: LoopLocal[ConnectionPool[C]] = LoopLocal(ConnectionPool[C], ConnectionPool[C].close)

    _source: ClassVar[schema.ToolSource] = "mcp"
    """What records say about where results come from."""

    @abstractmethod
    def new_connection(self, headers: Mapping[str, str], secrets: Secrets) -> C:
        """Returns a new connection that sends the headers; `secrets` are removed from its errors.

        It must not refer to this object: it ends when this is collected as garbage.
        """
        ...

    @abstractmethod
    async def definitions(self, connection: C) -> tuple[Sequence[Definition], tuple[CallWarning, ...]]:
        """Returns the definitions of the tools that are offered, with warnings; raises `ToolServerError`."""
        ...

    @abstractmethod
    async def run_call(self, connection: C, definition: Definition, call: ToolCall, context: ToolContext[Any]) -> Any:
        """Calls a tool, and returns its output; raises `ToolFailed`, `InputRequired` and `ToolServerError`."""
        ...

    def offered(self, tool: Tool[..., Any]) -> Tool[..., Any]:
        """Returns a tool as it is offered, such as under another name."""
        return tool

    @property
    def name(self) -> str:
        """The name of the server."""
        return self._name

    async def served_tools(self, deps: object) -> ServedTools:
        """Returns the tools that are offered to a call with `deps`; raises `ToolServerError` if it is `required`."""
        pool, identity = self._pools.get(), await self._identity(deps)
        failure = pool.failure(identity)
        if failure is not None:
            return ServedTools(warnings=(self._left_out(failure),))
        try:
            async with self._connection(identity) as connection:
                definitions, warnings = await self.definitions(connection)
        except ToolServerError as error:
            if self._required:
                raise
            pool.note_failure(identity, error)
            return ServedTools(warnings=(self._left_out(error),))
        return ServedTools(await off_loop(definitions, self._tools, definitions), warnings)

    def list_tools(self) -> list[ToolSpec]:
        """Returns the tools as the model would be given them; raises `ToolServerError`."""
        return in_sync(self.alist_tools)

    async def alist_tools(self) -> list[ToolSpec]:
        """Returns the tools as the model would be given them; raises `ToolServerError`."""
        return [tool.spec for tool in (await self.served_tools(None)).tools]

    def call(self, name: str, arguments: JSONObject | None = None, *, deps: object = None) -> ToolStep:
        """Calls one tool without a model, and returns its step; raises as `acall` does."""
        return in_sync(self._call, name, arguments, deps)

    async def acall(self, name: str, arguments: JSONObject | None = None, *, deps: object = None) -> ToolStep:
        """Calls one tool without a model, and returns its step: what a loop would have.

        Raises `ToolServerError` if the server cannot be reached, and `InputRequired` if it asks the user.
        """
        return await self._call(name, arguments, deps)

    async def _call(self, name: str, arguments: JSONObject | None, deps: object) -> ToolStep:
        services = default_services()
        runtime = services.async_runtime
        tools = {tool.name: tool for tool in (await self.served_tools(deps)).tools}
        call = ToolCall.of("call", name, arguments or {})
        context = ToolContext(deps, None, call, services.new_id(), runtime)
        return await execute(tools.get(name), call, context, runtime, known=tools)

    def close(self) -> None:
        """Ends the connections of sync calls; the next use connects again."""
        in_sync(self.aclose)

    async def aclose(self) -> None:
        """Ends the connections of the running event loop; the next use connects again."""
        await self._pools.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name}>"

    @asynccontextmanager
    async def connection_for(self, deps: object) -> AsyncGenerator[C]:
        """Yields the connection of calls with `deps`."""
        async with self._connection(await self._identity(deps)) as connection:
            yield connection

    def _tools(self, definitions: Sequence[Definition]) -> tuple[Tool[..., Any], ...]:
        """Returns the tools of definitions, which are made once: a server may have thousands."""
        now = [(each, self._pins.trusts(each)) for each in definitions]
        made_of, tools = self._made
        if made_of != now:
            tools = tuple(self._tool(each, is_trusted=is_trusted) for each, is_trusted in now)
            self._made = now, tools
        return tools

    def _tool(self, definition: Definition, *, is_trusted: bool) -> Tool[..., Any]:
        """Returns a tool that calls the server."""

        async def run(call: ToolCall, context: ToolContext[Any]) -> Any:
            if not is_trusted:  # a call of it was allowed
                self._pins.pin(definition)
            async with self._connection(await self._identity(context.deps)) as connection:
                return await self.run_call(connection, definition, call, context)

        run.__qualname__ = f"{self._name}.{definition.name}"
        made: Tool[..., Any] = Tool[..., Any].of(
            definition.spec,
            run,
            is_trusted=is_trusted,
            source=self._source,
            server=self._name,
            timeout=self._timeout,
            price=price_of(definition.spec.name, self._prices),
        )
        return self.offered(made)

    def _connection(self, identity: Identity) -> AbstractAsyncContextManager[C]:
        headers = dict(identity)
        return self._pools.get().use(
            identity, lambda: self.new_connection(headers, self._secrets.and_those_in(headers))
        )

    async def _identity(self, deps: object) -> Identity:
        """Returns the headers of a call, sorted."""
        given: Any = self._headers
        if callable(given):
            given = given(deps)
            if inspect.isawaitable(given):
                given = await given
        if given is None:
            return ()
        return tuple(sorted(extra_headers(given).items()))

    def _left_out(self, error: ToolServerError) -> CallWarning:
        message = f"{error.message} Its tools are left out until it can be reached."
        return CallWarning("tool_server_failed", f"tools.{self._name}", message)


async def off_loop(many: Sized, function: Callable[..., T], *arguments: object) -> T:
    """Returns the result of a function of `many` things, of a large number in a worker thread."""
    return await concurrency.off_loop(default_services().async_runtime, is_large(many), function, *arguments)


def in_sync(function: Callable[..., Coroutine[Any, Any, T]], *arguments: object) -> T:
    """Returns the result of an async function, run in the event loop of sync calls."""
    return drive(default_services().sync_runtime.invoke(function, *arguments))


def _check_headers(headers: object) -> None:
    if headers is not None and not isinstance(headers, Mapping) and not callable(headers):
        raise InvalidInputError(f"expected a mapping or a function, got {shown(headers)}", path="headers")


def check_flag(path: str, value: object) -> None:
    """Raises `InvalidInputError` for a value that is not True or False."""
    if not isinstance(value, bool):
        raise InvalidInputError(f"expected True or False, got {shown(value)}", path=path)


def check_positive(path: str, number: object) -> None:
    """Raises `InvalidInputError` for a value that is not a number above 0."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not number > 0:
        raise InvalidInputError(f"expected a number above 0, got {shown(number)}", path=path)
