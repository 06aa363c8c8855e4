"""Recordings for models that accept none, transcribed by a provider: every sample of speech is sent once, and what is
said comes back at its place. The provider is a strict fake that knows which samples it heard.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abstractcore import (
    LLM,
    AuthenticationError,
    BadRequestError,
    File,
    InvalidInputError,
    MediaError,
    RequestTimeoutError,
    Services,
    UnknownProviderError,
    create_llm,
)
from abstractcore.errors import UnsupportedContentError, UnsupportedOptionError
from abstractcore.schema import GenerateResponse
from abstractcore.testing import CallStyle
from abstractcore_media.audio.sound import SAMPLE_RATE
from tests.media.audio.recordings import Recording, recording
from tests.media.parts import EXAMPLES, FILES
from tests.providers.strict_fakes.transcriptions import Heard, Said, TranscriptionServer, transcription_server

pytestmark = pytest.mark.process

MEETING = EXAMPLES / "meeting.wav"
PROVIDERS = {"whisper-1": "openai", "gpt-4o-mini-transcribe": "openai", "voxtral-mini-2602": "mistral"}
Make = Callable[..., LLM]
PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def with_pauses() -> Recording:
    return recording(480, longest_pause=6.0)


@pytest.fixture(scope="module")
def without_pauses() -> Recording:
    return recording(240, longest_pause=0)


@pytest.fixture
def server() -> Iterator[TranscriptionServer]:
    with transcription_server(lambda heard: Said(segments=[(0.0, heard.seconds, "Good morning.", "A")])) as server:
        yield server


@pytest.fixture
def services() -> Iterator[Services]:
    services = Services(environment={})
    yield services
    services.close()


@pytest.fixture
def make(server: TranscriptionServer, services: Services) -> Make:
    def make(model: str = "whisper-1", facts: Any = None, retries: int = 0, **options: Any) -> LLM:
        provider = PROVIDERS.get(model, "openai")
        given: dict[str, Any] = {"base_url": server.url, "api_key": "key-1", "services": services, "facts": facts}
        transcriber = create_llm(provider, model=model, max_retries=retries, **given)
        return create_llm("scripted", replies=["ok"] * 9, transcription_model=transcriber, services=services, **options)

    return make


def ask(call_style: CallStyle, llm: LLM, *media: Any, **options: Any) -> GenerateResponse[Any]:
    return call_style.generate(llm, "What is said?", media=list(media), **options)


def text_of(response: GenerateResponse[Any]) -> str:
    sent = response.media[0].sent
    assert sent is not None
    return sent.text or ""


def count_of_samples(heard: Heard) -> Said:
    return Said(text=f"{len(heard.samples)}")


def always(said: Said) -> Callable[[Heard], Said]:
    """A listener that always hears the same."""
    return lambda heard: said


def check_every_sample_is_heard_once(made: Recording, heard: list[Heard]) -> None:
    """What was not sent is nothing but the noise of pauses."""
    runs = sorted(run for each in heard for run in made.runs(each.samples))
    assert all(end <= start for (_, end), (start, _) in pairwise(runs))
    left = np.ones(len(made.samples), bool)
    for start, end in runs:
        left[start:end] = False
    assert np.abs(made.samples[left].astype(int)).max(initial=0) <= 3


def placed(made: Recording) -> Callable[[Heard], Said]:
    """A listener that says, for each run of samples, where in the recording it begins."""

    def listen(heard: Heard) -> Said:
        said: list[tuple[float, float, str, str]] = []
        position = 0
        for start, end in made.runs(heard.samples):
            length = end - start
            said.append((position / SAMPLE_RATE, (position + length) / SAMPLE_RATE, f"sample {start}", ""))
            position += length
        words = [(start, end, text) for start, end, text, _ in said]
        return Said(segments=said, words=words)

    return listen


def test_long_recording_is_split_at_pauses_and_every_sample_is_sent_once(
    call_style: CallStyle, server: TranscriptionServer, make: Make, with_pauses: Recording
):
    server.listener = placed(with_pauses)
    response = ask(call_style, make(), with_pauses.part)
    check_every_sample_is_heard_once(with_pauses, server.heard)
    assert len(server.heard) > 1
    assert all(each.media_type == "audio/flac" for each in server.heard)
    for heard in server.heard:  # no sentence is cut
        for start, end in with_pauses.runs(heard.samples):
            assert all(not begin < edge < stop for begin, stop in with_pauses.speech for edge in (start, end))
    text, sent = text_of(response), response.media[0].sent
    assert sent is not None
    assert len(sent.anchors) == len(with_pauses.speech) == text.count("sample")
    for anchor in sent.anchors:
        assert anchor.seconds is not None
        start = int(text[anchor.start : anchor.end].removeprefix("sample "))
        assert anchor.seconds[0] == pytest.approx(start / SAMPLE_RATE, abs=0.001)
    begins = [anchor.seconds[0] for anchor in sent.anchors if anchor.seconds]
    assert begins == sorted(begins)
    (lost,) = response.media[0].lost
    assert all("silence" in place for place in lost.places)
    assert response.warnings == ()


def test_recording_without_a_pause_is_split_all_the_same(
    server: TranscriptionServer, make: Make, without_pauses: Recording
):
    server.listener = count_of_samples
    response = make("gpt-4o-mini-transcribe").generate("?", media=[without_pauses.part])
    check_every_sample_is_heard_once(without_pauses, server.heard)
    assert sum(len(each.samples) for each in server.heard) == len(without_pauses.samples)
    assert all(each.seconds <= 60 for each in server.heard)  # no times: the piece is the place of its text
    sent = response.media[0].sent
    assert sent is not None
    places = [anchor.seconds for anchor in sent.anchors if anchor.seconds is not None]
    assert [start for start, _ in places[1:]] == [end for _, end in places[:-1]]
    assert (places[0][0], places[-1][1]) == (0.0, without_pauses.seconds)
    assert response.media[0].lost == ()
    tokens = sum(round(10 * each.seconds) for each in server.heard)
    assert response.usage.input_audio == tokens
    words = sum(2 for _ in server.heard)
    assert response.cost == (tokens * 3 + words * 5) / Decimal(1_000_000)
    assert response.media[0].model == "openai/gpt-4o-mini-transcribe"


def test_pieces_keep_the_limits_on_bytes_and_seconds(server: TranscriptionServer, make: Make, with_pauses: Recording):
    facts = {"accepts": ["audio/wav"]}
    llm = make(facts={**facts, "media_limits": {"audio_bytes": 320_000}})
    llm.generate("?", media=[File(with_pauses.part, end=90.0)])
    assert all(0 < 2 * len(each.samples) + 44 <= 320_000 and each.media_type == "audio/wav" for each in server.heard)
    assert len(server.heard) > 6
    server.heard.clear()
    make(facts={**facts, "media_limits": {"audio_seconds": 20}}).generate("?", media=[File(with_pauses.part, end=91.0)])
    assert all(each.seconds <= 20 for each in server.heard)
    server.heard.clear()
    make(facts={"accepts": ["audio/mpeg"], "media_limits": {"audio_bytes": 160_000}}).generate(
        "?", media=[File(with_pauses.part, end=92.0)]
    )
    assert {each.media_type for each in server.heard} == {"audio/mpeg"}
    assert sum(each.seconds for each in server.heard) > 60


def test_part_of_a_recording_has_the_times_of_the_whole(
    server: TranscriptionServer, make: Make, with_pauses: Recording
):
    server.listener = placed(with_pauses)
    start, end = with_pauses.speech[3][0] / SAMPLE_RATE - 0.2, with_pauses.speech[5][1] / SAMPLE_RATE + 0.2
    response = make().generate("?", media=[File(with_pauses.part, start=start, end=end)])
    sent = response.media[0].sent
    assert sent is not None
    begins = [anchor.seconds[0] for anchor in sent.anchors if anchor.seconds]
    expected = [each[0] / SAMPLE_RATE for each in with_pauses.speech[3:6]]
    assert begins == pytest.approx(expected, abs=0.5)


def test_words_and_terms_and_language_reach_the_transcriber(server: TranscriptionServer, make: Make):
    words = [(0.0, 0.5, "Good"), (0.5, 1.0, "morning.")]
    server.listener = always(Said(segments=[(0.0, 2.0, "Good morning.", "")], words=words))
    options: dict[str, Any] = {"transcription_words": True, "transcription_terms": ["Ada", "Kubernetes"]}
    response = make(transcription_language="en-GB", **options).generate("?", media=[MEETING])
    fields = server.heard[0].fields
    assert (fields["prompt"], fields["language"]) == ("Ada, Kubernetes", "en")
    sent = response.media[0].sent
    assert sent is not None
    assert [(sent.text or "")[each.start : each.end] for each in sent.anchors] == ["Good", "morning."]
    response = make("gpt-4o-mini-transcribe", **options).generate("?", media=[MEETING])
    assert [(each.code, each.path) for each in response.warnings] == [("unsupported_option", "messages[0].parts[0]")]
    assert response.warnings[0].message.startswith("openai/gpt-4o-mini-transcribe: ")


def test_speakers_keep_their_names_in_all_pieces(server: TranscriptionServer, make: Make, with_pauses: Recording):
    """Two speakers take turns. The fake knows a voice by its sample, and has labels of its own for others."""

    def voice_of(run: tuple[int, int]) -> str:
        sentence = next(i for i, (start, end) in enumerate(with_pauses.speech) if run[0] < end and start < run[1])
        return ("low", "high")[sentence % 2]

    def listen(heard: Heard) -> Said:
        known = zip(heard.voices, heard.fields.get("known_speaker_names", ()), strict=True)
        names = {voice_of(with_pauses.runs(clip)[0]): name for clip, name in known}
        said: list[tuple[float, float, str, str]] = []
        position = 0
        for start, end in with_pauses.runs(heard.samples):
            voice = voice_of((start, end))
            label = names.setdefault(voice, "BA"[len(names) % 2])
            said.append((position / SAMPLE_RATE, (position + end - start) / SAMPLE_RATE, f"It is {voice}.", label))
            position += end - start
        return Said(segments=said)

    server.listener = listen
    llm = make("gpt-4o-transcribe-diarize", facts={"media_limits": {"audio_seconds": 60}}, transcription_speakers=True)
    response = llm.generate("?", media=[File(with_pauses.part, end=300.0)])
    assert len(server.heard) > 3
    spoken = {line.partition("] ")[2] for line in text_of(response).splitlines()}
    assert spoken == {"Speaker 1: It is low.", "Speaker 2: It is high."}
    assert response.warnings == ()


def test_speakers_that_cannot_be_recognised_again_get_new_names_with_a_warning(
    server: TranscriptionServer, make: Make, with_pauses: Recording
):
    facts = {"media_limits": {"audio_seconds": 60}}
    llm = make("voxtral-mini-2602", facts=facts, transcription_speakers=True)
    response = llm.generate("?", media=[File(with_pauses.part, end=150.0)])
    spoken = [line.partition("] ")[2] for line in text_of(response).splitlines()]
    assert spoken == [f"Speaker {number}: Good morning." for number in range(1, len(server.heard) + 1)]
    assert [each.code for each in response.warnings] == ["speakers_not_matched"]


def test_transcriber_that_cannot_tell_speakers_apart_gives_a_warning(make: Make, services: Services):
    response = make(transcription_speakers=True).generate("?", media=[MEETING])
    assert "telling speakers apart" in response.warnings[0].message
    options: dict[str, Any] = {"transcription_model": "whisper-tiny.en", "transcription_speakers": True}
    local = create_llm("scripted", replies=["ok"], services=services, **options)
    (warning,) = local.generate("?", media=[MEETING]).warnings
    assert "whisper-tiny.en does not tell speakers apart" in warning.message


def test_same_recording_is_sent_once_for_the_same_model_and_options(
    call_style: CallStyle, server: TranscriptionServer, make: Make
):
    first = ask(call_style, make(), MEETING)
    again = ask(call_style, make(), MEETING)
    assert text_of(again) == text_of(first)
    assert (len(server.heard), again.cost, again.media[0].usage) == (1, Decimal(0), None)
    ask(call_style, make("gpt-4o-mini-transcribe"), MEETING)
    ask(call_style, make(transcription_terms=["Ada"]), MEETING)
    assert len(server.heard) == 3


@pytest.mark.parametrize("kind", ["recording", "video"])
def test_cost_of_a_transcript_is_counted_once_in_the_response_and_once_in_all_records(
    call_style: CallStyle, make: Make, services: Services, kind: str
):
    media = MEETING if kind == "recording" else File(FILES / "speech.webm", media_type="video/webm")
    records: list[Any] = []
    with services.records.subscribe(records.append):
        response = ask(call_style, make(), media, media_policy={"video": "transcript"})
    transcribed, chat = sorted(records, key=lambda each: each.operation, reverse=True)
    assert (transcribed.operation, transcribed.parent_id, chat.trace_id) == (
        "transcribe",
        response.trace_id,
        response.trace_id,
    )
    assert response.media[0].usage is not None
    assert response.media[0].usage.billing is not None
    assert transcribed.cost == response.cost == response.media[0].usage.billing.cost == Decimal("0.006") * 7 / 60
    assert (chat.cost, chat.media[0].recorded) == (0, True)
    assert transcribed.usage.billing.counts == {"audio_second": 7}
    assert chat.usage.billing is None


@pytest.mark.parametrize(
    ("model", "a_minute", "source"),
    [
        ("whisper-1", "0.006", "computed"),
        ("gpt-transcribe", "0.0045", "computed"),
        ("gpt-4o-transcribe-diarize", "0.006", "estimate"),
        ("voxtral-mini-2602", "0.003", "computed"),
    ],
)
def test_cost_is_that_of_the_vendors_price_list(make: Make, services: Services, model: str, a_minute: str, source: str):
    """The prices of https://developers.openai.com/api/docs/pricing and https://mistral.ai/news/voxtral-transcribe-2."""
    records: list[Any] = []
    with services.records.subscribe(records.append):
        response = make(model).generate("?", media=[MEETING])
    (transcribed,) = (each for each in records if each.operation == "transcribe")
    seconds = transcribed.usage.billing.counts["audio_second"]
    assert (response.cost, seconds) == (Decimal(a_minute) * seconds / 60, 7)
    assert transcribed.cost_source == source


def test_tokens_of_a_transcript_and_of_a_caption_are_counted_once(make: Make, services: Services):
    eye = create_llm("scripted", replies=["A meadow."] * 9, accepts=["image"], services=services)
    records: list[Any] = []
    llm = make("gpt-4o-mini-transcribe", vision_model=eye, video_frames=2)
    with services.records.subscribe(records.append):
        response = llm.generate("?", media=[EXAMPLES / "bunny.mp4"], media_policy={"video": "frames+transcript"})
    *others, chat = sorted(records, key=lambda each: each.trace_id == response.trace_id)
    assert {each.operation for each in others} == {"chat", "transcribe"}
    assert {each.parent_id for each in others} == {response.trace_id}
    assert chat.media[0].recorded
    assert response.usage.input == sum(each.usage.input or 0 for each in records)
    assert response.cost == sum(each.cost for each in records)


def test_progress_is_reported_in_seconds(server: TranscriptionServer, make: Make, with_pauses: Recording):
    seen: list[Any] = []
    make().generate("?", media=[File(with_pauses.part, end=60.0)], on_media_progress=seen.append)
    assert [each.total for each in seen] == pytest.approx([60.0] * len(seen))
    assert {each.what for each in seen} == {"seconds"}
    assert seen[-1].done == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("status", "kind", "error"), [(401, "authentication_error", AuthenticationError), (400, "x", BadRequestError)]
)
def test_error_of_the_transcriber_is_that_of_the_call(
    call_style: CallStyle, server: TranscriptionServer, make: Make, status: int, kind: str, error: type[Exception]
):
    server.failures.append((status, {"error": {"message": "Refused.", "type": kind}}))
    with pytest.raises(error, match=r"openai/whisper-1: Refused\.") as raised:
        ask(call_style, make(), MEETING)
    assert server.heard == []
    if error is AuthenticationError:
        assert "OPENAI_API_KEY" in str(raised.value)


def test_failed_piece_is_sent_again(server: TranscriptionServer, make: Make, without_pauses: Recording):
    busy = {"error": {"message": "busy", "type": "server_error"}}
    server.failures += [(503, busy), (500, busy)]
    make("gpt-4o-mini-transcribe", retries=2).generate("?", media=[File(without_pauses.part, end=180.0)])
    heard = sum(len(each.samples) for each in server.heard)
    assert (heard, server.failures) == (180 * SAMPLE_RATE, [])


def test_time_limit_of_the_call_holds_for_the_transcriber(
    call_style: CallStyle, server: TranscriptionServer, make: Make
):
    release = threading.Event()
    server.wait = lambda: release.wait(PATIENCE_SECONDS)
    try:
        with pytest.raises((RequestTimeoutError, MediaError)):
            ask(call_style, make(), MEETING, timeout=2.0)
    finally:
        release.set()


def test_cancelled_call_ends_its_requests(server: TranscriptionServer, make: Make, without_pauses: Recording):
    import asyncio

    reached, release = threading.Event(), threading.Event()

    def wait() -> None:
        reached.set()
        release.wait(PATIENCE_SECONDS)

    async def cancel(llm: LLM) -> None:
        task = asyncio.create_task(llm.agenerate("?", media=[File(without_pauses.part, end=200.0)]))
        assert await asyncio.to_thread(reached.wait, PATIENCE_SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    server.wait = wait
    try:
        asyncio.run(cancel(make("gpt-4o-mini-transcribe")))
    finally:
        release.set()
    assert len(server.heard) <= 4  # those at once: no further piece is sent


def test_video_has_the_words_of_the_transcriber(server: TranscriptionServer, make: Make):
    response = make(accepts=["image/jpeg"], media_policy={"video": "frames+transcript"}).generate(
        "?", media=[EXAMPLES / "talk.mp4"]
    )
    decision = response.media[0]
    assert len(server.heard) == 1
    assert decision.model == "openai/whisper-1"
    assert decision.usage is not None
    assert decision.usage.billing is not None
    assert response.cost == decision.usage.billing.cost
    sent = decision.sent
    assert sent is not None
    assert "Good morning." in "".join(each.text or "" for each in sent.parts)


def test_recording_without_speech_is_not_sent(server: TranscriptionServer, make: Make, tmp_path: Path):
    silent = Recording(np.zeros(5 * SAMPLE_RATE, np.int16), ())
    with pytest.raises(MediaError, match="No speech was found"):
        make().generate("?", media=[silent.part])
    assert server.heard == []


def test_what_whisper_makes_of_noise_is_dropped(server: TranscriptionServer, make: Make, monkeypatch: Any):
    from tests.providers.strict_fakes import transcriptions

    def doubtful(index: int, each: Any) -> dict[str, Any]:
        return {**segment(index, each), "avg_logprob": -0.8, "no_speech_prob": 0.9 if index else 0.1}

    segment = transcriptions._segment  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(transcriptions, "_segment", doubtful)
    segments = [(0.0, 2.0, "Hello.", ""), (2.0, 6.0, "Thanks for watching.", "")]
    server.listener = always(Said(segments=segments))
    response = make().generate("?", media=[MEETING])
    assert text_of(response) == "[00:00] Hello."
    assert "no speech" in response.media[0].lost[0].places[0]


@pytest.mark.smoke
def test_name_of_a_provider_and_a_model_is_enough(server: TranscriptionServer):
    environment = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "key-1"}
    services = Services(environment=environment)
    options: dict[str, Any] = {"transcription_model": "openai/whisper-1", "services": services}
    response = create_llm("scripted", replies=["ok"], **options).generate("?", media=[MEETING])
    assert (response.media[0].model, server.heard[0].headers["authorization"]) == ("openai/whisper-1", "Bearer key-1")
    services.close()


def test_unknown_provider_is_an_error_with_similar_names(services: Services):
    with pytest.raises(UnknownProviderError, match="openai"):
        create_llm("scripted", replies=[], transcription_model="opnai/whisper-1", services=services)
    with pytest.raises(InvalidInputError, match="expected an LLM or the name of a model"):
        create_llm("scripted", replies=[], transcription_model=7, services=services)  # type: ignore[arg-type]


def test_path_of_weights_is_none_of_a_provider(services: Services, tmp_path: Path, monkeypatch: Any):
    monkeypatch.chdir(tmp_path)
    Path("models/mine").mkdir(parents=True)
    for name in ("models/mine", "./openai/whisper-1", str(tmp_path / "models" / "mine"), "whisper-base"):
        create_llm("scripted", replies=[], transcription_model=name, services=services)


def test_model_without_the_operation_is_an_error_of_the_call(services: Services):
    other = create_llm("scripted", replies=["I cannot hear."], services=services)
    llm = create_llm("scripted", replies=["ok"], transcription_model=other, services=services)
    with pytest.raises(UnsupportedOptionError, match="no operation 'transcribe'"):
        llm.generate("?", media=[MEETING])


def test_transcriber_whose_formats_cannot_be_written_is_an_error(make: Make):
    with pytest.raises(UnsupportedContentError, match="format"):
        make(facts={"accepts": ["audio/ogg"]}).generate("?", media=[FILES / "speech.mp3"])
