"""Looks for what was found in the text of a page on the image of that page too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..files.extracted_texts import files_of
from ..engine.pipeline import Pipeline
from ..errors import AbstractCoreError
from ..schema import Check, GenerateResponse, ModelCall, Verification
from ..schema.source_texts import TextSource
from .verifying import verify

MOST_PAGES = 8
"""Pages that are read as images, those with the most checks first: each takes about a second."""


async def look_at_pages(
    response: GenerateResponse[Any], call: ModelCall, verification: Verification, pipeline: Pipeline
) -> Verification:
    """Returns the verification with `seen` of the checks that are agreed, and on one of up to 8 pages."""
    files = files_of(response, call)
    pages = Counter(page for each in verification.checks if (page := _page(each)) is not None)
    checks, problems = list(verification.checks), list(verification.problems)
    if len(pages) > MOST_PAGES:
        problems.append(f"{MOST_PAGES} of {len(pages)} pages were compared with their images")
    for (document, page), _ in pages.most_common(MOST_PAGES):
        part = files[document]
        if part is None:
            continue
        try:
            words = await pipeline.files.page_words(part, page, pipeline.runtime)
        except AbstractCoreError as error:
            problems.append(f"page {page} was not compared with its image: {error.message.rstrip('.')}")
            continue
        if words is not None:
            source = TextSource("file", response.media[document].source, words, document=document)
            read = await pipeline.runtime.call(verify, response.content, [source])
            checks = _seen(checks, read, (document, page))
    return Verification(tuple(checks), tuple(problems))


def _page(check: Check) -> tuple[int, int] | None:
    """Returns the file and the page on which a check was found."""
    source = check.source
    if check.verdict != "agreed" or source is None or source.document is None or source.page is None:
        return None
    return source.document, source.page


def _seen(checks: Sequence[Check], read: Verification, page: tuple[int, int]) -> list[Check]:
    agreed = {(each.start, each.end) for each in read.agreed}
    return [_judged(each, (each.start, each.end) in agreed) if _page(each) == page else each for each in checks]


def _judged(check: Check, is_seen: bool) -> Check:
    if is_seen or check.source is None:
        return replace(check, seen=is_seen)
    unseen = f"it was not read on the image of page {check.source.page}"
    return replace(check, seen=False, reason=f"{check.reason}; {unseen}" if check.reason else unseen)
