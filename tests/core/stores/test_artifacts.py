"""The artifact store, and calls that refer to artifacts."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest

from abstractcore import ArtifactError, Blob, DocumentPart, ImagePart, Services, create_llm
from abstractcore.stores.artifacts import FileArtifactStore
from tests.chaos_server import completion

PNG = (Path(__file__).parents[2] / "media/files/small.png").read_bytes()


@pytest.fixture
def store(tmp_path):
    return FileArtifactStore(tmp_path / "artifacts")


def files(store):
    return [path for path in store._root.rglob("*") if path.is_file()]


def test_stored_artifact_is_found_by_its_hash(store):
    blob = store.put(b"content", "text/plain", "a.txt")
    assert blob == Blob.from_artifact(hashlib.sha256(b"content").hexdigest(), "text/plain", 7)
    assert (blob.form, blob.name) == ("artifact", "a.txt")
    assert store.get(blob.sha256) == b"content"


def test_concurrent_puts_of_equal_content_keep_one_file(store):
    threads = [threading.Thread(target=store.put, args=[b"content", "text/plain"]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(files(store)) == 1


def test_missing_artifact_error_names_the_folder(store):
    with pytest.raises(ArtifactError, match="no artifact has the hash 00") as caught:
        store.get("0" * 64)
    assert str(store._root) in caught.value.hint


def test_modified_artifact_is_never_returned(store):
    blob = store.put(b"content", "text/plain")
    files(store)[0].write_bytes(b"changed")
    with pytest.raises(ArtifactError, match="was changed"):
        store.get(blob.sha256)


def test_unwritable_folder_error_names_the_path(tmp_path):
    (tmp_path / "artifacts").write_text("a file")
    with pytest.raises(ArtifactError, match=r"artifacts.* cannot be written"):
        FileArtifactStore(tmp_path / "artifacts").put(b"content", "text/plain")


def test_failed_write_leaves_no_files(store, monkeypatch):
    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(ArtifactError, match="No space left"):
        store.put(b"content", "text/plain")
    assert files(store) == []


def test_artifact_is_sent_as_its_bytes(call_style, server, connect, services, store):
    services._artifacts = store
    server.always(completion("a picture"))
    llm = connect(accepts=["image"])
    image = ImagePart(store.put(PNG, "image/png", "x.png"))
    by_reference = call_style.generate(llm, "what is it?", media=[image])
    call_style.generate(llm, "what is it?", media=[ImagePart(Blob.from_bytes(PNG, "image/png", name="x.png"))])
    first, second = server.requests
    assert first.body == second.body
    assert [decision.route for decision in by_reference.media] == ["native"]


def test_artifact_that_the_model_does_not_accept_is_converted(call_style, server, connect, services, store):
    services._artifacts = store
    server.script(completion())
    note = DocumentPart(store.put(b"Bring two copies.", "text/plain", "note.txt"))
    (decision,) = call_style.generate(connect(), "what?", media=[note]).media
    assert (decision.source, decision.route, decision.sent.text) == ("note.txt", "inline", "Bring two copies.")


def test_missing_artifact_is_an_error_before_sending(call_style, server, connect, services, store):
    services._artifacts = store
    gone = ImagePart(Blob.from_artifact("0" * 64, "image/png", 3))
    with pytest.raises(ArtifactError):
        call_style.generate(connect(accepts=["image"]), "what?", media=[gone])
    assert server.requests == []


def test_default_store_is_in_the_user_data_folder_and_created_at_the_first_put(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    services = Services(environment={})
    create_llm("scripted", replies=[], services=services)
    assert list(tmp_path.iterdir()) == []
    blob = services.artifacts.put(b"content", "text/plain")
    assert services.artifacts.get(blob.sha256) == b"content"
    assert (tmp_path / "abstractcore" / "artifacts").is_dir()


def test_artifacts_are_listed_and_deleted(store):
    assert list(store.list()) == []
    blobs = [store.put(data, "text/plain") for data in (b"a", b"bb", b"ccc")]
    listed = list(store.list())
    assert [(each.sha256, each.size) for each in listed] == sorted((blob.sha256, blob.size) for blob in blobs)
    assert all(each.stored_at > 1.6e9 for each in listed)
    assert store.exists(blobs[1].sha256)
    assert (store.delete(blobs[1].sha256), store.delete(blobs[1].sha256)) == (True, False)
    assert not store.exists(blobs[1].sha256)
    assert [each.sha256 for each in store.list()] == sorted([blobs[0].sha256, blobs[2].sha256])


def test_scratch_files_of_a_store_are_not_artifacts(store):
    blob = store.put(b"a", "text/plain")
    (store._root / blob.sha256[:2] / "tmp1").write_bytes(b"")
    (store._root / "notes.txt").write_bytes(b"")
    assert [each.sha256 for each in store.list()] == [blob.sha256]


@pytest.mark.parametrize("method", ["get", "exists", "delete"])
@pytest.mark.parametrize("sha256", ["", "../../etc/passwd", "0" * 63, "A" * 64, "0" * 64 + "\n"])
def test_what_is_no_hash_is_no_path(store, method, sha256):
    with pytest.raises(ArtifactError, match="is not the hash of an artifact"):
        getattr(store, method)(sha256)


def test_artifact_that_cannot_be_deleted_is_an_error(store):
    blob = store.put(b"a", "text/plain")
    path = store._root / blob.sha256[:2] / blob.sha256
    path.unlink()
    path.mkdir()
    with pytest.raises(ArtifactError, match="cannot be deleted"):
        store.delete(blob.sha256)


def test_a_folder_that_cannot_be_read_is_not_listed_as_empty(tmp_path: Path):
    root = tmp_path / "root"
    root.write_text("a file")
    with pytest.raises(ArtifactError, match="cannot be read"):
        list(FileArtifactStore(root).list())
    assert list(FileArtifactStore(tmp_path / "missing").list()) == []


def test_only_files_are_listed(tmp_path: Path):
    (tmp_path / "ab" / f"ab{'0' * 62}").mkdir(parents=True)
    assert list(FileArtifactStore(tmp_path).list()) == []


def test_content_that_may_not_be_looked_up_is_an_artifact_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> bool:
        raise PermissionError(13, "Permission denied")

    store = FileArtifactStore(tmp_path)
    monkeypatch.setattr(Path, "is_file", refuse)
    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(ArtifactError, match="Permission denied"):
        store.exists("0" * 64)
    with pytest.raises(ArtifactError, match="Permission denied"):
        store.put(b"content", "text/plain")
