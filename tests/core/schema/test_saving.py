"""Parts as files: complete, or not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from abstractcore import Blob, ImagePart

PART = ImagePart(Blob.from_bytes(b"x" * 100_000, "image/png"))
FULL = """
import resource, sys
from abstractcore import Blob, ImagePart
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    ImagePart(Blob.from_bytes(b"x" * 100_000, "image/png")).save(sys.argv[1])
except OSError as error:
    print(type(error).__name__)
"""


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="the system has no limit of file sizes")
@pytest.mark.parametrize("before", [None, b"old"])
def test_file_is_unchanged_if_there_is_no_room_for_the_new_one(tmp_path: Path, before: bytes | None):
    path = tmp_path / "image.png"
    if before is not None:
        path.write_bytes(before)
    result = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout == "OSError\n"
    assert [file.name for file in tmp_path.iterdir()] == ([] if before is None else ["image.png"])
    assert before is None or path.read_bytes() == before


def test_link_leads_to_the_same_file_as_before(tmp_path: Path):
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link.png", tmp_path / "there" / "image.png"
    target.write_bytes(b"old")
    link.symlink_to(target)
    PART.save(link)
    assert link.is_symlink()
    assert target.read_bytes() == b"x" * 100_000


def test_new_file_has_the_usual_permissions(tmp_path: Path):
    usual = tmp_path / "usual"
    usual.write_bytes(b"")
    assert PART.save(tmp_path / "image.png").stat().st_mode == usual.stat().st_mode


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="the system has no such device")
def test_device_is_written_to():
    PART.save("/dev/null")
    assert not Path("/dev/null").is_file()
