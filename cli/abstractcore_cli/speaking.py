"""`abstractcore speak`: a text as speech, in a file or on stdout; and the voices that there are."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import abstractcore
from abstractcore.registry import similar_path

from .asking import piped_text
from .bounded_input import read_text
from .output_files import backend_options, check_output, file_names, progress_shown, show_result, write_parts
from .plugins import ConnectionArguments, connected
from .reporting import reported, voices_json
from .screen import show_table, write

if TYPE_CHECKING:
    from abstractcore.schema import JSONObject

_FORMATS = {"oga": "opus", "ogg": "opus"}
_TEXT_FILES = frozenset({".md", ".markdown", ".rst", ".text", ".txt"})
_STDOUT = "-"
_COLUMNS = ("id", "name", "language", "gender", "grade", "model")


@dataclass(frozen=True, slots=True)
class SpeakArguments:
    """The arguments of `speak` about the speech. `text` is a text, the name of a file, or "-" for stdin."""

    text: str | None
    output: str | None
    voice: str | None
    format: str | None
    speed: float | None
    language: str | None
    instructions: str | None
    verify: bool
    backend: str | None
    backend_model: str | None
    base_url: str | None
    options: tuple[str, ...]

    @property
    def of_backend(self) -> dict[str, Any]:
        """The options of `create_llm` that choose the backend."""
        return {"voice_backend": self.backend, "voice_base_url": self.base_url}


def speak_text(speech: SpeakArguments, connection: ConnectionArguments, *, as_json: bool) -> None:
    """Speaks, writes the file, and prints its name; with the output "-" writes the sound to stdout."""
    with reported(as_json=as_json):
        text, arguments = _text(speech.text), _arguments(speech)
        silent = connection.quiet or as_json
        if speech.output == _STDOUT:
            _check_stdout(speech, as_json)
        check_output(speech.output)
        with connected(connection, more=speech.of_backend) as llm, progress_shown(silent) as on_progress:
            if speech.output == _STDOUT:
                result = _stream(llm, text, arguments, sys.stdout.buffer)
            else:
                result = llm.voice.tts(text, on_progress=on_progress, **arguments)
        files: list[Path] = []
        if speech.output != _STDOUT:
            files = write_parts(result.parts, file_names(speech.output, text[:200], result.parts))
        show_result(result, files, silent=silent, as_json=as_json)


def show_voices(speech: SpeakArguments, connection: ConnectionArguments, *, as_json: bool) -> None:
    """Prints the voices of the backend."""
    with reported(as_json=as_json), connected(connection, more=speech.of_backend) as llm:
        voices = llm.voice.list_voices()
        if as_json:
            write(voices_json(voices))
            return
        columns = [name for name in _COLUMNS if any(voice.get(name) for voice in voices)]
        show_table(columns, [[_cell(voice, name) for name in columns] for voice in voices])


def _cell(voice: JSONObject, name: str) -> str:
    value = voice.get(name)
    return value if isinstance(value, str) else ""


def _text(given: str | None) -> str:
    """Returns the text to be spoken: of stdin, of a file, or the argument itself."""
    if given is None or given == "-":
        text = piped_text("Pass the name of a text file, or the text itself.")
        if not text.strip():
            hint = 'Write abstractcore speak "TEXT", name a text file, or pipe text in.'
            raise abstractcore.InvalidInputError("no text given.", hint=hint)
        return text
    try:
        is_file = Path(given).is_file()
    except (OSError, ValueError):  # too long for a name, or with a zero byte
        is_file = False
    if is_file:
        return _content(Path(given))
    if Path(given).suffix.lower() in _TEXT_FILES and len(given.split()) == 1:
        raise abstractcore.InvalidInputError(
            f"there is no file {given}.", hint=similar_path(given) or "Check the name."
        )
    return given


def _content(file: Path) -> str:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
        raise abstractcore.InvalidInputError(f"{file} cannot be read: {reason}.", hint="Pass a text file.") from None


def _arguments(speech: SpeakArguments) -> dict[str, Any]:
    """Returns the arguments of the call that were given."""
    format = speech.format
    if format is None and speech.output not in (None, _STDOUT):
        ending = Path(speech.output or "").suffix[1:].lower()
        format = _FORMATS.get(ending, ending) or None
    if format is None and speech.output == _STDOUT:
        format = "wav"
    return backend_options(
        speech.options,
        voice=speech.voice,
        format=format,
        speed=speech.speed,
        language=speech.language,
        instructions=speech.instructions,
        verify=speech.verify or None,
        model=speech.backend_model,
    )


def _check_stdout(speech: SpeakArguments, as_json: bool) -> None:
    if as_json or speech.verify:
        name = "--json" if as_json else "--verify"
        raise abstractcore.InvalidInputError(f"{name} cannot be combined with --output -.", hint="Name a file.")
    if sys.stdout.isatty():
        hint = "Pipe it into a player, as in: abstractcore speak TEXT -o - | aplay"
        raise abstractcore.InvalidInputError("sound is not written to a terminal.", hint=hint)


def _stream(
    llm: abstractcore.LLM, text: str, arguments: dict[str, Any], stdout: BinaryIO
) -> abstractcore.MediaResult[abstractcore.AudioPart]:
    with llm.voice.tts_stream(text, **arguments) as stream:
        for part in stream:
            stdout.write(part.blob.read())
            stdout.flush()
        return stream.result
