"""Gets weights from a Hugging Face hub. The address, the token and the proxy are the hub library's own settings."""

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

from .wheels import redact

_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS, errno.EPERM}
_NAME = re.compile(r"hf:(?P<repo>[\w.-]+/[\w.-]+)(?:/(?P<file>[^*?\[\]\\]+))?")


@dataclass(frozen=True, slots=True)
class HubSource:
    """A repository of a hub, or one file of it."""

    repository: str
    file: str | None

    copies = 1
    hashes = None
    """Nothing is known beforehand; what came is hashed, and held to that from then on."""

    @classmethod
    def parse(cls, name: str) -> HubSource:
        """`hf:owner/repository` or `hf:owner/repository/path/to/file`; raises `ModelStoreError` for anything else."""
        match = _NAME.fullmatch(name)
        file = match["file"] if match else None
        if not match or {"", ".", ".."} & set(f"{match['repo']}/{file or 'x'}".split("/")):
            raise ModelStoreError(
                f"{name!r} is not the name of a model on a hub",
                hint="Write `hf:owner/repository` or `hf:owner/repository/path/to/file.gguf`.",
            )
        return cls(match["repo"], file)

    @property
    def name(self) -> str:
        """As the user writes it."""
        return f"hf:{self.repository}/{self.file}" if self.file else f"hf:{self.repository}"

    def size(self) -> int:
        """Bytes to fetch, as the hub tells."""
        with _explained(self.name) as hub:
            plan: list[Any] = hub.snapshot_download(self.repository, allow_patterns=self.file, dry_run=True)
        if not plan:
            raise ModelStoreError(f"{self.repository} has no file {self.file or ''}".rstrip())
        return sum(file.file_size or 0 for file in plan)

    def by_hand(self, folder: Path) -> str:
        """How to get the model into reach without us."""
        return "give the path of weights that are on this machine instead of a name"

    def fetch(self, scratch: Path) -> Path:
        """A folder in `scratch` with the files. Raises `OSError` for a full disk."""
        weights = scratch / "weights"
        with _explained(self.name) as hub:
            hub.snapshot_download(self.repository, allow_patterns=self.file, local_dir=weights)
        shutil.rmtree(weights / ".cache", ignore_errors=True)
        return weights


@contextlib.contextmanager
def _explained(name: str) -> Generator[Any]:
    """The hub's library, quiet, its errors turned into ours."""
    try:
        import huggingface_hub as hub
        import huggingface_hub.errors as hub_errors
        import huggingface_hub.utils as hub_utils
    except ImportError:
        raise MissingExtraError(
            f"{name} is on a hub, and huggingface-hub is not installed",
            hint="Install it with: pip install huggingface-hub filelock (the extra 'local').",
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
        message = "its owner gives access on request only"
        hint = "Ask for access on its page, then set HF_TOKEN to a token of yours."
    elif isinstance(error, errors.RepositoryNotFoundError):
        message, hint = "the hub has no such repository, or not for you", "If it is private, set HF_TOKEN."
    else:
        lines = redact(str(error)).strip().splitlines() or [type(error).__name__]
        message, hint = lines[0], None
    return ModelStoreError(f"{name} could not be fetched: {message}", hint=hint)
