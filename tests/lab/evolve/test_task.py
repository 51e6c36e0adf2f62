from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest

from lycosa.errors import ConfigError, InputError
from lycosa.lab.evolve.choosing import REFERENCES, choose, first_genomes, is_within
from lycosa.lab.evolve.encoding import Encoding, weights_with
from lycosa.lab.evolve.rivals import LimitedTrials, cma_es, random_search
from lycosa.lab.evolve.task import TRIALS, EvolutionPlan, EvolutionTask, fitnesses, prepare
from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.worlds.build import build_generated
from lycosa.lab.worlds.world import World
from lycosa.lib.evolve import GeneticSettings, genome_of
from lycosa.strategies.papers.current_list import CurrentListSettings
from lycosa.strategies.papers.evolved import EvolvedSettings


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("task") / "made.world"
    web = GeneratedWeb(WebPlan(seed=4, pages=250, hosts=8, topics=3, out_degree=10))
    build_generated(web, target, is_rendered=True, readers=0)
    return target


@pytest.fixture(scope="module")
def plan(path) -> EvolutionPlan:
    topics = World.open(path).topics
    return EvolutionPlan(world=path, topics=tuple(topics[:2]), pages=60, runs=2, seeds=4, examples=12)


@pytest.fixture(scope="module")
def task(plan) -> EvolutionTask:
    return prepare(plan)


def test_the_judge_has_learned_the_topics_from_a_few_pages(task, plan):
    world = task.world
    members = np.union1d(*(world.pages_of(topic) for topic in plan.topics))
    assert len(task.examples) == 12
    assert set(task.examples) < set(members)
    unseen = np.setdiff1d(members, task.examples)
    others = np.setdiff1d(np.arange(len(world)), members)
    assert task.verdicts.is_relevant[unseen].mean() > 0.7
    assert task.verdicts.is_relevant[others].mean() < 0.2


def test_crawls_begin_at_examples_each_elsewhere_and_examples_earn_nothing(task, plan):
    starts = [set(crawl.seeds.tolist()) for crawl in task.crawls]
    assert len(starts) == plan.runs
    assert all(len(seeds) == 4 and seeds < set(task.examples.tolist()) for seeds in starts)
    assert starts[0] != starts[1]
    assert not task.grading.is_good[task.examples].any()
    members = np.union1d(*(task.world.pages_of(topic) for topic in plan.topics))
    assert task.grading.is_good.sum() == len(members) - len(task.examples)


def test_the_winner_is_chosen_and_reported_on_crawls_from_seeds_of_their_own(task, plan):
    members = np.union1d(*(task.world.pages_of(topic) for topic in plan.topics))
    sets = [{page for crawl in crawls for page in crawl.seeds.tolist()} for crawls in (task.validation, task.held_out)]
    assert [len(crawls) for crawls in (task.validation, task.held_out)] == [TRIALS, TRIALS]
    assert not sets[0] & sets[1]
    for seeds in sets:
        assert seeds <= set(members.tolist()) - set(task.examples.tolist())
    on = fitnesses([task])
    assert [len(each.tasks[0].plans) for each in on] == [plan.runs, TRIALS, TRIALS]
    values = [each.of(EvolvedSettings()) for each in on]
    assert len(set(values)) == 3
    assert on.held_out.of(EvolvedSettings()) == pytest.approx(np.mean(on.held_out.by_run(EvolvedSettings())))


class TestByJudge:
    @pytest.fixture
    def judged(self, path, plan) -> EvolutionPlan:
        """As if the world had been made of a crawl whose judge knew one topic."""
        world = World.open(path)
        members = world.pages_of(plan.topics[0])
        world.judged_relevance = np.full(len(world), 0.1, np.float32)
        world.judged_relevance[members] = 0.8
        world.judged_relevance[:2] = np.nan
        world.judged_relevant = np.zeros(len(world), np.uint8)
        world.judged_relevant[np.setdiff1d(members, [0, 1])] = 1
        self.world = world
        return dataclasses.replace(plan, topics=(), by_judge=True)

    def prepared(self, plan, monkeypatch) -> EvolutionTask:
        monkeypatch.setattr(World, "open", lambda path: self.world)
        return prepare(plan)

    def test_what_the_judge_called_relevant_is_good_and_guides(self, judged, monkeypatch):
        task = self.prepared(judged, monkeypatch)
        good = self.world.judged_relevant.astype(bool)
        assert task.grading.is_good.tolist() == good.tolist() == task.verdicts.is_relevant.tolist()
        assert task.verdicts.ordered_score[good] == pytest.approx(0.6)
        assert not len(task.examples)
        starts = [{page for crawl in crawls for page in crawl.seeds.tolist()} for crawls in
                  (task.crawls, task.validation, task.held_out)]  # fmt: skip
        assert all(good[list(seeds)].all() for seeds in starts)
        assert not starts[0] & starts[1] | starts[0] & starts[2] | starts[1] & starts[2]
        assert task.fitness().of(EvolvedSettings()) > 0

    def test_a_world_without_judgements_says_how_to_get_them(self, plan):
        with pytest.raises(InputError, match=r"made\.world has no judgements: build it from the directory of a crawl"):
            prepare(dataclasses.replace(plan, topics=(), by_judge=True))

    def test_a_judge_that_called_nothing_relevant(self, judged, monkeypatch):
        self.world.judged_relevant[:] = 0
        with pytest.raises(InputError, match="called relevant: 0 of"):
            self.prepared(judged, monkeypatch)

    def test_anchors_were_not_judged(self, judged):
        with pytest.raises(ConfigError, match="say nothing of anchors"):
            dataclasses.replace(judged, scores="all")


class TestChoosing:
    def test_the_best_of_the_validation_wins_and_is_reported_on_other_crawls(self, task):
        on, encoding = fitnesses([task]), task.plan.encoding
        genomes = [genome_of(numbers, 7) for numbers in ([127] + [0] * 8, [0, 0, 60, 60, 127, 9, 0, 0, 0], [0] * 9)]
        choice = choose(genomes, encoding, on)
        known = {**REFERENCES, **{genome: encoding.settings(genome) for genome in genomes[:2]}}
        best = max(known, key=lambda name: on.validation.of(known[name]))
        assert choice.winner == known[best]
        assert choice.name == (best if best in REFERENCES else "evolved")
        score = choice.scores["winner"]
        assert score.validation == max(on.validation.of(settings) for settings in known.values())
        assert score.held_out == pytest.approx(on.held_out.of(choice.winner))
        assert score.bred == on.bred.of(choice.winner)
        assert choice.scores["ga2003"].held_out == pytest.approx(on.held_out.of(EvolvedSettings()))
        assert set(choice.p) == {"best-first", "ga2003"}

    def test_where_nothing_is_better_a_known_strategy_stays(self, task):
        choice = choose([genome_of([127] + [0] * 8, 7)], task.plan.encoding, fitnesses([task]))
        assert choice.name in REFERENCES
        assert choice.winner == REFERENCES[choice.name]
        assert choice.p[choice.name] == 1.0

    def test_a_known_strategy_that_needs_other_weights_is_left_out(self):
        short = Encoding(names=weights_with("paper", 2))
        assert is_within(REFERENCES["best-first"], short)
        assert not is_within(REFERENCES["ga2003"], short)

    def test_every_population_begins_with_the_known_ones(self):
        encoding = Encoding()
        first = first_genomes(encoding, ["1" * 63])
        assert first[0] == "1" * 63
        assert [encoding.settings(genome).parent_1 for genome in first[1:]] == [127, 102]


def test_k_says_which_ancestors_have_weights(plan):
    assert weights_with("paper", 1) == ("hub", "authority", "comm_in", "comm_out", "parent_1")
    assert len(dataclasses.replace(plan, parents=3).encoding.genes) == 7
    for wrong in (0, 6):
        with pytest.raises(ConfigError, match=f"evolve.parents is {wrong}: it must be from 1 to 5"):
            dataclasses.replace(plan, parents=wrong)


class TestRivals:
    SETTINGS = GeneticSettings(population=8, generations=4, genes=2)

    @pytest.mark.parametrize("search", [random_search, cma_es])
    def test_they_have_as_many_trials_and_begin_with_what_is_known(self, search):
        asked: list[str] = []

        def fitness(genome: str) -> float:
            asked.append(genome)
            return 1.0 / (1 + abs(int(genome[:7], 2) - 100) + abs(int(genome[7:], 2) - 20))

        start = [genome_of([0, 0], 7), genome_of([127, 127], 7)]
        trials = LimitedTrials(fitness, 300, map)
        search(trials, self.SETTINGS, start=start, rng=np.random.default_rng(3))
        assert asked[:2] == start
        assert len(asked) == len(set(asked)) == len(trials.known) <= 300
        assert trials.left == 300 - len(asked)
        assert trials.known[trials.fittest(1)[0]] == max(trials.known.values())

    def test_cma_es_climbs_and_random_search_does_not(self):
        def fitness(genome: str) -> float:
            return 1.0 / (1 + abs(int(genome[:7], 2) - 100) + abs(int(genome[7:], 2) - 20))

        found = []
        for search in (cma_es, random_search):
            trials = LimitedTrials(fitness, 200, map)
            search(trials, self.SETTINGS, start=[genome_of([0, 0], 7)], rng=np.random.default_rng(1))
            found.append(trials.known[trials.fittest(1)[0]])
        assert found[0] == 1.0 > found[1]

    def test_the_same_random_numbers_give_the_same_search(self):
        ways = []
        for _ in range(2):
            trials = LimitedTrials(lambda genome: genome.count("1") / 14, 80, map)
            cma_es(trials, self.SETTINGS, start=[genome_of([9, 9], 7)], rng=np.random.default_rng(5))
            ways.append(list(trials.known))
            np.random.seed(3)
        assert ways[0] == ways[1]


def test_another_process_gets_the_same_task(task):
    sent = pickle.dumps(task)
    assert len(sent) < 50_000  # the world itself stays where it is
    assert pickle.loads(sent).fitness().of(EvolvedSettings()) == task.fitness().of(EvolvedSettings())


def test_the_same_plan_gives_the_same_task_and_another_seed_another(task, plan):
    same, other = prepare(plan), prepare(dataclasses.replace(plan, seed=2))
    assert same.examples.tolist() == task.examples.tolist() != other.examples.tolist()
    assert same.fitness().of(EvolvedSettings()) == task.fitness().of(EvolvedSettings())


def test_how_many_downloads_are_under_way(plan):
    assert plan.order == CurrentListSettings(size=100, refill=50)
    assert dataclasses.replace(plan, connections=7).order == CurrentListSettings(size=7, refill=4)
    assert dataclasses.replace(plan, connections=0).order is None


def test_anchors_are_heard_where_they_may_have_a_weight(task, plan):
    wide = prepare(dataclasses.replace(plan, scores="all"))
    assert len(task.verdicts.anchors) == 0
    assert len(wide.verdicts.anchors) == len(task.world.link_urls)
    is_link_to_good = wide.grading.is_good[np.maximum(task.world.link_targets, 0)] & (task.world.link_targets >= 0)
    assert wide.verdicts.anchors[is_link_to_good].mean() > wide.verdicts.anchors[~is_link_to_good].mean() + 0.1
    only_anchors = genome_of([0] * 9 + [127, 0], 7)
    assert wide.fitness()(only_anchors) > 0
    with pytest.raises(ValueError, match="11 genes of 7 bits, not 9"):
        wide.fitness()("0" * 63)


def test_phases_are_spelt_in_shares_of_the_pages(plan):
    encoding = dataclasses.replace(plan, phases=3).encoding
    assert (encoding.phases, encoding.pages, len(encoding.genes)) == (3, 60, 29)


def test_progress_is_told(plan):
    told: list[int] = []
    prepare(plan, progress=told.append)
    assert told == sorted(told)
    assert len(told) > 200


def test_the_mean_over_tasks_in_shared_memory_is_that_of_each_by_itself(plan):
    tasks = [prepare(dataclasses.replace(plan, topics=(topic,))) for topic in plan.topics]
    both = fitnesses(tasks).bred
    assert both.tasks[0].simulator.memory is both.tasks[1].simulator.memory
    assert set(tasks[0].examples) != set(tasks[1].examples)
    for settings in (EvolvedSettings(), EvolvedSettings(hub=127)):
        alone = [task.fitness().of(settings) for task in tasks]
        assert len(set(alone)) == 2
        assert both.of(settings) == sum(alone) / 2
    genome = genome_of([0, 0, 0, 0, 127, 0, 0, 0, 0], 7)
    assert both(genome) == sum(task.fitness()(genome) for task in tasks) / 2


class TestMistakes:
    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"pages": 0}, r"evolve\.pages is 0"),
            ({"runs": 0}, r"evolve\.runs is 0"),
            ({"seeds": 0}, r"evolve\.seeds is 0"),
            ({"examples": 1}, r"evolve\.examples is 1"),
            ({"judge": "keywords"}, "no judge 'keywords'; there are"),
            ({"phases": 4}, r"evolve\.phases is 4"),
            ({"connections": -1}, r"evolve\.connections is -1"),
            ({"scores": "some"}, "no set of scores 'some'; there are paper, all"),
            ({"measure": "size"}, "no fitness 'size'; there are harvest, sites, lengths"),
        ],
    )
    def test_impossible_plans(self, plan, change, told):
        with pytest.raises(ConfigError, match=told):
            dataclasses.replace(plan, **change)

    def test_more_pages_than_there_are(self, plan):
        with pytest.raises(ConfigError, match=r"evolve\.pages is 5,000: made\.world has"):
            prepare(dataclasses.replace(plan, pages=5_000))

    def test_no_topic(self, plan):
        with pytest.raises(InputError, match="no topic is given"):
            dataclasses.replace(plan, topics=())

    def test_too_few_good_pages(self, plan, monkeypatch):
        monkeypatch.setattr(World, "pages_of", lambda self, *topics: np.array([1, 2, 3]))
        with pytest.raises(InputError, match=r"3 of .* pages are good: there must be some to learn from"):
            prepare(plan)

    def test_a_world_without_labels(self, plan, monkeypatch):
        opened = World.open(plan.world)
        opened.topics.clear()
        monkeypatch.setattr(World, "open", lambda path: opened)
        with pytest.raises(InputError, match=r"made\.world was built without labels"):
            prepare(plan)
