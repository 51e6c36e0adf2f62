"""Word vectors: what is near in meaning, and that nothing but the files of the package is used."""

from __future__ import annotations

import pickle
import subprocess
import sys
from math import isnan

import pytest

from lycosa.errors import ConfigError
from lycosa.judges import meaning as module
from lycosa.judges.meaning import Meaning, is_installed, require_installed
from lycosa.model import OPENING_WORDS, Page, first_words

needs_vectors = pytest.mark.skipif(not is_installed(), reason="pip install 'lycosa[meaning]'")

BICYCLES = Page("http://a.test/", title="Bikes", own_text="A long ride on two wheels along the river, with panniers.")
SOUP = Page("http://b.test/", title="Leek soup", own_text="Chop the leeks, and let them simmer in butter and stock.")


class TestOpening:
    def test_it_is_the_title_and_the_first_words_of_the_own_text(self):
        words = [f"word{number}" for number in range(OPENING_WORDS + 50)]
        page = Page("http://a.test/", title="Title", text="menu " + " ".join(words), own_text="  ".join(words))
        assert page.opening.split() == ["Title", *words[:OPENING_WORDS]]

    def test_a_page_without_its_text_keeps_its_beginning(self):
        assert Page("http://a.test/", title="Title", beginning="first words").opening == "Title first words"

    def test_endless_words_are_cut(self):
        assert len(first_words("x" * 10**6)) < 10_000


@needs_vectors
class TestMeaning:
    def test_other_words_for_the_topic_are_near(self):
        meaning = Meaning("recreational cycling")
        assert meaning(BICYCLES) > 0.2 > meaning(SOUP)

    def test_only_the_beginning_counts(self):
        after = " ".join(["soup"] * OPENING_WORDS)
        assert Meaning("cycling")(Page("http://a.test/", own_text=f"{after} bicycle")) == pytest.approx(
            Meaning("cycling")(Page("http://a.test/", own_text=after)), abs=1e-6
        )

    @pytest.mark.parametrize("page", [Page("http://a.test/"), Page("http://a.test/", title=" ", own_text="\n")])
    def test_a_page_without_text_means_nothing(self, page):
        assert isnan(Meaning("cycling")(page))

    def test_it_goes_to_another_process_without_its_vectors(self):
        meaning = Meaning("cycling")
        before = meaning(BICYCLES)
        sent = pickle.dumps(meaning)
        assert len(sent) < 200
        assert pickle.loads(sent)(BICYCLES) == before

    def test_neither_the_package_s_code_nor_the_network_is_used(self):
        code = (
            "import socket, sys\n"
            "def refuse(*given): raise AssertionError('network')\n"
            "socket.socket.connect = socket.getaddrinfo = refuse\n"
            "from lycosa.judges.meaning import Meaning\n"
            "from lycosa.model import Page\n"
            "print(Meaning('cycling')(Page('http://a.test/', title='bicycle')))\n"
            "loaded = {name.partition('.')[0] for name in sys.modules}\n"
            "assert not loaded & {'wordllama', 'requests', 'urllib3', 'huggingface_hub'}, loaded\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert float(done.stdout) > 0.2

    def test_it_is_the_cosine_of_the_package(self):
        """Its own code, in another process, as it configures logging when it is imported."""
        code = (
            "import sys, wordllama\n"
            "from pathlib import Path\n"
            "folder = Path(wordllama.__file__).parent\n"
            "model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)\n"
            "print(model.similarity(sys.argv[1], sys.argv[2]))\n"
        )
        command = [sys.executable, "-W", "ignore", "-c", code, "recreational cycling", BICYCLES.opening]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert Meaning("recreational cycling")(BICYCLES) == pytest.approx(float(done.stdout), abs=1e-5)


def test_where_it_is_not_installed_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(module, "PACKAGE", "no_such_package")
    assert not is_installed()
    with pytest.raises(ConfigError, match=r"pip install 'lycosa\[meaning\]'"):
        require_installed()
