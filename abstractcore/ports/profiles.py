"""`ModelProfile`: the abilities of a model, and `ModelCatalogue`, which knows those of many models.

`TokenRule`: how many tokens a file of a kind has, by the rule that the vendor of a model publishes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from ..schema import EMPTY, MediaResolution, Sampling, ThinkingLevel
from .operation_rules import EmbeddingRules, RerankRules, TranscriptionRules
from .pricing import Pricing

TokenKind = Literal["image", "audio", "video", "pdf"]
_NOTHING: Any = EMPTY


@dataclass(frozen=True, slots=True)
class TokenRule:
    """`tokens` for each unit that `by` names, and `base` besides; never more than `most`.

    "file" is each image, "page" each page of a PDF, "second" each second of a recording; of a video, each frame, of
    which there is one a second unless the control `fps` says otherwise, and `base` is of each second. "area" is as many
    pixels as `pixels` says; "tiles", "patches" and "cells" are squares with edges of so many pixels. "crops" are
    squares with edges of two thirds of the shorter edge of an image, at least 256 and at most `pixels`; an image with
    edges up to 384 is one.

    An image is first reduced to `max_edge` and `short_edge`, and to `most` patches or cells: of patches, one edge is
    then a whole number; cells are the largest size that keeps the shape of the image. `levels` replace
    `tokens` at a resolution ("low", "medium", "high"); at the detail "low", tiles have `base` tokens only. `sizes`
    replace `max_edge` and `most` at a detail, such as "original"; without a number there, images are not reduced.
    """

    by: Literal["file", "page", "second", "area", "tiles", "patches", "cells", "crops"]
    tokens: float = 1
    base: int = 0
    pixels: int = 1
    max_edge: int | None = None
    short_edge: int | None = None
    most: int | None = None
    levels: Mapping[str, float] = field(default=_NOTHING, hash=False)
    sizes: Mapping[str, Mapping[str, int]] = field(default=_NOTHING, hash=False)


def image_tokens(width: int, height: int, rule: TokenRule, level: str | None = None) -> int:
    """Returns the tokens of an image of this size in pixels, as it is sent."""
    each = rule.levels.get(level or "", rule.tokens)
    if (size := rule.sizes.get(level or "")) is not None:
        rule = replace(rule, max_edge=size.get("max_edge"), most=size.get("most"))
    scale = min(1.0, (rule.max_edge or math.inf) / max(width, height))
    scale = min(scale, (rule.short_edge or math.inf) / min(width, height))
    across, down = width * scale, height * scale
    if rule.by == "area":
        tokens = math.ceil(across * down / rule.pixels)
        return tokens if rule.most is None else min(tokens, rule.most)
    if rule.by == "tiles":
        tiles = 0 if level == "low" else math.ceil(across / rule.pixels) * math.ceil(down / rule.pixels)
        return rule.base + math.ceil(each * tiles)
    if rule.by == "patches":
        return math.ceil(_patches(across, down, rule.pixels, rule.most) * each)
    if rule.by == "cells":
        return math.ceil(_cells(across, down, rule.pixels, rule.most) * each)
    if rule.by == "crops" and max(width, height) > 384:
        edge = min(max(min(width, height) * 2 // 3, 256), rule.pixels)
        return math.ceil(math.ceil(width / edge) * math.ceil(height / edge) * each)
    return math.ceil(each)


def _cells(width: float, height: float, edge: int, most: int | None) -> int:
    """Returns the cells of an image that is reduced until it has at most so many: the most of all its sizes."""
    across, down = width / edge, height / edge
    if most is None or math.ceil(across) * math.ceil(down) <= most:
        return math.ceil(across) * math.ceil(down)
    whole = [(n, math.ceil(n * down / across - 1e-9)) for n in range(1, math.ceil(across))]
    whole += [(math.ceil(n * across / down - 1e-9), n) for n in range(1, math.ceil(down))]
    return max((columns * rows for columns, rows in whole if columns * rows <= most), default=1)


def _patches(width: float, height: float, edge: int, most: int | None) -> int:
    patches = math.ceil(width / edge) * math.ceil(height / edge)
    if most is None or patches <= most:
        return patches
    scale = math.sqrt(edge * edge * most / (width * height))
    across, down = width * scale / edge, height * scale / edge
    # Reduced further, so that one of the edges is a whole number of patches.
    scale *= min(math.floor(across) / across, math.floor(down) / down)
    return min(math.ceil(round(width * scale / edge, 6)) * math.ceil(round(height * scale / edge, 6)), most)


@dataclass(frozen=True, slots=True)
class Thinking:
    """How the thinking of a model is set: by `levels`, or by a `budget` of tokens between two bounds.

    Without both, the model does not think. With both, a level is sent as such, and a number of tokens as a budget.
    """

    levels: tuple[ThinkingLevel, ...] = ()
    """The levels that the model accepts, in rising order, without "off"."""
    budget: tuple[int, int] | None = None
    """The lowest and the highest budget, in tokens."""
    can_be_off: bool = True
    """Whether thinking can be turned off."""
    on_by_default: bool = False
    """Whether the model thinks if a request does not say so."""
    words: Mapping[ThinkingLevel, str] = field(default=_NOTHING, hash=False)
    """The vendor's words for levels, where they differ from ours."""
    budget_within_output: bool = False
    """Whether the budget counts towards `max_output_tokens`, and must be lower."""
    budget_needs_reasoning: bool = False
    """Whether a budget is refused in a turn of the model that goes on, after tool results or a beginning of its text,
    and did not begin with reasoning that it signed."""


MediaLimit = Literal[
    "images",
    "image_bytes",
    "all_image_bytes",
    "image_pixels",
    "image_area",
    "many_images",
    "many_image_pixels",
    "audio_bytes",
    "audio_seconds",
    "videos",
    "video_seconds",
    "documents",
    "document_bytes",
    "pdf_bytes",
    "pdf_pages",
    "all_pdf_pages",
    "all_document_bytes",
    "request_bytes",
]
"""A limit on files. Numbers of files, and those that begin with "all", are of a request; the others of one file.

`image_bytes`, `audio_bytes`, `document_bytes` (not of PDFs) and `pdf_bytes` are the size of the file, before base64;
`all_image_bytes` and `all_document_bytes` are sums of these. `image_pixels` is the longer edge, `image_area` all pixels
of an image. With more than `many_images`, `many_image_pixels` replaces `image_pixels`. `pdf_pages` are of one PDF,
`all_pdf_pages` of all. `audio_seconds` and `video_seconds` are of all files of the kind. `request_bytes` is the whole
request, with its files in base64.
"""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What a model can do at a provider. The defaults mean "unknown": nothing is changed and nothing refused.

    `accepts` holds media types or their first half ("image", "application/pdf"); text is always accepted. Other content
    is refused, unless the model is unknown: then `assumed` and `encodable` apply.

    Options are named as the fields of `Sampling`, or "thinking", "tool_choice" and "parallel_tool_calls". One that the
    model refuses is left out of a request, with a warning. Dates are written as "2026-11-22".
    """

    accepts: frozenset[str] = frozenset()
    context_tokens: int | None = None
    sampling: Sampling | None = None
    """The sampling that the model's vendor recommends, used for parameters that a call does not set."""
    thinking: Thinking | None = None
    """None if unknown: the call's value is sent unchanged."""
    cache_points: int | None = None
    """The maximum number of cache points; 0 if the provider caches without them; None if unknown."""
    accepts_prefill: bool = True
    """Whether the last message may be the assistant's: the model continues the answer that it begins."""
    one_system_message: bool = False
    """Whether the server accepts one system message, at the beginning: chat templates of models refuse others."""
    media_after_results: bool = False
    """Whether files of tool results must be sent after the results, in a user message."""
    known: bool = True
    """False for an unknown name in a known naming scheme: calls have a warning."""
    family: str = ""
    """The beginning of the name by which a model that is not `known` was recognised, if any."""
    similar: tuple[str, ...] = ()
    """Names of known models that are similar to that of one that is not `known`, for its warning."""
    assumed: frozenset[str] = frozenset()
    """Files that are sent natively to an unknown model, with a warning: those that most models of the vendor accept."""
    encodable: frozenset[str] = frozenset()
    """Files that the format supports. They are sent natively to an unknown model, with a warning, if they cannot be
    converted to text or the policy is `native`."""
    produces: frozenset[str] | None = None
    """Kinds of output besides text: "image", "audio"; None if unknown."""
    max_output_tokens: int | None = None
    """The highest output limit, in tokens; a higher one is reduced."""
    media_limits: Mapping[MediaLimit, int] = field(default=_NOTHING, hash=False)
    """Limits on files, by name: see `MediaLimit`. One that is not named is unknown."""
    limits_sources: tuple[str, ...] = ()
    """The addresses of the pages with `media_limits`."""
    limits_checked: str | None = None
    """The day on which these pages were read."""
    media_tokens: Mapping[TokenKind, TokenRule] = field(default=_NOTHING, hash=False)
    """How many tokens a file has, by the vendor's published rule for its kind; unknown for others."""
    tokens_source: str = ""
    """The address of the page with `media_tokens`."""
    tokens_checked: str | None = None
    """The day on which that page was read."""
    transcription: TranscriptionRules | None = None
    """How the model transcribes recordings at an endpoint for that; None for any other model, or if it is unknown."""
    embedding: EmbeddingRules | None = None
    """How the model embeds texts and files; None for any other model, or if it is unknown."""
    reranking: RerankRules | None = None
    """How the model ranks documents; None for any other model, or if it is unknown."""
    media_controls: frozenset[str] = frozenset()
    """The controls that its requests have fields for, by type of part: "video.fps" and other names of `MediaControls`,
    "image.detail", and "image.detail.original" if it accepts that level."""
    request_resolution: Mapping[MediaResolution, Mapping[str, Any]] = field(default=_NOTHING, hash=False)
    """The provider options that set the resolution of all files of a request, by resolution, for a model without one
    for each file."""
    urls: Mapping[str, frozenset[str]] | None = field(default=None, hash=False)
    """What the addresses of files that the endpoint reads itself begin with, such as "https://", by kind or media type.
    None if unknown: URLs are sent as they are."""
    file_ids: frozenset[str] | None = None
    """The kinds and media types of files that requests may name by the id of a stored file; None if unknown."""
    stored_bytes: int | None = None
    """The largest file that the endpoint's file store takes; None if no files are uploaded to it."""
    lossy: Mapping[str, str] = field(default=_NOTHING, hash=False)
    """What the endpoint loses of a file that is sent natively, by media type, as the end of "it ..."."""
    files_source: str = ""
    """The address of the page with `urls` and `file_ids`."""
    store_source: str = ""
    """The address of the page with `stored_bytes`."""
    lossy_source: str = ""
    """The address of the page with `lossy`."""
    files_checked: str | None = None
    """The day on which these pages were read."""
    tools: Literal["always", "without_thinking", "thinking_unset", "never"] | None = None
    """When the model accepts tools: always, only without thinking, only if thinking is not set or off, or never."""
    tools_provider: str | None = None
    """The provider at which the same model accepts tools together with thinking."""
    parallel_tools: bool | None = None
    """Whether the model can call several tools in one turn."""
    forced_tools: Literal["always", "without_thinking", "without_budget", "never"] | None = None
    """When the model accepts a tool choice that forces a call: always, only without thinking, only without a thinking
    budget, or never."""
    tool_search: bool | None = None
    """Whether the provider searches deferred tools itself: their definitions are then sent, but not given to the model
    before it has found them."""
    structured_output: Literal["schema", "json", "none"] | None = None
    """Whether the provider enforces a JSON Schema of the answer, JSON only, or nothing."""
    output_with_tools: bool | None = None
    """Whether structured output may be requested together with tools."""
    refused: frozenset[str] = frozenset()
    """Options that the model always refuses."""
    refused_with_thinking: frozenset[str] = frozenset()
    """Options that the model refuses while it thinks."""
    refused_with_level: Mapping[ThinkingLevel, frozenset[str]] = field(default=_NOTHING, hash=False)
    """Options that the model refuses at a level of thinking."""
    refused_together: tuple[tuple[str, str], ...] = ()
    """Pairs of options that exclude each other: the first one is kept."""
    no_effect: frozenset[str] = frozenset()
    """Options that the provider accepts and ignores."""
    ranges: Mapping[str, tuple[float, float]] = field(default=_NOTHING, hash=False)
    """The lowest and the highest value of an option; a value outside becomes the nearest one."""
    ranges_with_thinking: Mapping[str, tuple[float, float]] = field(default=_NOTHING, hash=False)
    """The same while the model thinks."""
    cache_automatic: bool | None = None
    """Whether the provider caches prompts without being asked to."""
    cache_minimum: int | None = None
    """The shortest prefix that is cached, in tokens; where pages differ, the smaller number."""
    cache_times: tuple[str, ...] = ()
    """The times to live of a cache point, such as "5m" and "1h", in rising order; empty if unknown."""
    cache_tools: bool = True
    """Whether a tool may have a cache point."""
    tool_prompt: str | None = None
    """The format in which tools are described in the prompt, where they are not sent as such: the one that the model's
    maker trained it on, such as "hermes" or "llama3". None if unknown.
    """
    tool_examples: bool = False
    """Whether tools in the prompt are described with answers to questions that need none, where the last message has no
    results: small models call a tool too often without."""
    grammar: Literal["gbnf"] | None = None
    """The language of grammars that the server accepts in the field `grammar` of a request: llama.cpp's. Calls of tools
    in the prompt are then constrained by one."""
    calls_as_text: bool = False
    """Whether the server may return a native tool call as text: a reply that is nothing but calls is read as calls."""
    retires: str | None = None
    """The day on which the provider retires the model: calls have a warning from then on."""
    replaced_by: str | None = None
    """The model that the vendor recommends instead of a retired one."""
    routed: bool = False
    """Whether `replaced_by` answers calls from that day on, by its own rules and at its own prices."""
    settings: Mapping[str, Any] = field(default=_NOTHING, hash=False)
    """How the wire format writes requests for this model: fields of the format's dialect."""
    source: str = ""
    """The address of the page with these facts."""
    checked: str | None = None
    """The day on which they were checked."""

    def supports(self, kind: str, media_type: str) -> bool:
        """Returns whether the model is known to accept content of this kind and type natively."""
        return _hold(self.accepts, kind, media_type)

    def may_support(self, kind: str, media_type: str, *, only_natively: bool) -> bool:
        """Returns whether to send content of this kind and type natively to a model that is not known to accept it.

        `only_natively` means that it cannot be sent in another way.
        """
        possible = self.assumed | self.encodable if only_natively else self.assumed
        return _hold(possible, kind, media_type)

    def reads_url(self, kind: str, media_type: str, url: str) -> bool:
        """Returns whether the endpoint reads a file from this address itself, as far as that is known."""
        if self.urls is None:
            return True
        of_type = [prefixes for name, prefixes in self.urls.items() if _hold(frozenset({name}), kind, media_type)]
        return any(url.lower().startswith(prefix) for prefixes in of_type for prefix in prefixes)

    def accepts_id(self, kind: str, media_type: str) -> bool:
        """Returns whether a request may name a stored file of this kind and type, as far as that is known."""
        return self.file_ids is None or _hold(self.file_ids, kind, media_type)

    def types_of(self, kind: str) -> frozenset[str]:
        """Returns the media types of a kind that may be sent natively, such as "image/png"; empty if none is known, or
        the kind itself is accepted.
        """
        known = self.accepts | self.assumed | self.encodable
        types = frozenset(held for held in known if held.startswith(f"{kind}/"))
        return frozenset() if kind in known or f"{kind}/*" in types else types

    def like(self, media_type: str) -> list[str]:
        """Returns accepted media types of the same kind, as "image/png" for "image/bmp"."""
        top = media_type.partition("/")[0]
        known = self.accepts | self.assumed | self.encodable
        return sorted(held for held in known if top in _KINDS and held.startswith(f"{top}/"))


class ModelCatalogue(Protocol):
    """What is known about models, by provider and name."""

    def profile(self, provider: str, model: str) -> ModelProfile:
        """Returns the profile of a model; that of an unknown model is not `known`.

        May read files; raises `ConfigurationError` for an invalid one.
        """
        ...

    def pricing(self, provider: str, model: str) -> Pricing | None:
        """Returns the prices of a model; None if they are unknown. Raises as `profile` does."""
        ...


_KINDS = ("image", "audio", "video")


def _hold(types: frozenset[str], kind: str, media_type: str) -> bool:
    """Returns whether `types` contain the kind, the media type without parameters or, for "image/*", any such type.

    "text" among them stands for text alone, not for text files: those are sent as text.
    """
    media_type = media_type.partition(";")[0].rstrip()
    if media_type in types or (kind != "text" and kind in types):
        return True
    top, _, sub = media_type.partition("/")
    return sub == "*" and any(held.startswith(f"{top}/") for held in types)
