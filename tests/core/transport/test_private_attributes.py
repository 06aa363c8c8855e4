"""Private attributes of libraries that are used here: a new version may remove them."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any

import aiohttp
import httpcore2
import pytest
from aiohttp.base_protocol import BaseProtocol

from tests.chaos_server import answer


def require(owner: object, name: str, library: str, purpose: str) -> Any:
    """Returns the attribute; fails with its purpose."""
    if not hasattr(owner, name):
        kind = owner if isinstance(owner, type) else type(owner)
        pytest.fail(f"{library} {version(library)} has no {kind.__qualname__}.{name}, which {purpose}")
    return getattr(owner, name)


def test_aiohttp_stream_exposes_data_received_before_a_disconnect():
    purpose = "transport/aiohttp_http.py uses to read what came before the connection broke"

    async def main() -> None:
        stream = aiohttp.StreamReader(BaseProtocol(asyncio.get_running_loop()), limit=1000)
        stream.feed_data(b"arrived")
        stream.set_exception(ConnectionResetError())
        with pytest.raises(ConnectionResetError):
            stream.read_nowait()
        assert require(stream, "_read_nowait", "aiohttp", purpose)(-1) == b"arrived", purpose

    asyncio.run(main())


def test_aiohttp_parser_exposes_surplus_data(server):
    purpose = "transport/aiohttp_http.py asks whether another response has begun on an idle connection"
    begun = answer("surplus")[:20]

    async def main(surplus: bytes) -> object:
        server.script(answer("one") + surplus)
        protocols: list[Any] = []

        class Connector(aiohttp.TCPConnector):
            async def connect(self, *arguments: Any, **named: Any) -> Any:
                connection = await super().connect(*arguments, **named)
                protocols.append(connection.protocol)
                return connection

        async with aiohttp.ClientSession(connector=Connector()) as session, session.get(server.url) as response:
            assert await response.read() == b"one"
            parser = require(protocols[0], "_parser", "aiohttp", purpose)
            return require(parser, "feed_eof", "aiohttp", purpose)()

    assert asyncio.run(main(begun)) is not None, purpose
    assert asyncio.run(main(b"")) is None, purpose


def test_aiohttp_connector_can_be_kept_from_closing_its_connections():
    purpose = "transport/aiohttp_http.py sets in forked children, whose parent's connections must stay open"

    async def main() -> None:
        connector = aiohttp.TCPConnector()
        assert require(connector, "_closed", "aiohttp", purpose) is False, purpose
        connector._closed = True
        assert connector.closed, purpose
        connector._closed = False
        await connector.close()

    asyncio.run(main())


def test_httpcore2_exposes_surplus_data(server):
    purpose = "transport/messages.py uses to see that more came than the response"
    server.script(answer("one") + b"surplus")
    with httpcore2.ConnectionPool() as pool:
        response = pool.handle_request(httpcore2.Request("POST", server.url, headers={"host": "127.0.0.1"}))
        holder: Any = response.stream
        for name in ("_stream", "_connection", "_h11_state"):
            holder = require(holder, name, "httpcore2", purpose)
        assert response.read() == b"one"
        assert holder.trailing_data[0] == b"surplus", purpose
        response.close()
