"""A question about a video, to a model that accepts images: it gets frames, each after its time."""

from pathlib import Path

from abstractcore import create_llm

video = Path(__file__).parent / "media" / "bunny.mp4"
# A scripted model, so that this runs offline; create_llm("openai/gpt-5.4-mini") is OpenAI's, with OPENAI_API_KEY set.
llm = create_llm("scripted", replies=["A meadow, with a tree and a burrow."], accepts=["image"], video_frames=4)
# "frames+transcript", the default, adds what is said; nothing is said in this video.
response = llm.generate("What is shown?", media=[video], media_policy={"video": "frames"})

(decision,) = response.media
parts = decision.sent.parts if decision.sent else ()
images = [part for part in parts if part.media_type == "image/jpeg"]
times = [part.text.strip() for part in parts if part.text]
print(response.content)
print(f"{decision.fallback}: {len(images)} images, at", *times)
for lost in decision.lost:
    print(f"lost: {lost.count:g} of {lost.total:g} {lost.what}")
