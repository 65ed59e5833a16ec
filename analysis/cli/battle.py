"""Verbs on one battle: odds, replay, share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

import simcore
from analysis.cli import option
from analysis.cli.console import announce_compilation, say, say_json
from analysis.cli.delivery import Tables, deliver, table_option
from analysis.cli.reading import check_scenario, given, placed, read_battle
from simcore.errors import ScenarioError

__all__ = ["odds", "replay", "share_scenario"]


@dataclass(frozen=True, kw_only=True)
class OddsTables(Tables):
    """Tables of the odds of a battle."""

    names: ClassVar = ("outcomes", "survivors", "distribution")
    table: Annotated[str | None, table_option(*names)] = None


def odds(
    units: option.BattleUnits,
    *,
    rules: option.Rules,
    battles: option.Battles = None,
    seed: option.Seed = None,
    pairing: option.PairingChoice = option.Pairing.MATCHUP,
    method: Annotated[
        option.Method,
        typer.Option(
            help="exact: solve the battle; simulate: fight battles; auto: solve it where that takes a second."
        ),
    ] = option.Method.AUTO,
    distribution: Annotated[
        bool, typer.Option("--distribution", help="Every way in which a battle that is solved may end.")
    ] = False,
    threads: option.Threads = None,
    settings: option.Settings = None,
    tables: OddsTables,
    as_json: option.Json = False,
) -> None:
    """Who wins one battle, how often and at what cost."""
    tables.check(as_json=as_json)
    if tables.table == "distribution" and not distribution:
        raise ScenarioError("needs --distribution", field="--table")
    data, source = read_battle(units, rules, settings)
    check_scenario(data, source)
    announce_compilation()
    result = simcore.odds(
        scenario=data,
        method=method,
        distribution=distribution,
        pairing=pairing,
        threads=threads,
        **given(battles=battles, seed=seed),
    )
    if tables.are_wanted:
        from analysis.exporting import odds_tables

        found = odds_tables(result)
        deliver(list(found), found.__getitem__, tables)
    elif as_json:
        say_json(result.to_dict())
    else:
        say(str(result))


def replay(
    units: option.BattleUnits,
    *,
    battle: Annotated[int, typer.Option(min=0, max=2**62, metavar="N", help="Number of the battle, from 0.")] = 0,
    rules: option.Rules,
    seed: option.Seed = None,
    pairing: option.PairingChoice = option.Pairing.MATCHUP,
    script: Annotated[
        str | None,
        typer.Option(help='Hits of each draw in order, "2,1,0", instead of random ones.', show_default=False),
    ] = None,
    script_file: Annotated[
        Path | None, typer.Option(help="The same from a file: whole numbers, # starts a note.", show_default=False)
    ] = None,
    write_script: Annotated[
        Path | None,
        typer.Option(help="Write the battle's hits to such a file, to change and replay.", show_default=False),
    ] = None,
    settings: option.Settings = None,
    as_json: option.Json = False,
) -> None:
    """Tell one battle step by step, the same battle that a sweep or odds counted."""
    data, source = read_battle(units, rules, settings)
    from analysis import script as scripts

    hits: list[int] | None = None
    if script is not None and script_file is not None:
        raise ScenarioError("give either --script or --script-file", field="--script-file")
    if script is not None:
        hits = scripts.parse_script(script, field="--script")
    elif script_file is not None:
        hits = scripts.read_script(script_file)
    scenario = check_scenario(data, source)
    announce_compilation()
    story = simcore.replay(scenario, battle=battle, pairing=pairing, script=hits, **given(seed=seed))
    if write_script is not None:
        scripts.write_script(write_script, story.draws, story.lines[0])
    if as_json:
        say_json(story.to_dict())
    else:
        say(story.to_text())


def share_scenario(
    units: option.BattleUnits,
    *,
    rules: option.Rules,
    settings: option.Settings = None,
    as_json: option.Json = False,
) -> None:
    """Print a scenario as a short string that odds, replay and share take in place of a file."""
    from simcore.sharing import share, unshare

    data, source = read_battle(units, rules, settings)
    with placed(source):
        text = share(data)
    if as_json:
        say_json({"shared": text, "scenario": unshare(text)})
    else:
        say(text)
