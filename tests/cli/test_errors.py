"""Input that cannot be used: one line with file and field, exit code 2, nothing on stdout, no traceback."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from simcore.errors import UnknownRulesetError
from simcore.registry import get_ruleset

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

GOOD_SCENARIO = '[attacker]\nunits = "3 infantry"\n[defender]\nunits = "2 infantry"\n'
GOOD_SWEEP = """
[sweep]
name = "s"
battles = 100
[attacker]
mixes = ["3 infantry"]
[defender]
mixes = ["2 infantry"]
"""

BAD_UNITS = [
    ("3 infantri", r'attacker\.units: unknown unit "infantri" \(did you mean "infantry"\?\)'),
    ("-3 infantry", r"attacker\.units: .*-3"),
    ("2001 infantry", r"attacker\.units.*2,?000"),
    ("99999999999999999999999999 infantry", r"attacker\.units: .*too large"),
    ("infantry infantry", r"attacker\.units: "),
    ("3.5 infantry", r"attacker\.units: "),
    ("3 infantry;", r"attacker\.units: "),
    ("3 infantry,, 2 tank", r"attacker\.units: "),
    ("1 industrial_complex", r"attacker\.units: .*industrial_complex"),
    ("1 aa_gun", r"attacker\.units: .*aa_gun"),
    ("1 submarine", r"attacker\.units: .*submarine"),
    ("1 mech_infantry", r"attacker\.units: .*mech_infantry"),
]

BAD_VALUES = [
    ("editon = 'revised'", r"editon: unknown field \(did you mean \"edition\"\?\)"),
    ("edition = 'revisd'", r'edition: .*"revisd".*did you mean "revised"'),
    ("edition = 3", r"edition: "),
    ("ruleset = 'general_combatt'", r'did you mean "general_combat"'),
    ("terrain = 'air'", r'terrain: .*land.*"air"'),
    ("terrain = 'sea'", r"attacker\.units: infantry .* sea battle"),
    ("attacker.damaged = '1 infantry'", r"attacker\.damaged: infantry takes one hit"),
    ("attacker.damaged = '1 battleship'", r"attacker\.damaged: 1 damaged battleship.* has 0"),
    ("attacker.submerge = 'always'", r"attacker\.submerge: .*land battle"),
    ("attacker.submerge = 'alway'", r'attacker\.submerge: .*"alway".*did you mean "always"'),
    ("attacker.cargo = ['1 infantry']", r"attacker\.cargo: .*0 transports"),
    ("attacker.loss_order = ['battleship:damge']", r'attacker\.loss_order.*"battleship:damge"'),
    ("cycle_limit = -1", r"cycle_limit: .*-1"),
    ("cycle_limit = 1.5", r"cycle_limit: .*1\.5"),
    ("cycle_limit = true", r"cycle_limit: "),
    ("low_luck = 'al'", r'low_luck: .*"al"'),
    ("switches = { aa_choise = 'owner' }", r"switches\.aa_choise: .*did you mean \"aa_choice\""),
    ("switches = { aa_choice = 'ownr' }", r'switches\.aa_choice: .*"ownr"'),
    ("territory = { value = -1 }", r"territory\.value: .*-1"),
    ("territory = { valu = 1 }", r"territory\.valu: "),
    ("edition_file = 'nowhere.toml'", r"nowhere\.toml: "),
    ("attacker.keep_land = -1", r"attacker\.keep_land: .*-1"),
    ("attacker.loss_order = 'chepest'", r'attacker\.loss_order.*"chepest"'),
    ("attacker.loss_order = ['infantry', 'infantry']", r"attacker\.loss_order: .*infantry"),
    ("attacker.loss_order = ['infantri']", r'attacker\.loss_order.*"infantri".*did you mean "infantry"'),
    ("attacker.retreat = { after_cycles = -2 }", r"attacker\.retreat\.after_cycles: .*-2"),
    ("attacker.retreat = { after = 2 }", r"attacker\.retreat\.after: unknown field"),
    ("attacker.retreat = 'never'", r'attacker\.retreat: .*"never"'),
    ("defender.retreat = { after_cycles = 2 }", r"defender\.retreat: "),
    ("attacker.technologies = ['jets']", r"attacker\.technologies"),
    ("attacker.technologies = ['jet_fighters']", r"attacker\.technologies: .*spring1942"),
    (
        "attacker.retreat = { when_win_chance_below = 1.5 }",
        r"attacker\.retreat\.when_win_chance_below: .*0 \(off\) to 1",
    ),
    ("attacker.optimal = { goal = 'loot' }", r"attacker\.optimal\.goal: .*loot"),
    ("defender.optimal = { decisions = ['retreat'] }", r"defender\.optimal\.decisions: .*allowed: casualties"),
    ("attacker.units = 3", r"attacker\.units: "),
    ("attacker.units = { infantry = -3 }", r"attacker\.units.*-3"),
    ("attacker.units = { infantry = 2.5 }", r"attacker\.units.*2\.5"),
    ("attacker.units = { infantry = true }", r"attacker\.units"),
    ("attacker.units = { infantri = 1 }", r'attacker\.units.*infantri.*did you mean "infantry"'),
    ("attacker = 3", r"attacker: "),
]


@pytest.mark.parametrize(("units", "message"), BAD_UNITS)
def test_unit_lists(cli: Cli, units: str, message: str) -> None:
    assert re.match(message, cli("odds", units, "3 infantry").problem)
    assert re.match(message.replace("attacker", "attacker"), cli("replay", units, "3 infantry").problem)


def test_both_sides_empty(cli: Cli) -> None:
    assert "empty" in cli("odds", "", "").problem


@pytest.mark.parametrize(("line", "message"), BAD_VALUES)
def test_fields_of_a_scenario(cli: Cli, tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "nightly.toml"
    replaced = line.split(" = ", 1)[0]
    sides = {"attacker": 'attacker.units = "3 infantry"', "defender": 'defender.units = "2 infantry"'}
    lines = [text for side, text in sides.items() if replaced not in {side, f"{side}.units"}]
    path.write_text("\n".join([*lines, line]))
    problem = cli("odds", path).problem
    where = f"{path}: " if "edition_file" not in line else ""
    assert problem.startswith(where)
    assert re.search(message, problem), problem
    assert re.search(message, cli("replay", path).problem)


@pytest.mark.parametrize("verb", ["odds", "replay", "sweep"])
class TestFiles:
    """Files that cannot be read, whatever the verb."""

    def test_missing(self, cli: Cli, tmp_path: Path, verb: str) -> None:
        path = tmp_path / "nowhere.toml"
        assert cli(verb, path).problem.startswith(f"{path}: ")

    def test_a_folder(self, cli: Cli, tmp_path: Path, verb: str) -> None:
        assert cli(verb, tmp_path).problem.startswith(f"{tmp_path}: ")

    def test_binary(self, cli: Cli, tmp_path: Path, verb: str) -> None:
        path = tmp_path / "picture.toml"
        path.write_bytes(bytes(range(256)))
        assert cli(verb, path).problem.startswith(f"{path}: ")

    def test_not_toml(self, cli: Cli, tmp_path: Path, verb: str) -> None:
        path = tmp_path / "broken.toml"
        path.write_text("[attacker\nunits = 3")
        assert re.match(rf"{re.escape(str(path))}: .*line 1", cli(verb, path).problem)

    def test_empty(self, cli: Cli, tmp_path: Path, verb: str) -> None:
        path = tmp_path / "empty.toml"
        path.write_text("")
        assert cli(verb, path).problem.startswith(f"{path}: ")

    def test_a_name_that_no_file_can_have(self, cli: Cli, verb: str) -> None:
        assert cli(verb, "x" * 5000 + ".toml").problem


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["3 infantry"], "defender"),
        (["3", "infantry", "2 infantry"], "quotes"),
        (["a.toml", "b.toml"], "one scenario file"),
        (["3 inf", "2 inf", "--battles", "0"], "battles"),
        (["3 inf", "2 inf", "--battles", "-5"], "battles"),
        (["3 inf", "2 inf", "--battles", str(10**30)], "battles"),
        (["3 inf", "2 inf", "--seed", "-1"], "seed"),
        (["3 inf", "2 inf", "--seed", str(2**64)], "seed"),
        (["3 inf", "2 inf", "--threads", "0"], "threads"),
        (["3 inf", "2 inf", "--threads", "100000"], "threads"),
        (["3 inf", "2 inf", "--pairing", "matchp"], "'matchup'"),
        (["3 inf", "2 inf", "--method", "simulte"], "'simulate'"),
        (["3 inf", "2 inf", "--edition", "spring1943"], 'did you mean "spring1942"'),
        (["3 inf", "2 inf", "--ruleset", "general"], "general_combat"),
        (["3 inf", "2 inf", "--edition-file", "nowhere.toml"], "nowhere.toml"),
        (["3 inf", "2 inf", "--set", "attacker.keep_land"], "--set"),
        (["3 inf", "2 inf", "--set", "=1"], "--set"),
        (["3 inf", "2 inf", "--set", "a b=1"], "--set"),
        (["3 inf", "2 inf", "--set", "a=1\nb=2"], "--set"),
        (["3 inf", "2 inf", "--set", "attacker.units.x=1"], "--set"),
        (["3 inf", "2 inf", "--set", f"attacker.keep_land={'9' * 5000}"], "--set"),
        (["3 inf", "2 inf", "--set", f"attacker.keep_land={'[' * 3000}{']' * 3000}"], "--set"),
        (["3 inf", "2 inf", "--set", "attacker.keep_lnd=1"], 'did you mean "keep_land"'),
    ],
)
def test_options_of_odds(cli: Cli, arguments: list[str], message: str) -> None:
    assert message in cli("odds", *arguments).problem


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--battle", "-1"], "battle"),
        (["--battle", str(2**64)], "battle"),
        (["--script", "one"], "--script"),
        (["--script", "-1"], "script"),
        (["--script", "99"], "script"),
        (["--script", "1"], "script"),
        (["--script-file", "none.txt"], "none.txt: cannot be read"),
        (["--script", "1", "--script-file", "none.txt"], "--script-file"),
        (["--write-script", "none/battle.txt"], "none/battle.txt: cannot be written"),
    ],
)
def test_options_of_replay(cli: Cli, arguments: list[str], message: str) -> None:
    assert message in cli("replay", "3 inf", "2 inf", *arguments).problem


BAD_SWEEPS = [
    ("", "sweep = { name = 's', naem = 's' }", r"sweep\.naem: unknown field"),
    ("battles", "sweep.battles = 0", r"sweep\.battles: "),
    ("battles", "sweep.battles = 1e5", r"sweep\.battles: "),
    ("", "sweep.seed = -1", r"sweep\.seed: "),
    ("", "sweep.pairing = 'commn'", r'sweep\.pairing: .*"commn"'),
    ("", "sweep.method = 'exakt'", r'sweep\.method: .*"exakt"'),
    ("", "sweep.ruleset = 'x'", r"general_combat"),
    ("", "sweep.edition = 'spring1943'", r'edition: .*did you mean "spring1942"'),
    ("", "sweep.pairs = [[0, 7]]", r"sweep\.pairs"),
    ("", "sweep.pairs = 'al'", r"sweep\.pairs"),
    ("", "sweep.pairs = []", r"sweep\.pairs"),
    ("attacker", "attacker.mixes = []", r"attacker"),
    ("attacker", "attacker.mixes = ['3 infantry', '3 inf']", r"attacker\.mixes.*3 infantry"),
    (
        "attacker",
        "attacker.mixes = [{ name = 'a', units = '1 inf', weight = -1 }]",
        r"attacker\.mixes.*weight",
    ),
    ("attacker", "attacker.mixes = ['3 infantri']", r'attacker\.mixes.*did you mean "infantry"'),
    ("attacker", "attacker.budget = { units = [], cost = 30, max_units = 10 }", r"attacker\.budget\.units"),
    ("attacker", "attacker.budget = { units = ['tonk'], cost = 30, max_units = 10 }", r'did you mean "tank"'),
    (
        "attacker",
        "attacker.budget = { units = ['tank'], cost = -3, max_units = 10 }",
        r"attacker\.budget\.cost",
    ),
    ("attacker", "attacker.budget = { units = ['tank'], cost = 1, max_units = 10 }", r"attacker\.budget"),
    (
        "attacker",
        "attacker.budget = { units = ['tank'], cost = 30, max_units = 0 }",
        r"attacker\.budget\.max_units",
    ),
    ("attacker", "", r"attacker"),
    ("", "grid = { 'edition.tonk.cost' = [5] }", r"grid.*tonk"),
    ("", "grid = { 'edition.tank.cost' = [] }", r"grid"),
    ("", "grid = { 'edition.tank.cost' = 5 }", r"grid"),
    ("", "grid = { 'attacker.units' = ['3 inf'] }", r"grid"),
    ("", "scenario = { terrain = 'see' }", r'terrain.*"see"'),
    ("", "scenario = { attacker = { keep_lnd = 1 } }", r'did you mean "keep_land"'),
    ("", "scenario = { attacker = { units = '1 inf' } }", r"units"),
    ("", "extra = 1", r"extra: unknown field"),
]


@pytest.mark.parametrize(("without", "line", "message"), BAD_SWEEPS)
def test_fields_of_a_sweep(cli: Cli, tmp_path: Path, without: str, line: str, message: str) -> None:
    path = tmp_path / "nightly.toml"
    fields = {
        "name": "sweep.name = 's'",
        "battles": "sweep.battles = 100",
        "attacker": "attacker.mixes = ['3 infantry']",
        "defender": "defender.mixes = ['2 infantry']",
    }
    if line.startswith("sweep = "):
        del fields["name"], fields["battles"]
    fields.pop(without, None)
    path.write_text("\n".join([*fields.values(), line]))
    problem = cli("sweep", path, "--out", tmp_path / "out").problem
    assert problem.startswith(f"{path}: "), problem
    assert re.search(message, problem), problem


def test_a_sweep_too_large_to_hold_is_refused(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "huge.toml"
    units = '["infantry", "artillery", "tank", "fighter", "bomber"]'
    budget = f"budget = {{ units = {units}, cost = 4000, slack = 4000, max_units = 2000 }}"
    path.write_text(f'[sweep]\nname = "huge"\n[attacker]\n{budget}\n[defender]\nmixes = ["1 infantry"]\n')
    assert re.search(r"attacker\.budget: .*max_units", cli("sweep", path, "--out", tmp_path / "out").problem)


@pytest.mark.parametrize("kind", ["file", "file below"])
def test_an_output_folder_that_cannot_be(cli: Cli, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(GOOD_SWEEP)
    taken = tmp_path / "taken"
    taken.write_text("a file, not a folder")
    out = taken if kind == "file" else taken / "out"
    assert str(taken) in cli("sweep", path, "--out", out).problem


def test_an_output_folder_without_a_name(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(GOOD_SWEEP)
    assert "out: " in cli("sweep", path, "--out", "").problem


@pytest.mark.parametrize(
    "line",
    [
        ("merge", "a", "b", "--out", ""), ("merge", "a", "", "--out", "c"), ("resume", ""), ("doctor", ""),
        ("report", ""), ("report", "a", "--out", ""), ("export", "a", "--out", ""), ("nightly", "a", "--results", ""),
    ],
)  # fmt: skip
def test_a_place_without_a_name_is_not_the_current_folder(cli: Cli, line: tuple[str, ...]) -> None:
    assert cli(*line).problem.endswith('must be a path, got ""')


def test_a_dry_run_looks_at_all_options(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(GOOD_SWEEP)
    assert "workers: give" in cli("sweep", path, "--dry-run", "--workers", 2, "--scheduler", "tcp://a:1").problem


def test_an_output_folder_without_permission(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(GOOD_SWEEP)
    # Nobody can create folders in /proc, not even root.
    assert "/proc" in cli("sweep", path, "--out", "/proc/simcore-results").problem


@pytest.mark.parametrize("verb", ["resume", "report", "doctor"])
def test_a_folder_without_results(cli: Cli, tmp_path: Path, verb: str) -> None:
    assert str(tmp_path) in cli(verb, tmp_path).problem
    assert str(tmp_path / "nowhere") in cli(verb, tmp_path / "nowhere").problem


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"schema": 99}', "\0"])
def test_a_folder_with_a_broken_manifest(cli: Cli, tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    # What a newer version made can still be told.
    for verb in ("resume", "report") if "99" in content else ("resume", "report", "doctor"):
        assert str(tmp_path) in cli(verb, tmp_path).problem


def test_a_folder_of_another_sweep(cli: Cli, tmp_path: Path) -> None:
    path, out = tmp_path / "s.toml", tmp_path / "out"
    path.write_text(GOOD_SWEEP)
    assert cli("sweep", path, "--out", out, "--no-report").code == 0
    before = (out / "matchups.parquet").read_bytes()
    assert str(out) in cli("sweep", path, "--out", out, "--seed", 99).problem
    assert (out / "matchups.parquet").read_bytes() == before
    assert cli("sweep", path, "--out", out, "--seed", 99, "--fresh", "--no-report").code == 0


def test_rulesets_that_do_not_exist(cli: Cli) -> None:
    assert 'did you mean "general_combat"' in cli("rulesets", "general_combatt").problem
    assert 'did you mean "revised"' in cli("rulesets", "general_combat", "--edition", "revisd").problem
    assert "nowhere.toml" in cli("rulesets", "general_combat", "--edition-file", "nowhere.toml").problem


DEEP = ".".join("a" * 3_000)
HUGE = "0x" + "f" * 5_000


@pytest.mark.parametrize(
    "place", ["", "edition", "attacker", "attacker.loss_order", "switches", "editions", "editions.a"]
)
class TestBeyondBounds:
    """What TOML can write and nothing can hold: tables in tables without end, numbers without end."""

    def test_in_a_scenario(self, cli: Cli, tmp_path: Path, place: str) -> None:
        path = tmp_path / "deep.toml"
        key = f"{place}.{DEEP}" if place else DEEP
        path.write_text(f"{key} = 1\n")
        assert re.match(rf"{re.escape(str(path))}: .*nested too deeply$", cli("odds", path).problem)
        assert "nested too deeply" in cli("odds", "1 inf", "1 inf", "--set", f"{key}=1").problem

    def test_huge_numbers(self, cli: Cli, tmp_path: Path, place: str) -> None:
        path = tmp_path / "huge.toml"
        key = place or "terrain"
        path.write_text(f"{key} = {HUGE}\n")
        assert re.match(rf"{re.escape(str(path))}: {key}: .*64 bits", cli("odds", path).problem)
        assert f"{key}: " in cli("odds", "1 inf", "1 inf", "--set", f"{key}={HUGE}").problem

    def test_in_an_edition_file(self, cli: Cli, tmp_path: Path, place: str) -> None:
        path = tmp_path / "deep.toml"
        path.write_text(f"mine.{place or 'base'}.{DEEP} = 1\n")
        assert "nested too deeply" in cli("odds", "1 inf", "1 inf", "--edition-file", path).problem
        assert "nested too deeply" in cli("rulesets", "general_combat", "--edition-file", path).problem

    def test_in_a_sweep(self, cli: Cli, tmp_path: Path, place: str) -> None:
        path = tmp_path / "deep.toml"
        path.write_text(f"{place or 'sweep'}.{DEEP} = 1\n")
        assert "nested too deeply" in cli("sweep", path).problem


def test_a_file_without_end(cli: Cli) -> None:
    assert cli("odds", "/dev/zero").problem == "/dev/zero: is larger than 64 MiB"


def test_dates_are_shown_as_written(cli: Cli) -> None:
    assert cli("odds", "1 inf", "1 inf", "--set", "terrain=2020-01-31").problem.endswith("got 2020-01-31")


@pytest.mark.parametrize("option", ["--battles", "--seed"])
def test_numbers_that_are_none(cli: Cli, option: str) -> None:
    assert "must be a whole number" in cli("odds", "1 inf", "1 inf", option, "1e5").problem


@pytest.mark.parametrize("name", ["\x1b[2J", "a\nb", "\u202egeneral"])
def test_names_of_rulesets_are_shown_as_text(name: str) -> None:
    with pytest.raises(UnknownRulesetError) as caught:
        get_ruleset(name)
    assert str(caught.value).isprintable()


def test_a_ruleset_has_no_sweep_file_of_its_own(cli: Cli) -> None:
    assert cli("schema", "sweep", "--ruleset", "general_combat").problem.startswith("--ruleset: ")
    assert "\t" not in cli("schema").problem


def test_an_edition_without_a_name(cli: Cli) -> None:
    assert 'unknown edition ""' in cli("rulesets", "general_combat", "--edition", "").problem


def test_names_of_files_cannot_steer_a_terminal(cli: Cli, tmp_path: Path) -> None:
    assert "\x1b" not in cli("resume", tmp_path / "\x1b[2Jgone").problem
    path, out = tmp_path / "s.toml", tmp_path / "out"
    path.write_text(GOOD_SWEEP)
    (out / "parts").mkdir(parents=True)
    (out / "parts" / "\x1b[2J\nforeign").write_text("")
    answer = cli("sweep", path, "--out", out, "--no-report")
    assert answer.code == 0
    assert "foreign" in answer.err
    assert "\x1b" not in answer.err
    assert len(answer.err.splitlines()) == 1


def test_a_manifest_that_cannot_be_read_is_no_finished_sweep(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").mkdir()
    assert "tables are complete" not in cli("report", tmp_path).problem


def test_errors_in_a_real_process(shell: Cli) -> None:
    answer = shell("odds", "3 infantri", "2 infantry", "--json")
    assert answer.problem == 'attacker.units: unknown unit "infantri" (did you mean "infantry"?)'


@pytest.mark.parametrize("verb", ["odds", "replay", "share", "value"])
def test_a_sweep_file_is_no_scenario(cli: Cli, tmp_path: Path, verb: str) -> None:
    path = tmp_path / "night.toml"
    sides = "".join(f'[{side}]\nmixes = ["1 infantry"]\n' for side in ("attacker", "defender"))
    path.write_text(f'[sweep]\nname = "x"\n{sides}', encoding="utf-8")
    assert cli(verb, path).problem == f"{path}: is a sweep, not a scenario; run it with: simcore sweep"


@pytest.mark.parametrize("verb", ["sweep", "nightly"])
def test_a_scenario_is_no_sweep_file(cli: Cli, tmp_path: Path, verb: str) -> None:
    path = tmp_path / "battle.toml"
    path.write_text('[attacker]\nunits = "1 infantry"\n[defender]\nunits = "1 infantry"\n', encoding="utf-8")
    problem = cli(verb, path).problem
    assert problem.startswith(f"{path}: is a scenario, not a sweep")
    assert problem.endswith("simcore odds")


@pytest.mark.parametrize(
    "words",
    [
        ("price", "--units", "dragon"),
        ("price", "--against", "dragon"),
        ("price", "--sizes", "0"),
        ("need", "dragon", "2 infantry"),
        ("need", "infantry", "2 dragon"),
        ("need", "infantry", "2 infantry", "--chance", "2"),
        ("value", "2 infantry", "1 infantry", "--units", "dragon"),
    ],
)
def test_nothing_is_compiled_for_input_that_cannot_be_used(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("simcore.core.jit.is_cache_cold", lambda: True)
    assert cli(*words).problem  # one line on stderr, and it is not the one that speaks of compiling


def test_a_first_run_says_what_it_waits_for(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simcore.core.jit.is_cache_cold", lambda: True)
    answer = cli("need", "infantry", "1 infantry")
    assert answer.code == 0
    assert answer.err.count("compiling") == 1
