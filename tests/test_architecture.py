"""The shape of the engine: imports point one way, the runtime knows no parser, the engine knows no vendor."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "engine"
PACKAGE = ENGINE / "reknit"
RECORDINGS = ROOT.parent / "shared" / "streams" / "raw"

MOST_LINES = 500

FLOORS = (
    ("errors", "excerpt", "gather", "depth", "paths", "shipped", "arguments"),
    ("vocabulary", "pathtree"),
    ("message",),
    ("table", "updates"),
    ("wire",),
    ("lang",),
    ("prove",),
    ("compile",),
    ("tools",),
    ("mapping", "split", "machine"),
    ("assembly",),
    ("stream", "codegen"),
    ("rulebook",),
    ("detect", "conversation"),
    ("reconstructor", "hooks"),
    ("trial", "lock", "explain"),
    ("testing",),
    ("coverage", "lint", "diff"),
    ("graph",),
    ("pytest_plugin", "cli"),
)
"""The rooms of the package from the ground up: a module imports from its own room and from floors below. A room that
stands nowhere here needs a place."""

RULE_LANGUAGE = frozenset({"lang", "compile", "prove"})
"""From rule text to a table."""

WORKSHOP = frozenset(
    {"trial", "lock", "explain", "testing", "coverage", "lint", "diff", "graph", "pytest_plugin", "cli"}
)
"""Tools for people who write and review rules. The runtime, which is all the rest, imports neither of the two."""

BRIDGE = "rulebook"
"""The one module of the runtime that may import the rule language, inside of functions."""

GROUND_OF_WIRE = frozenset({"errors", "excerpt", "depth"})


class Import(NamedTuple):
    """An import: by which module, of what, in which line, and whether it happens as soon as the module is imported."""

    module: str
    target: str
    line: int
    at_once: bool

    @property
    def room(self) -> str:
        return self.module.split(".")[1] if "." in self.module else ""

    @property
    def target_room(self) -> str:
        return self.target.split(".")[1] if "." in self.target else ""

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def _imports(node: ast.AST, module: str, at_once: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        later = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or _is_type_checking(child)
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(module, alias.name, child.lineno, at_once)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{module}:{child.lineno}: a relative import"
            if child.module == "reknit":
                for alias in child.names:
                    yield Import(module, f"reknit.{alias.name}", child.lineno, at_once)
            else:
                yield Import(module, child.module or "", child.lineno, at_once)
        else:
            yield from _imports(child, module, at_once and not later)


def imports() -> list[Import]:
    found: list[Import] = []
    for path in sources():
        parts = path.relative_to(ENGINE).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found += _imports(ast.parse(path.read_text(encoding="utf-8")), module, at_once=True)
    return found


IMPORTS = imports()
INSIDE = [one for one in IMPORTS if one.target.split(".")[0] == "reknit" and one.room]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


def test_every_room_has_a_floor() -> None:
    rooms = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in sources()} - {"__init__"}
    assert rooms <= set(FLOOR), f"no floor in {Path(__file__).name} for {sorted(rooms - set(FLOOR))}"


def test_imports_point_one_way() -> None:
    wrong = [
        str(one)
        for one in INSIDE
        if one.at_once and one.target_room != one.room and FLOOR.get(one.target_room, 99) >= FLOOR.get(one.room, 99)
    ]
    assert not wrong, "\n".join(wrong)


def test_late_imports_do_not_hide_the_other_way() -> None:
    """An import inside a function, or for types alone, goes up only where the bridge to the rule language is."""
    wrong = [
        str(one)
        for one in INSIDE
        if not one.at_once
        and one.room not in {BRIDGE, *WORKSHOP}
        and one.target_room not in ("", one.room)
        and FLOOR.get(one.target_room, 99) >= FLOOR.get(one.room, 99)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_runtime_imports_no_rule_language() -> None:
    wrong = [
        str(one)
        for one in INSIDE
        if one.room not in RULE_LANGUAGE | WORKSHOP
        and one.target_room in RULE_LANGUAGE | WORKSHOP
        and (one.at_once or one.room != BRIDGE or one.target_room in WORKSHOP)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_rule_language_imports_no_runtime() -> None:
    runtime = set(FLOOR) - RULE_LANGUAGE - WORKSHOP
    ground = {room for room in runtime if FLOOR[room] <= FLOOR["wire"]}
    wrong = [str(one) for one in INSIDE if one.room in RULE_LANGUAGE and one.target_room in runtime - ground]
    assert not wrong, "\n".join(wrong)


def test_only_the_rule_language_imports_its_parser() -> None:
    wrong = [str(one) for one in IMPORTS if one.target.split(".")[0] == "lark" and one.room != "lang"]
    assert not wrong, "\n".join(wrong)


def test_the_wire_stands_on_its_own() -> None:
    wrong = [str(one) for one in INSIDE if one.room == "wire" and one.target_room not in GROUND_OF_WIRE | {"wire"}]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "use",
    [
        "import reknit",
        "import reknit, reknit.cli",
        "import reknit.stream, reknit.machine, reknit.mapping, reknit.wire, reknit.table",
    ],
)
def test_importing_the_package_leaves_the_parser_out(use: str) -> None:
    parser = "[n for n in sys.modules if n.split('.')[0] == 'lark' or n.startswith('reknit.lang')]"
    code = f"{use}\nimport sys\nprint({parser})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"


def test_a_compiled_table_runs_without_the_parser() -> None:
    """The whole runtime, with the rule language made unimportable."""
    code = """
import sys
import reknit
data = reknit.table_for("openai-chat").to_json()
for name in [name for name in sys.modules if name.split(".")[0] in ("reknit", "lark")]:
    del sys.modules[name]
for name in ("lark", "reknit.lang", "reknit.compile", "reknit.prove"):
    sys.modules[name] = None
import reknit
from reknit.table import load
message = reknit.reconstruct([{"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}], load(data))
print(message.text)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "Hi"


# -- no vendor ---------------------------------------------------------------------------------------------------------

VENDORS = [
    "ai21",
    "alibaba",
    "anthropic",
    "avian",
    "azure",
    "baseten",
    "bedrock",
    "cerebras",
    "chatgpt",
    "cline",
    "cloudflare",
    "codex",
    "cohere",
    "copilot",
    "databricks",
    "deepseek",
    "doubleword",
    "featherless",
    "gemini",
    "github",
    "gpustack",
    "groq",
    "huggingface",
    "litellm",
    "llamacpp",
    "lmstudio",
    "minimax",
    "mirascope",
    "mistral",
    "mistralrs",
    "novita",
    "ollama",
    "openai",
    "openrouter",
    "perplexity",
    "sap",
    "snowflake",
    "venice",
    "vercel",
    "vertex",
    "vllm",
    "watsonx",
    "xai",
    "zhipu",
]
GENERIC = frozenset(["ai", "canonical", "chat", "gateway", "mantle", "proxy", "router", "together", "writer"])
"""Words in names of vendors that mean something else as well."""

NO_VENDORS = frozenset({"policy", "strict", "standard", "lenient"})
_NAMED = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(VENDORS)})(?![a-z0-9])", re.IGNORECASE)


def test_no_vendor_is_named_in_the_engine() -> None:
    found = []
    for path in sorted(ENGINE.rglob("*")):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        named = {match[0].lower() for match in _NAMED.finditer(str(path.relative_to(ENGINE)))}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found += [f"{path.relative_to(ROOT)}:{number}: {match[0]}" for match in _NAMED.finditer(line)]
        assert not named, f"{path}: a file named for {named}"
    assert not found, "\n".join(found)


def _words(names: list[str]) -> set[str]:
    return {word for name in names for word in name.split("-")}


def test_the_list_of_vendors_knows_all_rule_files() -> None:
    headers = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "rules").glob("*.rules"))
    named = re.findall(r"^vendor ([\w-]+)", headers, re.MULTILINE)
    assert _words([name for name in named if name not in NO_VENDORS]) <= {*VENDORS, *GENERIC}


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="the shared recordings are not there")
def test_the_list_of_vendors_knows_all_recordings() -> None:
    assert _words([path.name for path in RECORDINGS.iterdir() if path.is_dir()]) <= {*VENDORS, *GENERIC}


# -- size --------------------------------------------------------------------------------------------------------------


def test_no_module_is_too_long() -> None:
    long = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert not {name: lines for name, lines in long.items() if lines > MOST_LINES}


@pytest.mark.parametrize("word", ["utils", "helpers", "base", "manager", "common", "misc"])
def test_no_module_is_named_for_nothing(word: str) -> None:
    assert not [str(path.relative_to(ROOT)) for path in sources() if path.stem == word or path.parent.name == word]
