"""Names that other catalogues of models have for fields of a row, for hints. Data only.

Those of LiteLLM (model_prices_and_context_window.json, "sample_spec"), models.dev and OpenRouter's list of models.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_NAMES = {
    "accepts": "vision supports_vision modalities input_modalities supports_audio_input supports_pdf_input attachment",
    "produces": "output_modalities supports_audio_output",
    "context_tokens": "context context_length context_size context_window max_input_tokens max_model_len num_ctx n_ctx",
    "max_output_tokens": "max_tokens max_completion_tokens",
    "tools": "function_calling supports_function_calling supports_tools tool_call",
    "parallel_tools": "supports_parallel_function_calling",
    "forced_tools": "supports_tool_choice",
    "structured_output": "supports_response_schema json_mode json_schema response_format",
    "thinking": "reasoning supports_reasoning reasoning_effort",
    "accepts_prefill": "supports_assistant_prefill",
    "cache_automatic": "supports_prompt_caching",
    "refused": "unsupported_parameters unsupported_params",
    "retires": "deprecation_date expiration_date",
    "sampling": "temperature top_p top_k default_parameters",
    "prices": "price pricing cost input_cost_per_token output_cost_per_token cache_read_input_token_cost",
}

OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {name: ours for ours, names in _NAMES.items() for name in names.split()}
)
"""Each other name, with the field of a row."""
