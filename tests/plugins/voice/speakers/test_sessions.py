"""The models of voices at the end of the program, in forked processes, and in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from abstractcore import LLM, MediaError, RequestTimeoutError, Services, create_llm
from abstractcore.concurrency.process_pool import ProcessPool
from abstractcore.stores.models import FileModelStore
from abstractcore.testing.sync_and_async import AsyncCalls, CallStyle, SyncCalls
from abstractvoice.speakers.sessions import PerProcessCache
from abstractvoice.speakers.voices import families
from tests.backend_doubles import call

pytestmark = [pytest.mark.process, pytest.mark.weights]

HOUR = """
import sys, threading
from pathlib import Path
import numpy as np
from abstractvoice.speakers.sessions import UnisolatedSession

session, begun = UnisolatedSession(Path(sys.argv[1]), 1), threading.Event()
model = session._model

class Announced:
    def run(self, *given):
        begun.set()
        return model.run(*given)

session._model = Announced()

inputs = {
    "input": np.full((1, 20_000), 3, dtype=np.int64),
    "input_lengths": np.array([20_000], dtype=np.int64),
    "scales": np.array([0, 1, 0], dtype=np.float32),
}
threading.excepthook = lambda failed: print(failed.exc_value, flush=True)
threading.Thread(target=session.run, args=(inputs,), daemon=True).start()
assert begun.wait(60)
"""


def test_end_of_the_program_ends_speech_that_is_made(voice_models: FileModelStore) -> None:
    family = families()["piper"]
    folder: Path = voice_models.path(family["model"])
    ended = subprocess.run([sys.executable, "-c", HOUR, str(folder / family["file"])], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "speech was not processed, since the program ends" in ended.stdout


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPool]:
    """The processes of isolated voices: one that a test has left with its model loaded is the next one's."""
    pool = ProcessPool()
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def isolated(voice_models: FileModelStore, pool: ProcessPool) -> Iterator[LLM]:
    """An LLM whose voice runs in a process of its own."""
    options: dict[str, Any] = {"voice_variation": 0, "voice_isolated": True}
    services = Services(models=voice_models, isolation=pool)
    yield create_llm("scripted", replies=["Hello."], services=services, **options)
    services.close()


def segmentation_fault(*_: object) -> Generator[bytes]:
    os.kill(os.getpid(), signal.SIGSEGV)
    yield b""


def killed(*_: object) -> Generator[bytes]:
    os.kill(os.getpid(), signal.SIGKILL)
    yield b""


def leaving(*_: object) -> Generator[bytes]:
    os._exit(3)
    yield b""


def test_isolated_voice_says_the_same(isolated: LLM, speaking: LLM, pool: ProcessPool, call_style: CallStyle) -> None:
    there = call(call_style, isolated.voice, "tts", "Hello there. It costs $5.")
    assert len(pool.process_ids) == 1
    here = speaking.voice.tts("Hello there. It costs $5.")
    assert there.part.transcript == here.part.transcript
    assert there.metadata["said"] == here.metadata["said"]
    with isolated.voice.tts_stream("Hello there. How are you?") as stream:
        assert [part.transcript for part in stream] == ["Hello there.", "How are you?"]


@pytest.mark.parametrize(
    ("call_style", "crash"),
    [(SyncCalls, segmentation_fault), (AsyncCalls, killed), (SyncCalls, leaving)],
    indirect=["call_style"],
)
def test_crash_of_an_isolated_voice_is_an_error_and_the_next_call_speaks(
    isolated: LLM, monkeypatch: pytest.MonkeyPatch, call_style: CallStyle, crash: Callable[..., object]
) -> None:
    with monkeypatch.context() as crashing:
        crashing.setattr("abstractvoice.speakers.sessions.sound_of", crash)
        with pytest.raises(MediaError, match="has crashed, or did not answer") as failed:
            call(call_style, isolated.voice, "tts", "Hello there.")
    assert failed.value.hint == "Try again: the next call starts another process."
    assert isolated.voice.tts("Hello there.").part.transcript == "Hello there."


def test_speech_goes_on_in_another_process_when_one_is_killed_between_sentences(
    isolated: LLM, pool: ProcessPool
) -> None:
    with isolated.voice.tts_stream("Hello there. How are you? I am well.") as stream:
        assert next(stream).transcript == "Hello there."
        (process,) = pool.process_ids
        os.kill(process, signal.SIGKILL)
        assert [part.transcript for part in stream] == ["How are you?", "I am well."]
    assert process not in pool.process_ids


def test_isolated_voice_that_hangs_ends_at_the_time_limit(
    isolated: LLM, pool: ProcessPool, call_style: CallStyle
) -> None:
    isolated.voice.tts("Hello.")
    (process,) = pool.process_ids
    os.kill(process, signal.SIGSTOP)
    with pytest.raises(RequestTimeoutError):
        call(call_style, isolated.voice, "tts", "Hello there.", timeout=0.5)
    assert isolated.voice.tts("Hello there.").part.transcript == "Hello there."
    assert process not in pool.process_ids


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_process_makes_its_own_models() -> None:
    once = PerProcessCache()
    begun, end = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        end.wait(60)
        return "the parent's"

    def in_child(results: Any) -> None:
        results.put(once.get("a", lambda: "the child's"))

    thread = threading.Thread(target=once.get, args=("a", slow))
    thread.start()
    assert begun.wait(60)
    fork: Any = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()
    child = fork.Process(target=in_child, args=(results,))
    child.start()
    assert results.get() == "the child's"
    child.join()
    end.set()
    thread.join()
    assert once.get("a", str) == "the parent's"
