"""A web without end, made up page by page from the number of the page alone: for crawls of any length in any memory.

Page n links to `NEW` pages that no other page is sure to link to, the children n·NEW + 1 … n·NEW + NEW, and to `OLD`
pages with smaller numbers. A page is about one of `TOPICS` topics, mostly that of its parent; its words, the texts of
the links to it and its URL follow from the topic.
"""

from __future__ import annotations

import random

from lycosa.model import Fetched, Lease

NEW, OLD = 12, 18
TOPICS = 20
HOSTS = 400
OWN_WORDS, USUAL_WORDS = 60, 2_000
INHERITED = 0.6
"""Share of pages about the topic of the page that they are children of."""


class EndlessWeb:
    """A fetcher. With a port, its URLs have it: for a server that makes the pages up."""

    def __init__(self, *, port: int = 0) -> None:
        self._port = f":{port}" if port else ""
        self._words = [[f"{_letters(topic)}q{_letters(word)}" for word in range(OWN_WORDS)] for topic in range(TOPICS)]
        self._usual = [f"z{_letters(word)}" for word in range(USUAL_WORDS)]

    async def fetch(self, lease: Lease) -> Fetched:
        number = int(lease.url.rpartition("-")[2])
        return Fetched.page(lease, self.html(number))

    @property
    def topic_words(self) -> str:
        """Words that name the first topic."""
        return " ".join(self._words[0][:2])

    def seeds(self, count: int) -> list[str]:
        """The URLs of the first pages about the first topic."""
        found: list[str] = []
        number = 1
        while len(found) < count:
            if self.topic(number) == 0:
                found.append(self.url(number))
            number += 1
        return found

    def topic(self, number: int) -> int:
        while number:
            mixed = _mixed(number)
            if mixed % 1024 >= INHERITED * 1024:
                return mixed // 1024 % TOPICS
            number = (number - 1) // NEW
        return 0

    def url(self, number: int) -> str:
        host = _mixed(number) // (1 << 32) % HOSTS
        word = self._words[self.topic(number)][number % OWN_WORDS]
        return f"http://h{host}.test{self._port}/{word}/{number % 7}-{number}"

    def html(self, number: int) -> str:
        dice = random.Random(number)
        targets = [number * NEW + child for child in range(1, NEW + 1)]
        targets += [dice.randrange(number + NEW) for _ in range(OLD)]
        dice.shuffle(targets)
        own = self._words[self.topic(number)]
        text = [own[int(OWN_WORDS * dice.random() ** 2)] for _ in range(30)]
        text += [self._usual[int(USUAL_WORDS * dice.random() ** 2)] for _ in range(120)]
        dice.shuffle(text)
        items = "".join(f"<li>{self._link(target, dice)}</li>" for target in targets)
        return f"<html><title>{' '.join(text[:4])}</title><p>{' '.join(text)}</p><ul>{items}</ul></html>"

    def _link(self, target: int, dice: random.Random) -> str:
        own = self._words[self.topic(target)]
        anchor = f"{own[int(OWN_WORDS * dice.random() ** 2)]} {self._usual[dice.randrange(USUAL_WORDS)]}"
        usual = [self._usual[dice.randrange(USUAL_WORDS)] for _ in range(4)]
        return f'{usual[0]} {usual[1]} <a href="{self.url(target)}">{anchor}</a> {usual[2]} {usual[3]}'


def _mixed(number: int) -> int:
    """A number below 2⁶⁴ that looks random and follows from this one."""
    mixed = (number + 1) * 0x9E3779B97F4A7C15 % (1 << 64)
    mixed = (mixed ^ mixed >> 31) * 0xBF58476D1CE4E5B9 % (1 << 64)
    return mixed ^ mixed >> 29


def _letters(number: int) -> str:
    """The number in letters: words of letters alone are stemmed alike."""
    text = ""
    while True:
        number, digit = divmod(number, 20)
        text += "bcdfghjklmnprstvwxza"[digit]
        if not number:
            return text
