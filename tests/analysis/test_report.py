"""The report as a document: whole, offline, harmless, bounded."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import analysis
from analysis.reporting.document import embedded_json, render
from simcore.errors import StoreError
from tests.analysis.conftest import FOREIGN, HOSTILE
from tests.analysis.folders import Mix, battlefield, matchup, some_mixes, write, write_columns

if TYPE_CHECKING:
    from pathlib import Path

VOID = {"meta", "link", "input", "br", "img"}


class Page(HTMLParser):
    """Checks nesting while it collects what the tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.scripts: list[tuple[dict[str, str], str]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        assert len(named) == len(attrs), f"attribute twice in {tag}"
        self.elements.append((tag, named))
        if tag == "script":
            self.scripts.append((named, ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            named, before = self.scripts[-1]
            self.scripts[-1] = (named, before + data)
        elif self.open and self.open[-1] != "style":
            self.text.append(data)

    @property
    def shown(self) -> str:
        return "".join(self.text)

    def data(self, name: str) -> Any:
        (text,) = [text for named, text in self.scripts if named.get("id") == name]
        return json.loads(text)


@pytest.fixture(scope="module")
def small(small_run: Path) -> Page:
    return Page(render(analysis.summarize(small_run)))


@pytest.fixture(scope="module")
def wild_text(wild_run: Path) -> str:
    return render(analysis.summarize(wild_run))


@pytest.fixture(scope="module")
def wild(wild_text: str) -> Page:
    return Page(wild_text)


def test_report_goes_beside_the_tables_or_where_asked(small_run: Path, tmp_path: Path) -> None:
    assert analysis.report(small_run) == small_run / "report.html"
    target = tmp_path / "page.html"
    assert analysis.report(str(small_run), target) == target
    assert target.read_bytes() == (small_run / "report.html").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert analysis.report(analysis.load(small_run), str(target)) == target


def test_places_that_cannot_be_written(small_run: Path, tmp_path: Path) -> None:
    for target in (tmp_path / "no" / "page.html", small_run / "manifest.json" / "page.html"):
        with pytest.raises(StoreError, match=r"page\.html: cannot be written"):
            analysis.report(small_run, target)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        analysis.report(small_run, tmp_path / "folder.html")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.html"]


def test_page_is_whole_and_its_parts_are_there(small: Page) -> None:
    tags = [tag for tag, _ in small.elements]
    assert tags.count("h1") == tags.count("main") == tags.count("title") == 1
    ids = [named["id"] for _, named in small.elements if "id" in named]
    assert len(ids) == len(set(ids))
    assert {"findings", "matrix", "mixes", "swing", "matchups", "survivors", "settings"} <= set(ids)
    for _, named in small.elements:
        if named.get("href", "").startswith("#"):
            assert named["href"][1:] in ids
        if "aria-labelledby" in named:
            assert named["aria-labelledby"] in ids


def test_figures_have_words_and_headers_are_buttons(small: Page) -> None:
    plots = [named for _, named in small.elements if "plot" in named.get("class", "").split()]
    # Heat map, swing and best play of either side.
    assert len(plots) == 5
    assert all(named["role"] == "img" and len(named["aria-label"]) > 40 for named in plots)
    assert sum(named.get("aria-sort") == "none" for _, named in small.elements) > 15


@pytest.mark.parametrize("page_name", ["small", "wild"])
def test_nothing_is_loaded_from_anywhere(page_name: str, request: pytest.FixtureRequest) -> None:
    page: Page = request.getfixturevalue(page_name)
    for tag, named in page.elements:
        assert tag not in {"iframe", "img", "object", "embed", "base", "form", "audio", "video"}
        for name, value in named.items():
            assert not name.startswith("on"), f"{tag} has a handler {name}"
            if name in {"src", "href", "action", "srcset", "data", "poster"}:
                assert value.startswith("#") or value == "data:,", f"{tag} {name}={value}"
    (policy,) = [named["content"] for _, named in page.elements if named.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert "unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]


@pytest.mark.parametrize("page_name", ["small", "wild"])
def test_policy_allows_exactly_our_two_scripts(page_name: str, request: pytest.FixtureRequest) -> None:
    page: Page = request.getfixturevalue(page_name)
    code = [text for named, text in page.scripts if "type" not in named]
    assert len(code) == 2
    policy = next(named["content"] for _, named in page.elements if "http-equiv" in named)
    digests = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in code}
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == digests
    assert sum("plotly.js v" in text for text in code) == 1


def test_hostile_names_are_text(wild: Page, wild_text: str) -> None:
    for name in HOSTILE:
        assert name.replace("\u2028", "\ufffd") in wild.shown
    assert 'no unit "</script><script>alert(3)</script>"' in wild.shown
    assert "<script>alert('title')</script> & “north”" in wild.shown
    for attack in ("<script>alert", "<img", "onerror=alert(2)>", "<i>home"):
        assert attack not in wild_text
    assert "{{ 7 * 7 }}" in wild.shown
    assert "\u2028" not in wild_text


def test_names_of_any_script_are_isolated(wild: Page, wild_text: str) -> None:
    for name in FOREIGN:
        assert f'<bdi class="name">{name}</bdi>' in wild_text
    labels = wild.data("matrix-figures")[0]["data"][0]["x"]
    assert all(label[0] == "\u2068" and label[-1] in "\u2069)" for label in labels)


def test_embedded_json_cannot_leave_its_element(wild: Page) -> None:
    blocks = [text for named, text in wild.scripts if named.get("type") == "application/json"]
    assert len(blocks) == 6
    for text in blocks:
        assert not set("<>&\u2028\u2029") & set(text)
        assert json.loads(text)
    assert json.loads(embedded_json("</script>\u2028&")) == "</script>\u2028&"
    with pytest.raises(ValueError, match="JSON"):
        embedded_json(float("nan"))


def test_plotly_gets_names_without_markup(wild: Page) -> None:
    for name in ("matrix-figures", "swing-attacker-figures", "swing-defender-figures"):
        for figure in wild.data(name):
            texts = json.dumps({**figure, "data": [{**trace, "hovertemplate": ""} for trace in figure["data"]]})
            assert "<" not in texts
            assert "&lt;script&gt;" in texts


def test_figures_are_valid_plotly(small: Page, wild: Page) -> None:
    for page in (small, wild):
        for name in ("matrix-figures", "swing-attacker-figures", "swing-defender-figures"):
            for figure in page.data(name):
                assert go.Figure(figure, skip_invalid=False).data


def test_heat_map_holds_the_shares(small: Page, small_run: Path) -> None:
    summary = analysis.summarize(small_run)
    details, (figure,) = small.data("matrix-details"), small.data("matrix-figures")
    trace = figure["data"][0]
    assert (trace["zmin"], trace["zmax"]) == (0.0, 1.0)
    row = summary.matchups.iloc[17]
    place = details["attackers"].index(row["attacker"]), details["defenders"].index(row["defender"])
    assert trace["z"][place[0]][place[1]] == pytest.approx(row["attacker_win_share"], abs=1e-5)
    wins, loses, _ = trace["customdata"][place[0]][place[1]]
    low, high = row["lo_attacker_win_share"], row["hi_attacker_win_share"]
    assert wins == f"{100 * row['attacker_win_share']:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)"
    assert loses.startswith(f"{100 * row['defender_win_share']:.1f} %")
    # Strongest first.
    strongest = summary.mixes[summary.mixes["side"] == "attacker"].sort_values("win_share_mean")["mix"].iloc[-1]
    assert details["attackers"][0] == strongest
    assert details["options"] == ["--edition spring1942 --method simulate --battles 10000 --seed 7"]


def test_failed_and_unpaired_cells_are_empty(tmp_path: Path) -> None:
    mixes = [Mix(name) for name in "abc"]
    rows = [matchup(mix, mix, {"attacker_wins": 60, "defender_wins": 40}) for mix in mixes]
    rows.append(matchup(mixes[0], mixes[1], None, error="none"))
    page = Page(render(analysis.summarize(write(tmp_path / "run", rows))))
    values = page.data("matrix-figures")[0]["data"][0]["z"]
    assert sum(value is None for row in values for value in row) == 6
    assert "Empty cells were not paired or failed." in page.shown


def test_every_grid_point_has_its_heat_map(wild: Page) -> None:
    figures = wild.data("matrix-figures")
    assert len(figures) == 2
    assert figures[0]["data"][0]["z"] != figures[1]["data"][0]["z"]
    assert "edition.tank.cost = 6" in wild.shown
    options = wild.data("matrix-details")["options"]
    assert options[1].endswith("""--set 'edition_changes."tank.cost"=6'""")


def test_tables_hold_numbers_to_sort_by(small: Page) -> None:
    cells = [named for tag, named in small.elements if tag == "td" and "data-sort" in named]
    keys = [named["data-sort"] for named in cells if named.get("class") == "number"]
    numbers = [float(key) for key in keys if key]
    assert len(numbers) > 12 * 8
    assert np.isfinite(numbers).all()


def test_rows_tell_how_to_compute_them_again(small: Page, small_run: Path) -> None:
    row = analysis.load(small_run).matchups.iloc[0]
    units = f'"{row["attacker_units"]}" "{row["defender_units"]}"'
    assert f"simcore odds {units} --edition spring1942 --method simulate --battles 10000 --seed 7" in small.shown


def test_shares_of_a_row_add_up(tmp_path: Path) -> None:
    rows = [matchup(Mix("a"), Mix("b"), {"attacker_wins": 3333, "defender_wins": 3333, "stand_off": 3334})]
    page = Page(render(analysis.summarize(write(tmp_path / "run", rows))))
    assert {"33.3 %", "33.4 %"} <= set(re.findall(r"\d+\.\d %", page.shown))


def test_rare_and_sure_cells_do_not_claim_too_much(tmp_path: Path) -> None:
    wins = {"never": 0, "rare": 3, "sometimes": 4_000, "nearly": 9_990, "always": 10_000}
    rows = [
        matchup(Mix(name), Mix("b"), {"attacker_wins": won, "defender_wins": 10_000 - won}, losses=(0.0, 5.0))
        for name, won in wins.items()
    ]
    page = Page(render(analysis.summarize(write(tmp_path / "run", rows))))
    texts = page.data("matrix-figures")[0]["data"][0]["text"]
    assert [text for (text,) in texts] == ["100", "&gt;99", "40", "&lt;1", "0"]
    assert "0 to 0.038 %" in page.shown
    assert "lost nothing" in page.shown


def test_huge_sweep_files_are_cut(tmp_path: Path) -> None:
    rows = [matchup(Mix("a"), Mix("b"), {"attacker_wins": 6, "defender_wins": 4})]
    sweep = {"sweep": {}, "attacker": {"mixes": ["10 infantry"] * 20_000}}
    page = Page(render(analysis.summarize(write(tmp_path / "run", rows, sweep=sweep))))
    assert "(cut; the whole of it is in manifest.json)" in page.shown


def test_settings_are_listed(small: Page) -> None:
    for words in ("general_combat, version 1", "10,000", "simulated", "0123456789abcdef", "numba 0.68.1", "3 min 12 s"):
        assert words in small.shown


def test_a_run_of_failures_has_a_report_too(tmp_path: Path) -> None:
    rows = [matchup(Mix("a"), Mix("b"), None, error="too many units")]
    text = render(analysis.summarize(write(tmp_path / "run", rows, battles=100)))
    page = Page(text)
    assert "too many units" in page.shown
    assert "plotly.js v" not in text
    assert len(text) < 100_000


def test_own_editions_are_explained(tmp_path: Path) -> None:
    sweep = {"sweep": {"editions": {"house": {"base": "spring1942"}}}, "scenario": {}}
    rows = [matchup(Mix("a"), Mix("b"), {"attacker_wins": 6, "defender_wins": 4})]
    page = Page(render(analysis.summarize(write(tmp_path / "run", rows, sweep=sweep))))
    assert "--edition-file editions.toml" in page.shown
    assert "stands for the edition file of the sweep" in page.shown


def test_manifest_with_little_in_it(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [matchup(Mix("a"), Mix("b"), {"attacker_wins": 6, "defender_wins": 4})])
    file = folder / "manifest.json"
    kept = {key: json.loads(file.read_text())[key] for key in ("schema", "ruleset", "outcomes")}
    file.write_text(json.dumps({**kept, "sweep": None, "versions": "old", "note": "\ud800"}))
    assert Page(render(analysis.summarize(folder))).shown
    assert analysis.report(folder).exists()


@pytest.mark.parametrize("text", ["1e999", "NaN", '"long"'])
def test_an_impossible_time_is_left_out(tmp_path: Path, text: str) -> None:
    folder = write(tmp_path / "run", [matchup(Mix("a"), Mix("b"), {"attacker_wins": 6, "defender_wins": 4})])
    file = folder / "manifest.json"
    manifest = {**json.loads(file.read_text()), "elapsed_s": 0}
    file.write_text(json.dumps(manifest).replace('"elapsed_s": 0', f'"elapsed_s": {text}'))
    assert "Time taken" not in render(analysis.summarize(folder))


def test_same_run_same_bytes(small_run: Path) -> None:
    summary = analysis.summarize(small_run)
    assert render(summary) == render(analysis.summarize(small_run))


def test_the_page_of_five_thousand_matchups_is_small(tmp_path: Path) -> None:
    columns = battlefield(some_mixes(100, 1), some_mixes(50, 2))
    folder = write_columns(tmp_path / "run", columns)
    target = analysis.report(folder)
    assert target.stat().st_size < 7_500_000
    page = Page(target.read_text(encoding="utf-8"))
    assert "60 of 100 attacker mixes" in page.shown
    assert "of 5,000 matchups: the closest, those with the largest swing and the most one-sided ones" in page.shown


def test_many_grid_points_stay_bounded(tmp_path: Path) -> None:
    grid: dict[str, list[Any]] = {"edition.tank.cost": list(range(40))}
    columns = battlefield(some_mixes(40, 1), some_mixes(40, 2), grid=grid)
    target = analysis.report(write_columns(tmp_path / "run", columns, grid=grid))
    assert target.stat().st_size < 13_000_000
    page = Page(target.read_text(encoding="utf-8"))
    assert "24 of 40 grid points can be chosen here." in page.shown
    assert len(page.data("matrix-figures")) == 24


def test_long_names_do_not_stretch_the_figures(tmp_path: Path) -> None:
    names = ["x" * 5_000, "x" * 4_999 + "y", "x" * 4_998 + "zy"]
    rows = [matchup(Mix(name), Mix("b"), {"attacker_wins": 6, "defender_wins": 4}) for name in names]
    page = Page(render(analysis.summarize(write(tmp_path / "run", rows))))
    trace = page.data("matrix-figures")[0]["data"][0]
    assert all(len(label) < 90 for label in trace["y"])
    assert len(set(trace["y"])) == 3


@pytest.fixture(scope="module")
def compared_text(wild_run: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The wild run against the same matchups with other results."""
    folder = tmp_path_factory.mktemp("earlier") / "<td><script>alert(4)<script>"
    shutil.copytree(wild_run, folder)
    table = pq.read_table(folder / "matchups.parquet")
    for name in ("p_attacker_wins", "swing_mean"):
        values = np.where(table["status"].to_numpy() == "ok", 0.9 * table[name].to_numpy(zero_copy_only=False), np.nan)
        table = table.set_column(table.column_names.index(name), name, pa.array(values, from_pandas=True))
    pq.write_table(table, folder / "matchups.parquet")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= {"seed": 99, "name": "<b>monday</b>", "edition": "<img src=x>"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    page = analysis.report(wild_run, folder / "page.html", against=folder)
    return page.read_text(encoding="utf-8")


def test_comparison_with_another_run(compared_text: str, wild: Page) -> None:
    page = Page(compared_text)
    ids = [named["id"] for _, named in page.elements if "id" in named]
    assert {"comparison", "comparison-table"} <= set(ids)
    assert len(ids) == len(set(ids))
    assert "Comparison with <b>monday</b>" in page.shown
    assert "<img src=x>" in page.shown
    assert "img" not in [tag for tag, _ in page.elements]
    assert len(page.scripts) == len(wild.scripts)
    verdicts = {named["data-verdict"] for tag, named in page.elements if tag == "tr" and "data-verdict" in named}
    assert {"worse", "failed"} <= verdicts or {"better", "failed"} <= verdicts
    assert "▲ better" in page.shown or "▼ worse" in page.shown
    for name in FOREIGN:
        assert name in page.shown


def test_report_is_the_same_whenever_it_is_made(small_run: Path, tmp_path: Path) -> None:
    one, other = (analysis.report(small_run, tmp_path / name, against=small_run) for name in ("1.html", "2.html"))
    assert one.read_bytes() == other.read_bytes()
    page = Page(one.read_text(encoding="utf-8"))
    assert "no change found" in page.shown
    assert "comparison-table" not in [named.get("id") for _, named in page.elements]
    made = analysis.compare(small_run, small_run)
    assert analysis.report(small_run, tmp_path / "3.html", against=made).read_bytes() == one.read_bytes()


def test_a_report_without_another_run_has_no_comparison(small: Page) -> None:
    assert "comparison" not in [named.get("id") for _, named in small.elements]
