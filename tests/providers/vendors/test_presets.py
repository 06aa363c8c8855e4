"""Presets of vendors: base URLs, API keys, and the media types and options of their models."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from abstractcore.errors import AuthenticationError, ConfigurationError, ProviderError
from abstractcore.ports import ProviderConfig, ProviderSession, Thinking
from abstractcore.schema import WireRequest
from abstractcore_providers import Preset
from abstractcore_providers.common.endpoints import BearerAuth, FixedEndpoint, NoAuth, check_key
from abstractcore_providers.formats.openai_chat import ENCODABLE, OpenAIChat
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.providers.catalogue_rows import header
from tests.providers.sessions import Services

ROWS = {preset.name: preset for preset in VENDORS}
OPENAI, AZURE, COMPATIBLE = ROWS["openai"], ROWS["azure"], ROWS["openai-compatible"]
KEY = "sk-secret"


def connect(preset: Preset = OPENAI, environment: Mapping[str, str] | None = None, **config: Any) -> ProviderSession:
    services: Any = Services({} if environment is None else environment)
    return preset.connect(ProviderConfig(preset.name, **{"model": "gpt-4o", **config}), services)


def address(session: ProviderSession) -> Any:
    step: Any = session.endpoint.open(None)  # type: ignore[arg-type]
    with pytest.raises(StopIteration) as done:
        step.send(None)
    return done.value.value


def headers(session: ProviderSession) -> Mapping[str, str]:
    return address(session).auth.sign(WireRequest("/", {"a": "b"}, b""), 0.0).headers


def test_presets_have_unique_names_a_summary_and_a_key_variable():
    assert len(ROWS) == len(VENDORS)
    for preset in VENDORS:
        assert preset.summary
        assert preset.key_variable.endswith(("_API_KEY", "_TOKEN")) or preset.name == "bedrock-openai"
        assert preset.dialect.provider == preset.name
        assert (preset.options == {}) == (preset.name != "azure")


CLOUDS = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "voyage": ("https://api.voyageai.com/v1", "VOYAGE_API_KEY"),
    "jina": ("https://api.jina.ai/v1", "JINA_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": ("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
    "together": ("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "fireworks": ("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "perplexity": ("https://api.perplexity.ai", "PERPLEXITY_API_KEY"),
    "cerebras": ("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "moonshot": ("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
    "dashscope": ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    "zai": ("https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
    "minimax": ("https://api.minimax.io/v1", "MINIMAX_API_KEY"),
    "vercel": ("https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY"),
    "huggingface": ("https://router.huggingface.co/v1", "HF_TOKEN"),
    "portkey": ("https://api.portkey.ai/v1", "PORTKEY_API_KEY"),
    "nvidia": ("https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    "deepinfra": ("https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    "sambanova": ("https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
    "novita": ("https://api.novita.ai/openai/v1", "NOVITA_API_KEY"),
    "nebius": ("https://api.tokenfactory.nebius.com/v1", "NEBIUS_API_KEY"),
    "hyperbolic": ("https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY"),
    "baseten": ("https://inference.baseten.co/v1", "BASETEN_API_KEY"),
    "cloudflare": ("https://api.cloudflare.com/client/v4/accounts/acc0/ai/v1", "CLOUDFLARE_API_TOKEN"),
    "databricks": ("https://adb-1.2.azuredatabricks.net/serving-endpoints", "DATABRICKS_TOKEN"),
    "bedrock-openai": ("https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1", "AWS_BEARER_TOKEN_BEDROCK"),
}
PLACES = {
    "cloudflare": {"CLOUDFLARE_ACCOUNT_ID": "acc0"},
    "databricks": {"DATABRICKS_HOST": "https://adb-1.2.azuredatabricks.net/"},
    "bedrock-openai": {"AWS_REGION": "us-west-2"},
}
"""The environment variables that are part of an address."""
OWN_SERVERS = {
    "tei": ("http://localhost:8080/v1", "TEI_API_KEY"),
    "litellm": ("http://localhost:4000", "LITELLM_PROXY_API_KEY"),
    "sglang": ("http://localhost:30000/v1", "SGLANG_API_KEY"),
    "tgi": ("http://localhost:3000/v1", "TGI_API_KEY"),
    "llamafile": ("http://localhost:8080/v1", "LLAMAFILE_API_KEY"),
    "jan": ("http://localhost:1337/v1", "JAN_API_KEY"),
    "lmstudio": ("http://localhost:1234/v1", "LM_API_TOKEN"),
    "vllm": ("http://localhost:8000/v1", "VLLM_API_KEY"),
    "llama-cpp": ("http://localhost:8080/v1", "LLAMA_API_KEY"),
}


@pytest.mark.parametrize("name", CLOUDS)
def test_vendor_has_its_base_url_and_api_key_variable(name: str):
    url, variable = CLOUDS[name]
    place = PLACES.get(name, {})
    for each in (variable, *ROWS[name].other_key_variables):
        session = connect(ROWS[name], {each: KEY, **place})
        assert address(session).url == url
        assert headers(session) == {"a": "b", "authorization": f"Bearer {KEY}"}
    with pytest.raises(AuthenticationError) as caught:
        connect(ROWS[name], place)
    assert variable in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("name", "variable"), [("cloudflare", "CLOUDFLARE_ACCOUNT_ID"), ("bedrock-openai", "AWS_REGION")]
)
def test_error_names_the_variable_of_the_address_that_is_missing_or_invalid(name: str, variable: str):
    with pytest.raises(ConfigurationError, match=f"'{name}' needs an address") as caught:
        connect(ROWS[name], api_key=KEY)
    assert (caught.value.hint or "").startswith(f"Set {variable}, or pass base_url='https://")
    with pytest.raises(ConfigurationError, match=f"{variable} is not a part of a URL"):
        connect(ROWS[name], {variable: "a/../b"}, api_key=KEY)
    assert address(connect(ROWS[name], api_key=KEY, base_url="https://host/v1")).url == "https://host/v1"


def test_error_names_the_variable_of_an_address_without_a_default():
    with pytest.raises(ConfigurationError, match="'databricks' needs an address") as caught:
        connect(ROWS["databricks"], api_key=KEY)
    assert caught.value.hint == "Set DATABRICKS_HOST, or pass base_url='https://HOST/serving-endpoints'."


@pytest.mark.parametrize("name", OWN_SERVERS)
def test_local_server_defaults_to_localhost_without_an_api_key(name: str):
    url, variable = OWN_SERVERS[name]
    assert address(connect(ROWS[name])).url == url
    assert headers(connect(ROWS[name])) == {"a": "b"}
    assert headers(connect(ROWS[name], {variable: KEY}))["authorization"] == f"Bearer {KEY}"


def test_every_preset_is_tested():
    assert {*CLOUDS, *OWN_SERVERS, "azure", "openai-compatible"} == set(ROWS)


def test_session_has_the_vendors_base_url_and_format():
    session = connect(api_key=KEY)
    assert session.model == "gpt-4o"
    assert address(session).url == "https://api.openai.com/v1"
    assert session.transpiler == OpenAIChat(OPENAI.dialect)
    assert address(session).transport is None


@pytest.mark.parametrize("url", ["http://localhost:8000/v1", "http://localhost:8000/v1/", "https://[::1]/v1//"])
def test_given_base_url_loses_trailing_slashes(url: str):
    assert address(connect(COMPATIBLE, base_url=url)).url == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://host/v1",
        "http://",
        "http:///v1",
        "http://host:x/v1",
        "http://host/v1?a=b",
        "http://host/v1#a",
    ],
)
def test_invalid_base_url_is_refused(url: str):
    with pytest.raises(ConfigurationError, match="base_url"):
        connect(COMPATIBLE, base_url=url)


def test_password_in_an_invalid_base_url_is_not_shown():
    with pytest.raises(ConfigurationError) as caught:
        connect(COMPATIBLE, base_url=f"ftp://user:{KEY}@host/v1")
    assert KEY not in str(caught.value)


def test_api_key_argument_overrides_the_environment():
    assert headers(connect(api_key=KEY)) == {"a": "b", "authorization": f"Bearer {KEY}"}
    assert headers(connect(environment={"OPENAI_API_KEY": KEY}))["authorization"] == f"Bearer {KEY}"
    both = connect(api_key="given", environment={"OPENAI_API_KEY": KEY})
    assert headers(both)["authorization"] == "Bearer given"


def test_missing_api_key_error_names_the_environment_variable():
    with pytest.raises(AuthenticationError) as caught:
        connect()
    assert "OPENAI_API_KEY" in (caught.value.hint or "")
    assert caught.value.provider == "openai"


def test_openai_compatible_server_needs_no_api_key():
    assert headers(connect(COMPATIBLE, base_url="http://localhost/v1")) == {"a": "b"}
    assert headers(connect(COMPATIBLE, base_url="http://localhost/v1", api_key=KEY))["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", ["sk secret", "sk\nsecret", "sk-sécret", "sk\x00secret", 5])
def test_api_key_invalid_in_a_header_is_refused_and_not_shown(key: Any):
    with pytest.raises(ConfigurationError, match="API key for openai") as caught:
        connect(api_key=key)
    assert "secret" not in str(caught.value)


def test_api_key_is_stripped_and_absent_from_reprs():
    assert check_key(f" {KEY}\n", "p") == KEY
    assert KEY not in repr(BearerAuth(KEY))
    assert KEY not in repr(FixedEndpoint.at("http://localhost", BearerAuth(KEY)))
    assert KEY not in repr(ProviderConfig("openai", api_key=KEY))


@pytest.mark.parametrize(
    ("preset", "config", "says"),
    [(OPENAI, {"model": None}, "needs a model's name"), (COMPATIBLE, {}, "needs an address")],
)
def test_missing_option_is_named_with_an_example(preset: Preset, config: dict[str, Any], says: str):
    with pytest.raises(ConfigurationError, match=says) as caught:
        connect(preset, api_key=KEY, **config)
    assert (caught.value.hint or "").startswith("For example: ")


@pytest.mark.parametrize(
    ("model", "takes", "does_not_take"),
    [
        ("gpt-4o", "image/png", "audio/wav"),
        ("gpt-4o-mini-2024-07-18", "application/pdf", "audio/wav"),
        ("gpt-4o-audio-preview", "audio/wav", "image/png"),
        ("gpt-4-turbo", "image/png", "application/pdf"),
        ("gpt-4-0613", "text/plain", "image/png"),
        ("o3-mini", "text/plain", "image/png"),
        ("o3", "image/png", "audio/mpeg"),
    ],
)
def test_model_accepts_the_media_types_of_its_family(model: str, takes: str, does_not_take: str):
    profile = connect(api_key=KEY, model=model).profile
    assert profile.known
    assert takes == "text/plain" or profile.supports(takes.partition("/")[0], takes)
    assert not profile.supports(does_not_take.partition("/")[0], does_not_take)


@pytest.mark.parametrize("name", [*CLOUDS, "azure"])
def test_unrecognized_model_has_the_default_profile(name: str):
    profile = connect(ROWS[name], api_key=KEY, base_url="https://host", model="brand-new").profile
    assert (profile.known, profile.cache_points, profile.accepts) == (False, 0, frozenset())
    assert profile.assumed <= profile.encodable
    assert all(profile.may_support("image", type, only_natively=False) for type in ("image/png", "image/jpeg"))


@pytest.mark.parametrize("name", [*OWN_SERVERS, "openai-compatible"])
def test_any_model_name_is_known_on_a_local_server(name: str):
    profile = connect(ROWS[name], base_url="http://localhost", model="brand-new").profile
    assert (profile.known, profile.cache_points, profile.accepts) == (True, 0, frozenset())
    assert profile.may_support("image", "image/png", only_natively=False)


@pytest.mark.parametrize("preset", VENDORS, ids=lambda preset: preset.name)
def test_files_that_models_may_accept_can_be_encoded(preset: Preset):
    unknown = header(preset.name)["unknown"]
    assert set(unknown["assumed"]) <= set(unknown["encodable"])
    assert {each for each in unknown["encodable"] if not each.startswith("image")} <= ENCODABLE


LOW_TO_HIGH = ("low", "medium", "high")


@pytest.mark.parametrize(
    ("name", "model", "thinking", "context_tokens"),
    [
        ("openai", "gpt-6-astra", Thinking((*LOW_TO_HIGH, "xhigh"), can_be_off=False), 1_050_000),
        ("openai", "gpt-6-luna", Thinking((*LOW_TO_HIGH, "xhigh")), 1_050_000),
        ("openai", "gpt-5.1-2025-11-13", Thinking(LOW_TO_HIGH), 400_000),
        ("openai", "gpt-5-mini", Thinking(("minimal", *LOW_TO_HIGH), can_be_off=False), 400_000),
        ("openai", "gpt-4o", Thinking(), 128_000),
        ("openai", "o3-mini", Thinking(LOW_TO_HIGH, can_be_off=False), 200_000),
        ("azure", "o4-mini", Thinking(LOW_TO_HIGH, can_be_off=False), 200_000),
        ("openrouter", "qwen/qwen3", None, None),
        ("groq", "openai/gpt-oss-120b", Thinking(LOW_TO_HIGH, can_be_off=False), 131_072),
        ("mistral", "mistral-small-latest", Thinking(("high",)), 262_144),
        ("deepseek", "deepseek-v4-flash", Thinking(("low", "high", "max")), 1_000_000),
        ("deepseek", "deepseek-flash", Thinking(("low", "high", "max")), 1_000_000),
        ("xai", "grok-4.3", Thinking(LOW_TO_HIGH), 1_000_000),
        ("xai", "grok-4.7", Thinking((*LOW_TO_HIGH, "xhigh"), can_be_off=False), 500_000),
        ("together", "openai/gpt-oss-20b", Thinking(LOW_TO_HIGH, can_be_off=False), 131_072),
        ("fireworks", "accounts/fireworks/models/glm-5", Thinking(("high",)), None),
        ("perplexity", "sonar-pro", Thinking(), 200_000),
        ("cerebras", "gpt-oss-120b", Thinking(LOW_TO_HIGH, can_be_off=False), 131_072),
    ],
)
def test_thinking_and_context_window_match_the_vendors_documentation(
    name: str, model: str, thinking: Thinking | None, context_tokens: int
):
    profile = connect(ROWS[name], api_key=KEY, base_url="https://host", model=model).profile
    found = profile.thinking and replace(profile.thinking, on_by_default=False)
    assert (found, profile.context_tokens) == (thinking, context_tokens)


def test_fixed_endpoint_returns_errors_unchanged():
    error = ProviderError("no")
    assert FixedEndpoint.at("http://localhost", NoAuth()).diagnose(error) is error


def test_preset_of_a_plugin_sends_what_the_format_can_express():
    """Uses public names only."""
    preset = Preset("mine", "Mine", "https://mine.example/v1", "", key_needed=False)
    profile = connect(preset, model="n-1").profile
    assert not profile.known
    assert profile.may_support("image", "image/png", only_natively=True)
