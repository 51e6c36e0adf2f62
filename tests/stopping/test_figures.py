from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lycosa.stopping.figures import FIRST_ROOM, Community, Figures, Tally

NO_LINKS = np.array([], dtype=np.int64)


def tally(*pages: bool, window: int = 3) -> Tally:
    made = Tally(window=window)
    for number, is_relevant in enumerate(pages, 1):
        made.add_page(number, NO_LINKS, is_relevant=is_relevant)
    return made


class TestTally:
    def test_nothing_yet(self):
        assert Tally(window=3).figures() == Figures()

    def test_counts(self):
        figures = tally(True, False, True, False, False).figures()
        assert (figures.pages, figures.relevant, figures.irrelevant, figures.since_relevant) == (5, 2, 3, 2)

    def test_where_nothing_was_relevant_all_pages_count(self):
        assert tally(False, False).figures().since_relevant == 2

    def test_precision_is_that_of_the_window_once_it_is_full(self):
        pages = (True, True, False, False, False, True)
        assert [tally(*pages[:count]).figures().precision for count in range(7)] == [
            None,
            None,
            None,
            2 / 3,
            1 / 3,
            0,
            1 / 3,
        ]

    def test_bytes(self):
        made = Tally(window=1)
        made.add_bytes(300)
        made.add_bytes(40)
        assert made.figures().bytes == 340

    @given(
        st.lists(st.tuples(st.booleans(), st.sets(st.integers(1, 14)))),
        st.integers(0, 14),
        st.integers(1, 6),
    )
    def test_a_tally_taken_over_goes_on_as_if_nothing_had_happened(self, pages, cut, window):
        whole = Tally(window=window, has_community=True)
        first = Tally(window=window, has_community=True)
        rows = [(number, np.array(sorted(targets), dtype=np.int64), ok) for number, (ok, targets) in enumerate(pages)]
        for number, targets, is_relevant in rows:
            whole.add_page(number, targets, is_relevant=is_relevant)
        for number, targets, is_relevant in rows[:cut]:
            first.add_page(number, targets, is_relevant=is_relevant)
        then = first.figures()
        second = Tally(window=window, has_community=True)
        second.resume(
            pages=then.pages,
            relevant=then.relevant,
            since_relevant=then.since_relevant,
            bytes=then.bytes,
            recent=[ok for _, _, ok in rows[:cut]][-window:],
            members=[(number, targets) for number, targets, ok in rows[:cut] if ok],
        )
        assert second.figures() == then
        for number, targets, is_relevant in rows[cut:]:
            second.add_page(number, targets, is_relevant=is_relevant)
        assert second.figures() == whole.figures()


class TestCommunity:
    @given(st.lists(st.tuples(st.booleans(), st.sets(st.integers(0, 20))), max_size=20), st.randoms())
    def test_against_counting_all_links_at_the_end(self, pages, random):
        order = list(enumerate(pages))
        random.shuffle(order)
        community = Community()
        for number, (is_relevant, targets) in order:
            if is_relevant:
                community.join(number, np.array(sorted(targets), dtype=np.int64))
        members = {number for number, (is_relevant, _) in order if is_relevant}
        links = [(source, target) for source in members for target in pages[source][1] if target != source]
        assert community.links == len(links)
        assert community.inward == sum(target in members for _, target in links)

    def test_a_page_joins_once(self):
        community = Community()
        for _ in range(2):
            community.join(1, np.array([2, 3]))
        community.join(2, NO_LINKS)
        assert (community.links, community.inward) == (2, 1)

    def test_room_grows(self):
        community = Community()
        far = FIRST_ROOM * 5
        community.join(1, np.array([far]))
        community.join(far, np.array([1, FIRST_ROOM]))
        assert (community.links, community.inward) == (3, 2)

    def test_it_is_not_counted_where_nobody_asks(self):
        made = Tally(window=1)
        made.add_page(1, np.array([2]), is_relevant=True)
        assert made.figures().links == 0
