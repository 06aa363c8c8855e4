"""`MediaText`: our own text of a file that was sent natively, or drawn as images."""

from __future__ import annotations

from dataclasses import dataclass

from .. import schema
from .immutable import Immutable
from .media_anchors import MediaAnchor


@dataclass(frozen=True, slots=True)
class MediaText(Immutable):
    """The text of a file, as AbstractCore reads it, with the places of its pieces; the model did not get it as text.

    `problem` says why there is none, `lost` what of the file is not in it.
    """

    text: str = ""
    anchors: tuple[MediaAnchor, ...] = ()
    problem: str | None = None
    lost: tuple[schema.MediaLoss, ...] = ()
