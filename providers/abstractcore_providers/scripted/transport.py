"""The network end of a scripted model: a script, and the clock it is played by."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from abstractcore.errors import AbstractCoreError, ConnectionFailedError, ProviderError, RequestTimeoutError
from abstractcore.ports import Address, Runtime
from abstractcore.schema import WireRequest
from abstractcore.schema.quoting import shown_seconds

from ..common.endpoints import NoAuth
from .canonical_json import CanonicalJson
from .script import Script


class ScriptedBody:
    """A response whose pieces, each with the delay before it, are known beforehand. A delay is not cut short."""

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
        """The next piece; at the end nothing, or the error the script breaks off with."""
        if self._pieces:
            delay, data = self._pieces.popleft()
            await self._wait(delay)
            if self._cut:
                raise ConnectionFailedError("the connection to the script was cut")
            return data
        if self._then is not None:
            raise self._then.with_traceback(None)
        return b""

    async def close(self) -> None:
        """What is left is not read."""
        self._pieces.clear()
        self._then = None

    def abort(self) -> None:
        """The next piece does not arrive any more."""
        self._cut = True


@dataclass(frozen=True, slots=True)
class ScriptedTransport:
    """Plays `script` by the clock of `runtime`."""

    script: Script
    runtime: Runtime

    async def open(self, request: WireRequest, timeout: float) -> ScriptedBody:
        """The next reply; raises the error that stands in its place, or `ScriptExhaustedError`.

        A whole reply takes all its delays at once. A stream opens after the delay of its first piece.
        """

        async def wait(seconds: float) -> None:
            if seconds > 0:
                await self.runtime.sleep(min(seconds, timeout))
            if seconds > timeout:
                message = f"the script did not answer in {shown_seconds(timeout)}"
                raise RequestTimeoutError(message, hint="Its delay is longer: give more with timeout=SECONDS.")

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
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class ScriptedEndpoint:
    """Where a script is played: nowhere on a network."""

    script: Script

    async def open(self, runtime: Runtime) -> Address:
        """The script, on the clock of `runtime`."""
        return Address("scripted://", NoAuth(), ScriptedTransport(self.script, runtime))

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """The error itself: it is meant."""
        return error
