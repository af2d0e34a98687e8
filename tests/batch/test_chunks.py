"""Inputs are cut into chunks without losing a byte, and go on from any shard."""

import gzip
import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerogap.batch import chunks
from zerogap.batch.chunks import Position, by_block, by_line, chunks_of, cut, format_of, row_test
from zerogap.errors import InputError, UnknownMethod

LINES = st.lists(st.sampled_from([b"\n", b" \t\n", b"\r\n", b"# c\n", b"a b\n", b"1\tx\n", b"-DOCSTART- -X-\n", b"\xff\n"]), max_size=40)


def records(lines, format):
    return by_line(lines) if format in ("jsonl", "lines") else by_block(lines, row_test(format, True), format == "text")


@given(LINES, st.sampled_from(["conllu", "columns", "text", "jsonl", "lines"]), st.integers(1, 4), st.integers(1, 3))
def test_nothing_is_lost(lines, format, shard_size, chunk_records):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK_RECORDS", chunk_records)
        found = list(cut(records(lines, format), "x", 0, Position(), shard_size, tell=lambda: 0))
        assert b"".join(chunk.piece.content for chunk in found) == b"".join(lines)
        for before, after in itertools.pairwise(found):
            assert before.end.offset == sum(len(chunk.piece.content) for chunk in found[: found.index(after)])
            assert before.end.line == after.piece.line
            assert before.end.shard == after.shard
            assert before.records
        sizes = {}
        for chunk in found:
            assert chunk.records <= min(chunk_records, shard_size)
            sizes[chunk.shard] = sizes.get(chunk.shard, 0) + chunk.records
        assert list(sizes) == list(range(len(sizes)))
        assert all(size == shard_size for size in list(sizes.values())[:-1])
        begins = {0: Position()} | {chunk.end.shard: chunk.end for chunk in found[:-1] if chunk.end.shard > chunk.shard}
        for shard, begin in begins.items():  # go on from every shard
            rest = io.BytesIO(b"".join(lines)[begin.offset :])
            again = list(cut(records(rest, format), "x", 0, begin, shard_size, tell=lambda: 0))
            assert again == [chunk for chunk in found if chunk.shard >= shard]


def test_a_long_paragraph_is_cut(monkeypatch):
    monkeypatch.setattr(chunks, "LONGEST", 10)
    assert [record[0] for record in by_block([b"aaaaaa\n"] * 4, row_test("text", False), True)] == [b"aaaaaa\naaaaaa\n"] * 2


@pytest.mark.parametrize("name", ["x.txt", "x.txt.gz"])
def test_files_from_the_middle(tmp_path, name):
    content = b"".join(b"line %d\n" % i for i in range(100))
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    options = {"format": "lines", "shard_size": 30}
    found = list(chunks_of(str(tmp_path / name), 7, begin=Position(), **options))
    assert [(chunk.shard, chunk.records) for chunk in found] == [(0, 30), (1, 30), (2, 30), (3, 10)]
    again = list(chunks_of(str(tmp_path / name), 7, begin=found[1].end, **options))
    assert [chunk.piece for chunk in again] == [chunk.piece for chunk in found[2:]]


def test_formats():
    assert format_of("a/b.conllu.gz") == "conllu"
    assert format_of("b.xyz", "text") == "text"
    with pytest.raises(InputError, match="has the suffix '.xyz'"):
        format_of("b.xyz")
    with pytest.raises(UnknownMethod, match="jsonl"):
        format_of("b.txt", "json")
