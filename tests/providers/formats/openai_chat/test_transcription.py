"""`transcribe`: requests as the vendors' own clients make them, every form of responses, and what it costs."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import httpx
import httpx2
import pytest
from groq import Groq
from mistralai.client import Mistral
from openai import OpenAI

from abstractcore import LLM, BadRequestError, InvalidInputError, RateLimitError, ServerError, Services, create_llm
from abstractcore.errors import UnsupportedContentError, UnsupportedOptionError
from abstractcore.ports import CallContext, CallNext, Transcription, TranscriptionInput, VoiceSample
from abstractcore.schema import AudioPart, Blob, Message, ModelCall, WireResponse, digest
from abstractcore.testing import CallStyle
from abstractcore_providers.formats.openai_chat.dialect import OPENAI
from abstractcore_providers.formats.openai_chat.transcription import transcription
from tests.providers.strict_fakes.transcriptions import Said, TranscriptionServer, form_of, transcription_server

TEXT = "Good morning. The budget report."
SAID = Said(
    segments=[(0.0, 1.0, "Good morning.", "A"), (1.5, 2.5, "The budget report.", "B")],
    words=[(0.0, 0.5, "Good"), (0.5, 1.0, "morning"), (1.5, 1.7, "The"), (1.7, 2.0, "budget"), (2.0, 2.5, "report")],
)
VENDORS = {
    "whisper-1": "openai",
    "gpt-4o-transcribe": "openai",
    "gpt-4o-mini-transcribe": "openai",
    "gpt-4o-transcribe-diarize": "openai",
    "gpt-transcribe": "openai",
    "whisper-large-v3": "groq",
    "voxtral-mini-2602": "mistral",
}
Make = Callable[..., LLM]
ALL: dict[str, Any] = {"terms": ["Kubernetes", "Ada Lovelace"], "words": True, "speakers": True}


def recording(seconds: float = 2.5, rate: int = 16_000) -> AudioPart:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(bytes(range(256)) * int(seconds * rate * 2 // 256) + bytes(int(seconds * rate * 2) % 256))
    return AudioPart(Blob.from_bytes(out.getvalue(), "audio/wav", name="call.wav"))


@pytest.fixture
def server() -> Iterator[TranscriptionServer]:
    with transcription_server(lambda heard: SAID) as server:
        yield server


@pytest.fixture
def make(server: TranscriptionServer, services: Services) -> Make:
    def make(model: str, **options: Any) -> LLM:
        given = {"base_url": server.url, "api_key": "key-1", "max_retries": 0, **options}
        return create_llm(VENDORS[model], model=model, services=services, **given)

    return make


def do(call_style: CallStyle, llm: LLM, arguments: Any, **options: Any) -> Any:
    options = {"media": [recording()], **options}
    if call_style.name == "sync":
        return llm.operate("transcribe", arguments=arguments, **options)
    return call_style.run(llm.aoperate("transcribe", arguments=arguments, **options))


@pytest.mark.parametrize("model", VENDORS)
@pytest.mark.parametrize("arguments", [{}, {"language": "en"}, ALL, {**ALL, "language": "en"}], ids=str)
def test_every_vendor_accepts_what_is_sent_for_its_models(
    call_style: CallStyle, server: TranscriptionServer, make: Make, model: str, arguments: Any
):
    result = do(call_style, make(model), arguments)
    (heard,) = server.heard
    assert heard.fields["model"] == model
    assert (heard.seconds, heard.media_type, heard.name) == (2.5, "audio/wav", "call.wav")
    assert isinstance(result.value, Transcription)
    assert result.value.transcript.text == TEXT


FIELDS: dict[str, dict[str, Any]] = {
    "whisper-1": {
        "response_format": "verbose_json",
        "timestamp_granularities": ["segment", "word"],
        "prompt": "Kubernetes, Ada Lovelace",
    },
    "gpt-4o-transcribe": {"response_format": "json", "include": ["logprobs"], "prompt": "Kubernetes, Ada Lovelace"},
    "gpt-4o-mini-transcribe": {
        "response_format": "json",
        "include": ["logprobs"],
        "prompt": "Kubernetes, Ada Lovelace",
    },
    "gpt-4o-transcribe-diarize": {"response_format": "diarized_json", "chunking_strategy": "auto"},
    "gpt-transcribe": {"response_format": "json", "keywords": ["Kubernetes", "Ada Lovelace"]},
    "whisper-large-v3": {
        "response_format": "verbose_json",
        "timestamp_granularities": ["segment", "word"],
        "prompt": "Kubernetes, Ada Lovelace",
    },
    "voxtral-mini-2602": {
        "timestamp_granularities": ["segment"],
        "context_bias": ["Kubernetes", "Ada_Lovelace"],
        "diarize": "true",
    },
}
LEFT_OUT = {
    "whisper-1": {"arguments.speakers"},
    "gpt-4o-transcribe": {"arguments.speakers", "arguments.words"},
    "gpt-4o-mini-transcribe": {"arguments.speakers", "arguments.words"},
    "gpt-4o-transcribe-diarize": {"arguments.terms", "arguments.words"},
    "gpt-transcribe": {"arguments.speakers", "arguments.words"},
    "whisper-large-v3": {"arguments.speakers"},
    "voxtral-mini-2602": {"arguments.words", "arguments.language"},
}


@pytest.mark.parametrize("model", VENDORS)
def test_what_a_model_can_be_asked_for_is_sent_and_the_rest_is_a_warning(
    server: TranscriptionServer, make: Make, model: str
):
    result = make(model).operate("transcribe", media=[recording()], arguments={**ALL, "language": "en"})
    fields = {**FIELDS[model], "model": model}
    if model != "voxtral-mini-2602":
        fields["language"] = "en"
    assert dict(server.heard[0].fields) == fields
    assert {warning.path for warning in result.warnings} == LEFT_OUT[model]


def test_mistral_gets_the_language_instead_of_times(server: TranscriptionServer, make: Make):
    result = make("voxtral-mini-2602").operate("transcribe", media=[recording()], arguments={"language": "fr"})
    assert dict(server.heard[0].fields) == {"model": "voxtral-mini-2602", "language": "fr"}
    assert [warning.code for warning in result.warnings] == ["times_left_out"]
    assert [each.start for each in result.value.transcript.segments] == [None]


class Sent:
    """A transport of one HTTP library that keeps the form of a client's request, and answers with `body`."""

    def __init__(self, library: Any, body: Any) -> None:
        self._library, self._body = library, body
        self.client = library.Client(transport=library.MockTransport(self._keep))

    def _keep(self, request: Any) -> Any:
        self.path = request.url.path
        self.fields, self.files = form_of(request.headers["content-type"], request.read())
        return self._library.Response(200, json=self._body)


def test_requests_are_those_of_the_vendors_own_clients(server: TranscriptionServer, make: Make):
    sound = recording().blob.read()
    arguments = {"terms": ["Ada", "Kubernetes"], "words": True}
    common: dict[str, Any] = {"file": ("call.wav", sound, "audio/wav"), "prompt": "Ada, Kubernetes"}
    common |= {"response_format": "verbose_json", "timestamp_granularities": ["segment", "word"]}

    make("whisper-1").operate("transcribe", media=[recording()], arguments=arguments)
    sent = Sent(httpx2, {"text": "hi"})
    OpenAI(api_key="k", http_client=sent.client).audio.transcriptions.create(model="whisper-1", **common)
    assert (sent.path, sent.fields) == ("/v1/audio/transcriptions", server.heard[-1].fields)
    assert sent.files == [("call.wav", "audio/wav", sound)]

    make("whisper-large-v3").operate("transcribe", media=[recording()], arguments=arguments)
    sent = Sent(httpx, {"text": "hi"})
    Groq(api_key="k", http_client=sent.client).audio.transcriptions.create(model="whisper-large-v3", **common)
    assert (sent.path, sent.fields) == ("/openai/v1/audio/transcriptions", server.heard[-1].fields)

    make("voxtral-mini-2602").operate("transcribe", media=[recording()], arguments={**arguments, "speakers": True})
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    sent = Sent(httpx, {"model": "m", "text": "hi", "language": None, "usage": usage})
    Mistral(api_key="k", client=sent.client).audio.transcriptions.complete(
        model="voxtral-mini-2602",
        file={"content": sound, "file_name": "call.wav"},
        diarize=True,
        context_bias=["Ada", "Kubernetes"],
        timestamp_granularities=["segment"],
    )
    assert sent.fields.pop("stream") == "false"
    assert (sent.path, sent.fields) == ("/v1/audio/transcriptions", server.heard[-1].fields)


def test_voices_of_known_speakers_are_sent_to_models_that_take_them(server: TranscriptionServer, make: Make):
    voices = [VoiceSample(f"Speaker {number}", recording(3.0)) for number in range(1, 6)]
    arguments = {"speakers": True, "voices": voices}
    make("gpt-4o-transcribe-diarize").operate("transcribe", media=[recording()], arguments=arguments)
    make("whisper-1").operate("transcribe", media=[recording()], arguments={"voices": voices})
    assert server.heard[0].fields["known_speaker_names"] == ["Speaker 1", "Speaker 2", "Speaker 3", "Speaker 4"]
    assert "known_speaker_names" not in server.heard[1].fields


def test_segments_have_times_words_and_measures(make: Make):
    transcript = (
        make("whisper-1").operate("transcribe", media=[recording()], arguments={"words": True}).value.transcript
    )
    first, second = transcript.segments
    assert (first.text, first.start, first.end, first.log_probability, first.no_speech) == (
        "Good morning.",
        0.0,
        1.0,
        -0.2,
        0.01,
    )
    assert [(word.text, word.start) for word in second.words] == [("The", 1.5), ("budget", 1.7), ("report", 2.0)]
    assert (transcript.language, transcript.seconds, transcript.speakers) == ("en", 2.5, ())


def test_speakers_are_read_from_both_forms(make: Make):
    for model in ("gpt-4o-transcribe-diarize", "voxtral-mini-2602"):
        found = make(model).operate("transcribe", media=[recording()], arguments={"speakers": True}).value.transcript
        assert [(each.speaker, each.start) for each in found.segments] == [("A", 0.0), ("B", 1.5)]


def test_text_without_times_has_the_mean_probability_of_its_tokens(make: Make):
    (segment,) = make("gpt-4o-mini-transcribe").operate("transcribe", media=[recording()]).value.transcript.segments
    assert (segment.text, segment.start, segment.log_probability) == (TEXT, None, -0.25)


def test_nothing_said_is_a_transcript_without_segments(server: TranscriptionServer, make: Make):
    server.listener = lambda heard: Said()
    for model in VENDORS:
        assert make(model).operate("transcribe", media=[recording()]).value.transcript.segments == ()


PRICES = {"whisper-1": "0.36", "gpt-transcribe": "0.27", "voxtral-mini-2602": "0.18"}
"""Dollars an hour."""


@pytest.mark.parametrize("model", PRICES)
def test_seconds_are_charged_as_reported(make: Make, model: str):
    result = make(model).operate("transcribe", media=[recording(61.0)])
    assert result.usage.billing.counts == {"audio_second": 61}
    assert result.cost == (Decimal(PRICES[model]) * 61 / 3600).quantize(Decimal("1E-12"))
    assert result.cost_source == "computed"


def test_seconds_of_a_response_without_usage_are_those_of_the_recording(make: Make):
    result = make("whisper-large-v3").operate("transcribe", media=[recording(2.5)])
    assert result.usage.billing.counts == {"audio_second": 3}
    assert result.cost == (Decimal("0.111") * 10 / 3600).quantize(Decimal("1E-12"))


def test_tokens_are_charged_with_the_price_of_audio(services: Services, make: Make):
    records: list[Any] = []
    with services.records.subscribe(records.append):
        result = make("gpt-4o-mini-transcribe").operate("transcribe", media=[recording(10.0)])
    assert (result.usage.input, result.usage.input_audio, result.usage.output) == (100, 100, 10)
    assert result.cost == (100 * 3 + 10 * 5) / Decimal(1_000_000)
    (record,) = records
    assert (record.operation, record.cost, record.usage) == ("transcribe", result.cost, result.usage)


def test_recordings_beyond_the_limits_of_the_model_are_refused_before_sending(server: TranscriptionServer, make: Make):
    long, large = recording(1401.0, rate=8_000), recording(782.0)
    for model, media, why in (("gpt-4o-transcribe", long, "1,401 seconds"), ("whisper-1", large, "25,000,000")):
        with pytest.raises(UnsupportedContentError, match=why):
            make(model).operate("transcribe", media=[media])
    assert server.heard == server.refused == []


def test_call_without_a_recording_is_refused(make: Make):
    for given in ({"prompt": "hi"}, {"media": [recording(), recording(1.0)]}):
        with pytest.raises(UnsupportedContentError, match="of one recording"):
            make("whisper-1").operate("transcribe", **given)


def test_text_beside_the_recording_is_left_out_with_a_warning(server: TranscriptionServer, make: Make):
    result = make("whisper-1").operate("transcribe", "Summarise it.", media=[recording()])
    assert "part_left_out" in {warning.code for warning in result.warnings}
    assert "prompt" not in server.heard[0].fields


@pytest.mark.parametrize(
    ("arguments", "path"), [({"language": 1}, "language"), ({"terms": "Ada"}, "terms"), ({"terms": [1]}, "terms")]
)
def test_argument_of_another_type_is_refused(make: Make, arguments: Any, path: str):
    with pytest.raises(InvalidInputError) as error:
        make("whisper-1").operate("transcribe", media=[recording()], arguments=arguments)
    assert error.value.path == f"arguments.{path}"


def test_options_of_the_provider_and_the_temperature_are_sent(server: TranscriptionServer, make: Make):
    llm = make("whisper-1", temperature=0.0, provider_options={"openai": {"response_format_hint": "x"}})
    with pytest.raises(BadRequestError):
        server.failures.append((400, {"error": {"message": "Unknown parameter", "type": "invalid_request_error"}}))
        llm.operate("transcribe", media=[recording()])
    make("whisper-1", temperature=0.5).operate("transcribe", media=[recording()])
    assert server.heard[0].fields["temperature"] == "0.5"


def test_errors_of_the_endpoint_are_typed_and_repeated_where_that_helps(server: TranscriptionServer, make: Make):
    message = {"error": {"message": "Rate limit reached", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
    server.failures += [(429, message), (500, {"error": {"message": "oops", "type": "server_error"}})]
    with pytest.raises(RateLimitError, match="Rate limit reached"):
        make("whisper-1").operate("transcribe", media=[recording()])
    with pytest.raises(ServerError, match="oops"):
        make("whisper-1").operate("transcribe", media=[recording()])
    server.failures += [(503, {"error": {"message": "busy", "type": "service_unavailable_error"}})]
    assert make("whisper-1", max_retries=1).operate("transcribe", media=[recording()]).value.transcript.text == TEXT


def test_unknown_model_gets_a_plain_request_with_a_warning(server: TranscriptionServer, services: Services):
    llm = create_llm("openai-compatible", model="speech-x", base_url=server.url, services=services)
    with pytest.raises(BadRequestError, match="does not exist"):
        llm.operate("transcribe", media=[recording()], arguments={"terms": ["Ada"]})
    assert server.heard == []


def test_facts_of_the_user_say_what_a_model_can_do(server: TranscriptionServer, services: Services):
    facts = {"accepts": ["audio/wav"], "transcription": {"times": "words"}}
    llm = create_llm("openai", model="whisper-1", facts=facts, base_url=server.url, api_key="k", services=services)
    llm.operate("transcribe", media=[recording()], arguments={"words": True, "terms": ["Ada"]})
    assert server.heard[0].fields["prompt"] == "Ada"
    facts = {"transcription": {"times": None}}
    llm = create_llm("openai", model="whisper-1", facts=facts, base_url=server.url, api_key="k", services=services)
    llm.operate("transcribe", media=[recording()])
    assert server.heard[1].fields["response_format"] == "json"


def test_input_is_a_call_with_arguments(call_style: CallStyle, services: Services, make: Make):
    seen: list[Any] = []

    class Watching:
        async def around_call(self, context: CallContext, next: CallNext) -> Any:
            seen.append(context.input)
            context.call = context.call.with_(tags={"seen": "yes"})
            return await next(context)

    with services.records.subscribe(seen.append), services.records.subscribe(seen.append, "full"):
        do(call_style, make("whisper-1", middleware=[Watching()]), {"language": "en", "terms": ["Ada"]})
    given = next(each for each in seen if isinstance(each, TranscriptionInput))
    bare, full = sorted((each for each in seen if each is not given), key=lambda each: each.call is not None)
    assert (given.language, given.terms, given.model) == ("en", ("Ada",), "whisper-1")
    assert (bare.call, bare.input, bare.tags) == (None, None, {"seen": "yes"})
    assert full.input == {"language": "en", "terms": ["Ada"]}
    assert full.call.messages[0].parts == (recording(),)
    assert bare.call_digest == digest(full.call)


def test_provider_without_the_operation_says_so(services: Services):
    llm = create_llm("anthropic", model="claude-opus-4-5", api_key="k", services=services)
    with pytest.raises(UnsupportedOptionError, match="no operation 'transcribe'"):
        llm.operate("transcribe", media=[recording()])


GIVEN = TranscriptionInput(ModelCall("m", (Message.user(recording()),)), seconds=1.5)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"text": 1}, ServerError),
        ({}, ServerError),
        ({"error": {"message": "Rate limit", "code": "rate_limit_exceeded"}}, RateLimitError),
        ([], ServerError),
    ],
)
def test_response_without_a_text_is_an_error(body: Any, error: type[Exception]):
    with pytest.raises(error):
        transcription(OPENAI).decode(WireResponse(200, {}, json.dumps(body).encode()), GIVEN)


@pytest.mark.parametrize(
    "odd",
    [
        {"segments": [{"text": "hi", "start": 2.0, "end": 1.0}], "words": [{"word": "hi"}]},
        {"segments": [{"text": "hi", "start": "x", "end": None, "speaker": 7, "avg_logprob": "low"}]},
        {"segments": [{"text": ""}, 7, None], "words": "none", "language": 5, "duration": -1},
        {"segments": [{"text": "hi", "start": -1, "end": 1e300}], "logprobs": [{"logprob": None}], "usage": 7},
        {"words": [{"word": "hi", "start": 0.5, "end": 0.75}], "languages": [{}, {"code": "de"}]},
    ],
)
def test_odd_values_of_a_response_count_as_not_reported(odd: Any):
    body = json.dumps({"text": "hi", **odd}).encode()
    found = transcription(OPENAI).decode(WireResponse(200, {}, body), GIVEN)
    assert found.transcript.text == "hi"
    assert found.usage.billing is not None
    assert found.usage.billing.counts == {"audio_second": 2}
