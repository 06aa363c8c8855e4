"""A strict fake of `POST /audio/transcriptions` at OpenAI, Groq and Mistral: it refuses what they refuse, and keeps the
samples that it gets.

What each model refuses: https://platform.openai.com/docs/api-reference/audio/createTranscription, the guide
https://developers.openai.com/api/docs/guides/speech-to-text, https://console.groq.com/docs/speech-to-text and
https://docs.mistral.ai/api/endpoint/audio/transcriptions.
"""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import av
import numpy as np
from groq.types.audio.transcription_create_params import TranscriptionCreateParams as GroqParams
from jsonschema import Draft202012Validator
from mistralai.client.models import AudioTranscriptionRequest
from openai.types.audio.transcription_create_params import TranscriptionCreateParamsNonStreaming

MAX_BYTES = 25_000_000


@dataclass(frozen=True)
class Model:
    """What a model takes. `formats` are those of responses, `seconds` the longest recording."""

    vendor: str
    formats: tuple[str, ...]
    prompt: bool = True
    keywords: bool = False
    logprobs: bool = False
    granularities: tuple[str, ...] = ()
    seconds: float | None = None


MODELS = {
    "whisper-1": Model("openai", ("json", "text", "srt", "verbose_json", "vtt"), granularities=("word", "segment")),
    "gpt-4o-transcribe": Model("openai", ("json",), logprobs=True, seconds=1400),
    "gpt-4o-mini-transcribe": Model("openai", ("json",), logprobs=True, seconds=1400),
    "gpt-4o-transcribe-diarize": Model("openai", ("json", "text", "diarized_json"), prompt=False, seconds=1400),
    "gpt-transcribe": Model("openai", ("json",), keywords=True),
    "whisper-large-v3": Model("groq", ("json", "text", "verbose_json"), granularities=("word", "segment")),
    "voxtral-mini-2602": Model("mistral", (), prompt=False, granularities=("segment", "word"), seconds=10_800),
}


@dataclass(frozen=True)
class Heard:
    """A request: the samples of the recording, at `rate` a second, and the other fields; lists have no "[]"."""

    samples: Any
    rate: int
    fields: Mapping[str, Any]
    media_type: str
    name: str
    headers: Mapping[str, str]

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    @property
    def voices(self) -> list[Any]:
        """The samples of known speakers, in the order of their names."""
        return [_clip(each)[0] for each in self.fields.get("known_speaker_references", ())]


@dataclass
class Said:
    """What a listener returns: a text, or segments of start, end, text and speaker, with words."""

    text: str = ""
    segments: Sequence[tuple[float, float, str, str]] = ()
    language: str = "english"
    words: Sequence[tuple[float, float, str]] = field(default_factory=list[tuple[float, float, str]])


Listener = Callable[[Heard], Said]


class TranscriptionServer(ThreadingHTTPServer):
    """Answers with what `listener` hears. `heard` are the accepted requests, in order; `failures` are statuses that the
    next requests get instead; `wait` is called before each answer.
    """

    daemon_threads = True

    def __init__(self, listener: Listener) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.listener = listener
        self.heard: list[Heard] = []
        self.refused: list[str] = []
        self.failures: list[tuple[int, Any]] = []
        self.wait: Callable[[], object] = lambda: None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class RefusalError(Exception):
    """A request that the vendor refuses."""


class _Handler(BaseHTTPRequestHandler):
    server: TranscriptionServer  # type: ignore[assignment]
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.wait()
        if self.server.failures:
            status, failure = self.server.failures.pop(0)
            self._send(status, failure)
            return
        try:
            if self.path != "/v1/audio/transcriptions":
                raise RefusalError(f"Unknown request URL: POST {self.path}")
            if len(body) > MAX_BYTES + 100_000:
                self.server.refused.append("too large")
                self._send(413, {"error": {"message": "Maximum content size limit exceeded", "type": "server_error"}})
                return
            heard = _heard(self.headers["content-type"], body, {k.lower(): v for k, v in self.headers.items()})
            _check(heard)
        except RefusalError as refusal:
            self.server.refused.append(str(refusal))
            self._send(400, {"error": {"message": str(refusal), "type": "invalid_request_error", "code": None}})
            return
        self.server.heard.append(heard)
        said = self.server.listener(heard)
        self._send(200, answer_of(heard, said))

    def _send(self, status: int, data: Any) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def form_of(content_type: str, body: bytes) -> tuple[dict[str, Any], list[tuple[str, str, bytes]]]:
    """The fields of a form, and its files: name, media type and content. Parsed by the standard library's e-mail."""
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    fields: dict[str, Any] = {}
    files: list[tuple[str, str, bytes]] = []
    for part in message.iter_parts():
        name = str(part.get_param("name", header="content-disposition"))
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        if part.get_filename() is not None:
            assert name == "file"
            files.append((str(part.get_filename()), part.get_content_type(), content))
        elif name.endswith("[]") or name in ("timestamp_granularities", "context_bias"):
            fields.setdefault(name.removesuffix("[]"), []).append(content.decode())
        else:
            assert name not in fields, f"the field {name} occurs twice"
            fields[name] = content.decode()
    return fields, files


def _heard(content_type: str, body: bytes, headers: Mapping[str, str]) -> Heard:
    fields, files = form_of(content_type, body)
    if len(files) != 1:
        raise RefusalError("you must provide a file")
    name, media_type, content = files[0]
    if len(content) > MAX_BYTES:
        raise RefusalError("Maximum content size limit exceeded")
    if name.rpartition(".")[2] not in ("flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm"):
        raise RefusalError("Invalid file format.")
    samples, rate = decoded(content)
    return Heard(samples, rate, fields, media_type, name, headers)


def decoded(content: bytes) -> tuple[Any, int]:
    """The samples of 16 bits of a recording with one channel, and how many a second."""
    blocks: list[Any] = []
    with av.open(io.BytesIO(content)) as container:
        stream = container.streams.audio[0]
        assert stream.codec_context.channels == 1
        for frame in container.decode(stream):
            block = frame.to_ndarray().reshape(-1)
            blocks.append(block if block.dtype == np.int16 else (block * 32768).round().astype(np.int16))
        rate = stream.codec_context.sample_rate
    return np.concatenate(blocks), rate


def _check(heard: Heard) -> None:
    """Refuses what the model refuses, as its vendor words it; and fields that the vendor's own client does not have."""
    fields = dict(heard.fields)
    model = MODELS.get(fields.get("model", ""))
    if model is None:
        raise RefusalError(f"The model `{fields.get('model')}` does not exist")
    if model.vendor == "mistral":
        unknown = fields.keys() - set(AudioTranscriptionRequest.model_fields)
        assert not unknown, f"fields that Mistral's client does not have: {unknown}"
        AudioTranscriptionRequest.model_validate({**fields, "diarize": fields.get("diarize") == "true"})
        if "language" in fields and "timestamp_granularities" in fields:
            raise RefusalError("language and timestamp_granularities cannot be set both")
        if fields.get("diarize") == "true" and "segment" not in fields.get("timestamp_granularities", ()):
            raise RefusalError("diarize needs timestamp_granularities")
        if any("," in each or " " in each for each in fields.get("context_bias", ())):
            raise RefusalError("context_bias: String should match pattern '^[^,\\s]+$'")
        if len(fields.get("context_bias", ())) > 100:
            raise RefusalError("context_bias: List should have at most 100 items")
    else:
        numbers = {name: float(fields[name]) for name in ("temperature",) if name in fields}
        params = TranscriptionCreateParamsNonStreaming if model.vendor == "openai" else GroqParams
        unknown = fields.keys() - set(params.__annotations__)
        assert not unknown, f"fields that the vendor's client does not have: {unknown}"
        if model.vendor == "openai":
            _accepts("CreateTranscriptionRequest", {**fields, **numbers, "file": "sound"})
        _check_formats(fields, model, heard.seconds)
    if model.seconds is not None and heard.seconds > model.seconds:
        raise RefusalError(
            f"audio duration {heard.seconds} seconds is longer than {model.seconds:g} seconds which is the maximum "
            "for this model"
        )


def _check_formats(fields: Mapping[str, Any], model: Model, seconds: float) -> None:
    kind = fields.get("response_format", "json")
    if kind not in model.formats:
        raise RefusalError(f"response_format '{kind}' is not compatible with model '{fields['model']}'.")
    for each in fields.get("timestamp_granularities", ()):
        if kind != "verbose_json" or each not in model.granularities:
            raise RefusalError("timestamp_granularities is only supported with response_format 'verbose_json'")
    if "include" in fields and not model.logprobs:
        raise RefusalError("logprobs is not supported by this model")
    if "prompt" in fields and not model.prompt:
        raise RefusalError("Prompt is not supported for diarization models")
    if "keywords" in fields and not model.keywords:
        raise RefusalError("keywords is not supported by this model")
    if kind == "diarized_json" and seconds > 30 and "chunking_strategy" not in fields:
        raise RefusalError("chunking_strategy is required for diarization models")
    names, samples = fields.get("known_speaker_names", []), fields.get("known_speaker_references", [])
    if len(names) != len(samples) or len(names) > 4:
        raise RefusalError("known_speaker_names and known_speaker_references must have the same length, at most 4")
    for each in samples:
        clip, rate = _clip(each)
        if not 2 <= len(clip) / rate <= 10:
            raise RefusalError("known_speaker_references must be between 2 and 10 seconds")


def _clip(data_url: str) -> tuple[Any, int]:
    return decoded(base64.b64decode(data_url.partition(";base64,")[2]))


def answer_of(heard: Heard, said: Said) -> dict[str, Any]:
    """The response to a request, in the form that it asks for, validated by the vendor's own types."""
    model = MODELS[heard.fields["model"]]
    text = said.text or " ".join(each[2] for each in said.segments)
    if model.vendor == "mistral":
        return _mistral(heard, said, text)
    kind = heard.fields.get("response_format", "json")
    data: dict[str, Any] = {"text": text}
    if kind == "verbose_json":
        data |= {"task": "transcribe", "language": said.language, "duration": heard.seconds}
        data["segments"] = [_segment(index, each) for index, each in enumerate(said.segments)]
        if "word" in heard.fields.get("timestamp_granularities", ()):
            data["words"] = [{"word": word, "start": start, "end": end} for start, end, word in said.words]
    elif kind == "diarized_json":
        data |= {"task": "transcribe", "duration": heard.seconds}
        data["segments"] = [
            {"type": "transcript.text.segment", "id": f"seg_{i}", "start": s, "end": e, "text": t, "speaker": who}
            for i, (s, e, t, who) in enumerate(said.segments)
        ]
    if model.logprobs:
        tokens = round(10 * heard.seconds)
        data["usage"] = {
            "type": "tokens",
            "input_tokens": tokens,
            "input_token_details": {"text_tokens": 0, "audio_tokens": tokens},
            "output_tokens": 2 * len(text.split()),
            "total_tokens": tokens + 2 * len(text.split()),
        }
        if "logprobs" in heard.fields.get("include", ()):
            data["logprobs"] = [
                {"token": each, "logprob": -0.25, "bytes": list(each.encode())} for each in text.split()
            ]
    elif model.vendor == "openai":
        data["usage"] = {"type": "duration", "seconds": round(heard.seconds)}
    if model.keywords:
        data["languages"] = [{"code": "en"}]
    _validate(kind, data)
    return data


def _segment(index: int, each: tuple[float, float, str, str]) -> dict[str, Any]:
    start, end, text, _ = each
    numbers = {"temperature": 0.0, "avg_logprob": -0.2, "compression_ratio": 1.2, "no_speech_prob": 0.01}
    return {"id": index, "seek": 0, "start": start, "end": end, "text": f" {text}", "tokens": [1], **numbers}


def _mistral(heard: Heard, said: Said, text: str) -> dict[str, Any]:
    from mistralai.client.models import TranscriptionResponse

    tells = heard.fields.get("diarize") == "true"
    has_times = "timestamp_granularities" in heard.fields
    segments = [
        {
            "type": "transcription_segment",
            "text": text,
            "start": start,
            "end": end,
            **({"speaker_id": who} if tells else {}),
        }
        for start, end, text, who in said.segments
    ]
    usage = {"prompt_tokens": 5, "completion_tokens": len(text.split()), "total_tokens": 5 + len(text.split())}
    usage["prompt_audio_seconds"] = round(heard.seconds)
    data = {"model": heard.fields["model"], "text": text, "language": None, "usage": usage}
    data["segments"] = segments if has_times else []
    TranscriptionResponse.model_validate(data)
    return data


def _validate(kind: str, data: Any) -> None:
    from openai.types.audio import Transcription, TranscriptionDiarized, TranscriptionVerbose

    types = {"verbose_json": TranscriptionVerbose, "diarized_json": TranscriptionDiarized}
    types.get(kind, Transcription).model_validate(data)
    schema = {"json": "Json", "verbose_json": "VerboseJson", "diarized_json": "DiarizedJson"}[kind]
    _accepts(f"CreateTranscriptionResponse{schema}", data)


def _accepts(name: str, data: Any) -> None:
    errors = list(_validator(name).iter_errors(data))
    assert not errors, errors[0].message


@cache
def _validator(name: str) -> Any:
    """The validator of a type of OpenAI's published description (openai/openai-openapi, MIT, 2026-08-21)."""
    return Draft202012Validator({**_SCHEMAS, "$ref": f"#/components/schemas/{name}"})


_SCHEMAS = json.loads((Path(__file__).parent / "transcription_schemas.json").read_text())


@contextmanager
def transcription_server(listener: Listener) -> Iterator[TranscriptionServer]:
    """Runs a server in a thread."""
    server = TranscriptionServer(listener)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
