"""`abstractcore compose`: music of a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import abstractcore
from abstractcore.registry import missing_path_hint

from .bounded_input import read_text
from .output_files import backend_options, check_output, file_names, progress_shown, show_result, write_parts
from .plugins import ConnectionArguments, connected
from .reporting import reported

_FORMATS = {"mid": "midi", "xml": "musicxml", "ogg": "opus"}


@dataclass(frozen=True, slots=True)
class ComposeArguments:
    """The arguments of `compose` about the music. `wishes` are arguments of `t2m` by name, None where not given."""

    prompt: str
    lyrics: str | None
    lyrics_file: str | None
    format: str | None
    wishes: Mapping[str, Any]
    also: tuple[str, ...]
    backend: str | None
    backend_model: str | None
    options: tuple[str, ...]
    output: str | None


def compose_music(piece: ComposeArguments, connection: ConnectionArguments, *, as_json: bool) -> None:
    """Composes, writes the files, and prints their names."""
    with reported(as_json=as_json):
        check_output(piece.output)
        arguments = _arguments(piece)
        silent = connection.quiet or as_json
        chosen = {"music_backend": piece.backend, "music_model": piece.backend_model}
        with connected(connection, more=chosen) as llm, progress_shown(silent) as on_progress:
            result = llm.music.t2m(piece.prompt, on_progress=on_progress, **arguments)
        files = write_parts(result.parts, file_names(piece.output, piece.prompt, result.parts))
        show_result(result, files, silent=silent, as_json=as_json)


def _arguments(piece: ComposeArguments) -> dict[str, Any]:
    """Returns the arguments of the call that were given."""
    format = piece.format or Path(piece.output or "").suffix[1:].lower()
    arguments = {**piece.wishes, "format": _FORMATS.get(format, format) or None, "also": piece.also or None}
    return backend_options(piece.options, lyrics=_lyrics(piece), **arguments)


def _lyrics(piece: ComposeArguments) -> str | None:
    """Returns the words to sing; raises `InvalidInputError` for two of them, `MediaError` for an unreadable file."""
    if piece.lyrics_file is None:
        return piece.lyrics
    if piece.lyrics is not None:
        raise abstractcore.InvalidInputError("--lyrics and --lyrics-file are both given.", hint="Leave one out.")
    try:
        return read_text(Path(piece.lyrics_file))
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or str(error)
        problem, hint = f"{piece.lyrics_file} cannot be read: {why}", missing_path_hint(piece.lyrics_file)
        raise abstractcore.MediaError(problem, source=piece.lyrics_file, hint=hint) from None
