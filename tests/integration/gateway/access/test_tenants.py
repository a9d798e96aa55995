"""Several arenas on one installation: what one of them is told has no word of another."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from nuggetstream.domain.pipeline import Stage
from services.access.callers import Role
from services.gateway.access.rules import RULES, Scope
from services.runtime.llm.accounting import Entry
from services.runtime.llm.prices import Money, Tokens
from services.store.spend.spend import DatabaseSpendStore
from tests.integration.gateway.access.samples import bearer, issued, webhook
from tests.integration.gateway.world import Story, World, battle


@dataclass(frozen=True)
class Tenant:
    """What is told of an arena nowhere else: battle, systems, cost, model and failure."""

    arena: str
    battle: str
    systems: tuple[str, str]
    model: str
    fault: str

    @property
    def words(self) -> tuple[str, ...]:
        return self.arena, self.battle, *self.systems, self.model, self.fault


TENANTS = (
    Tenant("demo", "kraken", ("atlas", "birch"), "model-one", "first detail"),
    Tenant("abroad", "yonder", ("cedar", "dogwood"), "model-two", "second detail"),
)


async def settle(world: World, tenant: Tenant) -> None:
    """A battle of a tenant that has ended, one that failed, votes, a cost and a webhook."""
    a, b = ({"system": system, "text": "Two bulges rise."} for system in tenant.systems)
    told = Story(battle(id=tenant.battle, arena=tenant.arena, query=f"About {tenant.battle}?", a=a, b=b))
    await world.happens(*told.told(), told.voted())
    broken = Story(battle(id=f"{tenant.battle}-2", arena=tenant.arena, a=a, b=b))
    failures = (broken.failed(stage) for stage in (Stage.NUGGETIZER, Stage.JUDGE))
    detailed = [replace(each, failure=replace(each.failure, detail=tenant.fault)) for each in failures]
    await world.happens(broken.submitted(), *detailed)
    await DatabaseSpendStore(world.database).add(
        Entry(
            battle_id=tenant.battle,
            stage="judge",
            model=tenant.model,
            day=datetime.now(UTC).date(),
            tokens=Tokens(1000, 50),
            cost=Money(Decimal("0.25"), "USD"),
            source="usage",
        )
    )
    await webhook(world.database, tenant.arena)


async def test_no_list_page_or_cost_of_an_arena_has_a_word_of_another(world: World) -> None:
    """Every route that lists what its caller may see, asked by an administrator of one arena."""
    for tenant in TENANTS:
        await settle(world, tenant)
    paths = [path for (method, path), rule in RULES.items() if method == "GET" and rule.scope is Scope.LISTED]
    paths = [path for path in paths if path != "/v1/stream"]  # it never ends; `test_stream.py` reads it
    keys = {
        tenant.arena: await issued(world.database, Role.ADMIN, arenas=(tenant.arena,)) for tenant in TENANTS
    }
    said = {tenant.arena: "" for tenant in TENANTS}
    for mine, other in (TENANTS, TENANTS[::-1]):
        for path in paths:
            response = await world.http.get(path, headers=bearer(keys[mine.arena]))
            assert response.status_code in (200, 422), path  # a page may need a parameter
            assert [word for word in other.words if word in response.text] == [], path
            said[mine.arena] += response.text
            refused = await world.http.get(
                path, params={"arena": other.arena}, headers=bearer(keys[mine.arena])
            )
            assert refused.status_code == 403, path
            assert [word for word in other.words[1:] if word in refused.text] == [], path
    for tenant in TENANTS:  # the words would be found
        assert [word for word in tenant.words if word not in said[tenant.arena]] == []
