"""All handlers are asked about a file, and its type is detected once."""

from __future__ import annotations

import pytest

from abstractcore import DocumentPart, ImagePart
from abstractcore.files.loading import MediaLoader
from abstractcore.registry import Registry
from abstractcore.schema import Blob
from abstractcore.transport import URLFetcher
from abstractcore_media import ImageHandler, register_media_handlers
from abstractcore_media.common import sniffing
from tests.media.parts import FILES, takes, type_of


def loaded(items, handlers):
    return MediaLoader(handlers, URLFetcher(), {}.__setitem__).load(items)


def test_content_is_sniffed_once_for_all_handlers(monkeypatch: pytest.MonkeyPatch, tmp_path):
    looked: list[bytes] = []
    real = sniffing.media_type_of
    monkeypatch.setattr(sniffing, "media_type_of", lambda head, name: looked.append(head) or real(head, name))
    path = tmp_path / "sound"
    path.write_bytes((FILES / "speech.flac").read_bytes() + b"of this test")
    handlers = Registry.from_entry_points().media_handlers
    (part,) = loaded([path], handlers)
    assert (part.type, part.blob.media_type) == ("audio", "audio/flac")
    assert len(looked) == 1


def test_files_with_other_content_are_sniffed_again():
    handlers = register_media_handlers()
    files = ["small.png", "small.jpg", "speech.flac", "two_pages.pdf", "clip.mp4", "small.png"]
    found = [
        next(filter(None, (type_of(handler, (FILES / file).read_bytes()[:8192], "") for handler in handlers)))
        for file in files
    ]
    assert found == ["image/png", "image/jpeg", "audio/flac", "application/pdf", "video/mp4", "image/png"]


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a"])
def test_same_content_under_two_names_is_sniffed_twice(name: str):
    (text,) = (handler for handler in register_media_handlers() if handler.name == "text")
    expected = {"a.txt": "text/plain", "a.csv": "text/csv", "a": "text/plain"}
    assert type_of(text, b"1,2", name) == expected[name]


def test_declared_svg_is_text():
    svg = Blob.from_bytes(b"<svg/>", "image/svg+xml")
    (part,) = loaded([svg], Registry.from_entry_points().media_handlers)
    assert part == DocumentPart(svg)
    assert not takes(ImageHandler(), ImagePart(svg))
