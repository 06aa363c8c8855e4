"""Built-in tools that the caller runs: items of the model, read as tool calls and written back.

Reasoning items, and reasoning parts of the schema, converted both ways.

The item's further fields are options of the call, including its type, which distinguishes it from a function call.
Which items the caller must answer: `ResponseOutputItem` and `ResponseInputItemParam` in the types of the `openai`
package 3.54, and https://developers.openai.com/api/docs/guides/tools-shell.

An item with several summaries is as many parts, all with the item's id as signature; the last has the encrypted
content. Raw reasoning, which servers of open models send as the item's content, has a mark after the id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, Literal, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, Part, ReasoningPart, SchemaError, ToolCall, to_data

from ...common.call_options import fields_for, read_options
from ...common.reading import Object, as_object, objects_of, text_of
from ...common.reading import text_of as text_at

_OURS = re.compile(r"(rs|msg|fc|sh|apc|ctc|tsc)_\d{1,9}")
"""Generated ids; OpenAI's are longer."""
_RAW = "/content"
KINDS = ("summary", "content")
"""The fields of an item with reasoning, in their order."""
_PACKED = "abstractcore:"


def item_id(item: Object) -> str | None:
    """Returns the vendor's id of an item; None for a generated one."""
    id = text_of(item, "id")
    return None if id is None or _OURS.fullmatch(id) else id or None


def read_reasoning(item: Object, origin: str | None) -> list[Part]:
    """Returns the parts of a reasoning item: at least one."""
    signature, redacted = signature_and_redacted(item)
    *some, last = [
        ReasoningPart(text_of(entry, "text") or "", signature_of(kind, signature), None, origin)
        for kind in KINDS
        for entry in objects_of(item, kind)
    ] or [ReasoningPart("", signature, None, origin)]
    return [*some, replace(last, redacted_data=redacted)]


def signature_of(kind: str, id: str | None) -> str | None:
    """Returns the mark of a part of the item `id` as one of its summaries or contents."""
    return id if kind == "summary" else f"{id or ''}{_RAW}"


def is_raw(part: ReasoningPart) -> bool:
    """Whether it is content of its item, not a summary."""
    return (part.signature or "").endswith(_RAW)


def _id_of(part: ReasoningPart) -> str | None:
    return part.signature and part.signature.removesuffix(_RAW)


def signature_and_redacted(item: Object) -> tuple[str | None, str | None]:
    """Returns the signature and the redacted data of an item."""
    encrypted = text_of(item, "encrypted_content")
    if encrypted is not None and encrypted.startswith(_PACKED):
        unpacked = _unpacked(encrypted.removeprefix(_PACKED))
        if unpacked is not None:
            return unpacked
    return item_id(item), encrypted or None


def _unpacked(text: str) -> tuple[str | None, str | None] | None:
    try:
        signature, redacted = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    good = all(value is None or isinstance(value, str) for value in (signature, redacted))
    return cast("tuple[str | None, str | None]", (signature, redacted)) if good else None


def render_reasoning(part: ReasoningPart, id: str) -> Object:
    """Returns the item for a client of our server; it includes the vendor's signature, for the client to send back."""
    item: Object = {"type": "reasoning", "id": id, "summary": _summary([part])}
    encrypted = part.redacted_data
    if part.signature is not None or (encrypted or "").startswith(_PACKED):
        encrypted = _PACKED + json.dumps([part.signature, part.redacted_data])
    return item if encrypted is None else {**item, "encrypted_content": encrypted}


def write_reasoning(parts: Sequence[ReasoningPart], id: str) -> Object:
    """Returns the item of `parts`, as `run_length` found them; one without an id gets `id`."""
    item: Object = {"type": "reasoning", "id": _id_of(parts[0]) or id}
    item["summary"] = _summary([part for part in parts if not is_raw(part)])
    content = [{"type": "reasoning_text", "text": part.text} for part in parts if is_raw(part)]
    if content:
        item["content"] = content
    if parts[-1].redacted_data is not None:
        item["encrypted_content"] = parts[-1].redacted_data
    return item


def _summary(parts: Sequence[ReasoningPart]) -> list[Object]:
    texts = [part.text for part in parts]
    return [] if texts == [""] else [{"type": "summary_text", "text": text} for text in texts]


def run_length(parts: Sequence[Part], start: int) -> int:
    """Returns how many of `parts`, from `start` on, are of one item: its summaries, then its contents."""
    length = 1
    for before, part in pairwise(islice(parts, start, None)):
        if not isinstance(before, ReasoningPart) or not isinstance(part, ReasoningPart):
            break
        if before.signature is None or _id_of(before) != _id_of(part) or before.redacted_data is not None:
            break
        if is_raw(before) and not is_raw(part):
            break
        length += 1
    return length


COMMANDS = "commands"
"""The field of a shell's action that is streamed."""
_SHELL_OUTPUT = "shell_call_output"


@dataclass(frozen=True, slots=True)
class ClientToolItem:
    """One type of item that the caller answers. `form` says how the arguments stand in the item.

    * fields: each of `fields` is an argument.
    * object: the first of `fields` is the object of all arguments.
    * text: the first of `fields` is free text, which need not be JSON; `name` is the item's.
    """

    call: str
    """The type of the item."""
    output: str
    """The type of the item that answers it."""
    fields: tuple[str, ...]
    name: str | None = None
    """The name of the tool in calls."""
    form: Literal["fields", "object", "text"] = "object"
    id_field: str = "call_id"
    prefix: str | None = None
    """The beginning of generated ids; None for an item whose id every request must have."""
    has_status: bool = True

    def read(self, item: Object, provider: str, *, stored: bool) -> ToolCall:
        """Reads the call in an item, with the vendor's id, which may be empty."""
        known = {self.id_field, "status", *self.fields}
        name = self.name
        if name is None:
            known.add("name")
            name = text_at(item, "name") or ""
        if self.prefix is not None and (not stored or item_id(item) is None):
            known.add("id")
        if item.get("caller") == {"type": "direct"}:
            known.add("caller")
        id = text_at(item, self.id_field) or text_at(item, "id") or ""
        return ToolCall(id, name, self._text(item), provider_options=read_options(item, known, provider))

    def _text(self, item: Object) -> str:
        if self.form == "text":
            return text_at(item, self.fields[0]) or ""
        if self.form == "fields":
            return self.text_of({name: value for name, value in item.items() if name in self.fields})
        return self.text_of(item.get(self.fields[0]))

    def text_of(self, arguments: Any) -> str:
        """Returns the text of arguments. Fields of the format have a fixed order, and null counts as absent."""
        if isinstance(arguments, dict) and self.name != "tool_search":
            given = cast(Object, arguments)
            first = (name for name in (COMMANDS, *self.fields) if name in given)
            arguments = {name: given[name] for name in (*first, *given) if given[name] is not None}
        return json.dumps(arguments, ensure_ascii=False)

    def asked(self, call: ToolCall) -> Object | None:
        """Returns the fields for what is asked; None for arguments that the item cannot have."""
        if self.form == "text":
            return {"name": call.name, self.fields[0]: call.arguments_text}
        if call.arguments is None:
            return None
        arguments = cast(Object, to_data(call.arguments))
        return {self.fields[0]: arguments} if self.form == "object" else arguments


_ALL = (
    ClientToolItem("computer_call", "computer_call_output", ("action", "actions"), "computer", "fields"),
    ClientToolItem("shell_call", _SHELL_OUTPUT, ("action",), "shell", prefix="sh"),
    ClientToolItem("local_shell_call", "local_shell_call_output", ("action",), "local_shell"),
    ClientToolItem("apply_patch_call", "apply_patch_call_output", ("operation",), "apply_patch", prefix="apc"),
    ClientToolItem(
        "custom_tool_call", "custom_tool_call_output", ("input",), form="text", prefix="ctc", has_status=False
    ),
    ClientToolItem("tool_search_call", "tool_search_output", ("arguments",), "tool_search", prefix="tsc"),
    ClientToolItem(
        "mcp_approval_request",
        "mcp_approval_response",
        ("server_label", "name", "arguments"),
        "mcp_approval",
        "fields",
        id_field="id",
        has_status=False,
    ),
)
TOOLS = {tool.call: tool for tool in _ALL}
"""By the type of the call's item."""
OUTPUTS = {tool.output: tool for tool in _ALL}
"""By the type of the item that answers it."""


def client_tool(item: Object, hosted: Container[str] = ()) -> ClientToolItem | None:
    """Returns the tool that the caller must run for an item; None if there is none, or the provider runs it.

    A shell that runs in a container is the provider's, as is one without an environment whose call is among `hosted`.
    """
    kind = item.get("type")
    tool = TOOLS.get(kind) if isinstance(kind, str) else None
    if tool is None or (tool.form == "object" and not isinstance(item.get(tool.fields[0]), dict)):
        return None
    if tool.name == "tool_search":
        return tool if item.get("execution") == "client" else None
    if tool.name != "shell":
        return tool
    environment = item.get("environment")
    if environment is not None:
        return tool if as_object(environment).get("type") == "local" else None
    return None if (text_at(item, "call_id") or "") in hosted else tool


def calls_client(items: Sequence[Object]) -> bool:
    """Whether the caller must answer one of these items."""
    if any(text_at(item, "type") == "function_call" for item in items):
        return True
    hosted = hosted_calls(items)
    return any(client_tool(item, hosted) is not None for item in items)


def hosted_output(item: Object) -> str | None:
    """Returns the id of the shell call that the provider ran and this item answers; None for any other item.

    The API sets the `id` of its own outputs; clients send theirs without one.
    """
    if item.get("type") != _SHELL_OUTPUT or not text_at(item, "id"):
        return None
    return text_at(item, "call_id") or None


def hosted_calls(items: Iterable[Object]) -> frozenset[str]:
    """Returns the ids of the shell calls among `items` that the provider ran."""
    found = (hosted_output(item) for item in items)
    return frozenset(id for id in found if id is not None)


def read_client_call(item: Object, provider: str, *, stored: bool, hosted: Container[str] = ()) -> ToolCall | None:
    """Returns the call of a tool that the caller runs; None for any other item, and for one that is not well-formed."""
    tool = client_tool(item, hosted)
    if tool is None:
        return None
    call = tool.read(item, provider, stored=stored)
    return call if client_item(call, provider) is not None else None


def called_tool(call: ToolCall, provider: str) -> ClientToolItem | None:
    """Returns the tool of a call that was read from an item; None for a function."""
    kind = fields_for(call, provider).get("type")
    return TOOLS.get(kind) if isinstance(kind, str) else None


def client_item(call: ToolCall, provider: str, number: int | None = None) -> Object | None:
    """Returns the item of `call`; None if it was not read from one. An item without an id gets one with `number`."""
    tool = called_tool(call, provider)
    asked = None if tool is None else tool.asked(call)
    if tool is None or asked is None:
        return None
    options = fields_for(call, provider)
    status: Object = {"status": "completed"} if tool.has_status else {}
    item = cast(Object, to_data({tool.id_field: call.id, **asked, **options, **status}))
    same = replace(call, signature=None, cache=None, provider_options={provider: options})
    try:
        if client_tool(item) is None or tool.read(item, provider, stored=True) != same:
            return None
    except SchemaError:
        return None
    if number is not None and tool.prefix is not None and "id" not in item:
        item["id"] = f"{tool.prefix}_{number}"
    return item


def fit_client_call(call: ToolCall, path: str, provider: str, warnings: list[CallWarning]) -> ToolCall:
    """Returns a call with its arguments as they are sent, with a warning if they were written otherwise.

    Raises `InvalidInputError` for one that was changed into what its item cannot have.
    """
    tool = called_tool(call, provider)
    if tool is None:
        return call
    sent = as_sent(call, tool)
    if client_item(sent, provider) is None:
        raise InvalidInputError(
            f"not a call of {call.name!r} that {tool.call!r} can have",
            path=path,
            hint="Send the call as it was received, or remove it with its result.",
        )
    if sent is not call:
        message = "arguments are sent as an object, without their original spelling"
        place, texts = f"{path}.arguments_text", (call.arguments_text, sent.arguments_text)
        warnings.append(CallWarning("arguments_rewritten", place, message, *texts))
    return sent


def as_sent(call: ToolCall, tool: ClientToolItem) -> ToolCall:
    """Returns the call with the text of its arguments as it is read from an item."""
    if tool.form == "text" or call.arguments is None:
        return call
    text = tool.text_of(to_data(call.arguments))
    return call if text == call.arguments_text else replace(call, arguments_text=text)


def calls_with_options(parts: Iterable[Part]) -> dict[str, ToolCall]:
    """Returns the calls among `parts` that may need another answer than a function's, by their ids."""
    return {part.id: part for part in parts if isinstance(part, ToolCall) and part.provider_options}
