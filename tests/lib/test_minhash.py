from __future__ import annotations

from random import Random

from lycosa.lib.minhash import MAX_PER_BAND, TextClusters, signature

RNG = Random(4)
WORDS = [f"word{number}" for number in range(5_000)]


def text(count: int = 300) -> list[str]:
    return RNG.choices(WORDS, k=count)


def changed(words: list[str], count: int) -> str:
    """With other words in so many places."""
    again = list(words)
    for place in RNG.sample(range(len(words)), count):
        again[place] = "other"
    return " ".join(again)


def test_equal_texts_are_a_cluster_whatever_stands_between():
    clusters = TextClusters()
    assert clusters.add("A text, as it is.") == 0
    assert clusters.add("Something else entirely") == 1
    assert clusters.add("a TEXT as it is") == 0


def test_a_text_with_few_changes_is_nearly_the_same():
    for _ in range(30):
        words, clusters = text(), TextClusters()
        clusters.add(" ".join(words))
        assert clusters.add(changed(words, 4)) == 0


def test_a_text_with_many_changes_is_not():
    for _ in range(30):
        words, clusters = text(), TextClusters()
        clusters.add(" ".join(words))
        assert clusters.add(changed(words, 60)) == 1


def test_the_order_of_words_matters():
    words, clusters = text(), TextClusters()
    clusters.add(" ".join(words))
    assert clusters.add(" ".join(sorted(words))) == 1


def test_texts_without_words_are_never_the_same():
    clusters = TextClusters()
    assert [clusters.add(empty) for empty in ("", "…", "")] == [0, 1, 2]


def test_texts_are_compared_with_the_first_of_a_cluster():
    """Small changes add up: in the end the text is another one."""
    words, clusters = text(), TextClusters()
    found = []
    for step in range(0, 300, 4):
        words[step : step + 4] = [f"new{step}"] * 4
        found.append(clusters.add(" ".join(words)))
    assert len(set(found)) > 2
    assert found[1] == 0


def test_long_texts_are_hashed_in_parts_to_the_same_end():
    words = text(20_000)
    clusters = TextClusters()
    clusters.add(" ".join(words))
    assert clusters.add(changed(words, 100)) == 0


def test_signatures_are_the_same_on_every_machine():
    assert signature("The quick brown fox jumps over the lazy dog")[:3].tolist() == SIGNATURE


def test_a_band_that_everybody_shares_stays_bounded():
    clusters = TextClusters()
    for number in range(MAX_PER_BAND + 50):
        clusters.add(f"{number}")
    assert all(len(others) <= MAX_PER_BAND for others in clusters._by_band.values())


SIGNATURE = [414916287, 215922356, 120927743]
