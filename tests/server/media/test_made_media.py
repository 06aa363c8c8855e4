"""Speech, transcripts, images and music by the real backends of this machine, with the openai package as the client."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from typing import Any, cast

import av
import httpx2
import openai
import pytest
from PIL import Image

from abstractcore import create_llm
from abstractcore.schema import Transcript, TranscriptSegment
from abstractcore.stores.models import PACKAGED_MODELS, FileModelStore
from abstractcore_server import Grant, ServerLimits, Settings, server_services
from abstractcore_server.media.transcriptions import _WRITERS
from abstractvoice.speakers.weights import packaged_models
from tests.chaos_server import answer
from tests.documents import ROOT
from tests.server.accounts import Accounts
from tests.server.multipart import form
from tests.server.serving import VENDOR_KEY, Served, serving

MEETING = (ROOT / "examples/media/meeting.wav").read_bytes()
HEARD = "Good morning, the meeting starts at"
CONTAINERS = {"mp3": "mp3", "opus": "ogg", "flac": "flac", "wav": "wav"}


@pytest.fixture(scope="module")
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture(scope="module")
def running(models: FileModelStore, accounts: Accounts) -> Iterator[Served]:
    settings = Settings(limits=ServerLimits(body_bytes=2_000_000))
    stored = FileModelStore(models.root, packaged=(*PACKAGED_MODELS, *packaged_models()))
    services = server_services(settings, environment={}, random=lambda: 0.0, models=stored)
    with serving(settings, services=services, access=accounts) as served:
        yield served


@pytest.fixture
def client(served: Served, accounts: Accounts) -> Iterator[openai.OpenAI]:
    accounts.clear()
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def seconds_of(sound: bytes) -> float:
    with av.open(io.BytesIO(sound)) as container:
        frames = sum(frame.samples for frame in container.decode(audio=0))
        return frames / container.streams.audio[0].rate


@pytest.mark.weights
@pytest.mark.parametrize("format", CONTAINERS)
def test_speech_is_a_file_of_the_format(format: Any, client: openai.OpenAI, accounts: Accounts):
    speech = client.audio.speech.create(model="default", voice="default", input="It costs $5.", response_format=format)
    with av.open(io.BytesIO(speech.content)) as container:
        assert CONTAINERS[format] in container.format.name
    assert 0.8 < seconds_of(speech.content) < 4
    assert speech.response.headers["x-abstractcore-model"] == "default"
    (call,) = accounts.begun
    assert (call.provider, call.model, call.messages[0].text) == ("voice", "default", "It costs $5.")
    (settlement,) = accounts.settled
    assert (settlement.outcome, settlement.cost) == ("done", 0)


@pytest.mark.weights
def test_speech_is_streamed_a_sentence_at_a_time(client: openai.OpenAI):
    text = "Hello there. How are you today?"
    with client.audio.speech.with_streaming_response.create(
        model="local", voice="joe", input=text, response_format="pcm", extra_body={"stream_format": "sse"}
    ) as response:
        lines = [line for line in response.iter_lines() if line]
    events = [json.loads(line.removeprefix("data: ")) for line in lines]
    kinds = [event["type"] for event in events]
    assert kinds == ["speech.audio.delta"] * (len(kinds) - 1) + ["speech.audio.done"]
    assert len(kinds) > 2
    sound = b"".join(base64.b64decode(event["audio"]) for event in events[:-1])
    assert 1 < len(sound) / 2 / 22_050 < 6


@pytest.mark.weights
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"voice": "jo"}, openai.APIStatusError, "joe"),
        ({"input": "..."}, openai.BadRequestError, "nothing to say"),
        ({"response_format": "aac"}, openai.BadRequestError, "mp3, opus, flac, wav, pcm"),
        ({"model": "locl/x"}, openai.NotFoundError, "local"),
        ({"speed": "fast"}, openai.BadRequestError, "number"),
        ({"extra_body": {"voice": {"id": "v"}}}, openai.BadRequestError, "custom voice"),
    ],
)
def test_errors_of_speech_are_the_clients_own(
    given: dict[str, Any], error: type[Exception], message: str, client: openai.OpenAI
):
    asked: Any = {"model": "default", "voice": "joe", "input": "Hello.", **given}
    with pytest.raises(error, match=message):
        client.audio.speech.create(**asked)


@pytest.mark.process
@pytest.mark.weights
def test_recording_is_transcribed_in_each_format(client: openai.OpenAI, accounts: Accounts):
    def transcribed(shape: Any, **more: Any) -> Any:
        file = ("meeting.wav", MEETING)
        return client.audio.transcriptions.create(model="whisper-tiny.en", file=file, response_format=shape, **more)

    whole = transcribed("json")
    assert whole.text.startswith(HEARD)
    assert whole.usage.seconds == pytest.approx(7.06, abs=0.1)
    verbose = transcribed("verbose_json", timestamp_granularities=["word", "segment"])
    assert (verbose.language, verbose.text) == ("en", whole.text)
    assert verbose.duration == pytest.approx(7.06, abs=0.1)
    assert verbose.segments[0].text.startswith(HEARD)
    assert [word.word.strip() for word in verbose.words][:2] == ["Good", "morning,"]
    assert {settlement.outcome for settlement in accounts.settled} == {"done"}


@pytest.mark.parametrize(("shape", "begin"), [("text", HEARD), ("srt", "1\n00:00:00,"), ("vtt", "WEBVTT\n")])
def test_transcripts_are_plain_text_or_subtitles(shape: str, begin: str):
    transcript = Transcript((TranscriptSegment(f"{HEARD} nine.", 0.0, 3.0),), seconds=3.0)
    kind, body = _WRITERS[shape](transcript, cast("Any", None))
    assert kind.startswith("text/")
    assert body.decode().startswith(begin)


@pytest.mark.weights
def test_transcript_is_streamed(client: openai.OpenAI):
    stream = client.audio.transcriptions.create(model="whisper-tiny.en", file=("a.wav", MEETING), stream=True)
    *deltas, done = list(stream)
    assert [event.type for event in deltas] == ["transcript.text.delta"] * len(deltas)
    assert done.type == "transcript.text.done"
    assert "".join(event.delta for event in deltas) == done.text
    assert done.text.startswith(HEARD)


@pytest.mark.weights
def test_errors_of_transcripts_are_the_clients_own(client: openai.OpenAI, http: httpx2.Client):
    with pytest.raises(openai.NotFoundError, match=r"There are: .*whisper-tiny\.en"):
        client.audio.transcriptions.create(model="nobody/listens", file=("a.wav", MEETING))
    with pytest.raises(openai.BadRequestError, match="type"):
        client.audio.transcriptions.create(model="default", file=("a.wav", b"\0\1\2" * 99))
    with pytest.raises(openai.APIStatusError, match="larger than") as caught:
        client.audio.transcriptions.create(model="default", file=("a.wav", bytes(2_000_001)))
    assert caught.value.status_code == 413
    translated = http.post("/v1/audio/translations", files={"file": ("a.wav", MEETING)}, data={"model": "default"})
    assert (translated.status_code, translated.json()["error"]["type"]) == (400, "invalid_request_error")
    assert "translates" in translated.json()["error"]["message"]
    assert http.post("/v1/audio/transcriptions", json={"model": "default"}).status_code == 415


@pytest.mark.weights
@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([("model", None, b"default")], "expected one file, got 0"),
        ([("file", "a.wav", MEETING), ("file", "b.wav", MEETING), ("model", None, b"default")], "got 2"),
        ([("file", "a.wav", MEETING)], "model"),
        ([("file", "a.wav", MEETING), ("model", None, b"\xff")], "UTF-8"),
        ([("x", None, b"1")] * 201, "200 parts"),
        ([("file", "a.wav", MEETING), ("model", None, b"default"), ("response_format", None, b"xml")], "verbose_json"),
    ],
)
def test_broken_forms_are_named(parts: list[tuple[str, str | None, bytes]], message: str, http: httpx2.Client):
    body, kind = form(parts)
    response = http.post("/v1/audio/transcriptions", content=body, headers={"content-type": kind})
    assert response.status_code == 400
    assert message in response.json()["error"]["message"]


@pytest.mark.weights
def test_form_that_is_cut_off_is_an_error(http: httpx2.Client):
    body, kind = form([("model", None, b"default"), ("file", "a.wav", MEETING)])
    response = http.post("/v1/audio/transcriptions", content=body[:-40], headers={"content-type": kind})
    assert response.status_code == 400
    assert "cut off" in response.json()["error"]["message"]


@pytest.mark.weights
def test_speech_by_a_vendor_has_its_key_and_not_the_clients(client: openai.OpenAI, served: Served):
    served.vendor.script(answer(MEETING, content_type="audio/wav"))
    speech = client.audio.speech.create(model="tts-1", voice="alloy", input="Hello.", response_format="wav")
    assert 6 < seconds_of(speech.content) < 7.5
    assert speech.response.headers["x-abstractcore-model"] == "openai/tts-1"
    (request,) = served.vendor.requests
    assert json.loads(request.body)["voice"] == "alloy"
    assert request.headers["authorization"] == f"Bearer {VENDOR_KEY}"


@pytest.mark.weights
def test_images_are_drawn(client: openai.OpenAI, served: Served):
    rules = create_llm("scripted", replies=[], services=served.application.state.services, vision_scene="rules")
    served.application.state.backend_models._made["vision", "drawing"] = rules  # the embedded model takes half a minute
    prompt = "a red house by the sea"
    drawn = client.images.generate(model="drawing", prompt=prompt, size="128x64", n=1, output_format="png")
    assert drawn.data
    content = base64.b64decode(drawn.data[0].b64_json or "")
    assert Image.open(io.BytesIO(content)).size == (128, 64)


@pytest.mark.weights
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": "big"}, "1024x1024"),
        ({"response_format": "url"}, "b64_json"),
        ({"n": 0}, "positive"),
        ({"prompt": ""}, "prompt"),
    ],
)
def test_errors_of_images_are_the_clients_own(given: dict[str, Any], message: str, client: openai.OpenAI):
    asked: Any = {"model": "default", "prompt": "a house", **given}
    with pytest.raises(openai.BadRequestError, match=message):
        client.images.generate(**asked)


@pytest.mark.weights
def test_music_is_composed(http: httpx2.Client):
    body = {"model": "rules", "prompt": "a calm waltz", "seconds": 3, "format": "wav", "seed": 1}
    response = http.post("/v1/audio/music", json=body)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "audio/wav"
    assert seconds_of(response.content) == pytest.approx(3, abs=0.5)
    refused = http.post("/v1/audio/music", json={**body, "style": "x"})
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "style"


@pytest.mark.process
@pytest.mark.weights
def test_key_that_may_not_use_a_backend_is_refused(served: Served, accounts: Accounts, client: openai.OpenAI):
    accounts.grant = Grant(models=("openai/*",))
    with pytest.raises(openai.PermissionDeniedError):
        client.audio.speech.create(model="local", voice="joe", input="Hello.")
