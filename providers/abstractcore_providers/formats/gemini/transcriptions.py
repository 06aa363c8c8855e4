"""Transcriptions of audio, such as those of gemini-3.5-transcribe: parts of their own, which are texts of the schema.

The other fields of a transcription (its speaker, language and words) are the option `audioTranscription` of the text,
which marks it as one. Source: `AudioTranscription` in the reference of the API, and `Transcription` in the types of the
`google-genai` package 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import ProviderOptions

from ...common.call_options import read_options
from ...common.reading import Object, text_of
from .known_parts import KNOWN

FIELD = "audioTranscription"
_OWN = frozenset({"text", "finished"})
_TEXT_AND_SIGNATURE = frozenset({"text", "thought", "thoughtSignature"})


@dataclass(frozen=True, slots=True)
class GeminiTranscription:
    """A transcription, or a chunk of one in a stream."""

    text: str
    options: ProviderOptions
    is_more: bool
    """Whether it has only text, so that it may continue the chunk before."""
    is_finished: bool


def read_transcription(data: Object, provider: str) -> GeminiTranscription | None:
    """Reads the part in `data`; None if it is not a transcription, or has other content beside it.

    Raises `SchemaError` with the path of what is invalid.
    """
    given = data.get(FIELD)
    if not isinstance(given, dict) or data.get("text") or not KNOWN.intersection(data) <= {"text"}:
        return None
    found = cast(Object, given)
    text, rest = text_of(found, "text") or "", {name: value for name, value in found.items() if name not in _OWN}
    if rest and not text:
        return None
    options = read_options({**data, FIELD: rest}, _TEXT_AND_SIGNATURE, provider)
    return GeminiTranscription(text, options, not rest and len(data) == 1, found.get("finished") is True)


def is_transcription(options: Mapping[str, Any]) -> bool:
    """Whether the options of a text mark it as a transcription."""
    given = options.get(FIELD)
    return isinstance(given, Mapping) and "text" not in given


def as_transcription(body: Object, path: str) -> Object:
    """Returns the part for a text written with its options in `body`, which may mark it as a transcription.

    Raises `InvalidInputError` for an option that it cannot have.
    """
    if not is_transcription(body):
        return body
    given = body[FIELD]
    if "finished" in given:
        raise InvalidInputError(
            "a whole transcription has no mark of its end",
            path=f"{path}.provider_options",
            hint=f"Remove 'finished' from {FIELD!r}.",
        )
    rest = {name: value for name, value in body.items() if name not in ("text", FIELD)}
    return {FIELD: {"text": body["text"], **cast(Object, given)}, **rest}
