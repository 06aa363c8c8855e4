"""Built-in tools that the caller runs: calls, streamed or not, and what answers them."""

import json
from dataclasses import replace
from typing import Any

import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from abstractcore import Services, create_llm
from abstractcore.errors import InvalidInputError, ServerError, UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    CallWarning,
    HostedTool,
    HostedToolCall,
    ImagePart,
    Message,
    ModelReply,
    OpaquePart,
    PartDelta,
    TextPart,
    ToolCall,
    ToolCallDelta,
    ToolResult,
    accumulate,
    deltas_of,
)
from abstractcore.schema.blobs import Blob
from abstractcore.testing import check_call_losses, check_encode_again, check_reply_losses, check_stream
from tests.providers.formats.openai_responses.generated import PROVIDER
from tests.providers.formats.openai_responses.test_schemas import check_types
from tests.providers.formats.openai_responses.wire import (
    HERE,
    RESPONSES,
    added,
    answered,
    begin,
    body_of,
    call,
    decoded,
    done,
    end,
    events,
    faults,
    function_call,
    message,
    parsed,
    rendered_events,
    request,
    response,
    streamed,
)
from tests.providers.serving import serving

ASK = Message.user("hi")
EXIT = {"type": "exit", "exit_code": 0}
SHELL: dict[str, Any] = {
    "type": "shell_call",
    "id": "sh_abc",
    "call_id": "c1",
    "action": {"commands": ["ls", "pwd"], "timeout_ms": 1000, "max_output_length": 100},
    "environment": {"type": "local"},
    "status": "completed",
}
LOCAL_SHELL: dict[str, Any] = {
    "type": "local_shell_call",
    "id": "lsh_abc",
    "call_id": "c1",
    "action": {"type": "exec", "command": ["ls"], "env": {}},
    "status": "completed",
}
PATCH: dict[str, Any] = {
    "type": "apply_patch_call",
    "id": "apc_abc",
    "call_id": "c1",
    "operation": {"type": "update_file", "path": "a.py", "diff": "@@"},
    "status": "completed",
}
CUSTOM: dict[str, Any] = {
    "type": "custom_tool_call",
    "id": "ctc_abc",
    "call_id": "c1",
    "name": "code",
    "input": 'print("ü")\n',
}
SEARCH: dict[str, Any] = {
    "type": "tool_search_call",
    "id": "tsc_abc",
    "call_id": "c1",
    "arguments": {"goal": "ship"},
    "execution": "client",
    "status": "completed",
}
APPROVAL: dict[str, Any] = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "name": "roll",
    "arguments": '{"dice": 2}',
    "server_label": "games",
}
ITEMS = {item["type"]: item for item in (SHELL, LOCAL_SHELL, PATCH, CUSTOM, SEARCH, APPROVAL)}
every_item = pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
CALLS = {
    "shell_call": ("c1", "shell", json.dumps(SHELL["action"])),
    "local_shell_call": ("c1", "local_shell", json.dumps(LOCAL_SHELL["action"])),
    "apply_patch_call": ("c1", "apply_patch", json.dumps(PATCH["operation"])),
    "custom_tool_call": ("c1", "code", 'print("ü")\n'),
    "tool_search_call": ("c1", "tool_search", '{"goal": "ship"}'),
    "mcp_approval_request": (
        "mcpr_1",
        "mcp_approval",
        '{"server_label": "games", "name": "roll", "arguments": "{\\"dice\\": 2}"}',
    ),
}
"""The id, name and arguments of each call."""
SCHEMAS = {
    "shell_call": ("FunctionShellCallItemParam", "FunctionShellCallOutputItemParam"),
    "local_shell_call": ("LocalShellToolCall", "LocalShellToolCallOutput"),
    "apply_patch_call": ("ApplyPatchToolCallItemParam", "ApplyPatchToolCallOutputItemParam"),
    "custom_tool_call": ("CustomToolCall", "CustomToolCallOutput"),
    "tool_search_call": ("ToolSearchCallItemParam", "ToolSearchOutputItemParam"),
    "mcp_approval_request": ("MCPApprovalRequest", None),
}
"""The vendor's schemas of each item and its answer; None for one that requires fields which it does not describe."""
TOOLS = [{"type": "custom", "name": "f"}]


def result_of(item: dict[str, Any], *content: Any, is_error: bool = False, **options: Any) -> tuple[Any, Any]:
    """The items of a second turn: the call in `item` as it is sent back, and its answer by a result of `content`."""
    reply = answered(item)
    (asked,) = reply.tool_calls
    said = reply.message()
    assert said is not None
    result = asked.result(*content, is_error=is_error)
    if options:
        result = replace(result, provider_options={PROVIDER: options})
    given = call(ASK, said, Message.tool(result))
    check_call_losses(RESPONSES, given)
    check_encode_again(RESPONSES, given)
    body = body_of(given)
    check_types(body)
    for sent, schema in zip(body["input"][1:], SCHEMAS[item["type"]], strict=True):
        assert schema is None or faults(schema, sent) == []
    return body["input"][1], body["input"][2]


def warnings_of(item: dict[str, Any], result: ToolResult) -> tuple[CallWarning, ...]:
    said = answered(item).message()
    assert said is not None
    given = call(ASK, said, Message.tool(result))
    check_call_losses(RESPONSES, given)
    return RESPONSES.encode(given).warnings


# Calls


@every_item
def test_item_that_the_caller_must_answer_is_a_tool_call(item: dict[str, Any]):
    for reply in (answered(item), streamed(begin(), added(item), done(item), end(item))):
        (asked,) = reply.tool_calls
        assert reply.parts == (asked,)
        assert (asked.id, asked.name, asked.arguments_text) == CALLS[item["type"]]
        assert reply.finish_reason == "tool_calls"


@every_item
def test_call_is_sent_back_without_an_id_that_was_not_stored(item: dict[str, Any]):
    for stored in (False, True):
        said = answered(item, store=stored).message()
        assert said is not None
        (asked,) = said.tool_calls
        content = {"tool_search": "[]", "mcp_approval": '{"approve": true}'}.get(asked.name, "a")
        body = body_of(call(ASK, said, Message.tool(asked.result(content))))
        check_types(body)
        needed = stored or item["type"] in ("local_shell_call", "mcp_approval_request")
        assert body["input"][1] == {name: value for name, value in item.items() if needed or name != "id"}


@every_item
def test_call_through_the_server_side_is_the_same_item(item: dict[str, Any]):
    reply = replace(answered(item, store=True), provider_metadata={})
    body = json.loads(RESPONSES.render(reply).body)
    assert body["output"] == [item]
    (finished,) = [event for event in rendered_events(deltas_of(reply)) if event["type"].endswith("item.done")]
    assert finished["item"] == item
    check_reply_losses(RESPONSES, reply)
    check_stream(RESPONSES, reply)


@every_item
def test_item_without_an_id_is_rendered_with_one(item: dict[str, Any]):
    if item["type"] == "mcp_approval_request":
        return  # its id is that of the call
    reply = replace(answered(item, store=item["type"] == "local_shell_call"), provider_metadata={})
    body = json.loads(RESPONSES.render(reply).body)
    Response.model_validate(body)
    assert body["output"][0]["id"]
    for event in rendered_events(deltas_of(reply)):
        TypeAdapter(ResponseStreamEvent).validate_python(event)


@pytest.mark.parametrize(
    "items",
    [
        [{**SHELL, "environment": {"type": "container_reference", "container_id": "c"}}],
        [{**SHELL, "environment": {"type": "another"}}],
        [
            {**SHELL, "environment": None},
            {"type": "shell_call_output", "id": "sho_1", "call_id": "c1", "output": [], "status": "completed"},
        ],
        [
            {**SEARCH, "execution": "server", "call_id": None},
            {"type": "tool_search_output", "id": "tso_1", "call_id": None, "execution": "server", "tools": []},
        ],
        [{"type": "program", "id": "p_1", "call_id": "c1", "code": "1", "fingerprint": "f"}],
        [{"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []}],
    ],
    ids=["container", "unknown environment", "shell with output", "tool search", "program", "list of tools"],
)
def test_item_that_the_provider_carries_out_goes_back_unchanged(items: list[Any]):
    pieces = [event for index, item in enumerate(items) for event in (added(item, index), done(item, index))]
    reply = streamed(begin(), *pieces, end(*items))
    assert reply.finish_reason == "stop"
    assert reply.parts == answered(*items).parts == tuple(OpaquePart(PROVIDER, item["type"], item) for item in items)
    said = reply.message()
    assert said is not None
    given = call(ASK, said, ASK, hosted_tools=(HostedTool("tool_search"),))
    assert body_of(given)["input"][1:-1] == items
    check_call_losses(RESPONSES, given)
    check_encode_again(RESPONSES, given)
    check_reply_losses(RESPONSES, replace(reply, provider_metadata={}))
    check_stream(RESPONSES, replace(reply, provider_metadata={}))


def test_shell_without_an_environment_is_the_callers():
    item = {name: value for name, value in SHELL.items() if name != "environment"}
    assert [asked.name for asked in answered(item).tool_calls] == ["shell"]
    sent, answer = result_of(item, "a")
    assert "environment" not in sent
    assert answer["call_id"] == "c1"


@pytest.mark.parametrize(
    "item",
    [
        {**SHELL, "action": None},
        {**PATCH, "operation": "x"},
        {**SEARCH, "arguments": [1]},
        {**LOCAL_SHELL, "action": 5},
    ],
)
def test_call_without_readable_arguments_is_opaque_and_goes_back(item: dict[str, Any]):
    reply = answered(item)
    assert reply.parts == (OpaquePart(PROVIDER, item["type"], item),)
    assert reply.finish_reason == "stop"
    assert streamed(begin(), added(item), done(item), end(item)).parts == reply.parts
    said = reply.message()
    assert said is not None
    assert body_of(call(ASK, said))["input"][1] == item
    check_call_losses(RESPONSES, call(ASK, said))


def test_call_without_an_id_gets_one():
    items = [{**CUSTOM, "call_id": None, "id": None}, {**PATCH, "call_id": "c1"}, {**SHELL, "call_id": "c1"}]
    reply = answered(*items)
    assert [asked.id for asked in reply.tool_calls] == ["call_0", "c1", "call_2"]
    pieces = [event for index, item in enumerate(items) for event in (added(item, index), done(item, index))]
    assert streamed(begin(), *pieces, end(*items)).parts == reply.parts


def test_arguments_in_another_spelling_are_sent_with_a_warning():
    said = answered(PATCH).message()
    assert said is not None
    (asked,) = said.tool_calls
    respelled = replace(asked, arguments_text=json.dumps(PATCH["operation"], indent=2))
    given = call(ASK, Message.assistant(respelled), Message.tool(asked.result("ok")))
    (warning,) = RESPONSES.encode(given).warnings
    assert (warning.code, warning.path) == ("arguments_rewritten", "messages[1].parts[0].arguments_text")
    assert body_of(given)["input"][1]["operation"] == PATCH["operation"]
    check_call_losses(RESPONSES, given)


@pytest.mark.parametrize("arguments", ["[", "[1]"])
def test_arguments_that_its_item_cannot_have_are_refused(arguments: str):
    (asked,) = answered(SHELL).tool_calls
    changed = replace(asked, arguments_text=arguments)
    with pytest.raises(InvalidInputError, match="'shell_call'") as caught:
        RESPONSES.encode(call(ASK, Message.assistant(changed), Message.tool(asked.result("a"))))
    assert caught.value.path == "messages[1].parts[0]"
    reply = ModelReply((changed,), "tool_calls", model="m", provider=PROVIDER)
    assert [warning.path for warning in RESPONSES.render(reply).warnings] == ["parts[0]", "finish_reason"]


# Streams


def piece(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "output_index": 0, **fields}


def arguments_of(deltas: list[Any]) -> list[str]:
    return [delta.arguments_text for delta in deltas if isinstance(delta, ToolCallDelta)]


def test_input_of_a_custom_tool_is_streamed():
    pieces = [piece("custom_tool_call_input.delta", item_id="ctc_abc", delta=text) for text in ('print("', 'ü")')]
    finished = piece("custom_tool_call_input.done", item_id="ctc_abc", input=CUSTOM["input"])
    first = added({**CUSTOM, "input": ""})
    deltas = list(decoded([events([begin(), first, *pieces, finished, done(CUSTOM), end(CUSTOM)])]))
    assert arguments_of(deltas) == ['print("', 'ü")', "\n"]
    assert not any(isinstance(delta, PartDelta) for delta in deltas)
    assert accumulate(deltas).parts == answered(CUSTOM).parts


def command(kind: str, index: int, text: str) -> dict[str, Any]:
    return piece(f"shell_call_command.{kind}", command_index=index, **{"delta" if kind == "delta" else "command": text})


def test_commands_of_a_shell_are_streamed_as_json():
    item = {**SHELL, "action": {"timeout_ms": 5, "commands": ['echo "ü"', "pwd"], "max_output_length": None}}
    begun = added({**item, "action": {"commands": []}, "status": "in_progress"})
    pieces = [
        command("added", 0, ""),
        command("delta", 0, "echo "),
        command("delta", 0, '"ü"'),
        command("done", 0, 'echo "ü"'),
        command("added", 1, "p"),
        command("delta", 1, "wd"),
    ]
    deltas = list(decoded([events([begin(), begun, *pieces, done(item), end(item)])]))
    texts = ['{"commands": ["', "echo ", '\\"ü\\"', '", "', "p", "wd", '"], "timeout_ms": 5}']
    assert arguments_of(deltas) == texts
    assert accumulate(deltas).parts == answered(item).parts
    assert answered(item).tool_calls[0].arguments == {"commands": ['echo "ü"', "pwd"], "timeout_ms": 5}


@pytest.mark.parametrize(
    "pieces",
    [
        [command("added", 0, "ls"), command("added", 1, "other")],
        [command("added", 1, "pwd"), command("delta", 0, "ls")],
        [command("delta", 0, "ls")],
        [command("added", 0, "")] * 2,
        [{**command("added", 0, "x"), "command_index": "0"}],
        [piece("shell_call_command.delta", command_index=0, delta=5)],
    ],
)
def test_complete_item_overrides_streamed_commands(pieces: list[Any]):
    begun = added({**SHELL, "action": {"commands": []}})
    assert streamed(begin(), begun, *pieces, done(SHELL), end(SHELL)).parts == answered(SHELL).parts
    assert streamed(begin(), *pieces, done(SHELL), end(SHELL)).parts == answered(SHELL).parts


def test_character_split_between_pieces_is_joined():
    item = {**CUSTOM, "input": "a😀b"}
    halves = [piece("custom_tool_call_input.delta", delta=text) for text in ("a\ud83d", "\ude00b")]
    reply = streamed(begin(), added({**item, "input": ""}), *halves, done(item), end(item))
    assert reply.parts == answered(item).parts


@pytest.mark.parametrize(
    ("item", "finished", "arguments"),
    [
        (
            {"type": "mcp_call", "id": "mcp_1", "name": "roll", "server_label": "s", "arguments": '{"a": 1}'},
            {"type": "response.mcp_call_arguments.done", "arguments": '{"a": 1}'},
            '{"a": 1}',
        ),
        (
            {"type": "code_interpreter_call", "id": "ci_1", "container_id": "c", "code": "1+1", "outputs": []},
            {"type": "response.code_interpreter_call_code.done", "code": "1+1"},
            '{"code": "1+1"}',
        ),
    ],
    ids=["mcp", "code interpreter"],
)
def test_hosted_call_is_seen_before_its_result(item: Any, finished: Any, arguments: str):
    begun = added({**item, "arguments": "", "code": ""} | {"output": None, "outputs": None})
    deltas = list(decoded([events([begin(), begun, {**finished, "output_index": 0}, done(item), end(item)])]))
    first, last = [delta.part for delta in deltas if isinstance(delta, PartDelta)][:2]
    assert first == replace(answered(item).parts[0], provider_metadata={})
    assert isinstance(first, HostedToolCall)
    assert first.arguments_text == arguments
    assert last == answered(item).parts[0]
    assert accumulate(deltas).parts == answered(item).parts
    rendered = rendered_events(deltas)
    assert [event["item"]["id"] for event in rendered if event["type"].endswith("item.done")] == [item["id"]]


# Results


def test_text_of_a_shell_is_its_standard_output():
    _, answer = result_of(SHELL, "a.txt\n")
    assert answer == {
        "type": "shell_call_output",
        "call_id": "c1",
        "max_output_length": 100,
        "output": [{"stdout": "a.txt\n", "stderr": "", "outcome": EXIT}],
    }


def test_error_of_a_shell_is_its_standard_error():
    _, answer = result_of(SHELL, "no such file", is_error=True)
    assert answer["output"] == [
        {"stdout": "", "stderr": "no such file", "outcome": {"type": "exit", "exit_code": 1}},
    ]
    assert result_of(SHELL)[1]["output"] == [{"stdout": "", "stderr": "", "outcome": EXIT}]


def test_options_of_a_shells_texts_are_fields_of_its_entries():
    texts = [
        TextPart("a", provider_options={PROVIDER: {"stderr": "warning"}}),
        TextPart("b", provider_options={PROVIDER: {"stdout": "", "outcome": {"type": "timeout"}}}),
    ]
    _, answer = result_of(SHELL, *texts, is_error=True)
    assert answer["output"] == [
        {"stdout": "a", "stderr": "warning", "outcome": {"type": "exit", "exit_code": 1}},
        {"stdout": "", "stderr": "b", "outcome": {"type": "timeout"}},
    ]


def test_option_output_replaces_all_entries_of_a_shell():
    entries = [
        {"stdout": "a", "stderr": "", "outcome": EXIT},
        {"stdout": "", "stderr": "", "outcome": EXIT},
        {"stdout": "b", "stderr": "", "outcome": EXIT},
    ]
    _, answer = result_of(SHELL, "ab", output=entries)
    assert answer["output"] == entries


def test_result_of_a_local_shell_is_its_text():
    assert result_of(LOCAL_SHELL, "a.txt")[1] == {
        "type": "local_shell_call_output",
        "call_id": "c1",
        "id": "c1",
        "output": "a.txt",
    }
    assert [w.path for w in warnings_of(LOCAL_SHELL, ToolResult.text("c1", "no", is_error=True))] == [
        "messages[2].parts[0].is_error"
    ]


def test_failed_patch_has_its_status():
    base = {"type": "apply_patch_call_output", "call_id": "c1"}
    assert result_of(PATCH)[1] == {**base, "status": "completed"}
    assert result_of(PATCH, "no such file", is_error=True)[1] == {**base, "status": "failed", "output": "no such file"}


def test_result_of_a_custom_tool_is_content():
    image = ImagePart(Blob.from_url("https://a/b", "image/png"), "low")
    assert result_of(CUSTOM, "a")[1] == {"type": "custom_tool_call_output", "call_id": "c1", "output": "a"}
    assert result_of(CUSTOM, "see", image)[1]["output"] == [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "https://a/b", "detail": "low"},
    ]


def test_result_of_a_tool_search_is_json_of_the_tools_found():
    _, answer = result_of(SEARCH, json.dumps(TOOLS))
    assert answer == {
        "type": "tool_search_output",
        "call_id": "c1",
        "execution": "client",
        "status": "completed",
        "tools": TOOLS,
    }
    assert result_of(SEARCH, "broken", is_error=True)[1]["tools"] == []
    lost = warnings_of(SEARCH, ToolResult.text("c1", "broken", is_error=True))
    assert [warning.path for warning in lost] == ["messages[2].parts[0].content", "messages[2].parts[0].is_error"]


def test_only_an_explicit_approval_approves():
    base = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1"}
    assert result_of(APPROVAL, '{"approve": true}')[1] == {**base, "approve": True}
    assert result_of(APPROVAL, '{"approve": true, "reason": "ok"}')[1] == {**base, "approve": True, "reason": "ok"}
    assert result_of(APPROVAL, "too risky", is_error=True)[1] == {**base, "approve": False, "reason": "too risky"}
    assert result_of(APPROVAL, is_error=True)[1] == {**base, "approve": False}
    assert result_of(APPROVAL, '{"approve": false}')[1] == {**base, "approve": False}


@pytest.mark.parametrize(
    ("item", "text"),
    [
        *((APPROVAL, text) for text in ("yes", "true", "", "{}", '{"approve": "true"}', '{"approve": 1}', "[" * 9000)),
        (APPROVAL, '{"approve": true, "reason": 5}'),
        *((SEARCH, text) for text in ("none", "{}", "[1]", '["\\ud800"]', "[NaN]", '[{"a": "\\ud800"}]', "[1e999]")),
    ],
)
def test_text_that_is_not_what_the_tool_returns_is_refused(item: dict[str, Any], text: str):
    said = answered(item).message()
    assert said is not None
    (asked,) = said.tool_calls
    with pytest.raises(InvalidInputError) as caught:
        RESPONSES.encode(call(ASK, said, Message.tool(asked.result(text))))
    assert caught.value.path == "messages[2].parts[0].content"
    assert "JSON" in str(caught.value)


@pytest.mark.parametrize("item", [SHELL, LOCAL_SHELL, PATCH, SEARCH, APPROVAL], ids=lambda item: item["type"])
def test_content_other_than_text_is_refused_with_its_path(item: dict[str, Any]):
    said = answered(item).message()
    assert said is not None
    (asked,) = said.tool_calls
    result = asked.result("a", ImagePart(Blob.from_url("https://a/b", "image/png")))
    with pytest.raises(UnsupportedContentError, match=r"messages\[2\]\.parts\[0\]\.content\[1\]"):
        RESPONSES.encode(call(ASK, said, Message.tool(result)))


def test_program_that_called_is_named_in_the_answer():
    caller = {"type": "program", "caller_id": "c_program"}
    program = {"type": "program", "id": "p_1", "call_id": "c_program", "code": "f()", "fingerprint": "f"}
    for item in (function_call("c1", caller=caller), {**CUSTOM, "caller": caller}, {**PATCH, "caller": caller}):
        reply = answered(program, item)
        said = reply.message()
        assert said is not None
        (asked,) = reply.tool_calls
        given = call(ASK, said, Message.tool(asked.result("a")))
        assert body_of(given)["input"][3]["caller"] == caller
        check_types(body_of(given))
        check_call_losses(RESPONSES, given)
        check_encode_again(RESPONSES, given)
        repeated = replace(asked.result("a"), provider_options={PROVIDER: {"caller": caller}})
        (warning,) = RESPONSES.encode(call(ASK, said, Message.tool(repeated))).warnings
        assert (warning.code, warning.path) == ("no_effect", f"messages[2].parts[0].provider_options.{PROVIDER}")
    direct = {**CUSTOM, "caller": {"type": "direct"}}
    assert "caller" not in result_of(direct, "a")[1]


def test_results_of_all_tools_match_the_types_in_one_turn():
    printed = json.loads((HERE / "published" / "client_tools.reply.json").read_text(encoding="utf-8"))
    reply = RESPONSES.decode(response(printed))
    assert [asked.name for asked in reply.tool_calls] == [
        "shell",
        "apply_patch",
        "code_exec",
        "tool_search",
        "local_shell",
        "mcp_approval",
    ]
    content = {"tool_search": json.dumps(TOOLS), "mcp_approval": '{"approve": true}'}
    results = [asked.result(content.get(asked.name, "a")) for asked in reply.tool_calls]
    said = reply.message()
    assert said is not None
    body = body_of(call(ASK, said, Message.tool(*results)))
    check_types(body)
    assert [item["type"] for item in body["input"][7:]] == [
        "shell_call_output",
        "apply_patch_call_output",
        "custom_tool_call_output",
        "tool_search_output",
        "local_shell_call_output",
        "mcp_approval_response",
    ]


# Raw answers


@pytest.mark.parametrize(
    "item",
    [
        {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": "a", "stderr": "", "outcome": EXIT}]},
        {"type": "tool_search_output", "call_id": "c1", "execution": "client", "status": "completed", "tools": TOOLS},
        {"type": "apply_patch_call_output", "call_id": "c1", "status": "completed"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "a"},
        {"type": "local_shell_call_output", "id": "c1", "output": "a"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    ],
    ids=lambda item: item["type"],
)
def test_raw_answer_continues_a_stored_conversation(item: dict[str, Any]):
    answer = Message("user", (OpaquePart(PROVIDER, item["type"], item),))
    given = call(answer, provider_options={PROVIDER: {"previous_response_id": "resp_1"}})
    body = body_of(given)
    assert body["input"] == [item]
    check_types(body)
    check_call_losses(RESPONSES, given)
    with pytest.raises(UnsupportedContentError, match=r"messages\[0\]\.parts"):
        RESPONSES.encode(call(Message("user", (*answer.parts, TextPart("and")))))


@pytest.mark.parametrize(
    "item",
    [
        {"type": "shell_call_output", "id": "sho_1", "call_id": "c1", "output": []},
        {"type": "tool_search_output", "execution": "server", "call_id": None, "tools": []},
    ],
)
def test_providers_own_output_is_no_answer_of_the_user(item: dict[str, Any]):
    given = call(ASK, Message("user", (OpaquePart(PROVIDER, item["type"], item), TextPart("hi"))))
    assert [warning.path for warning in RESPONSES.encode(given).warnings] == ["messages[1].parts[0]"]


# Requests of clients


def test_published_request_is_read_as_calls_and_results():
    printed = json.loads((HERE / "published" / "client_tools.request.json").read_text(encoding="utf-8"))
    _, said, given = RESPONSES.parse(request(printed)).call.messages
    assert next(asked.name for asked in said.tool_calls) == "shell"
    shell, patch, custom, search, local, approval = given.parts
    outcome = {"type": "exit", "exit_code": 0}
    assert shell == ToolResult(
        "call_shell",
        (
            TextPart("total 8\n", provider_options={PROVIDER: {"stderr": "", "outcome": outcome}}),
            TextPart("cat: no such file\n"),
        ),
        is_error=True,
    )
    assert patch == ToolResult.text("call_patch", "Error: file not found", is_error=True)
    assert custom == ToolResult.text("call_custom", "hello world\n")
    assert isinstance(search, ToolResult)
    assert isinstance(search.content[0], TextPart)
    assert json.loads(search.content[0].text)[0]["name"] == "get_shipping_eta"
    assert local == ToolResult.text("call_local", "a.txt\n")
    assert approval == ToolResult.text("mcpr_68f1a1b2c3d9", '{"approve": true}')


def test_answer_without_its_call_is_the_users():
    answer = {"type": "custom_tool_call_output", "call_id": "c9", "output": "a"}
    assert parsed(answer).messages == (Message("user", (OpaquePart(PROVIDER, answer["type"], answer),)),)
    late = parsed({"role": "user", "content": "a"}, CUSTOM, {**answer, "call_id": "c1"}, answer)
    assert [said.role for said in late.messages] == ["user", "assistant", "tool", "user"]


@pytest.mark.parametrize(
    ("item", "answer", "path"),
    [
        (SHELL, {"type": "shell_call_output", "call_id": "c1", "output": 5}, "input[1].output"),
        (SHELL, {"type": "shell_call_output", "call_id": "c1", "output": [5]}, "input[1].output[0]"),
        (SHELL, {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": 5}]}, "input[1].output[0].stdout"),
        (PATCH, {"type": "apply_patch_call_output", "call_id": "c1", "status": "done"}, "input[1].status"),
        (PATCH, {"type": "apply_patch_call_output", "call_id": "c1", "output": 5}, "input[1].output"),
        (LOCAL_SHELL, {"type": "local_shell_call_output", "id": "c1", "output": {}}, "input[1].output"),
        (CUSTOM, {"type": "custom_tool_call_output", "call_id": "c1", "output": 5}, "input[1].output"),
        (SEARCH, {"type": "tool_search_output", "call_id": "c1", "tools": {}}, "input[1].tools"),
        (SEARCH, {"type": "tool_search_output", "call_id": "c1", "tools": [5]}, "input[1].tools[0]"),
        (APPROVAL, {"type": "mcp_approval_response", "approval_request_id": "mcpr_1"}, "input[1].approve"),
        (
            APPROVAL,
            {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": "yes"},
            "input[1].approve",
        ),
        ({**SHELL, "call_id": 5}, {"role": "user", "content": "hi"}, "input[0].call_id"),
        ({**APPROVAL, "id": None}, {"role": "user", "content": "hi"}, "input[0].id"),
    ],
)
def test_invalid_answer_is_refused_with_its_path(item: Any, answer: Any, path: str):
    with pytest.raises(InvalidInputError) as caught:
        parsed(item, answer)
    assert caught.value.path == path


# Over a socket


def test_vendors_client_answers_every_call_of_our_server():
    printed = json.loads((HERE / "published" / "client_tools.reply.json").read_text(encoding="utf-8"))
    reply = replace(RESPONSES.decode(response(printed)), provider_metadata={})
    answers = json.loads((HERE / "published" / "client_tools.request.json").read_text(encoding="utf-8"))["input"][7:]
    http = openai.DefaultHttpxClient(trust_env=False)
    with (
        serving(RESPONSES, "text/event-stream", reply) as server,
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", http_client=http) as client,
    ):
        output: Any = client.responses.create(model="m", input="hi").output
        with client.responses.stream(model="m", input="hi") as stream:
            final = stream.get_final_response()
        assert [item.type for item in output] == [item.type for item in final.output]
        given = [item.to_dict(exclude_unset=True) for item in output]
        client.responses.create(model="m", input=[{"role": "user", "content": "hi"}, *given, *answers])
        *_, said, results = server.calls[-1].messages
    assert [asked.name for asked in said.tool_calls] == [asked.name for asked in reply.tool_calls]
    assert [result.type for result in results.parts] == ["tool_result"] * 6


def test_shell_call_is_answered_by_a_result_of_its_call(call_style: Any):
    first = replace(answered(SHELL), provider_metadata={}, model="gpt-5.6")
    replies = [first, ModelReply((TextPart("two files"),), "stop", model="gpt-5.6", provider=PROVIDER)]
    options = {PROVIDER: {"tools": [{"type": "shell", "environment": {"type": "local"}}]}}
    with serving(RESPONSES, "text/event-stream", first) as server:
        server.answer = lambda call: replies[len(server.calls) - 1]
        services = Services(environment={"NO_PROXY": "*"})
        llm = create_llm(
            "openai-responses", model="gpt-5.6", base_url=f"{server.url}/v1", api_key="k", services=services
        )
        asked = call_style.generate(llm, "What is here?", provider_options=options)
        assert asked.finish_reason == "tool_calls"
        (shell,) = asked.tool_calls
        assert shell.arguments["commands"] == ["ls", "pwd"]
        said = [Message.user("What is here?"), asked, Message.tool(shell.result("a.txt\nb.txt\n"))]
        last = call_style.generate(llm, messages=said, provider_options=options)
    assert last.content == "two files"
    assert server.calls[1].messages[2].parts == (ToolResult.text("c1", "a.txt\nb.txt\n"),)


# Audio beside the items


def sound(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.audio.{kind}", "sequence_number": 1, **fields}


def test_streamed_audio_is_one_part_with_its_transcript():
    wav = [sound("delta", delta=text) for text in ("UklG", "RgAAAABX", "QV", "ZF")]
    said = [sound("transcript.delta", delta=text) for text in ("Hello ", "there.")]
    ends = [sound("transcript.done"), sound("done")]
    reply = streamed(begin(), *wav, *said, *ends, done(message()), end(message()))
    heard = AudioPart(Blob.from_bytes(b"RIFF\0\0\0\0WAVE", "audio/wav"), "Hello there.")
    assert reply.parts == (TextPart("hi"), heard)
    samples = streamed(begin(), sound("delta", delta="AQID"), sound("delta", delta="BA=="), end())
    assert samples.parts == (AudioPart(Blob.from_bytes(b"\1\2\3\4", "audio/pcm")),)


def test_transcript_without_audio_is_text():
    assert streamed(begin(), sound("transcript.delta", delta="Hello"), end()).parts == (TextPart("Hello"),)
    assert streamed(begin(), sound("done"), end()).parts == ()


def test_audio_that_is_not_base64_is_a_typed_error():
    with pytest.raises(ServerError, match="not base64"):
        streamed(begin(), sound("delta", delta="!!!!"), end())


def test_type_of_the_item_is_an_option_of_its_call():
    (asked,) = answered(SHELL).tool_calls
    assert isinstance(asked, ToolCall)
    assert asked.provider_options == {PROVIDER: {"type": "shell_call", "environment": {"type": "local"}}}
