"""Weights outside the store, given by path. They are read and never changed."""

from __future__ import annotations

from pathlib import Path

from abstractcore.errors import ModelStoreError
from abstractcore.schema.json_values import check_class

_MAGIC = b"GGUF"


def is_path(name: str) -> bool:
    """Returns whether a model's name is a path: it has a slash, begins with `.` or `~`, or ends in `.gguf`.

    Raises `SchemaError` unless the name is text.
    """
    check_class(name, str, "model")
    return not name.startswith("hf:") and (
        "/" in name or "\\" in name or name.startswith((".", "~")) or name.lower().endswith(".gguf")
    )


def checked_path(name: str) -> Path:
    """Returns the absolute path of a folder or of a GGUF file; raises `ModelStoreError` for anything else."""
    path = Path(name)
    try:
        path = path.expanduser().absolute()
        if path.is_dir():
            return path
        if path.exists() and not path.is_file():
            raise ModelStoreError(f"{path} is not a regular file", hint="Pass a file in llama.cpp's GGUF format.")
        with path.open("rb") as stream:
            magic = stream.read(len(_MAGIC))
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelStoreError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}",
            hint="Check the path; a model's name has no slash and no `.gguf` in it.",
        ) from None
    if magic != _MAGIC:
        raise ModelStoreError(
            f"{path} is not a GGUF file", hint="Pass a file in llama.cpp's GGUF format; it begins with `GGUF`."
        )
    return path
