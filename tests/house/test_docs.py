"""The documentation says what is so: its blocks are run, its tables are the code's, its links lead somewhere.

What is done with a block of README.md, CONTRIBUTING.md or docs/*.md, in the order of the page and in one temporary folder a page:

- ``bash``: every ``jackfield`` command must end with exit code 0;
- ``python``: is executed, then every ``test_…`` function in it (a file only when it is imported);
- ``toml``: must be TOML, and a sound recipe if it has a title.

A comment directly before a block says what else it is: ``<!-- file: NAME -->`` is also written to the folder, where later blocks find
it; ``<!-- fails -->`` ends with exit code 2; ``<!-- output -->`` (a ``text`` block) is what the last bash block printed, with ``…``
for what differs from run to run; ``<!-- not run in CI: WHY -->`` is left alone.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import attrs
import pytest
from attrs import frozen

from jackfield import settings
from jackfield.cli.explain import CORE_KEYS, EVERY, TOP
from jackfield.cli.main import main
from jackfield.component import HELP
from jackfield.plugins import GROUP, load_plugins
from jackfield.recipe import Recipe, load_recipe
from jackfield.recipe.fields import recipe_keys
from jackfield.recipe.parts import OWNED, SETTINGS
from jackfield.recipe.tree import walk
from jackfield.registry import SPECS
from jackfield_jsonl.shapes import SHAPES, detect, read_content

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)")
RUN_WHY = "not run in CI: "


@frozen(kw_only=True)
class Block:
    """A fenced block; ``mark`` is the comment before it."""

    line: int
    language: str
    mark: str
    text: str


def blocks(page: str) -> list[Block]:
    return [
        Block(
            line=page.count("\n", 0, found.start("text")), language=found["language"], mark=found["mark"] or "", text=found["text"]
        )
        for found in BLOCK.finditer(page)
    ]


def commands(text: str) -> list[list[str]]:
    """The lines of a shell block as words; a line that ends with a backslash goes on."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


class Reader:
    """Does what a page says, in a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys
        self.output = ""

    def follow(self, block: Block) -> None:
        if block.mark.startswith("file: "):
            self.write(block.mark.removeprefix("file: "), block.text)
        else:
            assert block.mark in ("", "fails", "output"), f"unknown comment: {block.mark}"
        match block.language:
            case "bash":
                self.run(block.text, expected=2 if block.mark == "fails" else 0)
            case "python" if block.mark:
                compile(block.text, block.mark, "exec", dont_inherit=True)
            case "python":
                execute(block.text)
            case "toml":
                self.read_toml(block)
            case "text" if block.mark == "output":
                assert printed(block.text, self.output), f"not in the output:\n{self.output}"
            case language:
                assert language in ("text", "json"), f"a block needs one of bash, python, toml, text, json; found '{language}'"

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if name == "pyproject.toml":
            self.install(tomllib.loads(text))

    def install(self, project: dict[str, object]) -> None:
        """What ``pip install -e .`` leaves for importlib.metadata to find; the folder is on sys.path."""
        about = project["project"]
        assert isinstance(about, dict)
        info = self.folder / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n")
        points = "".join(f"{name} = {module}\n" for name, module in about["entry-points"][GROUP].items())
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")

    def run(self, text: str, expected: int) -> None:
        self.capsys.readouterr()
        for name, *arguments in commands(text):
            assert name == "jackfield", f"only jackfield commands are run; write '<!-- {RUN_WHY}… -->' before: {name}"
            code = main(arguments)
            self.output = "".join(self.capsys.readouterr())
            assert code == expected, f"jackfield {shlex.join(arguments)}: exit code {code}\n{self.output}"

    def read_toml(self, block: Block) -> None:
        values = tomllib.loads(block.text)
        if "title" in values and block.mark != "fails":
            path = self.folder / block.mark.removeprefix("file: ") if block.mark else self.folder / f"line_{block.line}.toml"
            path.write_text(block.text)
            load_recipe(path, load_plugins())


def execute(text: str) -> None:
    namespace: dict[str, object] = {"__name__": "docs"}
    exec(compile(text, "docs", "exec", dont_inherit=True), namespace)
    for name, function in namespace.items():
        if name.startswith("test_") and callable(function):
            function()


def printed(expected: str, output: str) -> bool:
    """Every line of ``expected`` is a line of ``output``, one after the other; ``…`` stands for anything within a line."""
    lines = iter(output.splitlines())
    patterns = [".*".join(map(re.escape, line.rstrip().split("…"))) for line in expected.splitlines() if line.strip("… ")]
    return all(any(re.fullmatch(pattern, line.rstrip()) for line in lines) for pattern in patterns)


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Reader]:
    """In an empty folder that is also on the import path; what is imported from it is forgotten again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("JACKFIELD_CACHE", str(tmp_path / "cache"))
    yield Reader(tmp_path, capsys)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_do_what_they_say(page: Path, reader: Reader) -> None:
    """Read from top to bottom, as a newcomer would."""
    for block in blocks(page.read_text()):
        if block.mark.startswith(RUN_WHY):
            assert block.mark.removeprefix(RUN_WHY).strip(), f"{page.name}:{block.line}: say why"
            continue
        try:
            reader.follow(block)
        except Exception as error:
            raise AssertionError(f"{page.name}:{block.line}: {error}") from error


def test_an_unmarked_shell_line_is_noticed(reader: Reader) -> None:
    """Nothing is skipped in silence: neither other programs nor blocks of unknown kind, nor a wrong output."""
    for text in ("```bash\npip install .\n```", "```sh\njackfield plugins\n```", "<!-- skip -->\n```bash\njackfield plugins\n```"):
        with pytest.raises(AssertionError):
            reader.follow(blocks(text)[0])
    assert printed("step 1/2  reward …\n…\ndone", "step 1/2  reward 0.3\nother\ndone\n")
    assert not printed("done\nstep 1", "step 1\ndone\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    """To a file that is there, and to a heading that is in it."""
    for target, anchor in LINK.findall(BLOCK.sub("", page.read_text())):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{page.name}: no {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", file.read_text()), re.MULTILINE)
            assert anchor in map(slug, headings), f"{page.name}: no heading for #{anchor} in {file.name}"


def slug(heading: str) -> str:
    """As GitHub makes anchors."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_every_page_is_listed() -> None:
    """docs/index.md is the way in."""
    index = (ROOT / "docs" / "index.md").read_text()
    assert not [page.name for page in PAGES if page.parent.name == "docs" and page.name not in index and page.name != "index.md"]


def test_every_recipe_is_mentioned() -> None:
    """A recipe that no page names is not found."""
    prose = "".join(page.read_text() for page in PAGES)
    assert not [path.stem for path in (ROOT / "recipes").glob("*.toml") if not re.search(rf"\b{re.escape(path.stem)}\b", prose)]


def test_every_hook_is_named() -> None:
    """With what it is for, in the table of docs/plugins.md."""
    page = (ROOT / "docs" / "plugins.md").read_text()
    assert not [hook for hook in SPECS if f"| `{hook}` |" not in page]


def rows_after(heading: str) -> dict[str, list[str]]:
    """The table with this first line in docs/design-space.md: name → its other columns."""
    table = (ROOT / "docs" / "design-space.md").read_text().partition(f"| {heading} |")[2].partition("\n\n")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return {line[0].partition("`")[2].partition("`")[0]: line[1:] for line in lines}


def needs(part: object) -> str:
    return ", ".join(f"`{need}`" for need in sorted(getattr(part, "needs", ()))) or "–"


def test_advantages_are_those_of_the_code() -> None:
    """Every estimator with its smallest group and, at its defaults, what it needs; who gives a critic's targets is said below."""
    parts = {entry.name: entry.load()() for entry in load_plugins().registries["advantages"].entries}
    assert {name: (row[1], row[2]) for name, row in rows_after("estimator").items()} == {
        name: (str(part.smallest_group), needs(part)) for name, part in parts.items()
    }
    assert sorted(name for name, part in parts.items() if part.gives_returns) == ["gae", "monte_carlo", "td0"]


def test_losses_are_those_of_the_code() -> None:
    """Every loss with its unit and, at its defaults, what it needs."""
    parts = {entry.name: entry.load()() for entry in load_plugins().registries["losses"].entries}
    assert {name: (row[0], row[1]) for name, row in rows_after("loss").items()} == {
        name: (part.unit, needs(part)) for name, part in parts.items()
    }


def test_aggregations_are_those_of_the_code() -> None:
    """All that [learn] takes."""
    assert set(rows_after("aggregation")) == set(get_args(get_type_hints(settings.Learn)["aggregation"]))


def test_every_shape_of_a_row_has_an_example() -> None:
    """docs/data.md lists the shapes in the order in which they are told, and every row it shows is read."""
    page = (ROOT / "docs" / "data.md").read_text()
    table = page.partition("| shape | told by |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == list(SHAPES)
    rows = [json.loads(line) for block in blocks(page) if block.language == "json" for line in block.text.splitlines()]
    assert all(read_content(row, None).prompt for row in rows)
    assert set(map(detect, rows)) == set(SHAPES)


@pytest.mark.parametrize("table", ["run", *SETTINGS])
def test_settings_tables_are_those_of_the_code(table: str) -> None:
    """Every key with its type, default and help; the message on failure is the table to paste."""
    cls = SETTINGS.get(table, settings.Run)
    expected = settings_table(cls)
    assert expected in (ROOT / "docs" / "recipes.md").read_text(), f"docs/recipes.md lacks:\n{expected}"


def test_other_keys_of_the_core_are_listed() -> None:
    """Those that no settings class has, with the type that `jackfield explain` gives."""
    page = (ROOT / "docs" / "recipes.md").read_text()
    assert not [key for key, kind, _ in TOP if f"| `{key}` | {kind} |" not in page]
    for key in OWNED:
        kind, _, default = CORE_KEYS[key][1].partition(" = ")
        places = ", ".join(f"`[[{place}]]`" for place in OWNED[key])
        assert f"| `{key}` | {places} | {kind} | `{default}` |" in page
    assert not [key for key in EVERY if not re.search(rf"^\| `{key}` \| .*component", page, re.MULTILINE)]


def settings_table(cls: type) -> str:
    rows = ["| key | type | default | |", "|---|---|---|---|"]
    for key, field in recipe_keys(cls).items():
        kind = (
            str(field.type).replace("Literal[", "").replace("]", "").replace("'", "`").replace(", ", " or ").replace(" | None", "")
        )
        default = "required" if field.default is attrs.NOTHING else "unset" if field.default is None else f"`{toml(field.default)}`"
        rows.append(f"| `{key}` | {kind} | {default} | {field.metadata[HELP]} |")
    return "\n".join(rows) + "\n"


def toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else repr(value)


@pytest.mark.parametrize("size", ["3b", "7b"])
@pytest.mark.parametrize(("way", "column"), [("ppo", 1), ("grpo", 2)])
def test_full_size_settings_are_listed(size: str, way: str, column: int) -> None:
    """Every key that a full-size recipe sets stands in the table of docs/search-r1.md with its value, and no other does."""
    rows = [line.split(" | ") for line in (ROOT / "docs" / "search-r1.md").read_text().splitlines() if line.startswith("| `")]
    listed = {row[0].strip("|` "): row[column].strip("`") for row in rows if row[column] != "–"}
    assert listed == dict(written(load_recipe(ROOT / "recipes" / f"search_r1_qwen2.5_{size}_{way}.toml", load_plugins())))


def written(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """Dotted key → value of what the recipe's files set, entries of lists by the component's name; without names and paths."""
    for key, item in recipe.parts.tree.items():
        for path, node in walk(item, (key,)):
            name = [str(step) for step in path]
            if node.origin.is_default or name[-1] in ("use", "title", "path") or name[0] == "data":
                continue
            if isinstance(item.value, list):
                name[1] = str(item.value[int(name[1])].value["use"].value).rpartition(":")[2]
            yield ".".join(name), toml(node.value)
