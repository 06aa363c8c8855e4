"""`LiveSound`: sentences that are spoken over one WebSocket connection, opened for the first of them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from abstractcore import ProviderError, RequestTimeoutError, StreamInterruptedError
from abstractcore.ports import BackendOwner, current_interruption, interruptible

from .calls import VendorCalls
from .formats.format import LiveFormat
from .requests import SpeechText
from .sound_pieces import SoundPiece, TimedText
from .sound_sources import IDLE_SECONDS
from .websocket import SocketOpening, VendorSocket, without_secrets

_OPEN_SECONDS = 10.0
_MOST_ATTEMPTS = 3
_FIRST_PAUSE_SECONDS = 0.5
_SAMPLE_BYTES = 2
_T = TypeVar("_T")


class LiveSound:
    """Sends each sentence when it is complete, and reads its sound. A connection that fails before a sentence has any
    sound is opened again, and the sentence sent again; afterwards never.
    """

    def __init__(self, owner: BackendOwner, calls: VendorCalls, format: LiveFormat) -> None:
        self._owner = owner
        self._runtime = owner.runtime
        self._calls = calls
        self._format = format
        self._socket: VendorSocket | None = None
        self._turn = 0
        self._turns_of_socket = 0

    async def speak(self, asked: SpeechText) -> AsyncGenerator[SoundPiece]:
        """Yields the sound of a sentence, with the times of its words if the vendor reports them. Raises errors of the
        vendor, `RequestTimeoutError` if nothing arrives for `IDLE_SECONDS`, `MissingExtraError` without the library.
        """
        for attempt in range(1, _MOST_ATTEMPTS + 1):
            begun = False
            try:
                async with aclosing(self._spoken(asked)) as pieces:
                    async for piece in pieces:
                        begun = True
                        yield piece
                return
            except ProviderError as error:
                self._abort()
                if begun or attempt == _MOST_ATTEMPTS or not _may_repeat(error):
                    raise
                pause = error.retry_after
            await self._pause(_FIRST_PAUSE_SECONDS * 2 ** (attempt - 1) if pause is None else pause)

    async def close(self) -> None:
        """Ends the connection: with the vendor's last message if all was spoken, else at once."""
        socket, self._socket = self._socket, None
        if socket is None:
            return
        try:
            if self._format.farewell:
                await self._runtime.call(socket.send, self._format.farewell)
            await self._runtime.call(socket.close)
        finally:
            socket.abort()

    async def _spoken(self, asked: SpeechText) -> AsyncGenerator[SoundPiece]:
        """Yields the sound of one attempt. With times, sound waits for the message after it, which may have them."""
        complete = False
        try:
            socket = await self._connected(asked)
            self._turn += 1
            self._turns_of_socket += 1
            turn = f"s{self._turn}"
            for message in self._format.messages(asked, turn):
                await self._waited(socket, socket.send, json.dumps(message, ensure_ascii=False))
            held, seconds, half = SoundPiece(), 0.0, b""
            while True:
                heard = self._read(await self._received(socket), turn)
                if heard is None:
                    continue
                samples = half + heard.samples
                half = samples[len(samples) - len(samples) % _SAMPLE_BYTES :]
                heard = replace(heard, samples=samples[: len(samples) - len(half)])
                base = seconds if self._format.times_of_chunks else 0.0
                times = [TimedText(time.text, base + time.until) for time in heard.times]
                seconds += len(heard.samples) / _SAMPLE_BYTES / self._format.row.rate
                if held.samples and (heard.samples or heard.last or not self._format.timed):
                    yield replace(held, last=heard.last and not heard.samples)
                    held = SoundPiece()
                held = SoundPiece(held.samples + heard.samples, [*held.times, *times], last=heard.last)
                if held.samples and (heard.last or not self._format.timed):
                    yield held
                    held = SoundPiece()
                if heard.last:
                    break
            if half or not seconds:
                raise StreamInterruptedError("the sound of a sentence ended before it was complete")
            complete = True
        finally:
            if not complete:
                self._abort()

    async def _connected(self, asked: SpeechText) -> VendorSocket:
        if self._socket is not None and self._turns_of_socket >= self._format.most_turns:
            await self.close()
        if self._socket is None:
            request, credentials = self._calls.addressed(self._format.connection(asked))
            seconds = self._seconds(_OPEN_SECONDS)
            opening = SocketOpening()
            try:
                self._socket = await self._runtime.call(opening.run, request.url, request.headers, credentials, seconds)
            except BaseException:
                opening.cancel()
                raise
            self._turns_of_socket = 0
        return self._socket

    async def _received(self, socket: VendorSocket) -> str | bytes:
        return await self._waited(socket, socket.receive, self._seconds(IDLE_SECONDS))

    async def _waited(self, socket: VendorSocket, function: Callable[..., _T], *arguments: object) -> _T:
        with interruptible(socket.abort):
            return await self._runtime.call(function, *arguments)

    def _read(self, message: str | bytes, turn: str) -> SoundPiece | None:
        try:
            return self._format.heard(message, turn)
        except ProviderError as error:
            failure = error
        raise without_secrets(failure, self._calls.credentials())

    def _seconds(self, most: float) -> float:
        left = self._owner.time_left
        if left is not None and left <= 0:
            raise RequestTimeoutError("the time limit of the call has passed")
        return most if left is None else min(most, left)

    async def _pause(self, seconds: float) -> None:
        left = self._owner.time_left
        if left is not None and left <= seconds:
            raise RequestTimeoutError("the time limit of the call would pass before the next attempt")
        await self._runtime.sleep(seconds)

    def _abort(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.abort()


def _may_repeat(error: ProviderError) -> bool:
    interruption = current_interruption()
    if interruption is not None and interruption.is_set:
        return False
    return error.retryable or isinstance(error, StreamInterruptedError)
