"""Lycosa, by its command line. Nothing is set but what the task says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LYCOSA = [sys.executable, "-c", "from lycosa.cli import main; main()"]


def main() -> int:
    task = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(task["folder"])
    seeds, settings, found = folder / "seeds.txt", folder / "settings.toml", folder / "found-pages.jsonl"
    seeds.write_text("\n".join(task["seeds"]) + "\n")
    resolve = "\n".join(f"{json.dumps(host)} = {json.dumps(address)}" for host, address in task["resolve"].items())
    settings.write_text(
        f"[politeness]\ndelay = {task['delay']}\nfetch_time_factor = 0.0\nfirst_backoff = 1.0\n"
        f"[budget]\nseconds = {task['seconds']}\npages = {task['pages']}\n"
        f"[http]\ndeadline = {task['timeout']}\nmin_rate_seconds = {int(task['timeout'])}\n"
        # Hosts that ask for an hour's rest do not keep the suite waiting.
        "[stall]\nseed_patience = 5.0\nlongest_rest = 5.0\n"
        f"[network]\nallow = {json.dumps(task['allowed'])}\n[network.resolve]\n{resolve}\n"
    )
    command = ["crawl", task["subject"], "--seeds", str(seeds), "-c", str(settings), "-o", str(folder / "crawl")]
    code = subprocess.run([*LYCOSA, *command, "--quiet", "--strategy", "breadth-first"], check=False).returncode
    if code not in (0, 2):
        return code
    subprocess.run(
        [*LYCOSA, "export", str(folder / "crawl"), "--to", str(found)], check=True, stdout=subprocess.DEVNULL
    )
    with found.open() as lines, Path(task["output"]).open("w") as output:
        for line in lines:
            page = json.loads(line)
            output.write(json.dumps({name: page.get(name) or "" for name in ("url", "title", "text")}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
