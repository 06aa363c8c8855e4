"""Media parts as files and as Pillow images."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PIL import Image

from abstractcore import AudioPart, Blob, DocumentPart, ImagePart, SchemaError, VideoPart

FILES = Path(__file__).parents[2] / "media" / "files"
PNG = (FILES / "small.png").read_bytes()
ELSEWHERE = {
    "url": Blob.from_url("https://images.example/a.png", "image/png"),
    "provider_file": Blob.from_provider_file("openai", "file-1", "image/png"),
    "artifact": Blob.from_artifact("0" * 64, "image/png", 3),
}


def test_part_is_saved_under_the_path_that_is_given(tmp_path: Path):
    path = tmp_path / "square.image"
    path.write_bytes(b"an older file")
    assert ImagePart(Blob.from_bytes(PNG, "image/png")).save(str(path)) == path
    assert path.read_bytes() == PNG
    with pytest.raises(FileNotFoundError):
        ImagePart(Blob.from_bytes(PNG, "image/png")).save(tmp_path / "missing" / "a.png")


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (ImagePart(Blob.from_bytes(b"a", "image/jpeg")), "image-ca978112.jpg"),
        (AudioPart(Blob.from_bytes(b"a", "audio/mpeg")), "audio-ca978112.mp3"),
        (AudioPart(Blob.from_bytes(b"a", "audio/L16;rate=24000")), "audio-ca978112.l16"),
        (VideoPart(Blob.from_bytes(b"a", "video/mp4", name="clip")), "clip-ca978112.mp4"),
        (DocumentPart(Blob.from_bytes(b"a", "application/x-odd+thing")), "document-ca978112.bin"),
        (DocumentPart(Blob.from_bytes(b"a", "text/csv", name="Zahlen 2026.tsv")), "Zahlen 2026-ca978112.tsv"),
        (ImagePart(Blob.from_bytes(b"a", "image/png", name="../../etc/passwd")), "passwd-ca978112.png"),
        (ImagePart(Blob.from_bytes(b"a", "image/png", name="..\\..\\a\0b.png")), "ab-ca978112.png"),
        (ImagePart(Blob.from_bytes(b"a", "image/png", name="..")), "image-ca978112.png"),
        (ImagePart(Blob.from_bytes(b"a", "image/png", name="x" * 400 + ".png")), "x" * 100 + "-ca978112.png"),
    ],
)
def test_part_in_a_folder_gets_a_name_of_its_own_in_that_folder(part, name: str, tmp_path: Path):
    assert part.save(tmp_path) == tmp_path / name
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_parts_of_the_same_name_do_not_overwrite_each_other(tmp_path: Path):
    for content in (b"a", b"b", b"a"):
        DocumentPart(Blob.from_bytes(content, "text/csv", name="a.csv")).save(tmp_path)
    assert sorted(path.read_bytes() for path in tmp_path.iterdir()) == [b"a", b"b"]


@pytest.mark.parametrize(("form", "what"), [("url", "Download"), ("provider_file", "client"), ("artifact", "store")])
def test_content_that_is_elsewhere_says_where_to_get_it(form: str, what: str, tmp_path: Path):
    part = ImagePart(ELSEWHERE[form])
    for use in (lambda: part.save(tmp_path), part.to_pil):
        with pytest.raises(SchemaError, match=f"form '{form}' cannot be read here.*{what}"):
            use()
    assert list(tmp_path.iterdir()) == []


def test_image_as_pillow_image_has_its_pixels():
    with Image.open(FILES / "small.png") as expected:
        image = ImagePart(Blob.from_file(FILES / "small.png", "image/png")).to_pil()
        assert (image.size, image.tobytes()) == (expected.size, expected.tobytes())
    image.putpixel((0, 0), (1, 2, 3))


def test_image_that_pillow_cannot_decode_is_an_error():
    for data in (b"", b"junk", PNG[: len(PNG) // 2]):
        with pytest.raises(SchemaError, match=r"blob: Pillow cannot decode this image/png: .*part.blob.read"):
            ImagePart(Blob.from_bytes(data, "image/png")).to_pil()


def test_missing_pillow_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(SchemaError, match=r"needs the package pillow.*pip install pillow"):
        ImagePart(Blob.from_bytes(PNG, "image/png")).to_pil()
