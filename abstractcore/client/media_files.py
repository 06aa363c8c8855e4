"""`File`: an item of `media=[...]` with a password, or with controls such as its pages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInputError
from ..lazy_modules import LazyModule
from ..schema import FetchedBy, ImagePart, MediaControls, MediaPart, MediaResolution, SchemaError
from ..schema.parts import Detail

if TYPE_CHECKING:
    from . import media_loading
else:
    media_loading = LazyModule("abstractcore.client.media_loading")

_KINDS = {
    "pages": ("document", "image"),
    "start": ("audio", "video"),
    "end": ("audio", "video"),
    "fps": ("video",),
    "resolution": ("image", "video", "document"),
}
"""The kinds of files that have a control."""


@dataclass(frozen=True, slots=True)
class File:
    """A file for `media=[...]`, with how it is to be read: `File("report.pdf", pages="1-3,7")`.

    `source` is any other item of `media`. `name` and `media_type` take the place of those that are detected. `pages`
    are numbers and ranges from 1: pages, slides, or frames of an image. `start` and `end` are seconds in a recording,
    `fps` is the number of frames a second of a video. `detail` is how closely a model should look at an image, and
    `resolution` how many tokens it spends on images, pages and frames; vendors have the one or the other. `fetch` says
    who downloads a URL, this program ("us") or the provider ("vendor"); by default the provider if it gets the file
    itself. What nothing follows on the way of a file is a warning. `password` opens an encrypted document; it stays in
    this program, and the LLM keeps it for further calls with the file.
    """

    source: media_loading.MediaInput
    password: str | None = field(default=None, repr=False)
    pages: str | None = None
    start: float | None = None
    end: float | None = None
    fps: float | None = None
    detail: Detail | None = None
    resolution: MediaResolution | None = None
    fetch: FetchedBy | None = None
    name: str | None = None
    media_type: str | None = None

    def apply(self, part: MediaPart, path: str) -> MediaPart:
        """Returns the part of the source with the controls; raises `InvalidInputError` for a control that files of its
        kind do not have.
        """
        changes: dict[str, Any] = {}
        try:
            controls = MediaControls(self.pages, self.start, self.end, self.fps, self.resolution, self.fetch)
            for name in controls.names:
                if name in _KINDS and part.type not in _KINDS[name]:
                    what = " and ".join(_KINDS[name])
                    raise SchemaError(f"is a control of {what} files, and this one is {part.type}", name)
            if controls.names:
                changes["controls"] = controls
            if self.detail is not None:
                if not isinstance(part, ImagePart):
                    raise SchemaError(f"is a control of image files, and this one is {part.type}", "detail")
                changes["detail"] = self.detail
            if self.name is not None:
                changes["blob"] = replace(part.blob, name=self.name)
            return replace(part, **changes) if changes else part
        except SchemaError as error:
            raise InvalidInputError(error.message, path=f"{path}.{error.path}", hint=error.hint) from None
