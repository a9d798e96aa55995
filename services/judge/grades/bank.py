"""What an evaluator asks for when it needs a bank of questions about the query."""

from dataclasses import dataclass

from nuggetstream.domain.question_bank import BankKind
from services.runtime.llm.blocks import neutralise
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import Reply

_LONGEST = 400  # characters of a question


class QuestionsReply(Reply):
    """The questions of a bank, or its key facts, the most important first."""

    questions: list[str]

    def texts(self) -> list[str]:
        """The different questions, each in one line."""
        lines = (" ".join(neutralise(text).split()) for text in self.questions)
        return list({line.casefold(): line for line in lines if line}.values())

    def check(self, most: int) -> None:
        """Check that there are at least two different questions, and not too many.

        Raises:
            ValueError: Something is wrong; the message says what.
        """
        texts = self.texts()
        if not 2 <= len(texts) <= most:
            raise ValueError(f"there are {len(texts)} different questions; write {most}")
        if longest := max((text for text in texts if len(text) > _LONGEST), key=len, default=None):
            raise ValueError(f"a question has {len(longest)} characters; at most {_LONGEST} are accepted")


@dataclass(frozen=True, slots=True)
class BankPrompt:
    """How the bank of a query is made.

    Attributes:
        kind: Whether it consists of questions or of key facts.
        prompt: Asks for them. Its text depends on the query and on what makes another version.
    """

    kind: BankKind
    prompt: Prompt[QuestionsReply]
