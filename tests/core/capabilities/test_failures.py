"""Backends that fail, hang or return nonsense, and callers that cancel."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from abstractcore import (
    BackendError,
    Blob,
    CapabilityUnavailableError,
    ConfigurationError,
    ContentFilterError,
    ImagePart,
    InvalidInputError,
    MediaError,
    ModelReply,
    PluginError,
    RequestTimeoutError,
    Services,
    StreamInterruptedError,
    UnknownOptionError,
    UnsupportedOptionError,
)
from abstractcore.ports import Made
from abstractcore.testing import CallStyle
from tests.backend_doubles import PNG, WAV, Beeper, Painter, Records, WithBackend, call, spoken

HANG_SECONDS = 60.0
THREADS = 4


class Backend:
    """A backend whose methods are given as attributes."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner


def backend(**methods: Any) -> type[Backend]:
    return type("Backend", (Backend,), methods)


def raising(error: Exception) -> Any:
    def tts(self: Any, text: str) -> Made:
        raise error

    return tts


def araising(error: Exception) -> Any:
    async def tts(self: Any, text: str) -> Made:
        raise error

    return tts


@pytest.mark.parametrize("make", [raising, araising])
def test_exception_of_a_backend_is_a_typed_error(
    call_style: CallStyle, with_backend: WithBackend, records: Records, make: Any
):
    llm = with_backend(voice=backend(tts=make(KeyError("voice"))))
    with pytest.raises(BackendError, match="tts failed: KeyError: 'voice'") as caught:
        call(call_style, llm.voice, "tts", "Hello")
    assert (caught.value.provider, type(caught.value.__cause__)) == ("tests:voice", KeyError)
    (record,) = records()
    assert (record.outcome, record.error and record.error.type) == ("failed", "BackendError")
    assert [each.error for each in record.attempts] == ["BackendError"]


def test_timeout_error_of_a_backend_is_not_that_of_the_call(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=backend(tts=raising(TimeoutError("of a socket"))))
    with pytest.raises(BackendError, match="TimeoutError: of a socket"):
        call(call_style, llm.voice, "tts", "Hello")


def test_typed_error_of_a_backend_is_raised_as_it_is(call_style: CallStyle, with_backend: WithBackend):
    partial = ModelReply((ImagePart(Blob.from_bytes(PNG, "image/png")),), "content_filter")

    async def t2i(self: Any, prompt: str) -> Made:
        raise ContentFilterError("one of two images was blocked", partial=partial)

    llm = with_backend(vision=backend(t2i=t2i))
    with pytest.raises(ContentFilterError) as caught:
        call(call_style, llm.vision, "t2i", "a house")
    assert caught.value.partial is not None
    assert len(caught.value.partial.parts) == 1


def test_sync_backend_that_hangs_is_abandoned_at_the_time_limit(call_style: CallStyle, with_backend: WithBackend):
    go_on = threading.Event()

    def tts(self: Any, text: str) -> Made:
        go_on.wait(HANG_SECONDS)
        return Made.of(WAV, "audio/wav")

    llm = with_backend(voice=backend(tts=tts))
    began = time.monotonic()
    with pytest.raises(RequestTimeoutError, match=r"timed out after 0\.1 s"):
        call(call_style, llm.voice, "tts", "Hello", timeout=0.1)
    assert time.monotonic() - began < HANG_SECONDS / 2
    go_on.set()


def test_async_backend_that_hangs_ends_at_the_time_limit(call_style: CallStyle, with_backend: WithBackend):
    async def tts(self: Any, text: str) -> Made:
        await self.owner.runtime.sleep(HANG_SECONDS)
        raise AssertionError("not reached")

    llm = with_backend(voice=backend(tts=tts))
    with pytest.raises(RequestTimeoutError, match=r"timed out after 0\.1 s"):
        call(call_style, llm.voice, "tts", "Hello", timeout=0.1)


def test_stream_that_hangs_ends_at_the_time_limit(call_style: CallStyle, with_backend: WithBackend):
    go_on = threading.Event()

    def tts_stream(self: Any, text: str) -> Iterator[bytes]:
        yield WAV
        go_on.wait(HANG_SECONDS)

    llm = with_backend(voice=backend(tts_stream=tts_stream))
    with pytest.raises(RequestTimeoutError, match=r"timed out after 0\.2 s"):
        spoken(call_style, llm.voice, "Hello", timeout=0.2)
    go_on.set()


def test_cancelled_call_ends_the_backend(with_backend: WithBackend, records: Records):
    ended: list[str] = []

    async def tts(self: Any, text: str) -> Made:
        began.set()
        try:
            await self.owner.runtime.sleep(HANG_SECONDS)
        finally:
            ended.append("cancelled")
        raise AssertionError("not reached")

    llm = with_backend(voice=backend(tts=tts))

    async def main() -> None:
        task = asyncio.create_task(llm.voice.atts("Hello"))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = asyncio.Event()
    asyncio.run(main())
    assert ended == ["cancelled"]
    assert [each.outcome for each in records()] == ["cancelled"]


def test_stream_that_is_left_closes_its_generator(call_style: CallStyle, with_backend: WithBackend, records: Records):
    ended = threading.Event()

    async def tts_stream(self: Any, text: str) -> AsyncIterator[bytes]:
        try:
            while True:
                yield WAV
        finally:
            ended.set()

    llm = with_backend(voice=backend(tts_stream=tts_stream))
    if call_style.name == "sync":
        with llm.voice.tts_stream("Hello") as stream:
            next(stream)
    else:

        async def read() -> None:
            async with llm.voice.atts_stream("Hello") as stream:
                await anext(stream)

        call_style.run(read())
    assert ended.is_set()
    assert [each.outcome for each in records()] == ["abandoned"]


def test_sync_generator_ends_in_the_thread_in_which_it_began(call_style: CallStyle, with_backend: WithBackend):
    """It may hold a lock, which only that thread can release."""
    lock, ended = threading.RLock(), threading.Event()

    def tts_stream(self: Any, text: str) -> Iterator[Made]:
        try:
            with lock:
                for word in text.split():
                    yield Made.of(word.encode(), "audio/pcm")
        finally:
            ended.set()

    llm = with_backend(voice=backend(tts_stream=tts_stream))
    parts, _ = spoken(call_style, llm.voice, "one two three")
    assert len(parts) == 3
    assert ended.is_set()
    assert lock.acquire(blocking=False)
    lock.release()


def test_stream_read_in_one_thread_is_closed_by_another(with_backend: WithBackend):
    waiting = threading.Event()

    def tts_stream(self: Any, text: str) -> Iterator[bytes]:
        yield WAV
        waiting.set()
        go_on.wait(HANG_SECONDS)

    go_on = threading.Event()
    llm = with_backend(voice=backend(tts_stream=tts_stream))
    stream = llm.voice.tts_stream("Hello")
    next(stream)

    def close() -> None:
        waiting.wait(HANG_SECONDS)
        stream.close()

    closer = threading.Thread(target=close)
    closer.start()
    with pytest.raises(StreamInterruptedError):
        next(stream)
    closer.join()
    go_on.set()


def test_failure_in_the_middle_of_a_stream_is_raised(call_style: CallStyle, with_backend: WithBackend):
    def tts_stream(self: Any, text: str) -> Iterator[bytes]:
        yield WAV
        raise OSError("the device is gone")

    llm = with_backend(voice=backend(tts_stream=tts_stream))
    with pytest.raises(BackendError, match="OSError: the device is gone"):
        spoken(call_style, llm.voice, "Hello")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "returns a NoneType: expected bytes, a part, or several"),
        (b"", "returns an empty file"),
        ([], "returns nothing"),
        ({"text": "hi"}, "returns a mapping without content"),
        ("hello.wav", "returns a str: expected bytes"),
        (PNG, "returns ImagePart: expected AudioPart"),
    ],
)
def test_invalid_result_names_the_backend(call_style: CallStyle, with_backend: WithBackend, value: Any, message: str):
    def tts(self: Any, text: str) -> Any:
        return value

    llm = with_backend(voice=backend(tts=tts))
    with pytest.raises(PluginError, match=message):
        call(call_style, llm.voice, "tts", "Hello")


@pytest.mark.parametrize(("text", "message"), [("", "text: the text is empty"), (" \n", "empty"), (3, "got int")])
def test_text_without_words_is_refused(call_style: CallStyle, with_backend: WithBackend, text: Any, message: str):
    llm = with_backend(voice=Beeper)
    for method in ("tts", "tts_stream"):
        with pytest.raises(InvalidInputError, match=message):
            spoken(call_style, llm.voice, text) if method == "tts_stream" else call(call_style, llm.voice, "tts", text)


def test_file_of_another_kind_is_refused(call_style: CallStyle, with_backend: WithBackend, records: Records):
    llm = with_backend(voice=Beeper, vision=Painter)
    with pytest.raises(InvalidInputError, match="audio: expected audio or video, got image/png"):
        call(call_style, llm.voice, "stt", PNG)
    with pytest.raises(InvalidInputError, match="mask: expected image, got audio/wav"):
        call(call_style, llm.vision, "i2i", "a house", PNG, mask=WAV)
    with pytest.raises(MediaError, match=r"nowhere\.wav does not exist"):
        call(call_style, llm.voice, "stt", "nowhere.wav")
    assert records() == []


def test_argument_that_the_backend_does_not_take_is_a_warning(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(vision=Painter)
    result = call(call_style, llm.vision, "t2i", "a house", seed=7)
    assert [(each.code, each.path, each.requested) for each in result.warnings] == [("unsupported_option", "seed", 7)]
    with pytest.raises(UnsupportedOptionError, match="t2i of the backend tests:vision does not take 'seed'"):
        call(call_style, llm.vision, "t2i", "a house", seed=7, strict=True)
    assert call(call_style, llm.vision, "t2i", "a house", steps=2, strict=True).warnings == ()


def test_unknown_argument_suggests_similar_ones(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(vision=Painter)
    options: dict[str, Any] = {"step": 2}
    with pytest.raises(UnknownOptionError, match=r"no argument 'step'\. Did you mean steps\?"):
        call(call_style, llm.vision, "t2i", "a house", **options)


def test_backend_without_the_method_is_passed_over(
    call_style: CallStyle, with_backend: WithBackend, services: Services
):
    def stt(self: Any, audio: bytes) -> str:
        return "heard"

    llm = with_backend(voice=backend(stt=stt))
    with pytest.raises(CapabilityUnavailableError, match=r"llm\.voice\.tts: no backend can do this"):
        call(call_style, llm.voice, "tts", "Hello")

    def register(registry: Any) -> None:
        registry.register_voice_backend(backend_id="other", factory=Beeper, priority=-1)

    services.registry.add_backends(register)
    assert call(call_style, llm.voice, "tts", "Hello").backend == "other"
    assert call(call_style, llm.voice, "stt", WAV).backend == "tests:voice"


def test_factory_that_fails_names_the_backend(call_style: CallStyle, with_backend: WithBackend):
    def factory(owner: Any) -> Any:
        raise ZeroDivisionError

    llm = with_backend(voice=factory, music=Beeper)
    with pytest.raises(PluginError, match="the backend 'tests:voice' failed: ZeroDivisionError"):
        call(call_style, llm.voice, "tts", "Hello")
    with pytest.raises(PluginError, match="the backend 'tests:music' has none of the methods t2m"):
        call(call_style, llm.music, "t2m", "a waltz")


@pytest.mark.parametrize("made", [None, "a voice", 3, object(), type("Backend", (), {"tts": "no function"})()])
def test_factory_that_returns_no_backend_names_it(call_style: CallStyle, with_backend: WithBackend, made: object):
    def factory(owner: Any) -> object:
        return made

    llm = with_backend(voice=factory)
    for method in ("tts", "list_voices"):
        with pytest.raises(PluginError, match="the backend 'tests:voice' has none of the methods tts, "):
            call(call_style, llm.voice, method, *["Hello"][: method == "tts"])


def test_factory_is_called_anew_after_a_failure(call_style: CallStyle, with_backend: WithBackend):
    failures: list[Exception] = [OSError("the device is busy"), MemoryError(), RecursionError("too deep")]

    def factory(owner: Any) -> Beeper:
        if failures:
            raise failures.pop(0)
        return Beeper(owner)

    llm = with_backend(voice=factory)
    for message in ("OSError: the device is busy", "MemoryError", "RecursionError: too deep"):
        with pytest.raises(PluginError, match=f"the backend 'tests:voice' failed: {message}"):
            call(call_style, llm.voice, "tts", "Hello")
    assert call(call_style, llm.voice, "tts", "Hello").model == "beep-1"


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_forked_process_makes_a_backend_while_a_thread_of_its_parent_does(with_backend: WithBackend):
    parent, began, go_on = os.getpid(), threading.Event(), threading.Event()

    def factory(owner: Any) -> Beeper:
        if os.getpid() == parent:
            began.set()
            go_on.wait(HANG_SECONDS)
        return Beeper(owner)

    llm = with_backend(voice=factory)
    making = threading.Thread(target=lambda: llm.voice.tts("Hello"))
    making.start()
    assert began.wait(HANG_SECONDS)
    child = os.fork()
    if child == 0:
        signal.alarm(int(HANG_SECONDS))  # ends a child that hangs
        try:
            llm.voice.backend("tts")
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    go_on.set()
    making.join()
    assert status == 0


def test_backend_is_made_once_by_threads_that_use_it_at_once(with_backend: WithBackend):
    made: list[object] = []
    all_asked = threading.Barrier(THREADS)

    def factory(owner: Any) -> Any:
        made.append(owner)
        return Beeper(owner)

    llm = with_backend(voice=factory)

    def speak(_: int) -> object:
        all_asked.wait(60)
        return llm.voice.tts("Hello").part

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(speak, range(THREADS)))
    assert len(made) == 1


def test_key_in_the_error_of_a_factory_is_scrubbed(call_style: CallStyle, with_backend: WithBackend):
    def factory(owner: Any) -> Any:
        raise ConnectionError(f"refused for {owner.config['voice_api_key']}")

    llm = with_backend(voice=factory, voice_api_key="sk-987654321-secret")
    with pytest.raises(PluginError, match=r"ConnectionError: refused for \[scrubbed\]"):
        call(call_style, llm.voice, "tts", "Hello")


def test_attribute_that_cannot_be_read_names_the_backend(call_style: CallStyle, with_backend: WithBackend):
    class Broken(Beeper):
        @property
        def is_local(self) -> bool:
            raise ValueError("not yet")

        def __getattr__(self, name: str) -> Any:
            raise ValueError(f"no {name}")

    llm = with_backend(voice=Broken)
    for method, argument in (("tts", "Hello"), ("stt", WAV)):
        with pytest.raises(PluginError, match="the backend 'tests:voice' failed: ValueError: no"):
            call(call_style, llm.voice, method, argument)


def test_closed_llm_refuses_calls(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Beeper)
    voice = llm.voice
    llm.close()
    with pytest.raises(ConfigurationError, match="closed"):
        call(call_style, voice, "tts", "Hello")


def test_owner_is_for_calls_only(with_backend: WithBackend):
    owners: list[Any] = []

    def factory(owner: Any) -> Beeper:
        owners.append(owner)
        return Beeper(owner)

    llm = with_backend(voice=factory)
    llm.voice.tts("Hello")
    for name in ("runtime", "time_left"):
        with pytest.raises(ConfigurationError, match=f"owner.{name} is available in calls of a backend only"):
            getattr(owners[0], name)
