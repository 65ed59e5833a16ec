"""Verbs that describe what there is: rulesets, schema."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from analysis.cli import option
from analysis.cli.console import layout, say, say_json
from analysis.cli.delivery import Tables, deliver, table_option
from simcore.errors import ScenarioError, suggestion

__all__ = ["rulesets", "schema"]


@dataclass(frozen=True, kw_only=True)
class CatalogueTables(Tables):
    """Tables of the battle systems, or of one edition."""

    names: ClassVar = ("editions", "units", "switches")
    table: Annotated[str | None, table_option(*names)] = None


def _deliver(rows: dict[str, list[dict[str, Any]]], tables: Tables, missing: str) -> None:
    """Write tables given as rows; values keep their types, a whole number beside an empty cell too."""
    import pandas as pd

    if tables.table is not None and tables.table not in rows:
        raise ScenarioError(missing, field="--table")
    deliver(list(rows), lambda name: pd.DataFrame(rows[name], dtype=object), tables)


def rulesets(
    ruleset: Annotated[
        str | None, typer.Argument(metavar="[RULESET]", help="Show one in detail.", show_default=False)
    ] = None,
    *,
    edition: option.Edition = None,
    edition_file: option.EditionFile = None,
    tables: CatalogueTables,
    as_json: option.Json = False,
) -> None:
    """List the battle systems and their editions, or the units of one edition."""
    tables.check(as_json=as_json)
    if ruleset is not None:
        _show_edition(ruleset, edition, edition_file, tables, as_json=as_json)
        return
    if edition is not None or edition_file is not None:
        raise ScenarioError("name the ruleset first: simcore rulesets general_combat --edition ...")
    from simcore.api import rulesets as describe

    found = describe()
    if tables.are_wanted:
        rows = [
            {
                "ruleset": name,
                "ruleset_title": facts["title"],
                "version": facts["version"],
                "edition": known,
                "title": title,
                "is_default": known == facts["default_edition"],
            }
            for name, facts in found.items()
            for known, title in facts["editions"].items()
        ]
        _deliver({"editions": rows}, tables, "belongs to an edition: simcore rulesets general_combat --table units")
        return
    if as_json:
        say_json(found)
        return
    for name, facts in found.items():
        say(f"{name}  {facts['title']} (version {facts['version']})")
        for known, title in facts["editions"].items():
            default = " (default)" if known == facts["default_edition"] else ""
            say(f"  {known:<14}  {title}{default}")


def _show_edition(
    ruleset: str, edition: str | None, edition_file: Path | None, tables: Tables, *, as_json: bool
) -> None:
    """Print units and switches of one edition."""
    from simcore.registry import get_ruleset
    from simcore.scenario import read_toml

    record = get_ruleset(ruleset)
    known = dict(record.editions())
    own = {} if edition_file is None else record.check_editions(read_toml(edition_file), str(edition_file))
    known |= own
    name = edition if edition is not None else next(iter(own), record.default_edition)
    if name not in known:
        raise ScenarioError(
            f'unknown edition "{name}"{suggestion(name, known)}; known: {", ".join(sorted(known))}',
            field="--edition",
        )
    chosen = known[name].model_dump()
    switches = chosen.get("switches", chosen.get("options", {}))
    if tables.are_wanted:
        rows = {
            "units": [{"unit": unit, **row} for unit, row in chosen["units"].items()],
            "switches": [{"switch": switch, "value": value} for switch, value in switches.items()],
        }
        _deliver(rows, tables, "lists all battle systems: leave the ruleset out")
        return
    if as_json:
        say_json({"ruleset": ruleset, **chosen})
        return
    dice = f"; dice with {chosen['dice_sides']} sides" if "dice_sides" in chosen else ""
    say(f"{ruleset}, edition {name}: {chosen['title']}{dice}\n")
    fields = tuple(next(iter(chosen["units"].values())))
    cells = [
        (unit, *("" if row[field] is None else _cell(row[field]) for field in fields))
        for unit, row in chosen["units"].items()
    ]
    say(layout(("unit", *fields), cells))
    say("")
    for switch, value in switches.items():
        say(f"{switch:<20}  {_cell(value)}")


def _cell(value: object) -> str:
    """Return a value of an edition as it would be written in a file, text without quotes."""
    return value if isinstance(value, str) else json.dumps(value)


def schema(
    kind: Annotated[option.Kind, typer.Argument(help="Which file.", show_default=False)],
    ruleset: option.RulesetName = None,
) -> None:
    """Print the JSON Schema of scenario or sweep files, for editors and other programs."""
    from simcore.scenario import scenario_schema, sweep_schema

    if kind == option.Kind.SWEEP:
        if ruleset is not None:
            raise ScenarioError("all rulesets have the same form of sweep file", field="--ruleset")
        say_json(sweep_schema())
    else:
        say_json(scenario_schema() if ruleset is None else scenario_schema(ruleset))
