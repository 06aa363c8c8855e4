"""The public client: `create_llm`, `LLM`, streams, options, and the building of calls."""
