"""Open files, Pillow images and data URLs in `media`."""

from __future__ import annotations

import array
import base64
import io
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import PIL.Image
import PIL.ImageDraw
import pytest

from abstractcore import AudioPart, DocumentPart, ImagePart, InvalidInputError, MediaError, Services, create_llm
from tests.media_doubles import PICTURE, SOUND, TEXT, registry


@pytest.fixture
def llm():
    """A model that takes pictures and sound, with handlers that know PICTURE, SOUND and TEXT."""
    services = Services(registry=registry(), environment={})
    yield create_llm("scripted", replies=["a"] * 9, accepts=["image", "audio"], services=services)
    services.close()


def loaded(llm: Any, item: Any) -> Any:
    return llm.build("hi", media=[item]).messages[0].parts[0]


# Open files


def opened(path: Path) -> dict[str, Callable[[], Any]]:
    """Ways to open a file, each without a name of its own but the first three."""
    content = path.read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inside/p.png", content)
    return {
        "file": lambda: open(path, "rb"),
        "unbuffered": lambda: open(path, "rb", buffering=0),
        "zip": lambda: zipfile.ZipFile(packed).open("inside/p.png"),
        "bytes": lambda: io.BytesIO(content),
        "descriptor": lambda: os.fdopen(os.open(path, os.O_RDONLY), "rb"),
        "temporary": lambda: spooled(content),
    }


def spooled(content: bytes) -> Any:
    file = tempfile.SpooledTemporaryFile(max_size=1 << 20)  # noqa: SIM115
    file.write(content)
    file.seek(0)
    return file


@pytest.mark.parametrize("way", ["file", "unbuffered", "zip", "bytes", "descriptor", "temporary"])
def test_open_file_is_read_and_its_position_restored(llm, tmp_path, way):
    (tmp_path / "p.png").write_bytes(PICTURE)
    with opened(tmp_path / "p.png")[way]() as file:
        for _ in range(2):
            part = loaded(llm, file)
            assert type(part) is ImagePart
            assert (part.blob.data, part.blob.media_type) == (PICTURE, "image/png")
            assert part.blob.name == ("p.png" if way in ("file", "unbuffered", "zip") else None)


def test_sync_and_async_calls_send_an_open_file(call_style, llm):
    assert call_style.generate(llm, "hi", media=[io.BytesIO(SOUND)]).content == "a"
    assert type(llm.calls[0].messages[0].parts[0]) is AudioPart


def test_file_in_text_mode_is_text(llm, tmp_path):
    (tmp_path / "t.txt").write_text("TEXT für alle", encoding="utf-8")
    with open(tmp_path / "t.txt", encoding="utf-8") as file:
        for item in (file, io.StringIO("TEXT für alle")):
            part = loaded(llm, item)
            assert type(part) is DocumentPart
            assert part.blob.data == "TEXT für alle".encode()


def test_open_file_is_read_from_its_position(llm):
    file = io.BytesIO(b"junk" + PICTURE)
    file.seek(4)
    assert loaded(llm, file).blob.data == PICTURE
    assert file.tell() == 4


class Stream:
    """A file that cannot be put back, and gives a few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(min(size, 5))


def test_unseekable_stream_is_read_to_its_end(llm):
    assert loaded(llm, Stream(PICTURE)).blob.data == PICTURE


class Awaited:
    async def read(self, size: int = -1) -> bytes:
        return PICTURE


class Failing:
    """A file whose library has errors of its own."""

    def read(self, size: int = -1) -> bytes:
        raise zipfile.BadZipFile("bad magic")


class Odd:
    def read(self, size: int = -1) -> Any:
        return 3


def closed() -> io.BytesIO:
    file = io.BytesIO(PICTURE)
    file.close()
    return file


def at_its_end() -> io.BytesIO:
    file = io.BytesIO()
    file.write(PICTURE)
    return file


@pytest.mark.parametrize(
    ("file", "error", "what"),
    [
        (io.BytesIO(), MediaError, r"media\[0\] is empty: there is nothing to send\.$"),
        (at_its_end(), MediaError, r"is empty: .* file\.seek\(0\)"),
        (closed(), MediaError, r"closed file\. Make the call while the file is open"),
        (Failing(), MediaError, "cannot be read: bad magic"),
        (Awaited(), InvalidInputError, r"async files are not supported.* await file\.read\(\)"),
        (Odd(), InvalidInputError, "returned int, expected bytes"),
        (io.BytesIO, InvalidInputError, "expected a path"),
        (io.BytesIO(b"??"), MediaError, "unsupported file type"),
    ],
    ids=["empty", "end", "closed", "failing", "awaited", "odd", "class", "unknown"],
)
def test_unusable_open_file_is_refused_with_the_reason(call_style, llm, file, error, what):
    with pytest.raises(error, match=what):
        call_style.generate(llm, "hi", media=[file])
    assert list(llm.calls) == []


def test_binary_file_in_text_mode_hints_at_binary_mode(llm, tmp_path):
    (tmp_path / "p.jpg").write_bytes(b"\xff\xd8\xff")
    with (
        open(tmp_path / "p.jpg", encoding="utf-8") as file,
        pytest.raises(MediaError, match=r"opened in text mode\. Open it in binary mode: open\(path, 'rb'\)") as caught,
    ):
        loaded(llm, file)
    assert caught.value.source == "p.jpg"


def test_endless_file_is_refused_at_the_limit(llm, monkeypatch):
    monkeypatch.setattr("abstractcore.files.loading.MAX_FILE_BYTES", 5 << 20)
    with open("/dev/zero", "rb") as file, pytest.raises(MediaError, match="the limit is 5,242,880"):
        loaded(llm, file)


# Pictures


def drawn(mode: str = "RGB") -> PIL.Image.Image:
    """A picture with a shape in it."""
    picture = PIL.Image.new("RGB", (40, 30), "white")
    PIL.ImageDraw.Draw(picture).ellipse((5, 5, 30, 25), fill="red")
    return picture.convert(mode)


def reread(part: Any) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(part.blob.read()))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I", "F", "CMYK", "YCbCr", "HSV", "LAB"])
def test_pillow_image_of_every_mode_is_sent_as_png(mode):
    llm = create_llm("scripted", replies=[])
    picture = drawn("RGB").convert("L").convert("F") if mode == "F" else drawn(mode) if mode != "LAB" else lab()
    part = loaded(llm, picture)
    assert type(part) is ImagePart
    assert (part.blob.media_type, part.blob.name) == ("image/png", "image.png")
    found = reread(part)
    assert (found.format, found.size) == ("PNG", (40, 30))
    if mode in ("RGB", "RGBA", "L", "LA", "P", "1"):
        assert found.convert("RGBA").tobytes() == picture.convert("RGBA").tobytes()


def lab() -> PIL.Image.Image:
    return PIL.Image.merge("LAB", drawn("RGB").split())


def photo(tmp_path: Path) -> Path:
    """A JPEG file that says it is to be turned."""
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    drawn().save(tmp_path / "photo.jpg", quality=60, exif=exif)
    return tmp_path / "photo.jpg"


def test_pillow_image_from_jpeg_stays_jpeg_with_quality_and_exif(tmp_path):
    path = photo(tmp_path)
    with PIL.Image.open(path) as picture:
        part = loaded(create_llm("scripted", replies=[]), picture)
        quantization = picture.quantization  # type: ignore[attr-defined]
    assert (part.blob.media_type, part.blob.name) == ("image/jpeg", "photo.jpg")
    found: Any = reread(part)
    assert found.getexif()[0x0112] == 6
    assert found.quantization == quantization


def test_modified_pillow_image_is_sent_as_modified(tmp_path):
    with PIL.Image.open(photo(tmp_path)) as picture:
        smaller = picture.resize((4, 3))
        part = loaded(create_llm("scripted", replies=[]), smaller)
    assert (part.blob.media_type, reread(part).size) == ("image/png", (4, 3))


def test_corrupt_pillow_image_is_refused(tmp_path):
    path = photo(tmp_path)
    path.write_bytes(path.read_bytes()[:-40])
    with PIL.Image.open(path) as picture, pytest.raises(MediaError, match=r"media\[0\]: the image cannot be read"):
        loaded(create_llm("scripted", replies=[]), picture)
    with PIL.Image.open(photo(tmp_path)) as picture:
        pass
    with pytest.raises(MediaError, match="the image cannot be read"):
        loaded(create_llm("scripted", replies=[]), picture)


@pytest.mark.process
def test_pillow_is_not_imported_by_us():
    code = (
        "import sys, abstractcore; abstractcore.create_llm('scripted', replies=['a']).generate('hi', media=[b'text']); "
    )
    code += "print('PIL' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == "False\n"


# Data URLs


@pytest.mark.parametrize(
    ("url", "part_type", "media_type", "data"),
    [
        (f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}", ImagePart, "image/png", PICTURE),
        (f"DATA:IMAGE/PNG;x=y;BASE64,{base64.b64encode(PICTURE).decode()}", ImagePart, "image/png", PICTURE),
        (f"data:;base64,{base64.b64encode(SOUND).decode()}", AudioPart, "audio/wav", SOUND),
        ("data:text/plain;charset=utf-8,TEXT%20f%C3%BCr,alle", DocumentPart, "text/plain", "TEXT für,alle".encode()),
        ("data:,TEXT", DocumentPart, "text/plain", b"TEXT"),
    ],
    ids=["picture", "upper", "untyped", "percent", "short"],
)
def test_data_url_is_decoded(llm, url, part_type, media_type, data):
    part = loaded(llm, url)
    assert type(part) is part_type
    assert (part.blob.form, part.blob.media_type, part.blob.data) == ("bytes", media_type, data)


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("data:image/png;base64", "has no comma"),
        ("data:image/png;base64,@@@", r"not a valid data URL: .*For example: data:image/png;base64"),
        ("data:image/png;base64,", "is empty"),
        ("data:", "has no comma"),
    ],
)
def test_invalid_data_url_is_refused_and_shortened_in_the_error(llm, url, what):
    with pytest.raises(MediaError, match=what) as caught:
        loaded(llm, url)
    assert caught.value.source == "media[0]"


# What is none of it


@pytest.mark.parametrize(
    ("item", "what"),
    [
        (array.array("b", [1]), "got array"),
        ({"type": "image_url"}, "got dict"),
    ],
    ids=["array", "dict"],
)
def test_value_that_is_not_a_file_is_refused_with_its_type(llm, item, what):
    with pytest.raises(InvalidInputError, match=what) as caught:
        loaded(llm, item)
    assert caught.value.path == "media[0]"


def test_text_file_object_is_sent_as_text_to_a_text_model(llm):
    assert loaded(llm, io.BytesIO(TEXT)).blob.data == TEXT


@pytest.mark.parametrize("charset", ["iso-8859-1", "utf-16", '"ISO-8859-1"'])
def test_text_data_url_is_decoded_with_its_charset(llm: Any, charset: str):
    data = base64.b64encode("TEXT für".encode(charset.strip('"'))).decode()
    part = loaded(llm, f"data:text/plain;charset={charset};base64,{data}")
    assert part.blob.read() == "TEXT für".encode()


@pytest.mark.parametrize("charset", ["utf-8", "nothing"])
def test_text_data_url_with_the_wrong_charset_is_refused(llm: Any, charset: str):
    with pytest.raises(MediaError, match=f"not text in the charset '{charset}'"):
        loaded(llm, f"data:text/plain;charset={charset},TEXT%FF")


def test_released_memoryview_is_refused(llm: Any):
    view = memoryview(PICTURE)
    view.release()
    with pytest.raises(MediaError, match=r"media\[0\] cannot be read: .*released"):
        loaded(llm, view)


def test_file_names_with_invalid_characters_are_shown_with_replacements(llm: Any, tmp_path: Path):
    path = os.fsencode(tmp_path) + b"/\xff.pic"
    Path(os.fsdecode(path)).write_bytes(PICTURE)
    with open(os.fsdecode(path), "rb") as file:
        assert loaded(llm, file).blob.name == "?.pic"
    picture = PIL.Image.new("L", (1, 1))
    picture.filename = os.fsdecode(path)  # type: ignore[attr-defined]
    assert loaded(llm, picture).blob.name == "?.png"


def sent(llm: Any, picture: PIL.Image.Image) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(loaded(llm, picture).blob.read()))


@pytest.mark.parametrize("mode", ["PA", "RGBa", "La"])
def test_transparency_is_kept_in_every_mode(llm: Any, mode: str):
    clear = PIL.Image.new("LA" if mode == "La" else "RGBA", (2, 2))
    assert sent(llm, clear.convert(mode) if mode != "PA" else PIL.Image.new("PA", (2, 2))).getchannel("A")


@pytest.mark.parametrize(
    ("dtype", "highest", "mode"),
    [("int32", 255, "L"), ("int32", 65535, "I;16"), (">u2", 65535, "I;16"), ("float32", 255, "L")],
)
def test_numeric_pillow_modes_keep_brightness(llm: Any, dtype: str, highest: int, mode: str):
    array = numpy.linspace(0, highest, 256).reshape(16, 16).astype(dtype)
    picture = sent(llm, PIL.Image.fromarray(array))
    assert picture.mode == mode
    assert numpy.array_equal(numpy.asarray(picture), array.astype("int32"))


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("float32", 0, 1), ("float32", -1, 255), ("float32", 0, 300), ("int32", -1, 255), ("int32", 0, 70000)],
)
def test_pixel_values_out_of_range_are_refused_with_a_hint(llm: Any, dtype: str, low: int, high: int):
    picture = PIL.Image.fromarray(numpy.array([[low, high]], dtype))
    with pytest.raises(MediaError, match=rf"pixel values from {low} to {high}: .*astype\('uint8'\)"):
        loaded(llm, picture)
