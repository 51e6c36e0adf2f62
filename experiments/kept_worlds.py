"""The webs that experiments crawl: recorded ones, and those made for them. Each is built once, and kept under out/."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from code_version import ROOT, code_version

from lycosa.lab.generated.web import GeneratedWeb, WebPlan
from lycosa.lab.worlds.build import build, build_generated


def shared_world(name: str) -> Path | None:
    """Where the WARC file and the labels of a recorded world lie, if they are here."""
    shared = Path(os.environ.get("LYCOSA_SHARED") or ROOT.parent / "shared")
    source = shared / "worlds" / name
    return source if (source / "pages.warc.gz").exists() else None


def built_world(name: str) -> Path | None:
    """A recorded world, built where it has not been yet; nothing where its source is not here."""
    source = shared_world(name)
    if source is None:
        return None
    return made_once(
        ROOT / "out" / f"{name}.world",
        lambda target: build([source / "pages.warc.gz"], source / "labels.tsv", target),
    )


def by_subject(name: str) -> Path | None:
    """As `built_world`, but a page with a topic has those above it, too, so that subjects can be crawled for."""
    source = shared_world(name)
    if source is None:
        return None

    def make(target: Path) -> None:
        head, *rows = (source / "labels.tsv").read_text(encoding="utf-8").splitlines()
        labels = dict.fromkeys(
            f"{url}\t{topic.rsplit('/', up)[0]}"
            for url, topic in (row.split("\t") for row in rows)
            for up in range(topic.count("/") + 1)
        )
        every = target.with_suffix(".labels.tsv")
        every.write_text("\n".join([head, *labels]) + "\n", encoding="utf-8")
        build([source / "pages.warc.gz"], every, target)

    return made_once(ROOT / "out" / f"{name}-subjects.world", make)


def generated_world(name: str, plan: WebPlan) -> Path:
    return made_once(
        ROOT / "out" / f"{name}.world",
        lambda target: build_generated(GeneratedWeb(plan), target, is_rendered=True),
        key=repr(plan),
    )


def made_once(target: Path, make: Callable[[Path], object], *, key: str = "") -> Path:
    """The file that `make` writes; written anew when the code behind `make`, or the key, has changed."""
    stamp = target.with_name(f"{target.name}.version")
    version = f"{code_version(make)} {key}".strip()
    if not target.exists() or not stamp.exists() or stamp.read_text(encoding="utf-8") != version:
        target.parent.mkdir(parents=True, exist_ok=True)
        print(f"building {target.name} …", flush=True)
        stamp.unlink(missing_ok=True)
        make(target)
        stamp.write_text(version, encoding="utf-8")
    return target
