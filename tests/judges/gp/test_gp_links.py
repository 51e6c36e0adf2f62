"""Evidence of links for the evolved similarity: words of URLs, and common links."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Example
from lycosa.judges.gp import similarity
from lycosa.judges.gp.evidence import EvidenceIndex, FieldIndex
from lycosa.judges.gp.fields import EVIDENCE, FIELDS, FIELDS_BY_CHOICE, LINK_EVIDENCE, fields_of
from lycosa.judges.gp.formula_file import read_formula, write_formula
from lycosa.judges.gp.judge import GpKnnClassifier, GpKnnSettings
from lycosa.judges.saved_arrays import pack, unpack
from lycosa.lib.text import term_counts
from lycosa.model import Page

ALL = FIELDS_BY_CHOICE["links"]
TOPICS = ("Physics", "Sailing")
FEW = GpKnnSettings(population=20, generations=3, k=5, evidence="links")


def page(url: str, links: Sequence[int] = (), text: str = "people water", title: str = "") -> Page:
    """`links`: hashes of targets."""
    return Page(
        url,
        title=title,
        text=text,
        terms=term_counts(f"{title}\n{text}"),
        link_hashes=np.array(links, np.int64).tobytes(),
    )


EXAMPLES = [
    page("http://a.test/boats/sailing-boat.html", [1, 2, -3]),
    page("https://b.test/wind/", [2, 4]),
    page("http://c.test/atom?wind=boat", [5, 6, 7]),
    page("/home/me/Sailing/boats.html", []),
]
ASKED = page("http://www.d.test/boat/sail", [2, -3, 99, 100])


def examples(count: int = 10) -> list[Example]:
    """Their words say nothing; their URLs and their links do."""
    rng = np.random.default_rng(3)
    words = {"Sailing": ["boat", "mast", "keel", "sail", "wind"], "Physics": ["atom", "quark", "field", "mass", "wave"]}
    return [
        Example(
            page(
                f"http://{'-'.join(rng.choice(words[topic], 2))}.test/{number}",
                rng.choice(np.arange(8) + 100 * at, 4, replace=False).tolist(),
                "people water " + " ".join(rng.choice(["year", "world", "good", "time"], 4)),
            ),
            (topic,),
        )
        for at, topic in enumerate(TOPICS)
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def fitted() -> GpKnnClassifier:
    return GpKnnClassifier(FEW).fit(examples(), TOPICS)


class TestFields:
    def test_words_of_the_url_are_stemmed_and_common_ones_left_out(self):
        assert fields_of(EXAMPLES[0], ["url"]) == {"url": {"test": 1, "boat": 2, "sail": 1}}
        assert fields_of(EXAMPLES[2], ["url"]) == {"url": {"test": 1, "atom": 1, "wind": 1, "boat": 1}}

    def test_files_have_no_words_of_urls(self):
        """Their folders may be named after topics: that would be the answer."""
        assert fields_of(EXAMPLES[3], ["url"]) == {"url": {}}

    def test_targets_of_links_count_once_each(self):
        assert fields_of(page("", [5, -7, 5]), ["links"]) == {"links": {"5": 1, "-7": 1}}
        assert fields_of(Page("http://a.test/"), ["links"]) == {"links": {}}

    def test_only_the_fields_asked_for(self):
        for chosen in (("body",), ("title", "links"), ALL):
            assert tuple(fields_of(ASKED, chosen)) == chosen


class TestEvidence:
    def test_common_links_by_hand(self):
        found = EvidenceIndex.fit(EXAMPLES, ALL).row(fields_of(ASKED, ALL))
        assert found["links_bag"].tolist() == [0.5, 0.25, 0, 0]  # 2 and −3, and 2, of four

        def idf(df: int) -> float:
            return log(5 / (1 + df)) + 1

        own = sqrt(idf(2) ** 2 + idf(1) ** 2 + 2 * idf(0) ** 2)
        first = (idf(2) ** 2 + idf(1) ** 2) / own / sqrt(2 * idf(1) ** 2 + idf(2) ** 2)
        second = idf(2) ** 2 / own / sqrt(idf(2) ** 2 + idf(1) ** 2)
        assert found["links_cosine"] == pytest.approx([first, second, 0, 0])
        rare = log((4 - 1 + 0.5) / 1.5)  # of −3; 2 is in half of the examples, and counts nothing
        assert found["links_okapi"] == pytest.approx([4 / (0.5 + 1.5 * 3 / 2 + 1) * rare, 0, 0, 0])

    def test_words_of_urls_by_hand(self):
        """`d`, a single letter, is no word."""
        found = EvidenceIndex.fit(EXAMPLES, ALL).row(fields_of(ASKED, ALL))
        assert fields_of(ASKED, ["url"])["url"] == {"test": 1, "boat": 1, "sail": 1}
        assert found["url_bag"] == pytest.approx([1, 1 / 3, 2 / 3, 0])
        assert found["url_okapi"][1] == 0
        assert found["url_okapi"][0] > 0

    def test_one_page_is_a_row_of_many(self):
        index = EvidenceIndex.fit(EXAMPLES, ALL)
        asked = [ASKED, *EXAMPLES, Page("")]
        many = index.rows(index.matrices_of(asked), index.matrices)
        assert tuple(many) == (*EVIDENCE, *LINK_EVIDENCE)
        for number, each in enumerate(asked):
            row = index.row(fields_of(each, ALL))
            assert tuple(row) == tuple(many)
            for name, values in row.items():
                assert many[name][number] == pytest.approx(values, rel=1e-5, abs=1e-7), name
        assert many["links_cosine"][1, 0] == pytest.approx(1)
        assert many["url_cosine"][2, 1] == pytest.approx(1)

    def test_the_papers_six_are_the_same_beside_them(self):
        alone, beside = EvidenceIndex.fit(EXAMPLES), EvidenceIndex.fit(EXAMPLES, ALL)
        first, second = alone.row(fields_of(ASKED, FIELDS)), beside.row(fields_of(ASKED, ALL))
        assert tuple(first) == EVIDENCE
        assert all((second[name] == first[name]).all() for name in EVIDENCE)

    def test_absent_fields_are_zeros(self):
        index = EvidenceIndex.fit(EXAMPLES, ALL)
        found = index.row({"body": {"water": 1}})
        assert not any(found[name].any() for name in LINK_EVIDENCE)
        nowhere = EvidenceIndex.fit([replace(each, url="", link_hashes=b"") for each in EXAMPLES], ALL)
        found = nowhere.row(fields_of(ASKED, ALL))
        assert not any(found[name].any() for name in LINK_EVIDENCE)
        assert all(np.isfinite(values).all() for values in nowhere.rows(nowhere.matrices, nowhere.matrices).values())

    def test_only_some_fields(self):
        index = EvidenceIndex.fit(EXAMPLES, ALL)
        assert tuple(index.row(fields_of(ASKED, ALL), ["links"])) == ("links_bag", "links_cosine", "links_okapi")
        part = index.only(("title", "body", "links"))
        assert part.fields == ("title", "body", "links")
        assert (part.row(fields_of(ASKED, ALL))["links_bag"] == [0.5, 0.25, 0, 0]).all()

    def test_what_was_saved_gives_the_same(self):
        index = EvidenceIndex.fit(EXAMPLES, ALL)
        loaded = EvidenceIndex.from_arrays(index.to_arrays(), ALL)
        again, found = (each.row(fields_of(ASKED, ALL)) for each in (loaded, index))
        assert all((again[name] == found[name]).all() for name in found)
        assert set(index.to_arrays()) == set(EvidenceIndex.names_of_arrays(ALL))


class TestJudge:
    def test_it_finds_evidence_in_links_that_words_do_not_have(self, fitted):
        assert any(name in fitted.evolved_.formula for name in LINK_EVIDENCE)
        by_words = GpKnnClassifier(replace(FEW, evidence="paper")).fit(examples(), TOPICS)
        assert not any(name in by_words.evolved_.formula for name in LINK_EVIDENCE)
        assert fitted.evolved_.training > by_words.evolved_.training + 0.2

    def test_links_decide(self):
        classifier = GpKnnClassifier(replace(FEW, formula="links_cosine")).fit(examples(), TOPICS)
        for at in (0, 1):
            assert classifier.posteriors(page("", [100 * at + 1, 100 * at + 2]))[at] > 0.9

    def test_words_of_the_url_decide(self):
        classifier = GpKnnClassifier(replace(FEW, formula="url_cosine")).fit(examples(), TOPICS)
        assert classifier.posteriors(page("http://x.test/keel"))[1] > 0.9
        assert classifier.posteriors(page("http://x.test/quark"))[0] > 0.9
        words = Page("", text="keel mast", terms=term_counts("keel mast"))
        assert classifier.short_texts(words)[1] > 0.5
        assert classifier.strongest(page("http://x.test/keel"), "Sailing").keys() >= {"keel"}
        assert classifier.reasons(page("http://x.test/keel"))[0].endswith("by url_cosine 100%")

    def test_hashes_of_links_are_not_shown_as_words(self):
        classifier = GpKnnClassifier(replace(FEW, formula="links_cosine + body_cosine")).fit(examples(), TOPICS)
        assert set(classifier.strongest(page("", [1, 2], "water"), "Sailing")) <= {"water"}

    def test_a_page_without_url_and_links_is_judged_by_the_rest(self, fitted):
        for each in (Page("", terms={"water": 1}), Page(""), Page("http://a.test/", link_hashes=b"")):
            assert np.isfinite(fitted.posteriors(each)).all()

    @pytest.mark.parametrize(
        ("formula", "kept"),
        [
            ("body_cosine", ()),
            ("url_bag * body_cosine", ("url",)),
            ("links_okapi + links_bag", ("links",)),
            ("url_bag + links_bag", ("url", "links")),
        ],
    )
    def test_only_fields_of_the_formula_are_kept_and_computed(self, formula, kept, monkeypatch):
        classifier = GpKnnClassifier(replace(FEW, formula=formula)).fit(examples(), TOPICS)
        assert classifier.similarity.index.fields == (*FIELDS, *kept)
        asked, looked_up = [], []
        whole, row = similarity.fields_of, FieldIndex.row
        monkeypatch.setattr(similarity, "fields_of", lambda page, fields: asked.append(fields) or whole(page, fields))
        monkeypatch.setattr(FieldIndex, "row", lambda self, terms: looked_up.append(self) or row(self, terms))
        classifier.posteriors(ASKED)
        assert asked == [(*FIELDS, *kept)]
        used = {name.partition("_")[0] for name in (*EVIDENCE, *LINK_EVIDENCE) if name in formula}
        assert len(looked_up) == len(used)

    def test_a_formula_that_is_a_number_still_judges(self):
        classifier = GpKnnClassifier(GpKnnSettings(formula="2")).fit(examples(), TOPICS)
        assert np.isfinite(classifier.posteriors(ASKED)).all()

    def test_what_was_saved_judges_alike(self, fitted):
        for loaded in (GpKnnClassifier.load(fitted.save()), pickle.loads(pickle.dumps(fitted))):
            assert loaded.settings == fitted.settings
            assert loaded.similarity.index.fields == fitted.similarity.index.fields
            for example in examples(3):
                assert (loaded.posteriors(example.page) == fitted.posteriors(example.page)).all()
                assert loaded.reasons(example.page) == fitted.reasons(example.page)

    def test_the_similarity_is_kept_for_other_examples(self, fitted):
        more = GpKnnClassifier(fitted.with_formula_kept()).fit(examples(6), TOPICS)
        assert more.evolved_.formula == fitted.evolved_.formula
        assert more.settings.evidence == "links"

    def test_models_that_were_saved_before_there_was_a_choice(self):
        classifier = GpKnnClassifier(GpKnnSettings(formula="body_cosine")).fit(examples(), TOPICS)
        meta, arrays = unpack("gp-knn 1", classifier.save())
        arrays.pop("meta")
        assert meta["settings"].pop("evidence") == "paper"
        assert not any(name.startswith(("url_", "links_")) for name in arrays)
        loaded = GpKnnClassifier.load(pack("gp-knn 1", {k: v for k, v in meta.items() if k != "kind"}, arrays))
        assert loaded.settings.evidence == "paper"
        assert (loaded.posteriors(ASKED) == classifier.posteriors(ASKED)).all()

    def test_a_model_without_the_fields_of_its_formula_is_refused(self):
        meta, arrays = unpack(
            "gp-knn 1", GpKnnClassifier(GpKnnSettings(formula="body_bag")).fit(examples(), TOPICS).save()
        )
        arrays.pop("meta")
        meta = {k: v for k, v in meta.items() if k != "kind"}
        meta["evolved"]["formula"] = "body_bag + links_bag"
        with pytest.raises(ValueError, match="damaged"):
            GpKnnClassifier.load(pack("gp-knn 1", meta, arrays))


class TestDefault:
    def test_links_change_nothing(self):
        """The default is the paper's: the same bytes, whatever the examples link to."""
        settings = GpKnnSettings(population=8, generations=3, k=5)
        assert settings.evidence == "paper"
        bare = [Example(replace(page, url="", link_hashes=b""), topics) for page, topics in examples()]
        named = [Example(replace(page, title=""), topics) for page, topics in examples()]
        with_links, without = (GpKnnClassifier(settings).fit(each, TOPICS) for each in (named, bare))
        assert with_links.evolved_ == without.evolved_
        for example in examples(3):
            assert (with_links.posteriors(example.page) == without.posteriors(example.page)).all()

    def test_evolution_draws_from_the_six_alone(self):
        seen: list[str] = []

        class Kept:
            def load(self, _key: str) -> None: ...

            def save(self, _key: str, data: object) -> None:
                seen.append(json.dumps(data))

        GpKnnClassifier(GpKnnSettings(population=30, generations=4), checkpoints=Kept()).fit(examples(), TOPICS)
        assert len(seen) == 5
        assert any(name in text for text in seen for name in EVIDENCE)
        assert not any(name in text for text in seen for name in LINK_EVIDENCE)


class TestSettings:
    def test_the_choice_is_checked(self):
        with pytest.raises(ConfigError, match=r"evidence is 'link': did you mean 'links'.*there are paper, links"):
            GpKnnSettings(evidence="link")

    @pytest.mark.parametrize("name", LINK_EVIDENCE)
    def test_a_formula_of_links_needs_them(self, name):
        formula = f"body_cosine + {name}"
        with pytest.raises(ConfigError, match=rf"the formula has {name}, but .*'paper'.*--evidence links"):
            GpKnnSettings(formula=formula)
        assert GpKnnSettings(formula=formula, evidence="links").fields == ALL
        assert GpKnnSettings(formula="body_cosine").fields == FIELDS

    def test_names_that_nobody_knows(self):
        for evidence in FIELDS_BY_CHOICE:
            with pytest.raises(InputError, match=r"column 1: .*found 'links_cosin'; did you mean 'links_cosine'"):
                GpKnnSettings(formula="links_cosin", evidence=evidence)


class TestFormulaFile:
    def test_what_was_written_is_read(self, tmp_path):
        path = tmp_path / "mine.toml"
        write_formula(path, "url_bag + body_cosine", k=3, evidence="links")
        assert read_formula(path) == ("url_bag + body_cosine", 3, "links")
        assert all(name in path.read_text() for name in (*EVIDENCE, *LINK_EVIDENCE))

    def test_the_default_is_not_said(self, tmp_path):
        path = tmp_path / "mine.toml"
        write_formula(path, "body_cosine", k=3)
        assert path.read_text().endswith('\nformula = "body_cosine"\nk = 3\n')
        assert not any(name in path.read_text() for name in LINK_EVIDENCE)

    def test_an_unknown_choice(self, tmp_path):
        path = tmp_path / "mine.toml"
        for wrong in ('"link"', "3", "['links']", "{links = 1}"):
            path.write_text(f"formula = 'body_bag'\nevidence = {wrong}")
            with pytest.raises(InputError, match=r"mine.toml: evidence is .*: there are paper, links"):
                read_formula(path)
