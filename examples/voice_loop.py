"""A spoken conversation without sound devices: recordings in, one spoken file out, and an interruption.

Without an argument the model is scripted. `python voice_loop.py local` asks the embedded model, and
`python voice_loop.py openai/gpt-5.4-mini question.wav` another one about your own recording. The package in
plugins/abstractvoice is needed. `abstractcore talk` does the same with a microphone and a loudspeaker.
"""

import sys
import wave
from pathlib import Path
from typing import Any

from abstractcore import Message, create_llm

ANSWERS = [
    "The meeting starts at **9:30** on Tuesday, in room 12. It takes about two hours, and there is coffee.",
    "Please bring the budget report, and two copies of the contract.",
]
MEETING = Path(__file__).parent / "media" / "meeting.wav"
INTERRUPTED_AFTER = 2.5  # seconds of the first answer

provider = sys.argv[1] if len(sys.argv) > 1 else "scripted"
recordings = sys.argv[2:] or [MEETING, MEETING]
options: dict[str, Any] = {"voice_variation": 0}  # the same speech each time
options |= {"replies": ANSWERS} if provider == "scripted" else {"max_output_tokens": 60}
llm = create_llm(provider, transcription_model="whisper-tiny.en", **options)

history = [Message.system("This is a spoken conversation. Answer briefly, in plain sentences.")]
sound, rate = b"", 0
for turn, recording in enumerate(recordings):
    question = llm.voice.stt(recording).text
    print(f"> {question}")
    history.append(Message.user(question))
    with llm.voice.reply(messages=history) as reply:
        played = 0.0
        for part in reply:
            samples, rate = part.blob.read(), int(part.blob.media_type.partition("rate=")[2].partition(";")[0])
            seconds = len(samples) / 2 / rate
            if turn == 0 and len(recordings) > 1 and played + seconds > INTERRUPTED_AFTER:
                # Here a person would begin to speak: the loudspeaker falls silent, and the model learns what was heard.
                sound += samples[: 2 * int((INTERRUPTED_AFTER - played) * rate)]
                heard = reply.interrupt(played_seconds=INTERRUPTED_AFTER)
                print(f"{heard.text} -- interrupted, by {heard.means}")
                break
            sound += samples
            played += seconds
        else:
            print(reply.text)
    history += reply.messages

with wave.open("conversation.wav", "wb") as file:
    file.setparams((1, 2, rate, 0, "NONE", ""))
    file.writeframes(sound)
print(f"conversation.wav has {len(sound) / 2 / rate:.0f} seconds of speech")
