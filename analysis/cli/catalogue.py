"""Verbs that describe what there is: rulesets, schema."""

import json
from pathlib import Path
from typing import Annotated

import typer

from analysis.cli import option
from analysis.cli.console import layout, say, say_json
from simcore.errors import ScenarioError, suggestion

__all__ = ["rulesets", "schema"]


def rulesets(
    ruleset: Annotated[
        str | None, typer.Argument(metavar="[RULESET]", help="Show one in detail.", show_default=False)
    ] = None,
    edition: option.Edition = None,
    edition_file: option.EditionFile = None,
    as_json: option.Json = False,
) -> None:
    """List the battle systems and their editions, or the units of one edition."""
    if ruleset is not None:
        _show_edition(ruleset, edition, edition_file, as_json=as_json)
        return
    if edition is not None or edition_file is not None:
        raise ScenarioError("name the ruleset first: simcore rulesets general_combat --edition ...")
    from simcore.api import rulesets as describe

    found = describe()
    if as_json:
        say_json(found)
        return
    for name, facts in found.items():
        say(f"{name}  {facts['title']} (version {facts['version']})")
        for known, title in facts["editions"].items():
            default = " (default)" if known == facts["default_edition"] else ""
            say(f"  {known:<14}  {title}{default}")


def _show_edition(ruleset: str, edition: str | None, edition_file: Path | None, *, as_json: bool) -> None:
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
    if as_json:
        say_json({"ruleset": ruleset, **chosen})
        return
    dice = f"; dice with {chosen['dice_sides']} sides" if "dice_sides" in chosen else ""
    say(f"{ruleset}, edition {name}: {chosen['title']}{dice}\n")
    fields = tuple(next(iter(chosen["units"].values())))
    rows = [
        (unit, *("" if row[field] is None else _cell(row[field]) for field in fields))
        for unit, row in chosen["units"].items()
    ]
    say(layout(("unit", *fields), rows))
    say("")
    for switch, value in chosen.get("switches", chosen.get("options", {})).items():
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
