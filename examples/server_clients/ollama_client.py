"""The ollama package: a question about a photo, which a model that accepts no images gets as the text in it."""

import os
from pathlib import Path

from ollama import Client

server = os.environ.get("ABSTRACTCORE_URL", "http://127.0.0.1:8000")
photo = Path(__file__).parents[1] / "media" / "receipt.jpg"

headers = {"authorization": f"Bearer {os.environ.get('ABSTRACTCORE_SERVER_KEY', 'unused')}"}
options = {"temperature": 0, "num_predict": 60}
client = Client(server, headers=headers)
answer = client.generate("default", "What was the total?", images=[str(photo)], options=options)
client.close()
print(answer.response)
print(answer.prompt_eval_count, "tokens in,", answer.eval_count, "out")
