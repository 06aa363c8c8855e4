"""The three clients: ours, the HTTP library alone, and openai-python with its own settings."""

from __future__ import annotations

import httpx2
import openai

from abstractcore import LLM, Services, create_llm

MODEL = "gpt-4o-mini"
PROMPT = "How fast is light, and who measured it first?"
SYSTEM = "You answer in two short paragraphs."
KEY = "sk-benchmark"
BODY = {
    "model": MODEL,
    "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}],
}
STREAM_BODY = {**BODY, "stream": True, "stream_options": {"include_usage": True}}
HEADERS = {"authorization": f"Bearer {KEY}"}
LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
"""Ours and openai-python's. The library keeps 20 by default, and would open 44 new ones for 64 concurrent calls."""


def ours(url: str, services: Services | None = None) -> LLM:
    """Our LLM."""
    return create_llm("openai", model=MODEL, base_url=url, api_key=KEY, services=services)


def ours_fast(url: str) -> LLM:
    """Our LLM on libcurl for sync and aiohttp for async calls."""
    return create_llm("openai", model=MODEL, base_url=url, api_key=KEY, transport="fast")


def bare(url: str) -> httpx2.Client:
    """The HTTP library's sync client."""
    return httpx2.Client(base_url=url, headers=HEADERS, limits=LIMITS)


def bare_async(url: str) -> httpx2.AsyncClient:
    """The HTTP library's async client."""
    return httpx2.AsyncClient(base_url=url, headers=HEADERS, limits=LIMITS)


def openai_sync(url: str) -> openai.OpenAI:
    """openai-python's sync client."""
    return openai.OpenAI(base_url=url, api_key=KEY)


def openai_async(url: str) -> openai.AsyncOpenAI:
    """openai-python's async client."""
    return openai.AsyncOpenAI(base_url=url, api_key=KEY)
