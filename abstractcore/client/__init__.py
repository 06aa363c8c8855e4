"""What users meet: `create_llm`, `LLM`, streams, options, and everything that makes a call of what they give."""
