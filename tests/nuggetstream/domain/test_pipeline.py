"""The table of stages is whole: every stage gets its input, and both branches come to their ends."""

from nuggetstream.domain.pipeline import BRANCHES, PIPELINE, Stage, branches_of, predecessor, stages_of


def test_every_stage_reads_what_an_earlier_one_publishes() -> None:
    published = ["submitted"]
    for stage, step in PIPELINE.items():
        assert step.reads in published, stage
        published.append(step.publishes)
    assert len(set(published)) == len(published)


def test_no_two_stages_have_one_title_or_one_port() -> None:
    assert len({step.title for step in PIPELINE.values()}) == len(PIPELINE)
    assert len({step.port for step in PIPELINE.values()}) == len(PIPELINE)


def test_the_stages_of_a_branch_follow_each_other_from_the_first_to_its_end() -> None:
    for branch, end in BRANCHES.items():
        stages = stages_of(branch)
        assert PIPELINE[stages[0]].reads == "submitted"
        assert PIPELINE[stages[-1]].publishes == end
        assert [predecessor(stage) for stage in stages] == [None, *stages[:-1]]


def test_a_stage_that_gives_up_ends_the_branches_that_need_it() -> None:
    both = ("nugget_state", "judge_state")
    assert branches_of(Stage.SCRAPER) == branches_of(Stage.INTAKE) == both
    assert branches_of(Stage.NUGGETIZER) == ("nugget_state",)
    assert branches_of(Stage.JUDGE) == ("judge_state",)
    assert branches_of(Stage.RECORDER) == branches_of(Stage.GRADER) == ()
