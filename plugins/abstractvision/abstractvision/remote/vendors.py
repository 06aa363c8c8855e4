"""Vendors are rows of `vendors.json`: an address, a key, and the name of a wire format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import TypeAlias

from abstractcore.mediajobs import JobFormat, Vendor, read_vendors

from .requests import PictureRequest

PictureFormat: TypeAlias = JobFormat[PictureRequest]


@cache
def vendors() -> dict[str, Vendor]:
    """Returns all vendors by name."""
    text = resources.files("abstractvision.remote").joinpath("vendors.json").read_text(encoding="utf-8")
    return read_vendors(text, options="vision", model_option="vision_image_model")


def format_named(name: str) -> PictureFormat:
    """Returns a wire format, which is imported when it is first used."""
    return _FORMATS[name]()


def _openai_images() -> PictureFormat:
    from .formats.openai_images import OpenAIImages

    return OpenAIImages()


def _sd_server() -> PictureFormat:
    from .formats.openai_images import OpenAIImages

    return OpenAIImages(extra_args=True)


def _gemini_images() -> PictureFormat:
    from .formats.gemini_images import GeminiImages

    return GeminiImages()


def _imagen() -> PictureFormat:
    from .formats.imagen import Imagen

    return Imagen()


def _veo() -> PictureFormat:
    from .formats.veo import Veo

    return Veo()


def _stability() -> PictureFormat:
    from .formats.stability import Stability

    return Stability()


def _fal() -> PictureFormat:
    from .formats.fal import Fal

    return Fal()


def _replicate() -> PictureFormat:
    from .formats.replicate import Replicate

    return Replicate()


def _black_forest_labs() -> PictureFormat:
    from .formats.black_forest_labs import BlackForestLabs

    return BlackForestLabs()


_FORMATS: Mapping[str, Callable[[], PictureFormat]] = {
    "openai_images": _openai_images,
    "sd_server": _sd_server,
    "gemini_images": _gemini_images,
    "imagen": _imagen,
    "veo": _veo,
    "stability": _stability,
    "fal": _fal,
    "replicate": _replicate,
    "black_forest_labs": _black_forest_labs,
}
