"""Image types that vendors document, one set a vendor for all its APIs and models.

Each set names its source. A vendor without documented types is not listed: its models accept "image". That a GIF must
not be animated, as some vendors require, is not checked.
"""

from __future__ import annotations

_PNG, _JPEG, _WEBP, _GIF = "image/png", "image/jpeg", "image/webp", "image/gif"
_FOUR = frozenset({_PNG, _JPEG, _WEBP, _GIF})

OPENAI_IMAGES = _FOUR
"""developers.openai.com/api/docs/guides/images-vision, "Image input requirements"; the same at Azure."""
ANTHROPIC_IMAGES = _FOUR
"""platform.claude.com/docs/en/build-with-claude/vision; `Base64ImageSourceParam` in the anthropic package."""
OPENROUTER_IMAGES = _FOUR
"""openrouter.ai/docs/features/multimodal/images, for all underlying providers."""
MISTRAL_IMAGES = _FOUR
"""docs.mistral.ai/capabilities/vision, "What types of image files are supported?\""""
COHERE_IMAGES = _FOUR
"""docs.cohere.com/docs/image-inputs, "File Types"."""
PERPLEXITY_IMAGES = _FOUR
"""docs.perplexity.ai/guides/image-attachments."""
BEDROCK_IMAGES = _FOUR
"""`ImageFormat` in botocore's model of bedrock-runtime."""
XAI_IMAGES = frozenset({_PNG, _JPEG})
"""docs.x.ai/docs/guides/image-understanding, "Image input general limits"."""
FIREWORKS_IMAGES = frozenset({_PNG, _JPEG, _GIF, "image/bmp", "image/tiff", "image/x-portable-pixmap"})
"""docs.fireworks.ai/guides/querying-vision-language-models."""
LM_STUDIO_IMAGES = frozenset({_PNG, _JPEG, _WEBP})
"""lmstudio.ai/docs/python/llm-prediction/image-input."""
OLLAMA_IMAGES = frozenset({_PNG, _JPEG, _WEBP})
"""From its own client: `getImageData` in cmd/interactive.go of ollama/ollama."""
LLAMA_CPP_IMAGES = frozenset({_PNG, _JPEG, _GIF, "image/bmp"})
"""From its decoder: vendor/stb/stb_image.h in ggml-org/llama.cpp."""

GEMINI_IMAGES = frozenset({_PNG, _JPEG, _WEBP, "image/heic", "image/heif"})
"""ai.google.dev/gemini-api/docs/image-understanding, "Supported image formats"."""
GEMINI_AUDIO = frozenset(
    {
        "audio/aac",
        "audio/aiff",
        "audio/flac",
        "audio/l16",
        "audio/mp4",
        "audio/mpeg",
        "audio/ogg",
        "audio/pcm",
        "audio/wav",
        "audio/webm",
    }
)
"""ai.google.dev/gemini-api/docs/audio; for MP4, PCM and WebM firebase.google.com/docs/ai-logic/input-file-requirements;
and L16, which the API itself gives.
"""
GEMINI_VIDEO = frozenset(
    {
        "video/3gpp",
        "video/avi",
        "video/mov",
        "video/mp4",
        "video/mpeg",
        "video/mpg",
        "video/quicktime",
        "video/webm",
        "video/wmv",
        "video/x-flv",
        "video/x-ms-wmv",
        "video/x-msvideo",
    }
)
"""ai.google.dev/gemini-api/docs/video-understanding, "Supported video formats", under the names there and in use."""

GEMINI_OFFICE = frozenset(
    {
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
    }
)
"""docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides, the guide to Gemini 4 Carbon."""


def with_images(accepts: frozenset[str], images: frozenset[str]) -> frozenset[str]:
    """Returns the kinds and media types with `images` in place of "image", if that is among them."""
    return (accepts - {"image"}) | images if "image" in accepts else accepts
