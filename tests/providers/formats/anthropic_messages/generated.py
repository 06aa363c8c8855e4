"""Generated calls and replies of this format."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.schema import (
    AudioPart,
    Blob,
    Citation,
    ContentPart,
    DocumentPart,
    HostedTool,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
)
from abstractcore.testing import strategies
from abstractcore_providers.formats.anthropic_messages.blocks import result_text

PROVIDER = "anthropic"
_URLS = strategies.names().map("https://example.com/".__add__)
_CACHE = st.none() | strategies.cache_points()
_PAGE = {"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "x"}
_IDS = st.sampled_from(["a", "b"])
_WEB = {"type": "web_search_tool_result", "content": [_PAGE]}
_RAN = {"type": "code_execution_result", "stdout": "1\n", "stderr": "", "return_code": 0, "content": []}
_CODE = {"type": "code_execution_tool_result", "content": _RAN}
SEARCHES = st.sampled_from(
    [
        HostedTool("tool_search"),
        HostedTool("tool_search", {"type": "tool_search_tool_regex_20251119"}),
        HostedTool("tool_search", {"type": "tool_search_tool_bm25", "cache_control": {"type": "ephemeral"}}),
    ]
)
"""Tool searches, by words and by patterns."""


def _kept(media_type: str) -> SearchStrategy[Blob]:
    return st.builds(Blob.from_provider_file, st.just(PROVIDER), strategies.names(), st.just(media_type))


def content() -> SearchStrategy[ContentPart]:
    """What a user's message, and a tool's result, can hold."""
    pictures = strategies.blobs("image/png", "image/jpeg") | st.builds(Blob.from_url, _URLS, st.just("image/png"))
    details = st.sampled_from([None, "auto", "low", "high"])
    texts = st.builds(Blob.from_bytes, strategies.texts().map(str.encode), st.sampled_from(["text/plain", "text/csv"]))
    documents = (
        strategies.blobs("application/pdf")
        | texts
        | st.builds(Blob.from_url, _URLS, st.just("application/pdf"))
        | _kept("application/pdf")
    )
    return st.one_of(
        strategies.text_parts(),
        st.builds(ImagePart, pictures | _kept("image/png"), details, _CACHE),
        st.builds(DocumentPart, documents, _CACHE),
    )


def citations() -> SearchStrategy[Citation]:
    """Citations of the vendor, and others."""
    number, text = st.integers(0, 9), strategies.texts(min_size=1)
    char = {"type": st.just("char_location"), "document_index": number}
    char |= {"start_char_index": number, "end_char_index": number}
    search = {"type": st.just("search_result_location"), "search_result_index": number}
    search |= {"start_block_index": number, "end_block_index": number}
    spans = st.none() | st.integers(0, 6)
    own = st.builds(
        lambda title, quote, start, end, metadata: Citation(title or "", title, quote, start, end, metadata),
        st.none() | text,
        text,
        spans,
        spans,
        st.fixed_dictionaries(char, optional={"file_id": text}),
    )
    web = st.fixed_dictionaries({"encrypted_index": text}) | st.fixed_dictionaries(search)
    return own | st.builds(Citation, text, st.none() | text, text, spans, spans, web) | strategies.citations()


def said() -> SearchStrategy[Part]:
    """What only this format's models say."""
    queries = st.sampled_from(['{"query": "a"}', "{}", '{"b":1.10}'])
    metadata = st.sampled_from([{"type": "server_tool_use"}, {"type": "server_tool_use", "caller": {"type": "direct"}}])
    results: SearchStrategy[Any] = st.sampled_from([_WEB, _CODE])
    return st.one_of(
        st.builds(HostedToolCall, strategies.names(), st.just("web_search"), queries, metadata),
        st.builds(
            HostedToolCall,
            _IDS,
            st.sampled_from(["tool_search_tool_bm25", "tool_search_tool_regex"]),
            queries,
            metadata,
        ),
        st.builds(_found, _IDS, st.lists(strategies.names() | _IDS, max_size=2)),
        st.builds(lambda id, block: HostedToolResult(id, result_text(block), block), strategies.names(), results),
        st.builds(OpaquePart, st.just(PROVIDER), st.just("compaction"), st.just({"content": "c"})),
        st.builds(TextPart, strategies.texts(min_size=1), st.lists(citations(), max_size=3).map(tuple)),
    )


def _found(id: str, names: list[str]) -> HostedToolResult:
    """The result of a tool search."""
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    found = {"type": "tool_search_tool_search_result", "tool_references": references}
    block = {"type": "tool_search_tool_result", "content": found}
    return HostedToolResult(id, result_text(block), block)


def calls(provider: str = PROVIDER) -> SearchStrategy[ModelCall]:
    """Calls that can be sent, but for a provider option or a hosted tool here and there."""
    return st.builds(
        _with_answer,
        strategies.calls(provider, content(), content(), SEARCHES, strategies.item_options(provider)),
        st.lists(said() | _reasoning(), max_size=3),
    )


def _reasoning() -> SearchStrategy[Part]:
    return strategies.reasoning_parts()


def _with_answer(call: ModelCall, parts: list[Part]) -> ModelCall:
    """The call, with an answer of the same model before its last message."""
    origin = f"{call.provider}/{call.model}"
    own = [
        ReasoningPart(part.text, part.signature, part.redacted_data, origin)
        if isinstance(part, ReasoningPart)
        else part
        for part in parts
    ]
    own.append(TextPart("so"))
    return call.with_(messages=(Message.user("q"), Message.assistant(*own), *call.messages))


def replies() -> SearchStrategy[ModelReply]:
    """Replies with every kind of part, and the vendor's own."""
    return strategies.replies(PROVIDER, strategies.reply_parts() | said(), options=strategies.item_options(PROVIDER))


def calls_with_thinking_options() -> SearchStrategy[ModelCall]:
    """Calls with provider options beside their thinking."""
    drop, refuse = ({"prefix_mismatch_behavior": behaviour} for behaviour in ("drop_block", "error"))
    options: SearchStrategy[Any] = st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["adaptive", "disabled", "between_tools", "enabled"]),
            "budget_tokens": st.just(2000),
            "display": st.sampled_from(["summarized", "omitted", None]),
            "block_binding": st.sampled_from([drop, refuse]),
            "x": st.just(1),
        },
    )
    effort: SearchStrategy[Any] = st.sampled_from(["low", "xhigh", "max", "new"]).map(lambda effort: {"effort": effort})
    either: SearchStrategy[Any] = st.fixed_dictionaries({}, optional={"thinking": options, "output_config": effort})
    return st.builds(lambda call, given: call.with_(provider_options={PROVIDER: given}), calls(), either)


def spoken() -> SearchStrategy[Part]:
    """Content that no message here can hold."""
    return st.builds(AudioPart, strategies.blobs("audio/wav"))
