"""`POST /audio/transcriptions`: the operation `transcribe`, and its request.

Sources: https://platform.openai.com/docs/api-reference/audio/createTranscription, and `audio.transcriptions` in the
packages openai 3.54, groq 1.7 and mistralai 3.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import UnsupportedContentError
from abstractcore.ports import TRANSCRIBE, FileToUpload, Operation, Transcription, TranscriptionInput
from abstractcore.schema import AudioPart, CallWarning, Encoded, ModelCall, Usage, to_data

from ...common.call_options import add_provider_options, unsupported
from ...common.data_urls import content_of, data_url
from ...common.operations import multipart
from ...common.reading import Object
from .dialect import ChatDialect
from .read_transcript import read_transcription
from .vocabulary import WARNINGS

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
        lambda given: _Request(dialect, given).encoded(),
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

    def encoded(self) -> Encoded:
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
