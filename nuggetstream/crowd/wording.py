"""The texts of a questionnaire, in English and German; a study adds languages, and replaces texts."""

from collections.abc import Mapping, Sequence

DIMENSION = "dimension "
"""Before the name of a dimension, in the key of its question."""

_EN = {
    "title": "Compare two answers",
    "consent": "You compare answers to questions. Your answers are stored with a random number in place of "
    "your name and used for research. Taking part is voluntary: you can stop at any time and "
    "delete what you answered.",
    "agree": "I have read this and agree to take part",
    "begin": "Begin",
    "instructions": "Read the question and both answers. Judge the answers by nothing but their texts.",
    "progress": "Item {done} of {all}",
    "question": "Question",
    "first": "First answer",
    "second": "Second answer",
    "first_better": "The first",
    "neutral": "Neither",
    "second_better": "The second",
    "worst": "1 is the worst grade, {best} the best.",
    "justification": "Why? One or two sentences.",
    "send": "Send and go on",
    "time": "Please answer by {time}; then the item is given to somebody else.",
    "training": "This is an example to practise on.",
    "right": "In the example you agreed with us.",
    "wrong": "In the example we expected another answer to: {names}.",
    "thanks": "Thank you. You have answered everything that there was for you.",
    "code": "Your completion code",
    "empty": "There is nothing to answer at the moment. Please try again later.",
    "closed": "This study has ended.",
    "full": "This study has enough participants.",
    "late": "The time for that item was over, so it was given to somebody else. Here is the next one.",
    "twice": "That item was answered before; the first answer stays.",
    "begun": "This participant has begun in another browser. Please go on there.",
    "away": "Your answer could not be stored yet: the database does not answer. Nothing is lost; wait a "
    "moment and send it again.",
    "again": "Send again",
    "withdraw": "Stop, and delete my answers",
    "withdrawn": "Your answers were deleted.",
    "dimension correctness_topical": "Which answer keeps to the topic of the question?",
    "dimension coherence_logical": "Which answer is put together more logically?",
    "dimension coherence_stylistic": "Which answer is written in a more uniform style?",
    "dimension coverage_broad": "Which answer covers more sides of the topic?",
    "dimension coverage_deep": "Which answer goes into more depth?",
    "dimension consistency_internal": "Which answer contradicts itself less?",
    "dimension quality_overall": "Which answer is better overall?",
}
_DE = {
    "title": "Zwei Antworten vergleichen",
    "consent": "Sie vergleichen Antworten auf Fragen. Ihre Angaben werden mit einer zufälligen Nummer statt "
    "Ihres Namens gespeichert und für die Forschung verwendet. Die Teilnahme ist freiwillig: Sie können "
    "jederzeit aufhören und Ihre Angaben löschen.",
    "agree": "Ich habe das gelesen und nehme teil",
    "begin": "Beginnen",
    "instructions": "Lesen Sie die Frage und beide Antworten. Beurteilen Sie nur, was in den Texten steht.",
    "progress": "Aufgabe {done} von {all}",
    "question": "Frage",
    "first": "Erste Antwort",
    "second": "Zweite Antwort",
    "first_better": "Die erste",
    "neutral": "Keine von beiden",
    "second_better": "Die zweite",
    "worst": "1 ist die schlechteste Note, {best} die beste.",
    "justification": "Warum? Ein oder zwei Sätze.",
    "send": "Absenden und weiter",
    "time": "Bitte antworten Sie bis {time}; danach bekommt jemand anderes diese Aufgabe.",
    "training": "Das ist ein Beispiel zum Üben.",
    "right": "Im Beispiel haben Sie so geantwortet wie wir.",
    "wrong": "Im Beispiel hatten wir eine andere Antwort erwartet bei: {names}.",
    "thanks": "Vielen Dank. Sie haben alle Aufgaben beantwortet, die es für Sie gab.",
    "code": "Ihr Abschlusscode",
    "empty": "Im Moment gibt es keine Aufgabe. Bitte versuchen Sie es später noch einmal.",
    "closed": "Diese Studie ist beendet.",
    "full": "Diese Studie hat genug Teilnehmende.",
    "late": "Die Zeit für die Aufgabe war vorbei, deshalb bekam sie jemand anderes. Hier ist die nächste.",
    "twice": "Die Aufgabe war schon beantwortet; die erste Antwort bleibt.",
    "begun": "Sie haben in einem anderen Browser begonnen. Bitte machen Sie dort weiter.",
    "away": "Ihre Antwort konnte noch nicht gespeichert werden: Die Datenbank antwortet nicht. Es geht "
    "nichts verloren; warten Sie einen Moment und senden Sie noch einmal ab.",
    "again": "Noch einmal absenden",
    "withdraw": "Aufhören und meine Angaben löschen",
    "withdrawn": "Ihre Angaben wurden gelöscht.",
    "dimension correctness_topical": "Welche Antwort bleibt beim Thema der Frage?",
    "dimension coherence_logical": "Welche Antwort ist logischer aufgebaut?",
    "dimension coherence_stylistic": "Welche Antwort ist stilistisch einheitlicher?",
    "dimension coverage_broad": "Welche Antwort behandelt mehr Seiten des Themas?",
    "dimension coverage_deep": "Welche Antwort geht mehr in die Tiefe?",
    "dimension consistency_internal": "Welche Antwort widerspricht sich weniger?",
    "dimension quality_overall": "Welche Antwort ist insgesamt besser?",
}
BUILT_IN: Mapping[str, Mapping[str, str]] = {"en": _EN, "de": _DE}
"""Language -> key -> text."""


def text_problems(
    texts: Mapping[str, Mapping[str, str]],
    languages: Sequence[str],
    dimensions: Sequence[str],
    *,
    graded: bool,
) -> list[str]:
    """What is wrong with the texts of a study: unknown keys, and languages in which a text is missing.

    Args:
        texts: Language -> key -> text.
        languages: Languages of the questionnaire.
        dimensions: Names of the dimensions.
        graded: Whether answers are graded by themselves: the built-in questions compare two.

    >>> text_problems({}, ["de"], ["tone"], graded=False)
    ['texts.de: dimension tone is missing']
    """
    questions = [DIMENSION + name for name in dimensions]
    keys = [*(key for key in _EN if not key.startswith(DIMENSION)), *questions]
    unknown = [
        f"texts.{language}: {key!r} is the key of no text"
        for language, given in texts.items()
        for key in given
        if key not in keys
    ]
    missing = [
        f"texts.{language}: {key} is missing"
        for language in languages
        for key in keys
        if key not in texts.get(language, {})
        and (key not in BUILT_IN.get(language, {}) or (graded and key in questions))
    ]
    return unknown + missing


def wording(given: Mapping[str, Mapping[str, str]], language: str) -> dict[str, str]:
    """The texts of a language: those of a study, and the built-in ones where it has none."""
    return {**BUILT_IN.get(language, {}), **given.get(language, {})}


def chosen_language(accepted: str, offered: list[str]) -> str:
    """The first language of a header `Accept-Language` that is offered; the first offered one without any.

    >>> chosen_language("fr, de-AT;q=0.8, en;q=0.5", ["en", "de"])
    'de'
    """
    asked: list[tuple[float, str]] = []
    for part in accepted.split(",")[:20]:
        tag, _, weight = part.strip().partition(";q=")
        if weight.replace(".", "", 1).isdecimal() or not weight:
            asked.append((-float(weight or 1), tag.strip().lower()))
    for _, tag in sorted(asked, key=lambda one: one[0]):
        for language in offered:
            if language.lower() in (tag, tag.partition("-")[0]):
                return language
    return offered[0]
