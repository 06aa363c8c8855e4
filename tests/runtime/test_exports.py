"""A run as a zip file: verified offline by the script that lies inside, and signed."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from sqlalchemy import select

from abstractcore.errors import InvalidInputError, MissingExtraError
from abstractruntime import LedgerError, RunNotFoundError, Runtime, verify_export
from abstractruntime.exports import export_run
from abstractruntime.offline import verify
from abstractruntime.signatures import sign_heads
from abstractruntime.store.tables import artifacts as values
from tests.runtime.orders import execute, ordered, waiting_order
from tests.runtime.upstream_chain import bad_records

Make = Callable[..., Runtime]
KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
FILES = ["README.txt", "bodies.jsonl", "records.jsonl", "run.json", "verify.py"]


def files_of(path: Path) -> dict[str, bytes]:
    """Returns the files in an export."""
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    """Writes files as an export has them."""
    with zipfile.ZipFile(path, "w") as file:
        for name, data in files.items():
            file.writestr(name, data)
    return path


def exported(make: Make, tmp_path: Path) -> tuple[Runtime, Path]:
    """Returns a runtime, and the export of its run."""
    runtime = ordered(make, "a")
    path = tmp_path / "run.zip"
    runtime.run("a").export(path)
    return runtime, path


def test_an_export_has_the_stored_bytes_of_the_run(make_stored: Make, tmp_path: Path) -> None:
    runtime, path = exported(make_stored, tmp_path)
    files = files_of(path)
    (artifact,) = [name for name in files if name.startswith("artifacts/")]
    assert sorted(files) == sorted([*FILES, artifact])
    assert artifact == f"artifacts/{sha256(files[artifact]).hexdigest()}"
    records = [json.loads(line) for line in files["records.jsonl"].splitlines()]
    bodies = files["bodies.jsonl"].splitlines()
    ledger = [*runtime.run("a").ledger()]
    assert [record["record_hash"] for record in records] == [record.hash for record in ledger]
    assert [sha256(body).hexdigest() for body in bodies] == [record.body_sha256 for record in ledger]
    assert json.loads(files["run.json"]) == {"head": ledger[-1].hash, "records": 4, "run": "a"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_records_of_an_export_are_a_chain_by_the_upstream_rule(make_runtime: Make, tmp_path: Path) -> None:
    _, path = exported(make_runtime, tmp_path)
    records = [json.loads(line) for line in files_of(path)["records.jsonl"].splitlines()]
    assert bad_records(records) == []
    assert bad_records([records[0], {**records[1], "kind": "ended"}, *records[2:]]) == [1]


def test_equal_runs_give_equal_bytes(make_runtime: Make, tmp_path: Path) -> None:
    runtime, path = exported(make_runtime, tmp_path)
    again = tmp_path / "again.zip"
    runtime.run("a").export(again)
    assert again.read_bytes() == path.read_bytes()


def test_a_run_that_goes_on_is_exported_as_it_is(make_runtime: Make, tmp_path: Path) -> None:
    run = waiting_order(ordered(make_runtime), "a")
    verification = run.export(tmp_path / "run.zip")
    assert (verification.ok, verification.records, verification.head) == (True, 3, run.info.head)
    assert verify_export(tmp_path / "run.zip") == verification


def unpacked(path: Path, tmp_path: Path) -> Path:
    """Unpacks an export; returns its folder."""
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(path) as file:
        file.extractall(folder)
    return folder


def run_script(folder: Path, cwd: Path) -> tuple[int, str, str]:
    """Runs the verifier of an export, without anything that is installed."""
    command = [sys.executable, "-I", "-S", str(folder / "verify.py")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=cwd, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.process
def test_the_script_inside_verifies_with_python_alone(make_runtime: Make, tmp_path: Path) -> None:
    _, path = exported(make_runtime, tmp_path)
    folder = unpacked(path, tmp_path)
    assert run_script(folder, folder) == (0, "ok\n", "")
    assert run_script(folder, Path("/")) == (0, "ok\n", "")
    (folder / "bodies.jsonl").write_bytes((folder / "bodies.jsonl").read_bytes().replace(b"terms", b"TERMS", 1))
    assert run_script(folder, folder) == (1, "record 2: its body does not fit its hash\n", "")
    (folder / "bodies.jsonl").unlink()
    code, output, errors = run_script(folder, folder)
    assert (code, errors) == (1, "")
    assert output.startswith("record 0: a file of the export cannot be read: FileNotFoundError")


def lines(data: bytes) -> list[bytes]:
    """Returns lines with their ends."""
    return data.splitlines(keepends=True)


BY_HAND = "its hash does not fit what it has, or the record before it"
COUNT = "the run has 4 records and another head"
UNREPORTED = "its body is gone, and no record reports that it was redacted"
CHANGES: dict[
    str, tuple[Callable[[list[bytes], list[bytes]], tuple[list[bytes], list[bytes]]], list[tuple[int, str]]]
] = {
    "edited record": (
        lambda records, bodies: ([records[0], records[1].replace(b"step", b"STEP"), *records[2:]], bodies),
        [(2, BY_HAND)],
    ),
    "edited body": (
        lambda records, bodies: (records, [bodies[0], bodies[1].replace(b"terms", b"TERMS"), *bodies[2:]]),
        [(2, "its body does not fit its hash")],
    ),
    "emptied body": (lambda records, bodies: (records, [bodies[0], b"\n", *bodies[2:]]), [(2, UNREPORTED)]),
    "swap": (
        lambda records, bodies: (
            [records[0], records[2], records[1], records[3]],
            [bodies[0], bodies[2], bodies[1], bodies[3]],
        ),
        [(2, BY_HAND), (3, BY_HAND), (4, BY_HAND)],
    ),
    "cut middle": (
        lambda records, bodies: ([*records[:1], *records[2:]], [*bodies[:1], *bodies[2:]]),
        [(2, BY_HAND), (3, BY_HAND), (3, COUNT)],
    ),
    "cut tail": (lambda records, bodies: (records[:2], bodies[:2]), [(2, COUNT)]),
    "emptied ledger": (lambda records, bodies: ([], []), [(0, COUNT)]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_export_is_found(make_runtime: Make, tmp_path: Path, change: str) -> None:
    _, path = exported(make_runtime, tmp_path)
    files = files_of(path)
    changed, problems = CHANGES[change]
    records, bodies = changed(lines(files["records.jsonl"]), lines(files["bodies.jsonl"]))
    files |= {"records.jsonl": b"".join(records), "bodies.jsonl": b"".join(bodies)}
    verification = verify_export(zipped(tmp_path / "changed.zip", files))
    assert [(problem.seq, problem.message) for problem in verification.problems] == problems
    with pytest.raises(LedgerError, match="run 'a', record"):
        verification.check()


def changes(value: Any) -> Iterator[Any]:
    """Yields a value with each of its parts changed once, left out, or added."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        for name, part in fields.items():
            yield from ({**fields, name: changed} for changed in changes(part))
            yield {other: fields[other] for other in fields if other != name}
        yield {**fields, "added": 1}
    elif isinstance(value, list):
        parts = cast("list[Any]", value)
        for index, part in enumerate(parts):
            yield from ([*parts[:index], changed, *parts[index + 1 :]] for changed in changes(part))
    else:
        yield None if value is not None else "added"
        yield f"{value}x"
        if type(value) is int:
            yield value + 1


@pytest.mark.parametrize("name", ["bodies.jsonl", "records.jsonl", "run.json"])
def test_each_change_of_each_field_is_found(make_runtime: Make, tmp_path: Path, name: str) -> None:
    runtime, _ = exported(make_runtime, tmp_path)
    runtime.run("a").redact(3)
    runtime.run("a").export(tmp_path / "redacted.zip")
    files = files_of(tmp_path / "redacted.zip")
    whole = lines(files[name])
    missed: list[Any] = []
    for index, line in enumerate(whole):
        for changed in changes(json.loads(line)) if line.strip() else ():
            data = json.dumps(changed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
            made = files | {name: b"".join([*whole[:index], data, *whole[index + 1 :]])}
            if not [*verify(lambda file, made=made: BytesIO(made[file]))]:
                missed.append(changed)
    added = [{**json.loads(files[name]), "added": 1}] if name == "run.json" else []
    assert missed == added, "what no reader knows is no part of an export"


def test_a_record_that_readers_take_for_different_ones_is_found(make_runtime: Make, tmp_path: Path) -> None:
    _, path = exported(make_runtime, tmp_path)
    files = files_of(path)
    files["records.jsonl"] = files["records.jsonl"].replace(b'"kind":"step"', b'"kind":"ended","kind":"step"', 1)
    (problem,) = verify_export(zipped(tmp_path / "changed.zip", files)).problems
    assert (problem.seq, problem.message) == (2, BY_HAND)


def test_no_file_outside_of_the_export_is_read(make_runtime: Make, tmp_path: Path) -> None:
    _, path = exported(make_runtime, tmp_path)
    files = files_of(path)
    bodies = lines(files["bodies.jsonl"])
    bodies[1] = b'{"output":{"$artifact":"../../elsewhere"}}\n'
    opened: list[str] = []

    def read(name: str) -> BytesIO:
        opened.append(name)
        return BytesIO((files | {"bodies.jsonl": b"".join(bodies)})[name])

    assert [*verify(read)]
    assert opened[-1] == "artifacts/elsewhere"


def test_values_that_were_changed_or_left_out_are_found(make_runtime: Make, tmp_path: Path) -> None:
    _, path = exported(make_runtime, tmp_path)
    files = files_of(path)
    (name,) = [name for name in files if name.startswith("artifacts/")]
    changed = verify_export(zipped(tmp_path / "changed.zip", {**files, name: b'"other"'}))
    assert [(problem.seq, problem.message) for problem in changed.problems] == [
        (3, f"the bytes of the value {name[10:]} do not fit their hash")
    ]
    del files[name]
    (problem,) = verify_export(zipped(tmp_path / "without.zip", files)).problems
    assert problem.message.startswith("a file of the export cannot be read: KeyError")


@pytest.mark.parametrize("name", ["bodies.jsonl", "records.jsonl"])
@pytest.mark.parametrize("data", [b"", b"\xff\n", b"[]\n", b"{}\n", b'{"a":' + b"[" * 100_000, b"null\n"])
def test_junk_in_an_export_is_a_problem(make_runtime: Make, tmp_path: Path, name: str, data: bytes) -> None:
    _, path = exported(make_runtime, tmp_path)
    assert not verify_export(zipped(tmp_path / "junk.zip", {**files_of(path), name: data})).ok


@pytest.mark.parametrize("data", [None, b"", b"[]", b"{}", b'{"run":1,"records":"x","head":2}', b"\xff"])
def test_a_file_without_a_readable_run_is_an_invalid_input(tmp_path: Path, data: bytes | None) -> None:
    path = zipped(tmp_path / "junk.zip", {} if data is None else {"run.json": data})
    with pytest.raises(InvalidInputError, match=r"path: its run\.json cannot be read"):
        verify_export(path)


def test_what_is_no_zip_file_is_an_invalid_input(make_runtime: Make, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.zip", tmp_path / "text.zip"):
        if path.name == "text.zip":
            path.write_text("text", encoding="utf-8")
        with pytest.raises(InvalidInputError, match="is not an exported run"):
            verify_export(path)


def test_a_damaged_zip_file_is_a_problem_or_an_invalid_input(make_runtime: Make, tmp_path: Path) -> None:
    _, path = exported(make_runtime, tmp_path)
    whole = path.read_bytes()
    damaged = tmp_path / "damaged.zip"
    for place in range(0, len(whole), 97):
        damaged.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            verification = verify_export(damaged)
        except InvalidInputError:
            continue
        assert verification.run == "a"


def test_exports_are_not_written_over_files_or_of_runs_that_do_not_verify(make_runtime: Make, tmp_path: Path) -> None:
    runtime, path = exported(make_runtime, tmp_path)
    run = runtime.run("a")
    with pytest.raises(InvalidInputError, match=r"path: .*run\.zip exists"):
        run.export(path)
    with pytest.raises(InvalidInputError, match="cannot be written: No such file or directory"):
        run.export(tmp_path / "missing" / "run.zip")
    with pytest.raises(RunNotFoundError):
        export_run(runtime.store, "x", tmp_path / "x.zip")
    execute(runtime, "DELETE FROM ledger WHERE seq = 4")
    with pytest.raises(LedgerError, match="record 4: 1 record is missing at the end"):
        run.export(tmp_path / "bad.zip")
    assert not (tmp_path / "bad.zip").exists()


# Redaction


def test_a_redacted_record_keeps_its_hash_and_the_ledger_verifies(make_stored: Make, tmp_path: Path) -> None:
    runtime = ordered(make_stored, "a")
    run = runtime.run("a")
    before = [*run.ledger()]
    assert run.redact(3, by="ann")
    after = [*run.ledger()]
    assert [(record.hash, record.body_sha256) for record in after[:4]] == [
        (record.hash, record.body_sha256) for record in before
    ]
    assert after[2].body is None
    assert (after[4].kind, after[4].body) == (
        "redacted", {"seq": 3, "sha256": before[2].body_sha256, "by": "ann"}
    )  # fmt: skip
    assert (run.state, run.output, run.status, run.info.seq) == (None, None, "completed", 5)
    assert run.verify().check().records == 5
    assert not run.redact(3)
    assert run.info.seq == 5
    run.export(tmp_path / "run.zip")
    files = files_of(tmp_path / "run.zip")
    assert not [name for name in files if name.startswith("artifacts/")]
    assert lines(files["bodies.jsonl"])[2] == b"\n"
    assert b"Gr\xc3\xb6" not in b"".join(files.values())


def test_values_that_other_records_have_stay(make_runtime: Make) -> None:
    runtime = ordered(make_runtime, "a", "b")
    name = next(iter({row.sha256 for row in artifacts(runtime)}))
    body = b'{"entry":{"$artifact":"%s","bytes":1}}' % name.encode()
    execute(runtime, "UPDATE ledger SET body = :body WHERE run = 'a' AND seq = 4", body=body)
    runtime.run("a").redact(3)
    assert [row.run for row in artifacts(runtime)] == ["a", "b"]
    runtime.run("a").redact(4)
    assert [row.run for row in artifacts(runtime)] == ["b"]


def artifacts(runtime: Runtime) -> list[Any]:
    """Returns the values that are stored apart."""
    return runtime.database.read(lambda connection: [*connection.execute(select(values).order_by(values.c.run))])


def test_only_ended_runs_are_redacted_and_no_redactions(make_runtime: Make) -> None:
    runtime = ordered(make_runtime, "a")
    waiting = waiting_order(runtime, "b")
    with pytest.raises(Exception, match="the run 'b' has not ended: it cannot be redacted") as caught:
        waiting.redact(2)
    assert caught.value.hint == "End it first: abstractcore runs cancel b"  # type: ignore[attr-defined]
    run = runtime.run("a")
    run.redact(2)
    for seq, problem in ((5, "reports a redaction, and stays"), (0, "does not exist"), (6, "does not exist")):
        with pytest.raises(InvalidInputError, match=f"seq: the record {seq} of the run 'a' {problem}"):
            run.redact(seq)
    execute(runtime, "UPDATE runs SET owner = 'w' WHERE id = 'a'")
    with pytest.raises(Exception, match="the run 'a' is still held by a worker"):
        run.redact(1)
    execute(runtime, "UPDATE runs SET owner = NULL WHERE id = 'a'")
    execute(runtime, "UPDATE ledger SET body = :body WHERE run = 'a' AND seq = 3", body=b"{")
    with pytest.raises(LedgerError, match="record 3 of 'a' cannot be read"):
        run.redact(3)
    with pytest.raises(RunNotFoundError):
        type(run)(runtime.store, "x").redact(1)


def test_a_body_that_was_deleted_by_hand_is_no_redaction(make_runtime: Make) -> None:
    runtime = ordered(make_runtime, "a")
    run = runtime.run("a")
    hash = [*run.ledger()][1].body_sha256
    execute(runtime, "UPDATE ledger SET body = NULL, redacted = :hash WHERE seq = 2", hash=hash)
    (problem,) = run.verify().problems
    assert (problem.seq, problem.message) == (2, "its body is gone, and no record reports that it was redacted")


# Signatures

PRIVATE = {
    "key": KEY,
    "bytes": b"k" * 32,
    "PEM": KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    "text": KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
}
PUBLIC = {
    "key": KEY.public_key(),
    "bytes": KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw),
    "PEM": KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
    "text": KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
}


@pytest.mark.parametrize("form", PRIVATE)
def test_a_signed_export_is_verified_with_the_public_key(make_runtime: Make, tmp_path: Path, form: str) -> None:
    runtime = ordered(make_runtime, "a")
    path = tmp_path / "run.zip"
    runtime.run("a").export(path, private_key=PRIVATE[form])
    assert verify_export(path, public_key=PUBLIC[form]).ok
    other = Ed25519PrivateKey.from_private_bytes(b"o" * 32)
    (problem,) = verify_export(path, public_key=other.public_key()).problems
    assert (problem.seq, problem.message) == (4, "its head was not signed with this key")
    files = files_of(path)
    del files["signature.json"]
    assert not verify_export(zipped(tmp_path / "unsigned.zip", files), public_key=KEY.public_key()).ok
    assert verify_export(tmp_path / "unsigned.zip").ok


def test_the_signature_of_another_run_does_not_fit(make_runtime: Make, tmp_path: Path) -> None:
    runtime = ordered(make_runtime, "a", "b")
    for id in "ab":
        runtime.run(id).export(tmp_path / f"{id}.zip", private_key=KEY)
    files = files_of(tmp_path / "a.zip") | {"signature.json": files_of(tmp_path / "b.zip")["signature.json"]}
    assert not verify_export(zipped(tmp_path / "c.zip", files), public_key=KEY.public_key()).ok


def test_signed_heads_find_runs_that_were_rewritten_or_deleted(make_stored: Make) -> None:
    runtime = ordered(make_stored, "a", "b", "c")
    waiting = waiting_order(runtime, "d")
    heads = runtime.sign_heads(KEY)
    assert [json.loads(line)["run"] for line in heads] == ["a", "b", "c", "d"]
    waiting.cancel()
    runtime.work()
    runtime.run("c").redact(2)
    assert runtime.verify_heads(heads, KEY.public_key()) == []
    runtime.prune(-0.0, keep=["b", "c", "d"])
    execute(runtime, "DELETE FROM runs WHERE id = 'b'")
    execute(runtime, "DELETE FROM ledger WHERE run = 'b'")
    execute(runtime, "DELETE FROM inbox WHERE run = 'b'")
    execute(runtime, "DELETE FROM artifacts WHERE run = 'b'")
    waiting_order(runtime, "b")
    assert runtime.run("b").verify().ok
    assert [str(problem) for problem in runtime.verify_heads(heads, KEY.public_key())] == [
        "run 'a', record 4: the run is gone: it was signed with 4 records",
        "run 'b', record 4: the record is gone: the run was signed with 4, and has 3",
    ]
    runtime.run("b").waits[0].answer("another", by="eve")
    runtime.work()
    assert [str(problem) for problem in runtime.verify_heads(heads[1:], KEY.public_key())] == [
        "run 'b', record 4: its hash is not the head that was signed"
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.replace('"count":4', '"count":3'),
        lambda line: line.replace('"run":"a"', '"run":"b"'),
        lambda line: line.replace('"signature":"', '"signature":"AAAA'),
        lambda line: line[:-5],
        lambda line: "[]",
        lambda line: "",
        lambda line: json.dumps({**json.loads(line), "signature": 7}),
        lambda line: json.dumps({**json.loads(line), "at": {"x": [1]}}),
    ],
)
def test_lines_that_were_changed_are_problems(make_runtime: Make, change: Callable[[str], str]) -> None:
    runtime = ordered(make_runtime, "a")
    (line,) = runtime.sign_heads(KEY)
    (problem,) = runtime.verify_heads([change(line)], KEY.public_key())
    assert str(problem) == "run 'line 1', record 0: it is no signed head, or its signature does not fit"


def test_what_is_wrong_with_a_signed_ledger_is_reported_too(make_runtime: Make) -> None:
    runtime = ordered(make_runtime, "a")
    heads = runtime.sign_heads(KEY)
    execute(runtime, "UPDATE ledger SET kind = 'x' WHERE seq = 2")
    assert [problem.seq for problem in runtime.verify_heads([*heads, *heads], KEY.public_key())] == [2]


@pytest.mark.parametrize("key", [None, 7, b"short", "-----BEGIN PRIVATE KEY-----", KEY.public_key()])
def test_what_is_no_key_is_an_invalid_input(make_runtime: Make, tmp_path: Path, key: Any) -> None:
    runtime = ordered(make_runtime, "a")
    with pytest.raises(
        InvalidInputError, match="key: expected an Ed25519PrivateKey, its PEM without a password"
    ) as caught:
        runtime.sign_heads(key)
    assert "openssl genpkey -algorithm ed25519" in str(caught.value.hint)
    if key is not None:
        with pytest.raises(InvalidInputError):
            runtime.run("a").export(tmp_path / "run.zip", private_key=key)
    assert not [*tmp_path.glob("*.zip*")]


def test_signing_without_cryptography_names_what_to_install(
    make_runtime: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = ordered(make_runtime, "a")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    with pytest.raises(MissingExtraError, match="signatures require cryptography") as caught:
        runtime.sign_heads(b"k" * 32)
    assert caught.value.hint == "Install with: pip install 'cryptography>=42'."


def test_unknown_runs_are_not_signed(make_runtime: Make) -> None:
    runtime = ordered(make_runtime, "a")
    assert len(sign_heads(runtime.store, KEY, ["a"])) == 1
    with pytest.raises(RunNotFoundError):
        sign_heads(runtime.store, KEY, ["a", "x"])
