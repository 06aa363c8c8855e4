"""Models that Ollama servers run, under the names of its library.

After docs.ollama.com/capabilities/vision and /thinking, and the page of each model in the library.
"""

from __future__ import annotations

from functools import partial

from abstractcore.ports import ModelProfile, Thinking

from ...common.media_types import OLLAMA_IMAGES
from .family import ModelFamily, family

_TEXT = frozenset[str]()
_LEVELS = Thinking(("low", "medium", "high"), can_be_off=False)
_ON_OR_OFF = Thinking(("medium",))
_NO_THINKING = Thinking()
_ollama = partial(family, "https://ollama.com/library")

OLLAMA: tuple[ModelFamily, ...] = (
    _ollama("gpt-oss", _TEXT, thinking=_LEVELS),
    _ollama("deepseek-r1", _TEXT, thinking=_ON_OR_OFF),
    _ollama("deepseek-v3.1", _TEXT, thinking=_ON_OR_OFF),
    _ollama("gemma3:270m", _TEXT, thinking=_NO_THINKING),
    _ollama("gemma3:1b", _TEXT, thinking=_NO_THINKING),
    _ollama("gemma3", OLLAMA_IMAGES, thinking=_NO_THINKING),
    _ollama("llama3.2-vision", OLLAMA_IMAGES, thinking=_NO_THINKING),
    _ollama("llava", OLLAMA_IMAGES, thinking=_NO_THINKING),
    _ollama("bakllava", OLLAMA_IMAGES, thinking=_NO_THINKING),
    _ollama("llama4", OLLAMA_IMAGES, thinking=_NO_THINKING),
    _ollama("qwen2.5vl", OLLAMA_IMAGES, thinking=_NO_THINKING),
    _ollama("llama3.1", _TEXT, thinking=_NO_THINKING),
    _ollama("llama3.2", _TEXT, thinking=_NO_THINKING),
    _ollama("llama3.3", _TEXT, thinking=_NO_THINKING),
)
UNKNOWN_OLLAMA = ModelFamily(
    (), ModelProfile(assumed=OLLAMA_IMAGES, encodable=OLLAMA_IMAGES, cache_points=0, known=False)
)
