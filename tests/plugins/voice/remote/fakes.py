"""Vendors of speech on this machine: each refuses requests that are not of its published format.

The formats are those of the vendors' documentation and of their own clients: openai-openapi.json, elevenlabs 2.78.0,
deepgram-sdk 7.17.0, cartesia 4.2.0, assemblyai 1.8.2, google-genai 3.6.1.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from abstractcore.testing.http_server import LAST_CHUNK, ReceivedRequest, Step, answer, chunk, stream_head
from abstractvoice.remote.vendors import vendor_rows

KEY = "key-of-a-vendor-1234567890"
SAMPLES_OF_A_CHARACTER = 240
"""A hundredth of a second at 24,000 samples a second."""
Script = Sequence[Step]


def sound_of(text: str) -> bytes:
    """The samples that the fakes send for a text: its characters, each for a hundredth of a second."""
    return b"".join(ord(each).to_bytes(2, "little", signed=False) * SAMPLES_OF_A_CHARACTER for each in text)


OPENAI_VOICES = frozenset(vendor_rows()["openai"].voices)
GEMINI_VOICES = frozenset(vendor_rows()["gemini"].voices)


class RefusedError(Exception):
    """A request that the vendor refuses: status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def expect(holds: object, message: str, status: int = 400) -> None:
    """Refuses the request unless something holds."""
    if not holds:
        raise RefusedError(status, message)


def expect_recording(data: bytes) -> None:
    """Refuses what is no sound, by its first bytes: WAV, MP3 with ID3, Ogg or FLAC."""
    expect(data.startswith((b"RIFF", b"ID3", b"OggS", b"fLaC")), "the file is not audio")


def only(fields: Mapping[str, Any], required: Sequence[str], optional: Sequence[str]) -> None:
    """Refuses a request with other fields, or without one."""
    expect(set(required) <= set(fields), f"missing: {sorted(set(required) - set(fields))}", 422)
    unknown = set(fields) - set(required) - set(optional)
    expect(not unknown, f"unknown: {sorted(unknown)}", 422)


def form_of(request: ReceivedRequest) -> dict[str, list[Any]]:
    """The fields of a multipart form: texts, and of a file its name, type and content."""
    head = f"content-type: {request.headers['content-type']}\r\n\r\n".encode()
    message = message_from_bytes(head + request.body)
    expect(message.is_multipart(), "not a form")
    found: dict[str, list[Any]] = {}
    for part in message.walk():
        if part.is_multipart():
            continue
        name, content = str(part.get_param("name", header="content-disposition")), part.get_payload(decode=True)
        assert isinstance(content, bytes)
        file = part.get_filename()
        found.setdefault(name, []).append(
            content.decode() if file is None else (file, part.get_content_type(), content)
        )
    return found


@dataclass
class Fake:
    """A vendor: `answers` by method and path, how it says no, and what it was asked for."""

    texts: list[str] = field(default_factory=list[str])
    bodies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    key: str = KEY

    def script(self, request: ReceivedRequest) -> Script:
        """The answer to a request."""
        try:
            self.check_key(request)
            parts = urlsplit(request.target)
            handler = self.handler(request.method, parts.path)
            expect(handler is not None, "no such path", 404)
            assert handler is not None
            return handler(request, parse_qsl(parts.query, keep_blank_values=True))
        except RefusedError as refused:
            return [self.error(refused.status, str(refused))]

    def check_key(self, request: ReceivedRequest) -> None:
        expect(request.headers.get("authorization") == f"Bearer {self.key}", "invalid key", 401)

    def handler(self, method: str, path: str) -> Callable[[ReceivedRequest, list[tuple[str, str]]], Script] | None:
        raise NotImplementedError

    def error(self, status: int, message: str) -> bytes:
        raise NotImplementedError

    def sound(self, text: str) -> Script:
        """Samples of a text, in pieces that end within samples."""
        self.texts.append(text)
        data = sound_of(text)
        pieces = [data[start : start + 4_097] for start in range(0, len(data), 4_097)]
        return [stream_head(content_type=self.sound_type), *map(chunk, pieces), LAST_CHUNK]

    sound_type = "audio/pcm"

    def json(self, request: ReceivedRequest) -> dict[str, Any]:
        """The body of a request."""
        expect(request.headers.get("content-type") == "application/json", "not JSON", 415)
        body = request.json
        self.bodies.append(body)
        return body


class FakeOpenAI(Fake):
    """POST /v1/audio/speech."""

    def handler(self, method: str, path: str) -> Any:
        return self.speech if (method, path) == ("POST", "/v1/audio/speech") else None

    def error(self, status: int, message: str) -> bytes:
        body = {"error": {"type": "invalid_request_error", "message": message, "param": None, "code": None}}
        return answer(json.dumps(body).encode(), status, content_type="application/json")

    def speech(self, request: ReceivedRequest, query: object) -> Script:
        body = self.json(request)
        only(body, ["model", "input", "voice"], ["instructions", "response_format", "speed", "stream_format"])
        expect(len(body["input"]) <= 4096, "input is too long")
        expect(body["voice"] in OPENAI_VOICES, "no such voice")
        expect(body.get("response_format") in ("mp3", "opus", "aac", "flac", "wav", "pcm"), "bad format")
        expect(0.25 <= body.get("speed", 1) <= 4, "bad speed")
        if body.get("stream_format") != "sse":
            return self.sound(body["input"])
        expect(body["model"] not in ("tts-1", "tts-1-hd"), "sse is not supported for this model")
        self.texts.append(body["input"])
        data = sound_of(body["input"])
        events: list[dict[str, Any]] = [
            {"type": "speech.audio.delta", "audio": base64.b64encode(data[start : start + 3_000]).decode()}
            for start in range(0, len(data), 3_000)
        ]
        usage = {"input_tokens": 14, "output_tokens": 101, "total_tokens": 115}
        events.append({"type": "speech.audio.done", "usage": usage})
        lines = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
        return [stream_head(content_type="text/event-stream"), *map(chunk, lines), LAST_CHUNK]


class FakeElevenLabs(Fake):
    """POST /v1/text-to-speech/ID/stream, GET /v2/voices, POST /v1/speech-to-text."""

    def check_key(self, request: ReceivedRequest) -> None:
        expect(request.headers.get("xi-api-key") == self.key, "invalid key", 401)

    def handler(self, method: str, path: str) -> Any:
        if method == "POST" and path.startswith("/v1/text-to-speech/") and path.endswith("/stream"):
            return self.speech
        return {("GET", "/v2/voices"): self.voices, ("POST", "/v1/speech-to-text"): self.listen}.get((method, path))

    def error(self, status: int, message: str) -> bytes:
        body = {"detail": {"status": "invalid", "message": message}}
        return answer(json.dumps(body).encode(), status, content_type="application/json")

    def speech(self, request: ReceivedRequest, query: list[tuple[str, str]]) -> Script:
        body = self.json(request)
        only(
            body,
            ["text"],
            ["model_id", "language_code", "voice_settings", "seed", "previous_text", "next_text"],
        )
        only(dict(query), ["output_format"], ["enable_logging"])
        expect(re.search(r"/text-to-speech/(\w{20}|a1|b2)/", request.target), "no such voice", 404)
        expect(dict(query)["output_format"] == "pcm_24000", "bad format")
        settings = body.get("voice_settings", {})
        only(settings, [], ["stability", "use_speaker_boost", "similarity_boost", "style", "speed"])
        expect(0.7 <= settings.get("speed", 1) <= 1.2, "bad speed")
        return self.sound(body["text"])

    def voices(self, request: ReceivedRequest, query: list[tuple[str, str]]) -> Script:
        only(dict(query), [], ["page_size", "next_page_token", "search"])
        pages = {
            "": {"voices": [{"voice_id": "a1", "name": "Ann", "labels": {"gender": "female", "use_case": "news"}}]},
            "more": {"voices": [{"voice_id": "b2", "name": "Bob", "labels": None}]},
        }
        token = dict(query).get("next_page_token", "")
        more = {"has_more": token == "", "next_page_token": "more" if token == "" else None, "total_count": 2}
        return [answer(json.dumps({**pages[token], **more}).encode(), content_type="application/json")]

    def listen(self, request: ReceivedRequest, query: object) -> Script:
        form = form_of(request)
        only(
            form,
            ["model_id", "file"],
            ["language_code", "timestamps_granularity", "diarize", "num_speakers", "keyterms", "tag_audio_events"],
        )
        expect_recording(form["file"][0][2])
        self.bodies.append(form)
        spaced = {"text": " ", "start": 0.5, "end": 0.6, "type": "spacing", "speaker_id": "speaker_0", "logprob": 0}
        words = [
            {"text": "Hello", "start": 0.1, "end": 0.5, "type": "word", "speaker_id": "speaker_0", "logprob": -0.1},
            spaced,
            {"text": "there.", "start": 0.6, "end": 0.9, "type": "word", "speaker_id": "speaker_0", "logprob": -0.1},
            {"text": "(laughter)", "start": 1.0, "end": 1.2, "type": "audio_event", "logprob": 0},
            {"text": "Yes.", "start": 1.5, "end": 1.8, "type": "word", "speaker_id": "speaker_1", "logprob": -0.2},
        ]
        body = {
            "language_code": "eng",
            "language_probability": 0.98,
            "text": "Hello there. (laughter) Yes.",
            "words": words,
            "audio_duration_secs": 2.0,
        }
        return [answer(json.dumps(body).encode(), content_type="application/json")]


class FakeDeepgram(Fake):
    """POST /v1/speak, GET /v1/models, POST /v1/listen."""

    sound_type = "audio/l16;rate=24000;channels=1"

    def check_key(self, request: ReceivedRequest) -> None:
        expect(request.headers.get("authorization") == f"Token {self.key}", "invalid key", 401)

    def handler(self, method: str, path: str) -> Any:
        known: dict[tuple[str, str], Any] = {
            ("POST", "/v1/speak"): self.speech,
            ("GET", "/v1/models"): self.voices,
            ("POST", "/v1/listen"): self.listen,
        }
        return known.get((method, path))

    def error(self, status: int, message: str) -> bytes:
        body = {"err_code": "INVALID", "err_msg": message, "request_id": "8f7d"}
        return answer(json.dumps(body).encode(), status, content_type="application/json")

    def speech(self, request: ReceivedRequest, query: list[tuple[str, str]]) -> Script:
        body = self.json(request)
        only(body, ["text"], [])
        asked = dict(query)
        only(asked, ["model", "encoding", "sample_rate", "container"], ["speed", "bit_rate", "tag"])
        expect(asked["encoding"] == "linear16" and asked["container"] == "none", "bad format")
        expect(asked["sample_rate"] in ("8000", "16000", "24000", "32000", "48000"), "bad rate")
        expect(0.7 <= float(asked.get("speed", 1)) <= 1.5, "bad speed")
        expect(len(body["text"]) <= 2000, "text is too long", 413)
        expect(re.fullmatch(r"aura-\d-[a-z]+-[a-z]{2}", asked["model"]), "no such model")
        self.bodies.append(asked)
        return self.sound(body["text"])

    def voices(self, request: ReceivedRequest, query: object) -> Script:
        model = {"name": "thalia", "canonical_name": "aura-2-thalia-en", "languages": ["en", "en-US"], "uuid": "1"}
        body = {"stt": [{"name": "general", "canonical_name": "nova-3"}], "tts": [model]}
        return [answer(json.dumps(body).encode(), content_type="application/json")]

    def listen(self, request: ReceivedRequest, query: list[tuple[str, str]]) -> Script:
        known = ["language", "detect_language", "smart_format", "diarize_model", "keyterm", "punctuate", "utterances"]
        only(dict(query), ["model"], known)
        expect(request.headers.get("content-type", "").startswith("audio/"), "not audio", 415)
        expect_recording(request.body)
        self.bodies.append({"query": query})
        words = [
            {"word": "hello", "start": 0.1, "end": 0.5, "confidence": 0.9, "speaker": 0, "punctuated_word": "Hello"},
            {"word": "there", "start": 0.6, "end": 0.9, "confidence": 0.9, "speaker": 0, "punctuated_word": "there."},
            {"word": "yes", "start": 1.5, "end": 1.8, "confidence": 0.8, "speaker": 1, "punctuated_word": "Yes."},
        ]
        best = {"transcript": "Hello there. Yes.", "confidence": 0.9, "words": words}
        body = {
            "metadata": {"request_id": "1", "duration": 2.0, "channels": 1, "models": ["m"]},
            "results": {"channels": [{"alternatives": [best], "detected_language": "en"}]},
        }
        return [answer(json.dumps(body).encode(), content_type="application/json")]


class FakeCartesia(Fake):
    """POST /tts/bytes, GET /voices, POST /stt."""

    sound_type = "application/octet-stream"

    def handler(self, method: str, path: str) -> Any:
        known: dict[tuple[str, str], Any] = {
            ("POST", "/tts/bytes"): self.speech,
            ("GET", "/voices"): self.voices,
            ("POST", "/stt"): self.listen,
        }
        return known.get((method, path))

    def error(self, status: int, message: str) -> bytes:
        body = {"error_code": "invalid", "title": "Invalid", "message": message, "request_id": "r1"}
        return answer(json.dumps(body).encode(), status, content_type="application/json")

    def check_key(self, request: ReceivedRequest) -> None:
        super().check_key(request)
        expect(request.headers.get("cartesia-version") == "2026-08-14", "unknown version")

    def speech(self, request: ReceivedRequest, query: object) -> Script:
        body = self.json(request)
        only(
            body,
            ["model_id", "transcript", "voice", "output_format"],
            ["language", "locale", "generation_config", "normalization", "save"],
        )
        only(body["voice"], ["id"], [])
        expect(re.fullmatch(r"[0-9a-f-]{36}|voice-\d+", body["voice"]["id"]), "no such voice", 404)
        wanted = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
        expect(body["output_format"] == wanted, "bad format")
        config = body.get("generation_config", {})
        only(config, [], ["emotion", "speed", "volume"])
        expect(0.6 <= config.get("speed", 1) <= 1.5, "bad speed")
        return self.sound(body["transcript"])

    def voices(self, request: ReceivedRequest, query: list[tuple[str, str]]) -> Script:
        asked = dict(query)
        only(asked, ["limit"], ["starting_after", "q", "gender"])
        start = int(asked.get("starting_after", "voice-0").partition("-")[2])
        rows = [
            {"id": f"voice-{n}", "name": f"Voice {n}", "language": "en", "gender": None, "description": ""}
            for n in range(start + 1, min(start + 101, 121))
        ]
        return [answer(json.dumps({"data": rows}).encode(), content_type="application/json")]

    def listen(self, request: ReceivedRequest, query: object) -> Script:
        form = form_of(request)
        only(form, ["model", "file"], ["language", "timestamp_granularities[]"])
        expect_recording(form["file"][0][2])
        self.bodies.append(form)
        words = [{"word": "Hello", "start": 0.1, "end": 0.5}, {"word": "there.", "start": 0.6, "end": 0.9}]
        body = {"type": "transcript", "text": "Hello there.", "language": "en", "duration": 2.0, "words": words}
        return [answer(json.dumps(body).encode(), content_type="application/json")]


class FakeGemini(Fake):
    """POST /v1beta/models/NAME:streamGenerateContent."""

    def check_key(self, request: ReceivedRequest) -> None:
        expect(request.headers.get("x-goog-api-key") == self.key, "invalid key", 401)

    def handler(self, method: str, path: str) -> Any:
        return self.speech if method == "POST" and path.endswith(":streamGenerateContent") else None

    def error(self, status: int, message: str) -> bytes:
        body = {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}
        return answer(json.dumps(body).encode(), status, content_type="application/json")

    def speech(self, request: ReceivedRequest, query: list[tuple[str, str]]) -> Script:
        expect(dict(query) == {"alt": "sse"}, "bad query")
        body = self.json(request)
        only(body, ["contents", "generationConfig"], ["safetySettings", "systemInstruction"])
        only(body["generationConfig"], ["responseModalities", "speechConfig"], ["temperature", "seed"])
        expect(body["generationConfig"]["responseModalities"] == ["AUDIO"], "bad modalities")
        config = body["generationConfig"]["speechConfig"]
        only(config, ["voiceConfig"], ["languageCode"])
        only(config["voiceConfig"]["prebuiltVoiceConfig"], ["voiceName"], [])
        expect(config["voiceConfig"]["prebuiltVoiceConfig"]["voiceName"] in GEMINI_VOICES, "no such voice")
        (content,) = body["contents"]
        (part,) = content["parts"]
        only(part, ["text"], ["speechMetadata"])
        only(part.get("speechMetadata", {}), [], ["style", "speaker"])
        self.texts.append(part["text"])
        data = sound_of(part["text"])
        pieces = [data[start : start + 3_000] for start in range(0, len(data), 3_000)]
        lines = [f"data: {json.dumps(self._event(piece, piece is pieces[-1]))}\r\n\r\n".encode() for piece in pieces]
        return [stream_head(content_type="text/event-stream"), *map(chunk, lines), LAST_CHUNK]

    def _event(self, data: bytes, last: bool) -> dict[str, Any]:
        encoded = base64.b64encode(data).decode()
        inline = {"mimeType": "audio/L16;codec=pcm;rate=24000", "data": encoded}
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"inlineData": inline}]}, "index": 0}
        counts = {"promptTokenCount": 14, "candidatesTokenCount": 101, "totalTokenCount": 115}
        if last:
            candidate["finishReason"] = "STOP"
        return {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "m", "responseId": "r"}


class FakeAssemblyAI(Fake):
    """POST /v2/upload, POST /v2/transcript, GET /v2/transcript/ID."""

    states: Sequence[str] = ("queued", "processing", "completed")

    def check_key(self, request: ReceivedRequest) -> None:
        expect(request.headers.get("authorization") == self.key, "invalid key", 401)
        self.asked = getattr(self, "asked", 0)

    def handler(self, method: str, path: str) -> Any:
        known: dict[tuple[str, str], Any] = {
            ("POST", "/v2/upload"): self.upload,
            ("POST", "/v2/transcript"): self.start,
            ("GET", "/v2/transcript/job-1"): self.state,
        }
        return known.get((method, path))

    def error(self, status: int, message: str) -> bytes:
        return answer(json.dumps({"error": message}).encode(), status, content_type="application/json")

    def upload(self, request: ReceivedRequest, query: object) -> Script:
        expect(request.headers.get("content-type") == "application/octet-stream", "not bytes", 415)
        if not request.body.startswith(b"RIFF"):
            self.states = ("queued", "error")
        body = {"upload_url": f"https://cdn.assemblyai.example/{len(request.body)}"}
        return [answer(json.dumps(body).encode(), content_type="application/json")]

    def start(self, request: ReceivedRequest, query: object) -> Script:
        known = ["language_code", "language_detection", "speech_models", "keyterms_prompt", "speaker_labels"]
        body = self.json(request)
        only(body, ["audio_url"], [*known, "speakers_expected", "punctuate", "format_text"])
        expect(not ("language_code" in body and body.get("language_detection")), "not both")
        return [answer(json.dumps({"id": "job-1", "status": "queued"}).encode(), content_type="application/json")]

    def state(self, request: ReceivedRequest, query: object) -> Script:
        status = self.states[min(self.asked, len(self.states) - 1)]
        self.asked += 1
        words = [
            {"text": "Hello", "start": 100, "end": 500, "confidence": 0.9, "speaker": "A"},
            {"text": "there.", "start": 600, "end": 900, "confidence": 0.9, "speaker": "A"},
            {"text": "Yes.", "start": 1500, "end": 1800, "confidence": 0.9, "speaker": "B"},
        ]
        done = {
            "text": "Hello there. Yes.",
            "words": words,
            "language_code": "en_us",
            "audio_duration": 2,
            "speech_model_used": "universal-3-pro",
        }
        failed = {"error": "the file has no audio"}
        body = {"id": "job-1", "status": status}
        body |= done if status == "completed" else failed if status == "error" else {}
        return [answer(json.dumps(body).encode(), content_type="application/json")]


FAKES: dict[str, type[Fake]] = {
    "openai": FakeOpenAI,
    "elevenlabs": FakeElevenLabs,
    "deepgram": FakeDeepgram,
    "cartesia": FakeCartesia,
    "gemini": FakeGemini,
    "assemblyai": FakeAssemblyAI,
}
BASES = {"openai": "/v1", "gemini": "/v1beta"}
"""Paths of base URLs."""
