"""Question banks: the exam questions, or key facts, by which answers to one query are graded.

Ids are those of the autograding workbench: `QUERY/MD5`, with the MD5 of the text. So the same question about
the same query has the same id wherever it was generated.

Source: Farzi and Dietz, "EXAM++" and the Rubric-Grading Workbench, 2024.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import md5

from nuggetstream.domain.identity import same_query


class BankKind(StrEnum):
    """What a bank consists of."""

    QUESTIONS = "questions"
    NUGGETS = "nuggets"


@dataclass(frozen=True, slots=True)
class BankQuestion:
    """One question of a bank, or one key fact.

    Attributes:
        id: Its id, see `question_id`.
        text: What it asks or states, in one line.
    """

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionBank:
    """One version of the bank of a query. A version never changes.

    Attributes:
        query_id: Id of the query, see `query_id`.
        version: Number of the version, from 1. Another model, prompt or number of questions makes a new one.
        kind: Whether it consists of questions or of key facts.
        model: Chat model that generated it.
        prompt_version: Version of the prompt.
        created_at: When it was generated.
        questions: The questions.
    """

    query_id: str
    version: int
    kind: BankKind
    model: str
    prompt_version: str
    created_at: datetime
    questions: tuple[BankQuestion, ...]


def query_id(query: str) -> str:
    """The id of a query. Letter case, width of characters and white space make no other query.

    >>> query_id(" What IS tea?") == query_id("what is tea?")
    True
    """
    return _md5(same_query(query))


def question_id(of_query: str, text: str) -> str:
    """The id of a question or key fact; white space makes no other one.

    Args:
        of_query: Id of its query.
        text: The question.

    >>> question_id("1115776", "What is the purpose of  AML surveillance?")
    '1115776/26daf5a35d32e246d94561cea6b7d7d6'
    """
    return f"{of_query}/{_md5(' '.join(text.split()))}"


def _md5(text: str) -> str:
    return md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
