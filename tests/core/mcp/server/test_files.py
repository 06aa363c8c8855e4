"""Files that clients name: only those in allowed folders are read, whatever the name looks like."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from abstractcore import File, InvalidInputError, MediaError
from abstractcore.mcp.server import FileAccess
from abstractcore.schema.base_error import shown

posix = pytest.mark.skipif(os.name != "posix", reason="has links and pipes of POSIX")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that may be read, beside one that may not."""
    (tmp_path / "open/inner").mkdir(parents=True)
    (tmp_path / "open/a b.txt").write_text("allowed")
    (tmp_path / "open/inner/deep.txt").write_text("deep")
    (tmp_path / "open-too").mkdir()
    (tmp_path / "open-too/secret.txt").write_text("secret")
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path / "open"


@pytest.mark.parametrize("form", ["{folder}/a b.txt", "file://{folder}/a%20b.txt", "file://localhost{folder}/a b.txt"])
def test_file_in_an_allowed_folder_is_read_with_its_name(folder: Path, form: str):
    loaded = FileAccess([folder]).load(form.format(folder=folder))
    assert (loaded.read(), loaded.name) == (b"allowed", "a b.txt")


def test_file_in_a_folder_below_is_read(folder: Path):
    assert FileAccess([folder]).load(f"{folder}/inner/../inner/deep.txt").read() == b"deep"


def test_no_file_is_read_by_default(folder: Path):
    with pytest.raises(MediaError, match="is not a file that this server may read") as caught:
        FileAccess().load(f"{folder}/a b.txt")
    assert caught.value.hint == "Send the content: a data: URL, or an object with mimeType and blob (base64) or text."


@pytest.mark.parametrize(
    "given",
    [
        "{folder}/../secret.txt",
        "{folder}/inner/../../secret.txt",
        "{folder}-too/secret.txt",
        "file://{folder}/../secret.txt",
        "file://{folder}/%2e%2e/secret.txt",
        "file://{folder}/..%2fsecret.txt",
        "file:{folder}/../secret.txt",
        "file://elsewhere{folder}/a b.txt",
        "file://127.0.0.1{folder}/a b.txt",
        "FILE://{folder}/../secret.txt",
        "a b.txt",
        "./a b.txt",
        "~/a b.txt",
        "{folder}/a b.txt\0.png",
        "file://{folder}/a%20b.txt%00",
        "ftp://example.com/a.txt",
        "gopher://example.com/a.txt",
        "jar:file:{folder}/a b.txt!/x",
        "//etc/passwd",
        "/proc/self/environ",
        "/dev/stdin",
        "",
        "\ud800",
        "x" * 100_000,
        "file://[",
    ],
)
def test_other_files_are_not_read(folder: Path, given: str):
    with pytest.raises(MediaError, match=r"is not a file that this server may read|cannot be read"):
        FileAccess([folder]).load(given.format(folder=folder))


def test_missing_file_outside_is_refused_like_one_that_exists(folder: Path):
    messages: list[str] = []
    for name in ("secret.txt", "absent.txt"):
        path = f"{folder.parent}/{name}"
        with pytest.raises(MediaError) as caught:
            FileAccess([folder]).load(path)
        assert shown(path) in caught.value.message
        messages.append(caught.value.message.replace(shown(path), "PATH"))
    assert messages[0] == messages[1]


@posix
def test_links_lead_nowhere_outside(folder: Path):
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "linked").symlink_to(folder.parent)
    (folder / "within.txt").symlink_to(folder / "a b.txt")
    access = FileAccess([folder])
    for name in ("link.txt", "linked/secret.txt"):
        with pytest.raises(MediaError, match="is not a file that this server may read"):
            access.load(f"{folder}/{name}")
    assert access.load(f"{folder}/within.txt").read() == b"allowed"


@posix
@pytest.mark.parametrize("part", ["inner", "inner/deep.txt"])
def test_link_that_is_made_after_the_check_is_not_followed(folder: Path, part: str, monkeypatch: pytest.MonkeyPatch):
    """A program that writes into the folder swaps a part of the path for a link while the file is opened."""
    (folder.parent / "deep.txt").write_text("secret")
    real = os.path.realpath

    def swapped(path: Any) -> str:
        found = real(path)
        os.rename(folder / part, folder / "away")
        (folder / part).symlink_to(folder.parent if part == "inner" else folder.parent / "secret.txt")
        return found

    access = FileAccess([folder])
    monkeypatch.setattr(os.path, "realpath", swapped)
    with pytest.raises(MediaError, match="cannot be read"):
        access.load(f"{folder}/inner/deep.txt")


@posix
@pytest.mark.skipif(sys.platform == "win32", reason="has no named pipes")
def test_only_regular_files_are_read(folder: Path):
    os.mkfifo(folder / "pipe")
    before = sorted(os.listdir("/proc/self/fd"))
    for name in ("pipe", "inner"):
        with pytest.raises(MediaError, match=r"is not a regular file|cannot be read"):
            FileAccess([folder]).load(f"{folder}/{name}")
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_files_of_limited_size_are_read(folder: Path):
    access = FileAccess([folder], limit=6)
    for given in (f"{folder}/a b.txt", {"mimeType": "text/plain", "text": "allowed"}, "data:text/plain,allowed"):
        with pytest.raises(MediaError, match="the limit is 6"):
            access.load(given)  # type: ignore[arg-type]


def test_content_is_taken_as_it_is():
    access = FileAccess()
    image: Any = {"mimeType": "image/png", "blob": base64.b64encode(b"\x89PNG").decode(), "uri": "file:///x/a.png"}
    blob = access.load(image)
    assert (blob.read(), blob.media_type, blob.name) == (b"\x89PNG", "image/png", "a.png")
    assert access.load({"mimeType": "text/plain", "text": "héllo"}).read() == "héllo".encode()
    assert access.load("data:text/plain,hello") == "data:text/plain,hello"
    url = "https://example.com/a.png"
    assert access.load(url) == File(url, fetch="vendor"), "the server would download it"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"mimeType": "image/png", "blob": "not base64!"}, "blob is not base64"),
        ({"mimeType": "image/png", "blob": "é"}, "blob is not base64"),
        ({"mimeType": "image/png"}, "needs either blob or text"),
        ({"mimeType": "image/png", "blob": "", "text": ""}, "needs either blob or text"),
    ],
)
def test_invalid_content_is_an_error(given: Any, problem: str):
    with pytest.raises(MediaError, match=problem):
        FileAccess().load(given)


def test_folder_that_does_not_exist_is_an_error(tmp_path: Path):
    with pytest.raises(InvalidInputError, match="is not a folder"):
        FileAccess([tmp_path / "missing"])
