"""`POST /audio/transcriptions`: the operation `transcribe`, its request, and its response in each of its formats: text,
segments, segments with speakers.

Sources: https://platform.openai.com/docs/api-reference/audio/createTranscription, .../json-object,
.../verbose-json-object and .../diarized-json-object; `audio.transcriptions` in the packages openai 3.54, groq 1.7 and
mistralai 3.7.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import UnsupportedContentError
from abstractcore.ports import TRANSCRIBE, FileToUpload, Operation, Transcription, TranscriptionInput
from abstractcore.schema import (
    AudioPart,
    Billing,
    CallWarning,
    Encoded,
    ModelCall,
    Transcript,
    TranscriptSegment,
    TranscriptWord,
    Usage,
    WireResponse,
    to_data,
)

from ...common.call_options import add_provider_options, unsupported
from ...common.data_urls import content_of, data_url
from ...common.endpoints import RIGHT_ADDRESS
from ...common.openai_errors import error_in_body
from ...common.operations import multipart
from ...common.reading import Object, as_object, as_objects, count_of, text_of
from ...common.response_bodies import UsageTable, no_reply, read_body
from ...common.sounds import language_code
from .dialect import USAGE, ChatDialect
from .vocabulary import WARNINGS

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


_PATH = "/audio/transcriptions"
_ALWAYS = frozenset({"file", "model", "language", "prompt", "temperature"})
_EXTENSIONS = {
    "audio/flac": "flac",
    "audio/mp4": "m4a",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "audio/webm": "webm",
}
"""Servers recognise a recording by the extension of its name."""


def transcription(dialect: ChatDialect) -> Operation[TranscriptionInput, Transcription]:
    """Returns the operation: the transcript of the recording in a call."""
    return Operation(
        TRANSCRIBE,
        TranscriptionInput,
        lambda given: _Request(dialect, given).encode(),
        lambda response, given: read_transcription(response, seconds=given.seconds),
        usage=lambda transcription: transcription.usage or Usage(),
        to_record=lambda transcription: to_data(transcription.transcript),
        natively=frozenset({"audio"}),
    )


@dataclass(frozen=True, slots=True)
class _Request:
    """The request for a transcript, of which `given` says what it is to have."""

    dialect: ChatDialect
    given: TranscriptionInput

    def encode(self) -> Encoded:
        """Returns the request; raises `UnsupportedContentError` unless the call has one recording."""
        call, warnings = self.given.call, list[CallWarning]()
        recording, path = _recording(call, warnings)
        body: Object = {"model": call.model, **self._options(warnings)}
        if call.sampling.temperature is not None:
            body["temperature"] = call.sampling.temperature
        add_provider_options(body, call, self.dialect.provider, lambda name, value: name in _ALWAYS, warnings)
        blob = recording.blob
        data = content_of(blob, path)
        extension = _EXTENSIONS.get(blob.media_type, blob.media_type.rpartition("/")[2])
        name = blob.name or "recording"
        if not name.lower().endswith(f".{extension}"):
            name = f"{name}.{extension}"
        file = FileToUpload(blob.sha256 or "", blob.media_type, len(data), name)
        return Encoded(multipart(_PATH, self._fields(body), "file", file, data), tuple(warnings))

    def _options(self, warnings: list[CallWarning]) -> Object:
        rules, fields = self.dialect.transcription, self.dialect.transcription_fields
        body: Object = {}
        if self._sends_language:
            body["language"] = self.given.language
        body |= self._terms(warnings)
        if fields.formats:
            body["response_format"] = self._format
        if self._format == "diarized_json":
            body["chunking_strategy"] = "auto"  # longer recordings need it
            body |= self._voices()
        elif self._has_times:
            body["timestamp_granularities"] = ["segment", "word"] if self._has_words else ["segment"]
        if rules.log_probabilities:
            body["include"] = ["logprobs"]
        if fields.speakers is not None and self._tells_speakers:
            body[fields.speakers] = True
        warnings += self._left_out()
        return body

    def _left_out(self) -> Iterator[CallWarning]:
        """Yields a warning for everything that was asked for, and that the transcript will not have."""
        if self.given.language is not None and not self._sends_language:
            yield unsupported("arguments.language", self.given.language, "the language of a recording here")
        if self.dialect.transcription.times is not None and not self._has_times:
            message = "this provider reports no times of a recording whose language is named"
            yield CallWarning("times_left_out", "arguments.language", message, self.given.language)
        if self.given.words and not self._has_words:
            yield unsupported("arguments.words", True, "times of words")
        if self.given.speakers and not self._tells_speakers:
            yield unsupported("arguments.speakers", True, "telling speakers apart")

    @property
    def _tells_speakers(self) -> bool:
        speakers = self.dialect.transcription.speakers
        return speakers == "always" or (self.given.speakers and speakers is not None)

    @property
    def _has_times(self) -> bool:
        return self.dialect.transcription.has_times(self.given.language, self._tells_speakers)

    @property
    def _has_words(self) -> bool:
        return self.given.words and self._has_times and self.dialect.transcription.times == "words"

    @property
    def _sends_language(self) -> bool:
        rules = self.dialect.transcription
        is_named = self.given.language is not None
        return is_named and rules.language and not (rules.language_without_times and self._has_times)

    @property
    def _format(self) -> str:
        """The format of the response that has the most."""
        if self.dialect.transcription.speakers == "always" and self.dialect.transcription_fields.formats:
            return "diarized_json"
        return "verbose_json" if self._has_times else "json"

    def _terms(self, warnings: list[CallWarning]) -> Object:
        rules, fields = self.dialect.transcription, self.dialect.transcription_fields
        terms = self.given.terms
        if not terms:
            return {}
        if rules.terms is None:
            warnings.append(unsupported("arguments.terms", list(terms), "names and terms of a recording"))
            return {}
        if rules.terms == "prompt":
            return {"prompt": ", ".join(terms)}
        sent = terms[: rules.most_terms]
        if len(sent) < len(terms):
            message = f"only the first {len(sent)} of {len(terms)} terms are sent"
            warnings.append(CallWarning("terms_left_out", "arguments.terms", message, len(terms), len(sent)))
        if fields.keywords_are_words:
            return {fields.keywords: ["_".join(term.replace(",", " ").split()) for term in sent]}
        return {fields.keywords: list(sent)}

    def _voices(self) -> Object:
        known = self.given.voices[: self.dialect.transcription.known_speakers]
        if not known:
            return {}
        samples = [data_url(each.recording.blob, "arguments.voices") for each in known]
        return {"known_speaker_names": [each.speaker for each in known], "known_speaker_references": samples}

    def _fields(self, body: Object) -> Iterator[tuple[str, str]]:
        """Yields the fields of the form: a list is a field for each item."""
        for name, value in body.items():
            if isinstance(value, list | tuple):
                ending = self.dialect.transcription_fields.lists
                yield from ((f"{name}{ending}", _text(item)) for item in cast("Iterable[Any]", value))
            else:
                yield name, _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value).decode()


def _recording(call: ModelCall, warnings: list[CallWarning]) -> tuple[AudioPart, str]:
    """Returns the recording of a call, and its path, with a warning for everything else in its messages."""
    found: list[tuple[AudioPart, str]] = []
    for index, message in enumerate(call.messages):
        for position, part in enumerate(message.parts):
            path = f"messages[{index}].parts[{position}]"
            if isinstance(part, AudioPart):
                found.append((part, path))
            else:
                warnings.append(WARNINGS.part(part, path))
    if len(found) == 1:
        return found[0]
    raise UnsupportedContentError(
        f"A transcript is of one recording, and the call has {len(found)}.",
        hint="Pass one recording of a type that the model accepts, such as media=['call.mp3'].",
        provider=call.provider or None,
        model=call.model,
    )
