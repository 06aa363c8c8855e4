"""`DrawnText`: how a text was drawn as images, and what that saves."""

from __future__ import annotations

from dataclasses import dataclass

from .immutable import Immutable
from .json_values import check_count, check_real


@dataclass(frozen=True, slots=True)
class DrawnText(Immutable):
    """A text of `characters` that was sent as `images`, drawn with a font of `size` pixels.

    `image_tokens` is what the images have by the rule of the model's vendor, None without a published one;
    `text_tokens` is about what the text would have. `read` is the share of letters and digits of
    a sample that were read back by OCR, from 0 to 1.
    """

    images: int
    characters: int
    size: int
    text_tokens: int
    image_tokens: int | None
    read: float

    def __post_init__(self) -> None:
        for name in ("images", "characters", "size", "text_tokens"):
            check_count(getattr(self, name), name)
        if self.image_tokens is not None:
            check_count(self.image_tokens, "image_tokens")
        check_real(self.read, "read")

    @property
    def ratio(self) -> float | None:
        """Tokens of the text for each token of the images; None without a published rule."""
        return self.text_tokens / self.image_tokens if self.image_tokens else None
