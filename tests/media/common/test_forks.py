"""A process that is forked while another thread reads text or loads a model: it has the lock, and not the thread."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from abstractcore_media.audio.speech_models import SpeechModels
from abstractcore_media.common.processes import PerProcess
from abstractcore_media.document.pdf import pdfium
from abstractcore_media.image.ocr import shared_reader

SPEECH = SpeechModels()
pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork"), pytest.mark.process]


def forked(work: Callable[[], Any]) -> int:
    """Returns the exit code of a forked process that does some work; -SIGALRM if it never ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork of a process with threads, from Python 3.12 on
        child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(20)
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def held(lock: Any) -> Callable[[], None]:
    """Holds a lock in another thread; returns a function that releases it."""
    is_held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            is_held.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()

    def end() -> None:
        release.set()
        thread.join()

    return end


def test_each_process_makes_its_own_value():
    of_process: PerProcess[list[int]] = PerProcess(list)
    of_process.get().append(1)

    def check() -> None:
        assert of_process.get() == []

    assert of_process.get() is of_process.get()
    assert forked(check) == 0
    assert of_process.get() == [1]


def lock_of_reader() -> Any:
    return shared_reader()._lock


def lock_of_speech_models() -> Any:
    return SPEECH._loaded.get().lock


@pytest.mark.parametrize("lock", [lock_of_reader, lock_of_speech_models, pdfium.PDFIUM.get])
def test_lock_that_a_thread_held_is_free_in_a_forked_process(lock: Callable[[], Any]):
    def check() -> None:
        with lock():
            pass

    end = held(lock())
    try:
        assert forked(check) == 0
    finally:
        end()
