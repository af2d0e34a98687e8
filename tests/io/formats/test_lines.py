"""Files are written whole or not at all."""

import gzip
import io
import os
import sys

import pytest

from zerogap.errors import FormatError
from zerogap.io.formats.lines import Lenient, bad_byte, peek, read_lines, writing


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), writing(path) as file:  # noqa: PT012
        file.write("new")
        _ = 1 / 0
    assert path.read_text() == "old"
    with writing(path) as file:
        file.write("a\r\nb")
        assert path.read_text() == "old"
    assert list(read_lines(path)) == [(1, "a\r\n"), (2, "b")]
    assert list(tmp_path.iterdir()) == [path]


def test_links_stay_links(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "folder" / "x.txt")
    with writing(tmp_path / "link.txt") as file:
        file.write("a")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "folder" / "x.txt").read_text() == "a"


def test_standard_output_and_pipes(tmp_path, capfd):
    for path in (None, "-"):
        with writing(path) as file:
            file.write("é\r\n")
    assert capfd.readouterr().out == "é\r\né\r\n"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with writing(tmp_path / "pipe") as file:
        file.write("a")
    assert os.read(reader, 9) == b"a"
    os.close(reader)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk(tmp_path):
    with pytest.raises(FormatError, match="/dev/full cannot be written: No space left"), writing("/dev/full") as file:
        file.write("a")
    with pytest.raises(FormatError, match="cannot be written: it is a folder"), writing(tmp_path):
        pass
    with pytest.raises(FormatError, match="cannot be written: No such file"), writing(tmp_path / "none" / "x"):
        pass


def test_bytes_that_are_not_utf_8(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"caf\xc3\xa9\ncaf\xe9\n\xff\n")
    with pytest.raises(FormatError, match="line 2 is not UTF-8 text .byte 0xe9."):
        list(read_lines(path))
    lines = [text for _, text in read_lines(Lenient(path))]
    assert [bad_byte(text) for text in lines] == [None, 0xE9, 0xFF]
    assert [text.encode(errors="surrogateescape") for text in lines] == path.read_bytes().splitlines(keepends=True)
    assert os.fspath(Lenient(path)) == str(path)
    assert bad_byte("\ud800") is None  # not a byte


def test_peeking_takes_nothing_away(tmp_path, monkeypatch):
    (tmp_path / "x.txt").write_text("abcdef")
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"abcdef"))
    assert peek(tmp_path / "x.txt", 3) == peek(tmp_path / "x.gz", 3) == b"abc"
    assert peek(tmp_path / "none", 3) == peek(tmp_path, 3) == b""
    (tmp_path / "y.gz").write_bytes(b"no gzip")
    assert peek(tmp_path / "y.gz", 3) == b""
    os.mkfifo(tmp_path / "pipe")
    assert peek(tmp_path / "pipe", 3) == b""
    read, write = os.pipe()
    os.write(write, b"abcdef")
    os.close(write)
    for stream in (io.BytesIO(b"abcdef"), os.fdopen(read, "rb")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
        assert peek("-", 3) == b"abc"
        assert sys.stdin.buffer.read() == b"abcdef"
