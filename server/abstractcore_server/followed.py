"""`FollowedResponse`: streams the events of a response in the background from the store, to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from abstractcore.errors import AbstractCoreError

from .connection import Sink
from .dialects.openai_responses import keepalive
from .dialects.response_fields import event_bytes
from .event_streams import EventStream
from .exchange import Exchange

if TYPE_CHECKING:
    from .store.background import Key

_POLL_SECONDS = 0.25
"""How often the store is asked for news of a response that another process makes."""


class FollowedResponse(EventStream):
    """The events of a response with numbers above `after`, whichever process makes it. A client that leaves changes
    nothing.
    """

    def __init__(self, exchange: Exchange, key: Key, after: int = -1) -> None:
        super().__init__(exchange, "cancel")
        self._key = key
        self._after = after

    async def play(self, sink: Sink) -> None:
        """Writes the events, until the response has ended or was deleted."""
        state = self._exchange.state
        has_begun = has_ended = False
        while not has_ended:
            running = state.backgrounds.find(self._key)
            news = asyncio.Event() if running is None else running.news
            page = await state.stored.run(lambda tables: tables.background.events(self._key, self._after))
            if page is None:
                break
            has_ended = page.has_ended
            if page.events or not has_begun:  # a client whose events are still to come gets the head of the response
                has_begun = True
                await sink.write(b"".join(map(event_bytes, page.events)))
            if page.events:
                self._has_events = True
                self._after = page.events[-1]["sequence_number"]
            elif not has_ended:
                await self._wait(news, is_made_here=running is not None)
        await sink.write(b"", more=False)

    async def _wait(self, news: asyncio.Event, *, is_made_here: bool) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_POLL_SECONDS):
                await news.wait()
                return
        if not is_made_here:
            await self._exchange.state.stored.run(lambda tables: tables.background.free_expired(self._key))

    def _head(self) -> Mapping[str, str]:
        return {"content-type": "text/event-stream; charset=utf-8"}

    def _heartbeat(self) -> bytes:
        return keepalive(begun=self._has_events)

    def _error(self, error: AbstractCoreError) -> bytes:
        return self._exchange.format.renderer().error(error)
