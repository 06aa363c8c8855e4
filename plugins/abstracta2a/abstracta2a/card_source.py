"""`CardSource`: the card of an agent, fetched when it is first needed, and again when it may have changed."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass
from typing import Any

import httpx
from a2a.types import AgentCard

from abstractcore import ToolServerError
from abstractcore.toolservers import Secrets, one_line

from .addresses import MOST_CARD_BYTES, AgentAddress
from .cards import card_of, with_usable_interfaces

_FRESH_SECONDS = 300.0
"""How long a card is used whose answer has no `Cache-Control`."""
_MOST_FRESH_SECONDS = 86_400.0
_MAX_AGE = re.compile(r"max-age=(\d{1,9})")
_LONGEST_PROBLEM = 500
_KEY_HINT = "Pass headers={'Authorization': ...} or auth=..."
_HINTS = {
    401: _KEY_HINT,
    403: _KEY_HINT,
    404: "If the card is elsewhere, pass its own address: A2AAgent('https://agent.example/path/card.json').",
}


@dataclass(frozen=True, slots=True)
class _FetchedCard:
    """A card with how it may be used: until `fresh_until` on the monotonic clock, and then while its `etag` holds."""

    card: AgentCard
    fresh_until: float
    etag: str | None = None


class CardSource:
    """The card of one agent, with the interfaces that can be used. Fetching it may take `timeout` seconds."""

    def __init__(
        self, agent: str, address: AgentAddress, client: httpx.AsyncClient, secrets: Secrets, timeout: float
    ) -> None:
        self._agent = agent
        self._address = address
        self._http = client
        self._secrets = secrets
        self._timeout = timeout
        self._latest: _FetchedCard | None = None

    async def card(self) -> AgentCard:
        """Returns the card, the same object while it has not changed; raises `ToolServerError`."""
        latest = self._latest
        if latest is None or time.monotonic() > latest.fresh_until:
            try:
                latest = self._latest = await self._fetched(latest)
            except ToolServerError as error:
                error.server = self._agent
                raise
        return latest.card

    async def _fetched(self, latest: _FetchedCard | None) -> _FetchedCard:
        if self._address.card is not None:
            return _FetchedCard(self._usable(self._address.card), float("inf"))
        try:
            async with asyncio.timeout(self._timeout):
                return await self._downloaded(latest)
        except TimeoutError:
            raise self._error(f"did not send its card in {self._timeout:g} s") from None

    async def _downloaded(self, latest: _FetchedCard | None) -> _FetchedCard:
        """Returns the card as the agent has it now: the latest if it has not changed."""
        url = self._address.card_url
        assert url is not None
        headers = {"accept": "application/json"}
        if latest is not None and latest.etag is not None:
            headers["if-none-match"] = latest.etag
        try:
            async with self._http.stream("GET", url, headers=headers) as response:
                fresh_until = time.monotonic() + _fresh_seconds(response.headers)
                if response.status_code == 304 and latest is not None:
                    return _FetchedCard(latest.card, fresh_until, latest.etag)
                if response.status_code != 200:
                    hint = _HINTS.get(response.status_code)
                    raise self._error(f"has no card: HTTP {response.status_code}", hint)
                body = await self._body(response)
        except httpx.HTTPError as error:
            raise self._error(f"cannot be reached: {self._shown(error)}") from self._secrets.cleaned(error)
        try:
            content: Any = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self._error(f"has a card that is not JSON: {self._shown(error)}") from None
        return _FetchedCard(self._usable(content), fresh_until, response.headers.get("etag"))

    async def _body(self, response: httpx.Response) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MOST_CARD_BYTES:
                raise self._error(f"has a card of more than {MOST_CARD_BYTES:,} bytes")
        return bytes(body)

    def _usable(self, content: Any) -> AgentCard:
        return with_usable_interfaces(card_of(content, self._agent), self._agent, self._address.origins)

    def _error(self, problem: str, hint: str | None = None) -> ToolServerError:
        return ToolServerError(f"the A2A agent {self._agent} {problem}.", hint=hint)

    def _shown(self, error: BaseException) -> str:
        return one_line(self._secrets.text(str(error) or type(error).__name__), _LONGEST_PROBLEM)


def _fresh_seconds(headers: httpx.Headers) -> float:
    """Returns how long a card may be used (https://www.rfc-editor.org/rfc/rfc9111, section 5.2.2)."""
    directives = headers.get("cache-control", "").lower()
    if "no-cache" in directives or "no-store" in directives:
        return 0.0
    age = _MAX_AGE.search(directives)
    return _FRESH_SECONDS if age is None else min(float(age[1]), _MOST_FRESH_SECONDS)
