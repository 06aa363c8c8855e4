"""`File` in `media`: controls, names, types and passwords of files; arrays of pixels."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from PIL import Image

from abstractcore import (
    File,
    InvalidInputError,
    MediaControls,
    MediaError,
    PluginError,
    Services,
    create_llm,
    from_json,
    to_json,
)
from abstractcore.files import loading
from abstractcore.ports import Conversion, Excerpt, Fallback
from tests.media_doubles import PICTURE, SOUND, Handler, registry

PAPER = b"PAPER" + bytes(9)
TRANSCRIPT = Fallback("text", frozenset({"text"}), controls=frozenset({"pages"}))


class Papers(Handler):
    """Documents whose pages can be cut, and whose password is part of their text."""

    excerpt_controls = frozenset({"pages"})

    def excerpt(self, part, context) -> Excerpt:
        blob = replace(part.blob, data=PAPER + b"cut", sha256=None, size=None)
        return Excerpt(replace(part, blob=blob, controls=None), (2,))

    def convert(self, part, context) -> Conversion:
        return Conversion(f"pages {part.controls.pages if part.controls else 'all'}, {context.password(part)}", "text")


@pytest.fixture
def make():
    """Creates an LLM of a scripted model, with a handler of papers."""
    services = Services(
        registry=registry(Papers("papers", "document", b"PAPER", "application/x-paper", (TRANSCRIPT,))), environment={}
    )
    yield lambda *accepts: create_llm("scripted", replies=["a"] * 9, accepts=list(accepts), services=services)
    services.close()


def test_source_of_a_file_may_be_anything_else_in_media(call_style, make, tmp_path: Path):
    (tmp_path / "a.png").write_bytes(PICTURE)
    for source in (tmp_path / "a.png", str(tmp_path / "a.png"), PICTURE, io.BytesIO(PICTURE)):
        (decision,) = call_style.generate(make("image"), "hi", media=[File(source)]).media
        assert (decision.route, decision.type) == ("native", "image/png")


def test_name_and_type_take_the_place_of_the_detected_ones(make):
    llm = make("text/csv", "application/x-paper")
    message = llm.build("hi", media=[File(b"a,b", media_type="text/csv", name="sums.csv"), File(PAPER, name="p")])
    blobs = [part.blob for part in message.messages[0].parts[:2]]
    assert [(blob.media_type, blob.name) for blob in blobs] == [("text/csv", "sums.csv"), ("application/x-paper", "p")]


def test_fallback_gets_the_controls_that_it_follows(call_style, make):
    response = call_style.generate(make(), "hi", media=[File(PAPER, pages="1-3, 7")])
    assert response.media[0].sent is not None
    assert response.media[0].sent.text == "pages 1-3,7, None"
    assert response.warnings == ()


def test_control_that_nothing_follows_is_a_warning(call_style, make):
    llm = make()
    response = call_style.generate(llm, "hi", media=[File(PAPER, resolution="low")])
    (warning,) = response.warnings
    assert (warning.code, warning.path) == ("control_not_followed", "messages[0].parts[0].controls.resolution")
    assert "resolution='low'" in warning.message
    assert llm.plan("hi", media=[File(PAPER, resolution="low")]).warnings == response.warnings


def test_file_that_is_sent_natively_is_cut_by_its_handler(call_style, make):
    llm = make("document")
    response = call_style.generate(llm, "hi", media=[File(PAPER, pages="2")])
    assert response.warnings == ()
    sent = llm.calls[0].messages[0].parts[0]
    assert sent.blob.read() == PAPER + b"cut"
    assert sent.controls is None
    assert (response.media[0].sent.size, response.media[0].sent.page_numbers) == (len(PAPER) + 3, (2,))


def test_handler_that_returns_no_excerpt_is_named(call_style, make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Papers, "excerpt", lambda self, part, context: part)
    with pytest.raises(PluginError, match=r"'papers'.* returns a DocumentPart: expected an Excerpt"):
        call_style.generate(make("document"), "hi", media=[File(PAPER, pages="2")])


def test_control_without_a_handler_is_taken_out_of_what_is_sent(call_style, make):
    llm = make("image")
    response = call_style.generate(llm, "hi", media=[File(PICTURE, pages="1")])
    assert [warning.path for warning in response.warnings] == ["messages[0].parts[0].controls.pages"]
    assert llm.calls[0].messages[0].parts[0].controls is None


def test_password_reaches_the_handler_and_nothing_else(call_style, make):
    llm = make()
    file = File(PAPER, password="correct horse")
    assert "horse" not in repr(file)
    call = llm.build("hi", media=[file])
    assert "horse" not in to_json(call)
    response = call_style.generate(llm, "hi", media=[file])
    assert response.media[0].sent.text.endswith(", correct horse")
    again = call_style.generate(llm, "and?", messages=list(call.messages))
    assert again.media[0].sent.text.endswith(", correct horse")


@pytest.mark.parametrize(
    ("file", "path", "message"),
    [
        (File(SOUND, pages="1"), "media[0].pages", "is a control of document and image files, and this one is audio"),
        (File(PAPER, start=2), "media[0].start", "is a control of audio and video files, and this one is document"),
        (File(PAPER, detail="low"), "media[0].detail", "is a control of image files"),
        (File(PAPER, pages="0-3"), "media[0].pages", "not a range of pages"),
        (File(PAPER, pages="3-1"), "media[0].pages", "not a range of pages"),
        (File(PAPER, pages="9" * 5000), "media[0].pages", "not a list of pages"),
        (File(PAPER, pages=3), "media[0].pages", "not a list of pages"),  # type: ignore[arg-type]
        (File(SOUND, start=3, end=2), "media[0].end", "not after the start"),
        (File(SOUND, start=-1), "media[0].start", "below 0"),
        (File(SOUND, end=float("nan")), "media[0].end", "not a JSON number"),
        (File(SOUND, fps="2"), "media[0].fps", "expected a number, got str"),  # type: ignore[arg-type]
        (File(PICTURE, resolution="huge"), "media[0].resolution", "is not one of"),  # type: ignore[arg-type]
        (File(File(PICTURE)), "media[0].source", "a File in a File"),
        (File(3), "media[0].source", "expected a path"),  # type: ignore[arg-type]
        (File(PAPER, media_type=""), "media[0].media_type", "is not a media type"),
        (File(PAPER, media_type="png"), "media[0].media_type", "is not a media type"),
        (File("a.png", media_type="image/p n g"), "media[0].media_type", "is not a media type"),
        (File(PAPER, media_type=3), "media[0].media_type", "3 is not a media type"),  # type: ignore[arg-type]
        (File("https://example.com/a.png", password="x"), "media[0].password", "is for a file that is at hand"),
    ],
    ids=str,
)
def test_file_with_a_wrong_option_is_refused_with_its_path(make, file: File, path: str, message: str):
    with pytest.raises(InvalidInputError, match=message) as caught:
        make().build("hi", media=[file])
    assert caught.value.path == path


@pytest.mark.parametrize("media_type", [None, "image/png"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.png", r"none\.png does not exist"),
        ("folder", r"folder is a directory"),
        ("pipe", r"pipe is not a regular file"),
        ("empty", r"empty is empty: there is nothing to send"),
        ("large", r"large has 30 bytes; the limit is 20"),
        ("a\0b", r"is not a valid path"),
        ("x" * 5000, r"cannot be read: File name too long"),
    ],
    ids=["missing", "folder", "pipe", "empty", "large", "invalid", "long"],
)
def test_paths_are_checked_whether_or_not_their_type_is_given(
    make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str, media_type: str | None
):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    (tmp_path / "large").write_bytes(b"PICTURE".ljust(30))
    monkeypatch.setattr(loading, "MAX_FILE_BYTES", 20)
    with pytest.raises(MediaError, match=message) as caught:
        make().build("hi", media=[File(os.path.join(tmp_path, name), media_type=media_type)])
    assert repr(name[:5])[1:-1] in caught.value.message


def test_address_with_a_type_is_no_path(make):
    with pytest.raises(MediaError, match="URLs with the scheme ftp: are not supported"):
        make().build("hi", media=[File("ftp://example.com/a.png", media_type="image/png")])


def test_controls_are_part_of_the_call(make):
    call = make().build("hi", media=[File(PAPER, pages="2")])
    assert from_json(to_json(call)) == call
    assert call.messages[0].parts[0].controls == MediaControls(pages="2")


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 3), (2, 3, 4)])
def test_array_of_pixels_is_an_image(make, shape: tuple[int, ...]):
    pixels = numpy.arange(numpy.prod(shape), dtype="uint8").reshape(shape)
    (part, _) = make("image").build("hi", media=[pixels]).messages[0].parts
    with Image.open(io.BytesIO(part.blob.read())) as image:
        assert numpy.array_equal(numpy.asarray(image), pixels)


@pytest.mark.parametrize(
    "array",
    [
        numpy.zeros((2, 2), "float32"),
        numpy.zeros((2, 2, 3), "bool"),
        numpy.zeros((2, 2, 5), "uint8"),
        numpy.zeros(9, "uint8"),
        numpy.zeros((0, 2), "uint8"),
    ],
)
def test_array_that_is_not_an_image_is_refused(make, array):
    with pytest.raises(InvalidInputError, match="is not an image") as caught:
        make("image").build("hi", media=[array])
    assert caught.value.path == "media[0]"
