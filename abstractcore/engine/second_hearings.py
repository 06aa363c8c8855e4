"""Has what was found in the transcript of a recording heard a second time, at its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..errors import AbstractCoreError
from ..outputs.verification import verify
from ..outputs.verification.spoken import readings
from ..ports import Conversion, HearsAgain, MediaContext, MediaHandler
from ..schema import Check, GenerateResponse, MediaPart, ModelCall, Verification
from ..schema.quoting import shown
from ..schema.source_texts import TextSource
from .cached_conversions import convert
from .lowering.media_routes import handler_for
from .own_texts import files_of
from .pipeline import Pipeline
from .text_extraction import with_bytes

MOST_SPANS = 8
"""Places of a recording that are heard again, those with the most checks first."""
_MARGIN, _LEAST = 1.0, 6.0
"""Seconds before and after a sentence, and of the shortest span: words are not understood without their sentence."""
_KINDS = frozenset({"audio", "video"})


async def listen_again(
    response: GenerateResponse[Any], call: ModelCall, verification: Verification, pipeline: Pipeline
) -> Verification:
    """Returns the verification with `heard` of the checks that have a place in one of up to 8 spans of a recording."""
    files = files_of(response, call)
    checks, problems = list(verification.checks), list(verification.problems)
    for document, spans in _spans(response, checks).items():
        part, name = files[document], response.media[document].source
        if part is None:
            continue
        chosen = sorted(sorted(spans, key=lambda span: -len(spans[span]))[:MOST_SPANS])
        if len(chosen) < len(spans):
            problems.append(f"{name}: {len(chosen)} of {len(spans)} places were heard a second time")
        try:
            heard = await pipeline.hear_again(part, chosen)
        except AbstractCoreError as error:
            problems.append(f"{name} was not heard a second time: {error.message.rstrip('.')}")
            continue
        if heard is None:
            continue
        for span, anchor in zip(chosen, heard.anchors, strict=True):
            said = heard.text[anchor.start : anchor.end]
            texts = [TextSource("file", name, text, document=document) for text in readings(said)]
            read = await pipeline.runtime.call(verify, response.content, texts)
            agreed = {(each.start, each.end) for each in read.agreed}
            for index in spans[span]:
                is_heard = (checks[index].start, checks[index].end) in agreed
                checks[index] = _judged(checks[index], is_heard, said, heard.model or "a second transcriber")
    return Verification(tuple(checks), tuple(problems))


Span: TypeAlias = tuple[float, float]
"""A start and an end, in seconds."""


def _spans(response: GenerateResponse[Any], checks: Sequence[Check]) -> dict[int, dict[Span, list[int]]]:
    """Returns the spans of each recording, with the indexes of the checks that have a place there."""
    found: dict[int, dict[Span, list[int]]] = {}
    for index, check in enumerate(checks):
        source = check.source
        if source is None or source.document is None or source.seconds is None:
            continue
        if response.media[source.document].kind in _KINDS:
            start, end = source.seconds
            margin = max(_MARGIN, (_LEAST - (end - start)) / 2)
            span = max(0.0, round(start - margin, 3)), round(end + margin, 3)
            found.setdefault(source.document, {}).setdefault(span, []).append(index)
    return found


def _judged(check: Check, is_heard: bool, said: str, model: str) -> Check:
    """Returns a check with `heard`; a reason says what does not fit."""
    place = "there" if check.source is None or check.source.seconds is None else f"at {check.source.seconds[0]:.0f} s"
    reason = None
    if check.verdict == "differs" and is_heard:
        reason = f"{model} hears {check.text} {place}"
    elif check.verdict == "agreed" and not is_heard:
        reason = f"{model} does not hear it {place}: {shown(said)}" if said else f"{model} hears nothing {place}"
    reasons = [each for each in (check.reason, reason) if each is not None]
    return replace(check, heard=is_heard, reason="; ".join(reasons) or None)


def hear_again(
    part: MediaPart,
    spans: Sequence[Span],
    handlers: Sequence[MediaHandler],
    context: MediaContext,
    artifact: Callable[[str], bytes],
) -> Conversion | None:
    """Returns what is said in spans of a recording, by a second means, or what is kept of it; None without such means.

    Blocks. Raises `MediaError`, `ArtifactError`, `MissingExtraError` or `ModelStoreError`.
    """
    handler, _ = handler_for(part, handlers)
    if not isinstance(handler, HearsAgain):
        return None
    heard = convert(_SecondHearing(handler, spans), with_bytes(part, artifact), context)
    return heard if heard.anchors else None


@dataclass(frozen=True, slots=True)
class _SecondHearing:
    """The second means of a handler, as a handler whose conversions are kept."""

    handler: HearsAgain
    spans: Sequence[Span]
    fallbacks = ()

    @property
    def name(self) -> str:
        """The name, for kept conversions: what is heard depends on the spans."""
        return f"second hearing of {self.spans}"

    def recognise(self, head: bytes, name: str, declared: str | None) -> None:
        """It recognises no files."""

    def check(self, part: MediaPart) -> None:
        """Nothing is checked before."""

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Returns what is heard; without anchors, if there is no second means."""
        return self.handler.hear_again(part, self.spans, context) or Conversion("", "")
