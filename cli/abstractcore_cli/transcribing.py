"""`abstractcore transcribe`: what is said in a recording, as text, subtitles or JSON."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import abstractcore

from .bounded_input import read_bytes
from .output_files import backend_options, check_output, media_summary, progress_shown, write_text
from .plugins import ConnectionArguments, connected, registry
from .reporting import reported, transcript_json
from .screen import note, write

FORMATS = ("txt", "srt", "vtt", "json")
_SUBTITLES = ("srt", "vtt")


@dataclass(frozen=True, slots=True)
class TranscribeArguments:
    """The arguments of `transcribe` about the recording. `file` is a path, a URL, or "-" for stdin."""

    file: str
    output: str | None
    format: str | None
    language: str | None
    terms: tuple[str, ...]
    speakers: bool
    words: bool
    backend: str | None
    backend_model: str | None
    base_url: str | None
    options: tuple[str, ...]


def transcribe_recording(recording: TranscribeArguments, connection: ConnectionArguments, *, as_json: bool) -> None:
    """Transcribes, and prints the transcript or writes it to a file."""
    with reported(as_json=as_json):
        format = _format(recording, as_json)
        check_output(recording.output)
        arguments = _arguments(recording, format)
        chosen, method = _backend_choice(recording)
        silent = connection.quiet or as_json
        with connected(connection, more=chosen) as llm, progress_shown(silent) as on_progress:
            capability = llm.voice if method == "stt" else llm.audio
            source: Any = read_bytes(sys.stdin.buffer, "stdin") if recording.file == "-" else recording.file
            result = getattr(capability, method)(source, on_progress=on_progress, **arguments)
        text = _write_transcript(result, format)
        if recording.output is None:
            write(text)
        else:
            write_text(text, Path(recording.output))
            if not as_json:
                write(f"{recording.output}\n")
        if silent:
            return
        if not result.text:
            note("warning: nobody speaks in the recording")
        for line in media_summary(result):
            note(line)


def _format(recording: TranscribeArguments, as_json: bool) -> str:
    """Returns the format: the given one, else by the ending of the output, else text."""
    ending = Path(recording.output or "").suffix[1:].lower()
    format = (recording.format or ("json" if as_json else ending if ending in FORMATS else "txt")).lower()
    if format not in FORMATS or (as_json and format != "json"):
        hint = f"The formats are {', '.join(FORMATS)}."
        wrong = "with --json the format is json" if as_json else f"--format {format!r} is not a format"
        raise abstractcore.InvalidInputError(f"{wrong}.", hint=hint)
    return format


def _arguments(recording: TranscribeArguments, format: str) -> dict[str, Any]:
    return backend_options(
        recording.options,
        language=recording.language,
        terms=list(recording.terms) or None,
        speakers=recording.speakers or None,
        words=(recording.words or format in _SUBTITLES) or None,
        model=recording.backend_model,
    )


def _backend_choice(recording: TranscribeArguments) -> tuple[dict[str, Any], str]:
    """Returns the options of `create_llm` that choose the backend, and the method that listens."""
    of_voice = {"voice_backend": recording.backend, "voice_base_url": recording.base_url}
    if recording.backend is None:
        if recording.base_url is not None:
            raise abstractcore.InvalidInputError("--base-url needs --backend.", hint="Add --backend NAME.")
        return {}, "transcribe"
    try:
        registry().backends.preferred("audio", recording.backend)
    except abstractcore.CapabilityUnavailableError:
        return of_voice, "stt"
    return {"audio_backend": recording.backend}, "transcribe"


def _write_transcript(result: abstractcore.TranscriptResult, format: str) -> str:
    transcript = result.transcript
    if format == "json":
        return transcript_json(result)
    if format == "srt":
        return transcript.as_srt()
    if format == "vtt":
        return transcript.as_vtt()
    return "".join(f"{line}\n" for line in _turns(transcript))


def _turns(transcript: abstractcore.Transcript) -> list[str]:
    """Returns the text; of several speakers a line for each of their turns."""
    if len(transcript.speakers) < 2:
        return [transcript.text] if transcript.text else []
    turns: list[str] = []
    speaker: str | None = None
    for segment in transcript.segments:
        if turns and segment.speaker == speaker:
            turns[-1] += f" {segment.text}"
        else:
            turns.append(f"{segment.speaker or '?'}: {segment.text}")
        speaker = segment.speaker
    return turns
