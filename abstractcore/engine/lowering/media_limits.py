"""Limits on the files of a request: older files make room, large images are sent smaller."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ...ports import MediaHandler, ModelProfile
from ...ports.profiles import MediaLimit
from ...schema import MediaDecision, MediaFacts, MediaKind, MediaPart, ModelCall, TextPart, ToolResult
from .file_facts import sent_pages, sent_seconds
from .media_controls import followed_controls
from .media_tokens import media_tokens

Reroute: TypeAlias = Callable[[MediaDecision, str], MediaDecision]
"""Returns the decision to convert a file, for a reason; raises `UnsupportedContentError` if that is not possible."""
_COUNTS: Mapping[MediaLimit, MediaKind] = {"images": "image", "videos": "video", "documents": "document"}
_LENGTHS: Mapping[MediaLimit, tuple[MediaKind, str]] = {
    "all_pdf_pages": ("document", "pages"),
    "audio_seconds": ("audio", "seconds"),
    "video_seconds": ("video", "seconds"),
}
_OF_AN_IMAGE: tuple[MediaLimit, ...] = ("image_pixels", "image_area", "image_bytes")
_PDF = "application/pdf"
_SMALLEST_IMAGE_BYTES = 30_000
"""An image is not made smaller than this to make room; older ones are converted to text instead."""
_BYTES_PER_TOKEN = 4
"""Of text, about: English has as many."""
_SURROUNDINGS_BYTES = 20_000
"""What a request may have besides texts and files: names of fields, options."""


def lower_limits(
    call: ModelCall,
    decisions: Sequence[MediaDecision],
    parts: Mapping[str, MediaPart],
    profile: ModelProfile,
    handlers: Sequence[MediaHandler],
    reroute: Reroute,
) -> tuple[MediaDecision, ...]:
    """Returns decisions that keep the limits of a request, history and tool results included. Pure.

    Files above a number, a size or a length that the provider accepts are converted, the older ones first. Images get
    limits on their size in `fit`, which their handler keeps when the call is made. Files whose pages or seconds are not
    known count as empty.
    """
    plan = _Plan(list(decisions), parts, profile, handlers, reroute)
    plan.keep_sizes()
    plan.keep_lengths()
    plan.keep_counts()
    text_bytes = _text_bytes(call)
    plan.fit_images(text_bytes)
    plan.keep_tokens(text_bytes)
    return tuple(plan.decisions)


class _Plan:
    """Decisions that are changed until they keep the limits."""

    def __init__(
        self,
        decisions: list[MediaDecision],
        parts: Mapping[str, MediaPart],
        profile: ModelProfile,
        handlers: Sequence[MediaHandler],
        reroute: Reroute,
    ) -> None:
        self.decisions = decisions
        self._parts = parts
        self._profile = profile
        self._limits = profile.media_limits
        self._handlers = {handler.name: handler for handler in handlers}
        self._reroute = reroute

    def keep_sizes(self) -> None:
        """Converts documents that are larger than one may be."""
        for index in self._natives("document"):
            decision, size = self.decisions[index], self._size(index)
            limit = self._limits.get("pdf_bytes" if decision.type == _PDF else "document_bytes")
            if limit is not None and size > limit:
                self._convert(index, f"it has {size:,} bytes; the limit is {limit:,}")

    def keep_lengths(self) -> None:
        """Converts files with more pages or seconds than one may have, then the oldest of those that are too long
        together.
        """
        for index in self._natives("document"):
            pages, limit = self._length(index), self._limits.get("pdf_pages", math.inf)
            if pages > limit:
                self._convert(index, f"it has {pages:,} pages; the limit is {limit:,}")
        for name, (kind, unit) in _LENGTHS.items():
            self._keep_total(kind, unit, self._limits.get(name, math.inf))

    def _keep_total(self, kind: MediaKind, unit: str, limit: float) -> None:
        while (total := sum(map(self._length, self._natives(kind)))) > limit:
            natives = [index for index in self._natives(kind) if self._length(index)]
            index = next((each for each in natives if self._length(each) > limit), natives[0])
            own = self._length(index)
            if own > limit:
                self._convert(index, f"it has {own:,.0f} {unit}; the limit is {limit:,}")
                continue
            together = f"all {kind} files of the request have {total:,.0f} {unit} together"
            self._convert(index, f"{together}; the limit is {limit:,}, and this is an older one")

    def _length(self, index: int) -> float:
        """Returns the pages of a PDF, or the seconds of a recording, as it would be sent; 0 if they are not known."""
        decision = self.decisions[index]
        if decision.kind == "document" and decision.type != _PDF:
            return 0
        part = self._parts[decision.part_path]
        followed = followed_controls(part, decision, self._profile, self._handlers.get(decision.handler or ""))
        sent = sent_pages if decision.kind == "document" else sent_seconds
        return sent(decision.facts or MediaFacts(), part.controls, followed) or 0

    def keep_counts(self) -> None:
        """Converts the oldest files of a kind of which there are too many."""
        for name, kind in _COUNTS.items():
            natives = self._natives(kind)
            most = self._limits.get(name)
            if most is not None:
                for index in natives[: max(0, len(natives) - most)]:
                    self._convert(index, f"a request has at most {most} {name}, and this is an older one")

    def fit_images(self, text_bytes: int) -> None:
        """Sets the limits of each image, so that all files keep those of the request."""
        share = self._share(text_bytes)
        images = self._natives("image")
        fit: dict[MediaLimit, int] = {name: self._limits[name] for name in _OF_AN_IMAGE if name in self._limits}
        if len(images) > self._limits.get("many_images", len(images)):
            fit["image_pixels"] = self._limits["many_image_pixels"]
        if share is not None:
            fit["image_bytes"] = min(share, fit.get("image_bytes", share))
        for index in images:
            self.decisions[index] = replace(self.decisions[index], fit=fit)

    def keep_tokens(self, text_bytes: int) -> None:
        """Sets the tokens of files, and converts the oldest ones as long as they exceed what the context leaves."""
        left = (self._profile.context_tokens or math.inf) - text_bytes // _BYTES_PER_TOKEN
        tokens = [self._tokens(index) or 0 for index in range(len(self.decisions))]
        while (total := sum(tokens)) > left:
            index = next((i for i, each in enumerate(tokens) if each > left), None)
            if index is None:
                index = next(i for i, each in enumerate(tokens) if each)
                why = f"the files have about {total:,} tokens, and this is an older one"
            else:
                why = f"it has about {tokens[index]:,} tokens"
            self._convert(index, f"{why}; the context leaves {max(0, int(left)):,}")
            tokens[index] = 0
        for index, decision in enumerate(self.decisions):
            self.decisions[index] = replace(decision, tokens=self._tokens(index))

    def _tokens(self, index: int) -> int | None:
        decision = self.decisions[index]
        part = self._parts[decision.part_path]
        followed = followed_controls(part, decision, self._profile, self._handlers.get(decision.handler or ""))
        return media_tokens(decision, part, self._profile, followed)

    def _share(self, text_bytes: int) -> int | None:
        """Returns the most bytes of one image, so that all files fit into a request; None if they do as they are.

        Converts the largest document, or the oldest image, as long as the others cannot fit.
        """
        while True:
            images, others = self._natives("image"), self._natives("document", "audio", "video", "text")
            sizes = [self._size(index) for index in images]
            beside = sum(map(self._size, others))
            room = self._room(text_bytes, beside)
            if sum(sizes) <= room:
                return None
            share = _share(sizes, room)
            if share >= _SMALLEST_IMAGE_BYTES:
                return share
            if others and beside > room:
                self._convert(max(others, key=self._size), "the files of the request are too large together")
            elif images:
                self._convert(images[0], "the images of the request are too large together, and this is the oldest")
            else:
                return None

    def _room(self, text_bytes: int, beside: int) -> float:
        """Returns how many bytes all images may have, beside other files of `beside` bytes."""
        request = self._limits.get("request_bytes", math.inf) - text_bytes - _SURROUNDINGS_BYTES
        return min(request * 3 / 4 - beside, self._limits.get("all_image_bytes", math.inf))

    def _natives(self, *kinds: MediaKind) -> list[int]:
        return [i for i, each in enumerate(self.decisions) if each.route == "native" and each.kind in kinds]

    def _size(self, index: int) -> int:
        return self._parts[self.decisions[index].part_path].blob.size or 0

    def _convert(self, index: int, why: str) -> None:
        self.decisions[index] = self._reroute(self.decisions[index], why)


def _share(sizes: Iterable[int], room: float) -> int:
    """Returns the largest size that all of `sizes` can be reduced to, so that their sum is at most `room`."""
    rest = sorted(sizes)
    while rest and rest[0] * len(rest) <= room:
        room -= rest.pop(0)
    return max(0, int(room / len(rest))) if rest else 0


def _text_bytes(call: ModelCall) -> int:
    """Returns about how many bytes the texts of a call have in a request."""
    texts = [part.text for message in call.messages for part in message.parts if isinstance(part, TextPart)]
    texts += [part.as_text for message in call.messages for part in message.parts if isinstance(part, ToolResult)]
    return sum(len(text.encode()) for text in texts)
