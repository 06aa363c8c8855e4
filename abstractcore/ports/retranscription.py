"""`Retranscribes`: what media handlers may implement besides `MediaHandler`, so that transcripts can be verified."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from .. import ports, schema


@runtime_checkable
class Retranscribes(Protocol):
    """A media handler that hears parts of a recording by a second means. Handlers may implement it."""

    def retranscribe(
        self, part: schema.MediaPart, spans: Sequence[tuple[float, float]], context: ports.MediaContext
    ) -> ports.Conversion | None:
        """Returns a transcript of each of `spans`, a line for each, with its anchor; None if there is no second means.

        Spans are a start and an end in seconds, in order; they may overlap. It is heard by other means than `convert`
        has heard it, which `model` names. Blocks.

        Raises `MediaError` if the recording cannot be decoded, and `MissingExtraError` where an optional package is
        needed.
        """
        ...
