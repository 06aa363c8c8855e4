"""Questions about a Word document, a spreadsheet and a PDF, and what the model got of each file."""

from pathlib import Path

from abstractcore import create_llm

FILES = Path(__file__).parent / "media"
QUESTIONS = {
    "harvest.docx": "How many tonnes of pears were there?",
    "sales.xlsx": "What is the price of a unit?",
    "notice.pdf": "How much does a ticket cost?",
}

llm = create_llm(media_policy={"image": "refuse"})  # the embedded model; pictures in files are left out and counted
for name, question in QUESTIONS.items():
    response = llm.generate(question, media=[FILES / name], temperature=0, max_output_tokens=60)
    (decision,) = response.media
    lost = ", ".join(f"{loss.count:g} of {loss.total:g} {loss.what}" for loss in decision.lost) or "nothing"
    print(f"{name}: {response.content}")
    assert decision.sent is not None  # it is None in plans only
    print(f"  sent as {decision.sent.media_type}, {decision.sent.size} bytes; not sent: {lost}")
