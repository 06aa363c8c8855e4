"""One call: a question about a file."""

from pathlib import Path

from abstractcore import create_llm

notice = Path(__file__).parent / "media" / "notice.pdf"
llm = create_llm()  # the embedded model; create_llm("openai/gpt-5.4-mini") is OpenAI's, with OPENAI_API_KEY set
response = llm.generate("How much does a ticket cost?", media=[notice], temperature=0, max_output_tokens=60)

print(response.content)
print(response.media[0].reason)
print(response.usage.input, "tokens in,", response.usage.output, "out")
