"""Invalid arguments of calls and LLMs: a typed error with the path, before anything is sent."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from abstractcore import (
    AbstractCoreError,
    Blob,
    HostedTool,
    ImagePart,
    Message,
    ModelCall,
    Services,
    Tool,
    ToolChoice,
    ToolPolicy,
    ToolSpec,
    create_llm,
)
from abstractcore.client.create_options import CreateOptions
from abstractcore.client.options import CALL_OPTIONS
from abstractcore.errors import ConfigurationError, InvalidInputError, MediaError, ModelStoreError, UnknownProviderError
from abstractcore.ports import HasModelExamples
from tests.core.schema.test_immutability import mutable_places
from tests.junk import cycle, junk_and_arrays, nested, outcome, values
from tests.properties import examples

CONTENT = ("prompt", "messages", "system_prompt", "media", "tools", "options", "response_model")
REACHED = sorted(set(CreateOptions.__annotations__) - CALL_OPTIONS - {"context_size", "threads"})
PICTURE = ImagePart(Blob.from_bytes(b"\x89PNG\r\n\x1a\n", "image/png"))


def check_accepted_or_refused(**request: Any) -> None:
    """The call that a request means, immutable and fit for JSON, or one of our errors."""
    llm = create_llm("scripted", replies=["never"])
    call, error = outcome(lambda: llm.build(**{"prompt": "hi", **request}), AbstractCoreError)
    if error is not None:
        assert str(error)
        assert isinstance(error, InvalidInputError | MediaError | ConfigurationError)
    else:
        assert mutable_places(call, "call") == []
    assert list(llm.calls) == []


@pytest.mark.parametrize("name", [*CONTENT, *sorted(CALL_OPTIONS)])
def test_call_argument_of_any_type_is_accepted_or_refused_with_a_typed_error(name: str):
    for thing in junk_and_arrays().values():
        check_accepted_or_refused(**{name: thing})
        check_accepted_or_refused(**{name: [thing]})
    if name in CALL_OPTIONS:
        for thing in junk_and_arrays().values():
            check_accepted_or_refused(options={name: thing})


def test_stream_must_be_true_or_false():
    for thing in junk_and_arrays().values():
        if not isinstance(thing, bool):
            with pytest.raises(InvalidInputError, match="expected True or False") as caught:
                create_llm("scripted", replies=["never"]).generate("hi", stream=thing)
            assert caught.value.path == "stream"


@examples(150)
@given(st.sampled_from([*CONTENT, *sorted(CALL_OPTIONS)]), values())
def test_generated_call_argument_is_accepted_or_refused_with_a_typed_error(name: str, thing: Any):
    check_accepted_or_refused(**{name: thing})


@pytest.mark.parametrize("name", [*sorted(CALL_OPTIONS), *REACHED, "provider", "model", "services"])
def test_llm_option_of_any_type_is_accepted_or_refused_with_a_typed_error(name: str, services: Services):
    for provider in ("scripted", "openai-compatible"):
        for thing in junk_and_arrays().values():
            given: dict[str, Any] = {"model": "m", "services": services, "base_url": "http://host.test"}
            options = {"provider": provider, **given, name: thing}
            llm, error = outcome(lambda options=options: create_llm(**options), AbstractCoreError)
            assert str(error) if llm is None else llm.model


@pytest.mark.parametrize("door", ["generate", "stream", "plan"])
def test_every_method_refuses_bad_input_with_the_same_path(door: str):
    llm = create_llm("scripted", replies=["never"])
    with pytest.raises(InvalidInputError, match="must be at least 0, got -1") as caught:
        answer = getattr(llm, door)("hi", temperature=-1)
        list(answer)
    assert caught.value.path == "temperature"
    assert list(llm.calls) == []


@pytest.mark.parametrize(
    ("request_", "path", "what"),
    [
        ({"temperature": -0.5}, "temperature", "must be at least 0"),
        ({"top_p": 1.5}, "top_p", "must be between 0 and 1"),
        ({"top_k": -5}, "top_k", "must be at least 0"),
        ({"seed": 10**5000}, "seed", "16,610 bits is too large"),
        ({"stop": (text for text in "ab")}, "stop", "expected a list, got generator"),
        ({"stop": ["a", 5]}, "stop[1]", "expected text, got int"),
        ({"modalities": "text"}, "modalities", "expected a list, got str"),
        ({"modalities": ["smell"]}, "modalities[0]", "'smell' is not one of"),
        ({"thinking": "hard"}, "thinking", "'hard' is neither"),
        ({"thinking": -(10**5000)}, "thinking", "an integer of 16,610 bits is neither"),
        ({"timeout": 10**5000}, "timeout", "expected seconds"),
        ({"timeout": -1}, "timeout", "expected seconds"),
        ({"stream": "no"}, "stream", "expected True or False, got str"),
        ({"options": []}, "options", "expected a mapping, got list"),
        (
            {"messages": [{"role": "user", "parts": []}]},
            "messages[0]",
            r"Unknown fields: \['parts'\]. Put text into",
        ),
        ({"strict": 1}, "strict", "expected True or False, got int"),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls", "expected True or False, got str"),
        ({"parent_id": 5}, "parent_id", "expected text, got int"),
        ({"prompt_name": 5}, "prompt_name", "expected NAME or NAME@VERSION without spaces, got 5"),
        ({"prompt_name": "a b"}, "prompt_name", "expected NAME or NAME@VERSION without spaces, got 'a b'"),
        ({"prompt_name": "a@"}, "prompt_name", "expected NAME or NAME@VERSION without spaces, got 'a@'"),
        ({"tags": {"team": 5}}, "tags.team", "expected text, got int"),
        ({"tags": {5: "team"}}, "tags", "key 5 is not text"),
        ({"trace_context": []}, "trace_context", "expected a mapping, got list"),
        ({"provider_options": {"p": 5}}, "provider_options.p", "expected a mapping, got int"),
        ({"provider_options": cycle()}, "provider_options.a.b" + ".a.b" * 49, "refers to itself"),
        ({"provider_options": {"p": {"x": nested(100_000)}}}, "provider_options.p.x" + "[0]" * 98, "nested deeper"),
        ({"provider_options": {"p": {"x": [float("nan")]}}}, "provider_options.p.x[0]", "nan is not a JSON number"),
        ({"media_policy": {"smell": "auto"}}, "media_policy", "unknown kind 'smell'"),
        ({"media_policy": 5}, "media_policy", "expected a policy or a mapping, got int"),
        ({"options": 5}, "options", "expected a mapping, got int"),
        ({"options": {5: 6}}, "options", "5 is not an option name"),
        ({"messages": (message for message in ())}, "messages", "expected a list, got generator"),
        ({"messages": [{"role": ["user"], "content": "a"}]}, "messages[0].role", "expected text, got list"),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "messages[0].text", "lone surrogate"),
        ({"tools": {"a": 1}}, "tools", "expected a list, got dict"),
        ({"media": (item for item in ())}, "media", "expected a file or a list of files, got generator"),
        ({"response_model": 5}, "response_model", "expected a type, got 5. Pass the class itself"),
        ({"response_model": "Nothing"}, "response_model", "expected a type, got 'Nothing'. Pass the class"),
    ],
)
def test_error_names_the_argument_and_the_problem(request_: dict[str, Any], path: str, what: str):
    with pytest.raises(InvalidInputError, match=what) as caught:
        create_llm("scripted", replies=["never"]).build("hi", **request_)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"temperature": -1}, "temperature"),
        ({"tags": {"a": 1}}, "tags.a"),
        ({"modalities": ["smell"]}, "modalities[0]"),
        ({"provider_options": {"p": {"x": {1}}}}, "provider_options.p.x"),
        ({"timeout": "5"}, "timeout"),
        ({"base_url": 5}, "base_url"),
        ({"api_key": b"sk-canary"}, "api_key"),
        ({"max_retries": 1.5}, "max_retries"),
        ({"middleware": 5}, "middleware"),
        ({"model": 5}, "model"),
    ],
)
def test_invalid_default_is_refused_at_creation(options: dict[str, Any], path: str):
    with pytest.raises(InvalidInputError) as caught:
        create_llm(**{"provider": "openai-compatible", "model": "m", "base_url": "http://host.test", **options})
    assert caught.value.path == path
    assert "canary" not in str(caught.value)


class Unlimited(BaseModel):
    size: float = float("inf")


def test_schema_that_is_not_json_is_reported_as_error_of_the_response_model():
    llm = create_llm("scripted", replies=["never"])
    with pytest.raises(InvalidInputError, match="Unlimited has no JSON Schema") as caught:
        llm.build("hi", response_model=Unlimited)
    assert caught.value.path == "response_model"


def test_later_changes_by_the_caller_do_not_change_the_call():
    options: dict[str, Any] = {"scripted": {"list": [1]}}
    messages, parts = [Message.user("a")], [PICTURE]
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    stop, tags, modalities = ["END"], {"a": "b"}, ["text"]
    llm = create_llm("scripted", replies=["never"], stop=stop, tags=tags)
    tool = ToolSpec("t", parameters=parameters)
    call = llm.build(
        "hi", messages=messages, media=parts, tools=[tool], provider_options=options, modalities=modalities
    )
    before = repr(call)
    options["scripted"]["list"].append(2)
    for changed in (messages, parts, stop, modalities):
        changed.clear()
    parameters["properties"]["a"] = {}
    tags["c"] = "d"
    assert repr(call) == before
    assert call == ModelCall(**{name: getattr(call, name) for name in call.__slots__})


def test_later_changes_by_the_caller_do_not_change_the_defaults():
    stop, tags = ["END"], {"a": "b"}
    llm = create_llm("scripted", replies=["never"], stop=stop, tags=tags)
    stop.append("STOP")
    tags["c"] = "d"
    call = llm.build("hi")
    assert (call.sampling.stop, call.tags) == (("END",), {"a": "b"})


@pytest.mark.parametrize("url", ["ftp://host.test/a.png", "S3://bucket/a.png", "file:///tmp/a.png"])
def test_unsupported_url_scheme_names_the_supported_ones(url: str):
    with pytest.raises(MediaError, match=r"http:// and https:// URLs are") as caught:
        create_llm("scripted", replies=["never"]).build("hi", media=[url])
    assert caught.value.source == "media[0]"


def test_hint_shows_the_working_directory_for_relative_paths_only():
    llm = create_llm("scripted", replies=["never"])
    with pytest.raises(MediaError, match="does not exist") as caught:
        llm.build("hi", media=["no/such/file.png"])
    assert "Looked in" in str(caught.value)
    with pytest.raises(MediaError, match="does not exist") as caught:
        llm.build("hi", media=["/no/such/file.png"])
    assert "Looked in" not in str(caught.value)


def test_hint_names_a_similar_file_of_the_folder(tmp_path: Path):
    (tmp_path / "notice.pdf").touch()
    (tmp_path / "notice\x1b[2J.pdf").touch()
    llm = create_llm("scripted", replies=["never"])
    with pytest.raises(MediaError, match="does not exist") as caught:
        llm.build("hi", media=tmp_path / "notic.pdf")
    assert caught.value.hint == f"Did you mean {tmp_path / 'notice.pdf'}?"


@pytest.mark.parametrize(
    ("given", "call"),
    [
        ("gpt-5-mini", "openai/gpt-5-mini"),
        ("GPT-5", "openai/GPT-5"),
        ("o3", "openai/gpt-5.4"),
        ("o3-pro", "openai/o3-pro"),
        ("claude-haiku-4-5", "anthropic/claude-haiku-4-5"),
        ("gemini-2.5-pro", "google/gemini-2.5-pro"),
        ("grok-4.3", "xai/grok-4.3"),
        ("command-a-03-2025", "cohere/command-a-03-2025"),
        ("sonar-pro", "perplexity/sonar-pro"),
        ("mistral-large-latest", "mistral/mistral-large-latest"),
        ("gpt-oss:20b", "ollama/gpt-oss:20b"),
        ("llama3.2", "ollama/llama3.2"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("meta-llama/Llama-3.3-70B", "openrouter/meta-llama/Llama-3.3-70B"),
        ("accounts/fireworks/models/kimi-k2", "fireworks/accounts/fireworks/models/kimi-k2"),
    ],
)
def test_model_name_without_provider_hints_at_the_provider(given: str, call: str):
    with pytest.raises(UnknownProviderError) as caught:
        create_llm(given)
    assert (caught.value.hint or "").endswith(f'name its provider first: create_llm("{call}").')


@pytest.mark.parametrize(
    ("name", "model", "call"),
    [
        ("gpt", "gpt-5", 'create_llm("openai/gpt-5")'),
        ("claude", "claude-opus-5-5", 'create_llm("anthropic/claude-opus-5-5")'),
        ("gemini", "gemini-2.5-pro", 'create_llm("google/gemini-2.5-pro")'),
    ],
)
def test_model_family_with_a_model_hints_at_the_provider(name: str, model: str, call: str):
    with pytest.raises(UnknownProviderError) as caught:
        create_llm(name, model=model)
    assert call in (caught.value.hint or "")


def test_every_model_family_gives_a_typable_example(services: Services):
    providers = {name: p for name, p in services.registry.providers.items() if isinstance(p, HasModelExamples)}
    assert {"openai", "anthropic", "google", "ollama", "cohere", "bedrock"} <= set(providers)
    for provider in providers.values():
        for beginning, example in provider.model_examples.items():
            assert beginning == beginning.lower()
            assert any(example.lower().startswith(each) for each in provider.model_examples), "examples are their own"
    for family, call in (("claude", "anthropic/claude-"), ("gemini", "google/gemini-"), ("gpt", "openai/gpt-")):
        with pytest.raises(UnknownProviderError, match=f'create_llm."{call}[0-9a-z]'):
            create_llm(family)


def test_model_of_a_vendor_passed_to_the_local_provider_hints_at_the_provider():
    with pytest.raises(ModelStoreError, match=r"no model is called 'gpt-5\.4'") as caught:
        create_llm(model="gpt-5.4").generate("hi")
    assert 'create_llm("PROVIDER/gpt-5.4")' in (caught.value.hint or "")


def test_unknown_model_name_hint_has_a_template():
    with pytest.raises(UnknownProviderError, match=r'create_llm\("PROVIDER/xyzzy/large"\)'):
        create_llm("xyzzy/large")


@pytest.mark.parametrize(("given", "provider"), [("opnai", "openai"), ("llamacpp", "llama-cpp"), ("ollma", "ollama")])
def test_misspelt_provider_is_suggested_first(given: str, provider: str):
    with pytest.raises(UnknownProviderError, match=f"Did you mean {provider}") as caught:
        create_llm(given)
    assert "PROVIDER" not in str(caught.value)


def test_sync_stream_in_async_with_hints_at_astream():
    llm = create_llm("scripted", replies=["never"])

    async def entered() -> None:
        async with llm.stream("hi"):  # type: ignore[attr-defined]
            pass

    async def looped() -> None:
        async for _ in llm.stream("hi"):  # type: ignore[attr-defined]
            pass

    for use in (entered, looped):
        with pytest.raises(InvalidInputError, match=r"async with llm\.astream"):
            asyncio.run(use())


def test_async_stream_in_with_hints_at_stream():
    llm = create_llm("scripted", replies=["never"])
    with pytest.raises(InvalidInputError, match=r"with llm\.stream"), llm.astream("hi"):  # type: ignore[attr-defined]
        pass
    with pytest.raises(InvalidInputError, match=r"with llm\.stream"):
        list(llm.astream("hi"))  # type: ignore[call-overload]


def test_answer_100_000_levels_deep_fails_validation():
    class Tree(BaseModel):
        children: list["Tree"]

    deep = '{"children":[' * 100_000
    llm = create_llm("scripted", replies=[deep, json.dumps({"children": []})])
    with pytest.raises(AbstractCoreError, match="not a valid Tree"):
        llm.generate("hi", response_model=Tree, output_retries=0)
    assert llm.generate("hi", response_model=Tree).output == Tree(children=[])


def test_conversation_passed_as_prompt_hints_at_messages():
    llm = create_llm("scripted", replies=["never"])
    for conversation in ([{"role": "user", "content": "hi"}], Message.user("hi")):
        with pytest.raises(InvalidInputError, match=r"prompt: expected text, .*Pass a conversation as messages="):
            llm.generate(conversation)  # type: ignore[arg-type]


def test_string_passed_as_messages_hints_at_both_alternatives():
    llm = create_llm("scripted", replies=["never"])
    with pytest.raises(
        InvalidInputError, match=r"messages: expected a list, got str\. Pass it as the prompt"
    ) as caught:
        llm.generate(messages="hi")  # type: ignore[arg-type]
    assert "messages=[Message.user('text')]" in (caught.value.hint or "")


def get_weather(city: str) -> str:
    return city


@pytest.mark.parametrize(
    "choice",
    [
        "get_weather",
        get_weather,
        Tool(get_weather),
        {"type": "function", "function": {"name": "get_weather"}},
        {"type": "tool", "name": "get_weather"},
    ],
)
def test_tool_as_a_tool_choice_hints_at_the_choice_that_forces_it(choice: Any):
    with pytest.raises(InvalidInputError) as caught:
        create_llm("scripted", replies=["never"]).generate("hi", tools=[get_weather], tool_choice=choice)
    assert caught.value.hint == (
        "Use 'auto', 'none', 'required', or ToolChoice('tool', 'get_weather') to force that tool."
    )


@pytest.mark.parametrize("choice", ["any", "tool", "", 1, {"type": "any"}, {"function": 1}, {"name": None}])
def test_other_tool_choice_hints_at_all_of_them(choice: Any):
    with pytest.raises(InvalidInputError) as caught:
        create_llm("scripted", replies=["never"]).generate("hi", tool_choice=choice)
    assert caught.value.hint == "Use 'auto', 'none', 'required', or ToolChoice('tool', NAME)."


def test_choice_of_a_tool_that_the_call_does_not_have_is_refused():
    llm = create_llm("scripted", replies=["hi"] * 5)
    with pytest.raises(InvalidInputError) as caught:
        llm.generate("hi", tools=[get_weather], tool_choice=ToolChoice("tool", "get_wether"))
    assert str(caught.value) == "tool_choice: the call has no tool 'get_wether'. Did you mean get_weather?"
    llm.generate("hi", tools=[get_weather], tool_choice=ToolChoice("tool", "get_weather"))
    llm.generate("hi", tools=[HostedTool("web_search")], tool_choice=ToolChoice("tool", "web_search"))
    theirs = {"scripted": {"tools": [{"type": "shell"}]}}
    llm.generate("hi", tools=[get_weather], tool_choice=ToolChoice("tool", "shell"), provider_options=theirs)
    llm.generate("hi", tools=[Tool(get_weather, defer=True)], tool_choice=ToolChoice("tool", "search_tools"))
    assert len(llm.calls) == 4


@pytest.mark.parametrize("tools", [None, []])
@pytest.mark.parametrize("choice", ["required", ToolChoice("required"), ToolChoice("tool", "get_weather")])
def test_choice_that_forces_a_call_without_tools_is_refused_before_anything_is_sent(
    call_style, choice: Any, tools: Any
):
    llm = create_llm("scripted", replies=["hi"] * 5)
    for call in (call_style.generate, call_style.stream):
        with pytest.raises(InvalidInputError) as caught:
            call(llm, "hi", tools=tools, tool_choice=choice)
        assert str(caught.value) == (
            "tool_choice: it forces a tool call, and the call has no tools. Pass tools=[...], or leave tool_choice out."
        )
    with pytest.raises(InvalidInputError, match="the call has no tools"):
        create_llm("scripted", replies=["hi"], tool_choice=choice).build("hi")
    assert list(llm.calls) == []


@pytest.mark.parametrize("choice", [None, "auto", "none", ToolChoice("none")])
def test_choice_that_forces_nothing_needs_no_tools(call_style, choice: Any):
    response = call_style.generate(create_llm("scripted", replies=["hi"]), "hi", tools=[], tool_choice=choice)
    assert response.content == "hi"


@pytest.mark.parametrize("run_tools", [True, ToolPolicy(max_rounds=2)], ids=["default", "policy"])
def test_run_tools_without_tools_has_a_warning_and_an_empty_list_has_none(call_style, run_tools: Any):
    llm = create_llm("scripted", replies=["hi"] * 2, strict=True)
    forgotten = call_style.generate(llm, "hi", run_tools=run_tools)
    assert [(each.code, each.path, each.message) for each in forgotten.warnings] == [
        ("no_effect", "run_tools", "the call has no tools: pass tools=[...]")
    ]
    assert (forgotten.content, forgotten.loop.status) == ("hi", "answered")
    assert call_style.generate(llm, "hi", tools=[], run_tools=run_tools).warnings == ()
