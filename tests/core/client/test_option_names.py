"""Option names of other libraries: the error says what to write instead."""

from __future__ import annotations

import dataclasses
import inspect
from functools import partial

import pytest

from abstractcore import LLM, Services, ToolPolicy, UnknownOptionError, create_llm
from abstractcore.client.create_options import LLM_OPTIONS, CreateOptions
from abstractcore.client.option_names import OTHER_NAMES, OTHER_WAYS
from abstractcore.client.options import CALL_OPTIONS, REQUEST_FIELDS

OURS = {*REQUEST_FIELDS, *CreateOptions.__annotations__, "response_model"}


def hint_of_call(**request) -> str:
    with pytest.raises(UnknownOptionError, match="a call has no option") as caught:
        create_llm("scripted", replies=["never"]).generate("hi", **request)
    return caught.value.hint or ""


def hint_of_llm(services: Services, **options) -> str:
    with pytest.raises(UnknownOptionError, match="the provider 'openai' has no option") as caught:
        create_llm("openai/gpt-5.4", api_key="k", services=services, **options)
    return caught.value.hint or ""


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("max_tokens", "max_output_tokens"),
        ("max_completion_tokens", "max_output_tokens"),
        ("num_predict", "max_output_tokens"),
        ("system", "system_prompt"),
        ("instructions", "system_prompt"),
        ("reasoning_effort", "thinking"),
        ("thinking_budget", "thinking"),
        ("response_format", "response_model"),
        ("format", "response_model"),
        ("functions", "tools"),
        ("function_call", "tool_choice"),
        ("execute_tools", "run_tools"),
        ("dependencies", "deps"),
        ("result_type", "response_model"),
        ("stop_sequences", "stop"),
        ("random_seed", "seed"),
        ("images", "media"),
        ("history", "messages"),
        ("request_timeout", "timeout"),
    ],
)
def test_call_option_of_another_library_hints_at_our_name(name: str, ours: str):
    assert hint_of_call(**{name: 1}) == f"Here it is named {ours}: {ours}=..."


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("max_retries", "max_retries"),
        ("num_retries", "max_retries"),
        ("api_key", "api_key"),
        ("num_ctx", "context_size"),
    ],
)
def test_llm_option_in_a_call_hints_at_create_llm(name: str, ours: str):
    assert hint_of_call(**{name: 1}) == f"It is an option of create_llm: create_llm(..., {ours}=...)."


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("extra_body", "provider_options={'scripted': {...}}"),
        ("logit_bias", "provider_options={'scripted': {...}}"),
        ("model", "create_llm('PROVIDER/MODEL')"),
        ("n", "one call per answer"),
        ("stream_options", "stream.response.usage, which is always requested"),
        ("extra_query", "create_llm(..., http_client=httpx2.Client(params={...}))"),
        ("web_search", "tools=[HostedTool('web_search')]"),
        ("max_iterations", "run_tools=ToolPolicy(max_rounds=...)"),
        ("max_tool_calls", "run_tools=ToolPolicy(max_calls=...)"),
        ("approval", "run_tools=ToolPolicy(approve=...)"),
        ("handle_tool_errors", "@tool(on_error='report') or @tool(on_error='raise')"),
    ],
)
def test_option_without_equivalent_hints_at_the_alternative(name: str, what: str):
    assert hint_of_call(**{name: 1}) == f"Use {what}."


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("max_tokens", "Here it is named max_output_tokens: max_output_tokens=..."),
        ("api_base", "Here it is named base_url: base_url=..."),
        ("openai_api_key", "Here it is named api_key: api_key=..."),
        ("num_retries", "Here it is named max_retries: max_retries=..."),
        ("verify_ssl", "Here it is named verify: verify=..."),
        ("media", "It is an option of each call: llm.generate(..., media=...)."),
        ("response_format", "It is an option of each call: llm.generate(..., response_model=...)."),
        ("stream", "Use llm.stream(...), or generate(..., stream=True)."),
        ("prompt", "Use generate('the prompt')."),
    ],
)
def test_create_llm_option_of_another_library_hints_at_name_and_function(services: Services, name: str, hint: str):
    assert hint_of_llm(services, **{name: 1}) == hint


def test_option_of_another_provider_is_not_treated_as_a_typo(services: Services):
    hint = "Only other providers support context_size: see help(create_llm)."
    assert hint_of_llm(services, context_size=1) == hint
    assert hint_of_llm(services, num_ctx=1) == hint
    assert "    context_size: `local`, `ollama`: " in (create_llm.__doc__ or "")


def test_every_parameter_without_a_letter_is_suggested(services: Services):
    of_plugins = {f"{each}_backend" for each in ("audio", "music", "vision", "voice")} | {"vision_model"}
    of_create = (set(inspect.signature(create_llm).parameters) & LLM_OPTIONS - of_plugins) | {"model", "provider"}
    of_calls = {*(set(inspect.signature(LLM.map).parameters) & OURS), "concurrency", "on_progress"}
    missing: set[str] = set()
    for names, hint_of in ((of_create, partial(hint_of_llm, services)), (of_calls, hint_of_call)):
        assert len(names) > 40
        missing |= {
            name for name in names if name not in hint_of(**{name[: len(name) // 2] + name[len(name) // 2 + 1 :]: 1})
        }
    assert missing == set()


def test_option_without_similar_names_hints_at_help(services: Services):
    assert hint_of_call(fallbacks=1) == "help(llm.generate) lists the options."
    assert hint_of_llm(services, verbose=1) == "help(create_llm) lists the options."


@pytest.mark.parametrize("name", ["temprature", "temp"])
def test_only_similar_names_are_suggested(services: Services, name: str):
    assert hint_of_call(**{name: 1}) == hint_of_llm(services, **{name: 1}) == "Did you mean temperature?"


def test_vendor_field_hints_at_provider_options(services: Services):
    assert hint_of_llm(services, logit_bias=1) == "Use provider_options={'openai': {...}}."


def test_options_mapping_gives_the_same_hints():
    with pytest.raises(UnknownOptionError, match="Here it is named max_output_tokens"):
        create_llm("scripted", replies=["never"]).generate("hi", options={"max_tokens": 5})


def test_table_maps_to_existing_options_and_contains_none_of_ours():
    assert set(OTHER_NAMES.values()) <= OURS
    assert OURS.isdisjoint(OTHER_NAMES)
    assert (OURS - {"model"}).isdisjoint(OTHER_WAYS)
    assert set(OTHER_NAMES).isdisjoint(OTHER_WAYS)
    assert CALL_OPTIONS <= LLM_OPTIONS


def test_every_field_of_a_policy_hints_at_the_policy():
    own = {field.name for field in dataclasses.fields(ToolPolicy)} - OURS
    assert "max_rounds" in own
    for name in own:
        assert hint_of_call(**{name: 1}) == f"It is a field of ToolPolicy: run_tools=ToolPolicy({name}=...)."


def test_no_name_in_the_table_falls_back_to_similar_names(services: Services):
    named = {"prompt", "stream", "model", "provider"}
    for name in {*OTHER_NAMES, *OTHER_WAYS} - named:
        assert "Did you mean" not in hint_of_call(**{name: 1})
        assert "Did you mean" not in hint_of_llm(services, **{name: 1})
