"""Binary content and where it is: in memory, in a file, at a URL, at a provider, in an artifact store."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .json_values import SchemaError

BlobForm = Literal["bytes", "file", "url", "provider_file", "artifact"]
_HASH_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Blob:
    """Binary content in one of five forms; make it with the `from_...` constructors.

    `media_type` is an IANA type such as `audio/wav`. `name` is the file's own name, if it has one, for labels only.
    `size` is in bytes and `sha256` in lower-case hex; both are known for bytes, files and artifacts. Two blobs are
    equal when type and hash are; without a hash, when they point at the same place.
    """

    form: BlobForm
    media_type: str
    data: bytes | None = None
    location: str | None = None
    """The file's path, the URL, or the provider's file id."""
    provider: str | None = None
    sha256: str | None = None
    size: int | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if (self.data is None) == (self.form == "bytes"):
            raise SchemaError(f"a blob of form {self.form!r} {'needs' if self.form == 'bytes' else 'has no'} data")
        if self.form in ("file", "url", "provider_file") and not self.location:
            raise SchemaError(f"a blob of form {self.form!r} needs a location")
        if self.form == "provider_file" and not self.provider:
            raise SchemaError("a provider's file needs the provider's name")
        if self.form == "artifact" and not self.sha256:
            raise SchemaError("an artifact is named by its sha256")

    @classmethod
    def from_bytes(cls, data: bytes, media_type: str, *, name: str | None = None) -> Blob:
        """Content held in memory."""
        return cls("bytes", media_type, data=data, sha256=hashlib.sha256(data).hexdigest(), size=len(data), name=name)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], media_type: str) -> Blob:
        """Content of a file, which is read once now for its hash; raises `OSError` as `open` does."""
        hasher, size = hashlib.sha256(), 0
        with open(path, "rb") as file:
            while chunk := file.read(_HASH_CHUNK):
                hasher.update(chunk)
                size += len(chunk)
        location = str(Path(path).absolute())
        return cls(
            "file", media_type, location=location, sha256=hasher.hexdigest(), size=size, name=os.path.basename(location)
        )

    @classmethod
    def from_url(cls, url: str, media_type: str, *, name: str | None = None) -> Blob:
        """Content the model's provider fetches by itself."""
        return cls("url", media_type, location=url, name=name)

    @classmethod
    def from_provider_file(cls, provider: str, file_id: str, media_type: str, *, name: str | None = None) -> Blob:
        """Content that was uploaded to `provider` before, under `file_id`."""
        return cls("provider_file", media_type, location=file_id, provider=provider, name=name)

    @classmethod
    def from_artifact(cls, sha256: str, media_type: str, size: int, *, name: str | None = None) -> Blob:
        """Content kept by an `ArtifactStore` under its hash; `size` in bytes."""
        return cls("artifact", media_type, sha256=sha256, size=size, name=name)

    def read(self) -> bytes:
        """The content of a blob of form `bytes` or `file`.

        Raises `SchemaError` for the other forms, and when the file is no longer the one that was hashed.
        """
        if self.data is not None:
            return self.data
        if self.form != "file" or self.location is None:
            raise SchemaError(f"the content of a blob of form {self.form!r} is not at hand")
        data = Path(self.location).read_bytes()
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise SchemaError(f"{self.location} has changed since it was added to the call")
        return data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blob) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        what = self.location or (self.sha256 or "")[:12]
        return f"Blob({self.form}, {self.media_type}, {what}, {self.size} bytes)"

    def _identity(self) -> tuple[str | None, ...]:
        if self.sha256 is not None:
            return (self.media_type, self.sha256)
        return (self.media_type, self.form, self.provider, self.location)
