"""Whether two maps can run on one frame: a no is never wrong."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reknit.lint.conditions import absolute, places, together
from reknit.mapping import Mapping
from reknit.rulebook import table_for
from reknit.table import EmitSpec, ExprSpec, MapSpec, WhereSpec
from reknit.vocabulary.json_types import JSON_TYPES

PATHS = [".a", ".a.b", ".a.b[0]", ".c", ".c[*]", "."]
VALUES: list[str | int | float] = ["x", "y", "", 0, 1, 2.5]

wheres = st.builds(
    WhereSpec,
    st.sampled_from([".a", ".a.b", ".c", ".", "@", "@.b"]),
    st.booleans(),
    st.lists(st.sampled_from(VALUES), max_size=2).map(tuple),
    st.lists(st.sampled_from(sorted(JSON_TYPES)), max_size=2).map(tuple),
)
maps = st.builds(
    lambda at, where: MapSpec(
        "m", (at,), tuple(where), (EmitSpec("ANNOTATION", False, (ExprSpec("path", path="@"),)),)
    ),
    st.sampled_from(PATHS),
    st.lists(wheres, max_size=3),
)
leaves = st.sampled_from([*VALUES, None, True, False])
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner))
frames = st.fixed_dictionaries({}, optional={"a": values, "c": values})


def runs(spec: MapSpec, frame: dict[str, Any]) -> bool:
    table = table_for("openai-chat")
    program = table.program
    # Only the map counts; a map that runs makes an event of what it finds.
    lone = type(program)(**{**{name: getattr(program, name) for name in program.__struct_fields__}, "maps": (spec,)})
    mapping = Mapping(lone, table.policy)
    return bool(mapping.events(frame, mapping.new_stream()))


@given(maps, maps, frames)
@settings(max_examples=400, deadline=None)
def test_maps_that_both_run_on_a_frame_can_run_together(first: MapSpec, second: MapSpec, frame: dict[str, Any]) -> None:
    if runs(first, frame) and runs(second, frame):
        assert together(first, places(first)[0], second, places(second)[0])


def test_paths_from_the_root() -> None:
    assert absolute("@", ".a[*]") == ".a[*]"
    assert absolute("@.b", ".a") == ".a.b"
    assert absolute(".b", ".a") == ".b"
    assert absolute(".", ".a") == ""
