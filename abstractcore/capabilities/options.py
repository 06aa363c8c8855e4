"""The arguments of the methods of capabilities."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO, TypeAlias, TypedDict

from .. import ports
from ..pillow_images import PillowImage
from ..schema import Blob, CallProgress, MediaPart

FileInput: TypeAlias = str | os.PathLike[str] | bytes | BinaryIO | PillowImage | Blob | MediaPart
"""A file: a path, a URL, bytes, an open file, a Pillow image, a blob, such as that of an artifact, or a part."""


class BackendCallOptions(TypedDict, total=False):
    """Arguments of every call. Further arguments of a backend are passed to it by name: `**{"steps": 20}`."""

    model: str | None
    """The model of the backend; default: its own choice."""
    timeout: float | None
    """Timeout in seconds for the whole call; default: that of the LLM, or 600."""
    strict: bool | None
    """Whether an argument that the backend does not take is an error, instead of a warning."""
    artifact_store: ports.ArtifactStore | None
    """A store for what is made: the result refers to it there, by its hash, and holds no content."""
    on_progress: Callable[[CallProgress], object] | None
    """A function for the progress of long calls, called in their threads; it must return soon."""
    tags: Mapping[str, str] | None
    """Labels for call records."""
    parent_id: str | None
    """Id of the parent operation, for call records."""


class SpeechOptions(BackendCallOptions, total=False):
    """Arguments of `tts` and `tts_stream`."""

    voice: str | None
    """The voice: an id of `list_voices()`; default: the backend's own."""
    format: str | None
    """The format of the sound, such as "wav", "mp3", "opus" or "flac"."""
    speed: float | None
    """The speed of speech; 1 is usual."""
    instructions: str | None
    """How to speak, for voices that follow instructions."""
    language: str | None
    """The language of the text, as in "en"."""
    verify: bool | None
    """Whether the speech is transcribed by `llm.audio` and compared with the text: `result.verification`; not for
    `tts_stream`."""


class TranscriptionOptions(BackendCallOptions, total=False):
    """Arguments of `stt` and `transcribe`."""

    language: str | None
    """The language of the recording, as in "en"; default: detected."""
    terms: Sequence[str] | None
    """Names and terms that may occur, as they are spelled."""
    speakers: bool | int | None
    """Whether to tell speakers apart, or how many there are."""
    words: bool | None
    """Whether the transcript has the time of each word."""


class ImageOptions(BackendCallOptions, total=False):
    """Arguments of `t2i` and `i2i`."""

    width: int | None
    """The width in pixels."""
    height: int | None
    """The height in pixels."""
    seed: int | None
    """Random seed, for the same image again."""
    count: int | None
    """The number of images."""
    negative_prompt: str | None
    """What is not wanted in the image."""
    format: str | None
    """The format of the file, such as "png", "jpeg" or "webp"."""
    verify: bool | None
    """Whether the words that the prompt quotes are read in the image: `result.verification`."""


class UpscaleOptions(BackendCallOptions, total=False):
    """Arguments of `upscale_image`."""

    scale: float | None
    """How many times larger the image becomes."""
    prompt: str | None
    """What is in the image."""
    seed: int | None
    """Random seed."""


class VideoOptions(BackendCallOptions, total=False):
    """Arguments of `t2v` and `i2v`."""

    width: int | None
    """The width in pixels."""
    height: int | None
    """The height in pixels."""
    seconds: float | None
    """The length in seconds."""
    fps: float | None
    """Frames a second."""
    seed: int | None
    """Random seed, for the same video again."""
    negative_prompt: str | None
    """What is not wanted in the video."""


class MusicOptions(BackendCallOptions, total=False):
    """Arguments of `t2m`."""

    format: str | None
    """The format: sound such as "wav", "mp3" or "flac", or a score: "midi", "musicxml"."""
    seconds: float | None
    """The length in seconds."""
    seed: int | None
    """Random seed, for the same music again."""
    tempo: float | None
    """Beats a minute."""
    key: str | None
    """The key, as in "A minor"."""
    meter: str | None
    """The time signature, as in "3/4"."""
    mood: str | None
    """The mood, as in "calm"."""
    also: Sequence[str] | None
    """Further files: scores, and "stems" for the sound of each voice."""


CALL_NAMES = frozenset(BackendCallOptions.__annotations__) - {"model"} | {"verify"}
"""Arguments that are not the backend's."""
