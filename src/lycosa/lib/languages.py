"""Which Snowball stemmer a language has, by its ISO 639-1 code."""

from __future__ import annotations

import Stemmer

ENGLISH = "english"
STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": ENGLISH,
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
CODES = {stemmer: code for code, stemmer in STEMMERS.items()}
"""One of the languages that each stemmer is for."""
_AVAILABLE = frozenset(Stemmer.algorithms())  # an older PyStemmer lacks some


def stemmed_as(code: str) -> str:
    """The language by whose rules texts in this one are stemmed: itself, or English (`en`)."""
    return code if STEMMERS.get(code) in _AVAILABLE else "en"


def stemmer_of(code: str) -> str:
    """The stemmer for texts in this language; English if Snowball has none, or the language is not known."""
    name = STEMMERS.get(code, ENGLISH)
    return name if name in _AVAILABLE else ENGLISH
