"""Docstrings, comments, help texts, errors and documentation use plain words.

docs/vocabulary.md has the terms. Each rule is a pattern and what to write instead; a space in a pattern also
matches a line break, so that a phrase is found where it is wrapped.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The vocabulary names words that are not used.
EXEMPT = {"docs/vocabulary.md"}

RULES = {
    r"likewise": "what the value is, once more",
    r"signs? of life": "heartbeat",
    r"last words?(?= on\b| to\b|[.,;:]|$)": "ack, nak or term",
    r"in hand": "in flight",
    r"at hand": "available, or where it is",
    r"why is in": "see FILE",
    r"(?:is|are) said in one line": "is a one-line error",
    r"\d+ %(?![\w}])": "95%, without a space",
    r"the record(?= of separate\b| is\b| has\b| takes\b|[,.;:]|$)": "the database",
    r"what is not there": "what is missing",
    r"nobody knows": "it is unknown",
    r"front door": "gateway",
    r"goodbyes?": "drain",
    r"whose fault": "the cause of",
    r"hopeless(?:ly)?": "exhausted, or unrankable",
    r"under way": "in flight, or running",
    r"(?:has|have) no answer|without an answer(?=[,;.])": "is undefined",
    r"(?:lower|upper) ends?": "lower or upper bound",
    r"(?:is|are) told (?:in|once|at|too)": "is reported",
    r"not taken when": "rejected when",
    r"had it, did not use it": "in its sources, not used",
    r"mend(?:s|ed|ing)?": "correct, or fix",
}
# What an attribute is cannot be said by "of each" or "that is asked" alone.
ATTRIBUTE = re.compile(r"^\s+\w+(?:, \w+)*: (?:of (?:each|all)\b|that is asked|likewise)", re.MULTILINE)
_GAP = r"[\s#/*]+"  # a space, or the end of a line and the comment marks of the next
_ALTERNATIVES = (f"(?P<rule{number}>{rule.replace(' ', _GAP)})" for number, rule in enumerate(RULES))
PATTERN = re.compile(rf"(?<![\w-])(?:{'|'.join(_ALTERNATIVES)})(?![\w-])", re.IGNORECASE)


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Line numbers and texts that people read: strings and comments of Python, and whole documents."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield 1, source
        return
    comment, start = "", 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            start = start if comment else token.start[0]
            comment += token.string + "\n"
        elif comment and token.type not in (tokenize.NL, tokenize.NEWLINE):
            yield start, comment
            comment = ""
        if token.type == tokenize.STRING:
            yield token.start[0], token.string


def problems_in(text: str, line: int = 1) -> Iterator[str]:
    """Each forbidden phrase of a text with its line and what to write instead."""
    for match in PATTERN.finditer(text):
        instead = list(RULES.values())[int(str(match.lastgroup).removeprefix("rule"))]
        phrase = " ".join(re.split(_GAP, match[0]))
        yield f"{line + text.count(chr(10), 0, match.start())}: {phrase!r}: write {instead!r}"
    for match in ATTRIBUTE.finditer(text):
        number = line + text.count("\n", 0, match.end())
        yield f"{number}: {match[0].strip()!r}: say what the value is"


@cache
def files() -> list[Path]:
    """All files with texts that people read."""
    code = [
        path
        for package in ("nuggetstream", "services")
        for suffix in ("*.py", "*.html", "*.js", "*.css")
        for path in (ROOT / package).rglob(suffix)
    ]
    configuration = [
        path
        for folder in ("deploy", "k8s/base", "k8s/checks", "k8s/components", "k8s/overlays", "proto/arena")
        for suffix in ("*.yaml", "*.proto", "*.conf", "*.py", "*.env", "Dockerfile", ".env.example")
        for path in (ROOT / folder).rglob(suffix)
        if "node_modules" not in path.parts
    ]
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "demo" / "README.md"]
    return sorted({*code, *configuration, *documents})


def room_of(path: Path) -> str:
    return "/".join(path.relative_to(ROOT).parts[:2])


@pytest.mark.parametrize("room", sorted({room_of(path) for path in files()}))
def test_texts_use_plain_words(room: str) -> None:
    problems = [
        f"{path.relative_to(ROOT)}:{problem}"
        for path in files()
        if room_of(path) == room and str(path.relative_to(ROOT)) not in EXEMPT
        for line, text in texts_of(path)
        for problem in problems_in(text, line)
    ]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("text", "phrase", "instead"),
    [
        ("Send signs of\n    life three times.", "signs of life", "heartbeat"),
        ("# a message in\n# hand", "in hand", "in flight"),
        ("3 lines, why is in refused.jsonl", "why is in", "see FILE"),
        ("within the 95 % interval", "95 %", "95%, without a space"),
        ("A taken port is said in one line.", "is said in one line", "is a one-line error"),
        ("Its last word, confirmed.", "last word", "ack, nak or term"),
        ("A value of B, likewise.", "likewise", "what the value is, once more"),
        ("None where kappa has no answer.", "has no answer", "is undefined"),
    ],
)
def test_a_forbidden_phrase_is_found_with_its_replacement(text: str, phrase: str, instead: str) -> None:
    assert list(problems_in(text)) == [f"1: {phrase!r}: write {instead!r}"]


def test_an_attribute_that_says_only_of_each_is_found() -> None:
    docstring = """A run.

    Attributes:
        iterations: of each restart.
        model: that is asked.
    """
    assert [problem.partition(":")[0] for problem in problems_in(docstring)] == ["4", "5"]


@pytest.mark.parametrize(
    "text",
    [
        "width: 30 %d",
        "{% if a > 5 %}",
        "the last words of a page",
        "handing in",
        "lifelike signs",
        "the records",
    ],
)
def test_similar_texts_are_allowed(text: str) -> None:
    assert list(problems_in(text)) == []


def test_comments_and_strings_are_read_and_code_is_not(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    source = '"""Signs of\nlife."""\nat_hand = 5 % 3  # what is\n# not there\nprint(at_hand)\n'
    module.write_text(source, encoding="utf-8")
    found = [problem for line, text in texts_of(module) for problem in problems_in(text, line)]
    assert [problem.partition(":")[0] for problem in found] == ["1", "3"]
