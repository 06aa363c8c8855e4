"""The anthropic package: a streamed answer, and its tokens."""

import os

from anthropic import Anthropic

server = os.environ.get("ABSTRACTCORE_URL", "http://127.0.0.1:8000")
client = Anthropic(base_url=server, api_key=os.environ.get("ABSTRACTCORE_SERVER_KEY", "unused"))
with client.messages.stream(
    model="default",
    max_tokens=60,
    stop_sequences=["."],
    messages=[{"role": "user", "content": "Name the primary colors."}],
    extra_body={"temperature": 0},
) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)
    usage = stream.get_final_message().usage
print()
print(usage.input_tokens + (usage.cache_read_input_tokens or 0), "tokens in,", usage.output_tokens, "out")
