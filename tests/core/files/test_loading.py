"""Items of `media`: files of every kind and state, read once and refused with a reason."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from abstractcore import AudioPart, Blob, DocumentPart, ImagePart, InvalidInputError, MediaError, Services, create_llm
from tests.media_doubles import PICTURE, SOUND, TEXT, registry


@pytest.fixture
def llm():
    services = Services(registry=registry(), environment={})
    yield create_llm("scripted", replies=["a"] * 9, accepts=["image", "audio"], services=services)
    services.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in (("p.png", PICTURE), ("s.wav", SOUND), ("t.txt", TEXT), ("empty.png", b""), ("x", b"?")):
        (tmp_path / name).write_bytes(content)
    return tmp_path


def loaded(llm, item):
    return llm.build("hi", media=[item]).messages[0].parts[0]


def test_path_becomes_a_part_of_its_contents_kind(llm, folder):
    for name, part_type, media_type in (
        ("p.png", ImagePart, "image/png"),
        ("s.wav", AudioPart, "audio/wav"),
        ("t.txt", DocumentPart, "text/plain"),
    ):
        for path in (folder / name, str(folder / name)):
            part = loaded(llm, path)
            assert type(part) is part_type
            blob = part.blob
            assert (blob.form, blob.media_type, blob.name, blob.size) == (
                "file",
                media_type,
                name,
                (folder / name).stat().st_size,
            )


def test_bytes_blobs_and_parts_are_accepted(llm):
    blob = Blob.from_bytes(PICTURE, "image/png")
    for item in (PICTURE, bytearray(PICTURE), memoryview(PICTURE), blob, ImagePart(blob)):
        assert loaded(llm, item) == ImagePart(blob)
    part = ImagePart(blob, detail="low")
    assert loaded(llm, part) is part


def test_blob_without_handler_becomes_the_part_of_its_media_type(llm):
    for media_type, part_type in (("image/x", ImagePart), ("audio/x", AudioPart), ("application/x", DocumentPart)):
        assert type(loaded(llm, Blob.from_bytes(b"?", media_type))) is part_type


def test_media_precede_the_prompt_in_order(llm, folder):
    call = llm.build("hi", media=[folder / "s.wav", folder / "p.png"])
    assert [type(part).__name__ for part in call.messages[0].parts] == ["AudioPart", "ImagePart", "TextPart"]


def test_url_is_typed_by_its_extension_and_not_downloaded(llm):
    for url in ("https://host.test/a/photo.png?size=3", "HTTP://host.test/photo.PNG"):
        part = loaded(llm, url)
        assert (type(part), part.blob.form, part.blob.media_type, part.blob.location) == (
            ImagePart,
            "url",
            "image/png",
            url,
        )


@pytest.mark.parametrize(
    "url", ["https://host.test/photo", "https://host.test/", "http://[bad", "https://x.test/a.zz9"]
)
def test_url_without_a_known_extension_is_refused(llm, url):
    with pytest.raises(MediaError) as caught:
        loaded(llm, url)
    assert caught.value.source == url


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing.png", "does not exist"),
        ("", "is a directory"),
        ("p.png/below", "cannot be read"),
        ("empty.png", "is empty"),
        ("x", "unsupported file type"),
        ("n" * 300, "cannot be read"),
        ("nul\0.png", "is not a valid path"),
        ("loop", "cannot be read"),
        ("fifo", "not a regular file"),
        ("link-to-nothing", "does not exist"),
    ],
)
def test_unusable_file_is_refused_with_the_reason(llm, folder, name, why):
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "link-to-nothing").symlink_to(folder / "nothing")
    os.mkfifo(folder / "fifo")
    with pytest.raises(MediaError, match=why) as caught:
        loaded(llm, f"{folder}/{name}" if name else str(folder))
    assert caught.value.source
    assert list(llm.calls) == []


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_device_is_refused(llm, device):
    with pytest.raises(MediaError, match="not a regular file"):
        loaded(llm, device)


def test_file_of_two_gigabytes_is_refused_without_reading_it(llm, folder):
    with open(folder / "huge.png", "wb") as file:
        file.write(PICTURE)
        file.truncate(2 << 30)
    start = time.process_time()
    with pytest.raises(MediaError, match="2,147,483,648 bytes"):
        loaded(llm, folder / "huge.png")
    assert time.process_time() - start < 0.3


@contextmanager
def nobody() -> Iterator[None]:
    """A user without rights, if the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_file_without_read_permission_is_refused(llm):
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        os.chmod(name, 0o755)
        secret = Path(name) / "secret.png"
        secret.write_bytes(PICTURE)
        secret.chmod(0)
        with nobody(), pytest.raises(MediaError, match="permission denied"):
            loaded(llm, secret)


def test_empty_bytes_are_refused(llm):
    with pytest.raises(MediaError, match=r"media\[0\] is empty"):
        loaded(llm, b"")


@pytest.mark.parametrize("item", [3, None, ["a"], {"path": "a"}])
def test_value_that_is_not_a_file_is_refused_with_its_path(llm, item):
    with pytest.raises(InvalidInputError) as caught:
        llm.build("hi", media=[PICTURE, item])
    assert caught.value.path == "media[1]"


def test_file_changed_or_deleted_after_loading_is_a_media_error(call_style, llm, folder):
    blob = Blob.from_file(folder / "p.png", "image/png")
    (folder / "p.png").write_bytes(PICTURE + b"more")
    with pytest.raises(MediaError, match="changed"):
        call_style.generate(llm, "hi", media=[blob])
    (folder / "p.png").unlink()
    with pytest.raises(MediaError):
        call_style.generate(llm, "hi", media=[blob])
    assert list(llm.calls) == []


def test_error_without_any_media_handler(folder):
    from abstractcore.registry import Registry
    from abstractcore_providers.scripted import ScriptedProvider

    empty = Registry()
    empty.add_provider(ScriptedProvider())
    llm = create_llm("scripted", replies=[], services=Services(registry=empty))
    with pytest.raises(MediaError, match="media plugin"):
        loaded(llm, folder / "p.png")


@pytest.mark.parametrize(
    "url", ["https://user:canary@host.test/a", "https://host.test/a?sig=canary", "ftp://u:canary@h/a"]
)
def test_error_about_a_url_shows_no_query_or_password(url: str):
    with pytest.raises(MediaError) as caught:
        create_llm("scripted", replies=["never"]).build("hi", media=[url])
    assert "canary" not in f"{caught.value} {caught.value.source}"


def test_decision_about_a_url_shows_no_query_or_password():
    llm = create_llm("scripted", replies=["a"], accepts=["image"])
    (decision,) = llm.plan("hi", media=["https://user:canary@host.test/a.png?sig=canary"])
    assert decision.source == "https://host.test/a.png"


@pytest.mark.parametrize(("name", "head"), [("a.7z", b"7z\xbc\xaf\x27\x1c\0\x04"), ("b.rar", b"Rar!\x1a\x07\x01\0")])
def test_archives_that_are_not_read_say_to_unpack_them(llm, tmp_path, name, head):
    (tmp_path / name).write_bytes(head + b"x" * 20)
    with pytest.raises(MediaError, match=r"is a (7z|RAR) archive, which is not read here.* Unpack it"):
        loaded(llm, str(tmp_path / name))
