"""Downloads the files of packaged models from a Hugging Face hub, where they are published one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstractcore.errors import ModelStoreError
from abstractcore.ports import ModelFile, ModelWeights

from .hub import hub_client

_PROBE_SECONDS = 5.0
"""huggingface-hub itself retries for half a minute where the hub cannot be reached."""
_DOWNLOADED = "hub"


@dataclass(frozen=True, slots=True)
class HubFilesSource:
    """The files of a packaged model on a hub, which has each of them."""

    model: ModelWeights

    site = "Hugging Face"

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def file(self) -> str | None:
        """The file of a model that is one file; None for a folder."""
        return self.model.files[0].name if len(self.model.files) == 1 else None

    @property
    def hashes(self) -> Mapping[str, str]:
        """SHA-256 in hex by file name."""
        return {file.name: file.sha256 for file in self.model.files}

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
