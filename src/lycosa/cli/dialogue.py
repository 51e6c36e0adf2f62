"""Questions asked and answered on a terminal: is this page one of those you want?

Each answer is kept as soon as it is given, so that whatever ends the dialogue loses none. Everything that comes from
the web is stripped of what could move the cursor (`terminal`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lycosa.cli.keys import END, Keys
from lycosa.cli.terminal import err, out, plain
from lycosa.results.open_questions import Question
from lycosa.store.rows import Answer

ANSWERS = {
    **dict.fromkeys(("y", "yes"), Answer.RELEVANT),
    **dict.fromkeys(("n", "no"), Answer.IRRELEVANT),
    **dict.fromkeys(("s", "skip"), Answer.SKIPPED),
}
BACK, QUIT = ("b", "back"), ("q", "quit", END)
CHOICES = "y yes   n no   s skip   b back   q quit"
WORDS = {Answer.RELEVANT: "yes", Answer.IRRELEVANT: "no", Answer.SKIPPED: "skipped"}
WIDTH = 100


@dataclass(frozen=True, slots=True)
class Dialogue:
    keys: Keys
    keep: Callable[[Question, str], None]
    """Stores an answer."""
    lines: Callable[[Question], list[str]]
    """The first lines of a page's text."""
    given: dict[str, str] = field(default_factory=dict)
    """The answers, by URL."""

    def ask(self, questions: Sequence[Question]) -> None:
        """Ask until all are answered, or the person has had enough."""
        at = 0
        while at < len(questions):
            self._show(questions[at], at + 1, len(questions))
            said = self._answer()
            if said in QUIT:
                out.print()
                return
            if said in BACK:
                at = max(0, at - 1)
                self._take_back(questions[at])
                continue
            answer = ANSWERS[said]
            self.keep(questions[at], answer)
            self.given[questions[at].url] = answer
            out.print(f"[bold]{WORDS[answer]}[/]")
            at += 1

    def _answer(self) -> str:
        while True:
            said = self.keys.read()
            if said in ANSWERS or said in BACK or said in QUIT:
                return said
            err.print(f"[yellow]{plain(said, 40)!s}[/] is no answer: {CHOICES}" if said.strip() else CHOICES)

    def _take_back(self, question: Question) -> None:
        if self.given.pop(question.url, None) is not None:
            self.keep(question, Answer.WITHDRAWN)
            out.print("[dim]back: the last answer is taken back[/]")

    def _show(self, question: Question, number: int, count: int) -> None:
        out.print()
        out.print(f"[bold]{number} of {count}  {plain(question.title or '(no title)', WIDTH)}[/]")
        out.print(plain(question.url, 2 * WIDTH))
        verdict = "relevant" if question.is_relevant else "not relevant"
        words = f", by {', '.join(plain(word, 30) for word in question.words)}" if question.words else ""
        out.print(f"[dim]the judge thinks: {verdict}, {question.relevance:.2f}{words}[/]")
        if question.waiting:
            depend = "link on it waits" if question.waiting == 1 else "links on it wait"
            out.print(f"[dim]{question.waiting:,} {depend} to be fetched[/]")
        for line in self.lines(question):
            out.print(f"  {plain(line, WIDTH)}")
        out.print(f"Is this one?  [dim]{CHOICES}[/]  ", end="")

    @property
    def summary(self) -> str:
        """3 answers: 2 yes, 1 no; 1 skipped"""
        counts = {answer: list(self.given.values()).count(answer) for answer in WORDS}
        said = counts[Answer.RELEVANT] + counts[Answer.IRRELEVANT]
        noun = "answer" if said == 1 else "answers"
        text = f"{said} {noun}: {counts[Answer.RELEVANT]} yes, {counts[Answer.IRRELEVANT]} no"
        return text + (f"; {counts[Answer.SKIPPED]} skipped" if counts[Answer.SKIPPED] else "")
