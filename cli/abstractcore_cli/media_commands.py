"""The commands that make media. Their code is in modules of their own, imported when called."""

from __future__ import annotations

from typing import Annotated

import typer

from . import parameters as given


def draw(
    prompt: Annotated[str, typer.Argument(help="What to draw, or how to change the picture.", show_default=False)],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file, or a folder; default: named after the prompt."),
    ] = None,
    source: Annotated[str | None, typer.Option("--from", metavar="FILE", help="A picture to change.")] = None,
    mask: Annotated[
        str | None, typer.Option(metavar="FILE", help="A picture whose transparent places may change.")
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="WIDTHxHEIGHT", help="The size in pixels.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="The number of pictures.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed, for the same picture again.")] = None,
    backend: given.Backend = None,
    backend_model: given.BackendModel = None,
    option: given.BackendOption = None,
    provider: given.Provider = None,
    model: given.Model = None,
    base_url: given.BaseUrl = None,
    timeout: given.Timeout = None,
    context_size: given.ContextSize = None,
    tag: given.Tag = None,
    as_json: given.Json = False,
    quiet: given.Quiet = False,
) -> None:
    """Draw a picture, and print the name of its file.

    By default the language model writes a scene, which is drawn without an image model; --backend names another way
    (abstractcore plugins lists them):

        abstractcore draw "a red house by the sea" --size 800x600 -o house.png

        abstractcore draw "make it night" --from house.png -o night.png

    The ending of --output is the format. A file that is named after the prompt never replaces another one.
    """
    from .drawing import DrawArguments, draw_picture
    from .plugins import ConnectionArguments

    draw_picture(
        DrawArguments(prompt, source, mask, size, count, seed, backend, backend_model, tuple(option or ()), output),
        ConnectionArguments(
            provider, model, base_url, timeout=timeout, context_size=context_size, quiet=quiet, tags=tuple(tag or ())
        ),
        as_json=as_json,
    )


def speak(
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT|FILE|-", help="The text, a text file, or - for stdin.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            "--out",
            metavar="FILE",
            help="The file, a folder, or - for stdout; default: named after the text.",
        ),
    ] = None,
    voice: Annotated[str | None, typer.Option(help="The voice, as --voices lists it.")] = None,
    format: Annotated[
        str | None, typer.Option(help="wav, mp3, opus or flac; default: the ending of --output, or wav.")
    ] = None,
    speed: Annotated[float | None, typer.Option(help="The speed; 1 is usual.")] = None,
    language: Annotated[str | None, typer.Option(help="The language of the text, as in en.")] = None,
    instructions: Annotated[str | None, typer.Option(help="How to speak, for voices that follow instructions.")] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Transcribe the speech, and compare it with the text.")
    ] = False,
    voices: Annotated[bool, typer.Option("--voices", help="List the voices instead.")] = False,
    backend: given.Backend = None,
    backend_model: given.BackendModel = None,
    base_url: given.BackendUrl = None,
    option: given.BackendOption = None,
    timeout: given.Timeout = None,
    tag: given.Tag = None,
    as_json: given.Json = False,
    quiet: given.Quiet = False,
) -> None:
    """Speak a text, and print the name of the file.

    Markdown, tables, numbers and addresses are said as words. The plugin abstractvoice brings voices on this machine:

        abstractcore speak "The 9:05 train costs $42.50." -o train.mp3

        abstractcore speak notes.md --voice heart -o - | aplay

    A file that is named after the text never replaces another one.
    """
    from .plugins import ConnectionArguments
    from .speaking import SpeakArguments, show_voices, speak_text

    (show_voices if voices else speak_text)(
        SpeakArguments(
            text, output, voice, format, speed, language, instructions, verify, backend, backend_model, base_url,
            tuple(option or ()),
        ),
        ConnectionArguments(timeout=timeout, quiet=quiet, tags=tuple(tag or ())),
        as_json=as_json,
    )  # fmt: skip


def transcribe(
    recording: Annotated[
        str, typer.Argument(metavar="FILE", help="A recording, a video, a URL, or - for stdin.", show_default=False)
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", "--out", metavar="FILE", help="The file; default: stdout.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", help="txt, srt, vtt or json; default: the ending of --output, or txt."),
    ] = None,
    language: Annotated[str | None, typer.Option(help="The language, as in en; default: detected.")] = None,
    term: Annotated[
        list[str] | None, typer.Option(help="A name or term that may occur, as it is spelled; may be repeated.")
    ] = None,
    speakers: Annotated[bool, typer.Option("--speakers", help="Tell speakers apart.")] = False,
    words: Annotated[bool, typer.Option("--words", help="Include the time of each word in JSON.")] = False,
    backend: given.Backend = None,
    backend_model: given.BackendModel = None,
    base_url: given.BackendUrl = None,
    option: given.BackendOption = None,
    timeout: given.Timeout = None,
    tag: given.Tag = None,
    as_json: given.Json = False,
    quiet: given.Quiet = False,
) -> None:
    """Transcribe a recording as text, subtitles or JSON.

    By default Whisper listens on this machine; --backend names a vendor, --backend-model another model:

        abstractcore transcribe talk.mp3 --format srt -o talk.srt

        abstractcore transcribe call.wav --speakers --backend elevenlabs

        abstractcore transcribe call.wav --words --json
    """
    from .plugins import ConnectionArguments
    from .transcribing import TranscribeArguments, transcribe_recording

    as_json = as_json or (format or "").lower() == "json"
    transcribe_recording(
        TranscribeArguments(
            recording, output, format, language, tuple(term or ()), speakers, words, backend, backend_model, base_url,
            tuple(option or ()),
        ),
        ConnectionArguments(timeout=timeout, quiet=quiet, tags=tuple(tag or ())),
        as_json=as_json,
    )  # fmt: skip


def compose(
    prompt: Annotated[str, typer.Argument(help="What the music is like.", show_default=False)],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", "--out", metavar="FILE", help="The file, or a folder; default: named after the prompt."
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="wav, flac, mp3, opus, midi or musicxml; default: the ending of --output.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(min=0, help="The length in seconds.")] = None,
    lyrics: Annotated[str | None, typer.Option(metavar="TEXT", help="The words to sing.")] = None,
    lyrics_file: Annotated[str | None, typer.Option(metavar="FILE", help="A text file with the words to sing.")] = None,
    tempo: Annotated[float | None, typer.Option(min=0, help="Beats a minute.")] = None,
    key: Annotated[str | None, typer.Option(help="The key, as in 'A minor'.")] = None,
    meter: Annotated[str | None, typer.Option(help="The time signature, as in 3/4.")] = None,
    mood: Annotated[str | None, typer.Option(help="The mood, as in calm.")] = None,
    also: Annotated[
        list[str] | None, typer.Option(help="A further file: midi, musicxml, or stems; may be repeated.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed, for the same music again.")] = None,
    backend: given.Backend = None,
    backend_model: given.BackendModel = None,
    option: given.BackendOption = None,
    provider: given.Provider = None,
    model: given.Model = None,
    base_url: given.BaseUrl = None,
    timeout: given.Timeout = None,
    context_size: given.ContextSize = None,
    tag: given.Tag = None,
    as_json: given.Json = False,
    quiet: given.Quiet = False,
) -> None:
    """Compose music, and print the name of its file.

    By default the language model writes a score, or rules compose, and it is played on this machine; --backend names
    another way (abstractcore plugins lists them):

        abstractcore compose "a calm waltz for flute" --seconds 20 -o waltz.mp3

        abstractcore compose "a sea shanty" --backend rules --also midi

    A file that is named after the prompt never replaces another one.
    """
    from .composing import ComposeArguments, compose_music
    from .plugins import ConnectionArguments

    wishes = {"seconds": seconds, "tempo": tempo, "key": key, "meter": meter, "mood": mood, "seed": seed}
    compose_music(
        ComposeArguments(
            prompt, lyrics, lyrics_file, format, wishes, tuple(also or ()), backend, backend_model,
            tuple(option or ()), output,
        ),
        ConnectionArguments(
            provider, model, base_url, timeout=timeout, context_size=context_size, quiet=quiet, tags=tuple(tag or ())
        ),
        as_json=as_json,
    )  # fmt: skip


def talk(
    recording: Annotated[
        list[str] | None,
        typer.Option(
            "--input", "-i", metavar="FILE", help="A recording instead of the microphone; a turn each, may be repeated."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", "--out", metavar="FILE.wav", help="A file instead of the loudspeaker."),
    ] = None,
    system: given.System = None,
    voice: Annotated[str | None, typer.Option(help="The voice, as abstractcore speak --voices lists it.")] = None,
    speed: Annotated[float | None, typer.Option(help="The speed; 1 is usual.")] = None,
    language: Annotated[str | None, typer.Option(help="The language of the conversation, as in en.")] = None,
    headphones: Annotated[
        bool, typer.Option("--headphones", help="Speaking stops an answer: the microphone does not hear it.")
    ] = False,
    microphone: Annotated[str | None, typer.Option(help="The name of the microphone, or a part of it.")] = None,
    loudspeaker: Annotated[str | None, typer.Option(help="The name of the loudspeaker, or a part of it.")] = None,
    backend: given.Backend = None,
    listen_model: Annotated[
        str | None, typer.Option(help="The model that listens; default: whisper-base, on this machine.")
    ] = None,
    option: given.BackendOption = None,
    provider: given.Provider = None,
    model: given.Model = None,
    base_url: given.BaseUrl = None,
    temperature: given.Temperature = None,
    max_tokens: given.MaxTokens = None,
    timeout: given.Timeout = None,
    context_size: given.ContextSize = None,
    tag: given.Tag = None,
    quiet: given.Quiet = False,
) -> None:
    """Talk with a model: it listens until you pause, and speaks its answer while it is written.

    Ctrl-C stops an answer, and the conversation keeps what you heard of it; while it listens, Ctrl-C ends the
    conversation. Microphone and loudspeaker need the package sounddevice:

        abstractcore talk -p openai/gpt-5.4-mini --voice heart --headphones

        abstractcore talk --input question.wav --output answer.wav
    """
    from .plugins import ConnectionArguments
    from .talking import TalkArguments, converse

    converse(
        TalkArguments(
            tuple(recording or ()), output, system, voice, speed, language, headphones, microphone, loudspeaker,
            backend, listen_model, tuple(option or ()),
        ),
        ConnectionArguments(
            provider, model, base_url, temperature, max_tokens, timeout, context_size, quiet, tuple(tag or ())
        ),
    )  # fmt: skip
