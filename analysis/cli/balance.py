"""Verbs on the balance between units and mixes: game, price, value, need."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from analysis.cli import option
from analysis.cli.console import announce_compilation
from analysis.cli.delivery import Tables, answer, table_option
from analysis.cli.reading import check_scenario, names, placed, read_battle, read_rules, whole_numbers
from simcore.errors import ScenarioError

__all__ = ["fair_price", "needed", "solve_game", "unit_value"]


@dataclass(frozen=True, kw_only=True)
class GameTables(Tables):
    """Tables of a game between mixes."""

    names: ClassVar = ("game", "restricted", "residuals")
    table: Annotated[str | None, table_option(*names)] = None


def solve_game(
    folder: option.Folder,
    *,
    payoff: Annotated[
        option.Payoff,
        typer.Option(help="What the attacker wants: his share of wins, his lead over the defender's, his swing."),
    ] = option.Payoff.WIN_SHARE,
    point: Annotated[int, typer.Option(min=0, metavar="N", help="Grid point, from 0.")] = 0,
    samples: Annotated[
        int | None,
        typer.Option(
            min=0, max=10_000, metavar="N", help="Games drawn anew for the intervals.", show_default="up to 100"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, metavar="N", help="Seed of these draws.")] = 1,
    tables: GameTables,
    as_json: option.Json = False,
) -> None:
    """Show which mixes of a finished sweep best play picks, which are dominated, and a rating of each."""
    import analysis

    tables.check(as_json=as_json)
    found = analysis.game(folder, payoff=payoff, point=point, samples=samples, seed=seed)
    answer(found, tables, as_json=as_json)


@dataclass(frozen=True, kw_only=True)
class PriceTables(Tables):
    """Tables of fair prices."""

    names: ClassVar = ("prices", "duels")
    table: Annotated[str | None, table_option(*names)] = None


def fair_price(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]",
            help="Price the units of a finished sweep under its rules, for its report.",
            show_default=False,
        ),
    ] = None,
    *,
    units: Annotated[
        str | None, typer.Option(help='Units to price: "tank, fighter".', show_default="all that can fight")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="Enemies, whose listed costs are taken as right.", show_default="the first unit that can fight"
        ),
    ] = None,
    sizes: Annotated[str, typer.Option(help="How many enemies stand against the unit.")] = "4, 8, 12",
    scenario: option.ScenarioFile = None,
    rules: option.Rules,
    settings: option.Settings = None,
    tables: PriceTables,
    as_json: option.Json = False,
) -> None:
    """Say what units would have to cost for their equal-cost duels to be even."""
    import analysis
    from analysis.battery import announcing

    tables.check(as_json=as_json)
    numbers = whole_numbers(sizes, "--sizes")
    frame = read_rules(scenario, rules, settings)
    if folder is not None:
        from analysis.pricing import price_run

        if frame:
            raise ScenarioError("a sweep has its own rules; leave them out, or the folder")
        run = analysis.load(folder)
        with announcing(announce_compilation):
            found = price_run(run, units=names(units), against=names(against), sizes=numbers)
    else:
        with announcing(announce_compilation):
            found = analysis.price(names(units), against=names(against), sizes=numbers, scenario=frame)
    answer(found, tables, as_json=as_json)


@dataclass(frozen=True, kw_only=True)
class ValueTables(Tables):
    """Tables of what units are worth."""

    names: ClassVar = ("values", "orders")
    table: Annotated[str | None, table_option(*names)] = None


def unit_value(
    battle: option.BattleUnits,
    *,
    side: Annotated[option.Side, typer.Option(help="Whose units.")] = option.Side.ATTACKER,
    units: Annotated[
        str | None, typer.Option(help='Units to add: "tank, fighter".', show_default="all that the side may have")
    ] = None,
    rules: option.Rules,
    settings: option.Settings = None,
    tables: ValueTables,
    as_json: option.Json = False,
) -> None:
    """Say what one more of each unit adds to a side, and how much the order of losses matters."""
    import analysis
    from analysis.battery import announcing

    tables.check(as_json=as_json)
    data, source = read_battle(battle, rules, settings)
    check_scenario(data, source)
    with placed(source), announcing(announce_compilation):
        found = analysis.value(scenario=data, side=side, units=names(units))
    answer(found, tables, as_json=as_json)


def _weighted(text: str) -> dict[str, Any]:
    """Read an enemy: a unit list, or "2 * unit list" for a weight of 2."""
    weight, star, rest = text.partition("*")
    try:
        return {"units": rest.strip(), "weight": float(weight)} if star else {"units": text}
    except ValueError:
        return {"units": text}


@dataclass(frozen=True, kw_only=True)
class NeedTables(Tables):
    """Tables of the cheapest mixes."""

    names: ClassVar = ("needed", "nearest", "enemies")
    table: Annotated[str | None, table_option(*names)] = None


def needed(
    units: Annotated[
        str, typer.Argument(metavar="UNITS", help='What mixes are made of: "infantry, tank".', show_default=False)
    ],
    enemies: Annotated[
        list[str],
        typer.Argument(
            metavar="ENEMY...", help='Unit lists; "3 * 4 infantry" gives one the weight 3.', show_default=False
        ),
    ],
    *,
    chance: Annotated[float, typer.Option(help="Least chance, above 0 and at most 1.")] = 0.9,
    goal: Annotated[
        option.Goal, typer.Option(help="win; capture (as attacker); hold: keep the attacker from capturing.")
    ] = option.Goal.WIN,
    side: Annotated[option.Side, typer.Option(help="Whose mixes are looked for.")] = option.Side.ATTACKER,
    each: Annotated[
        bool, typer.Option("--each", help="Ask for the chance against every enemy, not on average.")
    ] = False,
    max_cost: Annotated[
        int | None, typer.Option(help="Most that a mix may cost.", show_default="3 times the dearest enemy")
    ] = None,
    max_units: Annotated[int, typer.Option(help="Most units of a mix.")] = 40,
    scenario: option.ScenarioFile = None,
    rules: option.Rules,
    settings: option.Settings = None,
    tables: NeedTables,
    as_json: option.Json = False,
) -> None:
    """Find the cheapest mixes of some units that win, capture or hold with at least a stated chance."""
    import analysis
    from analysis.battery import announcing

    tables.check(as_json=as_json)
    frame = read_rules(scenario, rules, settings)
    with announcing(announce_compilation):
        found = analysis.need(
            names(units) or [],
            [_weighted(enemy) for enemy in enemies],
            chance=chance,
            goal=goal,
            side=side,
            each=each,
            max_cost=max_cost,
            max_units=max_units,
            scenario=frame,
        )
    answer(found, tables, as_json=as_json)
