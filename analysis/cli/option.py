"""Options and arguments of the verbs.

Modules whose annotations typer reads do not postpone them (no ``from __future__ import annotations``): it needs the
objects, not their names.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "BattleUnits",
    "Battles",
    "Correction",
    "Edition",
    "EditionFile",
    "Ending",
    "File",
    "Folder",
    "Form",
    "Gates",
    "Goal",
    "Json",
    "Kind",
    "Method",
    "Pairing",
    "PairingChoice",
    "Payoff",
    "Rules",
    "RulesetName",
    "ScenarioFile",
    "Seed",
    "Settings",
    "Side",
    "SweepBattles",
    "SweepSeed",
    "SweepSettings",
    "Threads",
    "Workers",
    "read_place",
]


class Method(StrEnum):
    """How a battle is resolved."""

    AUTO = "auto"
    SIMULATE = "simulate"
    EXACT = "exact"


class Pairing(StrEnum):
    """What shares its dice with what."""

    MATCHUP = "matchup"
    COMMON = "common"
    INDEPENDENT = "independent"


class Kind(StrEnum):
    """Files that have a schema."""

    SCENARIO = "scenario"
    SWEEP = "sweep"


class Form(StrEnum):
    """How tables are written."""

    CSV = "csv"
    JSON = "json"


class Correction(StrEnum):
    """How p-values are adjusted."""

    AUTO = "auto"
    HOCHBERG = "hochberg"
    YEKUTIELI = "yekutieli"


class Payoff(StrEnum):
    """What a game between mixes is played for."""

    WIN_SHARE = "win_share"
    LEAD = "lead"
    SWING = "swing"


class Side(StrEnum):
    """A side of a battle."""

    ATTACKER = "attacker"
    DEFENDER = "defender"


class Goal(StrEnum):
    """What a mix has to do."""

    WIN = "win"
    CAPTURE = "capture"
    HOLD = "hold"


def read_place(given: str | Path) -> Path:
    """Read the path of a folder or a file to write; without a name it would be the current folder."""
    text = str(given)  # a default goes through here too
    if not text or "\0" in text:
        raise typer.BadParameter("must be a path, got " + (f'"{text}"' if not text else "a text with a null byte"))
    return Path(text)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Battles = Annotated[
    int | None,
    typer.Option(
        min=1, max=10**12, metavar="N", help="Number of battles, where they are simulated.", show_default="100000"
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, max=2**64 - 1, metavar="N", help="Seed of the random numbers.", show_default="1"),
]
SweepBattles = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=10**12,
        metavar="N",
        help="Battles of each matchup that is simulated.",
        show_default="as the file says",
    ),
]
SweepSeed = Annotated[
    int | None,
    typer.Option(
        min=0, max=2**64 - 1, metavar="N", help="Seed of the random numbers.", show_default="as the file says"
    ),
]
Threads = Annotated[int | None, typer.Option(min=1, max=4_096, metavar="N", help="Threads to use.", show_default="all")]
RulesetName = Annotated[str | None, typer.Option("--ruleset", help="Battle system.", show_default="general_combat")]
Edition = Annotated[str | None, typer.Option(help="Edition of the rules.", show_default="the ruleset's own default")]
EditionFile = Annotated[Path | None, typer.Option(help="TOML file of user-made editions.", show_default=False)]
PairingChoice = Annotated[Pairing, typer.Option(help="What shares its dice with what.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set any value of the file by its dotted path: --set attacker.keep_land=1. May be repeated.",
        show_default=False,
    ),
]
SweepSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set any value of the file by its dotted path: --set scenario.low_luck=both. May be repeated.",
        show_default=False,
    ),
]
Gates = Annotated[
    Path | None,
    typer.Option(metavar="GATES.toml", help="Limits; exit code 4 when one is not kept.", show_default=False),
]
File = Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="The sweep file.", show_default=False)]
Folder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", parser=read_place, help="Results folder of a sweep.", show_default=False),
]
BattleUnits = Annotated[
    list[str],
    typer.Argument(
        metavar="BATTLE",
        help='A scenario file, or two unit lists: "10 infantry, 5 tank" "8 infantry, 2 fighter".',
        show_default=False,
    ),
]
ScenarioFile = Annotated[
    Path | None,
    typer.Option(
        "--scenario", help="Scenario file with rules and policies; its units are ignored.", show_default=False
    ),
]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Which rules hold: a battle system and one of its editions."""

    ruleset: RulesetName = None
    edition: Edition = None
    edition_file: EditionFile = None


@dataclass(frozen=True, kw_only=True)
class Workers:
    """Who resolves the battles of a sweep."""

    threads: Threads = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help='Let the workers of a running Dask cluster resolve it: "tcp://10.0.0.1:8786".',
            show_default=False,
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=4_096, metavar="N", help="Let N worker processes on this machine resolve it.", show_default=False
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Ending:
    """What is shown of a finished sweep."""

    report_wanted: Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")] = True
    as_json: Json = False
