"""Fits the images that conversions make, such as pages of a document, as images of their own are fitted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..errors import CorruptFileError, MediaError, MissingExtraError
from ..ports import FitsMedia, Fitted, MediaContext, MediaHandler
from ..schema import ContentPart, ImagePart, MediaLoss
from .cached_conversions import fit
from .parts import handler_for


def fitted_images(
    content: Sequence[ContentPart], limits: Mapping[str, int], handlers: Sequence[MediaHandler], context: MediaContext
) -> tuple[tuple[ContentPart, ...], tuple[MediaLoss, ...]]:
    """Returns the content with every image within limits and without metadata, and what they lost; blocks.

    An image that is damaged is left as it is, unless it is too large: it is then counted as lost, as is one that cannot
    be made small enough.
    """
    found: list[ContentPart] = []
    lost: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0])
    images, by_type = 0, dict[str, MediaHandler | None]()
    for part in content:
        if not isinstance(part, ImagePart):
            found.append(part)
            continue
        images += 1
        media_type = part.blob.media_type
        if media_type not in by_type:
            by_type[media_type] = handler_for(part, handlers)[0]
        fitted = _fitted(part, {**limits, "images": 1}, by_type[media_type], context)
        found += [] if fitted is None else fitted.parts
        for loss in () if fitted is None else fitted.lost:
            lost[loss.what][0] += loss.count
            lost[loss.what][1] += loss.total or 0
    losses = [MediaLoss(f"{what} of images", count, total) for what, (count, total) in lost.items()]
    left_out = images - sum(isinstance(part, ImagePart) for part in found)
    if left_out > 0:
        losses.append(MediaLoss("images", left_out, images, ("they are too large",)))
    return tuple(found), tuple(losses)


def _fitted(
    part: ImagePart, limits: Mapping[str, int], handler: MediaHandler | None, context: MediaContext
) -> Fitted | None:
    if not isinstance(handler, FitsMedia):
        return Fitted((part,))
    try:
        return fit(handler, part, limits, context)
    except (CorruptFileError, MissingExtraError):
        size = part.blob.size or 0
        return Fitted((part,)) if size <= limits.get("image_bytes", size) else None
    except MediaError:
        return None
