"""What sessions change for their models: every change has a warning, and every warning a change."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.engine.lowering import lower
from abstractcore.engine.lowering.system_messages import with_one_system_message
from abstractcore.engine.lowering.tools import lower_tools
from abstractcore.errors import UnsupportedContentError, UnsupportedOptionError
from abstractcore.ports import ModelProfile, ProviderConfig, ProviderSession
from abstractcore.schema import (
    CachePoint,
    CallWarning,
    Message,
    ModelCall,
    OutputSchema,
    Sampling,
    TextPart,
    ToolChoice,
    ToolSpec,
    canonical_json,
    from_data,
)
from abstractcore.testing import check_call_losses, check_encode_again
from abstractcore.testing.changes import changed_as_warned, full_data
from abstractcore.tools.prompted import tool_format
from abstractcore_providers.plugin import register_providers
from tests.properties import examples
from tests.providers.catalogue_rows import PROVIDERS as WITH_ROWS
from tests.providers.catalogue_rows import models
from tests.providers.sessions import CATALOGUE, Services
from tests.providers.sessions import lowered as lowered_for

PROVIDERS = {provider.name: provider for provider in register_providers()}


OPTIONS = {
    "azure": {"resource": "r"},
    "bedrock": {"region": "us-east-1"},
    **{name: {"project": "p"} for name in ("vertex", "vertex-anthropic", "vertex-openai")},
}
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "i",
    "AWS_SECRET_ACCESS_KEY": "s",
    "AWS_REGION": "us-east-1",
    "CLOUDFLARE_ACCOUNT_ID": "a",
    "DATABRICKS_HOST": "https://databricks.example",
}
MODELS: dict[str, list[str]] = {
    **{provider: [*models(provider), "mine"] for provider in WITH_ROWS if models(provider)},
    "bedrock": [
        *(f"us.{name}" for name in models("bedrock")),
        "meta.llama3-70b-instruct-v1:0",
        "arn:aws:bedrock:us-east-1:1:application-inference-profile/x",
    ],
}
"""Providers whose models support different options, with a model of each kind."""
POINTS = st.none() | st.sampled_from([CachePoint(), CachePoint(300), CachePoint(3600)])
TOOLS = st.lists(
    st.builds(ToolSpec, st.sampled_from("fgh"), cache=POINTS), max_size=2, unique_by=lambda tool: tool.name
)
SAMPLING = st.builds(
    Sampling,
    st.sampled_from([None, 900, 1025, 9000]),
    st.sampled_from([None, 0.5, 1, 1.5]),
    st.sampled_from([None, 0.5, 0.95, 1]),
    st.sampled_from([None, 5]),
    st.sampled_from([None, 7]),
    st.sampled_from([(), ("END",)]),
    st.sampled_from([None, 0, 0.5]),
    st.sampled_from([None, 0, 0.5]),
    st.sampled_from([None, 0, 3]),
)


def session(provider: str, model: str) -> ProviderSession:
    services: Any = Services(ENVIRONMENT)
    key = None if provider == "bedrock" else "k"
    config = ProviderConfig(provider, model, api_key=key, options=OPTIONS.get(provider, {}))
    return PROVIDERS[provider].connect(config, services)


def calls(provider: str, model: str) -> SearchStrategy[ModelCall]:
    """Calls with the options in which models differ, and cache points."""
    prompts = st.builds(TextPart, st.just("hi"), cache=POINTS)
    system = prompts.map(lambda part: Message("system", (part,)))
    conversations = st.tuples(system, st.builds(Message.user, prompts, st.just("so?")))
    return st.builds(
        ModelCall,
        st.just(model),
        conversations,
        st.just(provider),
        tools=TOOLS.map(tuple),
        tool_choice=st.none() | st.sampled_from(["auto", "none", "required"]).map(ToolChoice),
        parallel_tool_calls=st.sampled_from([None, True, False]),
        sampling=SAMPLING,
        thinking=st.sampled_from([None, "off", "minimal", "low", "medium", "high", "xhigh", "max", 0, 5, 2000, 20_000]),
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("provider", MODELS)
@examples(100)
@given(st.data())
def test_warnings_match_changes_exactly_and_lowering_is_idempotent(provider: str, data: st.DataObject):
    made = session(provider, data.draw(st.sampled_from(MODELS[provider])))
    call = data.draw(calls(provider, made.model))
    try:
        lowered = lowered_for(made, call)
    except UnsupportedContentError:
        assert (made.profile.tools, made.profile.tools_provider is None) == ("never", False)
        assert call.tools
        return
    written, of_tools = with_prompted_tools(call, made.profile, lowered.warnings)
    others = [warning for warning in lowered.warnings if warning not in of_tools]
    changed: Any = changed_as_warned(cast(Any, full_data(written)), others)
    expected = from_data(ModelCall, changed)
    if is_same_thinking(expected.thinking, lowered.call.thinking):
        expected = expected.with_(thinking=lowered.call.thinking)
    if made.profile.sampling is not None:
        limit = expected.sampling.max_output_tokens or lowered.call.sampling.max_output_tokens
        assert limit is not None
        recommended = replace(made.profile.sampling, max_output_tokens=limit)
        expected = expected.with_(sampling=expected.sampling.over(recommended))
    if made.profile.one_system_message:
        expected, _ = with_one_system_message(expected)  # the description of tools is a system message of its own
    assert canonical_json(expected) == canonical_json(lowered.call)
    assert lowered.decisions == ()
    again = lowered_for(made, lowered.call)
    assert (again.call, again.warnings) == (lowered.call, ())
    check_call_losses(made.transpiler, lowered.call)
    check_encode_again(made.transpiler, lowered.call)


def with_prompted_tools(
    call: ModelCall, profile: ModelProfile, warnings: Sequence[CallWarning]
) -> tuple[ModelCall, list[CallWarning]]:
    """The call with its tools in the prompt, if a warning says so, and the warnings of that.

    The paths of the other warnings are those of its messages. Nothing but the tools and what goes with them differs.
    """
    sent = [warning.sent for warning in warnings if warning.code == "tools_as_prompt"]
    written, _, found = lower_tools(call, profile)
    assert [warning.sent for warning in found if warning.code == "tools_as_prompt"] == sent
    if not sent:
        assert (written, found) == (call, [])
        return call, []
    assert call.tools
    chosen, points = tool_format(cast(Any, sent[0])), [tool.cache for tool in call.tools if tool.cache is not None]
    text = chosen.describe(call.tools, call.tool_choice, call.parallel_tool_calls, examples=profile.tool_examples)
    described = Message("system", (TextPart(text, cache=points[-1] if points else None),))
    assert written.messages == (call.messages[0], described, *call.messages[1:])
    assert set(written.sampling.stop) - set(call.sampling.stop) <= set(chosen.stop)
    assert {*written.provider_options.get(call.provider, {})} <= {"grammar"}
    expected = call.with_(
        messages=written.messages,
        tools=(),
        tool_choice=None,
        parallel_tool_calls=None,
        sampling=replace(call.sampling, stop=written.sampling.stop),
        provider_options=written.provider_options,
    )
    assert written == expected
    return written, found


def is_same_thinking(asked: Any, sent: Any) -> bool:
    """Whether a change has no warning: a level as a budget, and thinking off as nothing for a model without."""
    if asked in ("off", 0):
        return sent in ("off", None)
    return isinstance(asked, str) and isinstance(sent, int)


@pytest.mark.parametrize(
    ("providers", "thinking"),
    [
        ({"openai": "gpt-5-mini", "azure": "gpt-5-mini", "openai-responses": "gpt-5-mini"}, None),
        ({"openai": "gpt-6-sol", "azure": "gpt-6-sol", "openai-responses": "gpt-6-sol"}, "high"),
        ({"openai": "gpt-5-mini", "openrouter": "openai/gpt-5-mini"}, None),
        ({"anthropic": "claude-opus-5-5", "bedrock": "us.anthropic.claude-opus-5-5"}, None),
        ({"anthropic": "claude-sonnet-4-5", "bedrock": "us.anthropic.claude-sonnet-4-5"}, "high"),
        ({"anthropic": "claude-sonnet-4-5", "openrouter": "anthropic/claude-sonnet-4.5"}, "high"),
        ({"xai": "grok-4.5", "openrouter": "x-ai/grok-4.5"}, None),
    ],
)
def test_model_rejects_the_same_sampling_at_every_provider(providers: dict[str, str], thinking: Any):
    sampling = Sampling(9000, 0.5, 0.5, None, None, ("x",), 0.5, 0.5, 2)
    found = [sampled(provider, model, sampling, thinking) for provider, model in providers.items()]
    assert found == found[:1] * len(found)
    assert found[0][1]


def sampled(provider: str, model: str, sampling: Sampling, thinking: Any) -> tuple[Sampling, list[Any]]:
    call = ModelCall(model, (Message.user("hi"),), provider, sampling=sampling, thinking=thinking)
    lowered = lowered_for(session(provider, model), call)
    warnings = [each for each in lowered.warnings if each.path.startswith("sampling.")]
    return replace(lowered.call.sampling, max_output_tokens=None), [
        (w.code, w.path, w.requested, w.sent) for w in warnings
    ]


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_output_mode_grammar_is_for_the_servers_of_llama_cpp(provider: str):
    profile = CATALOGUE.profile(provider, "mine")
    schema = OutputSchema("Any", {"type": "object"})
    call = ModelCall("mine", (Message.user("hi"),), provider, output=schema, output_mode="grammar")
    if provider in ("local", "llama-cpp", "llamafile", "jan"):
        assert lower(call, profile, ()).call.output == schema
    else:
        with pytest.raises(UnsupportedOptionError, match="output_mode='grammar'"):
            lower(call, profile, ())
