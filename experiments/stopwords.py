"""Makes src/lycosa/lib/stopwords.txt.gz: stop words of all languages that Snowball stems, but English.

    pip download --no-deps -d wheels stopwordsiso==0.7.1 stop-words==2025.11.4 stopwords==1.0.2
    python experiments/stopwords.py wheels

Three collections under free licences (src/lycosa/lib/stopwords-licences.txt). The first is well kept, but has content
words, such as `Jahr`, `Gott` and `Mensch` in German: a word of it is taken if another collection lists it, too. Where
the others are damaged or of another time (Turkish, Lithuanian in the wrong charset, ancient Greek), or do not have the
language, the first is taken as it is. Of languages that none has, a few dozen of the most common words are below.

The file has a line a language: its ISO 639-1 code and the words, spelt as `lib.text` splits them.
"""

from __future__ import annotations

import gzip
import json
import sys
import zipfile
from pathlib import Path

from lycosa.lib.languages import STEMMERS
from lycosa.lib.text import split_words

TARGET = Path(__file__).resolve().parents[1] / "src" / "lycosa" / "lib" / "stopwords.txt.gz"
ALIASES = {"nb": "no", "nn": "no"}
UNCHECKED = {"el", "lt", "tr"}
"""Languages in which the other collections are of no use."""
OWN = {
    "sr": """i u je da se na su za od sa do ne to kao koji koja koje što ali ili po iz o ga nije bi će samo već još kako
        kada gde ovaj ova ovo taj ta te tu on ona ono oni mi vi ja ti im ih joj mu biti bio bila bilo bili sam si smo
        и у је да се на су за од са до не то као који која које што али или по из о га није би ће само већ још како када
        где овај ова ово тај та те ту он она оно они ми ви ја ти им их јој му бити био била било били сам си смо сте""",
    "ne": """र को का की मा छ छन् हो हुन् ले लाई पनि यो त्यो यस त्यस तथा वा एक गर्न गर्ने गरेको भएको भने भन्ने लागि
        बाट देखि सम्म थियो थिए हुने हुन्छ आफ्नो उनी उनले तर अनि कि जुन सबै केही अन्य साथ""",
    "ta": """ஒரு என்று மற்றும் இந்த இது என்ற அந்த அது என ஆகும் உள்ள இருந்து வந்து பின் மேலும் அல்லது ஆனால் போன்ற தான்
        அவர் அவர்கள் நான் நீ நாம் என்ன எந்த இதன் அதன் இல்லை உள்ளது வேண்டும் கொண்டு""",
    "yi": """און אין די דער דאס דאָס פון איז צו אז אַז מיט אויף נישט ניט ער זי זיי עס איך דו מיר איר האט האָט האבן האָבן
        זיין געווען אבער אָבער אדער אָדער א אַ אן אַן דעם דאך דאָך נאך נאָך ווי וואס וואָס פאר פֿאַר ביי וועט קען אלע אַלע""",
}


def words_of(entries: list[str]) -> set[str]:
    return {word for entry in entries for word in split_words(entry) if len(word) > 1}


def collections(folder: Path) -> list[dict[str, set[str]]]:
    """Of each collection, by ISO code."""

    def opened(pattern: str) -> zipfile.ZipFile:
        return zipfile.ZipFile(next(folder.glob(pattern)))

    with opened("stopwordsiso-*.whl") as wheel:
        first = json.loads(wheel.read("stopwordsiso/stopwords-iso.json"))
    # Collected in the wrong charset.
    first["lt"] = [word.encode("latin-1").decode("cp1257") for word in first["lt"]]
    names = {stemmer: code for code, stemmer in STEMMERS.items() if code not in ALIASES}
    others = []
    for pattern, inside in (
        ("stop_words-*.whl", "stop_words/stop-words/{}.txt"),
        ("stopwords-*.whl", "stopwords/languages/{}/default.txt"),
    ):
        with opened(pattern) as wheel:
            there = set(wheel.namelist())
            others.append(
                {
                    code: wheel.read(inside.format(name)).decode().splitlines()
                    for name, code in names.items()
                    if inside.format(name) in there
                }
            )
    return [{code: words_of(words) for code, words in each.items()} for each in (first, *others)]


def main() -> None:
    sources = collections(Path(sys.argv[1]))
    lines = []
    for code in sorted(set(STEMMERS) - set(ALIASES) - {"en"}):
        first, *others = (source.get(code, set()) for source in sources)
        checks = set().union(*others) if code not in UNCHECKED else set()
        chosen = first & checks if checks else first or words_of([OWN[code]])
        print(f"{code}: {len(chosen)} of {len(first)}, such as {' '.join(sorted(chosen)[::25])}")
        lines.append(f"{code} {' '.join(sorted(chosen))}\n")
    TARGET.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    print(f"{TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
