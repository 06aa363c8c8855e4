"""Vendors' WebSocket servers on this machine: each refuses messages that are not of its published format.

| vendor | format | types of the vendor's own client that the messages were checked against |
|---|---|---|
| ElevenLabs | elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-multi-stream-input | elevenlabs 2.78.0: `InitializeConnectionMulti`, `SendTextMulti`, `CloseContext`, `AudioOutputMulti`, `FinalOutputMulti`, `Alignment` |
| Cartesia | docs.cartesia.ai/api-reference/tts/websocket | cartesia 4.2.0: `GenerationRequestParam`, `CancelContextRequest`, `WebsocketResponse` |
| Deepgram | developers.deepgram.com/docs/tts-ws-flush, developers.deepgram.com/reference/tts-ws-close; the query is that of the client | deepgram-sdk 7.17.0: `SpeakV1Text`, `SpeakV1Flush`, `SpeakV1Close`, `SpeakV1Flushed`, `SpeakV1Metadata`, `SpeakV1Warning` |
"""  # noqa: E501

from __future__ import annotations

import base64
import json
import logging
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from tests.plugins.voice.remote.fakes import KEY, RefusedError, expect, only, sound_of

Play = Callable[[ServerConnection], None]
_SECONDS_OF_A_CHARACTER = 0.01
_NO_LOG = logging.Logger("websocket_servers", logging.CRITICAL + 1)


class WebSocketVendor:
    """One vendor. `refusals` are answers to the next handshakes, `plays` take the place of the next connections."""

    title: ClassVar[str]

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.messages: list[Mapping[str, Any]] = []
        self.refusals: list[tuple[int, bytes, Mapping[str, str]]] = []
        self.plays: list[Play] = []
        self.connections = 0
        self.closed = threading.Semaphore(0)
        self._server: Server = serve(
            self._serve, "127.0.0.1", 0, process_request=self._handshake, compression=None, logger=_NO_LOG
        )
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.socket.getsockname()[1]}"

    def stop(self) -> None:
        """Ends the server and its connections."""
        self._server.shutdown()
        self._thread.join()

    def check(self, path: str, query: Mapping[str, str], headers: Headers) -> None:
        """Refuses a handshake that is not of the published format."""
        raise NotImplementedError

    def take(self, connection: ServerConnection, message: Mapping[str, Any]) -> None:
        """Answers a message."""
        raise NotImplementedError

    def refuse(self, connection: ServerConnection, message: str) -> None:
        """Reports a message that is not of the published format."""
        connection.close(1008, message)

    def _handshake(self, connection: ServerConnection, request: Request) -> Response | None:
        if self.refusals:
            status, body, more = self.refusals.pop(0)
            return Response(
                status, HTTPStatus(status).phrase, Headers({**more, "Content-Length": str(len(body))}), body
            )
        address = urlsplit(request.path)
        try:
            self.check(address.path, dict(parse_qsl(address.query)), request.headers)
        except RefusedError as error:
            return connection.respond(error.status, json.dumps({"message": str(error)}))
        return None

    def _serve(self, connection: ServerConnection) -> None:
        self.connections += 1
        try:
            if self.plays:
                self.plays.pop(0)(connection)
                return
            for message in connection:
                fields = json.loads(message)
                self.messages.append(fields)
                self.take(connection, fields)
        except RefusedError as error:
            self.refuse(connection, str(error))
        except ConnectionClosed:
            return
        finally:
            self.closed.release()


def encoded(data: bytes) -> str:
    """Samples in base64."""
    return base64.b64encode(data).decode()


class ElevenLabsSockets(WebSocketVendor):
    """/v1/text-to-speech/VOICE/multi-stream-input."""

    def check(self, path: str, query: Mapping[str, str], headers: Headers) -> None:
        expect(headers.get("xi-api-key") == KEY, "invalid api key", 401)
        expect(path.startswith("/v1/text-to-speech/") and path.endswith("/multi-stream-input"), "no such path", 404)
        known = ["language_code", "enable_logging", "enable_ssml_parsing", "inactivity_timeout", "sync_alignment"]
        only(query, ["model_id", "output_format"], [*known, "auto_mode", "apply_text_normalization", "seed"])
        expect(query["output_format"] == "pcm_24000", "bad format")
        expect(query.get("inactivity_timeout", "20").isdecimal(), "bad timeout")
        self.contexts: dict[str, str] = {}

    def take(self, connection: ServerConnection, message: Mapping[str, Any]) -> None:
        if message.get("close_socket"):
            only(message, ["close_socket"], [])
            connection.close()
            return
        context = message["context_id"]
        if message.get("close_context"):
            only(message, ["context_id", "close_context"], [])
            self.contexts.pop(context)
            connection.send(json.dumps({"isFinal": True, "contextId": context}))
        elif context not in self.contexts:
            only(message, ["text", "context_id"], ["voice_settings", "generation_config"])
            expect(message["text"] == " ", "the first text of a context is a space")
            only(message.get("voice_settings", {}), [], ["stability", "similarity_boost", "style", "speed"])
            expect(0.7 <= message.get("voice_settings", {}).get("speed", 1) <= 1.2, "bad speed")
            self.contexts[context] = ""
        else:
            only(message, ["text", "context_id"], ["flush"])
            expect(message["text"].endswith(" "), "a text ends with a space")
            self.say(connection, context, message["text"][:-1])

    def say(self, connection: ServerConnection, context: str, text: str) -> None:
        """Sends a text in two chunks, whose times begin with each."""
        self.texts.append(text)
        half = len(text) // 2
        for part in (text[:half], text[half:]):
            times = [round(1000 * _SECONDS_OF_A_CHARACTER * index) for index in range(len(part))]
            alignment = {"chars": [*part], "charStartTimesMs": times, "charDurationsMs": [10] * len(part)}
            fields = {"audio": encoded(sound_of(part)), "alignment": alignment, "normalizedAlignment": None}
            connection.send(json.dumps({**fields, "contextId": context}))


class CartesiaSockets(WebSocketVendor):
    """/tts/websocket."""

    def check(self, path: str, query: Mapping[str, str], headers: Headers) -> None:
        expect(headers.get("authorization") == f"Bearer {KEY}", "invalid api key", 401)
        expect(headers.get("cartesia-version") == "2026-08-14", "unknown version")
        expect(path == "/tts/websocket" and not query, "no such path", 404)

    def refuse(self, connection: ServerConnection, message: str) -> None:
        fields = {"type": "error", "done": True, "status_code": 400, "title": "Invalid", "message": message}
        connection.send(json.dumps(fields))

    def take(self, connection: ServerConnection, message: Mapping[str, Any]) -> None:
        optional = ["add_timestamps", "add_phoneme_timestamps", "continue", "flush", "generation_config", "language"]
        required = ["context_id", "model_id", "output_format", "transcript", "voice"]
        only(message, required, [*optional, "max_buffer_delay_ms", "pronunciation_dict_id"])
        only(message["voice"], ["id"], ["mode"])
        wanted = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
        expect(message["output_format"] == wanted, "bad format")
        text, context = message["transcript"], message["context_id"]
        self.texts.append(text)
        about = {"context_id": context, "status_code": 206}
        words, place = text.split(), 0
        for index, word in enumerate(words):
            said = word if index == len(words) - 1 else f"{word} "
            chunk = {"type": "chunk", "data": encoded(sound_of(said)), "done": False, "step_time": 1.0}
            connection.send(json.dumps({**about, **chunk}))
            end = _SECONDS_OF_A_CHARACTER * (place + len(word))
            times = {"words": [word], "start": [_SECONDS_OF_A_CHARACTER * place], "end": [end]}
            connection.send(json.dumps({**about, "type": "timestamps", "done": False, "word_timestamps": times}))
            place += len(said)
        connection.send(json.dumps({**about, "type": "done", "done": True}))


class DeepgramSockets(WebSocketVendor):
    """/v1/speak."""

    flushes = 0

    def check(self, path: str, query: Mapping[str, str], headers: Headers) -> None:
        expect(headers.get("authorization") == f"Token {KEY}", "invalid api key", 401)
        expect(path == "/v1/speak", "no such path", 404)
        only(query, ["model", "encoding", "sample_rate"], ["speed", "mip_opt_out"])
        expect((query["encoding"], query["sample_rate"]) == ("linear16", "24000"), "bad format")
        self.flushes = 0
        self.waiting = ""

    def take(self, connection: ServerConnection, message: Mapping[str, Any]) -> None:
        kind = message["type"]
        if kind == "Speak":
            only(message, ["type", "text"], [])
            self.waiting += message["text"]
            return
        only(message, ["type"], [])
        if kind == "Close":
            connection.close()
            return
        expect(kind == "Flush", "unknown type")
        self.flushes += 1
        if self.flushes > 20:
            fields = {"type": "Warning", "code": "EXCEEDED_FLUSHES", "description": "too many flushes"}
            connection.send(json.dumps(fields))
            return
        names = {"request_id": "r", "model_name": "m", "model_version": "1", "model_uuid": "u"}
        connection.send(json.dumps({"type": "Metadata", **names}))
        self.texts.append(self.waiting)
        data, self.waiting = sound_of(self.waiting), ""
        middle = len(data) // 4 * 2 + 1  # within a sample: frames need not end with one
        connection.send(data[:middle])
        connection.send(data[middle:])
        connection.send(json.dumps({"type": "Flushed", "sequence_id": self.flushes}))


SERVERS: Mapping[str, type[WebSocketVendor]] = {
    "elevenlabs": ElevenLabsSockets,
    "cartesia": CartesiaSockets,
    "deepgram": DeepgramSockets,
}
