"""The provider of Cohere's models."""

import json
from typing import Any

import pytest

from abstractcore.errors import AuthenticationError, ConfigurationError
from abstractcore.ports import ProviderConfig, ProviderSession
from abstractcore.schema import Message, ModelCall, OutputSchema, Sampling, ToolChoice, ToolSpec
from abstractcore_providers.formats.cohere_chat import CohereChat
from abstractcore_providers.vendors.cohere import CohereProvider
from tests.providers.sessions import Services, address, headers, lowered

MODEL = "command-a-03-2025"


def connect(environment: dict[str, str] | None = None, **config: Any) -> ProviderSession:
    services: Any = Services(environment or {})
    given: Any = {"model": MODEL, **config}
    return CohereProvider().connect(ProviderConfig("cohere", **given), services)


def test_session_has_the_vendors_url_and_a_format_for_its_model():
    session = connect(api_key="k")
    assert address(session).url == "https://api.cohere.com/v2"
    assert session.transpiler == CohereChat(MODEL)
    assert address(connect(api_key="k", base_url="http://a/v2/")).url == "http://a/v2"


@pytest.mark.parametrize(
    ("environment", "key"),
    [({"CO_API_KEY": "a"}, "a"), ({"COHERE_API_KEY": "b"}, "b"), ({"CO_API_KEY": "a", "COHERE_API_KEY": "b"}, "a")],
)
def test_key_is_read_from_one_of_two_variables(environment: dict[str, str], key: str):
    assert headers(connect(environment))["authorization"] == f"Bearer {key}"
    assert headers(connect(environment, api_key="given"))["authorization"] == "Bearer given"


def test_missing_settings_are_named():
    with pytest.raises(AuthenticationError) as caught:
        connect()
    assert "CO_API_KEY" in (caught.value.hint or "")
    with pytest.raises(ConfigurationError, match="model's name"):
        connect(api_key="k", model=None)


@pytest.mark.parametrize(
    ("model", "sees", "thinks", "known"),
    [
        (MODEL, False, False, True),
        ("command-a-vision-07-2025", True, False, True),
        ("command-a-reasoning-08-2025", False, True, True),
        ("command-a-plus-05-2026", True, True, True),
        ("command-r-08-2024", False, False, True),
        ("command-a-plus-09-2030", False, False, False),
        ("command-z", False, False, False),
    ],
)
def test_profile_follows_the_models_row(model: str, sees: bool, thinks: bool, known: bool):
    profile = connect(api_key="k", model=model).profile
    assert profile.known is known
    assert profile.supports("image", "image/png") is sees
    assert (profile.thinking is not None and profile.thinking.budget is not None) is thinks


def sent(model: str, **options: Any) -> tuple[Any, list[tuple[str, str, Any]]]:
    """The body of a call's request, and the warnings of lowering."""
    session = connect(api_key="k", model=model)
    changed = lowered(session, ModelCall(model, (Message.user("hi"),), "cohere", **options))
    warnings = [(warning.code, warning.path, warning.sent) for warning in changed.warnings]
    return json.loads(session.transpiler.encode(changed.call).request.body), warnings


@pytest.mark.parametrize(
    ("model", "asked", "written"),
    [
        ("command-a-plus-05-2026", "off", {"type": "disabled"}),
        ("command-a-plus-05-2026", 40_000, {"type": "enabled", "token_budget": 40_000}),
        ("command-a-reasoning-08-2025", "low", {"type": "enabled", "token_budget": 1024}),
        ("command-a-03-2025", "off", None),
    ],
)
def test_reasoning_models_think_by_a_budget(model: str, asked: Any, written: Any):
    """docs.cohere.com/docs/reasoning; `Thinking` in the cohere package."""
    body, warnings = sent(model, thinking=asked)
    assert (body.get("thinking"), warnings) == (written, [])


def test_values_out_of_range_become_the_nearest_ones():
    """The docstring of `ClientV2.chat` in the cohere package."""
    body, warnings = sent("command-a-plus-05-2026", sampling=Sampling(top_p=1, top_k=900, presence_penalty=-0.5))
    assert (body["p"], body["k"], body["presence_penalty"]) == (0.99, 500, 0)
    assert {code for code, _, _ in warnings} == {"option_changed"}


def test_tool_choice_is_left_out_for_models_before_command_r7b():
    """The docstring of `ClientV2.chat` in the cohere package: "only compatible with models Command-r7b and newer"."""
    options: Any = {"tools": (ToolSpec("f"),), "tool_choice": ToolChoice("required")}
    assert sent("command-r7b-12-2024", **options)[0]["tool_choice"] == "REQUIRED"
    body, warnings = sent("command-r-08-2024", **options)
    assert "tool_choice" not in body
    assert warnings == [("unsupported_option", "tool_choice", None)]


def test_schema_beside_tools_is_sent_as_a_tool():
    """`TextResponseFormatV2` in the cohere package: "not supported when used in combinations with [...] `tools`"."""
    body, warnings = sent(MODEL, tools=(ToolSpec("f"),), output=OutputSchema("o", {"type": "object"}))
    assert "response_format" not in body
    assert [tool["function"]["name"] for tool in body["tools"]] == ["f", "final_answer"]
    assert body["tool_choice"] == "REQUIRED"
    assert [code for code, _, _ in warnings] == ["schema_as_tool"]
