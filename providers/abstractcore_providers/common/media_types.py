"""Media types that formats with one vendor can send.

Each set names its source. Those of other vendors are in the headers of the catalogue. That a GIF must not be animated,
as some vendors require, is not checked.
"""

from __future__ import annotations

_PNG, _JPEG, _WEBP, _GIF = "image/png", "image/jpeg", "image/webp", "image/gif"

COHERE_IMAGES = frozenset({_PNG, _JPEG, _WEBP, _GIF})
"""docs.cohere.com/docs/image-inputs, "File Types"."""
OLLAMA_IMAGES = frozenset({_PNG, _JPEG, _WEBP})
"""From its own client: `getImageData` in cmd/interactive.go of ollama/ollama."""

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

INTERACTIONS_IMAGES = GEMINI_IMAGES | {_GIF, "image/bmp", "image/tiff"}
INTERACTIONS_AUDIO = frozenset(
    {
        "audio/aac",
        "audio/aiff",
        "audio/alaw",
        "audio/flac",
        "audio/l16",
        "audio/m4a",
        "audio/mp3",
        "audio/mp4",
        "audio/mpeg",
        "audio/mulaw",
        "audio/ogg",
        "audio/opus",
        "audio/wav",
        "audio/webm",
    }
)
"""`ImageContentMimeType` and `AudioContentMimeType` in the google-genai package 3.4; MP4 audio is M4A."""

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
