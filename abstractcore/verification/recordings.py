"""Has what was found in the transcript of a recording heard a second time, at its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ..files.extracted_texts import files_of
from ..engine.pipeline import Pipeline
from ..errors import AbstractCoreError
from ..schema import Check, GenerateResponse, ModelCall, Verification
from ..schema.quoting import shown
from ..schema.source_texts import TextSource
from .spoken import readings
from .verifying import verify

MOST_SPANS = 8
"""Places of a recording that are heard again, those with the most checks first."""
_MARGIN, _LEAST = 1.0, 6.0
"""Seconds before and after a sentence, and of the shortest span: words are not understood without their sentence."""
_KINDS = frozenset({"audio", "video"})


async def verify_on_recordings(
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
            heard = await pipeline.files.retranscribe(part, chosen, pipeline.runtime)
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
