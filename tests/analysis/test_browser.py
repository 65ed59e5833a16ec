"""The report in a real browser: tables sort and filter, figures answer, nothing ends in the console.

Run with ``pytest -m browser``; needs Debian's packages chromium and chromium-driver.
"""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import analysis
from analysis import pricing
from tests.analysis.conftest import HOSTILE
from tests.analysis.folders import Mix, battlefield, matchup, some_mixes, write, write_columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver.remote.webelement import WebElement

pytestmark = pytest.mark.browser

DESKTOP, PHONE = (1280, 900), (390, 844)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


def _program(*names: str) -> str:
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    pytest.fail(f"{names[0]} is not installed: apt-get install chromium chromium-driver")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = Options()
    options.binary_location = _program("chromium", "chromium-browser", "google-chrome")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(_program("chromedriver")))
    yield driver
    driver.quit()


class Browser:
    """A report opened at some window size; every check of it ends with a look at the console."""

    # Any: parts of selenium are not annotated.
    driver: Any

    def __init__(self, driver: Any, page: Path, size: tuple[int, int], *, dark: bool) -> None:
        self.driver = driver
        self.is_phone = size == PHONE
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": self.is_phone},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        driver.get("about:blank")
        self.driver.get_log("browser")
        driver.get(page.as_uri())
        self.until("return document.querySelectorAll('.plot .main-svg').length >= 3")

    def until(self, script: str, *arguments: Any) -> Any:
        return WebDriverWait(self.driver, 20).until(lambda driver: driver.execute_script(script, *arguments))

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> WebElement:
        found: WebElement = self.driver.find_element(By.CSS_SELECTOR, selector)
        return found

    def rows(self, table: str) -> list[list[str]]:
        script = """
            return Array.from(document.querySelectorAll(`#${arguments[0]} tbody tr:not([hidden])`))
                .map((row) => Array.from(row.cells).map((cell) => cell.dataset.sort ?? cell.textContent));
        """
        found: list[list[str]] = self.js(script, table)
        return found

    def press(self, element: WebElement) -> None:
        self.js("arguments[0].scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'})", element)
        element.click()

    def point_at(self, row: int, column: int, *, click: bool = False) -> None:
        """Move to the middle of a cell of the heat map, as plotly itself places it."""
        layer = self.find("#matrix-plot .nsewdrag")
        self.js("arguments[0].scrollIntoView({block: 'center', inline: 'start', behavior: 'instant'})", layer)
        x, y = self.js(
            """
            const { xaxis, yaxis } = document.getElementById("matrix-plot")._fullLayout;
            const box = arguments[0].getBoundingClientRect();
            return [box.left + xaxis.l2p(arguments[2]), box.top + yaxis.l2p(arguments[1])];
            """,
            layer, row, column,
        )  # fmt: skip
        actions = ActionChains(self.driver)
        pointer: Any = actions.w3c_actions.pointer_action
        pointer.move_to_location(int(x) - 1, int(y) - 1)
        pointer.move_to_location(int(x), int(y))
        if click:
            actions.click()
        actions.perform()

    def check_console(self) -> None:
        entries = self.driver.get_log("browser")
        assert not entries, entries


def opened(chromium: webdriver.Chrome, folder: Path, size: tuple[int, int], *, dark: bool = False) -> Browser:
    return Browser(chromium, analysis.report(folder), size, dark=dark)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_page_fits_its_window(chromium: webdriver.Chrome, wild_run: Path, size: tuple[int, int]) -> None:
    for dark in (False, True):
        browser = opened(chromium, wild_run, size, dark=dark)
        assert browser.js("return document.documentElement.scrollWidth") <= size[0]
        assert browser.js("return performance.getEntriesByType('resource').length") == 0
        ink, page = (
            [int(part) for part in re.findall(r"\d+", browser.js(f"return getComputedStyle(document.body).{what}"))[:3]]
            for what in ("color", "backgroundColor")
        )
        assert (sum(ink) > sum(page)) == dark
        label = browser.js("return getComputedStyle(document.querySelector('#matrix-plot .ytick text')).fill")
        assert [int(part) for part in re.findall(r"\d+", label)[:3]] == ink
        browser.check_console()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_tables_sort_by_mouse_and_keyboard(chromium: webdriver.Chrome, small_run: Path, size: tuple[int, int]) -> None:
    browser = opened(chromium, small_run, size)
    mixes = analysis.summarize(small_run).mixes
    button = browser.find("#mixes-table thead th:nth-child(2) button")
    header = browser.find("#mixes-table thead th:nth-child(2)")
    browser.press(button)
    assert header.get_attribute("aria-sort") == "descending"
    shares = [float(row[1]) for row in browser.rows("mixes-table")]
    assert shares == pytest.approx(sorted(mixes["win_share_mean"], reverse=True), abs=1e-5)
    button.send_keys(Keys.ENTER)
    assert header.get_attribute("aria-sort") == "ascending"
    assert [float(row[1]) for row in browser.rows("mixes-table")] == shares[::-1]
    browser.find("#mixes-table thead th:nth-child(1) button").send_keys(Keys.SPACE)
    assert header.get_attribute("aria-sort") == "none"
    names = [row[0] for row in browser.rows("mixes-table")]
    assert len(names) == 17
    assert [int(re.findall(r"\d+", name)[0]) for name in names] == sorted(
        int(re.findall(r"\d+", name)[0]) for name in names
    )
    browser.check_console()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_tables_filter(chromium: webdriver.Chrome, small_run: Path, size: tuple[int, int]) -> None:
    browser = opened(chromium, small_run, size)
    mixes = analysis.summarize(small_run).mixes
    field = browser.find(".toolbar[data-for=mixes-table] input[type=search]")
    browser.press(field)
    field.send_keys("bomber TANK")
    expected = mixes[mixes["mix"].str.contains("bomber") & mixes["mix"].str.contains("tank")]
    # Names of opponents are in the rows too, so at least these are found.
    found = {row[0] for row in browser.rows("mixes-table")}
    assert set(expected["mix"]) <= found
    field.clear()
    field.send_keys("no such unit")
    assert browser.rows("mixes-table") == []
    assert browser.find(".toolbar[data-for=mixes-table] .count").text == "0 of 17 rows"
    field.clear()
    assert len(browser.rows("mixes-table")) == 17
    Select(browser.find(".toolbar[data-for=mixes-table] .choice")).select_by_value("defender")
    assert len(browser.rows("mixes-table")) == 5
    Select(browser.find(".toolbar[data-for=matchups-table] .choice")).select_by_value("attacker")
    favoured = (analysis.summarize(small_run).matchups["favourite"] == "attacker").sum()
    assert len(browser.rows("matchups-table")) == favoured
    browser.check_console()


def test_a_cell_of_the_heat_map_shows_its_figures(chromium: webdriver.Chrome, small_run: Path) -> None:
    browser = opened(chromium, small_run, DESKTOP)
    browser.point_at(2, 1)
    browser.until("return document.querySelector('#matrix-plot .hoverlayer .hovertext')")
    shown = browser.js("return document.querySelector('#matrix-plot .hoverlayer').textContent")
    expected = browser.js(
        """
        const { customdata, x, y } = document.getElementById("matrix-plot").data[0];
        return [y[2], x[1], ...customdata[2][1]];
        """
    )
    for text in expected:
        assert text.strip("\u2068\u2069") in shown.replace("\u2068", "").replace("\u2069", "")
    browser.check_console()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_click_gives_the_command(chromium: webdriver.Chrome, small_run: Path, size: tuple[int, int]) -> None:
    browser = opened(chromium, small_run, size)
    browser.point_at(3, 2, click=True)
    panel = browser.find("#cell")
    browser.until("return !arguments[0].hidden", panel)
    details = browser.js("return JSON.parse(document.getElementById('matrix-details').textContent)")
    table = analysis.summarize(small_run).matchups
    (row,) = table[
        (table["attacker"] == details["attackers"][3]) & (table["defender"] == details["defenders"][2])
    ].to_dict(orient="records")
    assert f"{100 * row['attacker_win_share']:.1f} %" in panel.text
    command = browser.find("#cell code").text
    assert command == (
        f'simcore odds "{row["attacker_units"]}" "{row["defender_units"]}" '
        "--edition spring1942 --method simulate --battles 10000 --seed 7"
    )
    browser.press(browser.find("#cell .copy"))
    browser.until("return document.querySelector('#cell .copy').textContent !== 'Copy'")
    browser.press(browser.find("#cell .close"))
    assert not panel.is_displayed()
    browser.check_console()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_grid_point_rules_figures_and_tables(
    chromium: webdriver.Chrome, wild_run: Path, size: tuple[int, int]
) -> None:
    browser = opened(chromium, wild_run, size)
    first = browser.js("return document.getElementById('matrix-plot').data[0].z[0][0]")
    assert {row[1] for row in browser.rows("mixes-table")} == {"edition.tank.cost = 5"}
    Select(browser.find("#point")).select_by_index(1)
    assert browser.find("#matrix .point-label").text == "edition.tank.cost = 6"
    browser.until("return document.getElementById('matrix-plot').data[0].z[0][0] !== arguments[0]", first)
    assert {row[1] for row in browser.rows("mixes-table")} == {"edition.tank.cost = 6"}
    assert not browser.find("#mixes-table .where").is_displayed()
    everywhere = browser.find(".toolbar[data-for=mixes-table] .everywhere")
    browser.press(everywhere)
    assert len({row[1] for row in browser.rows("mixes-table")}) == 2
    browser.check_console()


def test_hostile_names_do_nothing(chromium: webdriver.Chrome, wild_run: Path) -> None:
    browser = opened(chromium, wild_run, DESKTOP)
    # An alert would have stopped every call since; markup would have made elements.
    assert browser.js("return document.querySelectorAll('main img, main a, main script:not([type])').length") == 0
    labels = browser.js(
        "return Array.from(document.querySelectorAll('#matrix-plot .ytick text')).map((text) => text.textContent)"
    )
    plain = {label.replace("\u2068", "").replace("\u2069", "") for label in labels}
    assert HOSTILE[0] in plain
    assert not browser.js("return document.querySelectorAll('#matrix-plot .ytick a, #matrix-plot .xtick a').length")
    field = browser.find(".toolbar[data-for=mixes-table] input[type=search]")
    browser.press(field)
    field.send_keys("<script>alert(1)")
    assert HOSTILE[0] in {row[0] for row in browser.rows("mixes-table")}
    browser.check_console()


def test_dark_mode_and_print_redraw_the_figures(chromium: webdriver.Chrome, small_run: Path) -> None:
    browser = opened(chromium, small_run, DESKTOP)
    middle = "return document.getElementById('matrix-plot').data[0].colorscale[2][1]"
    light = browser.js(middle)
    browser.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    browser.until(middle.replace("return ", "return arguments[0] !== "), light)
    browser.js("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.js(middle) == light
    browser.js("window.dispatchEvent(new Event('afterprint'))")
    assert browser.js(middle) != light
    browser.check_console()


def _circle(folder: Path) -> Path:
    """Three mixes that beat each other in a circle, and one that loses to all."""
    names = ("rock", "paper", "scissors", "pebble")
    rows = []
    for i, own in enumerate(names):
        for j, enemy in enumerate(names):
            wins = {0: 500, 1: 900, 2: 100}[(i - j) % 3]
            if "pebble" in {own, enemy}:
                wins = 500 if own == enemy else 50 if own == "pebble" else 950
            rows.append(
                matchup(
                    Mix(own, f"{i + 1} tank"), Mix(enemy, f"{j + 1} tank"),
                    {"attacker_wins": wins, "defender_wins": 1000 - wins}, method="exact",
                )
            )  # fmt: skip
    return write(folder, rows, method="exact")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_best_play_ratings_and_prices(chromium: webdriver.Chrome, tmp_path: Path, size: tuple[int, int]) -> None:
    folder = _circle(tmp_path / "run")
    run = analysis.load(folder)
    prices = {
        "sweep": pricing._digest(run), "enemies": ["infantry"], "sizes": [4], "solved": 8, "duels": [],
        "units": [
            {"unit": "tank", "cost": 5, "price": 4.5, "attacker": 4.0, "defender": 5.0, "low": 4.0, "high": 5.0,
             "ratio": 0.9, "remark": ""},
            {"unit": "<b>gun", "cost": 6, "price": None, "attacker": None, "defender": None, "low": None, "high": None,
             "ratio": None, "remark": "as attacker never even"},
        ],
    }  # fmt: skip
    (folder / "prices.json").write_text(json.dumps(prices), encoding="utf-8")
    browser = opened(chromium, folder, size)
    played = analysis.game(folder)
    assert browser.js("return document.documentElement.scrollWidth") <= size[0]
    # The chart holds the weights of the equilibrium, and says in words what it shows.
    bars = browser.js("return document.getElementById('weights-attacker').data[0].x")
    assert bars == pytest.approx([1 / 3] * 3)
    assert bars == pytest.approx(played.support("attacker")["equilibrium"].tolist())
    assert "how often best play picks" in (browser.find("#weights-attacker").get_attribute("aria-label") or "")
    assert "50.0 %" in browser.find("#play .values").text
    assert "25.0 %" in browser.find("#play .values").text
    # The table of ratings filters by what a mix is, and sorts by its rating.
    choice = Select(browser.find(".toolbar[data-for=ratings-table] .choice"))
    choice.select_by_value("dominated")
    assert {row[0] for row in browser.rows("ratings-table")} == {"pebble"}
    choice.select_by_value("played")
    assert len(browser.rows("ratings-table")) == 6
    choice.select_by_value("")
    browser.press(browser.find("#ratings-table thead th:nth-child(2) button"))
    ratings = [float(row[1]) for row in browser.rows("ratings-table")]
    assert ratings == sorted(ratings, reverse=True)
    assert len(ratings) == 8
    # Prices, with what has none at the end however it is sorted.
    browser.press(browser.find("#prices-table thead th:nth-child(3) button"))
    assert [row[0] for row in browser.rows("prices-table")] == ["tank", "<b>gun"]
    assert browser.rows("prices-table")[0][2] == "4.5"
    assert browser.find(".toolbar[data-for=restricted-table] .count").text == "1 of 1 rows"
    browser.check_console()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_comparison_sorts_and_filters(
    chromium: webdriver.Chrome, wild_run: Path, small_run: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    found = analysis.compare(
        small_run, write_columns(tmp_path / "run", battlefield(some_mixes(12, 1), some_mixes(5, 2), seed=6))
    )
    page = analysis.report(wild_run, tmp_path / "page.html", against=found)
    browser = Browser(chromium, page, size, dark=False)
    assert browser.js("return document.documentElement.scrollWidth") <= size[0]
    total = len(browser.rows("comparison-table"))
    assert total > 20
    browser.press(browser.find("#comparison-table thead th:nth-child(4) button"))
    changes = [float(row[3]) for row in browser.rows("comparison-table")]
    assert changes == sorted(changes, reverse=True)
    Select(browser.find('[data-for="comparison-table"] .choice')).select_by_value("worse")
    rows = browser.rows("comparison-table")
    assert 0 < len(rows) < total
    assert {row[2] for row in rows} == {"worse"}
    browser.check_console()
