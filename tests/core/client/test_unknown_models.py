"""Files for unknown models: what the format can express is sent, with a warning."""

from __future__ import annotations

import json
from typing import Any

import pytest

from abstractcore import (
    AudioPart,
    Blob,
    DocumentPart,
    ImagePart,
    Message,
    ModelCall,
    Services,
    UnsupportedContentError,
    VideoPart,
    create_llm,
)
from abstractcore.catalogue import ProviderModels
from abstractcore.errors import ConfigurationError
from abstractcore.ports import ProviderConfig
from tests.chaos_server import completion
from tests.media_doubles import PICTURE, SOUND, registry

OWN_SERVERS = (
    "jan", "litellm", "llama-cpp", "llamafile", "lmstudio", "openai-compatible", "sglang", "tgi", "vllm",
)  # fmt: skip
VENDORS = (
    "anthropic", "azure", "baseten", "bedrock", "bedrock-anthropic", "bedrock-openai", "cerebras",
    "cloudflare", "cohere", "dashscope",
    "databricks", "deepinfra", "deepseek", "fireworks", "google", "google-interactions", "groq", "huggingface",
    "hyperbolic", "minimax", "mistral", "moonshot", "nebius", "novita", "nvidia", "ollama", "openai",
    "openai-responses", "openrouter", "perplexity", "portkey", "sambanova", "together", "vercel", "vertex",
    "vertex-anthropic", "vertex-openai", "xai", "zai",
)  # fmt: skip
WITHOUT_CHAT = ("jina", "tei", "voyage")
NEEDED: dict[str, dict[str, Any]] = {
    "azure": {"resource": "r"},
    "bedrock": {"region": "us-east-1"},
    "bedrock-openai": {"base_url": "http://host.test/v1"},
    "cloudflare": {"base_url": "http://host.test/v1"},
    "databricks": {"base_url": "http://host.test/v1"},
    "openai-compatible": {"base_url": "http://host.test/v1"},
    "bedrock-anthropic": {"base_url": "http://host.test/v1"},
    "vertex": {"project": "p"},
    "vertex-anthropic": {"project": "p", "access_token": "t"},
    "vertex-openai": {"project": "p", "access_token": "t"},
}
PDF = DocumentPart(Blob.from_bytes(b"%PDF-1.7 of a test", "application/pdf"))
VIDEO = VideoPart(Blob.from_bytes(b"a film", "video/mp4"))


@pytest.fixture
def services():
    services = Services(registry=registry(), environment={})
    yield services
    services.close()


@pytest.fixture
def make(services: Services):
    def make(provider: str = "openai-compatible", model: str = "brand-new", **options: Any):
        given = {"api_key": "k", **NEEDED.get(provider, {}), **options}
        return create_llm(provider, model=model, services=services, **given)

    return make


def test_every_provider_with_unknown_models_is_listed_here(services: Services):
    assert {*OWN_SERVERS, *VENDORS, *WITHOUT_CHAT, "local", "scripted"} == set(services.registry.providers)


@pytest.mark.parametrize("provider", [*OWN_SERVERS, *VENDORS])
def test_image_is_sent_to_an_unknown_model_of_any_provider(make, provider: str):
    (decision,) = make(provider).plan("What is this?", media=[PICTURE])
    assert (decision.route, decision.reason) == ("native", "it is not known whether brand-new accepts image/png")


def of_type(accepted: str) -> Any:
    """Returns a file that matches an entry of a profile: a kind, a media type, or the type of a file at a URL."""
    media_type = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}.get(accepted, accepted)
    kind = media_type.partition("/")[0]
    part = {"image": ImagePart, "audio": AudioPart, "video": VideoPart}.get(kind, DocumentPart)
    if media_type.endswith("/*"):
        return part(Blob.from_url("https://host.test/file", media_type))
    return part(Blob.from_bytes(b"content", media_type))


@pytest.mark.parametrize("provider", [*OWN_SERVERS, *VENDORS])
def test_encodable_media_types_are_encoded(services: Services, provider: str):
    options = {name: value for name, value in NEEDED.get(provider, {}).items() if name != "base_url"}
    config = ProviderConfig(provider, "brand-new", "http://host.test/v1", "k", options)
    session = services.registry.provider(provider).connect(config, services)
    assert session.profile.assumed <= session.profile.encodable
    assert session.profile.accepts == frozenset()
    for accepted in sorted(session.profile.encodable):
        message = Message.user(of_type(accepted), "What is this?")
        assert session.transpiler.encode(ModelCall("brand-new", (message,), provider)).request.body


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("provider", [*OWN_SERVERS, "openrouter", "openai"])
def test_image_for_an_unknown_model_has_a_lossless_warning(call_style, server, make, provider: str, strict: bool):
    server.script(completion("A cat."))
    llm = make(provider, base_url=f"{server.url}/v1")
    response = call_style.generate(llm, "What is this?", media=[PICTURE], strict=strict)
    assert response.content == "A cat."
    shown = json.loads(server.requests[0].body)["messages"][0]["content"][0]
    assert shown["image_url"]["url"].startswith("data:image/png;base64,")
    (warning,) = [each for each in response.warnings if each.path != "model"]
    assert (warning.code, warning.path, warning.requested) == (
        "unknown_model",
        "messages[0].parts[0]",
        "image/png",
    )
    assert "accepts=[...]" in warning.message
    assert (len(response.warnings) == 1) == (provider in OWN_SERVERS), "any name is normal on a self-hosted server"


@pytest.mark.parametrize(
    ("provider", "media", "policy", "route"),
    [
        ("openai", [PDF], "auto", "native"),
        ("openai", [SOUND], "auto", "fallback"),
        ("openai", [SOUND], "native", "native"),
        ("openai-compatible", [SOUND], "auto", "fallback"),
        ("openai-compatible", [SOUND], "native", "native"),
        ("openai-compatible", [SOUND], "fallback_only", "fallback"),
        ("google", [SOUND], "auto", "native"),
        ("anthropic", [SOUND], "auto", "fallback"),
        ("bedrock", [VIDEO], "auto", "native"),
    ],
)
def test_convertible_file_is_sent_natively_only_if_the_vendors_models_accept_it(
    make, provider: str, media: list[Any], policy: str, route: str
):
    (decision,) = make(provider).plan("What is this?", media=media, media_policy=policy)
    assert decision.route == route


def test_file_sent_natively_by_policy_has_a_warning(call_style, server, make):
    server.script(completion("Bells."))
    llm = make(base_url=f"{server.url}/v1")
    response = call_style.generate(llm, "What is this?", media=[SOUND], media_policy={"audio": "native"})
    assert json.loads(server.requests[0].body)["messages"][0]["content"][0]["type"] == "input_audio"
    assert [(warning.code, warning.path) for warning in response.warnings] == [
        ("unknown_model", "messages[0].parts[0]")
    ]


@pytest.mark.parametrize("policy", ["auto", "native"])
def test_media_type_that_the_format_cannot_express_is_refused_before_sending(call_style, server, make, policy: str):
    llm = make(base_url=f"{server.url}/v1")
    with pytest.raises(UnsupportedContentError, match="neither brand-new nor its wire format is known to accept") as e:
        call_style.generate(llm, "What is this?", media=[VIDEO], media_policy=policy)
    assert "accepts=" not in str(e.value), "it would not help"
    assert server.requests == []


def test_accepts_overrides_the_profile_without_a_warning(call_style, server, make):
    server.script(completion("A cat."))
    llm = make(base_url=f"{server.url}/v1", accepts=["image"])
    assert call_style.generate(llm, "What is this?", media=[PICTURE]).warnings == ()
    (decision,) = llm.plan("What is said?", media=[SOUND])
    assert decision.route == "fallback"
    for narrowed in (make(accepts=[]), make("openai", accepts=["audio"])):
        with pytest.raises(UnsupportedContentError, match="brand-new does not accept image/png"):
            narrowed.plan("What is this?", media=[PICTURE])


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-3.5-turbo"),
        ("openrouter", "openai/gpt-oss-20b"),
        ("cohere", "command-r"),
        ("ollama", "llama3.2"),
    ],
)
def test_image_for_a_known_text_only_model_is_refused_with_a_hint(make, provider: str, model: str):
    with pytest.raises(UnsupportedContentError, match=f"{model} does not accept image/png") as caught:
        make(provider, model).plan("What is this?", media=[PICTURE])
    assert "accepts=['image']" in str(caught.value)
    assert make(provider, model, accepts=["image"]).plan("What is this?", media=[PICTURE])[0].route == "native"


IMAGES = {
    "anthropic": "gif jpeg png webp",
    "azure": "gif jpeg png webp",
    "bedrock": "gif jpeg png webp",
    "cohere": "gif jpeg png webp",
    "fireworks": "bmp gif jpeg png tiff x-portable-pixmap",
    "google": "heic heif jpeg png webp",
    "google-interactions": "bmp gif heic heif jpeg png tiff webp",
    "llama-cpp": "bmp gif jpeg png",
    "lmstudio": "jpeg png webp",
    "mistral": "gif jpeg png webp",
    "ollama": "jpeg png webp",
    "openai": "gif jpeg png webp",
    "openai-responses": "gif jpeg png webp",
    "openrouter": "gif jpeg png webp",
    "perplexity": "gif jpeg png webp",
    "vertex": "heic heif jpeg png webp",
    "xai": "jpeg png",
}
SEEING = {
    "anthropic": "claude-opus-5-5",
    "azure": "gpt-5.4",
    "bedrock": "us.amazon.nova-2-lite-v1:0",
    "cohere": "command-a-vision-07-2025",
    "google": "gemini-3.8-flash",
    "google-interactions": "gemini-3.8-flash",
    "mistral": "mistral-large-latest",
    "ollama": "gemma3",
    "openai": "gpt-5.4",
    "openai-responses": "gpt-5.4",
    "openrouter": "anthropic/claude-opus-5.5",
    "perplexity": "sonar-pro",
    "vertex": "gemini-3.8-flash",
    "xai": "grok-4.5",
}
TYPES = [f"image/{name}" for name in ["bmp", "gif", "heic", "heif", "jpeg", "png", "tiff", "webp", "x-portable-pixmap"]]


@pytest.mark.parametrize("provider", IMAGES)
def test_image_is_sent_only_in_types_that_the_vendor_lists(make, provider: str):
    listed = [f"image/{name}" for name in IMAGES[provider].split()]
    for model in ("brand-new", SEEING.get(provider, "brand-new")):
        llm = make(provider, model)
        for media_type in TYPES:
            image = ImagePart(Blob.from_bytes(b"pixels", media_type))
            if media_type in listed:
                assert llm.plan("What is this?", media=[image])[0].route == "native"
                continue
            with pytest.raises(UnsupportedContentError, match=media_type) as caught:
                llm.plan("What is this?", media=[image])
            assert f"convert it to {', '.join(listed)}" in (caught.value.hint or "")
        image_at_a_url = ImagePart(Blob.from_url("https://host.test/picture", "image/*"))
        assert llm.plan("What is this?", media=[image_at_a_url])[0].route == "native"


def test_unlisted_media_type_is_sent_if_accepts_declares_it(make):
    bitmap = ImagePart(Blob.from_bytes(b"pixels", "image/bmp"))
    with pytest.raises(UnsupportedContentError, match=r"accepts=\['image/bmp'\]"):
        make("openai", "gpt-5.4").plan("What is this?", media=[bitmap])
    assert make("openai", "gpt-5.4", accepts=["image/bmp"]).plan("?", media=[bitmap])[0].route == "native"


SOUND_AND_VIDEO = {
    "audio": "aac aiff flac l16 l16;codec=pcm;rate=24000 mp4 mpeg ogg pcm wav webm",
    "video": "3gpp avi mov mp4 mpeg mpg quicktime webm wmv x-flv x-ms-wmv x-msvideo",
}
"""What Google's pages on audio and video list, under the names there and in use."""
LISTED = [(f"{kind}/{name}", True) for kind, names in SOUND_AND_VIDEO.items() for name in names.split()]


@pytest.mark.parametrize(
    ("media_type", "listed"), [*LISTED, ("audio/x-ms-wma", False), ("audio/midi", False), ("video/x-matroska", False)]
)
@pytest.mark.parametrize("model", ["brand-new", "gemini-3.8-flash"])
def test_google_accepts_its_listed_audio_and_video_types(make, model: str, media_type: str, listed: bool):
    part = (AudioPart if media_type.startswith("audio/") else VideoPart)(Blob.from_bytes(b"content", media_type))
    if listed:
        assert make("google", model).plan("What is this?", media=[part])[0].route == "native"
        return
    with pytest.raises(UnsupportedContentError, match=f"{media_type}.* cannot be sent"):
        make("google", model).plan("What is this?", media=[part])


@pytest.mark.parametrize("accepts", [["images"], ["image", "pdf"], [""]])
def test_unknown_kind_in_accepts_is_refused_with_the_valid_kinds(make, accepts: list[str]):
    with pytest.raises(ConfigurationError, match=f"{accepts[-1]!r}, which is neither") as caught:
        make(accepts=accepts)
    assert "Kinds are text, image" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("provider", "model", "similar"),
    [
        ("anthropic", "claude-opus-5-6", "claude-opus-5-5"),
        ("openrouter", "anthropic/claude-opus-5.6", "anthropic/claude-opus-5.5"),
        ("openai", "gpt-5.4-minni", "gpt-5.4-mini"),
    ],
)
def test_warning_of_an_unknown_model_names_similar_ones(make, provider: str, model: str, similar: str):
    (warning,) = make(provider, model).plan("hi").warnings
    assert f" Did you mean {similar}" in warning.message
    assert (warning.code, warning.requested) == ("unknown_model", model)


@pytest.mark.parametrize("model", ["entirely-other", "m" * 1_000_000])
def test_warning_of_a_model_like_no_other_names_none(make, model: str):
    (warning,) = make("anthropic", model).plan("hi").warnings
    assert "Did you mean" not in warning.message


@pytest.mark.parametrize("provider", OWN_SERVERS)
def test_own_server_has_no_similar_models_and_no_warning(make, provider: str):
    llm = make(provider, "claude-opus-5-6", base_url="http://host.test/v1")
    assert llm.plan("hi").warnings == ()


def test_similar_names_are_looked_for_once_and_for_unknown_models_only(make, monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    search = ProviderModels.similar
    monkeypatch.setattr(ProviderModels, "similar", lambda models, name: asked.append(name) or search(models, name))
    llm = make("anthropic", "claude-opus-5-6")
    llm.plan("hi")
    llm.plan("hi")
    make("anthropic", "claude-opus-5-5").plan("hi")
    assert asked == ["claude-opus-5-6"]
