"""The judge gp-knn: evolving a similarity, classifying by it, storing it."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.judges.classifier import Example
from lycosa.judges.gp.evidence import EvidenceIndex
from lycosa.judges.gp.fields import EVIDENCE
from lycosa.judges.gp.formula_file import read_formula, write_formula
from lycosa.judges.gp.judge import GpKnnClassifier, GpKnnSettings
from lycosa.judges.gp.learning import Parts, SimilarityLearning, evolved_similarity
from lycosa.judges.labels import Labels
from lycosa.judges.saved_arrays import pack, unpack
from lycosa.lib.gp.evolution import ProgramSettings
from lycosa.lib.text import term_counts
from lycosa.model import Page

WORDS = {
    "Sport/Sailing": "sail mast harbour keel wind anchor regatta boat",
    "Sport/Cycling": "bicycle wheel pedal saddle race mountain tyre chain",
    "Science/Physics": "electron quantum energy particle field wave atom mass",
}
TOPICS = tuple(WORDS)
FEW = GpKnnSettings(population=8, generations=3, k=5)


def page(text: str, title: str = "") -> Page:
    return Page("http://a.test/", title=title, text=text, terms=term_counts(f"{title}\n{text}"))


def examples(count: int = 10, *, seed: int = 0, has_titles: bool = True) -> list[Example]:
    rng = np.random.default_rng(seed)
    common = ["people", "year", "world", "good", "time", "large", "house", "water"]
    return [
        Example(
            page(
                " ".join([*rng.choice(words.split(), 5), *rng.choice(common, 6)]),
                " ".join(rng.choice(words.split(), 2)) if has_titles else "",
            ),
            (topic,),
        )
        for topic, words in WORDS.items()
        for _ in range(count)
    ]


def of(classifier: GpKnnClassifier, values: np.ndarray) -> dict[str, float]:
    return dict(zip(classifier.topics_, values.tolist(), strict=True))


@pytest.fixture(scope="module")
def fitted() -> GpKnnClassifier:
    return GpKnnClassifier(FEW).fit(examples(), TOPICS)


class Memory:
    """Checkpoints in a dictionary, as JSON."""

    def __init__(self) -> None:
        self.saved: dict[str, list[str]] = {}

    def load(self, key: str) -> object:
        return json.loads(self.saved[key][-1]) if key in self.saved else None

    def save(self, key: str, data: object) -> None:
        self.saved.setdefault(key, []).append(json.dumps(data))


def noisy(count: int = 80) -> tuple[EvidenceIndex, np.ndarray]:
    """Two classes that neither titles nor bodies tell apart well alone."""
    rng = np.random.default_rng(5)
    words, both = [list(words.split()) for words in WORDS.values()][:2], []
    labels = Labels(TOPICS)
    for number in range(count):
        own, other = words[number % 2], words[1 - number % 2]
        title = " ".join(rng.choice(own if rng.random() < 0.7 else other, 2))
        text = " ".join([*rng.choice(own, 3), *rng.choice(other, 2), f"unique{number}"])
        if labels.add(page(text, title), (TOPICS[number % 2],)):
            both.append(page(text, title))
    return EvidenceIndex.fit(both), labels.by_class(labels.classes())


class TestLearning:
    LEARNING = SimilarityLearning(program=ProgramSettings(population=30, generations=8), k=5)

    def test_the_parts_have_nothing_in_common(self):
        index, by_class = noisy()
        parts = Parts(index, by_class, self.LEARNING)
        assert not {*parts.trained.tolist()} & {*parts.validated.tolist()}
        assert len(parts.validated) == pytest.approx(len(by_class) / 4, abs=2)

    def test_the_number_of_documents_tried_is_bounded(self):
        index, by_class = noisy()
        parts = Parts(index, by_class, SimilarityLearning(max_queries=7))
        assert len(parts.validated) == 7
        assert len(parts.training.predictions(self.tree("body_cosine"))) == 7

    @staticmethod
    def tree(formula: str):
        from lycosa.judges.gp.learning import SIMILARITIES
        from lycosa.lib.gp.text import parsed

        return parsed(formula, SIMILARITIES)

    def test_evolution_is_at_least_as_good_as_any_evidence_where_it_was_tried(self):
        index, by_class = noisy()
        parts = Parts(index, by_class, self.LEARNING)
        found = evolved_similarity(index, by_class, self.LEARNING)
        assert found.validation is not None
        assert found.generations == 8
        best = max(parts.training(self.tree(name)) for name in EVIDENCE)
        last = None
        memory = Memory()
        evolved_similarity(index, by_class, self.LEARNING, checkpoints=memory)
        (generations,) = memory.saved.values()
        last = json.loads(generations[-1])
        assert max(last["fitness"]) > best

    def test_validation_chooses_among_the_champions(self):
        index, by_class = noisy()
        memory = Memory()
        found = evolved_similarity(index, by_class, self.LEARNING, checkpoints=memory)
        (generations,) = memory.saved.values()
        champions = json.loads(generations[-1])["champions"]
        parts = Parts(index, by_class, self.LEARNING)
        assert found.formula in champions
        assert found.validation == max(parts.validation(self.tree(each)) for each in champions)

    def test_interrupted_it_goes_on_and_ends_the_same(self):
        index, by_class = noisy()
        whole = evolved_similarity(index, by_class, self.LEARNING)
        memory, told = Memory(), []

        def stop(step: str, done: int, total: int) -> None:
            if done == 4:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            evolved_similarity(index, by_class, self.LEARNING, progress=stop, checkpoints=memory)
        again = evolved_similarity(
            index, by_class, self.LEARNING, progress=lambda *each: told.append(each), checkpoints=memory
        )
        assert again == whole
        assert [done for step, done, _ in told if step.startswith("evolving")] == [5, 6, 7, 8]

    def test_other_examples_or_settings_begin_anew(self):
        index, by_class = noisy()
        memory = Memory()
        for learning in (self.LEARNING, SimilarityLearning(program=self.LEARNING.program, k=3)):
            evolved_similarity(index, by_class, learning, checkpoints=memory)
        other, classes = noisy(60)
        evolved_similarity(other, classes, self.LEARNING, checkpoints=memory)
        assert len(memory.saved) == 3

    def test_damaged_checkpoints_are_not_used(self):
        index, by_class = noisy()
        memory = Memory()
        whole = evolved_similarity(index, by_class, self.LEARNING, checkpoints=memory)
        (key,) = memory.saved
        memory.saved[key].append('{"number": 3}')
        assert evolved_similarity(index, by_class, self.LEARNING, checkpoints=memory) == whole


class TestJudging:
    def test_pages_are_put_where_they_belong(self, fitted):
        unseen = examples(10, seed=1)
        for values in (fitted.posteriors, fitted.memberships):
            leaves = [{t: v for t, v in of(fitted, values(e.page)).items() if t in TOPICS} for e in unseen]
            right = sum(max(leaf, key=leaf.get) in e.topics for leaf, e in zip(leaves, unseen, strict=True))
            assert right >= 0.95 * len(unseen)

    def test_a_few_words_are_compared_with_titles_too(self):
        settings = GpKnnSettings(formula="title_cosine", k=5)
        classifier = GpKnnClassifier(settings).fit(examples(), TOPICS)
        words = Page("", text="mast keel", terms=term_counts("mast keel"))
        assert of(classifier, classifier.short_texts(words))["Sport/Sailing"] > 0.5
        assert of(classifier, classifier.memberships(words))["Sport/Sailing"] < 0.5

    def test_reasons_name_the_nearest_examples_and_the_evidence(self):
        given = [
            Example(page("sail mast harbour", "Boats of the north"), ("Sport/Sailing",)),
            Example(page("bicycle pedal chain", "Wheels"), ("Sport/Cycling",)),
            Example(page("electron atom", "Quanta"), ()),
        ]
        by_body = GpKnnClassifier(GpKnnSettings(formula="body_cosine + title_cosine")).fit(given, TOPICS)
        first, *rest = by_body.reasons(page("sail mast pedal", ""))
        assert "“Boats of the north” (Sport/Sailing), by body_cosine 100%" in first
        assert "“Wheels” (Sport/Cycling)" in rest[0]
        mixed = by_body.reasons(page("sail", "Boats"))[0]
        assert "body_cosine" in mixed
        assert "title_cosine" in mixed
        assert "(no topic), by title_cosine 100%" in by_body.reasons(page("zebra", "Quanta"))[0]
        assert not by_body.reasons(page("zebra", "zebra"))

    def test_strongest_words_speak_for_and_against(self, fitted):
        mixed = page("sail sail mast mast harbour regatta quantum electron")
        assert fitted.strongest(mixed, "Sport/Sailing", count=20)["mast"] > 0
        assert fitted.strongest(mixed, "Science/Physics", count=20)["mast"] < 0

    @pytest.mark.parametrize(
        "text", ["", "sail", "帆船 が 好き です", "sail wind " * 250_000], ids=["0", "1", "ja", "n"]
    )
    def test_odd_pages_get_finite_values_in_range(self, fitted, text):
        for values in (fitted.posteriors(page(text)), fitted.memberships(page(text))):
            assert np.isfinite(values).all()
            assert ((values >= 0) & (values <= 1)).all()


class TestFewExamples:
    def test_no_example_at_all(self):
        for given in ([], [Example(page(""), ("Sport/Sailing",))]):
            with pytest.raises(InputError, match="no example"):
                GpKnnClassifier(FEW).fit(given, TOPICS)

    def test_a_single_class_is_refused(self):
        sailing = [example for example in examples() if example.topics == ("Sport/Sailing",)]
        with pytest.raises(InputError, match=r"all examples are under 'Sport/Sailing'.*add examples of other topics"):
            GpKnnClassifier(FEW).fit(sailing, TOPICS)

    def test_k_larger_than_the_examples(self):
        classifier = GpKnnClassifier(GpKnnSettings(population=8, generations=2, k=1000)).fit(examples(4), TOPICS)
        assert of(classifier, classifier.posteriors(page(WORDS["Sport/Sailing"])))["Sport/Sailing"] > 0.5

    @pytest.mark.parametrize("count", [1, 2])
    def test_one_or_two_examples_a_topic(self, count):
        classifier = GpKnnClassifier(FEW).fit(examples(count), TOPICS)
        found = of(classifier, classifier.posteriors(examples(count)[0].page))
        assert np.isfinite([*found.values()]).all()
        assert found["Sport/Sailing"] >= max(found["Sport/Cycling"], found["Science/Physics"])

    def test_empty_titles(self):
        classifier = GpKnnClassifier(FEW).fit(examples(has_titles=False), TOPICS)
        unseen = examples(5, seed=3, has_titles=False)
        found = [of(classifier, classifier.posteriors(e.page)) for e in unseen]
        assert all(max(TOPICS, key=each.get) in e.topics for each, e in zip(found, unseen, strict=True))


class TestStoring:
    def test_settings_are_kept(self):
        settings = GpKnnSettings(population=8, generations=1, k=3, measure="paper", seed=4)
        fitted = GpKnnClassifier(settings).fit(examples(), TOPICS)
        assert GpKnnClassifier.load(fitted.save()).settings == settings

    def test_what_was_saved_judges_alike(self, fitted):
        for loaded in (GpKnnClassifier.load(fitted.save()), pickle.loads(pickle.dumps(fitted))):
            assert loaded.evolved_ == fitted.evolved_
            for example in examples(3, seed=4):
                assert (loaded.posteriors(example.page) == fitted.posteriors(example.page)).all()
                assert (loaded.short_texts(example.page) == fitted.short_texts(example.page)).all()
                assert loaded.reasons(example.page) == fitted.reasons(example.page)

    def test_the_same_examples_give_the_same_bytes(self, fitted):
        assert GpKnnClassifier(FEW).fit(examples(), TOPICS).save() == fitted.save()

    def test_with_whom_to_tell_it_can_still_be_sent(self):
        told = []
        classifier = GpKnnClassifier(FEW, progress=lambda *each: told.append(each), checkpoints=Memory())
        pickle.dumps(classifier.fit(examples(), TOPICS))
        assert any(step.startswith("evolving") for step, _, _ in told)

    @pytest.mark.parametrize("cut", [0, 1, 100, -1])
    def test_damaged_bytes_are_refused(self, fitted, cut):
        with pytest.raises(ValueError, match="saved classifier"):
            GpKnnClassifier.load(fitted.save()[:cut])

    def test_a_formula_that_was_changed_into_nonsense_is_refused(self, fitted):
        meta, arrays = unpack("gp-knn 1", fitted.save())
        meta.pop("kind")
        for wrong in ({"formula": "body_cosine +"}, {"formula": 3}, {"unheard": 1}):
            arrays.pop("meta", None)
            damaged = pack("gp-knn 1", {**meta, "evolved": {**meta["evolved"], **wrong}}, arrays)
            with pytest.raises(ValueError, match="saved classifier with an invalid formula"):
                GpKnnClassifier.load(damaged)

    def test_other_examples_with_the_same_similarity(self, fitted):
        more = GpKnnClassifier(fitted.with_formula_kept()).fit(examples(6, seed=9), TOPICS)
        assert more.evolved_.formula == fitted.evolved_.formula
        assert more.evolved_.generations == 0


@pytest.mark.parametrize("wrong", [{"k": 0}, {"population": 1}, {"generations": -1}, {"measure": "x"}])
def test_settings_are_checked(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        GpKnnSettings(**wrong)


class TestFormulaFile:
    def test_what_was_written_is_read(self, tmp_path):
        path = tmp_path / "mine.toml"
        write_formula(path, "sqrt(body_cosine) * 2 + title_okapi", k=7, notes=["evolved\n[here]"])
        assert read_formula(path) == ("sqrt(body_cosine) * 2 + title_okapi", 7, None)
        text = path.read_text()
        assert "# evolved [here]" in text
        assert all(name in text for name in EVIDENCE)

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("formula = 'body_cosin'", "mine.toml: formula, line 1, column 1: .*did you mean 'body_cosine'"),
            ("formula = '''body_cosine\n + * title_bag'''", "mine.toml: formula, line 2, column 4"),
            ("formula = 'body_cosine' k = 3", r"mine.toml: not valid TOML: .*line 1, column 25"),
            ("k = 3", "mine.toml: the formula is missing"),
            ("formula = 3", "mine.toml: the formula is missing"),
            ("formula = 'body_bag'\nk = 0", "mine.toml: k is 0: it must be a whole number of 1 or more"),
            ("formula = 'body_bag'\nk = true", "mine.toml: k is True"),
            ("formula = 'body_bag'\nk = 1.5", "mine.toml: k is 1.5"),
            ("formul = 'body_bag'", "mine.toml: there is no setting 'formul'; did you mean 'formula'"),
            ("\xff", "mine.toml: not valid TOML"),
            ("#" * 200_000, "larger than any formula"),
        ],
    )
    def test_what_is_wrong_and_where(self, tmp_path, text, problem):
        path = tmp_path / "mine.toml"
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(InputError, match=problem):
            read_formula(path)

    def test_k_may_be_left_out_and_the_file_may_be_missing(self, tmp_path):
        (tmp_path / "mine.toml").write_text("formula = 'body_bag'")
        assert read_formula(tmp_path / "mine.toml").k is None
        with pytest.raises(InputError, match="no such file"):
            read_formula(tmp_path / "other.toml")
