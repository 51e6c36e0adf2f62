"""The language of a text, determined as cheaply as possible.

1. A text with enough function words that only English spells that way is English. They make up 16 % of the words of
   English prose and 12 % of reference manuals, but next to none in other languages. This takes 20 µs and settles most
   pages of an English crawl.
2. For a short text the declaration of the document is used, if it is a two-letter code.
3. Otherwise py3langid classifies a few hundred characters. That takes 0.1 ms; its model takes 0.5 s to load, so it is
   loaded when the first page needs it, and shared by reader processes (`language_model`). What it says of a language
   whose stop words are known has to be borne out by them: a list of names is in no language, and must not be stemmed as
   if it were.

Declarations are ignored if there is enough text: templates say `en` whatever their content.
"""

from __future__ import annotations

from lycosa.lib import stopwords
from lycosa.lib.languages import ENGLISH, stemmer_of
from lycosa.lib.text import split_words
from lycosa.page.language_model import label_of

MIN_LETTERS = 20
_FEW_LETTERS = 80
"""Number of letters below which a declaration is more reliable than a guess."""
_ENGLISH = frozenset(
    "and are been but from has have its not that the their there these they this were when which with you your".split()  # noqa: SIM905 - two dozen quoted words would take a line each
)
"""Frequent in English, and not spelt like a frequent word of another language, unlike `is`, `of`, `by` and `to`."""
_ENGLISH_SHARE = 0.05
_MIN_ENGLISH = 4
_STOP_WORD_SHARE = 0.1
"""Minimum share of the words that are stop words of the language: of prose they are a fifth to a half."""
_WORDS_SAMPLE = 1000
_GUESS_SAMPLE = 400

_MACRO_LANGUAGE = {
    "ary": "ar",
    "arz": "ar",
    "fuv": "ff",
    "gug": "gn",
    "kik": "ki",
    "sdh": "ku",
    "uzs": "uz",
    "wuu": "zh",
    "yue": "zh",
}
"""Labels of the model for which ISO 639-1 has no code, and the code of the wider language."""


def detect_language(text: str, *, declared: str = "") -> str:
    """The ISO 639-1 code of a text's language; empty if it is too short. `declared` is its lang attribute, if any."""
    words = _sample(text, _WORDS_SAMPLE).lower().split()
    if sum(map(_ENGLISH.__contains__, words)) >= max(_MIN_ENGLISH, _ENGLISH_SHARE * len(words)):
        return "en"
    sample = _sample(text, _GUESS_SAMPLE)
    letters = sum(map(str.isalpha, sample))
    if letters < _FEW_LETTERS:
        code = _code(declared)
        if code or letters < MIN_LETTERS:
            return code
    label = label_of(sample)
    label = _MACRO_LANGUAGE.get(label, label)
    return label if len(label) == 2 and _is_borne_out(text, label) else ""


def _is_borne_out(text: str, label: str) -> bool:
    # Without those that English has, too: `as`, `do`, `no` and `me` are Portuguese.
    stop_words = stopwords.of(stemmer_of(label)) - stopwords.ENGLISH
    if stemmer_of(label) == ENGLISH or not stop_words:
        return True
    words = split_words(_sample(text, _WORDS_SAMPLE))
    return sum(map(stop_words.__contains__, words)) >= _STOP_WORD_SHARE * len(words)


def _sample(text: str, length: int) -> str:
    # Skip the first third: pages start with menus, which are in the language of the template.
    start = min(len(text) // 3, max(0, len(text) - length))
    return text[start : start + length]


def _code(declared: str) -> str:
    primary = declared[:16].strip().lower().replace("_", "-").partition("-")[0]
    return primary if len(primary) == 2 and primary.isascii() and primary.isalpha() else ""
