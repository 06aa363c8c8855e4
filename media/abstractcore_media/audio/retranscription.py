"""Transcribes parts of a recording a second time, by another model or in another way: so a transcript is verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from abstractcore.ports import Conversion
from abstractcore.schema import MediaAnchor, MediaPart

from ..common.content import source_of
from ..common.stopping import StopCheck
from .options import DEFAULT_MODEL, RecognitionOptions
from .pauses import SpeechPiece, speech_pieces
from .sound import SAMPLE_RATE, SECONDS_PER_BLOCK, SoundReader
from .speech import WhisperRecogniser, find_speech

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext

    from .pauses import Samples
    from .speech_models import SpeechModels

_ENGLISH_MODEL = "whisper-tiny.en"
_BEAM_SIZE, _NARROW = 5, 1
"""For a language that only the model of the transcript knows: it follows one text, and another part of the sound."""


def retranscribed(
    part: MediaPart,
    spans: Sequence[tuple[float, float]],
    context: MediaContext,
    models: SpeechModels,
    max_seconds: float,
) -> Conversion:
    """Returns a line for each span of a recording, as another model hears it; see `Retranscribes.retranscribe`.

    A transcript of another model is heard by the default model on this machine, one of that by the English one.
    """
    source = source_of(part)
    check_stop = StopCheck(source, context.timeout)
    transcriber = context.transcriber
    options = RecognitionOptions.of(context.options, transcriber.name if transcriber is not None else None)
    options = replace(options, words=False, speakers=False)
    windows = _windows(part, spans, context, max_seconds)

    def load(model: str) -> Any:
        return models.load(model, context.models.path, context.spare_cores)

    beam_size = _BEAM_SIZE
    if options.model != DEFAULT_MODEL:
        options = replace(options, model=DEFAULT_MODEL)
    elif _is_english(options, load, windows):
        options = replace(options, model=_ENGLISH_MODEL, language="en")
    else:
        beam_size = _NARROW
    recognise = WhisperRecogniser(partial(load, options.model), options, source, beam_size)
    lines: list[str] = []
    for samples in windows:
        check_stop()
        found = (recognise(piece).transcript for piece in _pieces(samples, recognise.max_seconds))
        lines.append(" ".join(transcript.text for transcript in found).replace("\n", " "))
    return Conversion("\n".join(lines), "second hearing", anchors=_anchors(lines, spans), model=options.model)


def _windows(
    part: MediaPart, spans: Sequence[tuple[float, float]], context: MediaContext, max_seconds: float
) -> list[Samples]:
    """Returns the samples of each span; the recording is decoded once, up to the last of them."""
    import numpy as np

    run = partial(context.isolated, source_of(part), SECONDS_PER_BLOCK)
    reader = SoundReader(part, max_seconds, spans[0][0], spans[-1][1], context.timeout, run)
    found: list[list[Samples]] = [[] for _ in spans]
    position = 0
    for samples in reader.blocks():
        offset = round(reader.begin * SAMPLE_RATE) + position
        position += len(samples)
        for (start, end), pieces in zip(spans, found, strict=True):
            first, last = (max(0, round(each * SAMPLE_RATE) - offset) for each in (start, end))
            pieces.append(samples[first:last])
    return [np.concatenate(pieces) if pieces else np.zeros(0, np.float32) for pieces in found]


def _pieces(samples: Samples, longest: float) -> list[SpeechPiece]:
    if not len(samples):
        return []
    if len(samples) <= longest * SAMPLE_RATE:
        return [SpeechPiece(samples, ((0, len(samples)),))]
    return [*speech_pieces((samples,), find_speech, max_seconds=longest)]


def _is_english(options: RecognitionOptions, load: Any, windows: Sequence[Samples]) -> bool:
    if options.language is not None:
        return options.language == "en"
    import numpy as np

    language, *_ = load(options.model).detect_language(np.concatenate(windows))
    return language == "en"


def _anchors(lines: Sequence[str], spans: Sequence[tuple[float, float]]) -> tuple[MediaAnchor, ...]:
    anchors: list[MediaAnchor] = []
    position = 0
    for line, span in zip(lines, spans, strict=True):
        anchors.append(MediaAnchor(position, position + len(line), seconds=span))
        position += len(line) + 1
    return tuple(anchors)
