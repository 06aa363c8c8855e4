"""Calls of backends as operations: middleware, records, costs, cassettes, artifacts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    ArtifactError,
    AudioPart,
    Billing,
    CallWarning,
    ReplayMismatchError,
    RequestTimeoutError,
    Services,
    Usage,
    context,
    create_llm,
    record,
    replay,
)
from abstractcore.ports import Attempt, AttemptNext, CallContext, CallNext, CatalogueFile, Made
from abstractcore.stores.artifacts import FileArtifactStore
from abstractcore.testing import CallStyle
from tests.backend_doubles import PNG, WAV, Beeper, Painter, Records, WithBackend, call, spoken


class Seen:
    """Notes what passes both rings."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.attempts: list[tuple[str, str]] = []

    async def around_call(self, context: CallContext, next: CallNext) -> Any:
        self.calls.append((context.operation.name, context.input.provider))
        return await next(context)

    async def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Any:
        self.attempts.append((attempt.operation.name, attempt.request.url))
        return await next(attempt)


def test_calls_pass_both_rings_of_middleware(call_style: CallStyle, with_backend: WithBackend):
    seen = Seen()
    llm = with_backend(voice=Beeper, middleware=[seen])
    call(call_style, llm.voice, "tts", "Hello")
    spoken(call_style, llm.voice, "one two")
    assert seen.calls == [("tts", "tests:voice"), ("tts_stream", "tests:voice")]
    assert seen.attempts == [("tts", "/tts"), ("tts_stream", "/tts_stream")]


def test_middleware_changes_the_arguments_of_a_backend(
    call_style: CallStyle, with_backend: WithBackend, records: Records
):
    class Translating:
        async def around_call(self, context: CallContext, next: CallNext) -> Any:
            context.input = context.input.with_(arguments=("Bonjour",))
            return await next(context)

    class Echoing(Beeper):
        def tts(self, text: str, *, voice: str = "low", format: str = "wav") -> Made:
            return Made.of(WAV, "audio/wav", metadata={"said": [text, voice]})

    llm = with_backend(voice=Echoing, middleware=[Translating()])
    assert call(call_style, llm.voice, "tts", "Hello", voice="high").metadata == {"said": ["Bonjour", "high"]}
    (found,) = records()
    assert found.input == {"arguments": ["Bonjour"], "keywords": {"voice": "high"}}


def test_scope_of_a_block_is_in_records(call_style: CallStyle, with_backend: WithBackend, records: Records):
    llm = with_backend(voice=Beeper)
    with context(tags={"page": "3"}, parent_id="p"):
        call(call_style, llm.voice, "tts", "Hello", tags={"line": "4"})
    (found,) = records()
    assert (found.tags, found.parent_id) == ({"page": "3", "line": "4"}, "p")


class Priced:
    """Reports what it used."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def tts(self, text: str, *, how: str = "counts") -> Made:
        usage = {
            "counts": Usage(billing=Billing(counts={"character": len(text)})),
            "cost": Usage(billing=Billing(cost=Decimal("0.25"))),
        }.get(how)
        model = {"counts": "singer/bass", "unknown": "alto"}.get(how)
        return Made.of(WAV, "audio/wav", usage=usage, model=model)


@pytest.mark.parametrize(
    ("how", "cost", "reason"),
    [
        ("cost", Decimal("0.25"), None),
        ("counts", Decimal("0.00015"), None),
        ("unknown", None, "no price is known for alto of the backend tests:voice"),
    ],
)
def test_cost_is_reported_or_computed_from_the_catalogue(
    call_style: CallStyle,
    with_backend: WithBackend,
    services: Services,
    records: Records,
    tmp_path: Path,
    how: str,
    cost: Decimal | None,
    reason: str | None,
):
    rows = tmp_path / "singer.jsonl"
    rows.write_text('{"provider": "singer"}\n{"model": "bass", "prices": [{"rates": {"character": "30"}}]}\n')

    services.registry.add_catalogue(CatalogueFile("singer", rows))
    llm = with_backend(voice=Priced)
    result = call(call_style, llm.voice, "tts", "Hello", how=how)
    assert (result.cost, result.cost_reason) == (cost, reason)
    (found,) = records()
    assert (found.cost, found.cost_reason) == (cost, reason)


def test_recorded_calls_are_replayed_without_the_backend(
    call_style: CallStyle, with_backend: WithBackend, services: Services, tmp_path: Path
):
    made: list[str] = []

    class Counting(Beeper):
        def tts(self, text: str, *, voice: str = "low", format: str = "wav") -> Made:
            made.append(text)
            return super().tts(text, voice=voice, format=format)

    path = tmp_path / "speech.jsonl"
    llm = with_backend(voice=Counting, vision=Painter, middleware=[record(path)])

    def use(llm: Any) -> list[Any]:
        said = call(call_style, llm.voice, "tts", "Hello")
        heard = call(call_style, llm.voice, "stt", WAV)
        drawn = call(call_style, llm.vision, "i2i", "a house", PNG)
        listed = call(call_style, llm.voice, "list_voices")
        parts, result = spoken(call_style, llm.voice, "one two")
        return [said.parts, said.model, heard.transcript, drawn.parts, listed, parts, result.parts, result.model]

    first = use(llm)
    again = create_llm("scripted", replies=[], services=services, middleware=[replay(path)])
    assert use(again) == first
    assert made == ["Hello"]
    with pytest.raises(ReplayMismatchError):
        call(call_style, again.voice, "tts", "Good-bye")


def test_time_limit_of_the_llm_holds_for_backends(call_style: CallStyle, with_backend: WithBackend):
    class Slow:
        def __init__(self, owner: Any) -> None:
            self.owner = owner

        async def tts(self, text: str) -> Made:
            assert self.owner.time_left <= 0.1
            await self.owner.runtime.sleep(60)
            raise AssertionError("not reached")

    llm = with_backend(voice=Slow, timeout=0.1)
    with pytest.raises(RequestTimeoutError):
        call(call_style, llm.voice, "tts", "Hello")


def test_result_is_stored_where_the_user_wants_it(call_style: CallStyle, with_backend: WithBackend, tmp_path: Path):
    llm, store = with_backend(voice=Beeper), FileArtifactStore(tmp_path)
    result = call(call_style, llm.voice, "tts", "Hello", artifact_store=store)
    blob = result.part.blob
    assert (blob.form, blob.media_type, blob.size) == ("artifact", "audio/wav", len(WAV))
    assert store.get(blob.sha256 or "") == WAV
    assert result.part.transcript == "Hello"


def test_artifact_is_read_as_input(call_style: CallStyle, tmp_path: Path):
    store = FileArtifactStore(tmp_path)
    services = Services(environment={}, artifacts=store)
    services.registry.add_backends(lambda given: given.register_voice_backend(backend_id="x", factory=Beeper))
    llm = create_llm("scripted", replies=[], services=services)
    for item in (store.put(WAV, "audio/wav"), AudioPart(store.put(WAV, "audio/wav"))):
        assert call(call_style, llm.voice, "stt", item).text == "52 bytes of audio/wav in en"


def test_store_that_is_full_is_a_typed_error(call_style: CallStyle, with_backend: WithBackend, tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    llm = with_backend(voice=Beeper)
    with pytest.raises(ArtifactError, match="cannot be written"):
        call(call_style, llm.voice, "tts", "Hello", artifact_store=FileArtifactStore(tmp_path / "file"))


def test_backend_asks_the_model_in_both_colours(call_style: CallStyle, with_backend: WithBackend, records: Records):
    class Composer:
        def __init__(self, owner: Any) -> None:
            self.owner = owner

        async def t2m(self, prompt: str) -> Made:
            score = await self.owner.generate(f"Write a score: {prompt}", response_model=dict[str, int])
            return Made.of(WAV, "audio/wav", metadata={"score": score.output})

    llm = with_backend(music=Composer, replies=['{"bars": 8}'])
    assert call(call_style, llm.music, "t2m", "a waltz").metadata == {"score": {"bars": 8}}
    chat, music = records()
    assert (chat.operation, chat.parent_id) == ("chat", music.trace_id)


def test_backend_asks_another_model_by_name(
    call_style: CallStyle, with_backend: WithBackend, monkeypatch: pytest.MonkeyPatch
):
    class Composer:
        def __init__(self, owner: Any) -> None:
            self.owner = owner

        async def t2m(self, prompt: str) -> Made:
            answers = [await self.owner.generate(prompt, model=model) for model in ("vendor/m", None)]
            return Made.of(WAV, "audio/wav", metadata={"answers": [answer.content for answer in answers]})

    create = create_llm
    monkeypatch.setattr(
        "abstractcore.client.factory.create_llm",
        lambda name, services: create("scripted", replies=[name], services=services),
    )
    llm = with_backend(music=Composer, replies=["mine"])
    assert call(call_style, llm.music, "t2m", "a waltz").metadata == {"answers": ["vendor/m", "mine"]}


def test_sync_backend_asks_the_model(call_style: CallStyle, with_backend: WithBackend):
    class Composer:
        def __init__(self, owner: Any) -> None:
            self.owner = owner

        def t2m(self, prompt: str) -> Made:
            return Made.of(WAV, "audio/wav", metadata={"score": self.owner.llm.generate(prompt).content})

    llm = with_backend(music=Composer, replies=["la la"])
    assert call(call_style, llm.music, "t2m", "a waltz").metadata == {"score": "la la"}


class Echo(Beeper):
    """Speaks pieces of text as they arrive."""

    streams_text = True

    async def tts_stream(self, text: AsyncIterator[str]) -> AsyncIterator[Made]:  # pyright: ignore[reportIncompatibleMethodOverride]
        async for piece in text:
            yield Made.of(piece.encode(), "audio/pcm", transcript=piece)
        yield Made((), warnings=[CallWarning("unsupported_option", "voice", "there is one voice")])


def test_speech_of_a_text_that_is_being_written(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Echo)
    asked: list[str] = []

    def words() -> Iterator[str]:
        for word in ("one", "two"):
            asked.append(word)
            yield word

    parts, result = spoken(call_style, llm.voice, words())
    assert [part.transcript for part in parts] == ["one", "two"]
    assert [each.path for each in result.warnings] == ["voice"]
    whole, _ = spoken(call_style, llm.voice, "all at once")
    assert [part.transcript for part in whole] == ["all at once"]


def test_answer_is_spoken_while_it_is_written(with_backend: WithBackend):
    llm = with_backend(voice=Echo, replies=["Hello there", "Hello there"])
    with llm.stream("Hi") as stream:
        parts = [*llm.voice.tts_stream(stream.text())]
    assert "".join(part.transcript or "" for part in parts) == "Hello there"

    async def main() -> str:
        async with llm.astream("Hi") as stream, llm.voice.atts_stream(stream.text()) as speech:
            return "".join([part.transcript or "" async for part in speech])

    assert asyncio.run(main()) == "Hello there"


def test_pieces_are_joined_for_a_backend_of_whole_texts(call_style: CallStyle, with_backend: WithBackend):
    parts, _ = spoken(call_style, with_backend(voice=Beeper).voice, ["one t", "wo"])
    assert [part.transcript for part in parts] == ["one", "two"]
