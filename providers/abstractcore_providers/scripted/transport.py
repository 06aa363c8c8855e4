"""The transport and endpoint of a scripted model: plays a script on a clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from abstractcore.errors import AbstractCoreError, ConnectionFailedError, ProviderError, RequestTimeoutError
from abstractcore.ports import Address, Runtime
from abstractcore.schema import WireRequest
from abstractcore.schema.base_error import shown_seconds

from ..common.endpoints import NoAuth
from .canonical_json import CanonicalJson
from .script import Script


class ScriptedBody:
    """A response with predefined chunks, each with the delay before it. A delay is not interrupted."""

    status = 200

    def __init__(
        self,
        pieces: Iterable[tuple[float, bytes]],
        then: AbstractCoreError | None,
        wait: Callable[[float], Awaitable[None]],
    ) -> None:
        self.headers: Mapping[str, str] = {}
        self._pieces = deque(pieces)
        self._then = then
        self._wait = wait
        self._cut = False

    async def read(self) -> bytes:
        """Returns the next chunk; at the end empty bytes, or raises the scripted error."""
        if self._pieces:
            delay, data = self._pieces.popleft()
            await self._wait(delay)
            if self._cut:
                raise ConnectionFailedError("the connection to the script was closed")
            return data
        if self._then is not None:
            raise self._then.with_traceback(None)
        return b""

    async def close(self) -> None:
        """Drops the rest."""
        self._pieces.clear()
        self._then = None

    def abort(self) -> None:
        """Makes the next read fail."""
        self._cut = True


@dataclass(frozen=True, slots=True)
class ScriptedTransport:
    """Plays `script` on the clock of `runtime`."""

    script: Script
    runtime: Runtime

    async def open(self, request: WireRequest, timeout: float) -> ScriptedBody:
        """Returns the next reply; raises a scripted error, or `ScriptExhaustedError`.

        A complete reply takes the sum of its delays. A stream opens after the delay of its first chunk.
        """

        async def wait(seconds: float) -> None:
            if seconds > 0:
                await self.runtime.sleep(min(seconds, timeout))
            if seconds > timeout:
                message = f"no response from the script within {shown_seconds(timeout)}"
                hint = "The scripted delay is longer: allow more time with timeout=SECONDS."
                raise RequestTimeoutError(message, hint=hint)

        call = CanonicalJson().parse(request).call
        play = await self.script.play(call)
        if not call.stream:
            await wait(play.seconds)
            pieces = [] if play.then is not None else [(0.0, CanonicalJson().render(play.reply).body)]
            return ScriptedBody(pieces, play.then, wait)
        if play.cuts:
            (first, text), *rest = play.cuts
            await wait(first)
            play = replace(play, cuts=[(0.0, text), *rest])
        renderer = CanonicalJson().renderer()
        return ScriptedBody(((delay, renderer.feed(delta)) for delay, delta in play.deltas()), play.then, wait)

    async def close(self) -> None:
        """Does nothing: there are no connections."""


@dataclass(frozen=True, slots=True)
class ScriptedEndpoint:
    """An endpoint without a network."""

    script: Script

    async def open(self, runtime: Runtime) -> Address:
        """Returns an address whose transport plays the script on the clock of `runtime`."""
        return Address("scripted://", NoAuth(), ScriptedTransport(self.script, runtime))

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns `error`: it is intended."""
        return error
