"""Calls and replies of this format, made up."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import (
    AudioPart,
    Blob,
    CachePoint,
    Citation,
    ContentPart,
    DocumentPart,
    HostedTool,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolResult,
)
from abstractcore.testing import strategies as made
from abstractcore_providers.openai_responses.items import read_item

PROVIDER = "openai-responses"
_KEPT = st.builds(Blob.from_provider_file, st.just(PROVIDER), made.names(), st.just("image/png"))
_AT_URL = st.builds(Blob.from_url, made.names().map("https://example.com/".__add__), st.just("image/png"))
_CACHE = st.none() | st.builds(CachePoint, st.sampled_from([None, 1800, 43200, 60]))


def images() -> SearchStrategy[ImagePart]:
    """Images in every form that can be sent."""
    details = st.sampled_from([None, "auto", "low", "high"])
    return st.builds(ImagePart, made.blobs("image/png", "image/jpeg") | _KEPT | _AT_URL, details, _CACHE)


def documents() -> SearchStrategy[DocumentPart]:
    """Documents in every form that can be sent."""
    return st.builds(DocumentPart, made.blobs("application/pdf", "text/markdown") | _KEPT | _AT_URL, _CACHE)


def content() -> SearchStrategy[ContentPart]:
    """What a user's message of this format can hold."""
    optional = st.none() | made.names()
    audio = st.builds(AudioPart, made.blobs("audio/wav", "audio/mpeg"), optional, optional, made.cache_points())
    return st.one_of(made.text_parts(), images(), documents(), audio)


def tool_content() -> SearchStrategy[ContentPart]:
    """What a tool's result can hold."""
    return st.one_of(made.text_parts(), images(), documents())


def citations() -> SearchStrategy[Citation]:
    """Citations of pages and files."""
    offsets = st.none() | st.integers(0, 20)
    metadata = st.sampled_from(
        [
            {},
            {"type": "file_citation"},
            {"type": "container_file_citation", "container_id": "c"},
            {"type": "container_file_citation", "container_id": "c", "odd": [1]},
            {"type": "odd"},
        ]
    )
    return st.builds(Citation, made.names(), st.none() | made.names(), st.none(), offsets, offsets, metadata)


_ITEMS: tuple[dict[str, Any], ...] = (
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "a"}},
    {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["a"], "results": [{"text": "b"}]},
    {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "status": "completed",
        "container_id": "c",
        "code": "1",
        "outputs": [{"type": "logs", "logs": "1"}, {"type": "image", "url": "https://example.com/a.png"}],
    },
    {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAAA"},
    {"type": "mcp_call", "id": "mcp_1", "server_label": "s", "name": "n", "arguments": "{}", "output": "o"},
    {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "c",
        "status": "completed",
        "pending_safety_checks": [],
        "action": {"type": "wait"},
    },
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"},
    {"type": "mcp_approval_request", "id": "mcpr_1", "arguments": "{}", "name": "n", "server_label": "s"},
    {"type": "reasoning", "id": "rs_abc", "summary": [], "encrypted_content": "gAAA"},
    {
        "type": "reasoning",
        "id": "rs_abd",
        "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
        "encrypted_content": "gAAA",
    },
    {"type": "message", "id": "msg_a", "phase": "commentary", "content": [{"type": "output_text", "text": "a"}]},
    {"type": "function_call", "id": "fc_a", "call_id": "c", "name": "n", "arguments": "{}", "namespace": "x"},
)


def items(origin: str | None) -> SearchStrategy[list[Part]]:
    """Parts as the provider's own items give them."""
    return st.sampled_from(_ITEMS).map(lambda item: read_item(item, PROVIDER, origin, 0))


def _mixed(call: ModelCall, own: list[list[Part]], answer: Message | None) -> ModelCall:
    """`call` with another turn, of the provider's own parts and of an item that answers them."""
    parts = [part for item in own for part in item if getattr(part, "id", None) != "c"]
    more = [] if not parts else [Message.user("more"), Message("assistant", tuple(parts))]
    return call.with_(messages=(*call.messages, *more, *([] if answer is None else [answer])))


def calls() -> SearchStrategy[ModelCall]:
    """Calls that can be sent, but for a provider option here and there."""
    hosted = made.hosted_tools()
    screens = {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot"}}
    answers = st.just(Message("user", (OpaquePart(PROVIDER, "computer_call_output", screens),)))
    origin = f"{PROVIDER}/gpt-6"
    plain = made.calls(PROVIDER, content(), tool_content(), hosted)
    own = st.lists(items(origin), max_size=4)
    return st.builds(_mixed, plain.map(lambda call: call.with_(model="gpt-6")), own, st.none() | answers)


def _with_own(reply: ModelReply, own: list[list[Part]], cited: TextPart | None) -> ModelReply:
    taken = {call.id for call in reply.tool_calls}
    parts = [part for item in own for part in item if getattr(part, "id", None) not in taken]
    origin = f"{reply.provider}/{reply.model}" if reply.model else None
    owned = (replace(part, origin=origin) if isinstance(part, ReasoningPart) else part for part in parts)
    return replace(reply, parts=(*reply.parts, *owned, *([] if cited is None else [cited])))


def replies() -> SearchStrategy[ModelReply]:
    """Replies with every kind of part, the provider's own items among them."""
    cited = st.builds(TextPart, made.texts(min_size=1), st.lists(citations(), max_size=2).map(tuple))
    return st.builds(_with_own, made.replies(PROVIDER), st.lists(items(None), max_size=3), st.none() | cited)


__all__ = ["PROVIDER", "HostedTool", "ToolResult", "calls", "content", "replies", "tool_content"]
