"""Names of options: errors with hints for unknown ones, also for the names that other libraries use.

These are the clients of OpenAI, Anthropic, Google, Cohere and Ollama, LiteLLM, LangChain and pydantic-ai.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..errors import InvalidInputError, UnknownOptionError
from ..registry.suggestions import did_you_mean, nearest_names
from ..schema.base_error import shown
from .options import REQUEST_FIELDS, RESUME_FIELDS

_KNOWN_CAPABILITIES = ("audio", "music", "vision", "voice")
"""Capabilities whose options are accepted even if their plugin is not installed."""
_KEPT_BY_LOOPS = REQUEST_FIELDS - RESUME_FIELDS - {"headers"}
"""Fields of a call that `resume` does not take, since they are in the state of the loop."""
_CERTIFICATES = "verify"
"""An option of `create_llm`; on a call, it is another one."""
_PARAMETERS = frozenset({"response_model"})
"""Parameters of `generate` that are options in other libraries."""
_OF_CREATE = frozenset({"model", "provider"})
"""Parameters of `create_llm`."""
_OF_MAP = {name: f"llm.map(..., {name}=...)" for name in ("concurrency", "on_progress")}
"""Parameters of `map` alone, as they are written."""

_SAME = {
    "max_output_tokens": "max_tokens max_completion_tokens max_new_tokens max_tokens_to_sample maxOutputTokens "
    "num_predict max_length",
    "system_prompt": "system system_message system_instruction instructions preamble developer",
    "thinking": "reasoning reasoning_effort reasoning_budget thinking_budget thinking_level thinking_config "
    "budget_tokens enable_thinking think effort",
    "response_model": "response_format response_schema response_json_schema output_schema output_format json_schema "
    "text_format json_mode format schema output_type response_type "
    "result_type",
    "tools": "functions builtin_tools hosted_tools tool",
    "tool_choice": "function_call tool_config",
    "run_tools": "execute_tools auto_execute auto_call tool_policy automatic_function_calling",
    "deps": "dependencies context_variables tool_context",
    "media": "images image image_url files file attachments audio video documents document pdf",
    "messages": "history chat_history conversation memory contents",
    "stop": "stop_sequences stop_words stopSequences",
    "seed": "random_seed",
    "top_logprobs": "logprobs",
    "cache": "cache_control prompt_caching",
    "tags": "labels",
    "headers": "extra_headers default_headers custom_headers",
    "timeout": "request_timeout timeout_seconds",
    "base_url": "api_base endpoint endpoint_url server_url host url openai_api_base",
    "api_key": "key token auth_token openai_api_key anthropic_api_key google_api_key",
    "max_retries": "num_retries retries retry max_attempts",
    "proxy": "proxies http_proxy https_proxy",
    "verify": "verify_ssl ssl_verify ssl ca_bundle",
    "http_client": "client http_async_client",
    "middleware": "callbacks callback hooks",
    "context_size": "num_ctx n_ctx context_length context_window max_input_tokens",
    "price": "input_cost_per_token output_cost_per_token pricing cost",
    "facts": "model_info model_capabilities",
    "threads": "n_threads num_thread num_threads",
    "access_token": "azure_ad_token azure_ad_token_provider token_provider",
    "region": "region_name aws_region aws_region_name",
    "profile": "profile_name aws_profile aws_profile_name",
    "project": "vertex_project project_id",
    "location": "vertex_location",
}

_FIELDS_OF_ONE_PROVIDER = (
    "extra_body metadata user safety_identifier model_kwargs additional_kwargs generation_config config "
    "params kwargs logit_bias service_tier store prediction verbosity prompt_cache_key repetition_penalty "
    "repeat_penalty min_p top_a safety_settings web_search_options keep_alive truncation"
)

_POLICY_FIELDS = {
    "max_rounds": "max_iterations max_iter max_turns max_steps max_tool_rounds max_tool_iterations max_loops "
    "recursion_limit request_limit",
    "max_calls": "max_tool_calls tool_calls_limit",
    "max_uses": "max_tool_uses",
    "max_failures": "max_tool_failures tool_retries",
    "max_result": "max_result_length max_tool_output",
    "approve": "approval approver require_approval interrupt_before interrupt_on human_in_the_loop",
    "on_event": "event_handler event_stream_handler on_tool_start on_tool_end",
    "on_limit": "early_stopping_method",
    "journal": "checkpointer",
}

OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {name: ours for ours, names in _SAME.items() for name in names.split()}
)
"""Other libraries' names of options that exist here, each with our name."""

OTHER_WAYS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(_FIELDS_OF_ONE_PROVIDER.split(), "provider_options={'PROVIDER_NAME': {...}}"),
        **dict.fromkeys(
            ("model", "model_name", "model_id", "engine", "deployment", "deployment_name", "provider"),
            "create_llm('PROVIDER/MODEL')",
        ),
        **dict.fromkeys(("n", "best_of", "candidate_count", "num_generations"), "one call per answer"),
        **dict.fromkeys(("prompt", "input", "message", "content", "question", "query"), "generate('the prompt')"),
        **dict.fromkeys(("stream", "streaming"), "llm.stream(...), or generate(..., stream=True)"),
        **{
            name: f"run_tools=ToolPolicy({field}=...)"
            for field, names in _POLICY_FIELDS.items()
            for name in names.split()
        },
        "handle_tool_errors": "@tool(on_error='report') or @tool(on_error='raise')",
        "tool_timeout": "run_tools=ToolPolicy(timeout=...), or @tool(timeout=...)",
        "stream_options": "stream.response.usage, which is always requested",
        "extra_query": "create_llm(..., http_client=httpx2.Client(params={...}))",
        **dict.fromkeys(("rpm", "rpm_limit"), "limits=Limits(requests_per_minute=...)"),
        **dict.fromkeys(("tpm", "tpm_limit"), "limits=Limits(tokens_per_minute=...)"),
        **dict.fromkeys(("max_concurrency", "max_parallel_requests"), "limits=Limits(parallel=...)"),
        "rate_limiter": "limits=Limits(requests_per_minute=...)",
        "organization": "headers={'OpenAI-Organization': '...'}",
        "web_search": "tools=[HostedTool('web_search')]",
    }
)
"""Options that work differently here, each with what to write; PROVIDER_NAME is replaced by the LLM's provider."""


@dataclass(frozen=True, slots=True)
class OptionNames:
    """Checks the names of the options of one LLM. `provider` is shown in hints about `provider_options`; `of_create`
    are the options of `create_llm` for all providers.
    """

    provider: str
    of_create: Collection[str]

    def check(
        self, options: Mapping[str, Any], known: Collection[str], where: str, capabilities: Collection[str] = ()
    ) -> None:
        """Raises `UnknownOptionError` with similar names for an option that is neither known nor a capability's."""
        if not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a mapping, got {type(options).__name__}", path="options")
        for name in options:
            if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidInputError(f"{shown(name)} is not an option name", path="options")
            if name not in known and not _is_capability_option(name, capabilities):
                raise UnknownOptionError(f"{where} has no option {name!r}.", hint=self._hint(name, known))

    def _hint(self, name: str, known: Collection[str]) -> str:
        """Returns the hint of an error: our name, the function that takes it, an alternative, or similar names."""
        ours = OTHER_NAMES.get(name, name)
        if known is RESUME_FIELDS and ours not in known and ours in _KEPT_BY_LOOPS:
            return f"The loop keeps that of its first call: llm.generate(..., {ours}=...)."
        on_a_call = REQUEST_FIELDS.issuperset(known)
        if on_a_call and ours == _CERTIFICATES:
            return f"It is an option of create_llm: create_llm(..., {ours}=...)."
        if ours in known or (on_a_call and ours in _PARAMETERS):
            return f"Here it is named {ours}: {ours}=..."
        if on_a_call and ours in self.of_create:
            return f"It is an option of create_llm: create_llm(..., {ours}=...)."
        if ours in REQUEST_FIELDS | _PARAMETERS:
            return f"It is an option of each call: llm.generate(..., {ours}=...)."
        if name in OTHER_WAYS:
            return f"Use {OTHER_WAYS[name].replace('PROVIDER_NAME', self.provider)}."
        if name in _policy_fields():
            return f"It is a field of ToolPolicy: run_tools=ToolPolicy({name}=...)."
        if ours in self.of_create:
            return f"Only other providers support {ours}: see help(create_llm)."
        own = {*known, *(_PARAMETERS if on_a_call else _OF_CREATE)}
        elsewhere = {**{field: f"run_tools=ToolPolicy({field}=...)" for field in _policy_fields()}, **_OF_MAP}
        near = nearest_names(name, own | elsewhere.keys() if on_a_call else own)
        if near:
            return did_you_mean([each if each in own else elsewhere[each] for each in near])
        where = "llm.resume" if known is RESUME_FIELDS else "llm.generate" if on_a_call else "create_llm"
        return f"help({where}) lists the options."


def _policy_fields() -> Collection[str]:
    from ..tools.policy import ToolPolicy

    return ToolPolicy.__dataclass_fields__


def _is_capability_option(name: str, capabilities: Collection[str]) -> bool:
    capability, underscore, _ = name.partition("_")
    return bool(underscore) and (capability in capabilities or capability in _KNOWN_CAPABILITIES)
