"""Tools of Anthropic's own types that its clients run, as functions of the same names and arguments.

Source: platform.claude.com/docs/en/agents-and-tools/tool-use, the pages "Bash tool", "Text editor tool", "Memory tool"
and "Computer use tool"; the commands of the memory tool are types of the anthropic package 2.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.errors import AbstractCoreError, InvalidInputError
from abstractcore.ports import StreamRenderer, Transpiler
from abstractcore.schema import CallWarning, Delta, ReplyStart, WireRequest, WireResponse

from ..requests import RequestHead
from .base import ClientDialect, ClientRequest, ReplyStamp, StampedRenderer
from .client_tools import ClientToolFunction, client_function, refuse_client_tool, schema

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_POINT = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2, "description": "x and y in pixels"}
_RANGE = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2, "description": "first and last line, from 1"}


def _commands(*names: str) -> dict[str, Any]:
    return {"type": "string", "enum": [*names]}


_BASH = schema(
    {"command": _TEXT, "restart": {"type": "boolean", "description": "Restarts the shell instead of a command."}}, []
)
_EDITS: dict[str, Any] = {
    "path": _TEXT,
    "view_range": _RANGE,
    "file_text": {**_TEXT, "description": "for create: the content of the file"},
    "old_str": {**_TEXT, "description": "for str_replace: the text to replace, which is in the file once"},
    "new_str": {**_TEXT, "description": "for str_replace: the text in its place"},
    "insert_line": {**_NUMBER, "description": "for insert: the line after which the text is inserted, 0 for the first"},
    "insert_text": {**_TEXT, "description": "for insert: the text"},
}
_EDITOR = schema({"command": _commands("view", "create", "str_replace", "insert"), **_EDITS}, ["command", "path"])
_OLD_EDITOR = schema(
    {
        "command": _commands("view", "create", "str_replace", "insert", "undo_edit"),
        **{name: _EDITS[name] for name in _EDITS if name != "insert_text"},
    },
    ["command", "path"],
)
_MEMORY = schema(
    {
        "command": _commands("view", "create", "str_replace", "insert", "delete", "rename"),
        **_EDITS,
        "old_path": {**_TEXT, "description": "for rename"},
        "new_path": {**_TEXT, "description": "for rename"},
    },
    ["command"],
)
_ACTIONS = _commands(
    *("key", "hold_key", "type", "cursor_position", "mouse_move", "left_mouse_down", "left_mouse_up", "left_click"),
    *("left_click_drag", "right_click", "middle_click", "double_click", "triple_click", "scroll", "wait"),
    *("screenshot", "zoom"),
)
_COMPUTER = schema(
    {
        "action": _ACTIONS,
        "coordinate": _POINT,
        "start_coordinate": _POINT,
        "text": {**_TEXT, "description": "the text to type, or keys such as ctrl+s"},
        "scroll_direction": _commands("up", "down", "left", "right"),
        "scroll_amount": _NUMBER,
        "duration": {"type": "number", "description": "seconds, for hold_key and wait"},
        "region": {"type": "array", "items": _NUMBER, "description": "for zoom: x and y of two corners"},
    },
    ["action"],
)
_FUNCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "bash_": ("Runs a command in a shell of the user's machine that stays open.", _BASH),
    "text_editor_20241022": ("Shows, creates and changes text files.", _OLD_EDITOR),
    "text_editor_20250124": ("Shows, creates and changes text files.", _OLD_EDITOR),
    "text_editor_": ("Shows, creates and changes text files.", _EDITOR),
    "memory_": ("Reads and writes the files below /memories, which last longer than this conversation.", _MEMORY),
    "computer_2": ("Uses the screen, the mouse and the keyboard of a computer.", _COMPUTER),
}
"""By the beginning of the type."""
_REFUSED = ("computer_toolset_", "browser_toolset_")
_DISPLAY = ("display_width_px", "display_height_px")


def anthropic_tools(definition: Mapping[str, Any]) -> tuple[ClientToolFunction, ...] | None:
    """Returns the functions for a tool; None for one that the provider runs. Raises `InvalidInputError` for wrong
    values, and `UnsupportedContentError` for a toolset, whose tools the request does not describe.
    """
    kind = str(definition.get("type"))
    if kind.startswith(_REFUSED):
        refuse_client_tool(kind)
    found = next((_FUNCTIONS[beginning] for beginning in _FUNCTIONS if kind.startswith(beginning)), None)
    if found is None:
        return None
    description, parameters = found
    if all(isinstance(definition.get(name), int) for name in _DISPLAY):
        description += f" The screen has {definition[_DISPLAY[0]]} x {definition[_DISPLAY[1]]} pixels."
    spec = client_function(definition.get("name"), description, parameters)
    return (ClientToolFunction(spec, spec.name),)


_ATTRIBUTION = "x-anthropic-billing-header:"
"""The beginning of a line of the system prompt for Anthropic's accounts, which Claude Code writes. It is another one in
each request, so that nothing after it would be found in another vendor's cache.
"""
_TOO_LARGE = 413
_NO_TOKENS = b'"usage":{"input_tokens":0,'


class AnthropicDialect(ClientDialect):
    """Anthropic's Messages. Betas come in a header only: a field of that name would become one at the provider."""

    name = "anthropic"
    format = "anthropic_messages"
    vendors = ("anthropic",)
    id_header = "request-id"
    id_prefix = "msg_"
    kept_headers = ("anthropic-beta",)
    needed_fields = frozenset({"container", "mcp_servers"})
    model_paths = (("model",), ("message", "model"))
    arguments = "pieces"
    counts_first = True
    reply_fields = frozenset(
        {
            "container",
            "content",
            "context_management",
            "diagnostics",
            "id",
            "input_transformations",
            "model",
            "role",
            "stop_details",
            "stop_reason",
            "stop_sequence",
            "type",
            "usage",
        }
    )

    def read(self, request: RequestHead, body: bytes) -> ClientRequest:
        """Returns a request as far as the server reads it; raises `InvalidInputError` for betas in the body."""
        client_request = super().read(request, body)
        if "betas" in client_request.data:
            raise InvalidInputError("betas are named in the header anthropic-beta", path="betas")
        return client_request

    def for_others(self, client_request: ClientRequest) -> tuple[WireRequest, list[CallWarning]]:
        """Returns a request without the line for Anthropic's accounts."""
        if _ATTRIBUTION.encode() not in client_request.wire.body:
            return client_request.wire, []
        data: dict[str, Any] = json.loads(client_request.wire.body)
        given = data.get("system")
        left = _without_attribution(given)
        if left == given:
            return client_request.wire, []
        data["system"] = left
        message = "the line for Anthropic's accounts is sent to Anthropic alone"
        return replace(client_request.wire, body=to_json(data)), [CallWarning("text_left_out", "system", message)]

    def client_tools(self, definition: Mapping[str, Any]) -> tuple[ClientToolFunction, ...] | None:
        """Returns the function for a shell, an editor, the memory or a computer."""
        return anthropic_tools(definition)

    def render_count(self, tokens: int) -> bytes:
        """Returns a count of tokens."""
        return to_json({"input_tokens": tokens})

    def heartbeat(self, client_request: ClientRequest, stamp: ReplyStamp, *, begun: bool) -> bytes:
        """Returns Anthropic's own event for it."""
        return b'event: ping\ndata: {"type":"ping"}\n\n'

    def renderer(
        self, transpiler: Transpiler, client_request: ClientRequest, stamp: ReplyStamp, choice: int = 0
    ) -> StreamRenderer:
        """Returns the renderer of the events."""
        return CountedRenderer(transpiler.renderer(), self.new_id(stamp), stamp.input_tokens)

    def failure(self, transpiler: Transpiler, error: AbstractCoreError, status: int | None = None) -> WireResponse:
        """Returns the response for an error; that of a body that is too large has a type of its own."""
        response = super().failure(transpiler, error, status)
        if status != _TOO_LARGE:
            return response
        body = json.loads(response.body)
        body["error"]["type"] = "request_too_large"
        return replace(response, body=json.dumps(body).encode())


def _without_attribution(system: Any) -> Any:
    """Returns a system prompt, a text or blocks, without the lines of attribution; None if nothing is left."""
    if isinstance(system, str):
        lines = [line for line in system.splitlines(keepends=True) if not line.startswith(_ATTRIBUTION)]
        return "".join(lines) or None
    if not isinstance(system, list):
        return system
    blocks = [_block_without(block) for block in cast("list[object]", system)]
    return [block for block in blocks if block is not None] or None


def _block_without(block: object) -> object:
    if not isinstance(block, dict):
        return block
    given = cast("dict[str, Any]", block)
    text = given.get("text")
    if not isinstance(text, str) or not text:
        return given
    left = _without_attribution(text)
    return None if left is None else {**given, "text": left}


class CountedRenderer(StampedRenderer):
    """Writes events of which the first one has the tokens of the input: clients show from it how full the context is,
    and compact the conversation.
    """

    def __init__(self, inner: StreamRenderer, id: str, input_tokens: int) -> None:
        super().__init__(inner, id)
        self._tokens = b'"usage":{"input_tokens":%d,' % input_tokens

    def feed(self, delta: Delta) -> bytes:
        """Returns the events of a delta."""
        events = super().feed(delta)
        return events.replace(_NO_TOKENS, self._tokens, 1) if isinstance(delta, ReplyStart) else events
