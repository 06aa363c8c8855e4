"""`Transcriber`: turns recordings into transcripts elsewhere; the sound comes in pieces that it accepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..schema import AudioPart, CallInput, CallWarning, SchemaError, Transcript, Usage
from ..schema.base_error import shown
from ..schema.json_values import check_items


@dataclass(frozen=True, slots=True)
class VoiceSample:
    """A sample of a speaker's voice, so that a transcriber recognises the speaker in another piece of a recording."""

    speaker: str
    recording: AudioPart


@dataclass(frozen=True, slots=True)
class TranscriptionInput(CallInput):
    """A call with one recording to transcribe.

    `language` is a code such as "en"; `terms` are names and terms as they are spelled. `words` asks for the time of
    each word, `speakers` for who speaks; `voices` are samples of some of them. `seconds` is the length of the
    recording, for the usage of a response that reports none.
    """

    language: str | None = None
    terms: tuple[str, ...] = ()
    words: bool = False
    speakers: bool = False
    voices: tuple[VoiceSample, ...] = ()
    seconds: float | None = None

    def __post_init__(self) -> None:
        CallInput.__post_init__(self)
        if self.language is not None and not isinstance(self.language, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError(f"expected a language code, got {shown(self.language)}", "language")
        if isinstance(self.terms, str) or not all(isinstance(each, str) for each in self.terms):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError(f"expected a list of texts, got {shown(self.terms)}", "terms")
        object.__setattr__(self, "terms", tuple(self.terms))
        object.__setattr__(self, "voices", check_items(self.voices, VoiceSample, "voices"))


@dataclass(frozen=True, slots=True)
class Transcription:
    """A transcript, and what it took; `usage` is None if no model of a provider was asked."""

    transcript: Transcript
    usage: Usage | None = None
    warnings: tuple[CallWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordingLimits:
    """What a transcriber accepts in one request: media types, and at most so many bytes and seconds, None if that is
    not known; and what its transcripts have.
    """

    media_types: frozenset[str]
    max_bytes: int | None = None
    max_seconds: float | None = None
    has_times: bool = False
    """Whether each sentence has its time."""
    has_speakers: bool = False
    """Whether speakers are told apart, as they were requested."""
    known_speakers: int = 0
    """To how many speakers a request may give a name, with a sample of their voice."""


class Transcriber(Protocol):
    """The model of the option `transcription_model`, if it is that of a provider; blocks."""

    @property
    def name(self) -> str:
        """The name of the model, with that of its provider."""
        ...

    def limits(self, language: str | None, speakers: bool) -> RecordingLimits:
        """Returns its limits, if the language is named and speakers are told apart; raises the errors of
        `create_llm`.
        """
        ...

    def __call__(
        self,
        recording: AudioPart,
        *,
        seconds: float,
        language: str | None,
        terms: Sequence[str],
        words: bool,
        speakers: bool,
        voices: Sequence[VoiceSample],
        timeout: float | None,
        parent_id: str | None,
    ) -> Transcription:
        """Returns the transcript, with times from the beginning of the recording; raises the errors of `generate`.

        `seconds` is the length of the recording, `timeout` the time for it, in seconds. `terms` are names and terms as
        they are spelled; `words` asks for the time of each word.
        """
        ...
