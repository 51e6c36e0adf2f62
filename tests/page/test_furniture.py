"""What is known of the furniture of hosts: when a block is furniture, and what is forgotten."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.page import furniture
from lycosa.page.furniture import MAX_BLOCKS, WINDOW, Furniture

MENU = [7, 8, 9]
HOST = 1


def packed(*blocks: int) -> bytes:
    return np.unique(np.array(blocks, "u4")).tobytes()


def unpacked(blocks: bytes) -> list[int]:
    return np.frombuffer(blocks, "u4").tolist()


def filled(*pages: list[int], **bounds: int) -> Furniture:
    """Pages of one host; each has a block of its own besides."""
    furniture = Furniture(**bounds)
    for number, page in enumerate(pages):
        furniture.add(HOST, packed(1_000_000 + number, *page))
    return furniture


def of(furniture: Furniture, host: int = HOST) -> list[int]:
    return unpacked(furniture.of(host))


class TestShare:
    @pytest.mark.parametrize(
        ("pages", "having", "is_furniture"),
        [
            (1, 1, False),
            (2, 2, False),
            (3, 2, False),
            (3, 3, True),
            (6, 3, False),
            (6, 4, True),
            (30, 11, False),
            (30, 12, True),
            (90, 31, False),
            (90, 32, True),
        ],
    )
    def test_a_third_of_the_pages_and_two_more(self, pages, having, is_furniture):
        furniture = filled(*[[7]] * having, *[[]] * (pages - having))
        assert of(furniture) == ([7] if is_furniture else [])

    def test_hosts_have_their_own(self):
        furniture = filled(*[MENU] * 3)
        for number in range(3):
            furniture.add(2, packed(500 + number, 5))
        assert of(furniture) == MENU
        assert of(furniture, 2) == [5]
        assert of(furniture, 3) == []

    def test_a_copy_does_not_count(self):
        furniture = Furniture()
        for _ in range(10):
            furniture.add(HOST, packed(1, 2, 3))
        assert of(furniture) == []
        for number in range(2):
            furniture.add(HOST, packed(1, 100 + number))
        assert of(furniture) == [1]

    def test_pages_without_blocks_leave_nothing_behind(self):
        furniture = Furniture()
        for host in range(100):
            furniture.add(host, b"")
        assert len(furniture) == 0


class TestForgetting:
    def test_a_host_that_turns_to_another_section(self):
        assert of(filled(*[[7]] * 500, *[[8]] * 70)) == [7, 8]
        assert of(filled(*[[7]] * 500, *[[8]] * 200)) == [8]
        assert of(filled(*[[7]] * 500, *[[8]] * 200, window=10_000)) == [7]

    def test_counts_stay_in_step_with_pages(self):
        every_other_page = [[7, 8], [8]] * WINDOW
        assert of(filled(*every_other_page)) == [7, 8]
        one_page_in_four = [[7, 8], [8], [8], [8]] * WINDOW
        assert of(filled(*one_page_in_four)) == [8]

    def test_blocks_of_a_single_page_go_first(self):
        random.seed(1)
        furniture = Furniture()
        for _ in range(100):
            furniture.add(HOST, packed(*MENU, *random.sample(range(100, 1 << 32), 1000)))
            assert furniture.blocks <= MAX_BLOCKS
        assert of(furniture) == MENU

    def test_even_where_no_block_is_rare(self):
        furniture = Furniture()
        for number in range(100):
            start = MAX_BLOCKS // 2 * min(number // 20, 2)
            furniture.add(HOST, packed(10_000_000 + number, *range(start, start + MAX_BLOCKS // 2 - 1)))
            assert furniture.blocks <= MAX_BLOCKS
        assert of(furniture)[-1] == 3 * MAX_BLOCKS // 2 - 2

    def test_hosts_whose_latest_page_was_longest_ago_are_forgotten(self):
        furniture = Furniture(max_blocks_in_all=40)
        for number in range(3):
            for host in range(4):
                furniture.add(host, packed(7, 100 + number))
        assert [len(of(furniture, host)) for host in range(4)] == [1, 1, 1, 1]
        furniture.add(0, packed(7, 1000))
        furniture.add(9, packed(*range(30)))
        assert [len(of(furniture, host)) for host in range(4)] == [1, 0, 0, 1]
        assert furniture.blocks <= 40

    def test_number_of_hosts(self):
        furniture = Furniture(max_hosts=3)
        for host in range(10):
            furniture.add(host, packed(7))
        assert len(furniture) == 3


class TestSaving:
    def test_goes_on_as_if_nothing_had_happened(self):
        first = filled(*[MENU] * 2)
        first.add(44, packed(*range(50)))
        again = Furniture.restored(first.save())
        assert (again.blocks, len(again)) == (first.blocks, len(first))
        for known in (first, again):
            known.add(HOST, packed(2_000_000, *MENU))
            known.add(44, packed(3_000_000, 1))
        assert of(again) == of(first) == MENU
        assert again.save() == first.save()

    def test_the_order_of_hosts_is_kept(self):
        furniture = Furniture()
        for host in (5, 3, 4, 5):
            furniture.add(host, packed(host, 7))
        again = Furniture.restored(furniture.save())
        again._max_hosts = 2
        again.add(4, packed(99))
        assert of(again, 3) == []
        assert list(again._hosts) == [5, 4]

    @pytest.mark.parametrize("saved", [None, b"", np.array([99, 1, 0], "<i8").tobytes()])
    def test_nothing_was_saved_or_by_another_version(self, saved):
        assert len(Furniture.restored(saved)) == 0

    def test_an_empty_table(self):
        assert len(Furniture.restored(Furniture().save())) == 0


@pytest.mark.skipif(furniture._compiled is None, reason="nothing is compiled here")
class TestCompiled:
    @given(st.lists(st.sets(st.integers(0, 40) | st.integers(0, 2**32 - 1), max_size=60), min_size=1, max_size=8))
    def test_it_does_what_its_twin_does(self, pages):
        one = other = furniture._NEW_HOST
        for page in pages:
            blocks = np.frombuffer(packed(*page), "u4")
            one, other = furniture._counted(one, blocks), furniture.counted_in_python(other, blocks)
            assert one.pages == other.pages
            assert one.hashes.tolist() == other.hashes.tolist()
            assert one.counts.tolist() == other.counts.tolist()

    @given(st.lists(st.lists(st.integers(0, 9), max_size=30), max_size=6))
    def test_blocks_in_any_order_break_nothing(self, pages):
        known = furniture._NEW_HOST
        for page in pages:
            known = furniture._counted(known, np.array(page, "u4"))
            assert len(known.hashes) == len(known.counts) <= sum(map(len, pages))

    def test_arrays_that_do_not_fit_are_refused(self):
        one = np.zeros(3, "u4")
        with pytest.raises(ValueError, match="other lengths"):
            furniture._compiled.add_page(one, one, one, np.zeros((2, 5), "u4"))
        with pytest.raises(ValueError, match="other lengths"):
            furniture._compiled.add_page(one, one[:2], one, np.zeros((2, 6), "u4"))
        with pytest.raises(TypeError, match="another kind"):
            furniture._compiled.add_page(one, one, np.zeros(3, "u8"), np.zeros((2, 6), "u4"))
