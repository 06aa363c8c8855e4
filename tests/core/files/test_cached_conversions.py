"""Conversions are kept by content and settings: the same file is not converted again."""

from __future__ import annotations

import multiprocessing
import os
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Blob, CallWarning, File, ImagePart, MediaAnchor, MediaLoss, Services, Usage, create_llm
from abstractcore.errors import MediaError, StreamInterruptedError
from abstractcore.files.cached_conversions import RunningConversions, running_conversions
from abstractcore.ports import Conversion, Fallback, Fitted, Interruption
from abstractcore.stores.conversions import FileConversions, MemoryConversions
from tests.media_doubles import PICTURE, Handler, registry

CAPTION = Fallback("caption", frozenset({"text"}), needs="vision_model")
WORDS = Fallback("ocr", frozenset({"text"}))
CORES = min(os.cpu_count() or 1, 16)  # threads of sync calls


class Pictures(Handler):
    """Pictures that are described for a question by a vision model, or read."""

    count = 0

    def convert(self, part, context) -> Conversion:
        self.count += 1
        if context.fallbacks[0] == "caption":
            caption = context.caption([part], context.question)
            return Conversion(caption.text, "caption", caption.usage, model=caption.model)
        return Conversion("some words", "words", Usage(3, 4))


class Fitting(Pictures):
    """Pictures that fit as they are, measured by all cores at once."""

    def __init__(self) -> None:
        super().__init__("fitting", "image", b"PICTURE", "image/png", (WORDS,))
        self.at_once: list[int] = []
        self._running: list[object] = []
        self._all_cores = threading.Barrier(CORES)

    def fit(self, part, limits, accepted=frozenset()) -> Fitted:
        self._running.append(part)
        self.at_once.append(len(self._running))
        if len(self.at_once) <= self._all_cores.parties:
            self._all_cores.wait(60)
        self._running.pop()
        return Fitted((part,))


@pytest.fixture
def pictures() -> Pictures:
    return Pictures("pictures", "image", b"PICTURE", "image/png", (CAPTION, WORDS))


@pytest.fixture(params=["memory", "files"])
def services(request: pytest.FixtureRequest, pictures: Pictures, tmp_path: Path):
    store = MemoryConversions() if request.param == "memory" else FileConversions(tmp_path / "kept")
    services = Services(registry=registry(pictures), environment={}, conversions=store)
    yield services
    services.close()


def test_same_file_is_converted_once(call_style, services: Services, pictures: Pictures):
    llm = create_llm("scripted", replies=["a"] * 3, services=services)
    first = call_style.generate(llm, "What is it?", media=[PICTURE])
    again = call_style.generate(llm, "Who is it?", media=[PICTURE])
    assert pictures.count == 1
    assert [each.media[0].usage for each in (first, again)] == [Usage(3, 4), None]
    assert again.media[0].sent == first.media[0].sent
    call_style.generate(llm, "Who is it?", media=[b"PICTURE other"])
    assert pictures.count == 2


class Counting(MemoryConversions):
    """A store that counts how often it was asked."""

    def __init__(self, enough: int) -> None:
        super().__init__()
        self._left = threading.Semaphore(0)
        self._enough = enough

    def get(self, key: str) -> Conversion | None:
        found = super().get(key)
        self._left.release()
        return found

    def wait(self) -> None:
        """Waits until it was asked often enough."""
        for _ in range(self._enough):
            assert self._left.acquire(timeout=60)


@pytest.mark.parametrize("content", [PICTURE, b"PICTURE BROKEN"], ids=["read", "broken"])
def test_threads_that_ask_for_the_same_file_at_once_convert_it_once(content: bytes):
    store = Counting(6)

    class Slow(Pictures):
        def convert(self, part, context) -> Conversion:
            if not self.count:
                store.wait()
            conversion = super().convert(part, context)
            if b"BROKEN" in part.blob.read():
                raise MediaError("it is broken")
            return conversion

    slow = Slow("slow", "image", b"PICTURE", "image/png", (WORDS,))
    with closing(Services(registry=registry(slow), environment={}, conversions=store)) as services:
        llm = create_llm("scripted", replies=["a"] * 6, services=services)

        def ask(_: int) -> str | None:
            try:
                return llm.generate("What is it?", media=[content]).media[0].sent.text
            except MediaError as error:
                return error.message

        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(ask, range(6)))
    is_broken = content != PICTURE
    assert answers == ["it is broken" if is_broken else "some words"] * 6
    assert slow.count == (6 if is_broken else 1)


def test_threads_that_ask_for_the_same_image_at_once_fit_it_once():
    store = Counting(6)

    class Slow(Pictures):
        def fit(self, part, limits, accepted=frozenset()) -> Fitted:
            self.count += 1
            store.wait()
            return Fitted((part,))

    slow = Slow("slow", "image", b"PICTURE", "image/png", (WORDS,))
    with closing(Services(registry=registry(slow), environment={}, conversions=store)) as services:
        llm = create_llm("scripted", replies=["a"] * 6, accepts=["image"], services=services)
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda _: llm.generate("What is it?", media=[PICTURE]), range(6)))
    assert slow.count == 1


def test_wait_for_the_same_conversion_ends_at_its_time_and_when_it_is_interrupted():
    running, interruption = RunningConversions(), Interruption()
    begun, interrupted = threading.Event(), threading.Event()

    def wait() -> None:
        with pytest.raises(StreamInterruptedError), interruption.of_this_call():
            begun.set()
            with running.turn("a", None):
                raise AssertionError("it began")
        interrupted.set()

    with running.turn("a", None) as first, running.turn("b", None) as other:
        with running.turn("a", 0.01) as second:
            assert (first, other, second) == (False, False, True)
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert begun.wait(60)
        assert not interrupted.is_set()  # the end of the second did not free what the first holds
        interruption.set()
        assert interrupted.wait(60)
        waiting.join()
    with running.turn("a", None) as last:
        assert not last


def test_nobody_waits_for_an_interrupted_conversion():
    running, interruption = RunningConversions(), Interruption()
    begun, end = threading.Event(), threading.Event()

    def hang() -> None:
        with interruption.of_this_call(), running.turn("a", None):
            begun.set()
            end.wait(60)

    hanging = threading.Thread(target=hang)
    hanging.start()
    assert begun.wait(60)
    interruption.set()
    with running.turn("a", None) as waited:
        assert not waited
        end.set()
        hanging.join()
        with running.turn("a", 0.01) as other:
            assert other  # the end of the first did not free what is another's now


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_process_waits_for_no_thread_of_its_parent():
    def in_child(results) -> None:
        with running_conversions().turn("a", 60) as waited:
            results.put(waited)

    fork: Any = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()
    with running_conversions().turn("a", None):
        child = fork.Process(target=in_child, args=(results,))
        child.start()
        assert results.get() is False
        child.join()


def test_files_that_fit_as_they_are_are_fitted_once_and_on_each_core_at_once(call_style, services: Services):
    handler = Fitting()
    services.registry.add_media_handler(handler)
    llm = create_llm("scripted", replies=["a"] * 2, accepts=["image"], services=services)
    media = [b"PICTURE %d" % number for number in range(4 * CORES)]
    for _ in range(2):
        call_style.generate(llm, "What is it?", media=media)
    assert len(handler.at_once) == len(media)
    assert CORES <= max(handler.at_once) <= (os.cpu_count() or 1)
    assert [part.blob.data for part in llm.calls[1].messages[0].parts[:-1]] == media


def test_caption_is_kept_for_its_question(call_style, services: Services, pictures: Pictures):
    eye = create_llm("scripted", replies=["a barn", "a cow"], accepts=["image"], services=services)
    llm = create_llm("scripted", replies=["a"] * 3, vision_model=eye, services=services)
    for question in ("What is it?", "What is it?", "Who is it?"):
        call_style.generate(llm, question, media=[PICTURE])
    assert [call.messages[-1].text for call in eye.calls] == ["What is it?", "Who is it?"]
    assert "a barn" in llm.calls[1].messages[-1].text
    assert "a cow" in llm.calls[2].messages[-1].text


@pytest.mark.parametrize(
    "changed",
    [
        {"media": [File(PICTURE, name="other.png")]},
        {"media": [File(PICTURE, password="correct horse")]},
        {"media_policy": {"image": "ocr"}, "transcription_model": "other"},
    ],
    ids=["name", "password", "options"],
)
def test_other_settings_are_another_conversion(services: Services, pictures: Pictures, changed: dict):
    options = {"transcription_model": changed.pop("transcription_model", None)}
    create_llm("scripted", replies=["a"], services=services).generate("hi", media=[PICTURE])
    llm = create_llm("scripted", replies=["a"], services=services, **options)
    llm.generate("hi", **{"media": [PICTURE], **changed})
    assert pictures.count == 2


EVERYTHING = Conversion(
    ["[page 1]", ImagePart(Blob.from_bytes(b"x", "image/png")), "end"],
    "1 page image",
    Usage(1, 2),
    (CallWarning("guessed", "", "a guess", 1.5),),
    (MediaAnchor(0, 8, 1, (0.0, 0.1, 0.2, 0.3)),),
    "pages",
    "eye",
    (MediaLoss("pages", 1, 2, ("page 2",)),),
)


@pytest.mark.parametrize("conversion", [EVERYTHING, Conversion("text", "text")], ids=["parts", "text"])
def test_conversion_survives_a_file(tmp_path: Path, conversion: Conversion):
    FileConversions(tmp_path).put("ab" * 32, conversion)
    kept = FileConversions(tmp_path).get("ab" * 32)
    assert kept is not None
    assert (kept.parts, kept.label, kept.usage, kept.warnings) == (
        conversion.parts, conversion.label, conversion.usage, conversion.warnings,
    )  # fmt: skip
    assert (kept.anchors, kept.fallback, kept.model, kept.lost) == (
        conversion.anchors, conversion.fallback, conversion.model, conversion.lost,
    )  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="has permissions of POSIX")
def test_files_are_readable_by_the_user_only(tmp_path: Path):
    FileConversions(tmp_path / "kept").put("ab" * 32, EVERYTHING)
    (file,) = (tmp_path / "kept").glob("??/*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_least_recently_used_are_dropped(tmp_path: Path):
    text = Conversion("x" * 1000, "text")
    for store in (MemoryConversions(20_000), FileConversions(tmp_path, 6_000)):
        for number in range(20):
            store.put(f"{number:064}", text)
            if number == 1:
                os.utime(tmp_path / "00" / f"{1:064}.json", (1, 1)) if isinstance(store, FileConversions) else None
            else:
                store.get(f"{0:064}")
        kept = [number for number in range(20) if store.get(f"{number:064}") is not None]
        assert 1 not in kept
        assert 19 in kept
        assert 2 <= len(kept) <= 6


def test_conversion_larger_than_the_store_is_not_kept(tmp_path: Path):
    for store in (MemoryConversions(2_000), FileConversions(tmp_path, 500)):
        store.put("ab" * 32, Conversion("x" * 1000, "text"))
        assert store.get("ab" * 32) is None


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"content": 3}', b"[" * 100_000])
def test_damaged_file_is_deleted(tmp_path: Path, data: bytes, caplog):
    store = FileConversions(tmp_path)
    store.put("ab" * 32, EVERYTHING)
    (file,) = tmp_path.glob("??/*.json")
    file.write_bytes(data)
    assert store.get("ab" * 32) is None
    assert not file.exists()
    assert "is not a conversion" in caplog.text


def test_folder_that_cannot_be_written_is_no_error(tmp_path: Path, caplog):
    (tmp_path / "file").write_bytes(b"")
    store = FileConversions(tmp_path / "file")
    store.put("ab" * 32, EVERYTHING)
    assert store.get("ab" * 32) is None
    assert "cannot be kept" in caplog.text


def test_file_of_another_user_is_used(tmp_path: Path, caplog, monkeypatch: pytest.MonkeyPatch):
    def refuse(path: Path) -> None:
        raise PermissionError(1, "Operation not permitted", path)

    FileConversions(tmp_path).put("ab" * 32, EVERYTHING)
    monkeypatch.setattr(os, "utime", refuse)
    assert FileConversions(tmp_path).get("ab" * 32) is not None
    assert not caplog.records


FULL_DISK = """
import logging, resource, sys
from pathlib import Path
from abstractcore.ports import Conversion
from abstractcore.stores.conversions import FileConversions

logging.basicConfig(stream=sys.stdout)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
store = FileConversions(sys.argv[1])
store.put("ab" * 32, Conversion("a" * 20_000, "text"))
print(store.get("ab" * 32), [str(path) for path in Path(sys.argv[1]).glob("*/*")])
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of the size of files")
def test_disk_that_takes_no_more_is_no_error_and_leaves_nothing(tmp_path: Path):
    ran = subprocess.run([sys.executable, "-c", FULL_DISK, str(tmp_path)], check=True, capture_output=True, text=True)
    assert "a conversion cannot be kept: " in ran.stdout
    assert ran.stdout.endswith("\nNone []\n")


def _put_and_get(folder: Path) -> int:
    store = FileConversions(folder, 30_000)
    found = 0
    for number in range(200):
        store.put(f"{number % 40:064}", EVERYTHING)
        kept = store.get(f"{(number * 7) % 40:064}")
        assert kept is None or kept.parts == EVERYTHING.parts
        found += kept is not None
    return found


@pytest.mark.process
def test_processes_share_a_folder(tmp_path: Path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = pool.map(_put_and_get, [tmp_path] * 3)
    assert all(found)
    assert not list(tmp_path.glob("??/tmp*"))
