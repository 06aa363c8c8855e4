"""Tools of Anthropic's own types that its clients run, as functions of the same names and arguments.

Source: platform.claude.com/docs/en/agents-and-tools/tool-use, the pages "Bash tool", "Text editor tool", "Memory tool"
and "Computer use tool"; the commands of the memory tool are types of the anthropic package 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .client_tools import ClientTool, client_function, refuse_client_tool, schema

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


def anthropic_tools(definition: Mapping[str, Any]) -> tuple[ClientTool, ...] | None:
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
    return (ClientTool(spec, spec.name),)
