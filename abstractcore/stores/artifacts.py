"""`FileArtifactStore`: content-addressed files, which calls refer to by hash."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..errors import ArtifactError
from ..schema import Blob
from ..user_folders import data_folder
from .whole_files import write_whole


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
        if not path.exists():
            try:
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

    def _path(self, sha256: str) -> Path:
        return self._folder() / sha256[:2] / sha256

    def _folder(self) -> Path:
        return self._root or data_folder() / "artifacts"
