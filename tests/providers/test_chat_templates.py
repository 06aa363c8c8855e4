"""Servers that run chat templates get one system message, at the beginning; others get each where it was said."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from abstractcore import BadRequestError, Message, ToolCall, create_llm
from abstractcore.engine import lower
from abstractcore.ports import ModelProfile
from abstractcore.schema import ModelCall, TextPart
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.providers.strict_fakes import ollama, openai_chat
from tests.providers.strict_fakes.chat_templates import template_errors, template_refusal
from tests.providers.strict_fakes.in_memory import InMemoryVendors

HI, HELLO, MORE = Message.user("Hi."), Message.assistant("Hello."), Message.user("More?")
CALL, RESULT = Message.assistant(ToolCall("c1", "look")), Message.tool("c1", "seen")
RULE, LATER = Message.system("Be brief."), Message.system("It is late.")
MARKED = "<system>\nIt is late.\n</system>"
CASES: dict[str, tuple[tuple[Message, ...], tuple[str, ...]]] = {
    "none": ((HI,), ("user: Hi.",)),
    "one": ((RULE, HI), ("system: Be brief.", "user: Hi.")),
    "two at the beginning": ((RULE, LATER, HI), ("system: Be brief.\n\nIt is late.", "user: Hi.")),
    "before a question": (
        (RULE, HI, HELLO, LATER, MORE),
        ("system: Be brief.", "user: Hi.", "assistant: Hello.", f"user: {MARKED}\n\nMore?"),
    ),
    "after a question": (
        (RULE, HI, LATER, HELLO, MORE),
        ("system: Be brief.", f"user: Hi.\n\n{MARKED}", "assistant: Hello.", "user: More?"),
    ),
    "first in the middle": ((HI, HELLO, LATER, MORE), ("user: Hi.", "assistant: Hello.", f"user: {MARKED}\n\nMore?")),
    "last": ((RULE, HI, LATER), ("system: Be brief.", f"user: Hi.\n\n{MARKED}")),
    "after results": (
        (RULE, HI, CALL, RESULT, LATER),
        ("system: Be brief.", f"user: Hi.\n\n{MARKED}", "assistant: ", "tool: seen"),
    ),
}
"""Conversations, and what a server that runs templates gets."""
PRESETS = [preset.name for preset in VENDORS if preset.runs_templates]
OWN_SERVERS = [preset.name for preset in VENDORS if not preset.key_needed and preset.dialect.has_chat]


def shown(messages: Any) -> tuple[str, ...]:
    return tuple(f"{each['role']}: {each.get('content') or ''}" for each in messages)


def test_every_server_of_ones_own_runs_templates():
    assert set(PRESETS) == set(OWN_SERVERS) >= {"llama-cpp", "lmstudio", "openai-compatible", "vllm"}


def test_templates_accept_the_conversation_of_every_case():
    fakes = {name: replace(openai_chat.fake("openai"), refusal=template_refusal) for name in PRESETS}
    services = InMemoryVendors({**fakes, "ollama": replace(ollama.FAKE, refusal=template_refusal)})
    walked = 0
    for name, (case, (messages, sent)) in product([*PRESETS, "ollama"], CASES.items()):
        llm = create_llm(name, model="qwen3.5", base_url=services.url(name), services=services)
        response = llm.run(ModelCall("qwen3.5", messages, name))
        assert shown(services.vendors[name].bodies[-1]["messages"]) == sent, (name, case)
        moved = [warning.path for warning in response.warnings if warning.code == "system_message_moved"]
        stay = messages[:1] if messages[0].role == "system" else ()
        systems = [index for index, each in enumerate(messages) if each.role == "system" and index >= len(stay)]
        assert moved == [f"messages[{index}]" for index in systems]
        walked += 1
    services.close()
    assert walked == (len(PRESETS) + 1) * len(CASES)


def test_the_embedded_model_gets_one_system_message():
    walked = 0
    with create_llm("local") as llm:
        for messages, sent in CASES.values():
            lowered = lower(ModelCall(llm.model, messages, "local"), llm.profile, ())
            body = json.loads(llm.transpiler.encode(lowered.call).request.body)
            assert [*template_errors(body["messages"])] == []
            assert shown(body["messages"]) == sent or RESULT in messages, "the model has its tools in the prompt"
            walked += 1
    assert walked == len(CASES)


def test_other_vendors_get_system_messages_where_they_were_said():
    walked = 0
    for preset, (messages, _) in product(VENDORS, CASES.values()):
        if preset.key_needed and preset.dialect.has_chat:
            body = json.loads(preset_body(preset, messages))
            assert [each["role"] for each in body["messages"]] == [each.role for each in messages], preset.name
            walked += 1
    assert walked == sum(preset.key_needed and preset.dialect.has_chat for preset in VENDORS) * len(CASES)


def preset_body(preset: Any, messages: tuple[Message, ...]) -> bytes:
    services = InMemoryVendors({})
    llm = create_llm(preset.name, model="m", api_key="k", base_url="https://vendor.test", services=services)
    try:
        return llm.transpiler.encode(lower(ModelCall("m", messages, preset.name), llm.profile, ()).call).request.body
    finally:
        services.close()


def test_a_template_refuses_what_was_sent_without_this():
    services = InMemoryVendors({"openai": replace(openai_chat.fake("openai"), refusal=template_refusal)})
    llm = create_llm("openai", model="m", api_key="k", base_url=services.url("openai"), services=services)
    with pytest.raises(BadRequestError, match="System message must be at the beginning"):
        llm.run(ModelCall("m", CASES["last"][0], "openai"))
    services.close()


def test_options_and_cache_points_of_system_messages_stay():
    profile = ModelProfile(one_system_message=True)
    first = replace(RULE, provider_options={"p": {"name": "house"}})
    lowered = lower(ModelCall("m", (first, LATER, HI), "p"), profile, ())
    joined = replace(first, parts=(TextPart("Be brief.\n\nIt is late."),))
    assert lowered.call.messages == (joined, HI)
    unchanged = ModelCall("m", (first, HI), "p")
    assert lower(unchanged, profile, ()).call is unchanged


def test_an_instruction_that_a_call_adds_is_joined_without_a_warning():
    profile = ModelProfile(one_system_message=True, structured_output="none")
    llm = create_llm("scripted", replies=["x"])
    call = llm.build("Hi.", system_prompt="Be brief.", response_model={"type": "object", "properties": {}})
    lowered = lower(call, profile, ())
    assert [message.role for message in lowered.call.messages] == ["system", "user"]
    assert "system_message_moved" not in {warning.code for warning in lowered.warnings}
