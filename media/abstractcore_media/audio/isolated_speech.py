"""`IsolatedRecogniser`: speech recognition in a process of its own, which may crash or hang."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstractcore.errors import AbstractCoreError, InvalidInputError, ModelStoreError
from abstractcore.ports import Transcription
from abstractcore.schema import Transcript, from_data, to_data

from .speech import WhisperRecogniser, find_speech, unsupported_options
from .speech_models import SpeechModels

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext

    from .options import RecognitionOptions
    from .pauses import Samples, SpeechPiece

_MOST_SECONDS = 300.0
"""A piece of half a minute takes a tenth of that on a slow core, with the time to load the model."""
_models = SpeechModels()


class IsolatedRecogniser:
    """Recognises speech as `WhisperRecogniser` does. Its process crashes: `CorruptFileError`."""

    max_seconds, max_bytes, at_once = (
        WhisperRecogniser.max_seconds,
        WhisperRecogniser.max_bytes,
        WhisperRecogniser.at_once,
    )

    def __init__(self, context: MediaContext, options: RecognitionOptions, source: str) -> None:
        self._context = context
        self._options = options
        self._source = source
        self._folder: Path | None = None

    def __call__(self, piece: SpeechPiece) -> Transcription:
        """Returns the segments of a piece; raises as `WhisperRecogniser` does."""
        self._folder = self._folder or self._context.models.path(self._options.model)
        arguments = self._folder, self._context.spare_cores, self._options, self._source, piece.samples
        (found,) = self._context.isolated(self._source, _MOST_SECONDS, recognised, *arguments)
        kind, text, *about = found
        if kind == InvalidInputError.__name__:
            raise InvalidInputError(text, path=about[0], hint=about[1])
        if kind == ModelStoreError.__name__:
            raise ModelStoreError(text, hint=about[1])
        transcript = from_data(Transcript, json.loads(text))
        if self._options.language is None:
            self._options = replace(self._options, language=transcript.language)
        return Transcription(transcript, warnings=unsupported_options(self._options))


def find_isolated_speech(
    context: MediaContext, source: str, samples: Samples, longest: int
) -> Sequence[tuple[int, int]]:
    """Returns first and last sample of each span of speech, as `find_speech` does."""
    (found,) = context.isolated(source, _MOST_SECONDS, speech_spans, samples, longest)
    return [(start, end) for start, end in found]


def recognised(
    folder: Path, threads: int, options: RecognitionOptions, source: str, samples: Samples
) -> Generator[list[Any]]:
    """Yields the transcript of a piece as JSON, or the error of a user's mistake, in a process of `Isolation`."""
    from .pauses import SpeechPiece

    load = partial(_models.load, options.model, lambda _: folder, threads)
    try:
        found = WhisperRecogniser(load, options, source)(SpeechPiece(samples, ((0, len(samples)),)))
    except (InvalidInputError, ModelStoreError) as error:
        yield _described(error)
        return
    yield ["", json.dumps(to_data(found.transcript))]


def speech_spans(samples: Samples, longest: int) -> Generator[list[list[int]]]:
    """Yields the spans of speech, in a process of `Isolation`."""
    yield [[start, end] for start, end in find_speech(samples, longest)]


def _described(error: AbstractCoreError) -> list[Any]:
    return [type(error).__name__, error.message, getattr(error, "path", ""), error.hint]
