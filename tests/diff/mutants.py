"""The mutation experiment: 500 small edits of the standard policy, and what is said of each.

Every mutant has to be refused by the checks, or told as a change with a witness that is true, or shown equal. A mutant
of which nothing is said, but which answers some sequence of events in another way, has slipped through: there may be
none. Whether a witness is true, and whether what is called equal is equal, is judged here by other means than those of
`reknit.diff`: streams of the engine itself, and a great many random sequences.

    python tests/diff/mutants.py            all 500, with the numbers
    python tests/diff/mutants.py 60 -v      fewer, and each of them told
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from judging import is_true, random_difference
from mutations import Mutant, all_mutants

from reknit.compile.policy import compile_policy
from reknit.diff import Change, Difference, Side, Workshop, compare
from reknit.diff.sides import without_maps
from reknit.lang.contents import key_of
from reknit.lang.files import FileLoader
from reknit.table import assemble

COUNT: Final = 500
SEED: Final = 20261201
_FEW: Final = {"rename-a-rule": 10, "reorder": 10, "turn-level": 12}
"""So many mutants of the operators that seldom do anything."""

PLAYS: Final = 1500
"""So many random sequences are tried on what is called equal."""

REFUSED, SHOWN, EQUAL, MAPPING = "refused", "shown", "equal", "told, only maps see it"
UNSHOWN, SLIPPED, FALSE = "not shown", "slipped through", "false witness"


@dataclass(frozen=True)
class Verdict:
    """What came of a mutant."""

    mutant: Mutant
    verdict: str
    said: str
    difference: Difference | None = None


@cache
def standard() -> Side:
    """The policy that is mutated."""
    return Workshop(FileLoader()).side("standard")


def chosen(count: int = COUNT) -> list[Mutant]:
    """So many mutants, of every operator some: the same ones each time."""
    by_operator = all_mutants(list(standard().rules.items.values()))
    rng = random.Random(SEED)
    most = {name: min(len(mutants), _FEW.get(name, COUNT)) for name, mutants in by_operator.items()}
    shuffled = {name: rng.sample(mutants, most[name]) for name, mutants in by_operator.items()}
    found: list[Mutant] = []
    while len(found) < count:
        for mutants in shuffled.values():
            if mutants and len(found) < count:
                found.append(mutants.pop())
    return found


def judged(mutant: Mutant) -> Verdict:
    """Compare the policy with a mutant of it, and judge what is said."""
    before = standard()
    try:
        policy, found = compile_policy(before.policy.name, mutant.items, before.rules.name.place)
    except Exception as error:  # a finding about the engine, not about the difference
        return Verdict(mutant, REFUSED, f"the compiler fails: {type(error).__name__}: {error}")
    if policy is None:
        return Verdict(mutant, REFUSED, found[0].code)
    items = {key_of(item): item for item in mutant.items}
    table = assemble(policy, without_maps(before.policy.name))
    after = replace(before, table=table, rules=replace(before.rules, items=items))
    difference = compare(before, after)
    changes = [change for change in difference.changes if change.direction not in ("none", "tests")]
    shown = [change for change in changes if change.witness is not None]
    for change in shown:
        assert change.witness is not None
        if not is_true(change.witness, before.table, after.table):
            return Verdict(mutant, FALSE, change.message, difference)
    if shown:
        return Verdict(mutant, SHOWN, _said(changes), difference)
    parted = random_difference(before.table, after.table, PLAYS, SEED)
    if parted is not None:
        return Verdict(mutant, SLIPPED if not changes else UNSHOWN, f"differs on {parted}", difference)
    if changes and all(change.direction == "mapping" for change in changes):
        return Verdict(mutant, MAPPING, _said(changes), difference)
    return Verdict(mutant, UNSHOWN if changes else EQUAL, _said(changes) or difference.explanation, difference)


def _said(changes: list[Change]) -> str:
    return "; ".join(f"{change.id} {change.direction} {change.subject}" for change in changes)


# -- the experiment ----------------------------------------------------------------------------------------------------


def numbers(verdicts: list[Verdict]) -> Counter[str]:
    """How many mutants there are of each verdict."""
    return Counter(verdict.verdict for verdict in verdicts)


def main(arguments: list[str]) -> int:
    """Run the experiment and print its numbers."""
    count = next((int(one) for one in arguments if one.isdigit()), COUNT)
    verdicts: list[Verdict] = []
    changes = unshown = 0
    for mutant in chosen(count):
        verdict = judged(mutant)
        verdicts.append(verdict)
        if verdict.difference is not None:
            for change in verdict.difference.changes:
                if change.direction not in ("none", "tests"):
                    changes += 1
                    unshown += change.witness is None
        if "-v" in arguments or verdict.verdict in (UNSHOWN, SLIPPED, FALSE):
            print(f"{verdict.verdict:14} {mutant.operator:22} {mutant.label}\n    {verdict.said}", flush=True)
    found = numbers(verdicts)
    print(f"{len(verdicts)} mutants: " + ", ".join(f"{number} {name}" for name, number in found.most_common()))
    print(f"{changes} changes, {changes - unshown} with a true witness, {unshown} without")
    return 1 if found[SLIPPED] or found[FALSE] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
