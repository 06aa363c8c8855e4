"""`MediaDecision`: how one file of a call is sent, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from .drawn_text import DrawnText
from .frozen_json import EMPTY, freeze_object
from .immutable import Immutable
from .json_values import check_items, check_real, check_text
from .media_anchors import MediaAnchor
from .media_facts import MediaFacts
from .media_texts import MediaText
from .parts import MediaKind
from .usage import Usage

MediaRoute = Literal["native", "inline", "fallback", "left_out"]


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
