"""`TranscriptionRules`: what a model that transcribes recordings can be asked for, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class TranscriptionRules:
    """What a model that transcribes recordings can be asked for, and what it reports. The defaults mean "unknown": only
    the text is expected of it.

    The media types that it accepts are in `ModelProfile.accepts`, the limits on a recording in
    `ModelProfile.media_limits`.
    """

    times: Literal["segments", "words"] | None = None
    """The finest times that it reports."""
    speakers: Literal["always", "requested"] | None = None
    """Whether it tells speakers apart: always, or if a request says so."""
    known_speakers: int = 0
    """To how many speakers a request may give a name, with a sample of their voice."""
    terms: Literal["prompt", "keywords"] | None = None
    """How names and terms are sent: in the prompt, or as a list."""
    most_terms: int | None = None
    """The most terms of that list."""
    language: bool = True
    """Whether a request may name the language."""
    language_without_times: bool = False
    """Whether a request that names the language has no times."""
    log_probabilities: bool = False
    """Whether it reports the probabilities of tokens, if a request says so."""

    def has_times(self, language: str | None, speakers: bool) -> bool:
        """Returns whether a transcript has times. Speakers need times, and are more than a language."""
        return self.times is not None and (not self.language_without_times or language is None or speakers)
