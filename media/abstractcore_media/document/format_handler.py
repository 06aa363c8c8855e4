"""Handles document formats: recognition, limits, errors. What is in a file is read by the module of its format."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from abstractcore.errors import AbstractCoreError, MediaError
from abstractcore.ports import Fallback
from abstractcore.schema import MediaKind, MediaPart

from ..common.content import content_of, source_of
from ..common.extras import missing_module
from ..common.media_types import extensions_of_types
from ..common.recognition import recognised
from .glyphs.fallback import drawn_or_text, glyphs
from .text import TextHandler

if TYPE_CHECKING:
    from abstractcore.ports import Conversion, MediaContext, Recognised

    from .blocks import Block
    from .vocabularies import LossCounter
    from .work_limits import Work, WorkLimits

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The types of pictures in files that models accept."""
_BLOCK_BYTES, _BATCH_BYTES = 100, 100_000
"""Blocks of about so many bytes are sent from one process to another at once."""
_NAMED_LOSSES = 10
AS_TEXT, AS_GLYPHS = Fallback("text", frozenset({"text"}) | PICTURES), glyphs(PICTURES)


@dataclass(frozen=True, slots=True)
class DocumentFormat:
    """One format. `module` has `read`, from `DocumentFile` to blocks, and `VOCABULARY`; `title` names a file of it.

    With `is_isolated`, it runs in a process of its own: its library may crash, or not stop.
    """

    name: str
    title: str
    module: str
    media_types: frozenset[str]
    kind: MediaKind = "document"
    fallbacks: Sequence[Fallback] = (AS_TEXT, AS_GLYPHS)
    is_isolated: bool = False


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A file that is read: its content, its name, its password if the user gave one, and the limits of the work.

    `losses` counts what its reader does not carry over; the handler adds them to the blocks.
    """

    data: bytes
    name: str
    work: Work
    media_type: str
    losses: LossCounter
    password: str | None = None


class FormatHandler:
    """Handles one document format: converts files to Markdown. What has nothing readable is a `MediaError`.

    `limits` bound the cost of one document; None stands for those of `WorkLimits()`.
    """

    def __init__(self, format: DocumentFormat, limits: WorkLimits | None = None) -> None:
        self.name = format.name
        self.fallbacks = format.fallbacks
        self.limits = limits
        self._format = format

    @property
    def extensions(self) -> tuple[str, ...]:
        """File name extensions of the format."""
        return extensions_of_types(self._format.media_types)

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the type of a file of this format; None for any other."""
        return recognised(self._format.kind, self._format.media_types.__contains__, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raises `MediaError` for a file that is empty, larger than the limit, or an encrypted Office file."""
        from .office.decryption import OLE, needs_password

        data = document_content(part, self._work(part, None))
        if "openxmlformats" in part.blob.media_type and data.startswith(OLE):
            raise needs_password(source_of(part))

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Returns the text of the file as Markdown, or images of it, with pictures in place.

        A text file, such as HTML, is returned as it is if the fallback is "source", or if its text cannot be read.
        Raises `MediaError` for a file that is corrupt, encrypted, over a limit or without anything readable.
        """
        return drawn_or_text(part, context, self._as_text)

    def _as_text(self, part: MediaPart, context: MediaContext) -> Conversion:
        if "source" not in context.fallbacks:
            return self._as_markdown(part, context)
        if "text" in context.fallbacks[:1]:
            with suppress(MediaError):
                return self._as_markdown(part, context)
        return replace(TextHandler().convert(part, context), fallback="source")

    def _as_markdown(self, part: MediaPart, context: MediaContext) -> Conversion:
        from .rendering import Renderer

        work = self._work(part, context.timeout)
        renderer = Renderer(work, context)
        with closing(self._blocks(part, context, work)) as blocks:
            renderer.add_all(blocks)
        if not renderer.has_content:
            lost = ", ".join(f"{each.what}: {each.count:g}" for each in renderer.lost[:_NAMED_LOSSES])
            raise MediaError(
                f"{work.source} has no text that can be read{f' (not read: {lost})' if lost else ''}.",
                source=work.source,
                hint="If it holds pictures only, use a model that accepts images.",
            )
        return renderer.conversion(self._format.title)

    def _blocks(self, part: MediaPart, context: MediaContext, work: Work) -> Generator[Block]:
        arguments = part, self._format, work.limits, context.timeout, context.password(part)
        if not self._format.is_isolated:
            yield from _blocks(*arguments)
            return
        from .block_values import block_of

        with closing(context.isolated(work.source, work.limits.seconds, _block_values, *arguments)) as batches:
            for batch in batches:
                for values in batch:
                    block = block_of(values)
                    work.unpacked(_BLOCK_BYTES + len(getattr(block, "data", None) or ""))  # that process may be hostile
                    yield block

    def _work(self, part: MediaPart, timeout: float | None) -> Work:
        from .work_limits import Work, WorkLimits

        return Work(source_of(part), self.limits or WorkLimits(), timeout)


def document_content(part: MediaPart, work: Work) -> bytes:
    """Returns the content of a file; raises `MediaError` if it is empty, or larger than the limit."""
    size = part.blob.size
    if size is not None and size > work.limits.file_bytes:
        raise work.too_large(f"it has {size:,} bytes")
    data = content_of(part)
    if not data:
        raise MediaError(f"{work.source} is empty.", source=work.source, hint="Save it again in its application.")
    return data


def _blocks(
    part: MediaPart, format: DocumentFormat, limits: WorkLimits, timeout: float | None, password: str | None
) -> Generator[Block]:
    """Yields the blocks of a file; raises `MediaError` if it cannot be read."""
    from .file_ends import is_cut
    from .vocabularies import LossCounter
    from .work_limits import Work

    work = Work(source_of(part), limits, timeout)
    data = document_content(part, work)
    with explained(work, format.title):
        module = import_module(f".{format.module}", __package__)
        losses = LossCounter(module.VOCABULARY)
        file = DocumentFile(data, work.source, work, part.blob.media_type, losses, password)
        yield from cast("Callable[[DocumentFile], Iterator[Block]]", module.read)(file)
        if is_cut(data, file.media_type):
            losses.cut()
        yield from losses.blocks()


def _block_values(
    part: MediaPart, format: DocumentFormat, limits: WorkLimits, timeout: float | None, password: str | None
) -> Generator[list[Any]]:
    """Yields the blocks of a file as lists of values, in a process of its own."""
    from .block_values import values_of

    batch: list[Any] = []
    size = 0
    for block in _blocks(part, format, limits, timeout, password):
        batch.append(values_of(block))
        size += _BLOCK_BYTES + len(getattr(block, "data", None) or getattr(block, "text", ""))
        if size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    yield batch


@contextmanager
def explained(work: Work, what: str) -> Generator[None]:
    """Converts the exceptions of parsers, of any type for corrupt files, to `MediaError`."""
    from .xml_elements import XmlError

    try:
        yield
    except XmlError as error:
        raise work.corrupt(what, error.message) from error
    except AbstractCoreError:
        raise
    except ImportError as error:
        raise missing_module(error, f"Reading {work.source}", "documents") from error
    except MemoryError as error:
        raise work.too_large("reading it needs more memory than there is") from error
    except Exception as error:
        raise work.corrupt(what) from error
