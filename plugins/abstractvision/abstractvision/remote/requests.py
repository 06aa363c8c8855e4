"""`PictureRequest`: what is asked of a remote model, before a format encodes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from abstractcore import InvalidInputError
from abstractcore.mediajobs import TrackedOptions

Task: TypeAlias = Literal["t2i", "i2i", "upscale_image", "t2v", "i2v"]
TASKS: tuple[Task, ...] = ("t2i", "i2i", "upscale_image", "t2v", "i2v")


@dataclass(frozen=True, slots=True)
class InputPicture:
    """A picture that is sent, with its media type."""

    content: bytes = field(repr=False)
    media_type: str

    @property
    def ending(self) -> str:
        """How a file of it ends, without the dot."""
        subtype = self.media_type.rpartition("/")[2].partition("+")[0]
        return {"jpeg": "jpg"}.get(subtype, subtype)


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """What may be asked besides the prompt. `extra` are fields of the vendor, which are sent as they are."""

    width: int | None = None
    height: int | None = None
    seed: int | None = None
    count: int | None = None
    negative_prompt: str | None = None
    format: str | None = None
    quality: str | None = None
    background: str | None = None
    steps: int | None = None
    guidance: float | None = None
    strength: float | None = None
    sampler: str | None = None
    scheduler: str | None = None
    partial_images: int | None = None
    seconds: float | None = None
    fps: float | None = None
    scale: float | None = None
    extra: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        _check_range(self.width, "width", 1, 16_384)
        _check_range(self.height, "height", 1, 16_384)
        _check_range(self.count, "count", 1, 16)
        _check_range(self.steps, "steps", 1, 1000)
        _check_range(self.seconds, "seconds", 0.1, 3600)
        if (self.width is None) != (self.height is None):
            missing = "height" if self.height is None else "width"
            raise InvalidInputError("expected both, width and height, or neither", path=missing)


@dataclass(frozen=True, slots=True)
class PictureRequest:
    """One task for a remote model."""

    task: Task
    model: str
    prompt: str = ""
    images: tuple[InputPicture, ...] = ()
    mask: InputPicture | None = None
    options: PictureOptions = field(default_factory=PictureOptions)


class TrackedPictureOptions(TrackedOptions):
    """The options of a request, which notes those that a format reads: the others become warnings."""

    def __init__(self, request: PictureRequest, where: str) -> None:
        super().__init__(request.options, where)

    def size(self) -> tuple[int, int] | None:
        """Returns width and height, if they are asked for."""
        width, height = self.get("width"), self.get("height")
        return None if width is None else (width, height)


def _check_range(value: float | None, path: str, least: float, most: float) -> None:
    if value is not None and not (not isinstance(value, bool) and least <= value <= most):
        raise InvalidInputError(f"expected a number from {least:g} to {most:g}, got {value!r}", path=path)
