"""Verifies what a backend made: speech is transcribed, words in images are read, and compared with what was asked
for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..errors import AbstractCoreError
from ..schema import AudioPart, CallWarning, ImagePart, MediaPart, MediaResult, MediaVerification
from .compared_words import compared

if TYPE_CHECKING:
    from ..engine import Pipeline
    from .caller import Caller

P = TypeVar("P", bound=MediaPart)
_QUOTED: Final = re.compile(
    r"""
    "([^"\n]+)" | \u201c([^\u201c\u201d\n]+)\u201d | \u00ab([^\u00ab\u00bb\n]+)\u00bb  # double, curly, guillemets
    | (?<!\w)'([^'\n]+)'(?!\w)                                              # not an apostrophe
    """,
    re.VERBOSE,
)


async def verified(
    result: MediaResult[P], asked: str, caller: Caller, pipeline: Pipeline, timeout: float | None
) -> MediaResult[P]:
    """Returns a result with its verification: of the text that was to be spoken, or of what a prompt quotes.

    Where it cannot be heard or read here, or nothing was quoted, the result has a warning that says so.
    """
    try:
        found = await _found(result.parts, asked, caller, pipeline, timeout)
    except AbstractCoreError as error:
        warning = CallWarning("not_verified", "verify", f"it could not be verified: {error}")
        return replace(result, warnings=(*result.warnings, warning))
    if isinstance(found, CallWarning):
        return replace(result, warnings=(*result.warnings, found))
    return replace(result, verification=found)


async def _found(
    parts: Sequence[MediaPart], asked: str, caller: Caller, pipeline: Pipeline, timeout: float | None
) -> MediaVerification | CallWarning:
    if isinstance(parts[0], AudioPart):
        heard = await _heard(parts[0], caller, pipeline, timeout)
        # Numbers may be heard as they are said or as they are written.
        found = [compared(text, heard) for text in (parts[0].transcript or asked, asked)]
        return min(found, key=lambda each: each.errors)
    quoted = [text for groups in _QUOTED.findall(asked) for text in groups if text]
    if not quoted:
        return CallWarning("not_verified", "verify", "the prompt quotes no text that is to be in the image")
    images = [part for part in parts if isinstance(part, ImagePart)]
    read = [(await pipeline.files.extract_text(image, pipeline.runtime, words_only=True)).text for image in images]
    found = [compared(" ".join(quoted), text, only_missing=True) for text in read]
    return max(found, key=lambda each: each.errors)


async def _heard(part: AudioPart, caller: Caller, pipeline: Pipeline, timeout: float | None) -> str:
    from .audio import transcription

    options: dict[str, Any] = {"timeout": timeout}
    return (await caller.llm().audio.transcript(pipeline, transcription("transcribe", part, options))).text
