"""Tools, calls and results in the prompt, for models that are not sent tools as such."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from abstractcore.engine.lowering import lower
from abstractcore.engine.lowering.changes import refuse_losses
from abstractcore.errors import InvalidInputError, UnsupportedContentError, UnsupportedOptionError
from abstractcore.ports import ModelProfile
from abstractcore.schema import (
    Blob,
    CachePoint,
    HostedTool,
    ImagePart,
    Lowered,
    Message,
    ModelCall,
    OutputSchema,
    ReasoningPart,
    Sampling,
    TextPart,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
)
from abstractcore.tools.prompted import TOOL_FORMATS, tool_format
from abstractcore.tools.prompted.descriptions import call_grammar

WEATHER = ToolSpec("weather", "The weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
NEVER = ModelProfile(accepts=frozenset({"image"}), tools="never", tool_prompt="llama3")
OSLO = ToolCall.of("c1", "weather", {"city": "Oslo"})
IMAGE = ImagePart(Blob.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png"))
HISTORY = (
    Message.system("Be brief."),
    Message.user("Oslo?"),
    Message.assistant("Let me look.", OSLO),
    Message.tool(ToolResult("c1", (TextPart("sunny"), IMAGE))),
    Message.user("And now?"),
)


def lowered(profile: ModelProfile = NEVER, **fields: Any) -> Lowered:
    """A call with one tool, lowered."""
    given: dict[str, Any] = {"messages": (Message.user("hi"),), "tools": (WEATHER,), **fields}
    return lower(ModelCall("m", provider="p", **given), profile, ())


def texts(found: Lowered) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in found.call.messages]


def test_tools_are_described_in_the_format_of_the_profile():
    found = lowered()
    assert texts(found) == [("system", tool_format("llama3").describe([WEATHER])), ("user", "hi")]
    assert (found.call.tools, found.call.tool_choice, found.call.tool_format) == ((), None, None)
    assert found.reading is not None
    assert (found.reading.tool_format, found.reading.tools, found.reading.rescue) == ("llama3", (WEATHER,), True)
    assert [(w.code, w.path, w.sent) for w in found.warnings] == [("tools_as_prompt", "tools", "llama3")]


def test_model_without_a_known_format_has_hermes():
    found = lowered(ModelProfile(tools="never"))
    assert found.reading is not None
    assert found.reading.tool_format == "hermes"


def test_examples_of_answers_are_shown_until_the_last_message_has_results():
    examples = replace(NEVER, tool_examples=True)
    asked = (Message.user("Oslo?"), Message.assistant(OSLO), Message.tool(ToolResult("c1", (TextPart("sunny"),))))
    first, later = (texts(lowered(examples, messages=asked[:count]))[0][1] for count in (1, 3))
    next_turn = texts(lowered(examples, messages=(*asked, Message.assistant("Sunny."), Message.user("And Lima?"))))
    assert "Question: What is 6 times 7?\n42" in first
    assert "There are no tools but weather." in first
    assert next_turn[0][1] == first
    assert later == texts(lowered(messages=asked))[0][1]
    how = tool_format("llama3").how
    assert first[: first.index(how) + len(how)] == later[: later.index(how) + len(how)]


@pytest.mark.parametrize("mode", ["required", "none"])
def test_choice_that_is_not_left_to_the_model_needs_no_examples(mode: Any):
    choice = ToolChoice(mode)
    assert lowered(replace(NEVER, tool_examples=True), tool_choice=choice) == lowered(tool_choice=choice)


@pytest.mark.parametrize("name", TOOL_FORMATS)
def test_call_chooses_the_format(name: str):
    found = lowered(ModelProfile(), tool_format=name, tool_choice=ToolChoice("required"), parallel_tool_calls=False)
    chosen = tool_format(name)
    assert texts(found)[0] == ("system", chosen.describe([WEATHER], ToolChoice("required"), False))
    assert found.call.sampling.stop == chosen.stop
    assert (found.call.tool_choice, found.call.parallel_tool_calls) == (None, None)


def test_native_tools_stay_as_they_are():
    known = ModelProfile(accepts=frozenset({"image"}))
    for profile, asked in ((known, None), (replace(known, tool_prompt="hermes"), None), (known, "native")):
        found = lowered(profile, tool_format=asked, messages=HISTORY)
        assert found.call.tools == (WEATHER,)
        assert found.call.messages == HISTORY
        assert found.call.tool_format is None
        assert (found.reading, found.warnings) == (None, ())


def test_native_tools_of_a_model_without_any_are_refused():
    with pytest.raises(UnsupportedContentError, match="accepts no tools"):
        lowered(tool_format="native")


def test_tools_that_the_model_has_at_another_provider_are_refused_with_a_hint():
    profile = ModelProfile(tools="never", tools_provider="other")
    with pytest.raises(UnsupportedContentError) as caught:
        lowered(profile)
    assert "'other'" in (caught.value.hint or "")
    assert "tool_format='hermes'" in (caught.value.hint or "")
    assert lowered(profile, tool_format="hermes").reading is not None


def test_unknown_format_is_an_error_with_the_known_ones():
    with pytest.raises(InvalidInputError, match="unknown format of tools 'herms'") as caught:
        lowered(tool_format="herms")
    assert "hermes" in (caught.value.hint or "")


def test_history_becomes_text_with_files_after_it():
    chosen = tool_format("llama3")
    found = lowered(messages=HISTORY)
    assert [message.role for message in found.call.messages] == ["system", "system", "user", "assistant", "user"]
    assert texts(found)[3] == ("assistant", "Let me look.\n" + chosen.write_calls([OSLO], [WEATHER]))
    results = found.call.messages[4].parts
    assert [type(part) for part in results] == [TextPart, ImagePart, TextPart]
    assert results[0] == TextPart("Result of the call: sunny\n[image 1]")
    assert results[2] == TextPart("\n\nAnd now?")
    assert found.decisions[0].part_path == "messages[4].parts[1]"


def test_history_of_calls_is_written_without_tools_too():
    found = lowered(tools=(), messages=HISTORY[:4])
    assert [message.role for message in found.call.messages] == ["system", "user", "assistant", "user"]
    assert (found.reading, found.warnings) == (None, ())


def test_error_results_are_labelled():
    messages = (Message.user("hi"), Message.assistant(OSLO), Message.tool(OSLO.result("no such city", is_error=True)))
    assert texts(lowered(messages=messages))[-1] == ("user", "Result of the call: Error: no such city")


def test_reasoning_and_order_of_an_assistant_message_stay():
    reasoning = ReasoningPart("hm", origin="p/m")
    messages = (Message.user("hi"), Message.assistant(reasoning, OSLO), Message.tool(OSLO.result("x")))
    parts = lowered(messages=messages).call.messages[2].parts
    assert parts == (reasoning, TextPart(tool_format("llama3").write_calls([OSLO])))


def test_calls_are_not_read_where_none_are_wanted():
    found = lowered(tool_choice=ToolChoice("none"))
    assert found.reading is None
    assert "Do not call" in texts(found)[0][1]


def test_cache_points_move_with_their_texts():
    point = CachePoint(3600)
    tool = ToolSpec("weather", cache=point)
    result = ToolResult("c1", (TextPart("x"),), cache=point)
    messages = (Message.user("hi"), Message.assistant(OSLO), Message.tool(result), Message.user("so?"))
    found = lowered(tools=(tool,), messages=messages).call.messages
    assert [getattr(part, "cache", None) for message in found for part in message.parts] == [
        point,
        None,
        None,
        point,
        None,
    ]
    automatic = lowered(cache=True, messages=(Message.system("s"), Message.user("hi"))).call.messages
    assert [part.cache for message in automatic for part in message.parts if isinstance(part, TextPart)] == [
        None,
        CachePoint(),
        CachePoint(),
    ]


def test_stop_sequences_are_added_where_they_are_accepted():
    assert lowered(tool_format="react").call.sampling.stop == ("\nObservation:",)
    given = Sampling(stop=("END",))
    assert lowered(tool_format="react", sampling=given).call.sampling.stop == ("END", "\nObservation:")
    four = Sampling(stop=("a", "b", "c", "d"))
    assert lowered(tool_format="react", sampling=four).call.sampling.stop == four.stop
    refusing = ModelProfile(tools="never", refused=frozenset({"stop"}))
    assert lowered(refusing, tool_format="react").call.sampling.stop == ()


def test_server_with_grammars_is_sent_one_of_the_calls():
    profile = ModelProfile(tools="never", grammar="gbnf")
    grammar = call_grammar([WEATHER], ToolChoice("required"), True)
    found = lowered(profile, tool_choice=ToolChoice("required"), parallel_tool_calls=True)
    assert found.call.provider_options == {"p": {"grammar": grammar}}
    kept = lowered(profile, provider_options={"p": {"min_p": 0.1}, "q": {"a": 1}}).call.provider_options
    assert kept == {"p": {"min_p": 0.1, "grammar": call_grammar([WEATHER])}, "q": {"a": 1}}
    tagged = lowered(profile, rescue=False).call.provider_options
    assert tagged == {"p": {"grammar": call_grammar([WEATHER], plain=False)}}


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_format": "react"},
        {"tool_format": "llama3", "tool_choice": ToolChoice("required")},
        {"tools": ()},
        {"tool_choice": ToolChoice("none")},
        {"output": OutputSchema("o", {"type": "object"})},
        {"provider_options": {"p": {"grammar": "root ::= [a-z]"}}},
        {"provider_options": {"p": {"json_schema": {}}}},
    ],
)
def test_other_calls_have_no_grammar_but_the_users(fields: dict[str, Any]):
    found = lowered(ModelProfile(tools="never", grammar="gbnf"), **fields).call
    assert found.provider_options == fields.get("provider_options", {})


@pytest.mark.parametrize("name", [name for name in TOOL_FORMATS if name != "hermes"])
def test_format_without_grammar_warns_where_the_server_accepts_grammars(name: str):
    server = ModelProfile(tools="never", tool_prompt=name, grammar="gbnf")
    for found in (lowered(server), lowered(replace(server, tool_prompt="hermes"), tool_format=name)):
        assert [(w.code, w.path) for w in found.warnings] == [
            ("tools_as_prompt", "tools"),
            ("calls_not_constrained", "tool_format"),
        ]
        assert repr(name) in found.warnings[1].message
        refuse_losses(found.warnings, found.call)
    for fields in ({"tool_choice": ToolChoice("none")}, {"provider_options": {"p": {"grammar": "root ::= [a-z]"}}}):
        assert [w.code for w in lowered(server, **fields).warnings] == ["tools_as_prompt"]
    assert [w.code for w in lowered(replace(server, grammar=None)).warnings] == ["tools_as_prompt"]


@pytest.mark.parametrize("choice", [ToolChoice("required"), ToolChoice("tool", "weather")])
def test_forced_call_is_a_loss_unless_a_grammar_enforces_it(choice: ToolChoice):
    constrained = lowered(ModelProfile(tools="never", grammar="gbnf"), tool_choice=choice)
    refuse_losses(constrained.warnings, constrained.call)
    for profile in (NEVER, replace(NEVER, grammar="gbnf")):
        found = lowered(profile, tool_choice=choice)
        assert ("unsupported_option", "tool_choice") in [(w.code, w.path) for w in found.warnings]
        with pytest.raises(UnsupportedOptionError, match="nothing enforces it"):
            refuse_losses(found.warnings, found.call)


@pytest.mark.parametrize("bad", ["weather report", "</tool_call>", "x|y", "<think>"])
def test_tool_that_a_format_cannot_call_is_refused_with_its_path(bad: str):
    tools = (WEATHER, ToolSpec(bad))
    with pytest.raises(InvalidInputError, match="cannot be called in the format 'qwen_coder'") as raised:
        lowered(tool_format="qwen_coder", tools=tools)
    assert raised.value.path == "tools[1].name"
    assert lowered(tool_format="hermes", tools=tools).reading is not None


def test_model_without_tools_refuses_hosted_tools_beside_functions():
    with pytest.raises(UnsupportedContentError, match="leave out the hosted tools"):
        lowered(hosted_tools=(HostedTool("web_search"),), tool_choice=ToolChoice("required"))


def test_hosted_tools_and_their_choice_stay_beside_a_format_that_the_call_names():
    search = HostedTool("web_search")
    found = lowered(hosted_tools=(search,), tool_choice=ToolChoice("required"), tool_format="llama3")
    assert found.call.hosted_tools == (search,)
    assert found.call.tool_choice == ToolChoice("required")


def test_schema_beside_tools_in_the_prompt_becomes_an_instruction():
    found = lowered(output=OutputSchema("o", {"type": "object"}))
    assert found.call.output is None
    assert [w.code for w in found.warnings] == ["tools_as_prompt", "schema_as_instruction"]


def test_tools_in_the_prompt_are_no_loss_but_unenforced_arguments_are():
    found = lowered(strict=True)
    refuse_losses(found.warnings, found.call)
    strict = lowered(tools=(ToolSpec("weather", strict=True),))
    assert [(w.code, w.path) for w in strict.warnings][1:] == [("unsupported_option", "tools[0].strict")]


def test_servers_that_return_calls_as_text_are_read_with_rescue():
    leaking = ModelProfile(calls_as_text=True)
    found = lowered(leaking)
    assert found.reading is not None
    assert (found.reading.tool_format, found.reading.tools, found.reading.rescue) == (None, (WEATHER,), True)
    assert found.call.tools == (WEATHER,)
    off = lowered(leaking, rescue=False)
    assert (off.reading, off.call.rescue) == (None, True)
    assert lowered(leaking, tools=()).reading is None
    assert lowered(leaking, tool_choice=ToolChoice("none")).reading is None
    prompted = lowered(NEVER, rescue=False).reading
    assert prompted is not None
    assert not prompted.rescue
