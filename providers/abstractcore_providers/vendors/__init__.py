"""The vendors' providers: how each API is reached, and what its models can do and refuse.

Requests, responses, streams and errors on the wire (status codes such as 429, error codes, retry delays) are not here,
but in `formats/`, one folder a wire format:

| providers | here | wire format |
|---|---|---|
| anthropic, bedrock-anthropic, vertex-anthropic | `anthropic.py`, `google/partners.py` | `formats/anthropic_messages` |
| azure, groq, mistral, openai, openrouter and others | `openai_compatible/`, `azure.py` | `formats/openai_chat` |
| bedrock | `bedrock/` | `formats/bedrock_converse` |
| cohere | `cohere.py` | `formats/cohere_chat` |
| google, vertex | `google/` | `formats/gemini` |
| ollama | `ollama.py` | `formats/ollama` |
| openai-responses | `openai_responses.py` | `formats/openai_responses` |

All extend `VendorProvider`. `models/` has the tables of models, `rules/` what the rules in these tables do.
"""
