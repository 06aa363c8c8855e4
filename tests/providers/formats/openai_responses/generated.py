"""Generated calls and replies of this format."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import (
    NO_OPTIONS,
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
    ProviderOptions,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from abstractcore.testing import strategies
from abstractcore_providers.formats.openai_responses.items import read_item

PROVIDER = "openai-responses"
_KEPT = st.builds(Blob.from_provider_file, st.just(PROVIDER), strategies.names(), st.just("image/png"))
_AT_URL = st.builds(Blob.from_url, strategies.names().map("https://example.com/".__add__), st.just("image/png"))
_CACHE = st.none() | st.builds(CachePoint, st.sampled_from([None, 1800, 43200, 60]))


def images() -> SearchStrategy[ImagePart]:
    """Images in every form that can be sent."""
    details = st.sampled_from([None, "auto", "low", "high"])
    return st.builds(ImagePart, strategies.blobs("image/png", "image/jpeg") | _KEPT | _AT_URL, details, _CACHE)


def documents() -> SearchStrategy[DocumentPart]:
    """Documents in every form that can be sent."""
    return st.builds(DocumentPart, strategies.blobs("application/pdf", "text/markdown") | _KEPT | _AT_URL, _CACHE)


def content() -> SearchStrategy[ContentPart]:
    """What a user's message of this format can hold."""
    optional = st.none() | strategies.names()
    audio = st.builds(
        AudioPart, strategies.blobs("audio/wav", "audio/mpeg"), optional, optional, strategies.cache_points()
    )
    return st.one_of(strategies.text_parts(), images(), documents(), audio)


def tool_content() -> SearchStrategy[ContentPart]:
    """What a tool's result can hold."""
    return st.one_of(strategies.text_parts(), images(), documents())


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
    return st.builds(
        Citation, strategies.names(), st.none() | strategies.names(), st.none(), offsets, offsets, metadata
    )


_ITEMS: tuple[dict[str, Any], ...] = (
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "a", "sources": [{"type": "url", "url": "https://a"}]},
    },
    {
        "type": "file_search_call",
        "id": "fs_1",
        "status": "completed",
        "queries": ["a"],
        "results": [{"file_id": "f", "text": "b"}],
    },
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
        "call_id": "c_action",
        "status": "completed",
        "pending_safety_checks": [],
        "action": {"type": "wait"},
    },
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"},
    {"type": "mcp_approval_request", "id": "mcpr_1", "arguments": "{}", "name": "n", "server_label": "s"},
    {
        "type": "shell_call",
        "id": "sh_abc",
        "call_id": "c_shell",
        "action": {"commands": ["ls", 'a"b\u00fc'], "timeout_ms": 1000, "max_output_length": 100},
        "environment": {"type": "local"},
        "caller": {"type": "program", "caller_id": "c_program"},
        "status": "completed",
    },
    {
        "type": "shell_call",
        "id": "sh_abd",
        "call_id": "c_hosted",
        "action": {"commands": ["ls"]},
        "environment": {"type": "container_reference", "container_id": "cntr_1"},
        "status": "completed",
    },
    {
        "type": "shell_call_output",
        "id": "sho_abd",
        "call_id": "c_hosted",
        "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        "status": "completed",
    },
    {
        "type": "local_shell_call",
        "id": "lsh_abc",
        "call_id": "c_local",
        "action": {"type": "exec", "command": ["ls"], "env": {}},
        "status": "completed",
    },
    {
        "type": "apply_patch_call",
        "id": "apc_abc",
        "call_id": "c_patch",
        "operation": {"type": "update_file", "path": "a.py", "diff": "@@"},
        "status": "completed",
    },
    {"type": "custom_tool_call", "id": "ctc_abc", "call_id": "c_custom", "name": "code", "input": "print(1)\n"},
    {
        "type": "tool_search_call",
        "id": "tsc_abc",
        "call_id": "c_search",
        "arguments": {"query": None},
        "execution": "client",
        "status": "completed",
    },
    {
        "type": "tool_search_call",
        "id": "tsc_abd",
        "call_id": None,
        "arguments": {"paths": ["a"]},
        "execution": "server",
        "status": "completed",
    },
    {
        "type": "tool_search_output",
        "id": "tso_abd",
        "call_id": None,
        "execution": "server",
        "tools": [],
        "status": "completed",
    },
    {"type": "program", "id": "prog_abc", "call_id": "c_program", "code": "1", "fingerprint": "f"},
    {"type": "reasoning", "id": "rs_abc", "summary": [], "encrypted_content": "gAAA"},
    {
        "type": "reasoning",
        "id": "rs_abd",
        "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
        "encrypted_content": "gAAA",
    },
    {"type": "reasoning", "id": "rs_abe", "summary": [], "content": [{"type": "reasoning_text", "text": "a"}]},
    {
        "type": "reasoning",
        "id": "rs_abf",
        "summary": [{"type": "summary_text", "text": "a"}],
        "content": [{"type": "reasoning_text", "text": "b"}, {"type": "reasoning_text", "text": "c"}],
        "encrypted_content": "gAAA",
    },
    {
        "type": "message",
        "id": "msg_b",
        "content": [{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "b"}],
    },
    {"type": "message", "id": "msg_a", "phase": "commentary", "content": [{"type": "output_text", "text": "a"}]},
    {"type": "function_call", "id": "fc_a", "call_id": "c_call", "name": "n", "arguments": "{}", "namespace": "x"},
)


def items(origin: str | None, *, stored: bool) -> SearchStrategy[list[Part]]:
    """Parts as decoded from the provider's own items."""
    chosen = st.lists(st.sampled_from(_ITEMS), max_size=4, unique_by=lambda item: item["id"])
    return chosen.map(
        lambda items: [part for item in items for part in read_item(item, PROVIDER, origin, stored=stored)]
    )


_CONTENTS: dict[str, tuple[str, ...]] = {
    "tool_search": ("[]", '[{"type": "custom", "name": "g"}]', '[ {"type":"custom","name":"g"} ]'),
    "mcp_approval": ('{"approve": true}', '{"approve": true, "reason": "a"}', '{"approve": false, "reason": "b"}'),
}
"""What the results of some tools must be."""


def _results(call: ToolCall, options: SearchStrategy[ProviderOptions]) -> SearchStrategy[ToolResult]:
    if call.name == "computer":
        screenshot = st.builds(
            ImagePart, st.just(Blob.from_url("https://example.com/a.png", "image/png")), provider_options=options
        )
        return st.builds(ToolResult, st.just(call.id), st.tuples(screenshot), provider_options=options)
    texts = st.sampled_from(_CONTENTS[call.name]) if call.name in _CONTENTS else strategies.texts(min_size=1)
    entries = st.sampled_from(
        [
            NO_OPTIONS,
            {PROVIDER: {"stderr": "a"}},
            {PROVIDER: {"stdout": ""}},
            {PROVIDER: {"outcome": {"type": "timeout"}}},
            {PROVIDER: {"outcome": {"type": "exit", "exit_code": 0}}},
        ]
    )
    said = st.builds(TextPart, texts, provider_options=entries if call.name == "shell" else options)
    own = options | st.just({PROVIDER: {"max_output_length": 100}}) if call.name == "shell" else options
    content = st.lists(said, min_size=1, max_size=1 if call.name in _CONTENTS else 2).map(tuple)
    return st.builds(ToolResult, st.just(call.id), content, is_error=st.booleans(), provider_options=own)


def _mixed(call: ModelCall, own: tuple[Message, ...], answer: Message | None) -> ModelCall:
    """`call` with another turn, of the provider's own parts, and of what answers them."""
    if not own:
        return call
    answers = [] if answer is None else [answer]
    return call.with_(messages=(*call.messages, Message.user("more"), *own, *answers))


def _answered(own: list[Part], options: SearchStrategy[ProviderOptions]) -> SearchStrategy[tuple[Message, ...]]:
    """The provider's own parts in a message, and the results of its calls."""
    if not own:
        return st.just(())
    said = Message("assistant", tuple(own))
    if not said.tool_calls:
        return st.just((said,))
    results = st.tuples(*(_results(call, options) for call in said.tool_calls))
    return results.map(lambda results: (said, Message.tool(*results)))


def calls() -> SearchStrategy[ModelCall]:
    """Calls that can be sent, but for a provider option here and there."""
    hosted = strategies.hosted_tools()
    raw: tuple[dict[str, Any], ...] = (
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {"type": "shell_call_output", "call_id": "c_shell", "output": []},
        {"type": "tool_search_output", "call_id": "c_search", "execution": "client", "tools": []},
    )
    answers = st.sampled_from([Message("user", (OpaquePart(PROVIDER, item["type"], item),)) for item in raw])
    origin = f"{PROVIDER}/gpt-6"
    options = strategies.item_options(PROVIDER)
    plain = strategies.calls(PROVIDER, content(), tool_content(), hosted, options)
    own = items(origin, stored=True).flatmap(lambda parts: _answered(parts, st.just(NO_OPTIONS) | options))
    sent = plain.map(lambda call: call.with_(model="gpt-6"))
    return st.builds(_mixed, sent, own, st.none() | answers)


def _with_own(reply: ModelReply, own: list[Part], cited: TextPart | None) -> ModelReply:
    taken = {call.id for call in reply.tool_calls}
    parts = [part for part in own if getattr(part, "id", None) not in taken]
    origin = f"{reply.provider}/{reply.model}" if reply.model else None
    owned = (replace(part, origin=origin) if isinstance(part, ReasoningPart) else part for part in parts)
    return replace(reply, parts=(*reply.parts, *owned, *([] if cited is None else [cited])))


def replies() -> SearchStrategy[ModelReply]:
    """Replies with every kind of part, the provider's own items among them."""
    cited = st.builds(TextPart, strategies.texts(min_size=1), st.lists(citations(), max_size=2).map(tuple))
    replies = strategies.replies(PROVIDER, options=strategies.item_options(PROVIDER))
    return st.builds(_with_own, replies, items(None, stored=True), st.none() | cited)


__all__ = ["PROVIDER", "HostedTool", "ToolResult", "calls", "content", "replies", "tool_content"]
