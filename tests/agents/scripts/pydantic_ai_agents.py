"""Two prompts by the package pydantic-ai, with the models of the vendors whose APIs the server speaks."""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from tools import KIND, MODEL, PROMPTS, URL, read_file, write_file

MODELS = {
    "chat": lambda: OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=f"{URL}/v1", api_key="none")),
    "responses": lambda: OpenAIResponsesModel(MODEL, provider=OpenAIProvider(base_url=f"{URL}/v1", api_key="none")),
    "anthropic": lambda: AnthropicModel(MODEL, provider=AnthropicProvider(base_url=URL, api_key="none")),
    "google": lambda: GoogleModel(MODEL, provider=GoogleProvider(base_url=URL, api_key="none")),
}
agent = Agent(MODELS[KIND](), tools=[read_file, write_file])
history = []
for prompt in PROMPTS:
    result = agent.run_sync(prompt, message_history=history)
    history = result.all_messages()
    print(result.output)
