"""Limits on the files of a request: older files make room, large images are sent smaller."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..ports.profiles import MediaLimit
from ..schema import MEDIA_PARTS, MediaDecision, MediaFacts, MediaKind, ModelCall, ToolCall, ToolResult
from .alternatives import Alternatives, can_be_stored, to_store
from .contents import NO_CONTENT, MadeFiles, MediaContent, planned_content, text_bytes
from .controls import followed_controls
from .facts import sent_pages, sent_seconds
from .parts import message_index
from .policies import makes_images
from .token_estimates import OF_A_NOTE, media_tokens, tokens_beside_files

_COUNTS: Mapping[MediaLimit, MediaKind] = {"videos": "video", "documents": "document"}
_LENGTHS: Mapping[MediaLimit, tuple[MediaKind, str]] = {
    "all_pdf_pages": ("document", "pages"),
    "audio_seconds": ("audio", "seconds"),
    "video_seconds": ("video", "seconds"),
}
_OF_AN_IMAGE: tuple[MediaLimit, ...] = ("image_pixels", "image_area", "image_bytes")
_PDF = "application/pdf"
_SMALLEST_IMAGE_BYTES = 30_000
"""An image is not made smaller than this to make room; older ones are converted to text instead."""
_SURROUNDINGS_BYTES = 20_000
"""What a request may have besides texts and files: names of fields, options."""
_BYTES_BESIDE_A_FILE = 200
_NOTE_BYTES = 300
_NOTE = MediaContent(text_bytes=_NOTE_BYTES, text_tokens=OF_A_NOTE)
_FEWER = "; only "
_TOO_MUCH_TEXT = "the texts of the files are too long together, and this is an older one"


def lower_limits(
    decisions: Sequence[MediaDecision], made: MadeFiles | None, alternatives: Alternatives
) -> tuple[MediaDecision, ...]:
    """Returns decisions that keep the limits of a request, history and tool results included. Pure.

    Files above a number, a size or a length that the provider accepts give way, the older ones first: they have fewer
    images, then are text, and of earlier turns at last a note. Files that make the request too large go to the
    provider's file store, if it has one, the largest first. Images get limits on their size in `fit`. Files whose pages
    or seconds are not known count as empty, as does what a conversion will make. When that is `made`, decisions
    are changed again, never back: what `fit` allows only becomes less.
    """
    plan = _Plan(decisions, made, alternatives)
    plan.keep_sizes()
    plan.keep_lengths()
    plan.keep_counts()
    plan.keep_images()
    plan.store_large()
    plan.fit_images()
    plan.keep_tokens()
    return tuple(plan.decisions)


class _Plan:
    """Decisions that are changed until they keep the limits, and what each of them makes of its file."""

    def __init__(self, decisions: Sequence[MediaDecision], made: MadeFiles | None, alternatives: Alternatives) -> None:
        self.decisions = list(decisions)
        self._alternatives = alternatives
        self._parts = alternatives.parts
        self._profile = alternatives.profile
        self._limits = alternatives.profile.media_limits
        self._handlers = {handler.name: handler for handler in alternatives.handlers}
        self._other_text = _text_bytes(alternatives.call)
        self._other_tokens = tokens_beside_files(alternatives.call)
        self._contents: list[MediaContent] = []
        before = {} if made is None else {each.part_path: each.route for each in made.decisions}
        for index, decision in enumerate(self.decisions):
            content = None if made is None else made.contents.get(decision.part_path)
            if content is None or before.get(decision.part_path) != decision.route:
                content = planned_content(decision, self._parts[decision.part_path])
            elif content.facts is not None and decision.route == "native" and decision.facts is None:
                self.decisions[index] = replace(decision, facts=content.facts)
            self._contents.append(content)

    def keep_sizes(self) -> None:
        """Converts recordings and documents that are larger than one may be, then the largest of the documents that are
        too large together.
        """
        for index in self._natives("audio", "document"):
            decision, size = self.decisions[index], self._size(index)
            limit = self._limits.get(_limit_on_bytes(decision))
            if limit is not None and size > limit:
                self._convert(index, f"it has {size:,} bytes; the limit is {limit:,}")
        limit = self._limits.get("all_document_bytes", math.inf)
        while (total := sum(map(self._size, natives := self._natives("document")))) > limit:
            why = f"all documents of the request have {total:,} bytes together; the limit is {limit:,}"
            self._convert(max(natives, key=self._size), why)

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

    def keep_images(self) -> None:
        """Has older files give way as long as there are too many images; one conversion never makes more."""
        most = self._limits.get("images")
        if most is None:
            return
        counts = [len(content.images) for content in self._contents]
        ages = [message_index(decision.part_path) for decision in self.decisions]
        why = f"a request has at most {most} images, and this is an older one"
        for index, count in enumerate(portions(counts, ages, most, self._alternatives.turn)):
            if count < counts[index]:
                self._reduce(index, count, why)
            elif most == 0 and makes_images(self.decisions[index]):
                self._convert(index, "a request has no images")
            elif makes_images(self.decisions[index]):
                self._tighten(index, {"images": most})

    def store_large(self) -> None:
        """Plans to store the largest files as long as the request is too large; but no images, which can be made
        smaller.
        """
        files = self._natives("document", "audio", "video", "text")
        total = self._beside() + sum(map(sum, self._image_sizes().values()))
        for index in sorted(files, key=self._sent_size, reverse=True):
            if total <= self._room_for_files():
                return
            decision, size = self.decisions[index], self._sent_size(index)
            part, call = self._parts[decision.part_path], self._alternatives.call
            if can_be_stored(decision, part, call, self._profile, size):
                self.decisions[index] = to_store(decision, "the request would be too large with it")
                total -= size

    def fit_images(self) -> None:
        """Sets the limits of images, so that all files keep those of the request."""
        shares = self._shares()
        images = [i for i, each in enumerate(self.decisions) if self._contents[i].images or makes_images(each)]
        fit: dict[str, int] = {name: self._limits[name] for name in _OF_AN_IMAGE if name in self._limits}
        count = sum(len(content.images) for content in self._contents)
        if count > self._limits.get("many_images", count):
            fit["image_pixels"] = self._limits["many_image_pixels"]
        for index in images:
            share = {"image_bytes": shares[index]} if index in shares else {}
            self._tighten(index, fit)
            self._tighten(index, share)

    def keep_tokens(self) -> None:
        """Sets the tokens of files, and has the oldest ones give way as long as they exceed what the context leaves."""
        context = self._profile.context_tokens or math.inf
        tokens = [self._tokens(index) or 0 for index in range(len(self.decisions))]
        while (total := sum(tokens)) > (left := context - self._text_tokens()):
            changed = self._make_room(tokens, total, left)
            if changed is None:
                break
            tokens[changed] = self._tokens(changed) or 0
        for index, decision in enumerate(self.decisions):
            self.decisions[index] = replace(decision, tokens=self._all_tokens(index))

    def _make_room(self, tokens: Sequence[int], total: int, left: float) -> int | None:
        """Has one file give way that is too long, or the oldest one; returns its index, None if none can."""
        room = f"the context leaves {max(0, int(left)):,}"
        if left < 0 and (index := self._leave_text_out(f"{_TOO_MUCH_TEXT}; {room}")) is not None:
            return index
        for index, each in enumerate(tokens):
            if each > left and self._give_way(index, f"it has about {each:,} tokens; {room}"):
                return index
        why = f"the files have about {total:,} tokens, and this is an older one; {room}"
        for index, each in enumerate(tokens):
            if each and self._give_way(index, why):
                return index
        return self._leave_text_out(f"{_TOO_MUCH_TEXT}; {room}")

    def _tokens(self, index: int) -> int | None:
        """Returns the tokens of a file and of images, without those of text."""
        content, decision = self._contents[index], self.decisions[index]
        if decision.route != "native" or len(content.images) > 1:
            return content.image_tokens
        part = self._parts[decision.part_path]
        followed = followed_controls(part, decision, self._profile, self._handlers.get(decision.handler or ""))
        return media_tokens(decision, part, self._profile, followed)

    def _all_tokens(self, index: int) -> int | None:
        content, tokens = self._contents[index], self._tokens(index)
        if not content.text_bytes or (content.images and tokens is None):
            return tokens
        return (tokens or 0) + content.text_tokens

    def _shares(self) -> dict[int, int]:
        """Returns the most bytes of an image, by file, so that all files fit into a request; empty if they do as they
        are. Images of the current turn keep their size as long as older ones, made smaller, leave the room.

        Has the largest document, or the oldest image, give way as long as the others cannot fit.
        """
        while True:
            sizes, beside = self._image_sizes(), self._beside()
            room = self._room(beside)
            if sum(map(sum, sizes.values())) <= room:
                return {}
            older = {index for index in sizes if self._alternatives.is_earlier(self.decisions[index])}
            of_older = [size for index in older for size in sizes[index]]
            of_newer = [size for index in sizes if index not in older for size in sizes[index]]
            share = largest_size(of_older, room - sum(of_newer))
            if share >= _SMALLEST_IMAGE_BYTES:
                return dict.fromkeys(older, share)
            least = sum(min(size, _SMALLEST_IMAGE_BYTES) for size in of_older)
            share = largest_size(of_newer, room - least)
            if share >= _SMALLEST_IMAGE_BYTES:
                return {index: _SMALLEST_IMAGE_BYTES if index in older else share for index in sizes}
            if not self._shrink(list(sizes), beside, room):
                return {}

    def _shrink(self, images: Sequence[int], beside: int, room: float) -> bool:
        """Has one file give way, since images have too little `room`; returns False if none can. Without images, texts
        and other files of `beside` bytes are the cause.
        """
        others = sorted(self._natives("document", "audio", "video", "text"), key=self._sent_size, reverse=True)
        if beside > room:
            why = "the files of the request are too large together"
            if any(self._give_way(index, why) for index in others):
                return True
        if room < 0 and self._leave_text_out(_TOO_MUCH_TEXT) is not None:
            return True
        why = "the images of the request are too large together, and this is the oldest"
        older = [index for index in images if self._alternatives.is_earlier(self.decisions[index])]
        if any(self._give_way(index, why) for index in older) or self._leave_text_out(_TOO_MUCH_TEXT) is not None:
            return True
        return any(self._give_way(index, why) for index in images)

    def _room(self, beside: int) -> float:
        """Returns how many bytes all images may have, beside other files of `beside` bytes."""
        return min(self._room_for_files() - beside, self._limits.get("all_image_bytes", math.inf))

    def _room_for_files(self) -> float:
        """Returns how many bytes the files of a request may have, before base64."""
        images = sum(len(content.images) for content in self._contents)
        around = _SURROUNDINGS_BYTES + _BYTES_BESIDE_A_FILE * (len(self.decisions) + images)
        return (self._limits.get("request_bytes", math.inf) - self._text() - around) * 3 / 4

    def _image_sizes(self) -> dict[int, tuple[int, ...]]:
        """Returns the bytes of the images that are part of the request, by file."""
        return {
            index: content.images
            for index, content in enumerate(self._contents)
            if content.images and not self.decisions[index].stored
        }

    def _beside(self) -> int:
        """Returns the bytes of files other than images that are part of the request."""
        return sum(map(self._sent_size, range(len(self.decisions))))

    def _text(self) -> int:
        """Returns about how many bytes all texts have, those of files included."""
        return self._other_text + sum(content.text_bytes for content in self._contents)

    def _text_tokens(self) -> int:
        """Returns about how many tokens all texts have, those of files included."""
        return self._other_tokens + sum(content.text_tokens for content in self._contents)

    def _natives(self, *kinds: MediaKind) -> list[int]:
        return [i for i, each in enumerate(self.decisions) if each.route == "native" and each.kind in kinds]

    def _size(self, index: int) -> int:
        return self._contents[index].other_bytes

    def _give_way(self, index: int, why: str) -> bool:
        """Takes away half of the images of a file, or converts it to text; returns False if it is text already."""
        count = len(self._contents[index].images)
        if count > 1:
            self._reduce(index, count // 2, why)
        elif self.decisions[index].route == "native" or makes_images(self.decisions[index]):
            self._convert(index, why)
        else:
            return False
        return True

    def _reduce(self, index: int, count: int, why: str) -> None:
        """Leaves a file fewer images; none if there is room for none, or it has more than it was asked to have."""
        decision, content = self.decisions[index], self._contents[index]
        if count == 0 or decision.fit.get("images", math.inf) <= count or decision.policy == "native":
            self._convert(index, why)
            return
        self._tighten(index, {"images": count})
        decision = self.decisions[index]
        reason = decision.reason.partition(_FEWER)[0]
        reason += f"{_FEWER}{count} of {len(content.images)} images are sent, since {why}"
        self.decisions[index] = replace(decision, reason=reason)
        self._contents[index] = content.with_images(count)

    def _tighten(self, index: int, fit: Mapping[str, int]) -> None:
        decision = self.decisions[index]
        least = {name: min(value, decision.fit.get(name, value)) for name, value in fit.items()}
        if least.items() - decision.fit.items():
            self.decisions[index] = replace(decision, fit={**decision.fit, **least})

    def _sent_size(self, index: int) -> int:
        """Returns the bytes of a file that are part of the request: none of one in the provider's file store."""
        return 0 if self.decisions[index].stored else self._size(index)

    def _convert(self, index: int, why: str) -> None:
        decision = self._alternatives.as_text(self.decisions[index], why, "limits")
        self.decisions[index] = decision
        self._contents[index] = _NOTE if decision.route == "left_out" else NO_CONTENT

    def _leave_text_out(self, why: str) -> int | None:
        """Leaves out the text of the oldest file of an earlier turn; returns its index, None if there is none."""
        for index, decision in enumerate(self.decisions):
            is_text = decision.route in ("inline", "fallback") and self._contents[index].text_bytes > _NOTE_BYTES
            if is_text and self._alternatives.is_earlier(decision):
                self.decisions[index] = self._alternatives.left_out(decision, why)
                self._contents[index] = _NOTE
                return index
        return None


def _limit_on_bytes(decision: MediaDecision) -> MediaLimit:
    if decision.kind == "audio":
        return "audio_bytes"
    return "pdf_bytes" if decision.type == _PDF else "document_bytes"


def _text_bytes(call: ModelCall) -> int:
    """Returns about how many bytes the texts and tools of a call have in a request."""
    total = sum(text_bytes(tool.description) + len(repr(tool.parameters)) for tool in call.tools)
    for message in call.messages:
        for part in message.parts:
            if isinstance(part, ToolResult):
                total += text_bytes(part.as_text)
            elif isinstance(part, ToolCall):
                total += text_bytes(part.arguments_text)
            elif not isinstance(part, MEDIA_PARTS):
                total += text_bytes(getattr(part, "text", ""))
    return total


def largest_size(sizes: Iterable[int], room: float) -> int:
    """Returns the largest size that all of `sizes` can be reduced to, so that their sum is at most `room`."""
    rest = sorted(sizes, reverse=True)
    while rest and rest[-1] * len(rest) <= room:
        room -= rest.pop()
    return max(0, int(room / len(rest))) if rest else 0


def portions(counts: Sequence[int], ages: Sequence[int], room: int, current: int) -> list[int]:
    """Returns how many images each file may have, so that there are at most `room`: all of the files of the latest
    message first. Files of one message share equally what is left for them, the later ones first.

    `ages` are the messages of the files. Those before `current` give way by halves: what is sent of an older file then
    seldom changes, so that prompts stay cached.
    """
    by_age: defaultdict[int, list[int]] = defaultdict(list)
    for index, age in enumerate(ages):
        by_age[min(age, current)].append(index)
    given = [0] * len(counts)
    for age in sorted(by_age, reverse=True):
        group = sorted((index for index in by_age[age] if counts[index]), key=counts.__getitem__)
        for position, index in enumerate(group):
            share = room // (len(group) - position)
            given[index] = min(counts[index], share) if age == current else _halve(counts[index], share)
            room -= given[index]
    return given


def _halve(count: int, room: int) -> int:
    """Returns `count` halved until it is at most `room`."""
    while count > room:
        count //= 2
    return count
