"""How well grounding tells what a source states, by kind of claim and by language.

    python -m benchmarks.stated_facts

The claims are those of the tests. The second half was written after the rules.
"""

from collections.abc import Sequence

from tests.stated_facts import CLAIMS, KINDS, Claim, right


def main() -> None:
    """Print the table."""
    print(
        f"{'':<18}"
        + "".join(f"{half:>26}" for half in ("written before the rules", "written after the rules"))
    )
    print(f"{'claims':<18}" + "".join(f"{name:>13}" for _ in "12" for name in ("named", "not named")))
    for kind in KINDS:
        print(_row(kind, [claim for claim in CLAIMS if claim.kind == kind]))
    for language in sorted({claim.language for claim in CLAIMS}):
        print(_row(language, [claim for claim in CLAIMS if claim.language == language]))
    print(_row("all", CLAIMS))


def _row(name: str, claims: Sequence[Claim]) -> str:
    halves = [[claim for claim in claims if claim.before is before] for before in (True, False)]
    cells = [
        f"{right(half, named=named).total()} of {len(half)}" for half in halves for named in (True, False)
    ]
    return f"{name:<18}" + "".join(f"{cell:>13}" for cell in cells)


if __name__ == "__main__":
    main()
