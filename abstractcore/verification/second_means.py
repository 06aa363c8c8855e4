"""Checks by a second means: on the image of a page, and by a second transcription of a recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ..errors import AbstractCoreError
from ..files.call_files import CallFiles
from ..files.extracted_texts import files_of
from ..ports import Runtime
from ..schema import Check, GenerateResponse, ModelCall, Verification
from ..schema.base_error import shown
from ..schema.source_texts import TextSource
from .claim_checks import check_claims
from .speech import spoken_readings

MOST_PAGES = 8
"""Pages that are read as images, those with the most checks first: each takes about a second."""
MOST_SPANS = 8
"""Places of a recording that are transcribed again, those with the most checks first."""
_MARGIN, _LEAST = 1.0, 6.0
"""Seconds before and after a sentence, and of the shortest span: words are not understood without their sentence."""
_RECORDINGS = frozenset({"audio", "video"})

Span: TypeAlias = tuple[float, float]
"""A start and an end, in seconds."""


async def verify_on_page_images(
    response: GenerateResponse[Any], call: ModelCall, verification: Verification, files: CallFiles, runtime: Runtime
) -> Verification:
    """Returns the verification with `seen` of the checks that are agreed, and on one of up to 8 pages."""
    parts = files_of(response, call)
    pages = Counter(page for each in verification.checks if (page := _page(each)) is not None)
    checks, problems = list(verification.checks), list(verification.problems)
    if len(pages) > MOST_PAGES:
        problems.append(f"{MOST_PAGES} of {len(pages)} pages were compared with their images")
    for (document, page), _ in pages.most_common(MOST_PAGES):
        part = parts[document]
        if part is None:
            continue
        try:
            words = await files.page_words(part, page, runtime)
        except AbstractCoreError as error:
            problems.append(f"page {page} was not compared with its image: {error.message.rstrip('.')}")
            continue
        if words is not None:
            source = TextSource("file", response.media[document].source, words, document=document)
            agreed = await _agreed_spans(response.content, [source], runtime)
            checks = [
                _with_seen(each, (each.start, each.end) in agreed) if _page(each) == (document, page) else each
                for each in checks
            ]
    return Verification(tuple(checks), tuple(problems))


def _page(check: Check) -> tuple[int, int] | None:
    """Returns the file and the page on which a check was found."""
    source = check.source
    if check.verdict != "agreed" or source is None or source.document is None or source.page is None:
        return None
    return source.document, source.page


def _with_seen(check: Check, is_seen: bool) -> Check:
    """Returns a check with `seen`; a reason says what is not on the image."""
    check = replace(check, seen=is_seen)
    if is_seen or check.source is None:
        return check
    return _with_reason(check, f"it was not read on the image of page {check.source.page}")


async def verify_on_recordings(
    response: GenerateResponse[Any], call: ModelCall, verification: Verification, files: CallFiles, runtime: Runtime
) -> Verification:
    """Returns the verification with `heard` of the checks that have a place in one of up to 8 spans of a recording."""
    parts = files_of(response, call)
    checks, problems = list(verification.checks), list(verification.problems)
    for document, spans in _spans(response, checks).items():
        part, name = parts[document], response.media[document].source
        if part is None:
            continue
        chosen = sorted(sorted(spans, key=lambda span: -len(spans[span]))[:MOST_SPANS])
        if len(chosen) < len(spans):
            problems.append(f"{name}: {len(chosen)} of {len(spans)} places were heard a second time")
        try:
            heard = await files.retranscribe(part, chosen, runtime)
        except AbstractCoreError as error:
            problems.append(f"{name} was not heard a second time: {error.message.rstrip('.')}")
            continue
        if heard is None:
            continue
        for span, anchor in zip(chosen, heard.anchors, strict=True):
            said = heard.text[anchor.start : anchor.end]
            texts = [TextSource("file", name, text, document=document) for text in spoken_readings(said)]
            agreed = await _agreed_spans(response.content, texts, runtime)
            for index in spans[span]:
                is_heard = (checks[index].start, checks[index].end) in agreed
                checks[index] = _with_heard(checks[index], is_heard, said, heard.model or "a second transcriber")
    return Verification(tuple(checks), tuple(problems))


def _spans(response: GenerateResponse[Any], checks: Sequence[Check]) -> dict[int, dict[Span, list[int]]]:
    """Returns the spans of each recording, with the indexes of the checks that have a place there."""
    found: dict[int, dict[Span, list[int]]] = {}
    for index, check in enumerate(checks):
        source = check.source
        if source is None or source.document is None or source.seconds is None:
            continue
        if response.media[source.document].kind in _RECORDINGS:
            start, end = source.seconds
            margin = max(_MARGIN, (_LEAST - (end - start)) / 2)
            span = max(0.0, round(start - margin, 3)), round(end + margin, 3)
            found.setdefault(source.document, {}).setdefault(span, []).append(index)
    return found


def _with_heard(check: Check, is_heard: bool, said: str, model: str) -> Check:
    """Returns a check with `heard`; a reason says what does not fit."""
    place = "there" if check.source is None or check.source.seconds is None else f"at {check.source.seconds[0]:.0f} s"
    check = replace(check, heard=is_heard)
    if check.verdict == "differs" and is_heard:
        return _with_reason(check, f"{model} hears {check.text} {place}")
    if check.verdict == "agreed" and not is_heard:
        heard_there = f"does not hear it {place}: {shown(said)}" if said else f"hears nothing {place}"
        return _with_reason(check, f"{model} {heard_there}")
    return check


def _with_reason(check: Check, reason: str) -> Check:
    return replace(check, reason=f"{check.reason}; {reason}" if check.reason else reason)


async def _agreed_spans(answer: str, texts: Sequence[TextSource], runtime: Runtime) -> set[tuple[int, int]]:
    """Returns the places in the answer of what stands in the texts of a second means."""
    verification = await runtime.call(check_claims, answer, texts)
    return {(each.start, each.end) for each in verification.agreed}
