"""Conversions are kept by content and settings: the same file is not converted again."""

from __future__ import annotations

import multiprocessing
import os
import stat
import threading
from pathlib import Path

import pytest

from abstractcore import Blob, CallWarning, File, ImagePart, MediaAnchor, MediaLoss, Services, Usage, create_llm
from abstractcore.ports import Conversion, Fallback, Fitted
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

    def fit(self, part, limits) -> Fitted:
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


def _put_and_get(folder: Path) -> int:
    store = FileConversions(folder, 30_000)
    found = 0
    for number in range(200):
        store.put(f"{number % 40:064}", EVERYTHING)
        kept = store.get(f"{(number * 7) % 40:064}")
        assert kept is None or kept.parts == EVERYTHING.parts
        found += kept is not None
    return found


def test_processes_share_a_folder(tmp_path: Path):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = pool.map(_put_and_get, [tmp_path] * 3)
    assert all(found)
    assert not list(tmp_path.glob("??/tmp*"))
