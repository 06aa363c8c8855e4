"""The response of `POST /audio/transcriptions`, in each of its formats: text, segments, segments with speakers.

Sources: https://platform.openai.com/docs/api-reference/audio/json-object, .../verbose-json-object and
.../diarized-json-object; `TranscriptionResponse` in mistralai 3.7.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from abstractcore.ports import Transcription
from abstractcore.schema import Billing, Transcript, TranscriptSegment, TranscriptWord, Usage, WireResponse

from ...common.endpoints import RIGHT_ADDRESS
from ...common.openai_errors import error_in_body
from ...common.reading import Object, as_object, as_objects, count_of, text_of
from ...common.response_bodies import UsageTable, no_reply, read_body
from ...common.sounds import language_code
from .usage import USAGE

_MARKS = frozenset({"text", "segments", "duration"})
_TOKENS = UsageTable(
    {"input": "input_tokens", "output": "output_tokens", "input_audio": "input_token_details.audio_tokens"}
)
_LONGEST_SECONDS = 1e7


def read_transcription(response: WireResponse, seconds: float | None = None) -> Transcription:
    """Returns the transcript in a response; `seconds` is the length of the recording, where the response has none.

    Raises the error that the body reports, and `ServerError` for a body without a text.
    """
    data = as_object(read_body(response, RIGHT_ADDRESS))
    text = text_of(data, "text")
    if text is None:
        raise error_in_body(data) or no_reply(response, data, "transcript", _MARKS, RIGHT_ADDRESS)
    length = _seconds(data.get("duration"))
    transcript = Transcript(
        _segments(data, text.strip()), language=_language(data), seconds=seconds if length is None else length
    )
    return Transcription(transcript, _usage(data, transcript.seconds))


def _segments(data: Object, text: str) -> tuple[TranscriptSegment, ...]:
    words = tuple(filter(None, map(_word, as_objects(data.get("words")))))
    found = tuple(each for each in map(_segment, as_objects(data.get("segments"))) if each.text)
    if not found:
        return (TranscriptSegment(text, words=words, log_probability=_mean(data)),) if text else ()
    return _with_words(found, words) if words else found


def _segment(data: Object) -> TranscriptSegment:
    start, end = _times(data)
    return TranscriptSegment(
        (text_of(data, "text") or "").strip(),
        start,
        end,
        speaker=text_of(data, "speaker") or text_of(data, "speaker_id") or None,
        log_probability=_number(data.get("avg_logprob")),
        no_speech=_number(data.get("no_speech_prob")),
    )


def _word(data: Object) -> TranscriptWord | None:
    text = (text_of(data, "word") or "").strip()
    return TranscriptWord(text, *_times(data)) if text else None


def _with_words(
    segments: tuple[TranscriptSegment, ...], words: Sequence[TranscriptWord]
) -> tuple[TranscriptSegment, ...]:
    """Returns segments with their words: each word is in the last segment that begins before the middle of it."""
    of_segment: list[list[TranscriptWord]] = [[] for _ in segments]
    for word in words:
        middle = ((word.start or 0.0) + (word.end or 0.0)) / 2
        begun = [index for index, each in enumerate(segments) if each.start is not None and each.start <= middle]
        of_segment[begun[-1] if begun else 0].append(word)
    return tuple(replace(each, words=tuple(own)) for each, own in zip(segments, of_segment, strict=True))


def _times(data: Object) -> tuple[float, float] | tuple[None, None]:
    start, end = _seconds(data.get("start")), _seconds(data.get("end"))
    return (None, None) if start is None or end is None else (start, max(start, end))


def _seconds(value: Any) -> float | None:
    """Returns a time of at least 0; Groq's durations are texts in some versions."""
    number = _number(value)
    return None if number is None or not 0 <= number <= _LONGEST_SECONDS else number


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _mean(data: Object) -> float | None:
    """Returns the mean log probability of the tokens."""
    found = [
        number for each in as_objects(data.get("logprobs")) if (number := _number(each.get("logprob"))) is not None
    ]
    return sum(found) / len(found) if found else None


def _language(data: Object) -> str | None:
    """Returns the code of the language: the reported one, or the first of several."""
    named = text_of(data, "language") or next(
        (code for each in as_objects(data.get("languages")) if (code := text_of(each, "code"))), None
    )
    return None if named is None else language_code(named)


def _usage(data: Object, seconds: float | None) -> Usage:
    """Returns tokens if these are billed, else the seconds, rounded up; the length of the recording if none are
    reported.
    """
    usage = as_object(data.get("usage"))
    tokens = _TOKENS.read(usage) if "input_tokens" in usage else USAGE.read(usage)
    if tokens.input is not None and "prompt_audio_seconds" not in usage:
        return tokens
    billed = count_of(usage, "prompt_audio_seconds")
    if billed is None:
        reported = _seconds(usage.get("seconds"))
        length = seconds if reported is None else reported
        billed = None if length is None else math.ceil(length)
    return tokens if billed is None else replace(tokens, billing=Billing(counts={"audio_second": billed}))
