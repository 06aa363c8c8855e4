"""Two prompts by the package openai-agents, over Responses or Chat Completions."""

from __future__ import annotations

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from tools import KIND, MODEL, PROMPTS, URL, read_file, write_file

set_tracing_disabled(disabled=True)
model_class = OpenAIResponsesModel if KIND == "responses" else OpenAIChatCompletionsModel
model = model_class(MODEL, openai_client=AsyncOpenAI(base_url=f"{URL}/v1", api_key="none", max_retries=0))
agent = Agent(name="files", model=model, tools=[function_tool(read_file), function_tool(write_file)])
history = []
for prompt in PROMPTS:
    result = Runner.run_sync(agent, [*history, {"role": "user", "content": prompt}])
    history = result.to_input_list()
    print(result.final_output)
