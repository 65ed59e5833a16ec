"""Scenario and sweep files: reading, checking, JSON Schema."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from simcore.errors import ScenarioError
from simcore.model import FrozenModel, parse_model, shown
from simcore.precision import FINEST, battles_enough
from simcore.registry import get_ruleset

if TYPE_CHECKING:
    from simcore.schema import ScenarioModel

__all__ = [
    "DEFAULT_BATTLES",
    "DEFAULT_RULESET",
    "DEFAULT_SEED",
    "MAX_SEED",
    "Budget",
    "Method",
    "Pairing",
    "SweepFile",
    "SweepSettings",
    "SweepSide",
    "check_bounds",
    "load_scenario",
    "load_sweep",
    "read_toml",
    "scenario_schema",
    "standalone",
    "sweep_schema",
]

DEFAULT_RULESET = "general_combat"
DEFAULT_BATTLES = 100_000
DEFAULT_SEED = 1
MAX_SEED = 2**64 - 1
MAX_BATTLES = 10**12
_MAX_FILE_BYTES = 64 * 2**20
_DEEPEST = 50
_MOST_BITS = 64
_FIELD_LENGTH = 80
_COARSEST = 0.5
_SIDES = ("attacker", "defender")

Method = Literal["auto", "simulate", "exact"]
Pairing = Literal["matchup", "common", "independent"]


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file.

    Parameters
    ----------
    path : str or Path
        File to read, at most 64 MiB of UTF-8.

    Returns
    -------
    dict

    Raises
    ------
    ScenarioError
        When the file is missing, a folder, not readable, not text or not TOML.
    """
    path = Path(path)
    name = str(path)
    try:
        # Devices and pipes do not tell their size, and some have no end.
        with path.open("rb") as file:
            raw = file.read(_MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise ScenarioError("no such file", source=name) from None
    except IsADirectoryError:
        raise ScenarioError("is a folder, not a file", source=name) from None
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise ScenarioError(f"cannot be read: {reason}", source=name) from None
    if len(raw) > _MAX_FILE_BYTES:
        raise ScenarioError(f"is larger than {_MAX_FILE_BYTES // 2**20} MiB", source=name)
    try:
        data = tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise ScenarioError(f"is not UTF-8 text (byte {problem.start})", source=name) from None
    except tomllib.TOMLDecodeError as problem:
        raise ScenarioError(f"is not valid TOML: {problem}", source=name) from None
    except (RecursionError, ValueError) as problem:
        raise ScenarioError(f"cannot be read as TOML: {problem}", source=name) from None
    check_bounds(data, name)
    return data


def check_bounds(data: Mapping[str, Any], source: str = "") -> None:
    """Refuse what TOML can write but nothing here can use: tables in tables without end, and endless numbers.

    Parameters
    ----------
    data : mapping
        Read from TOML.
    source : str
        Origin to name in errors.

    Raises
    ------
    ScenarioError
        Names the field.
    """
    waiting: list[tuple[str, object, int]] = [("", data, 0)]
    while waiting:
        field, value, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ScenarioError("is nested too deeply", field=field[:_FIELD_LENGTH], source=source)
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise ScenarioError(
                f"must be a number of at most {_MOST_BITS} bits, got {shown(value)}", field=field, source=source
            )
        if isinstance(value, Mapping):
            waiting += [(f"{field}.{key}" if field else str(key), entry, depth + 1) for key, entry in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{field}[{i}]", entry, depth + 1) for i, entry in enumerate(value)]


def _embed_editions(table: dict[str, Any], folder: Path, source: str, prefix: str = "") -> dict[str, Any]:
    """Replace `edition_file` by the editions it holds, so that the data stand alone."""
    if table.get("edition_file") is None:
        return {key: value for key, value in table.items() if key != "edition_file"}
    name = table["edition_file"]
    field = f"{prefix}edition_file"
    if not isinstance(name, str):
        raise ScenarioError(f"must be the name of a TOML file, got {shown(name)}", field=field, source=source)
    content = read_toml(folder / name)
    rest = {key: value for key, value in table.items() if key != "edition_file"}
    ruleset = get_ruleset(str(table.get("ruleset", DEFAULT_RULESET)))
    ruleset.check_editions(content, str(folder / name))
    inline = table.get("editions", {})
    return {**rest, "editions": {**content, **(inline if isinstance(inline, Mapping) else {})}}


def load_scenario(scenario: str | Path | Mapping[str, Any], *, source: str = "") -> ScenarioModel:
    """Read and check one scenario.

    Parameters
    ----------
    scenario : str, Path or mapping
        A TOML file, or its content.
    source : str
        Origin to name in errors when a mapping is given.

    Returns
    -------
    ScenarioModel
        The ruleset's frozen model.

    Raises
    ------
    ScenarioError
        Names file, field, value and what is allowed.
    UnknownRulesetError
        When no such ruleset exists.
    """
    folder = Path()
    if isinstance(scenario, Mapping):
        data = {str(key): value for key, value in scenario.items()}
    else:
        data = read_toml(scenario)
        source = str(scenario)
        folder = Path(scenario).parent
    if isinstance(data.get("sweep"), Mapping):
        raise ScenarioError("is a sweep, not a scenario; run it with: simcore sweep", source=source)
    name = data.get("ruleset", DEFAULT_RULESET)
    if not isinstance(name, str):
        raise ScenarioError(f"must be the name of a ruleset, got {shown(name)}", field="ruleset", source=source)
    ruleset = get_ruleset(name)
    try:
        return ruleset.parse(_embed_editions(data, folder, source), source)
    except RecursionError:
        raise ScenarioError("is nested too deeply", source=source) from None


def standalone(scenario: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a scenario with the editions of its edition file inside, not checked otherwise.

    Parameters
    ----------
    scenario : str, Path or mapping
        A TOML file, or its content.

    Returns
    -------
    dict

    Raises
    ------
    ScenarioError
        When a file cannot be read.
    """
    if isinstance(scenario, Mapping):
        return _embed_editions({str(key): value for key, value in scenario.items()}, Path(), "")
    return _embed_editions(read_toml(scenario), Path(scenario).parent, str(scenario))


class SweepSettings(FrozenModel):
    """Table ``[sweep]``: what to run."""

    name: str = Field(min_length=1, max_length=100, description="Name of the run and of its results folder")
    ruleset: str = Field(default=DEFAULT_RULESET, description="Battle system")
    edition: str | None = Field(default=None, description="Edition; default: that of the ruleset")
    edition_file: str | None = Field(
        default=None, description="TOML file with editions of your own, relative to this file"
    )
    editions: dict[str, Any] = Field(default_factory=dict, description="Editions of your own, in place of a file")
    method: Method = Field(default="auto", description="How matchups are resolved; auto solves the small ones")
    battles: int = Field(
        default=DEFAULT_BATTLES,
        ge=1,
        le=MAX_BATTLES,
        description="Battles of each matchup that is simulated; with a precision at most so many (default: enough)",
    )
    precision: float | None = Field(
        default=None,
        ge=FINEST,
        lt=_COARSEST,
        description="Half-width at 95 % to which every outcome share is brought; matchups get battles until then",
    )
    seed: int = Field(default=DEFAULT_SEED, ge=0, le=MAX_SEED, description="Seed of all random words")
    pairing: Pairing = Field(default="matchup", description="What shares dice with what")
    keep_outcomes: bool = Field(
        default=False, description="Keep how every single battle ended, a byte each, for comparisons battle by battle"
    )
    out: str | None = Field(default=None, description="Results folder; default results/<name>")
    pairs: Literal["all"] | list[list[int]] = Field(
        default="all", description='"all", or [attacker, defender] positions of the mixes, counted from 0'
    )

    @model_validator(mode="before")
    @classmethod
    def _without_cap(cls, data: Any) -> Any:
        """Let a precision alone decide how many battles are fought."""
        if not isinstance(data, Mapping) or "battles" in data:
            return data
        asked = data.get("precision")
        if not isinstance(asked, float) or not FINEST <= asked < _COARSEST:
            return data
        return {**data, "battles": battles_enough(asked)}


class Budget(FrozenModel):
    """All mixes of given units within a budget."""

    units: list[str] = Field(min_length=1, max_length=20, description="Unit types to combine")
    cost: int = Field(ge=0, le=1_000_000, description="Most that a mix may cost")
    slack: int = Field(default=0, ge=0, le=1_000_000, description="How much cheaper than `cost` a mix may be")
    max_units: int = Field(default=10, ge=1, le=2_000, description="Most units of a mix")


class SweepSide(FrozenModel):
    """Table ``[attacker]`` or ``[defender]`` of a sweep: the unit mixes of one side."""

    mixes: list[str | dict[str, Any]] = Field(
        default_factory=list,
        description='Mixes as text, unit table, or { name = "...", units = "...", weight = 1 }',
    )
    budget: Budget | None = Field(default=None, description="Further mixes: all within a budget")


class ReportSettings(FrozenModel):
    """Table ``[report]``."""

    title: str = Field(default="", max_length=200, description="Title of the HTML report")


class SweepFile(FrozenModel):
    """A sweep as read; the mixes and the grid are worked out by the planner."""

    sweep: SweepSettings
    scenario: dict[str, Any] = Field(
        default_factory=dict, description="Whatever a scenario may hold, shared by all matchups"
    )
    attacker: SweepSide
    defender: SweepSide
    grid: dict[str, list[Any]] = Field(
        default_factory=dict, description='Values to cross, as in "scenario.attacker.keep_land" = [0, 1]'
    )
    report: ReportSettings = ReportSettings()
    source: str = Field(default="", exclude=True, json_schema_extra={"internal": True})


def load_sweep(sweep: str | Path | Mapping[str, Any], *, source: str = "") -> SweepFile:
    """Read and check a sweep file (its mixes and grid are checked by the planner).

    Parameters
    ----------
    sweep : str, Path or mapping
        A TOML file, or its content.
    source : str
        Origin to name in errors when a mapping is given.

    Returns
    -------
    SweepFile
        Edition files are already read into ``sweep.editions``, so that the model stands alone.

    Raises
    ------
    ScenarioError
        Names file, field, value and what is allowed.
    UnknownRulesetError
        When no such ruleset exists.
    """
    folder = Path()
    if isinstance(sweep, Mapping):
        data = {str(key): value for key, value in sweep.items()}
    else:
        data = read_toml(sweep)
        source = str(sweep)
        folder = Path(sweep).parent
    if "source" in data:
        raise ScenarioError("unknown field", field="source", source=source)
    table = data.get("sweep")
    if table is None and any(isinstance(data.get(side), Mapping) and "units" in data[side] for side in _SIDES):
        raise ScenarioError(
            "is a scenario, not a sweep: it has no table [sweep]; ask for its odds with: simcore odds", source=source
        )
    if isinstance(table, dict):
        # The table is checked first, so that a wrong field is not hidden by a missing edition file.
        settings = parse_model(SweepSettings, table, source=source, prefix="sweep")
        get_ruleset(settings.ruleset)
        data["sweep"] = _embed_editions(table, folder, source, prefix="sweep.")
    return parse_model(SweepFile, {**data, "source": source}, source=source)


def _public_schema(model: type[FrozenModel]) -> dict[str, Any]:
    """Return the JSON Schema of a model without the fields that programs fill in."""
    schema = model.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    for name in [name for name, field in schema["properties"].items() if field.get("internal")]:
        del schema["properties"][name]
        if name in schema.get("required", []):
            schema["required"].remove(name)
    return schema


def scenario_schema(ruleset: str = DEFAULT_RULESET) -> dict[str, Any]:
    """Return the JSON Schema of a scenario file.

    Parameters
    ----------
    ruleset : str
        Ruleset whose scenarios are described.

    Returns
    -------
    dict
    """
    return _public_schema(get_ruleset(ruleset).scenario_model)


def sweep_schema() -> dict[str, Any]:
    """Return the JSON Schema of a sweep file."""
    return _public_schema(SweepFile)
