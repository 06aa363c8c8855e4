"""`MediaDecision`: how one file of a call is sent, and why.

`MediaAnchor`: where in a file a piece of the text that replaces it comes from. `MediaText`: our own text of a file
that was sent natively, or drawn as images. `DrawnText`: how a text was drawn as images, and what that saves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from .base_error import SchemaError
from .json_values import EMPTY, check_count, check_items, check_real, check_text, freeze_object
from .media_facts import MediaFacts
from .parts import MediaKind
from .replies import Usage
from .reprs import Immutable


@dataclass(frozen=True, slots=True)
class MediaAnchor(Immutable):
    """The place in a file of the characters `start` to `end` of the text that replaces it.

    `page` counts from 1, also for slides and the frames of an image. `box` is the part of the page or image: left, top,
    right and bottom, each from 0 to 1. `sheet` and `cell` ("B7", "A2:F9") are of a spreadsheet, `paragraph` (from 1) is
    of a document without pages. `seconds` are the begin and the end in a recording; of a video frame, both are its
    time. `member` is the path of a file in an archive, or the name of an attachment or of an embedded picture.
    """

    start: int
    end: int
    page: int | None = None
    box: tuple[float, ...] | None = None
    sheet: str | None = None
    cell: str | None = None
    paragraph: int | None = None
    seconds: tuple[float, ...] | None = None
    member: str | None = None

    def __post_init__(self) -> None:
        if check_count(self.start, "start") > check_count(self.end, "end"):
            raise SchemaError("ends before its start", "end")
        for name in ("page", "paragraph"):
            if getattr(self, name) is not None:
                check_count(getattr(self, name), name)
        for name in ("sheet", "cell", "member"):
            if getattr(self, name) is not None:
                check_text(getattr(self, name), name)
        for name, length in (("box", 4), ("seconds", 2)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _numbers(getattr(self, name), length, name))


def _numbers(value: object, length: int, path: str) -> tuple[float, ...]:
    items = check_items(value, object, path)
    if len(items) != length:
        raise SchemaError(f"expected {length} numbers, got {len(items)}", path)
    return tuple(check_real(item, path) for item in items)


@dataclass(frozen=True, slots=True)
class MediaText(Immutable):
    """The text of a file, as AbstractCore reads it, with the places of its pieces; the model did not get it as text.

    `problem` says why there is none, `lost` what of the file is not in it.
    """

    text: str = ""
    anchors: tuple[MediaAnchor, ...] = ()
    """Where parts of the text are in the file."""
    problem: str | None = None
    lost: tuple[MediaLoss, ...] = ()


@dataclass(frozen=True, slots=True)
class DrawnText(Immutable):
    """A text of `characters` that was sent as `images`, drawn with a font of `size` pixels.

    `image_tokens` is what the images have by the rule of the model's vendor, None without a published one;
    `text_tokens` is about what the text would have. `read` is the share of letters and digits of
    a sample that were read back by OCR, from 0 to 1.
    """

    images: int
    characters: int
    size: int
    text_tokens: int
    image_tokens: int | None
    read: float

    def __post_init__(self) -> None:
        for name in ("images", "characters", "size", "text_tokens"):
            check_count(getattr(self, name), name)
        if self.image_tokens is not None:
            check_count(self.image_tokens, "image_tokens")
        check_real(self.read, "read")

    @property
    def ratio(self) -> float | None:
        """Tokens of the text for each token of the images; None without a published rule."""
        return self.text_tokens / self.image_tokens if self.image_tokens else None


MediaRoute = Literal["native", "inline", "fallback", "left_out"]
"""How the content of a file reached the model."""


@dataclass(frozen=True, slots=True)
class MediaSent(Immutable):
    """The content sent in place of a file: its media type, its size in bytes, and its text, if it is text.

    The model gets the text with a label and delimiters around it. If a file became several parts, such as images of its
    pages, `media_type` is "multipart/mixed", `size` is the total, and `parts` has one entry for each, in order.
    `anchors` say where pieces of `text`, or of the joined texts of `parts`, stand in the file. `page_numbers` are
    those, in the whole file, of the pages of a document that was cut and sent natively; empty for a whole file.
    """

    media_type: str
    size: int | None
    text: str | None = None
    parts: tuple[MediaSent, ...] = ()
    anchors: tuple[MediaAnchor, ...] = ()
    page_numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MediaLoss(Immutable):
    """What a model does not get of a file: `count` of `total` of something, such as 3 of 40 "pages" or 12.5 of 60.0
    "seconds". `total` is None if it is unknown. `places` name them, such as "page 3", as far as that is short.
    """

    what: str
    """What was left out."""
    count: float
    total: float | None = None
    places: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_text(self.what, "what")
        check_real(self.count, "count")
        if self.total is not None:
            check_real(self.total, "total")
        object.__setattr__(self, "places", check_items(self.places, str, "places"))


@dataclass(frozen=True, slots=True)
class MediaDecision(Immutable):
    """How one file is sent, and why.

    `route` is "native" (the file itself), "inline" (a text file as text), "fallback" (the output of `handler`) or
    "left_out" (a note that a file of an earlier turn has no room).
    `policy` is the one that held for it, and `policy_source` where it was set: "call" (in the call or in `create_llm`),
    "configuration", or "default". `fallback` is the way of the conversion, such as "transcript"; in a plan, the
    one that is tried first, before `alternatives`. `outputs` is what they may produce for this model: "text", or media
    types such as "image/png"; empty for a file that is sent natively. `fit` has the limits that its images are made to
    keep: `image_pixels` of the longer edge, `image_area`, `image_bytes`, and `images`, their number. `facts` is what
    was measured of the file: of all files in a plan, in a response of those that might have been too long for the
    model. `tokens` is about how many tokens it has for the model: the file itself by its vendor's rule, None if there
    is none, and texts and images in its place as soon as they are known. `text_because` says why a file is sent as text
    that could be sent in another way: "history" by `media_history`, "limits" by those of a request. `fetch` says who
    downloads a URL, "us" or "vendor"; None for other files. `stored` says that the file goes to the provider's file
    store: "planned" in a plan, "uploaded", or "reused" if it was there already; None if it is part of the request.
    `native_loss` is what the provider loses of the file if it is sent natively, which is why the policy "auto" converts
    it.

    `sent`, `usage` and `seconds` are None in a plan, which sends nothing. `model` is the one that did the conversion,
    `usage` its tokens, and `seconds` how long the conversion took; all None if the file itself was sent, and the first
    two also if the handler called no model. `recorded` says that the calls of that model have records of their own,
    which count `usage`; the record of this call does not. `lost` is what the model does not get of the file. `own_text`
    is what AbstractCore read in the file, of a call with `evidence` or `verify`; None if it needed no further reading.
    `drawn` says how its text was drawn as images, which is then in `own_text`; None if it was not.
    """

    part_path: str
    """Where the file is in the call, as in "messages[0].parts[1]"."""
    source: str
    type: str
    kind: MediaKind
    route: MediaRoute
    reason: str
    handler: str | None = None
    sent: MediaSent | None = None
    usage: Usage | None = None
    outputs: tuple[str, ...] = ()
    policy: str = "auto"
    policy_source: Literal["call", "configuration", "default"] = "default"
    fallback: str | None = None
    alternatives: tuple[str, ...] = ()
    fit: Mapping[str, int] = cast("Mapping[str, int]", EMPTY)
    fetch: Literal["us", "vendor"] | None = None
    native_loss: str = ""
    model: str | None = None
    seconds: float | None = None
    lost: tuple[MediaLoss, ...] = ()
    own_text: MediaText | None = None
    facts: MediaFacts | None = None
    tokens: int | None = None
    text_because: Literal["history", "limits"] | None = None
    stored: Literal["planned", "uploaded", "reused"] | None = None
    recorded: bool = False
    drawn: DrawnText | None = None

    def __post_init__(self) -> None:
        if self.fit is not EMPTY:
            object.__setattr__(self, "fit", freeze_object(self.fit, "fit"))
