"""Vendors are rows of `vendors.json`: an address, a key, and the name of a wire format."""

from __future__ import annotations

from functools import cache
from importlib import import_module, resources
from typing import TypeAlias, cast

from abstractcore.mediajobs import JobFormat, Vendor, read_vendors

from .requests import MusicRequest

MusicFormat: TypeAlias = JobFormat[MusicRequest]
_CLASSES = {
    "elevenlabs": "ElevenLabsMusic",
    "stable_audio": "StableAudio",
    "lyria": "Lyria",
    "lyria_predict": "LyriaPredict",
    "ace_step": "AceStep",
}


@cache
def vendors() -> dict[str, Vendor]:
    """Returns all vendors by name."""
    text = resources.files("abstractmusic.remote").joinpath("vendors.json").read_text(encoding="utf-8")
    return read_vendors(text, options="music", model_option="music_model")


def format_named(name: str) -> MusicFormat:
    """Returns a wire format, whose module is imported when it is first used."""
    module = import_module(f".formats.{name}", __package__)
    return cast("MusicFormat", getattr(module, _CLASSES[name])())
