"""The report's table of contents.

`CHAPTERS` alone decides what a report shows and in which order.
"""

from nuggetstream.report.section import Chapter, Section
from nuggetstream.report.sections import (
    agreement,
    answers,
    assigners,
    calibration,
    certainty,
    combined,
    confusion,
    coverage,
    differences,
    grades,
    inversions,
    judge,
    leaderboards,
    misses,
    nuggets,
    panels,
    running,
    scorers,
    sources,
    style,
    support,
    threshold,
)

CHAPTERS = (
    Chapter(
        "lead",
        "Who leads",
        (
            Section(
                "leaderboards",
                "Leaderboards of three lenses",
                "Do people, nuggets and the judge rank the systems alike?",
                (leaderboards.PART,),
            ),
            Section(
                "votes",
                "What people's votes say, and what they could",
                "Would style held equal, or more votes, change the order?",
                (style.PART, combined.PART),
            ),
        ),
    ),
    Chapter(
        "trust",
        "Can you trust it",
        (
            Section(
                "agreement",
                "Agreement with people, beside baselines",
                "Do nuggets and the judge agree with people more often than the length of an answer does?",
                (agreement.PART, confusion.PART, scorers.PART),
            ),
            Section(
                "inversions",
                "Inversions and certainty",
                "Where does the machine prefer the answer that people reject, and would other nuggets, too?",
                (inversions.PART, certainty.PART),
            ),
        ),
    ),
    Chapter(
        "thresholds",
        "Thresholds",
        (
            Section(
                "threshold",
                "The tie threshold",
                "How large must a difference of scores be before it means something?",
                (threshold.PART, differences.PART),
            ),
        ),
    ),
    Chapter(
        "judging",
        "Judges",
        (
            Section(
                "judges",
                "The judges, audited",
                "Do verdicts depend on order, length or family, and are probabilities meant?",
                (judge.PART, calibration.PART),
            ),
            Section(
                "evaluators",
                "Grades and panels",
                "How do the evaluators grade each system, and do several models say the same?",
                (grades.PART, panels.PART, assigners.PART),
            ),
        ),
    ),
    Chapter(
        "facts",
        "Facts",
        (
            Section(
                "misses",
                "Misses and their causes",
                "When an answer misses a nugget, is the search or the writing to blame?",
                (misses.PART,),
            ),
            Section("nuggets", "The nuggets", "What are the scores made of?", (nuggets.PART,)),
        ),
    ),
    Chapter(
        "texts",
        "Answers and sources",
        (
            Section(
                "answers",
                "Answers as texts",
                "What kind of text does each system write?",
                (answers.PART,),
            ),
            Section(
                "sources",
                "Sources and support",
                "Could the pages behind the answers be read, and do they state what the answers say?",
                (sources.PART, support.PART),
            ),
        ),
    ),
    Chapter(
        "run",
        "The run",
        (
            Section(
                "running",
                "Coverage, time and cost",
                "How much of what was received could be scored, how long did it take, and what did it cost?",
                (coverage.PART, running.PART),
            ),
        ),
    ),
)
