"""What media handlers may implement besides `MediaHandler`, for files that are sent natively: `MeasuresMedia` and
`FitsMedia`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from .. import ports, schema
from .profiles import MediaLimit


@dataclass(frozen=True, slots=True)
class Fitted:
    """What is sent instead of a file: the file itself if it needed no change, else new parts with their bytes.

    There are several parts for a file of several frames or pages, in order. `lost` says what they do not show.
    """

    parts: tuple[schema.MediaPart, ...]
    lost: tuple[schema.MediaLoss, ...] = ()


@runtime_checkable
class MeasuresMedia(Protocol):
    """A media handler that reads the size and length of files. Handlers may implement it."""

    def measure(self, part: schema.MediaPart, context: ports.MediaContext | None = None) -> schema.MediaFacts:
        """Returns the facts in the header of a file, without decoding its content; blocks. A library that a file may
        crash is run by `context.isolated`.

        Raises `MediaError` if it cannot be read, and `MissingExtraError` where an optional package is needed: the size
        is then unknown.
        """
        ...


@runtime_checkable
class FitsMedia(Protocol):
    """A media handler that makes files fit the limits of a model. Handlers may implement it."""

    def fit(self, part: schema.MediaPart, limits: Mapping[MediaLimit, int]) -> Fitted:
        """Returns content within `limits` that every model for this kind of files reads; blocks.

        Limits that are not named are unlimited; `images` is the number of parts that may be returned. Raises
        `MediaError` if it cannot be done, and `MissingExtraError` where an optional package is needed.
        """
        ...
