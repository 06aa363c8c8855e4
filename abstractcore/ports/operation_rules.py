"""What models of operations other than chat can be asked for, and what they report: facts of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..schema import EMPTY, EmbedPurpose

_NOTHING: Any = EMPTY


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


@dataclass(frozen=True, slots=True)
class EmbeddingRules:
    """What a model that embeds takes, and how its vectors are. The defaults mean "unknown".

    The media types that it accepts are in `ModelProfile.accepts`.
    """

    items: int | None = None
    """The most items of a request."""
    item_tokens: int | None = None
    """The most tokens of an item."""
    request_tokens: int | None = None
    """The most tokens of all items of a request."""
    request_bytes: int | None = None
    """The largest body of a request, in bytes."""
    dimensions: int | None = None
    """The length of its vectors, unless a request asks for another one."""
    dimension_choices: tuple[int, ...] = ()
    """The lengths that a request may ask for, in rising order."""
    dimension_range: tuple[int, int] | None = None
    """The shortest and the longest length that a request may ask for, if it may ask for all between."""
    purposes: frozenset[EmbedPurpose] = frozenset()
    """The purposes that a request may name."""
    requires_purpose: bool = False
    """Whether a request has to name one."""
    prefixes: Mapping[EmbedPurpose, str] = field(default=_NOTHING, hash=False)
    """What is put before a text for a purpose, such as "query: ", because the model was trained with it."""
    normalized: bool | None = None
    """Whether its vectors have the length 1, at the dimensions that it has without being asked."""
    truncates: bool | None = None
    """Whether a request may say that texts that are too long are cut; others are refused or cut, as the server does."""

    @property
    def named_purposes(self) -> frozenset[EmbedPurpose]:
        """The purposes that make a difference, by a field of the request or by a prefix."""
        return self.purposes | frozenset(self.prefixes)

    def has_dimensions(self, dimensions: int) -> bool:
        """Returns whether the model has vectors of this length, as far as that is known."""
        if dimensions == self.dimensions or dimensions in self.dimension_choices:
            return True
        if self.dimension_range is not None:
            return self.dimension_range[0] <= dimensions <= self.dimension_range[1]
        return self.dimensions is None and not self.dimension_choices


@dataclass(frozen=True, slots=True)
class RerankRules:
    """What a model that ranks documents takes. The defaults mean "unknown"."""

    documents: int | None = None
    """The most documents of a request."""
    document_tokens: int | None = None
    """The most tokens of a document, with the query if the vendor counts both together."""
    query_tokens: int | None = None
    """The most tokens of the query."""
    request_tokens: int | None = None
    """The most tokens of a request: those of all documents, and of the query as often as the vendor counts it."""
