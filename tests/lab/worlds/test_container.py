"""Arrays are read as they were written; an incomplete file is refused with a reason."""

from pathlib import Path

import numpy as np
import pytest

from lycosa.errors import InputError
from lycosa.lab.worlds import container
from lycosa.lab.worlds.container import ALIGNMENT, Container, Spills, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    spills = Spills(tmp_path)
    columns = {
        "bytes": spills.column("u1", [1, 2, 3]),
        "empty": spills.column("i4"),
        "longs": spills.column("i8", [-5, 2**62]),
        "unsigned": spills.column("u8", [2**64 - 1]),
    }
    write(tmp_path / "file", columns=columns, meta={"name": "Bücher"})
    spills.close()
    return tmp_path / "file"


def test_arrays_come_back_with_their_types_and_meta(path: Path) -> None:
    opened = Container(path)
    assert opened.meta == {"name": "Bücher"}
    assert {name: (array.dtype.str, array.tolist()) for name, array in opened.arrays.items()} == {
        "bytes": ("|u1", [1, 2, 3]),
        "empty": ("<i4", []),
        "longs": ("<i8", [-5, 2**62]),
        "unsigned": ("<u8", [2**64 - 1]),
    }
    opened.verify()


def test_arrays_are_aligned_and_cannot_be_written(path: Path) -> None:
    longs = Container(path).arrays["longs"]
    assert longs.__array_interface__["data"][0] % ALIGNMENT == 0
    with pytest.raises(ValueError, match="read-only"):
        longs[0] = 1


def test_a_column_that_spills_is_the_same_as_one_that_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "BUFFER_BYTES", 100)
    monkeypatch.setattr(container, "COPY_BYTES", 64)
    spills = Spills(tmp_path)
    column = spills.column("i4")
    for low in range(0, 1000, 7):
        column.append(np.arange(low, min(low + 7, 1000)))
    assert len(column) == 1000
    assert column.array().tolist() == list(range(1000))
    column.append(1000)
    write(tmp_path / "file", columns={"numbers": column, "again": column}, meta={})
    spills.close()
    arrays = Container(tmp_path / "file").arrays
    assert arrays["numbers"].tolist() == arrays["again"].tolist() == list(range(1001))
    assert [each.name for each in tmp_path.iterdir()] == ["file"], "nothing but the file is left"


def test_other_types_are_refused_when_a_column_is_made(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="<f8 are not supported"):
        Spills(tmp_path).column("f8")


def test_an_unfinished_file_does_not_take_the_place_of_the_old_one(path: Path) -> None:
    before = path.read_bytes()
    spills = Spills(path.parent)
    column = spills.column("i4", [1])

    class Full(type(column)):  # type: ignore[misc] # a disk that is full the second time round
        def pieces(self):  # type: ignore[no-untyped-def]
            self.calls = getattr(self, "calls", 0) + 1
            if self.calls > 1:
                raise OSError(28, "No space left on device")
            return super().pieces()

    column.__class__ = Full
    with pytest.raises(InputError, match="No space left"):
        write(path, columns={"numbers": column}, meta={})
    spills.close()
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["file"]


def test_every_truncation_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    for length in [*range(1, 64), len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="truncated" if length >= 32 else "truncated|not a world file"):
            Container(path)


def test_every_changed_byte_of_the_header_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    end = 32 + int.from_bytes(whole[8:16], "little")
    for at in range(end):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(InputError, match=r"damaged|truncated|not a world file"):
            Container(path)


def test_a_changed_byte_of_an_array_is_found_by_verify(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[-1] ^= 1
    path.write_bytes(whole)
    opened = Container(path)
    with pytest.raises(InputError, match="'unsigned'"):
        opened.verify()


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "is empty"), (b"WARC/1.1\r\n" * 20, "not a world file"), (None, "No such file")]
)
def test_foreign_files_are_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "other").write_bytes(content)
    with pytest.raises(InputError, match=message):
        Container(tmp_path / "other")
