"""What chat templates of models refuse: the rules of Qwen3.5's and Mistral Small 3.1's, with their messages.

Sources: `tokenizer_config.json` of Qwen/Qwen3.5-0.8B and `chat_template.json` of
mistralai/Mistral-Small-3.1-24B-Instruct-2503, at huggingface.co.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

ROLES = ("system", "user", "assistant", "tool")


def template_errors(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The exceptions that a template raises for the messages of a request."""
    given = list(messages)
    for index, message in enumerate(given):
        if message["role"] not in ROLES:
            yield "Unexpected message role."
        if message["role"] == "system" and index:
            yield "System message must be at the beginning."
    turns = [each for each in given if each["role"] in ("user", "assistant") and not each.get("tool_calls")]
    for index, message in enumerate(turns):
        if (message["role"] == "user") != (index % 2 == 0):
            yield "After the optional system message, conversation roles must alternate user and assistant roles."


def template_refusal(row: Any, path: str, body: Any) -> str | None:
    """The message of a server's 400; None for a request that it accepts."""
    return next(template_errors(body["messages"]), None)
