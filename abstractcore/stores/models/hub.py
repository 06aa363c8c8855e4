"""Downloads weights from a Hugging Face hub. URL, token and proxy are settings of huggingface-hub.

Downloads the files of packaged models from a Hugging Face hub, where they are published one by one.
"""

from __future__ import annotations

import contextlib
import errno
import re
import shutil
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from abstractcore.errors import MissingExtraError, ModelStoreError
from abstractcore.ports import ModelFile
from abstractcore.schema.base_error import install_hint

from .packages import PackagedSource, redact

_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS, errno.EPERM}
_NAME = re.compile(r"hf:(?P<repo>[\w.-]+/[\w.-]+)(?:/(?P<file>[^*?\[\]\\]+))?")


@dataclass(frozen=True, slots=True)
class HubSource:
    """A repository of a hub, or one file of it."""

    repository: str
    file: str | None

    site = "Hugging Face"
    hashes = None
    """Unknown before the download; the store records the hashes of what was downloaded."""

    @classmethod
    def parse(cls, name: str) -> HubSource:
        """Parses `hf:owner/repository` or `hf:owner/repository/path/to/file`; raises `ModelStoreError` otherwise."""
        match = _NAME.fullmatch(name)
        file = match["file"] if match else None
        if not match or {"", ".", ".."} & set(f"{match['repo']}/{file or 'x'}".split("/")):
            raise ModelStoreError(
                f"{name!r} is not the name of a Hugging Face model",
                hint="Write `hf:owner/repository` or `hf:owner/repository/path/to/file.gguf`.",
            )
        return cls(match["repo"], file)

    @property
    def name(self) -> str:
        """The name as the user writes it."""
        return f"hf:{self.repository}/{self.file}" if self.file else f"hf:{self.repository}"

    def size(self) -> int:
        """Returns the bytes to download, as reported by the hub."""
        with hub_client(self.name) as hub:
            plan: list[Any] = hub.snapshot_download(self.repository, allow_patterns=self.file, dry_run=True)
        if not plan:
            raise ModelStoreError(f"{self.repository} has no file {self.file or ''}".rstrip())
        return sum(file.file_size or 0 for file in plan)

    def space(self, size: int, partial: Path) -> int:
        """Returns the bytes of the weights."""
        return size

    def by_hand(self, folder: Path) -> str:
        """Returns an alternative to the download, for messages."""
        return "pass the path of weights on this machine instead of a name"

    def fetch(self, scratch: Path, partial: Path) -> Path:
        """Downloads the files to a folder in `scratch`, and returns it. Raises `OSError` for a full disk."""
        weights = scratch / "weights"
        with hub_client(self.name) as hub:
            hub.snapshot_download(self.repository, allow_patterns=self.file, local_dir=weights)
        shutil.rmtree(weights / ".cache", ignore_errors=True)
        return weights


@contextlib.contextmanager
def hub_client(name: str) -> Generator[Any]:
    """Yields huggingface-hub, with warnings off and its errors turned into `ModelStoreError`."""
    try:
        import huggingface_hub as hub
        import huggingface_hub.errors as hub_errors
        import huggingface_hub.utils as hub_utils
    except ImportError:
        raise MissingExtraError(
            f"{name} is on Hugging Face, and huggingface-hub is not installed",
            hint=install_hint("huggingface-hub", "filelock", extra="local"),
        ) from None
    try:
        with _without_bars(hub_utils):
            yield hub
    except Exception as error:
        # Any exception: the HTTP library under the hub's differs from release to release.
        if isinstance(error, OSError) and error.errno in _DISK:
            raise
        raise _failure(name, error, hub_errors) from None


@contextlib.contextmanager
def _without_bars(utils: Any) -> Generator[None]:
    if utils.are_progress_bars_disabled():
        yield
        return
    utils.disable_progress_bars()
    try:
        yield
    finally:
        utils.enable_progress_bars()


def _failure(name: str, error: BaseException, errors: ModuleType) -> ModelStoreError:
    if isinstance(error, errors.DryRunError) and error.__cause__:
        error = error.__cause__
    if isinstance(error, errors.GatedRepoError):
        message = "access is restricted"
        hint = "Request access on the model's page, then set HF_TOKEN."
    elif isinstance(error, errors.RepositoryNotFoundError):
        message, hint = "the repository does not exist, or is private", "If it is private, set HF_TOKEN to your token."
    else:
        lines = redact(str(error)).strip().splitlines() or [type(error).__name__]
        message, hint = lines[0], None
    return ModelStoreError(f"{name} could not be downloaded: {message}", hint=hint)


_PROBE_SECONDS = 5.0
"""huggingface-hub itself retries for half a minute where the hub cannot be reached."""
_DOWNLOADED = "hub"


class HubFilesSource(PackagedSource):
    """The files of a packaged model on a hub, which has each of them."""

    __slots__ = ()
    site = "Hugging Face"

    def size(self) -> int:
        """Returns the bytes of the weights, after one request for each file. Raises `ModelStoreError` if the hub
        cannot be reached, or has a file of another size.
        """
        with hub_client(self.name) as hub:
            for file in self.model.files:
                url = hub.hf_hub_url(*_address(file))
                found: Any = hub.get_hf_file_metadata(url, timeout=_PROBE_SECONDS).size
                if found != file.size:
                    raise ModelStoreError(f"{url} has {found} bytes, not {file.size}")
        return self.model.size

    def space(self, size: int, partial: Path) -> int:
        """Returns the bytes of the weights."""
        return size

    def by_hand(self, folder: Path) -> str:
        """Returns how to put the model into `folder` by hand."""
        return "put " + ", ".join(f"{file.name} (of hf:{file.hub})" for file in self.model.files) + f" into {folder}"

    def fetch(self, scratch: Path, partial: Path) -> Path:
        """Downloads the files to `partial`, and returns a folder in `scratch` with them."""
        weights = scratch / "weights"
        weights.mkdir()
        with hub_client(self.name) as hub:
            for file in self.model.files:
                repository, path = _address(file)
                downloaded = hub.hf_hub_download(repository, path, local_dir=partial / _DOWNLOADED)
                Path(downloaded).replace(weights / file.name)
        return weights


def _address(file: ModelFile) -> tuple[str, str]:
    owner, repository, path = (file.hub or "").split("/", 2)
    return f"{owner}/{repository}", path
