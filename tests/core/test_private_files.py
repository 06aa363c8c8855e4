"""What a program keeps of its users' content on disk: only the user that runs it may read it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from abstractcore import FileJournal, StoredFile
from abstractcore.ports import Conversion
from abstractcore.private_files import make_private_folder
from abstractcore.stores.artifacts import FileArtifactStore, FolderStoredFiles
from abstractcore.stores.conversions import FileConversions

pytestmark = pytest.mark.skipif(os.name != "posix", reason="has permissions of POSIX")

UPLOADED = StoredFile("f1", "vendor", "https://h.example/v1", "a" * 32, "0" * 64, "text/plain", 3, 5.0, 9.0, "a.txt")


def journal(folder: Path) -> None:
    make_private_folder(folder)
    kept = FileJournal(folder / "journal")
    kept.open()
    kept.close()


WRITERS: dict[str, Callable[[Path], object]] = {
    "artifacts": lambda folder: FileArtifactStore(folder).put(b"secret", "text/plain"),
    "conversions": lambda folder: FileConversions(folder).put("ab" * 32, Conversion("secret", "text")),
    "ids of uploaded files": lambda folder: FolderStoredFiles(folder).put(UPLOADED),
    "journals": journal,
}


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_umask")
@pytest.mark.parametrize("writer", WRITERS)
def test_files_and_the_folders_made_for_them_are_private(tmp_path: Path, writer: str):
    WRITERS[writer](tmp_path / "new" / "folder")
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert any(path.is_file() for path in modes)
    assert {path: mode for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}


def test_folder_that_exists_stays_as_it_is(tmp_path: Path):
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_folder_below_a_file_cannot_be_made(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        make_private_folder(tmp_path / "file" / "a" / "b")
