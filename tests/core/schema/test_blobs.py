"""Binary content in its five forms."""

from pathlib import Path
from typing import Any

import pytest

from abstractcore.schema import Blob, SchemaError

HASH = "0" * 64


def test_blobs_are_equal_by_type_and_hash_or_by_location(tmp_path: Path):
    path = tmp_path / "cat.png"
    path.write_bytes(b"cat")
    assert Blob.from_file(path, "image/png") == Blob.from_bytes(b"cat", "image/png", name="other.png")
    assert hash(Blob.from_file(path, "image/png")) == hash(Blob.from_bytes(b"cat", "image/png"))
    assert Blob.from_bytes(b"cat", "image/png") != Blob.from_bytes(b"dog", "image/png")
    assert Blob.from_bytes(b"cat", "image/png") != Blob.from_bytes(b"cat", "image/jpeg")
    assert Blob.from_url("https://a/b", "image/png") == Blob.from_url("https://a/b", "image/*")
    assert Blob.from_url("https://a/b", "image/png") != Blob.from_url("https://a/c", "image/png")
    assert Blob.from_provider_file("p", "f", "image/png") != Blob.from_provider_file("q", "f", "image/png")
    assert Blob.from_bytes(b"cat", "image/png") != b"cat"


def test_file_changed_after_it_was_added_is_not_sent(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")
    blob = Blob.from_file(path, "text/plain")
    assert blob.read() == b"before"
    assert (blob.size, blob.name, blob.location) == (6, "a.txt", str(path))
    path.write_bytes(b"after")
    with pytest.raises(SchemaError, match="has changed"):
        blob.read()


def test_later_changes_of_a_bytearray_do_not_change_the_blob():
    content = bytearray(b"cat")
    blob = Blob.from_bytes(content, "image/png")
    content[0] = 0
    assert blob.read() == b"cat"


@pytest.mark.parametrize(
    "blob",
    [
        Blob.from_url("https://a/b", "image/png"),
        Blob.from_provider_file("p", "f", "image/png"),
        Blob.from_artifact(HASH, "image/png", 3),
    ],
    ids=lambda blob: blob.form,
)
def test_content_stored_elsewhere_cannot_be_read(blob: Blob):
    with pytest.raises(SchemaError, match="cannot be read here"):
        blob.read()


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"form": "tape"}, "form"),
        ({"form": "bytes"}, "data"),
        ({"form": "url", "data": b""}, "data"),
        ({"form": "url"}, "location"),
        ({"form": "url", "location": "DATA:image/png;base64,"}, "location"),
        ({"form": "url", "location": "https://\ud800"}, "location"),
        ({"form": "file", "location": "/x"}, "sha256"),
        ({"form": "provider_file", "location": "f"}, "provider"),
        ({"form": "artifact"}, "sha256"),
        ({"form": "artifact", "sha256": "zz"}, "sha256"),
        ({"form": "artifact", "sha256": HASH.upper() + "A"}, "sha256"),
        ({"form": "artifact", "sha256": HASH, "size": -1}, "size"),
        ({"form": "bytes", "data": b"x", "sha256": HASH}, "sha256"),
        ({"form": "bytes", "data": b"x", "size": 2}, "size"),
        ({"form": "bytes", "data": b"x", "name": "\ud800"}, "name"),
        ({"form": "bytes", "data": b"x", "media_type": "\ud800"}, "media_type"),
    ],
)
def test_contradictory_blob_is_refused_with_its_field(fields: dict[str, Any], path: str):
    with pytest.raises(SchemaError) as caught:
        Blob(**{"media_type": "image/png", **fields})
    assert caught.value.path == path


def test_repr_does_not_contain_content():
    assert "secret" not in repr(Blob.from_bytes(b"secret", "text/plain"))
