"""Files beyond the limits that vendors publish reach their servers within them, whatever the user gave.

Each fake refuses the same files where the catalogue's limits are taken out.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from PIL import Image
from pypdf import PdfWriter

from abstractcore import LLM, ProviderError, Services, create_llm
from tests.media.document.test_pdf import made_of
from tests.media.parts import FILES
from tests.providers.catalogue_rows import rows
from tests.providers.strict_fakes import anthropic_messages, bedrock_converse, cohere_chat, gemini, openai_chat
from tests.providers.strict_fakes.fake import Fake, strict_server
from tests.providers.strict_fakes.file_limits import (
    CLAUDE_200K,
    COHERE,
    CONVERSE,
    GEMINI,
    GROQ,
    FileLimits,
    files_in,
    with_limits,
)

pytestmark = pytest.mark.process

NO_LIMIT = 10**12
KEYS = {"api_key": "k"}


@dataclass(frozen=True)
class Vendor:
    """How its LLM is made, and what its server refuses."""

    provider: str
    model: str
    fake: Fake
    limits: FileLimits
    options: Mapping[str, Any] = field(default_factory=lambda: KEYS)
    row: str | None = None
    """The name of its model in the catalogue, if another."""


CLAUDE = Vendor("anthropic", "claude-sonnet-4-5", anthropic_messages.FAKE, CLAUDE_200K)
AWS = {"credentials": {"aws_access_key_id": "a", "aws_secret_access_key": "s"}, "region": "us-east-1"}
BEDROCK = Vendor("bedrock", "amazon.nova-2-lite-v1:0", bedrock_converse.FAKE, CONVERSE, AWS, "amazon.nova-2-lite")
GROQ_VENDOR = Vendor("groq", "qwen/qwen3.8-27b", openai_chat.fake("groq"), GROQ)
GOOGLE = Vendor("google", "gemini-3.6-flash", gemini.FAKE, GEMINI)
COHERE_VENDOR = Vendor("cohere", "command-a-vision-07-2025", cohere_chat.FAKE, COHERE)


def image(width: int, height: int, number: int = 0, *, noise: bool = False) -> bytes:
    """A PNG file; of noise, it has about as many bytes as its pixels."""
    if noise:
        made = Image.frombytes("RGB", (width, height), Random(number).randbytes(3 * width * height))
    else:
        made = Image.new("P", (width, height), number % 256)
    file = io.BytesIO()
    made.save(file, "PNG", compress_level=1)
    return file.getvalue()


def pdf(pages: int, attached: int = 0) -> bytes:
    """A PDF with an attachment of so many bytes."""
    writer = PdfWriter(clone_from=io.BytesIO(made_of(b"BT /F 9 Tf (hello) Tj ET", pages)))
    if attached:
        writer.add_attachment("a.bin", bytes(attached))
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def docx(padding: int) -> bytes:
    """A Word document with a member that nothing reads."""
    file = io.BytesIO((FILES / "report.docx").read_bytes())
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("customXml/padding.bin", bytes(padding))
    return file.getvalue()


CASES: dict[str, tuple[Vendor, Callable[[], list[bytes]]]] = {
    "claude: number of images": (CLAUDE, lambda: [image(30, 30, number) for number in range(103)]),
    "claude: pixels of many images": (CLAUDE, lambda: [image(2100, 90, number) for number in range(21)]),
    "claude: pixels of an image": (CLAUDE, lambda: [image(8100, 60)]),
    "claude: bytes of a request": (CLAUDE, lambda: [image(1500, 1500, number, noise=True) for number in range(4)]),
    "claude: pages": (CLAUDE, lambda: [pdf(101)]),
    "bedrock: number of images": (BEDROCK, lambda: [image(30, 30, number) for number in range(22)]),
    "bedrock: bytes of an image": (BEDROCK, lambda: [image(1200, 1200, noise=True)]),
    "bedrock: number of documents": (BEDROCK, lambda: [docx(number) for number in range(1, 8)]),
    "bedrock: bytes of a document": (BEDROCK, lambda: [docx(4_600_000)]),
    "groq: number of images": (GROQ_VENDOR, lambda: [image(30, 30, number) for number in range(7)]),
    "groq: area of an image": (GROQ_VENDOR, lambda: [image(6000, 5600)]),
    "groq: bytes of a request": (GROQ_VENDOR, lambda: [image(800, 800, number, noise=True) for number in range(2)]),
    "gemini: bytes of a PDF": (GOOGLE, lambda: [pdf(1, 51_000_000)]),
    "cohere: number of images": (COHERE_VENDOR, lambda: [image(30, 30, number) for number in range(23)]),
}


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    services = Services(environment={})
    yield services
    services.close()


def llm_of(vendor: Vendor, url: str, services: Services, **options: Any) -> LLM:
    eye = create_llm("scripted", replies=["a square"] * 200, accepts=["image"], services=services)
    return create_llm(
        vendor.provider,
        model=vendor.model,
        base_url=url,
        services=services,
        vision_model=eye,
        max_retries=0,
        **vendor.options,
        **options,
    )


@pytest.mark.parametrize("case", CASES)
def test_files_beyond_a_limit_are_sent_within_it(case: str, services: Services):
    vendor, make = CASES[case]
    files = make()
    row = rows(vendor.provider)[vendor.row or vendor.model]
    unlimited = {"media_limits": dict.fromkeys(row["media_limits"], NO_LIMIT), "context_tokens": NO_LIMIT}
    with strict_server(with_limits(vendor.fake, vendor.limits)) as server:
        server.row = row
        response = llm_of(vendor, server.url, services).generate("What is it?", media=files)
        assert len(response.media) == len(files)
        assert [*files_in(server.bodies[-1])] or all(each.route == "fallback" for each in response.media)
        with pytest.raises(ProviderError, match="exceeds the maximum of"):
            llm_of(vendor, server.url, services, facts=unlimited).generate("What is it?", media=files)
