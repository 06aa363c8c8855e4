"""`estimated_tokens`: the tokens that a call sends, where nobody has counted them. Pure: nothing is read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..ports import ModelProfile
from ..ports.token_rules import TokenKind, TokenRule, image_tokens
from ..schema import (
    HostedToolCall,
    HostedToolResult,
    MediaDecision,
    MediaFacts,
    MediaPart,
    ModelCall,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from ..schema.codec import json_of
from ..schema.token_counts import TokenCount, text_tokens
from .contents import text_file_tokens
from .file_tokens import token_kind, tokens_by_rule
from .parts import media_parts

_AROUND_A_MESSAGE = 4
"""Its role and delimiters, about: as OpenAI's cookbook counts them for its models."""
_AROUND_A_TOOL = 8
OF_A_NOTE = 60
"""A note that a file was left out."""
_IMAGES_OF_A_VIDEO = 16


@dataclass(frozen=True, slots=True)
class _Usual:
    """What is assumed of a kind of file: `rule` if the vendor of a model has published none, `facts` if the file was
    not measured. These are of one with `size` bytes: the length of another one is in proportion. As text, each page,
    second or image has `as_text` tokens.
    """

    rule: TokenRule
    facts: MediaFacts
    size: int
    as_text: int

    def facts_of(self, part: MediaPart, measured: MediaFacts | None) -> MediaFacts:
        """Returns the facts of a file, with those that are not known as its size suggests."""
        known = measured or MediaFacts()
        share = 1.0 if part.blob.size is None else part.blob.size / self.size
        pages, seconds = self.facts.pages, self.facts.seconds
        return MediaFacts(
            width=known.width or self.facts.width,
            height=known.height or self.facts.height,
            pages=known.pages or (None if pages is None else max(1, math.ceil(pages * share))),
            seconds=known.seconds or (None if seconds is None else max(1.0, seconds * share)),
        )


_USUAL: Mapping[TokenKind, _Usual] = {
    "image": _Usual(
        TokenRule("area", pixels=750, max_edge=1568, most=1600), MediaFacts(width=1024, height=1024), 500_000, 300
    ),
    "pdf": _Usual(TokenRule("page", 1500), MediaFacts(pages=10), 500_000, 600),
    "audio": _Usual(TokenRule("second", 32), MediaFacts(seconds=60.0), 960_000, 4),
    "video": _Usual(TokenRule("second", 300), MediaFacts(seconds=60.0), 15_000_000, 4),
}


_UNKNOWN_MODEL = ModelProfile()


def estimated_tokens(
    call: ModelCall, profile: ModelProfile = _UNKNOWN_MODEL, decisions: Sequence[MediaDecision] = ()
) -> TokenCount:
    """Returns an estimate of the input tokens of a call: its messages, tools, answer type and files.

    Of a lowered call, `decisions` say how its files are sent and what was measured of them. A file without one is taken
    as it is, and one that was not measured as long as its size suggests.
    """
    decided = {decision.part_path: decision for decision in decisions}
    of_files = sum(_of_file(part, decided.get(path), profile) for path, part in media_parts(call))
    return TokenCount(tokens_beside_files(call) + of_files, estimated=True)


def audio_tokens(call: ModelCall, profile: ModelProfile, decisions: Sequence[MediaDecision]) -> int:
    """Returns an estimate of the tokens of recordings that are sent natively: vendors charge more for them."""
    parts = dict(media_parts(call))
    heard = [each for each in decisions if each.kind == "audio" and each.route == "native"]
    return sum(_of_file(parts[each.part_path], each, profile) for each in heard)


def tokens_beside_files(call: ModelCall) -> int:
    """Returns an estimate of the input tokens of a call without those of its files."""
    tokens = sum(map(_of_part, (part for message in call.messages for part in message.parts)))
    tokens += _AROUND_A_MESSAGE * len(call.messages)
    for tool in call.tools:
        if not tool.defer:
            tokens += _AROUND_A_TOOL + text_tokens(f"{tool.name} {tool.description}") + _of_json(tool.parameters)
    tokens += sum(_AROUND_A_TOOL + _of_json(tool.options) for tool in call.hosted_tools)
    tools_of_vendor = call.provider_options.get(call.provider, {}).get("tools")
    if tools_of_vendor:
        tokens += _of_json(tools_of_vendor)
    if call.output is not None:
        tokens += _AROUND_A_TOOL + _of_json(call.output.schema)
    return tokens


def _of_part(part: Part) -> int:
    """Returns the tokens of a part, without those of files."""
    if isinstance(part, TextPart | ReasoningPart):
        return text_tokens(part.text)
    if isinstance(part, ToolCall | HostedToolCall):
        return _AROUND_A_MESSAGE + text_tokens(f"{part.name} {part.arguments_text}")
    if isinstance(part, ToolResult | HostedToolResult):
        return _AROUND_A_MESSAGE + sum(text_tokens(each.text) for each in part.content if isinstance(each, TextPart))
    return _of_json(part.data) if isinstance(part, OpaquePart) else 0


def _of_json(value: object) -> int:
    return text_tokens(json_of(value).decode())


def _of_file(part: MediaPart, decision: MediaDecision | None, profile: ModelProfile) -> int:
    if decision is None:
        return text_file_tokens(part) if part.blob.media_type.startswith("text/") else _as_it_is(part, None, profile)
    if decision.tokens is not None:
        return decision.tokens
    if decision.route == "native":
        return _as_it_is(part, decision, profile)
    if decision.route == "inline":
        return text_file_tokens(part)
    return OF_A_NOTE if decision.route == "left_out" else _converted(part, decision, profile)


def _as_it_is(part: MediaPart, decision: MediaDecision | None, profile: ModelProfile) -> int:
    """Returns the tokens of a file that is sent natively."""
    kind = token_kind(part) or "pdf"
    facts = _USUAL[kind].facts_of(part, None if decision is None else decision.facts)
    rule = profile.media_tokens.get(kind, _USUAL[kind].rule)
    return tokens_by_rule(rule, part, facts, {} if decision is None else decision.fit, frozenset()) or 0


def _converted(part: MediaPart, decision: MediaDecision, profile: ModelProfile) -> int:
    """Returns the tokens of what a file will be converted to: images, or else a text."""
    kind = token_kind(part) or "pdf"
    facts = _USUAL[kind].facts_of(part, decision.facts)
    as_text = math.ceil((facts.pages or facts.seconds or 1) * _USUAL[kind].as_text)
    if not any(output.startswith("image/") for output in decision.outputs):
        return as_text
    size = _USUAL["image"].facts
    each = image_tokens(size.width or 1, size.height or 1, profile.media_tokens.get("image", _USUAL["image"].rule))
    count = _IMAGES_OF_A_VIDEO if kind == "video" else facts.pages or 1
    spoken = as_text if kind == "video" and "text" in decision.outputs else 0
    return each * min(count, decision.fit.get("images", count)) + spoken
