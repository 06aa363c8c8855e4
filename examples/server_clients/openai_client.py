"""The openai package: a question about a PDF, which the model gets as text, and what became of the file."""

import os
from base64 import b64encode
from pathlib import Path

from openai import OpenAI

server = os.environ.get("ABSTRACTCORE_URL", "http://127.0.0.1:8000")
content = (Path(__file__).parents[1] / "media" / "notice.pdf").read_bytes()
notice = f"data:application/pdf;base64,{b64encode(content).decode()}"

client = OpenAI(base_url=f"{server}/v1", api_key=os.environ.get("ABSTRACTCORE_SERVER_KEY", "unused"))
completion = client.chat.completions.create(
    model="default",
    messages=[
        {
            "role": "user",
            "content": [
                {"type": "file", "file": {"filename": "notice.pdf", "file_data": notice}},
                {"type": "text", "text": "How much does a ticket cost?"},
            ],
        }
    ],
    temperature=0,
    max_completion_tokens=60,
    extra_body={"abstractcore": {}},
)
print(completion.choices[0].message.content)
about = (completion.model_extra or {})["abstractcore"]
print(about["media"][0]["reason"])
print(about["cost"], "dollars")
