"""`FileArtifactStore`: content-addressed files, which calls refer to by hash.

Indexes of files that were uploaded to providers: in memory, or in a folder that processes share. Files that are
written as a whole.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from ..errors import ArtifactError
from ..ports import StoredArtifact
from ..private_files import make_private_folder
from ..schema import Blob, SchemaError, StoredFile
from ..schema.base_error import shown
from ..schema.codec import json_of
from ..schema.documents import from_data
from ..user_folders import data_folder

_SHA256 = re.compile("[0-9a-f]{64}")
_FIRST_DIGITS = re.compile("[0-9a-f]{2}")


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file, and its folder, atomically: readers never see a part of it. Only the user can read both."""
    make_private_folder(path.parent)
    handle, scratch = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise


def _names(folder: Path, pattern: re.Pattern[str]) -> Sequence[str]:
    """Returns the sorted names in a folder that match; none if it does not exist."""
    try:
        return sorted(name for name in os.listdir(folder) if pattern.fullmatch(name))
    except FileNotFoundError:
        return ()


class FileArtifactStore:
    """Stores content under `root`, by default `artifacts` in the user's data folder. The constructor does no I/O.

    Any number of threads and processes may use one folder at once.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = root

    def put(self, data: bytes, media_type: str, name: str | None = None) -> Blob:
        """Stores `data` and returns the reference to it. Raises `ArtifactError` if it cannot be written."""
        sha256 = hashlib.sha256(data).hexdigest()
        path = self._path(sha256)
        try:
            if not path.exists():
                write_whole(path, data)
        except OSError as error:
            raise ArtifactError(f"{path} cannot be written: {error.strerror or error}.") from None
        return Blob.from_artifact(sha256, media_type, len(data), name=name)

    def get(self, sha256: str) -> bytes:
        """Returns the content whose hash is `sha256`; raises `ArtifactError` if it is not found or was changed."""
        path = self._path(sha256)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise ArtifactError(
                f"no artifact has the hash {sha256}.", hint=f"Artifacts are stored in {self._folder()}."
            ) from None
        except OSError as error:
            raise ArtifactError(f"{path} cannot be read: {error.strerror or error}.") from None
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ArtifactError(
                f"{path} was changed: its content does not match its hash.",
                hint="Delete the file, and store the content again.",
            )
        return data

    def exists(self, sha256: str) -> bool:
        """Returns whether content with this hash is stored; it is not read. Raises `ArtifactError` if its folder cannot
        be read.
        """
        path = self._path(sha256)
        try:
            return path.is_file()
        except OSError as error:
            raise ArtifactError(f"{path} cannot be read: {error.strerror or error}.") from None

    def delete(self, sha256: str) -> bool:
        """Deletes content; returns False if it was not stored. Raises `ArtifactError` if it cannot be deleted."""
        path = self._path(sha256)
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise ArtifactError(f"{path} cannot be deleted: {error.strerror or error}.") from None
        return True

    def list(self) -> Iterator[StoredArtifact]:
        """Yields what is stored, in the order of the hashes. Raises `ArtifactError` if the folder cannot be read."""
        folder = self._folder()
        try:
            for inner in _names(folder, _FIRST_DIGITS):
                for name in _names(folder / inner, _SHA256):
                    with suppress(FileNotFoundError):  # another process has deleted it
                        state = (folder / inner / name).stat()
                        if name.startswith(inner) and stat.S_ISREG(state.st_mode):
                            yield StoredArtifact(name, state.st_size, state.st_mtime)
        except OSError as error:
            raise ArtifactError(f"{folder} cannot be read: {error.strerror or error}.") from None

    def _path(self, sha256: str) -> Path:
        if not _SHA256.fullmatch(sha256):
            hint = "Give 64 lower-case hex digits, such as `blob.sha256`."
            raise ArtifactError(f"{shown(sha256)} is not the hash of an artifact.", hint=hint)
        return self._folder() / sha256[:2] / sha256

    def _folder(self) -> Path:
        return self._root or data_folder() / "artifacts"


_log = logging.getLogger("abstractcore")


class MemoryStoredFiles:
    """Remembers uploaded files for the life of the process."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, str], StoredFile] = {}
        self._lock = Lock()
        if hasattr(os, "register_at_fork"):  # a fork may happen while another thread holds the lock
            os.register_at_fork(after_in_child=self._unlock)

    def find(self, account: str, sha256: str, media_type: str) -> StoredFile | None:
        """Returns the newest file of an account with this content."""
        return _newest(self.list(account), sha256, media_type)

    def put(self, file: StoredFile) -> None:
        """Remembers a file, in place of an entry with the same id."""
        with self._lock:
            self._files[file.account, file.id] = file

    def remove(self, file: StoredFile) -> None:
        """Forgets a file."""
        with self._lock:
            self._files.pop((file.account, file.id), None)

    def list(self, account: str) -> list[StoredFile]:
        """Returns the files of an account, the oldest first."""
        with self._lock:
            return _by_age([file for file in self._files.values() if file.account == account])

    def _unlock(self) -> None:
        self._lock = Lock()


class FolderStoredFiles:
    """Remembers uploaded files in a folder. The constructor does no I/O.

    Its files hold ids, hashes and names of files, and no credentials; they are readable by the user only. Any number of
    threads and processes may use one folder at once: each upload has a file of its own. What cannot be read or written
    is logged; such a file is uploaded again.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)

    def find(self, account: str, sha256: str, media_type: str) -> StoredFile | None:
        """Returns the newest file of an account with this content."""
        return _newest(self._read(account, f"{sha256}.*.json"), sha256, media_type)

    def put(self, file: StoredFile) -> None:
        """Remembers a file, in place of an entry with the same id."""
        try:
            write_whole(self._path(file), json_of(file))
        except OSError as error:
            _log.warning("the id of an uploaded file cannot be kept: %s", error)

    def remove(self, file: StoredFile) -> None:
        """Forgets a file."""
        try:
            self._path(file).unlink(missing_ok=True)
        except OSError as error:
            _log.warning("the id of a file that was deleted cannot be removed: %s", error)

    def list(self, account: str) -> list[StoredFile]:
        """Returns the files of an account, the oldest first."""
        return self._read(account, "*.json")

    def _path(self, file: StoredFile) -> Path:
        name = hashlib.sha256(file.id.encode()).hexdigest()[:16]
        return self._folder / file.account / f"{file.sha256}.{name}.json"

    def _read(self, account: str, pattern: str) -> list[StoredFile]:
        found: list[StoredFile] = []
        try:
            for path in (self._folder / account).glob(pattern):
                with suppress(FileNotFoundError):  # another process has removed it
                    found += _read_entry(path)
        except OSError as error:
            _log.warning("the ids of uploaded files cannot be read: %s", error)
        return _by_age([file for file in found if file.account == account])


def _read_entry(path: Path) -> list[StoredFile]:
    try:
        return [from_data(StoredFile, json.loads(path.read_bytes()))]
    except (SchemaError, ValueError, RecursionError):
        _log.warning("%s is not the entry of an uploaded file; it is not used", path)
        return []


def _by_age(files: list[StoredFile]) -> list[StoredFile]:
    return sorted(files, key=lambda file: (file.uploaded_at, file.id))


def _newest(files: list[StoredFile], sha256: str, media_type: str) -> StoredFile | None:
    fitting = [file for file in files if file.sha256 == sha256 and file.media_type == media_type]
    return fitting[-1] if fitting else None
