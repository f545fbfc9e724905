"""A table saved and loaded is the same table, by its fingerprint and by what it does; and a damaged one is refused."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest
from effort import EFFORT, law
from frames import bodies
from hypothesis import given
from hypothesis import strategies as st
from pool import KITS, SEED, TOOLS, tables, vendors, walk

import reknit
from reknit import Table, TableError
from reknit.assembly import assemble_message
from reknit.machine import Machine, Runtime
from reknit.mapping import Mapping
from reknit.stream import engine_for
from reknit.table import assemble, fingerprint, load

VENDORS = vendors()
TABLES = tables()


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_table_is_saved_and_loaded_whole(vendor: str) -> None:
    table = reknit.table_for(vendor)
    data = table.to_json()
    again = load(data)
    assert again == table
    assert again.to_json() == data
    assert load(data.decode()) == table
    assert (
        again.fingerprint
        == fingerprint(again.policy, again.program)
        == assemble(again.policy, again.program).fingerprint
    )
    # In another order and with white space it is still the same table.
    assert load(json.dumps(json.loads(data), indent=1)) == table


@pytest.mark.parametrize("name", TABLES)
def test_a_loaded_policy_does_the_same(name: str) -> None:
    table = TABLES[name]
    first, second = Runtime(table.policy), Runtime(load(table.to_json()).policy)
    for number in range(round(40 * EFFORT)):
        for tools in KITS.values():
            messages = []
            for runtime in (first, second):
                machine = Machine(runtime, tools, SEED)
                for event, fields in walk(table.policy, ("table", number), 30):
                    machine.step(event, fields)
                messages.append((machine.updates, assemble_message(machine, table)))
            assert messages[0] == messages[1]


@pytest.mark.parametrize("vendor", VENDORS)
@law(90, among=len(VENDORS))
@given(data=st.data())
def test_a_loaded_table_reads_the_same_bytes_in_the_same_way(vendor: str, data: st.DataObject) -> None:
    table = reknit.table_for(vendor)
    again = load(table.to_json())
    body = data.draw(bodies(table), label="body")
    # Engines are kept by fingerprint: make sure that the loaded table's own program runs.
    engine = engine_for(again)
    shared = engine.mapping
    engine.mapping = Mapping(again.program, again.policy)
    try:
        second = reknit.reconstruct([body], again, TOOLS, seed=SEED)
    finally:
        engine.mapping = shared
    assert second == reknit.reconstruct([body], table, TOOLS, seed=SEED)


def damaged(data: bytes, chooser: random.Random) -> bytes:
    """Table bytes with something cut out, doubled, or written over."""
    at, size = chooser.randrange(len(data)), chooser.choice((1, 1, 2, 40))
    put = chooser.choice((b"", b"0", b'"', b"x", b"-1", b"999", data[at : at + size] * 2))
    return data[:at] + put + data[at + size :]


def test_a_damaged_table_is_refused_or_the_same() -> None:
    table = reknit.table_for("openai-chat")
    data, chooser = table.to_json(), random.Random("damage")
    refused = 0
    for _ in range(round(150 * EFFORT)):
        try:
            again = load(damaged(data, chooser))
        except TableError:
            refused += 1
        else:
            assert again == table
    assert refused > 100 * EFFORT


@law(100)
@given(
    data=st.binary(max_size=60)
    | st.text(max_size=40)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    ).map(json.dumps)
)
def test_what_is_no_table_is_refused(data: Any) -> None:
    with pytest.raises(TableError):
        load(data)


@pytest.mark.parametrize("name", TABLES)
def test_the_fingerprint_tells_every_change_of_a_cell(name: str) -> None:
    table, chooser = TABLES[name], random.Random(name)
    event = chooser.choice(sorted(table.policy.cells))
    state = chooser.choice(sorted(table.policy.cells[event]))
    row = list(table.policy.cells[event][state])
    at = chooser.randrange(len(row))
    row[at] += 1
    cells = {**table.policy.cells, event: {**table.policy.cells[event], state: tuple(row)}}
    changed = msgspec.structs.replace(table.policy, cells=cells)
    assert fingerprint(changed, table.program) != table.fingerprint
    forged = Table(table.language, changed, table.program, table.fingerprint)
    with pytest.raises(TableError):
        load(forged.to_json())
