"""Weights that the user keeps elsewhere, named by their path. They are looked at and never touched."""

from __future__ import annotations

from pathlib import Path

from abstractcore.errors import ModelStoreError
from abstractcore.schema.json_values import check_class

_MAGIC = b"GGUF"


def is_path(name: str) -> bool:
    """Whether a model's name is meant as a path: it has a slash, begins with `.` or `~`, or ends in `.gguf`.

    Raises `SchemaError` for a name that is no text.
    """
    check_class(name, str, "model")
    return not name.startswith("hf:") and (
        "/" in name or "\\" in name or name.startswith((".", "~")) or name.lower().endswith(".gguf")
    )


def checked_path(name: str) -> Path:
    """The absolute path of a folder or of a GGUF file; raises `ModelStoreError` if it is neither."""
    path = Path(name)
    try:
        path = path.expanduser().absolute()
        if path.is_dir():
            return path
        if path.exists() and not path.is_file():
            raise ModelStoreError(f"{path} is not a regular file", hint="Give a file in llama.cpp's GGUF format.")
        with path.open("rb") as stream:
            magic = stream.read(len(_MAGIC))
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelStoreError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}",
            hint="Check the path; a model's name has no slash and no `.gguf` in it.",
        ) from None
    if magic != _MAGIC:
        raise ModelStoreError(
            f"{path} is not a GGUF file", hint="Give a file in llama.cpp's GGUF format; it begins with `GGUF`."
        )
    return path
