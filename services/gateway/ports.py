"""Everything that the routes and the gRPC service read and write, as one value built at start."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nuggetstream.domain.offline import any_offline
from nuggetstream.domain.progress import BattleState
from nuggetstream.views.battles import BattleSummary, BattleView
from nuggetstream.views.biases import JudgeBiasView
from services.access.visits import visible_arenas
from services.gateway.access.guard import Access
from services.gateway.battles.assembly import assemble, stages_at_work, summarize
from services.gateway.battles.followers import Followers
from services.gateway.battles.intake import Intake
from services.gateway.battles.labelled import LabelledBattles
from services.gateway.battles.waiting import waiting_views
from services.gateway.errors import UnknownBattle
from services.gateway.health import Draining, Readiness
from services.gateway.ratings.biases import biases_of
from services.gateway.ratings.client import RatingsClient
from services.gateway.ratings.style_boards import StyleBoards
from services.runtime.large_work import sized
from services.store.battles.battle_search import BattleFilter, BattlePage, BattleSearch, Position
from services.store.battles.battles import BattleRow, Battles
from services.store.outcomes.doubts import Doubts
from services.store.outcomes.label_agreement import LabelCounts
from services.store.outcomes.outcomes import Outcomes
from services.store.outcomes.system_shares import SystemShares
from services.store.spend.costs import Costs
from services.wire.model_state import ModelStates
from services.wire.retries import StageRetries


@dataclass(frozen=True, slots=True)
class ListedBattles:
    """One page of a list of battles.

    Attributes:
        battles: The battles, in the order of the list.
        next: From where the next page goes on; None after the last one.
        is_cut: Whether the search ended before the page was full; the next page searches further back.
    """

    battles: list[BattleSummary]
    next: Position | None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Gateway:
    """The ports of the gateway.

    Attributes:
        battles: Battles and their events, in the database.
        outcomes: Preferences per battle and lens, in the database.
        search: Lists of battles, from the database.
        doubts: Battles that wait for a vote, in the database.
        labels: Labels of second assigners, counted in the database.
        intake: Accepts battles and votes.
        ratings: Client of the rater.
        followers: Clients that follow a battle.
        readiness: Gives the reasons why the process is not ready.
        costs: What model calls cost, from the database.
        shares: Wins of a system per category and language, from the database.
        styles: Ratings with style held equal, over the newest battles.
        labelled: Labels of many battles.
        draining: Whether the process was told to end.
        models: Whether the model answers each stage.
        retries: Stages that try a battle again.
        access: Who may do what; None where everything is allowed but administration, for tests.
    """

    battles: Battles
    outcomes: Outcomes
    search: BattleSearch
    doubts: Doubts
    labels: LabelCounts
    intake: Intake
    ratings: RatingsClient
    followers: Followers
    readiness: Readiness
    costs: Costs
    shares: SystemShares
    styles: StyleBoards
    labelled: LabelledBattles
    draining: Draining = field(default_factory=Draining)
    models: ModelStates = field(default_factory=ModelStates)
    retries: StageRetries = field(default_factory=StageRetries)
    access: Access | None = None

    async def view(self, battle_id: str) -> BattleView:
        """Everything known about one battle so far.

        Raises:
            UnknownBattle: there is no such battle.
            Unavailable: the database does not answer.
        """
        battle = await self.battles.whole(battle_id)
        if battle is None:
            raise UnknownBattle(battle_id)
        size = len(battle.body) + sum(len(event.body) for event in battle.events)
        leading = self.ratings.nuggets
        view = await sized(size, assemble, battle.row, battle.body, battle.events, leading)
        edits = list(await self.battles.edits_of(battle_id))
        at_work = stages_at_work(view.steps) if view.state is BattleState.RUNNING else []
        waiting = waiting_views(battle_id, at_work, self.models, self.retries)
        return view.model_copy(update={"waiting": waiting, "nugget_edits": edits})

    async def listed(self, selection: BattleFilter, limit: int, after: Position | None) -> ListedBattles:
        """One page of the battles that a filter selects, newest first; see `BattleSearch`.

        Raises:
            Unavailable: the database does not answer.
        """
        page = await self.searched(selection, limit, after)
        return ListedBattles(await self.summaries(page.rows), page.next, is_cut=page.is_cut)

    async def searched(
        self, selection: BattleFilter, limit: int, after: Position | None = None
    ) -> BattlePage:
        """One page of the rows of the battles that a filter selects, as far as the caller may see them.

        Raises:
            Unavailable: the database does not answer.
        """
        selection = replace(selection, within=visible_arenas(), nuggets=self.ratings.nuggets)
        return await self.search.page(selection, limit, after)

    async def summaries(self, rows: Sequence[BattleRow]) -> list[BattleSummary]:
        """Summaries of battles.

        Raises:
            Unavailable: the database does not answer.
        """
        outcomes = await self.outcomes.of_battles([row.id for row in rows])
        return [summarize(row, outcomes[row.id], self.ratings.nuggets) for row in rows]

    async def arenas(self) -> dict[str, int]:
        """Number of battles received, by arena that the caller may see.

        Raises:
            Unavailable: the database does not answer.
        """
        visible, arenas = visible_arenas(), await self.battles.arenas()
        return {name: count for name, count in arenas.items() if visible is None or name in visible}

    async def biases(self, arena: str) -> list[JudgeBiasView]:
        """What the verdicts of each judge and model of an arena depend on beside the answers.

        Raises:
            Unavailable: the database does not answer.
        """
        return biases_of(await self.outcomes.judge_counts(arena))

    async def is_offline(self, arena: str) -> bool:
        """Whether the offline model labelled nuggets or judged battles of an arena, as counters know it.

        Raises:
            Unavailable: the database does not answer.
        """
        return any_offline(await self.outcomes.models(arena))

    async def doubtful(self, limit: int, arena: str) -> list[BattleSummary]:
        """The battles of an arena that wait for a vote, the most doubtful first.

        Args:
            limit: Maximum number of battles.
            arena: Arena of the battles.

        Raises:
            Unavailable: the database does not answer.
        """
        doubts = await self.doubts.greatest(arena, limit)
        ids = [doubt.battle_id for doubt in doubts]
        rows, outcomes = await self.battles.get_all(ids), await self.outcomes.of_battles(ids)
        return [
            summarize(rows[doubt.battle_id], outcomes[doubt.battle_id], self.ratings.nuggets, doubt.doubt)
            for doubt in doubts
            if doubt.battle_id in rows
        ]
