"""`abstractcore draw`: pictures of a prompt, or of another picture."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import abstractcore

from .output_files import backend_options, check_output, file_names, progress_shown, show_result, write_parts
from .plugins import ConnectionArguments, connected
from .reporting import reported

_SIZE = re.compile(r"(\d{1,6})\s*[xX*]\s*(\d{1,6})")
_FORMATS = {"jpg": "jpeg"}


@dataclass(frozen=True, slots=True)
class DrawArguments:
    """The arguments of `draw` about the picture. `source` is the picture to change."""

    prompt: str
    source: str | None
    mask: str | None
    size: str | None
    count: int | None
    seed: int | None
    backend: str | None
    backend_model: str | None
    options: tuple[str, ...]
    output: str | None


def draw_picture(picture: DrawArguments, connection: ConnectionArguments, *, as_json: bool) -> None:
    """Draws, writes the files, and prints their names."""
    with reported(as_json=as_json):
        arguments = _arguments(picture)
        check_output(picture.output)
        silent = connection.quiet or as_json
        chosen = {"vision_backend": picture.backend, "vision_image_model": picture.backend_model}
        with connected(connection, more=chosen) as llm, progress_shown(silent) as on_progress:
            if picture.source is None:
                result = llm.vision.t2i(picture.prompt, on_progress=on_progress, **arguments)
            else:
                masked = {} if picture.mask is None else {"mask": picture.mask}
                result = llm.vision.i2i(picture.prompt, picture.source, on_progress=on_progress, **masked, **arguments)
        files = write_parts(result.parts, file_names(picture.output, picture.prompt, result.parts))
        show_result(result, files, silent=silent, as_json=as_json)


def _arguments(picture: DrawArguments) -> dict[str, Any]:
    """Returns the arguments of the call that were given."""
    arguments = backend_options(picture.options, count=picture.count, seed=picture.seed)
    if picture.size is not None:
        found = _SIZE.fullmatch(picture.size.strip())
        if found is None:
            hint = "Write --size 1024x768, for example."
            raise abstractcore.InvalidInputError(f"--size {picture.size!r} is not a size.", hint=hint)
        arguments |= {"width": int(found[1]), "height": int(found[2])}
    if picture.mask is not None and picture.source is None:
        raise abstractcore.InvalidInputError("--mask needs a picture to change.", hint="Add --from FILE.")
    ending = Path(picture.output).suffix[1:].lower() if picture.output else ""
    if ending and "format" not in arguments:
        arguments["format"] = _FORMATS.get(ending, ending)
    return arguments
