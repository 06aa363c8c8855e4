"""Writes the blocks of a document as one text, with anchors, pictures in place, and an account of what is lost."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from abstractcore.errors import MediaError, MissingExtraError
from abstractcore.schema import CallWarning, ImagePart, MediaAnchor, MediaLoss, MediaPart, Usage

from .blocks import (
    NOWHERE,
    AttachedFile,
    Block,
    BlockPlace,
    GuessedEncoding,
    LostContent,
    MarkdownText,
    PageScan,
    PageStart,
    Picture,
    clean,
)
from .inner_files import part_of
from .text_decoding import guess_warning

if TYPE_CHECKING:
    from abstractcore.ports import Conversion, MediaContext

    from .work_limits import Work

_SHOWN_PLACES = 20


@dataclass(slots=True)
class _Loss:
    count: float = 0
    total: float | None = 0
    places: list[str] = field(default_factory=list[str])


class Renderer:
    """Collects blocks; `conversion` is the result."""

    def __init__(self, work: Work, context: MediaContext) -> None:
        self._work = work
        self._context = context
        self._content: list[str | ImagePart] = []
        self._texts: list[str] = []
        self._size = 0
        self._anchors: list[MediaAnchor] = []
        self._losses: dict[str, _Loss] = {}
        self._warnings: list[CallWarning] = []
        self._usage: Usage | None = None
        self._models: dict[str, None] = {}
        self._group = ""
        self._page: tuple[int, int] | None = None
        self._pictures: dict[bytes, str] = {}
        self._seen_pictures = 0
        self._shown_images = 0
        self._has_fewer_images = False
        self.has_content = False
        """Whether there is a text or picture of the file: marks and losses are none."""
        self.read_pictures = 0
        self.unread_pictures = 0

    def add(self, block: Block) -> None:
        """Adds the next block; raises `MediaError` above a limit."""
        self._work.check()
        match block:
            case MarkdownText():
                self._add_text(block)
            case PageStart():
                self._end_page()
                if block.mark:
                    self._write(block.mark, block.group)
                gap = 0 if not self._size else 1 if block.group else 2
                self._page = (block.number, self._size + gap)
            case Picture():
                self._add_picture(block)
            case PageScan():
                self._add_scan(block)
            case AttachedFile():
                self._add_attached(block)
            case LostContent():
                self._seen_pictures += int(block.count) if block.what == "pictures" else 0
                self._add_loss(block)
            case GuessedEncoding():
                self._add_warning(guess_warning(self._work.source, block.encoding))

    def add_all(self, blocks: Iterable[Block]) -> None:
        """Adds blocks in order."""
        for block in blocks:
            self.add(block)

    def conversion(self, label: str, fallback: str = "text") -> Conversion:
        """Returns the conversion. `label` names it for the model, such as "text of 3 slides"."""
        from abstractcore.ports import Conversion

        self._end_page()
        self._flush()
        first = self._content[0] if len(self._content) == 1 else None
        content = first if isinstance(first, str) else tuple(self._content)
        return Conversion(
            content,
            label,
            usage=self._usage,
            warnings=tuple(self._warnings),
            anchors=tuple(
                sorted(self._anchors, key=lambda anchor: (anchor.start, -anchor.end, anchor.box is not None))
            ),
            fallback=fallback,
            model=", ".join(self._models) or None,
            lost=self.lost,
            has_fewer_images=self._has_fewer_images,
        )

    @property
    def lost(self) -> tuple[MediaLoss, ...]:
        """What is not in the text."""
        if "pictures" in self._losses:
            self._losses["pictures"].total = self._seen_pictures
        return tuple(
            MediaLoss(what, loss.count, loss.total, tuple(loss.places))
            for what, loss in self._losses.items()
            if loss.count
        )

    def _add_text(self, block: MarkdownText) -> None:
        text = clean(block.text).strip("\n")
        if not text.strip():
            return
        self.has_content = True
        start = self._write(text, block.group)
        self._anchor(start, block.place)
        for first, last, place in block.inner:
            self._anchors.append(MediaAnchor(start + first, start + last, **_named(place)))

    def _write(self, text: str, group: str) -> int:
        """Writes a text after the ones before; returns where it begins."""
        gap = "" if self._size == 0 else "\n" if group and group == self._group else "\n\n"
        self._group = group
        start = self._size + len(gap)
        self._size = start + len(text)
        if self._size > self._work.limits.characters:
            raise self._work.too_large(f"it has more than {self._work.limits.characters:,} characters of text")
        self._texts.append(gap + text)
        return start

    def _flush(self) -> None:
        if self._texts:
            self._content.append("".join(self._texts))
            self._texts.clear()

    def _anchor(self, start: int, place: BlockPlace) -> None:
        """Adds an anchor for what was written last, unless its page says as much."""
        if place != NOWHERE and place != BlockPlace(page=self._page[0] if self._page else None):
            self._anchors.append(MediaAnchor(start, self._size, **_named(place)))

    def _end_page(self) -> None:
        if self._page is not None:
            number, start = self._page
            self._anchors.append(MediaAnchor(min(start, self._size), self._size, page=number))
            self._page = None

    def _add_picture(self, picture: Picture) -> None:
        self._seen_pictures += 1
        key = hashlib.sha256(picture.data).digest()
        alt = clean(picture.alt).strip()
        described = f" ({alt})" if alt and alt != picture.name else ""
        if key in self._pictures:
            self._anchor(self._write(f"[picture: the same as {self._pictures[key]}]", ""), picture.place)
            return
        if self._seen_pictures > self._work.limits.pictures:
            self._lose_picture(picture, described)
            return
        part = part_of(picture.data, picture.name)
        if isinstance(part, ImagePart) and self._may_show(part):
            self._pictures[key] = picture.name
            self._place_image(part, f"[picture: {picture.name}{described}]", picture.place)
            return
        try:
            converted = self._inner_text(part, picture.name, picture.place)
        except MissingExtraError as error:
            self._warn("picture_not_read", error)
            converted = None
        except MediaError:
            converted = None
        if converted is None:
            self._lose_picture(picture, described)
        else:
            self._pictures[key] = picture.name

    def _add_scan(self, scan: PageScan) -> None:
        part = part_of(scan.data, scan.name)
        try:
            self._write_inner(self._read(part, scan.name), scan.name, scan.place, ("", ""), scan.group)
        except (MediaError, MissingExtraError) as error:
            if isinstance(error, MissingExtraError):
                self._warn("page_not_read", error)
            if isinstance(part, ImagePart) and self._may_show(part):
                self._place_image(part, f"[image of {scan.name}]", scan.place, scan.group)
            else:
                self._add_loss(LostContent("pages", 1, 0, scan.name))

    def _may_show(self, part: ImagePart) -> bool:
        """Returns whether the model accepts an image of this type, and there is room for one more."""
        if part.blob.media_type not in self._context.accepted_outputs:
            return False
        most = self._context.max_images
        has_room = most is None or self._shown_images < most
        self._has_fewer_images |= not has_room
        return has_room

    def _place_image(self, part: ImagePart, mark: str, place: BlockPlace, group: str = "") -> None:
        self.has_content = True
        start = self._write(mark, group)
        self._anchor(start, place)
        self._flush()
        self._content.append(part)
        self._shown_images += 1

    def _lose_picture(self, picture: Picture, described: str) -> None:
        self.unread_pictures += 1
        self._anchor(self._write(f"[picture: {picture.name}{described}, not shown here]", ""), picture.place)
        self._add_loss(LostContent("pictures", 1, None, picture.name))

    def _inner_text(self, part: MediaPart | None, name: str, place: BlockPlace, what: str = "picture") -> Conversion:
        """Writes a file inside of this one as text; raises `MediaError` if it cannot be converted."""
        converted = self._read(part, name)
        member = replace(place, member=place.member or name)
        self._write_inner(converted, name, member, (f"[{what}: {name}]\n", f"\n[end of {what}]"))
        return converted

    def _read(self, part: MediaPart | None, name: str) -> Conversion:
        """Returns the text of a file inside of this one; raises `MediaError` if there is none."""
        if self._context.to_text is None or part is None:
            raise MediaError(f"{name} cannot be converted", source=self._work.source)
        converted = self._context.to_text(part)
        if not converted.text.strip():
            raise MediaError(f"{name} has no text", source=self._work.source)
        self.read_pictures += 1
        return converted

    def _write_inner(
        self, converted: Conversion, name: str, place: BlockPlace, around: tuple[str, str], group: str = ""
    ) -> None:
        """Writes the text of a file inside of this one, with its anchors and losses."""
        before, after = around
        text = converted.text.strip()
        lead = len(converted.text) - len(converted.text.lstrip())
        self.has_content = True
        start = self._write(f"{before}{text}{after}", group)
        self._anchor(start, place)
        shift = start + len(before) - lead
        for anchor in converted.anchors:
            inner = f"{place.member}/{anchor.member}" if place.member and anchor.member else place.member
            first, last = anchor.start + shift, min(anchor.end + shift, self._size)
            if start <= first <= last:
                self._anchors.append(replace(anchor, start=first, end=last, member=inner, **_outer(anchor, place)))
        self._take_account(converted, name)

    def _take_account(self, converted: Conversion, name: str) -> None:
        for loss in converted.lost:
            where = ", ".join(loss.places)
            self._add_loss(
                LostContent(f"{loss.what} of files inside", loss.count, loss.total, f"{name}: {where or loss.what}")
            )
        self._warnings += converted.warnings
        if converted.model:
            self._models[converted.model] = None
        if converted.usage is not None:
            self._usage = converted.usage if self._usage is None else self._usage + converted.usage

    def _add_attached(self, file: AttachedFile) -> None:
        part = None if file.data is None else part_of(file.data, file.name, file.media_type)
        try:
            self._inner_text(part, file.name, file.place, "file")
        except (MediaError, MissingExtraError) as error:
            self._anchor(self._write(f"[file: {file.name}, not shown here]", ""), file.place)
            if isinstance(error, MissingExtraError):
                self._warn("file_not_read", error)
            self._add_loss(LostContent("files inside", 1, None, file.name))

    def _add_loss(self, lost: LostContent) -> None:
        loss = self._losses.setdefault(lost.what, _Loss())
        loss.count += lost.count
        loss.total = None if loss.total is None or lost.total is None else loss.total + lost.total
        if lost.where and len(loss.places) < _SHOWN_PLACES:
            loss.places.append(clean(lost.where))

    def _warn(self, code: str, error: MissingExtraError) -> None:
        self._add_warning(CallWarning(code, "", str(error)))

    def _add_warning(self, warning: CallWarning) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)


def _named(place: BlockPlace) -> dict[str, Any]:
    return {each.name: getattr(place, each.name) for each in fields(place)}


def _outer(anchor: MediaAnchor, place: BlockPlace) -> dict[str, Any]:
    """Returns the place of an inner file, where its own anchor says nothing: the paragraph that it stands in."""
    if place.box is not None or place.page is not None:  # a picture: its places are on itself, not on the page
        return {"page": place.page, "box": _box_on_page(anchor.box, place.box)}
    has_own = any(getattr(anchor, name) is not None for name in ("page", "paragraph", "sheet", "cell", "seconds"))
    return {} if has_own else {name: value for name, value in _named(place).items() if name not in ("member", "box")}


def _box_on_page(inner: tuple[float, ...] | None, outer: tuple[float, ...] | None) -> tuple[float, ...] | None:
    """Returns the place on the page of a part of a picture that stands at `outer`."""
    if inner is None or outer is None:
        return outer
    left, top, right, bottom = outer
    width, height = right - left, bottom - top
    return left + inner[0] * width, top + inner[1] * height, left + inner[2] * width, top + inner[3] * height
