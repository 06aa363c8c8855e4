"""What media handlers get and return: a context, the type of a file, the content that replaces it.

`Retranscribes`: what media handlers may implement besides `MediaHandler`, so that transcripts can be verified.
`Transcriber`: turns recordings into transcripts elsewhere; the sound comes in pieces that it accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Protocol, TypeAlias, TypeVarTuple, runtime_checkable

from ..errors import MediaError
from ..schema import (
    EMPTY,
    AudioPart,
    Billing,
    CallInput,
    CallWarning,
    ContentPart,
    DrawnText,
    ImagePart,
    MediaAnchor,
    MediaDecision,
    MediaKind,
    MediaLoss,
    MediaPart,
    MediaText,
    SchemaError,
    TextPart,
    Transcript,
    Usage,
    canonical_content,
)
from ..schema.base_error import shown
from ..schema.json_values import check_items
from .profiles import MediaLimit, TokenRule
from .runtimes import Isolation
from .stores import ModelStore
from .transports import Fetcher


@dataclass(frozen=True, slots=True)
class VoiceSample:
    """A sample of a speaker's voice, so that a transcriber recognises the speaker in another piece of a recording."""

    speaker: str
    recording: AudioPart


@dataclass(frozen=True, slots=True)
class TranscriptionInput(CallInput):
    """A call with one recording to transcribe.

    `language` is a code such as "en"; `terms` are names and terms as they are spelled. `words` asks for the time of
    each word, `speakers` for who speaks; `voices` are samples of some of them. `seconds` is the length of the
    recording, for the usage of a response that reports none.
    """

    language: str | None = None
    terms: tuple[str, ...] = ()
    words: bool = False
    speakers: bool = False
    voices: tuple[VoiceSample, ...] = ()
    seconds: float | None = None

    def __post_init__(self) -> None:
        CallInput.__post_init__(self)
        if self.language is not None and not isinstance(self.language, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError(f"expected a language code, got {shown(self.language)}", "language")
        if isinstance(self.terms, str) or not all(isinstance(each, str) for each in self.terms):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError(f"expected a list of texts, got {shown(self.terms)}", "terms")
        object.__setattr__(self, "terms", tuple(self.terms))
        object.__setattr__(self, "voices", check_items(self.voices, VoiceSample, "voices"))


@dataclass(frozen=True, slots=True)
class Transcription:
    """A transcript, and what it took; `usage` is None if no model of a provider was asked."""

    transcript: Transcript
    usage: Usage | None = None
    warnings: tuple[CallWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordingLimits:
    """What a transcriber accepts in one request: media types, and at most so many bytes and seconds, None if that is
    not known; and what its transcripts have.
    """

    media_types: frozenset[str]
    max_bytes: int | None = None
    max_seconds: float | None = None
    has_times: bool = False
    """Whether each sentence has its time."""
    has_speakers: bool = False
    """Whether speakers are told apart, as they were requested."""
    known_speakers: int = 0
    """To how many speakers a request may give a name, with a sample of their voice."""


class Transcriber(Protocol):
    """The model of the option `transcription_model`, if it is that of a provider; blocks."""

    @property
    def name(self) -> str:
        """The name of the model, with that of its provider."""
        ...

    def limits(self, language: str | None, speakers: bool) -> RecordingLimits:
        """Returns its limits, if the language is named and speakers are told apart; raises the errors of
        `create_llm`.
        """
        ...

    def __call__(
        self,
        recording: AudioPart,
        *,
        seconds: float,
        language: str | None,
        terms: Sequence[str],
        words: bool,
        speakers: bool,
        voices: Sequence[VoiceSample],
        timeout: float | None,
        parent_id: str | None,
    ) -> Transcription:
        """Returns the transcript, with times from the beginning of the recording; raises the errors of `generate`.

        `seconds` is the length of the recording, `timeout` the time for it, in seconds. `terms` are names and terms as
        they are spelled; `words` asks for the time of each word.
        """
        ...


Ts = TypeVarTuple("Ts")


def no_progress(done: float, total: float | None, what: str) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Caption:
    """What a vision model says about images. `model` is its name, with that of its provider."""

    text: str
    model: str
    usage: Usage | None = None


class Captioner(Protocol):
    """Asks the model of the option `vision_model` about images; blocks."""

    @property
    def name(self) -> str:
        """The name of the model, with that of its provider."""
        ...

    def __call__(
        self, images: Sequence[ImagePart], question: str, *, timeout: float | None, parent_id: str | None
    ) -> Caption:
        """Returns the model's answer; raises the errors of `generate`. `timeout` is in seconds."""
        ...


@dataclass(frozen=True, slots=True)
class MediaContext:
    """What a media handler may use: model weights, the options of `create_llm` for media, and the media types that the
    model accepts.
    """

    models: ModelStore
    options: Mapping[str, Any] = EMPTY
    spare_cores: int = 1
    """Processor cores that a conversion may use."""
    fallbacks: Sequence[str] = ()
    """The names of the handler's fallbacks that may be used, the preferred one first."""
    accepted_outputs: Set[str] = frozenset({"text"})
    """What the model accepts of the outputs of these fallbacks: a conversion holds nothing else."""
    passwords: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The passwords of encrypted files, by the hash of the file."""
    question: str = ""
    """The text of the message that the file is in."""
    timeout: float | None = None
    """Seconds that are left of the time limit of the call."""
    trace_id: str | None = None
    """Id of the call."""
    captioner: Captioner | None = None
    """None unless the option `vision_model` is set."""
    transcriber: Transcriber | None = None
    """None unless the option `transcription_model` is set to a model of a provider."""
    fetcher: Fetcher | None = None
    """Downloads files that are given as URLs; None if that is not allowed."""
    conversions: ConversionStore | None = None
    """Conversions that are kept; the engine gets and puts them."""
    to_text: Callable[[MediaPart], Conversion] | None = None
    """Converts a file inside of this one to text, by its own handler and the policy for its kind; blocks. Raises
    `MediaError` if that is not possible. None where files in files are not wanted."""

    isolation: Isolation | None = None
    """Runs decoders in processes of their own; None runs them in this one."""
    max_images: int | None = None
    """The most images that a conversion may hold: no more can be sent. A handler that leaves some out chooses evenly
    spaced ones, counts the others in `lost`, and returns `Conversion.has_fewer_images`."""
    image_tokens: TokenRule | None = None
    """How many tokens an image has for the model, by its vendor's published rule; None if there is none."""
    image_limits: Mapping[MediaLimit, int] = field(default_factory=dict[MediaLimit, int])
    """The limits of the model on files."""
    image_types: Set[str] = frozenset()
    """The media types of images that the model accepts; empty if it is not known which, or it accepts all."""
    on_progress: Callable[[float, float | None, str], None] = field(default=no_progress, repr=False)

    def isolated(
        self, source: str, seconds: float, function: Callable[[*Ts], Generator[Any, Any, None]], *arguments: *Ts
    ) -> Generator[Any, Any, None]:
        """Yields the values of a generator function in a process that may crash or hang; see `Isolation.run`.

        For decoders in C that hostile files may break. `source` is the name of the file, `seconds` the limit for each
        value.
        """
        if self.isolation is None:
            return function(*arguments)
        return self.isolation.run(function, arguments, source=source, seconds=seconds, timeout=self.timeout)

    def progress(self, done: float, total: float | None, what: str) -> None:
        """Reports progress: `done` of `total` pages, seconds, frames or whatever `what` says. Call it as often as you
        like, from the thread of the conversion.
        """
        self.on_progress(done, total, what)

    def password(self, part: MediaPart) -> str | None:
        """Returns the password of a file, if the user gave one."""
        return self.passwords.get(part.blob.sha256 or "")

    def caption(self, images: Sequence[ImagePart], question: str) -> Caption:
        """Returns the vision model's description of images, within the time limit of the call; blocks.

        Raises `MediaError` without the option `vision_model`, and the errors of `generate`.
        """
        if self.captioner is None:
            raise MediaError("an image cannot be described", hint="Set vision_model=... in create_llm.")
        return self.captioner(images, question, timeout=self.timeout, parent_id=self.trace_id)


@dataclass(frozen=True, slots=True)
class Recognised:
    """The type of a file. `kind` is the kind of its part; "text" for a text file."""

    kind: MediaKind
    media_type: str


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of converting a file: the content that replaces it, a label, and its usage.

    `content` is a text, or texts and media parts in order; media parts hold their bytes, or name a local file. A text
    before an image is its label: `["[page 1]", ImagePart(...), "[page 2]", ImagePart(...)]`. `label` is a word or two
    for the model, such as "transcript" or "3 page images". `warnings` must not quote the file: records hold them also
    without capture of content. `anchors` say where pieces of `text` stand in the file; evidence needs those of its
    whole pages. `fallback` is the one of `context.fallbacks` that was used; None stands for the first. `model` is the
    one that did the conversion, if one did. `lost` says what of the file is not in the content. `has_fewer_images` says
    that it would have held more images without `context.max_images`. `own_text` is the text that images of the
    content show, in which quotes are searched, and `drawn` says how it was drawn. `recorded` says that the calls of
    `usage` have records of their own, as calls of an LLM have; it is set for those of `context.caption` and of
    `context.transcriber`.
    """

    content: str | Sequence[str | ContentPart]
    label: str
    usage: Usage | None = None
    warnings: tuple[CallWarning, ...] = ()
    anchors: tuple[MediaAnchor, ...] = ()
    fallback: str | None = None
    model: str | None = None
    lost: tuple[MediaLoss, ...] = ()
    has_fewer_images: bool = False
    own_text: MediaText | None = None
    drawn: DrawnText | None = None
    recorded: bool = False

    @property
    def parts(self) -> tuple[ContentPart, ...]:
        """The content as parts, without empty texts; raises `SchemaError` for values other than text and media."""
        content = (self.content,) if isinstance(self.content, str) else self.content
        if isinstance(content, list | tuple):  # other types are refused below
            content = [TextPart(item) if isinstance(item, str) else item for item in content]
        return canonical_content(content, "content")

    @property
    def text(self) -> str:
        """The joined texts."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


def total_usage(usages: Iterable[Usage | None]) -> Usage | None:
    """Returns the tokens of all requests of a conversion, and their cost if that of each is known; None for none."""
    found = [each for each in usages if each is not None]
    if len(found) < 2:
        return found[0] if found else None
    costs = [each.billing.cost if each.billing is not None else None for each in found]
    known = [cost for cost in costs if cost is not None]
    billing = Billing(cost=sum(known, Decimal(0))) if len(known) == len(costs) else None
    return replace(sum(found[1:], found[0]), billing=billing)


class ConversionStore(Protocol):
    """Keeps conversions of files, as long as it has room. Methods may block, and never fail."""

    def get(self, key: str) -> Conversion | None:
        """Returns the conversion that was put under `key`, if it is still kept."""
        ...

    def put(self, key: str, conversion: Conversion) -> None:
        """Keeps a conversion."""
        ...


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    """An executed decision: the content that replaces the file (None: the file itself), and warnings without paths.

    `trace_id` is that of the call that executed it, which is charged for it. `failure` says why there is no text of a
    file that can be sent in another way, or left out.
    """

    trace_id: str
    decision: MediaDecision
    parts: tuple[ContentPart, ...] | None = None
    warnings: tuple[CallWarning, ...] = ()
    failure: str | None = None


ConversionKey: TypeAlias = tuple[MediaPart, str, MediaDecision, str]
"""What decides a conversion: the part without its cache point, the form of its blob, the decision without its path,
facts and tokens, and the text of its message."""
ConvertedFiles: TypeAlias = dict[ConversionKey, ConvertedFile]
"""Converted files of a call."""


@runtime_checkable
class Retranscribes(Protocol):
    """A media handler that hears parts of a recording by a second means. Handlers may implement it."""

    def retranscribe(
        self, part: MediaPart, spans: Sequence[tuple[float, float]], context: MediaContext
    ) -> Conversion | None:
        """Returns a transcript of each of `spans`, a line for each, with its anchor; None if there is no second means.

        Spans are a start and an end in seconds, in order; they may overlap. It is heard by other means than `convert`
        has heard it, which `model` names. Blocks.

        Raises `MediaError` if the recording cannot be decoded, and `MissingExtraError` where an optional package is
        needed.
        """
        ...
