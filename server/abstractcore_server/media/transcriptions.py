"""`POST /v1/audio/transcriptions` (https://platform.openai.com/docs/api-reference/audio/createTranscription)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError, UnsupportedOptionError
from abstractcore.schema import CallWarning, Transcript, TranscriptResult, TranscriptSegment, WireResponse

from ..context import Reply, RequestContext
from ..forms import MultipartForm, Upload
from ..models import BackendModel
from ..requests import ClientConnection
from .backends import BegunMedia, MediaRequest, headers_of, run_backend, timeout_of

_JSON = "application/json"
_FIELDS = frozenset(
    {"model", "language", "prompt", "response_format", "timestamp_granularities", "stream", "temperature"}
)
_FORMATS = ("json", "text", "srt", "verbose_json", "vtt", "diarized_json")


async def transcribe(context: RequestContext) -> Reply:
    """Transcribes a recording."""
    form = await context.form()
    client_request = _TranscriptionRequest.of(form)
    backend_model = context.state.backend_models.listener(client_request.model)
    texts = {} if client_request.prompt is None else {"prompt": client_request.prompt}
    content = bytes(client_request.upload.content)
    request = MediaRequest(backend_model, "transcribe", texts, [content])
    result = await run_backend(
        context, request, lambda begun: _heard(context, backend_model, client_request, content, begun)
    )
    left_out = [
        CallWarning("field_left_out", name, "no transcriber has such a field") for name in client_request.left_out
    ]
    if client_request.is_stream:
        return _TranscriptEvents(context, result, left_out)
    content_type, body = _WRITERS[client_request.format](result.transcript, client_request)
    return WireResponse(200, headers_of(context, content_type, result, left_out), body)


async def translate(context: RequestContext) -> Reply:
    """Refuses the request: no transcriber translates."""
    raise UnsupportedOptionError(
        "no transcriber of this server translates: transcribe the recording, and let a model translate the text"
    )


@dataclass(frozen=True, slots=True)
class _TranscriptionRequest:
    """A request for a transcript."""

    model: str
    upload: Upload
    format: str
    language: str | None
    prompt: str | None
    words: bool
    is_stream: bool
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, form: MultipartForm) -> _TranscriptionRequest:
        model = form.text("model")
        if not model:
            raise InvalidInputError("`model` is required", path="model")
        shape = form.text("response_format") or "json"
        if shape not in _FORMATS:
            raise InvalidInputError(f"expected one of {', '.join(_FORMATS)}", path="response_format")
        granularities = form.texts("timestamp_granularities")
        if not {*granularities} <= {"word", "segment"}:
            raise InvalidInputError("expected word or segment", path="timestamp_granularities")
        names = {name.removesuffix("[]") for name in form.fields}
        given = {"temperature"} & names if form.text("temperature") not in (None, "0", "0.0") else set[str]()
        return cls(
            model,
            form.upload("file"),
            shape,
            form.text("language") or None,
            form.text("prompt") or None,
            "word" in granularities,
            form.text("stream") == "true",
            tuple(sorted((names - _FIELDS) | given)),
        )


async def _heard(
    context: RequestContext,
    backend_model: BackendModel,
    client_request: _TranscriptionRequest,
    content: bytes,
    begun: BegunMedia,
) -> TranscriptResult:
    terms = tuple(each.strip() for each in begun.texts.get("prompt", "").split(",") if each.strip())
    options: dict[str, Any] = {
        "language": client_request.language,
        "terms": terms or None,
        "model": backend_model.model,
    }
    speakers = True if client_request.format == "diarized_json" else None
    return await backend_model.llm.audio.atranscribe(
        content,
        words=client_request.words or None,
        speakers=speakers,
        timeout=timeout_of(context),
        tags=begun.tags,
        **options,
    )


class _TranscriptEvents:
    """A transcript as events, a sentence each: transcribers hear a recording as a whole."""

    def __init__(self, context: RequestContext, result: TranscriptResult, warnings: Sequence[CallWarning]) -> None:
        self._context = context
        self._result = result
        self._warnings = warnings

    async def send_to(self, connection: ClientConnection) -> None:
        """Sends the events."""
        kind = "text/event-stream; charset=utf-8"
        connection.stream_head = headers_of(self._context, kind, self._result, self._warnings)
        transcript = self._result.transcript
        for index, segment in enumerate(transcript.segments):
            delta = f" {segment.text}" if index else segment.text
            await connection.write(_event({"type": "transcript.text.delta", "delta": delta}))
        done = {"type": "transcript.text.done", "text": transcript.text, "usage": _usage(transcript)}
        await connection.write(_event(done) + b"data: [DONE]\n\n", more=False)


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + to_json(data) + b"\n\n"


def _usage(transcript: Transcript) -> dict[str, Any] | None:
    if transcript.seconds is None:
        return None
    return {"type": "duration", "seconds": transcript.seconds}


def _json(transcript: Transcript, client_request: _TranscriptionRequest) -> tuple[str, bytes]:
    return _JSON, to_json({"text": transcript.text, "usage": _usage(transcript)})


def _verbose(transcript: Transcript, client_request: _TranscriptionRequest) -> tuple[str, bytes]:
    words = [
        {"word": word.text, "start": word.start, "end": word.end}
        for segment in transcript.segments
        for word in segment.words
    ]
    data = {
        "task": "transcribe",
        "language": transcript.language,
        "duration": transcript.seconds,
        "text": transcript.text,
        "segments": [_segment(index, segment) for index, segment in enumerate(transcript.segments)],
        **({"words": words} if client_request.words else {}),
        "usage": _usage(transcript),
    }
    return _JSON, to_json(data)


def _segment(index: int, segment: TranscriptSegment) -> dict[str, Any]:
    return {
        "id": index,
        "seek": 0,
        "start": segment.start or 0.0,
        "end": segment.end or segment.start or 0.0,
        "text": segment.text,
        "tokens": [],
        "temperature": 0.0,
        "avg_logprob": segment.log_probability or 0.0,
        "compression_ratio": 1.0,
        "no_speech_prob": segment.no_speech or 0.0,
    }


def _diarized_json(transcript: Transcript, client_request: _TranscriptionRequest) -> tuple[str, bytes]:
    segments = [
        {
            "id": f"seg_{index}",
            "type": "transcript.text.segment",
            "speaker": segment.speaker or "",
            "start": segment.start or 0.0,
            "end": segment.end or segment.start or 0.0,
            "text": segment.text,
        }
        for index, segment in enumerate(transcript.segments)
    ]
    data = {
        "task": "transcribe",
        "duration": transcript.seconds or 0.0,
        "text": transcript.text,
        "segments": segments,
        "usage": _usage(transcript),
    }
    return _JSON, to_json(data)


_TEXT = "text/plain; charset=utf-8"
_WRITERS: dict[str, Callable[[Transcript, _TranscriptionRequest], tuple[str, bytes]]] = {
    "json": _json,
    "verbose_json": _verbose,
    "diarized_json": _diarized_json,
    "text": lambda transcript, client_request: (_TEXT, transcript.text.encode() + b"\n"),
    "srt": lambda transcript, client_request: (_TEXT, transcript.as_srt().encode()),
    "vtt": lambda transcript, client_request: ("text/vtt; charset=utf-8", transcript.as_vtt().encode()),
}
