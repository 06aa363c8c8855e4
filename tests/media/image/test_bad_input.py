"""Hostile and broken images: refused with typed errors, in bounded time and memory."""

from __future__ import annotations

import io
import random
import struct
import sys
import tracemalloc
import zlib

import pytest
from PIL import Image

from abstractcore.errors import MediaError, StreamInterruptedError
from abstractcore.ports import Interruption
from abstractcore.schema import ImagePart
from abstractcore_media import ImageHandler
from tests.media.parts import FILES, blob

HANDLER = ImageHandler()
SMALLER = {"image_pixels": 100}


def part(content: bytes, media_type: str) -> ImagePart:
    return ImagePart(blob(content, media_type, "picture"))


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, data: bytes) -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def webp_chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


def gif(frames: int, size: tuple[int, int] = (2000, 2000)) -> bytes:
    """An animation that alternates between two pixels on a large canvas."""
    width, height = (struct.pack("<H", edge) for edge in size)
    begin = b"GIF89a" + width + height + b"\x80\0\0" + b"\0\0\0\xff\xff\xff"
    pixel = b"\x21\xf9\x04\0\x02\0\0\0" + b"\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02%b\x01\0"
    return begin + pixel % b"\x44" + (pixel % b"\x4c" + pixel % b"\x44") * (frames // 2) + b"\x3b"


def test_png_of_900_megapixels_is_refused_before_it_is_decoded():
    compressor = zlib.compressobj(9)
    begin = compressor.compress(b"") + compressor.flush(zlib.Z_FULL_FLUSH)
    rows = compressor.compress(bytes(30_001 * 100)) + compressor.flush(zlib.Z_FULL_FLUSH)
    data = begin + rows * 300
    bomb = png(30_000, 30_000, data)
    assert len(bomb) < 2_000_000
    tracemalloc.start()
    with pytest.raises(MediaError, match=r"30000 x 30000 pixels; at most 80,000,000 are decoded") as caught:
        HANDLER.fit(part(bomb, "image/png"), SMALLER)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
    assert "resize" in (caught.value.hint or "")
    assert HANDLER.measure(part(bomb, "image/png")).width == 30_000


def test_text_chunk_that_inflates_is_harmless():
    bomb = zlib.compress(bytes(60_000_000), 9)
    data = png(4, 4, zlib.compress(bytes(20)))
    at = data.index(b"IDAT") - 4
    content = data[:at] + chunk(b"zTXt", b"Comment\0\0" + bomb) + data[at:]
    tracemalloc.start()
    try:
        [sent] = HANDLER.fit(part(content, "image/png"), {}).parts
        assert sent.blob.size is not None
        assert sent.blob.size < 200
    except MediaError:
        pass  # it may also be refused
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000_000


def test_gif_of_ten_thousand_frames_is_sampled():
    content = part(gif(10_000), "image/gif")
    assert HANDLER.measure(content).frames == 10_001
    found = HANDLER.fit(content, SMALLER)
    assert len(found.parts) == 8
    [loss] = [loss for loss in found.lost if loss.what == "frames"]
    assert (loss.count, loss.total) == (9_993, 10_001)


def test_webp_of_ten_thousand_frames_is_sampled():
    file = io.BytesIO()
    Image.new("L", (16, 16), 99).save(file, "WEBP", lossless=True)
    picture = file.getvalue()[12:]
    size = (15).to_bytes(3, "little") * 2
    frame = webp_chunk(b"ANMF", bytes(6) + size + bytes(4) + picture)
    animation = webp_chunk(b"VP8X", b"\2\0\0\0" + size) + webp_chunk(b"ANIM", bytes(6)) + frame * 10_000
    content = part(webp_chunk(b"RIFF", b"WEBP" + animation), "image/webp")
    assert HANDLER.measure(content).frames == 10_000
    found = HANDLER.fit(content, {"images": 3})
    assert len(found.parts) == 3


@pytest.mark.parametrize(
    ("content", "media_type", "message"),
    [
        (b"", "image/png", "no image format"),
        (b"\x89PNG\r\n\x1a\n", "image/png", "truncated|corrupt"),
        (png(0, 10, b""), "image/png", "corrupt"),
        (png(10, 10, b"not zlib"), "image/png", "corrupt"),
        (b"\xff\xd8\xff\xe0", "image/jpeg", "corrupt|truncated"),
        (b"GIF89a\x10\0\x10\0\0\0\0", "image/gif", "corrupt|truncated"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp", "corrupt|truncated"),
        (b"II*\0\x08\0\0\0", "image/tiff", "corrupt|truncated"),
        (b"BM" + bytes(30), "image/bmp", "corrupt|truncated"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "image/png", "no image format"),
    ],
)
def test_broken_file_is_a_media_error(content: bytes, media_type: str, message: str):
    with pytest.raises(MediaError, match=message):
        HANDLER.fit(part(content, media_type), {"image_pixels": 5})


@pytest.mark.process
@pytest.mark.parametrize("file", ["small.png", "small.jpg", "small.webp", "small.avif", "turned.heic"])
def test_truncated_file_is_refused_when_it_is_decoded(file: str):
    data = (FILES / file).read_bytes()
    with pytest.raises(MediaError, match=r"truncated|corrupt"):
        HANDLER.fit(part(data[: len(data) * 2 // 3], "image/png"), {"image_pixels": 30})


def test_header_that_announces_more_pixels_than_the_file_has_is_refused():
    content = png(8000, 8000, zlib.compress(bytes(2000)))
    with pytest.raises(MediaError, match=r"truncated|corrupt"):
        HANDLER.fit(part(content, "image/png"), SMALLER)


@pytest.mark.process
def test_file_on_which_its_decoder_crashes_is_refused():
    """libheif 1.23 ends with a segmentation fault."""
    given = part((FILES / "crashes_libheif.heic").read_bytes(), "image/heic")
    for use in (HANDLER.measure, lambda given: HANDLER.fit(given, SMALLER)):
        with pytest.raises(MediaError, match="picture is a corrupt image"):
            use(given)


@pytest.mark.process
def test_cancelled_call_kills_the_process_of_a_heic():
    given, interruption = part((FILES / "turned.heic").read_bytes(), "image/heic"), Interruption()
    interruption.set()
    with interruption.of_this_call(), pytest.raises(StreamInterruptedError):
        HANDLER.measure(given)


def test_frozen_program_does_not_start_itself_for_a_heic(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(MediaError, match=r"frozen program.*Save it as JPEG"):
        HANDLER.measure(part((FILES / "turned.heic").read_bytes(), "image/heic"))


@pytest.mark.process
def test_heic_with_too_many_pixels_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("abstractcore_media.image.opening.MAX_PIXELS", 5_000)
    given = part((FILES / "turned.heic").read_bytes(), "image/heic")
    with pytest.raises(MediaError, match="80 x 120 pixels; at most 5,000 are decoded"):
        HANDLER.fit(given, {})
    assert HANDLER.measure(given).height == 120


def test_tiff_whose_pages_form_a_circle_ends():
    entries = [(256, 3, 1, 2), (257, 3, 1, 2), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 200),
               (277, 3, 1, 1), (278, 3, 1, 2), (279, 4, 1, 4)]  # fmt: skip
    directory = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *each) for each in entries)
    content = (b"II*\0\x08\0\0\0" + directory + struct.pack("<I", 8)).ljust(200, b"\0") + b"\1\2\3\4"
    found = HANDLER.fit(part(content, "image/tiff"), {})
    assert len(found.parts) == 1


@pytest.mark.process
@pytest.mark.parametrize(
    "file", ["small.png", "small.jpg", "small.webp", "small.avif", "turned.heic", "animated.gif", "multipage.tif"]
)
def test_mutated_files_raise_nothing_but_media_errors(file: str):
    data = (FILES / file).read_bytes()
    random_ = random.Random(f"mutations of {file}")
    for _ in range(40 if file != "turned.heic" else 2):  # each of these starts processes
        content = bytearray(data)
        for _ in range(random_.randint(1, 12)):
            content[random_.randrange(len(content))] = random_.randrange(256)
        if random_.random() < 0.3:
            del content[random_.randrange(len(content)) :]
        for limits in ({}, {"image_pixels": 50, "image_bytes": 3000}):
            try:
                HANDLER.measure(part(bytes(content), "image/png"))
                found = HANDLER.fit(part(bytes(content), "image/png"), limits)
            except MediaError:
                continue
            assert found.parts
