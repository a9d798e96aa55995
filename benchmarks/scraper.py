"""Extraction of text beside trafilatura alone, resiliparse and selectolax: pages per second, text F1.

    python -m benchmarks.scraper

The pages are the labelled articles (`labelled_pages`), each as it is and eight times as long. Seconds are of
the processor, in one process, without the network and without the pipe to the extraction process.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import mean

from benchmarks.labelled_pages import LabelledPage, labelled_pages
from benchmarks.page_quality import text_f1
from benchmarks.peers import cache_folder, environment

PEER = Path(__file__).with_name("scraper_peer.py")
# What runs in one process, and what it needs.
RUNS = (
    ("ours,trafilatura", ()),
    ("resiliparse", ("resiliparse==2.0.0",)),
    ("selectolax", ("selectolax==1.0.2",)),
)
GOAL = 1.3  # times the processor time of trafilatura
LONGER = 8


def main() -> None:
    pages = [page for page in labelled_pages() if page.text is not None and page.kind != "wrong charset"]
    documents = [(page.body.decode(), page.text or "") for page in pages]
    documents += [longer(page) for page in pages if page.kind != "article about walls"]
    with tempfile.TemporaryDirectory() as folder:
        results = measured([html for html, _ in documents], Path(folder))
    size = mean(len(html) for html, _ in documents)
    print(f"{len(documents)} pages, {size / 1000:.1f} kB on average\n")
    print("| | pages/s per core | text F1 | times trafilatura |\n|---|---|---|---|")
    base = results["trafilatura"]["seconds"]
    for name, result in results.items():
        f1 = mean(text_f1(text, right) for text, (_, right) in zip(result["texts"], documents, strict=True))
        ratio = result["seconds"] / base
        print(f"| {name} | {len(documents) / result['seconds']:.0f} | {f1:.3f} | {ratio:.2f} |")
    ratio = results["ours"]["seconds"] / base
    state = "met" if ratio <= GOAL else "MISSED"
    print(f"\ngoal: at most {GOAL} times trafilatura; ours takes {ratio:.2f} times: {state}")


def longer(page: LabelledPage) -> tuple[str, str]:
    """A page with its paragraphs repeated, each marked so that no two are equal, and its text."""
    title, *paragraphs = (page.text or "").split("\n")
    html, text = page.body.decode(), [title]
    for paragraph in paragraphs:
        marked = [f"{paragraph} ({number})" for number in range(1, LONGER + 1)]
        start = html.index(f"<p>{escaped(paragraph)}</p>")
        old = f"<p>{escaped(paragraph)}</p>"
        new = "".join(f"<p>{escaped(each)} <a href='/more'><b>…</b></a></p>" for each in marked)
        html = html[:start] + new + html[start + len(old) :]
        text += marked
    return html, "\n".join(text)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("'", "&#x27;").replace('"', "&quot;")


def measured(pages: list[str], folder: Path) -> dict[str, dict]:
    """Seconds and texts by name; a peer that cannot be installed is left out, with a line that says so."""
    source, target = folder / "pages.json", folder / "result.json"
    source.write_text(json.dumps(pages), encoding="utf-8")
    results: dict[str, dict] = {}
    for names, requirements in RUNS:
        try:
            python = environment(names, requirements, cache_folder("scraper"))
            subprocess.run(
                [python, str(PEER), names, str(source), str(target)], check=True, env=dict(os.environ)
            )
        except (subprocess.SubprocessError, OSError) as error:
            print(f"{names}: not measured: {error}")
            continue
        results |= json.loads(target.read_text(encoding="utf-8"))
    return results


if __name__ == "__main__":
    main()
