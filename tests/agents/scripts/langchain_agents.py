"""Two prompts by an agent of LangChain, with its packages for the APIs that the server speaks."""

from __future__ import annotations

from langchain.agents import create_agent
from tools import KIND, MODEL, PROMPTS, URL, read_file, write_file


def model():
    """The chat model of a package."""
    if KIND in ("chat", "responses"):
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model=MODEL, base_url=f"{URL}/v1", api_key="none", max_retries=0, use_responses_api=KIND == "responses"
        )
    if KIND == "anthropic":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model=MODEL, base_url=URL, api_key="none", max_retries=0)
    if KIND == "google":
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(model=MODEL, base_url=URL, google_api_key="none", max_retries=1)
    from langchain_ollama import ChatOllama

    return ChatOllama(model=MODEL, base_url=URL)


agent = create_agent(model(), tools=[read_file, write_file])
messages = []
for prompt in PROMPTS:
    messages = agent.invoke({"messages": [*messages, {"role": "user", "content": prompt}]})["messages"]
    print(messages[-1].text)
