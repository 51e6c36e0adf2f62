"""The sums that are kept visit by visit are those that the definitions give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from lycosa.lib.wordhash import MARK, SIZE, number_of
from lycosa.model import Link
from lycosa.strategies.hunter.evidence import NO_MODEL, Change, Evidence
from lycosa.strategies.hunter.guesses import urls_above
from lycosa.strategies.hunter.learner import LEAST, PRIOR, SLOPE, Learner, Model
from lycosa.strategies.hunter.notes import MOST_GONE, NEAR, OWN, URL_WORDS, LinkAddresses, Note, url_words, words_near
from lycosa.strategies.hunter.tables import FEATURES, GROUPS

RELEVANCE = (0.9, 0.2, 0.7, 0.1, 0.6)
LINKS = ([2, 3, 4, 9], [3, 9, 1, 5, 8, 7], [9, 5, 1], [], [8, 9, 2])


def url(link: int) -> str:
    return f"http://h{link % 2}.test/d{link % 3}/page{link}"


def visit_more(
    evidence: Evidence,
    number: int,
    links: list[int],
    relevance: float = 0.0,
    gone: Sequence[int] = (),
) -> Change:
    targets = np.array(links, dtype=np.int64)
    evidence.place(number, url(number))
    evidence.reserve(targets)
    near = np.zeros((len(links), NEAR), dtype=np.uint16)
    near[:, 0] = [number_of("bicycl" if link in (1, 3, 5) else "soup") for link in links]  # those are relevant
    addresses = LinkAddresses.of([url(link) for link in links])
    return evidence.visit(number, relevance, targets, near, addresses, gone=np.array(gone, dtype=np.int64))


def made() -> Evidence:
    evidence = Evidence(np.ones(SIZE, dtype=np.float32))
    evidence.rates[:4] = 0.1
    for number, (relevance, links) in enumerate(zip(RELEVANCE, LINKS, strict=True), 1):
        visit_more(evidence, number, links, relevance)
    return evidence


def logit(share: float) -> float:
    share = min(max(share, 0.02), 0.98)
    return float(np.log(share / (1 - share)))


class TestDefinitions:
    """Of link 9, which pages 1, 2, 3 and 5 cite."""

    def of_nine(self, name: str) -> float:
        return float(made().features(np.array([9]))[0, FEATURES.index(name)])

    def test_parents(self):
        cited_by = [RELEVANCE[n] for n in (0, 1, 2, 4)]
        assert self.of_nine("parents") == pytest.approx(logit((sum(cited_by) + 0.3) / 7), rel=1e-4)
        assert self.of_nine("best parent") == pytest.approx(logit(0.9), rel=1e-4)
        assert self.of_nine("citations") == pytest.approx(np.log(4))

    def test_early_parents(self):
        places = ((0, 3, 4), (1, 1, 6), (2, 0, 3), (4, 1, 3))
        expected = sum(RELEVANCE[page] * np.exp(-3 * at / count) for page, at, count in places)
        assert self.of_nine("early parents") == pytest.approx(np.log(0.05 + expected), rel=1e-4)

    def test_host_and_folder(self):
        on_host = [r for n, r in enumerate(RELEVANCE, 1) if n % 2 == 1]
        in_folder = [r for n, r in enumerate(RELEVANCE, 1) if n % 3 == 0 and n % 2 == 1]
        assert self.of_nine("host") == pytest.approx(logit((sum(on_host) + 0.2) / (len(on_host) + 2)), rel=1e-4)
        assert self.of_nine("folder") == pytest.approx(logit((sum(in_folder) + 0.2) / (len(in_folder) + 2)), rel=1e-4)

    def test_neighbours_and_hubs(self):
        """By hand, as all is known in the end: r over distance on each citing page, and the pages' own hub values."""
        evidence = made()
        evidence.restate(np.array(RELEVANCE, dtype=np.float32), np.zeros(SIZE, np.float32))
        evidence.rates[:] = 0.1
        cited = {link: sum(link in links for links in LINKS) for link in range(1, 10)}
        near = near_weight = hubs = hub_weights = own = 0.0
        for page in (0, 1, 2, 4):
            links = LINKS[page]
            at = links.index(9)
            visited = [(place, link) for place, link in enumerate(links) if link <= 5]
            near += sum(RELEVANCE[link - 1] / abs(place - at) for place, link in visited)
            near_weight += sum(1 / abs(place - at) for place, _ in visited)
            hub = sum(RELEVANCE[link - 1] / np.sqrt(cited[link]) for _, link in visited)
            hub_weight = sum(1 / np.sqrt(cited[link]) for _, link in visited)
            own += (hub + 0.4) / (hub_weight + 4)
            hubs, hub_weights = hubs + hub, hub_weights + hub_weight
        found = evidence.features(np.array([9]))[0]
        assert found[0] == pytest.approx(logit((near + own + 0.4) / (near_weight + 4 + 4)), rel=1e-3)
        assert found[1] == pytest.approx(logit((hubs + 0.4) / (hub_weights + 4)), rel=1e-3)


class TestGuesses:
    @pytest.mark.parametrize(
        ("page", "above"),
        [
            ("http://a.test/", []),
            ("http://a.test/b", ["/"]),
            ("http://a.test/b/", ["/"]),
            ("http://a.test/b/c.html?d=/e/f", ["/b/", "/"]),
            ("http://a.test/b/c/d/e", ["/b/c/d/", "/b/c/", "/"]),
            ("http://a.test?x=/y/", ["/"]),
        ],
    )
    def test_urls_above(self, page, above):
        assert urls_above(page) == [f"http://a.test{path}" for path in above]

    def test_a_guess_waits_as_if_the_page_linked_to_it_and_stays_so(self):
        evidence = made()
        evidence.guess(20, "http://h1.test/")
        assert evidence.waiting(0, 100).tolist() == [7, 8, 9, 20]
        for _ in range(2):
            found = evidence.features(np.array([20]))[0]
            assert found[FEATURES.index("best parent")] == pytest.approx(logit(RELEVANCE[-1]), rel=1e-4)
            assert found[FEATURES.index("hubs")] == pytest.approx(logit(evidence.rates[0]), rel=1e-4)
            evidence.restate(np.array(RELEVANCE, dtype=np.float32), np.zeros(SIZE, np.float32))

    def test_a_guess_counts_less_the_more_of_them_led_nowhere(self):
        evidence = made()
        for number in range(20, 26):
            evidence.guess(number, f"http://h{number}.test/")
        last = np.array([25])
        features = evidence.features(last)
        learner = Learner(0.0, np.ones(len(FEATURES), dtype=np.float32))
        model = learner.model
        evidence.score(last, model, 2.0, 0.0)
        assert evidence.links.score[25] == pytest.approx(0.5 * learner.predict(features)[0], rel=1e-2)
        visit_more(evidence, 6, [], gone=range(20, 25))
        evidence.restate(np.array([*RELEVANCE, 0.0], dtype=np.float32), np.zeros(SIZE, np.float32))
        found = evidence.features(last)
        evidence.score(last, model, 2.0, 0.0)
        assert evidence.links.score[25] == pytest.approx(learner.predict(found)[0] / 7, rel=1e-2)
        assert evidence.score_again(last, model)[0] == pytest.approx(learner.predict(found)[0] / 7, rel=1e-2)
        np.testing.assert_allclose(evidence.found_share(np.array([9, 25, 1])), [1, 1 / 7, 1])

    def test_a_guess_that_a_page_links_to_is_a_link(self):
        evidence = made()
        evidence.guess(20, "http://h20.test/")
        visit_more(evidence, 6, [20])
        learner = Learner(0.0, np.ones(len(FEATURES), dtype=np.float32))
        evidence.score(np.array([20]), learner.model, 2.0, 0.0)
        expected = learner.predict(evidence.features(np.array([20])))[0]
        assert evidence.links.score[20] == pytest.approx(expected, rel=1e-2)


class TestSums:
    def test_restating_what_was_told_changes_no_sum(self):
        kept, anew = made(), made()
        anew.restate(np.array(RELEVANCE, dtype=np.float32), np.zeros(SIZE, np.float32))
        for name in ("sum", "early", "best", "cited", "relevance"):
            np.testing.assert_allclose(getattr(kept.links, name), getattr(anew.links, name), rtol=1e-5, err_msg=name)
        for name in ("near", "near_weight"):
            ends = slice(0, kept._end)
            is_used = anew.citations.page[ends] > 0
            np.testing.assert_allclose(
                getattr(kept.citations, name)[ends][is_used],
                getattr(anew.citations, name)[ends][is_used],
                rtol=1e-5,
                err_msg=name,
            )

    def test_words_of_links_to_good_pages_speak_for_others(self):
        evidence = made()
        evidence.restate(np.array(RELEVANCE, dtype=np.float32), np.zeros(SIZE, np.float32))
        evidence.links.near[7] = evidence.links.near[8] = 0
        evidence.links.near[7, 0], evidence.links.near[8, 0] = number_of("bicycl"), number_of("soup")
        bicycle, soup = evidence.features(np.array([7, 8]))
        for name in ("link text learned", "link words", "best link words"):
            assert bicycle[FEATURES.index(name)] > soup[FEATURES.index(name)], name

    def test_links_handed_out_do_not_wait(self):
        evidence = made()
        assert evidence.waiting(0, 100).tolist() == [7, 8, 9]
        tried = visit_more(evidence, 6, [], gone=[8, 1, 8]).tried
        assert tried == 2  # of them 8, once, and the page visited; 1 was visited before
        assert evidence.waiting(0, 100).tolist() == [7, 9]
        assert evidence.waiting_of(np.array([9, 8, 9, 2])).tolist() == [9]
        assert evidence.links.page[1] == 1

    def test_the_target_at_a_place(self):
        evidence = made()
        assert evidence.target(2, 4) == 8
        assert evidence.target(2, 6) is None
        assert evidence.target(9, 0) is None

    def test_the_last_words_of_a_path_are_kept(self):
        found = url_words(["http://a.test/" + "/".join(f"word{chr(97 + n)}" for n in range(9)), "http://a.test"])
        assert found.shape == (2, URL_WORDS)
        assert number_of("wordi") in found[0].tolist()
        assert number_of("worda") not in found[0].tolist()
        assert not found[1].any()


class TestScores:
    everything = np.array([7, 8, 9])

    def test_what_is_kept_of_features_is_what_was_seen(self):
        evidence = made()
        seen = evidence.features(self.everything)
        seen[0, :6] = (1e-7, -1e-3, 1e6, -1e6, 0.0, -2.5)
        evidence.keep(self.everything, seen)
        expected = seen.copy()
        expected[0, [0, 2, 3]] = (0, 65504, -65504)
        np.testing.assert_allclose(evidence.kept(self.everything), expected, rtol=1 / 1024)
        np.testing.assert_array_equal(evidence.kept(9), evidence.kept(self.everything)[2])

    def test_looking_again_finds_the_same_until_there_are_other_words(self):
        evidence = made()
        judged = np.zeros(SIZE, np.float32)
        judged[number_of("bicycl")] = 1.0
        evidence.restate(np.array(RELEVANCE, dtype=np.float32), judged)
        for _ in range(2):
            evidence.score(self.everything, NO_MODEL, 0.0, 0.0)
            np.testing.assert_allclose(
                evidence.kept(self.everything), evidence.features(self.everything), rtol=1e-3, atol=1e-4
            )
        visit_more(evidence, 6, [9, 7, 5])
        evidence.score(self.everything, NO_MODEL, 0.0, 0.0)
        np.testing.assert_allclose(
            evidence.kept(self.everything), evidence.features(self.everything), rtol=1e-3, atol=1e-4
        )
        evidence.restate(np.array([*RELEVANCE, 1.0], dtype=np.float32), -judged)
        evidence.score(self.everything, NO_MODEL, 0.0, 0.0)
        np.testing.assert_allclose(
            evidence.kept(self.everything), evidence.features(self.everything), rtol=1e-3, atol=1e-4
        )

    def test_a_score_is_handed_on_if_it_matters_and_has_changed(self):
        evidence = made()
        above, changed = evidence.score(self.everything, NO_MODEL, 0.0, 0.0)
        assert (above.tolist(), changed.tolist()) == ([7, 8, 9], [])  # the frontier has not heard of any yet
        told = evidence.tell(self.everything)
        np.testing.assert_allclose(told, evidence.links.score[self.everything])
        evidence.links.told[8] *= 1.04
        evidence.links.told[9] *= 1.2
        assert evidence.score(self.everything, NO_MODEL, 0.0, 0.1)[1].tolist() == [9]
        assert evidence.hand_on(self.everything, 1.5).tolist() == []
        assert evidence.hand_on(self.everything, 0.0).tolist() == [8]
        np.testing.assert_allclose(evidence.tell(self.everything), told)

    def test_a_host_with_many_relevant_pages_is_worth_less_if_sites_are_wanted(self):
        evidence, model = made(), Model(*NO_MODEL[:4], 1.0)
        evidence.score(self.everything, NO_MODEL, 2.0, 0.0)
        predicted = evidence.links.score[self.everything]
        relevant = evidence.hosts.relevance[evidence.links.host[self.everything]]
        evidence.score(self.everything, model, 2.0, 0.0)
        np.testing.assert_allclose(evidence.links.score[self.everything], predicted / (1 + relevant), rtol=1e-5)
        np.testing.assert_allclose(evidence.score_again(self.everything, model), predicted / (1 + relevant), rtol=1e-2)


class TestNotes:
    def note(self, links: int) -> Note:
        rng = np.random.default_rng(links)
        words = rng.integers(1, SIZE, 30).astype(np.uint16)
        made = [Link(url(n), "touring bikes", f"before it touring bikes behind {n}") for n in range(links)]
        guesses = (0, 77) if links % 2 else ()
        counts = np.arange(30, dtype=np.uint8)
        return Note(words, counts, words_near(made), np.arange(MOST_GONE), 7 << 60, guesses)

    @pytest.mark.parametrize("links", [0, 1, 40, 700, 5_000])
    def test_what_is_written_is_what_was_used(self, links):
        note = self.note(links)
        written = note.to_bytes()
        assert len(written) < 8_192
        read = Note.from_bytes(written, links)
        for one, other in zip(note, read, strict=True):
            np.testing.assert_array_equal(one, other)

    def test_the_meaning_of_a_page_is_kept(self):
        note = self.note(3)._replace(meaning=0.25)
        read = Note.from_bytes(note.to_bytes(), 3)
        for one, other in zip(note, read, strict=True):
            np.testing.assert_array_equal(one, other)
        assert len(note.to_bytes()) == len(self.note(3).to_bytes()) + 4  # one without is as it was before

    def test_a_note_of_an_earlier_version_has_no_guesses(self):
        written = self.note(3).to_bytes()
        assert Note.from_bytes(written[:-16], 3).guesses == ()
        assert Note.from_bytes(written, 3).guesses == (0, 77)
        with pytest.raises(ValueError, match="not a note"):
            Note.from_bytes(written[:-3], 3)

    @pytest.mark.parametrize("foreign", [b"", b"abc", b"\x01" * 40, b"\xff" * 4_000])
    def test_other_bytes_are_refused(self, foreign):
        with pytest.raises(ValueError, match="not a note"):
            Note.from_bytes(foreign, 3)

    def test_the_anchor_comes_first_then_the_nearest_words(self):
        near = words_near([Link("http://a.test/", "bikes", "far close bikes next last")])[0]
        assert near[0] == number_of("bike")
        assert near[OWN : OWN + 4].tolist() == [number_of(stem) for stem in ("close", "next", "far", "last")]

    def test_a_page_that_uses_the_mark_itself_is_read_as_well(self):
        links = [
            Link("http://a.test/", f"bikes {MARK} x", f"a {MARK} {MARK} b"),
            Link("http://b.test/", "soup", "soup"),
        ]
        assert words_near(links)[1, 0] == number_of("soup")


class TestLearner:
    def sample(self) -> np.ndarray:
        return np.random.default_rng(1).normal(2.0, 3.0, (500, len(FEATURES))).astype(np.float32)

    def learner(self, freedom: float = 0.15) -> Learner:
        learner = Learner(freedom, np.ones(len(FEATURES), dtype=np.float32))
        learner.measure(self.sample())
        return learner

    def test_features_are_measured_against_the_links_that_wait(self):
        z = self.learner().z_scores(self.sample())
        np.testing.assert_allclose(z.mean(0), 0, atol=0.01)
        np.testing.assert_allclose(z.std(0), 1, atol=0.02)
        assert self.learner().z_scores(np.full((1, len(FEATURES)), 1e6)).max() == 6

    def test_what_tells_gains_weight_and_what_does_not_loses_it(self):
        learner, sample = self.learner(0.5), self.sample()
        useful, useless = 2, 9
        relevance = (1 / (1 + np.exp(-learner.z_scores(sample)[:, useful]))).astype(np.float32)
        for row in sample:
            learner.add(learner.z_scores(row))
        learner.learn(relevance, relevance)
        assert learner.weights[useful] / PRIOR[useful] > 1.5 * SLOPE
        assert learner.weights[useless] / PRIOR[useless] < 0.8 * SLOPE
        error = np.abs(learner.predict(sample) - relevance).mean()
        assert error < 0.5 * np.abs(relevance.mean() - relevance).mean()

    def test_few_pages_change_nothing(self):
        learner = self.learner()
        for row in self.sample()[: LEAST - 1]:
            learner.add(learner.z_scores(row))
        learner.learn(np.ones(LEAST - 1, np.float32), np.ones(LEAST - 1, np.float32))
        np.testing.assert_allclose(learner.weights, SLOPE * PRIOR)

    def test_while_nothing_relevant_is_known_words_lead(self):
        learner, sample = self.learner(), self.sample()
        parents, text = FEATURES.index("parents"), FEATURES.index("link text")
        by_known = []
        for known in (0.0, 5.0, 500.0):
            learner.learn(np.array([known], np.float32), np.zeros(1, np.float32))
            parts = np.abs(learner.parts(sample)).mean(0)
            by_known.append((parts[parents], parts[text]))
        (none, text_first), (some, _), (much, text_last) = by_known
        assert none == 0
        assert some == pytest.approx(SLOPE * PRIOR[parents] / 2 * np.abs(learner.z_scores(sample)[:, parents]).mean())
        assert some < much
        assert text_first == text_last

    def test_without_freedom_the_weights_stay(self):
        learner, sample = self.learner(freedom=0), self.sample()
        for row in sample:
            learner.add(learner.z_scores(row))
        learner.learn(np.linspace(0, 1, 500, dtype=np.float32), np.zeros(500, np.float32))
        np.testing.assert_allclose(learner.weights, SLOPE * PRIOR)

    def test_every_feature_is_of_a_kind(self):
        assert len(GROUPS) == len(FEATURES) == len(PRIOR)
