"""The console script ``simcore``: one function per verb.

Everything heavy (numba, pandas, pydantic, pyarrow) is imported inside the functions, so that ``--help`` and
shell completion answer at once. Results go to stdout; progress, warnings and errors go to stderr, so that the
output of ``--json`` can be piped on. Exit codes: 0 done, 2 the input cannot be used, 3 incomplete but
resumable, 4 a gate failed, 1 a bug.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import shlex
import shutil
import sys
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

import simcore
from simcore.errors import (
    ClusterError,
    ScenarioError,
    SimcoreError,
    StoreError,
    UnknownRulesetError,
    suggestion,
)

if TYPE_CHECKING:
    from analysis.balance import Summary
    from simcore.run.session import SweepResult
    from simcore.scenario import SweepFile
    from simcore.schema import ScenarioModel

__all__ = ["app", "main"]

_BAD_INPUT: Final = 2
_RESUMABLE: Final = 3
_GATE_FAILED: Final = 4

_SIDES: Final = ("attacker", "defender")
_NEGATIVE: Final = re.compile(r"-[\d.]+(\s*[^\W\d]|\s*\*)")
_LONGEST_SIZE: Final = 9
"""Digits of a number of enemies that is looked at; far fewer are allowed."""
_NARROW: Final = 80
_WIDEST: Final = 120
_TABLES: Final = ("matchups", "mixes", "survivors")
_LIBRARIES: Final = ("numba", "llvmlite", "numpy", "scipy", "pandas", "pyarrow", "pydantic", "typer", "plotly")
_PROVENANCE: Final = (
    "name", "state", "ruleset", "ruleset_version", "edition", "method", "battles", "precision", "seed", "pairing",
    "matchups", "solved", "failed", "battles_counted", "imprecise", "created", "finished", "elapsed_s", "durations",
    "source_digest", "schema", "versions", "tables",
)  # fmt: skip


def _say(text: str) -> None:
    """Write a line of the result to stdout."""
    typer.echo(text)


def _note(text: str) -> None:
    """Write a line about the run (progress, warnings, errors) to stderr; names in it cannot steer a terminal."""
    typer.echo("".join(letter if letter.isprintable() else "\ufffd" for letter in text), err=True)


def _stop(error: object, code: int = _BAD_INPUT) -> NoReturn:
    """End the program with one line on stderr."""
    _note(" ".join(re.split(r"[\t\r\n]+", str(error).strip())))
    raise typer.Exit(code)


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


def _reworded(message: str) -> str:
    """Return what is wrong with an option in the words of all other errors."""
    message = message.replace("Value error, ", "").replace("Input should be a valid integer", "must be a whole number")
    message = message.replace(", unable to parse string as an integer", ", without a point or letters")
    return message.replace("Input should be ", "must be ")


class _Group(TyperGroup):
    """The group of all verbs: turns expected errors into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SimcoreError as error:
            _stop(error)
        except KeyboardInterrupt:
            _stop("interrupted", _RESUMABLE)
        except typer.BadParameter as error:
            message = _reworded(error.format_message())
            _stop(f"{ctx.info_name} {ctx.invoked_subcommand}: {message}")
        except BrokenPipeError:
            raise typer.Exit from None  # the reader has seen enough
        except OSError as error:
            if error.strerror is None:
                raise
            # The only file without a name that a verb writes to.
            _stop(f"{error.filename or 'standard output'}: {error.strerror}")


class _Battle(TyperCommand):
    """A verb whose arguments are unit lists: a negative count is one to refuse, not an unknown option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f" {arg}" if _NEGATIVE.match(arg) else arg for arg in args])


app = typer.Typer(
    name="simcore",
    cls=_Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _place(text: str) -> Path:
    """Read the path of a folder or a file to write; without a name it would be the current folder."""
    if not text or "\0" in text:
        raise typer.BadParameter("must be a path, got " + (f'"{text}"' if not text else "a text with a null byte"))
    return Path(text)


_Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
_Battles = Annotated[
    int | None,
    typer.Option(
        min=1, max=10**12, metavar="N", help="Number of battles, where they are simulated.", show_default="100000"
    ),
]
_Seed = Annotated[
    int | None,
    typer.Option(min=0, max=2**64 - 1, metavar="N", help="Seed of the random numbers.", show_default="1"),
]
_SweepBattles = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=10**12,
        metavar="N",
        help="Battles of each matchup that is simulated.",
        show_default="as the file says",
    ),
]
_SweepSeed = Annotated[
    int | None,
    typer.Option(
        min=0, max=2**64 - 1, metavar="N", help="Seed of the random numbers.", show_default="as the file says"
    ),
]
_Threads = Annotated[
    int | None, typer.Option(min=1, max=4_096, metavar="N", help="Threads to use.", show_default="all")
]
_Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help='Let the workers of a running Dask cluster resolve it: "tcp://10.0.0.1:8786".',
        show_default=False,
    ),
]
_Workers = Annotated[
    int | None,
    typer.Option(
        min=1, max=4_096, metavar="N", help="Let N worker processes on this machine resolve it.", show_default=False
    ),
]
_Pairing = Annotated[Pairing, typer.Option(help="What shares its dice with what.")]
_RulesetName = Annotated[str | None, typer.Option("--ruleset", help="Battle system.", show_default="general_combat")]
_Edition = Annotated[str | None, typer.Option(help="Edition of the rules.", show_default="the ruleset's own default")]
_EditionFile = Annotated[Path | None, typer.Option(help="TOML file of user-made editions.", show_default=False)]
_Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set any value of the file by its dotted path: --set attacker.keep_land=1. May be repeated.",
        show_default=False,
    ),
]
_SweepSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set any value of the file by its dotted path: --set scenario.low_luck=both. May be repeated.",
        show_default=False,
    ),
]
_Out = Annotated[
    str | None, typer.Option(metavar="DIR", help="Folder of the results.", show_default="as the file says")
]
_Gates = Annotated[
    Path | None,
    typer.Option(metavar="GATES.toml", help="Limits; exit code 4 when one is not kept.", show_default=False),
]
_Folder = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", parser=_place, help="Results folder of a sweep.", show_default=False),
]
_Report = Annotated[bool, typer.Option("--report/--no-report", help="Write report.html.")]
_Units = Annotated[
    list[str],
    typer.Argument(
        metavar="BATTLE",
        help='A scenario file, or two unit lists: "10 infantry, 5 tank" "8 infantry, 2 fighter".',
        show_default=False,
    ),
]


def _plain(value: Any) -> Any:
    """Return `value` as JSON can hold it: numpy scalars as Python numbers, paths as text, NaN as null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not (abs(value) < float("inf")):
        return None
    if isinstance(value, Path):
        return str(value)
    return value


def _say_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout."""
    _say(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def _placed(source: str) -> Iterator[None]:
    """Give scenario errors that name no file the name of the one being worked on."""
    try:
        yield
    except ScenarioError as error:
        raise (error if error.source or not source else error.at(source=source)) from None
    except UnknownRulesetError as error:
        raise UnknownRulesetError(f"{source}: {error}" if source else str(error)) from None


def _quoted(text: str) -> str:
    """Return what was given, in quotes and cut to a readable length."""
    from simcore.model import shown

    return shown(text)


def _parsed(setting: str, option: str = "--set") -> tuple[str, Any]:
    """Split ``key=value`` of an option; the value is TOML, or a bare word that is taken as text."""
    key, equals, text = setting.partition("=")
    key = key.strip()
    if not equals or not key:
        raise ScenarioError(f"{_quoted(setting)} is not of the form KEY=VALUE", field=option)
    try:
        read = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return key, text.strip()
    except (RecursionError, ValueError) as problem:  # lists in lists without end, endless numbers
        raise ScenarioError(f"{_quoted(setting)} cannot be read: {problem}", field=option) from None
    if set(read) != {"value"}:
        raise ScenarioError(f"{_quoted(setting)} sets more than one value", field=option)
    return key, read["value"]


def _apply(data: dict[str, Any], settings: list[str] | None) -> None:
    """Write the values of ``--set`` into `data`, in place; a path may use quotes as TOML does."""
    from simcore.scenario import check_bounds

    for setting in settings or ():
        key, value = _parsed(setting)
        try:
            parts: Any = tomllib.loads(f"{key} = 0")
        except (tomllib.TOMLDecodeError, RecursionError):
            raise ScenarioError(f"{_quoted(key)} is not a dotted path", field="--set") from None
        table = data
        while True:
            ((name, parts),) = parts.items()
            if parts == 0:
                table[name] = value
                break
            inner = table.setdefault(name, {})
            if not isinstance(inner, dict):
                raise ScenarioError(f'"{key}" reaches into a value that is not a table', field="--set")
            table = inner
    if settings:
        check_bounds(data)


def _beside(path: Path, name: object) -> object:
    """Return the name of an edition file as seen from here instead of from the folder of `path`."""
    return str(path.parent / name) if isinstance(name, str) else name


def _scenario(
    units: list[str],
    *,
    ruleset: str | None,
    edition: str | None,
    edition_file: Path | None,
    settings: list[str] | None,
) -> tuple[dict[str, Any], str]:
    """Read a scenario file, or make a scenario of two unit lists, and lay the options over it.

    Returns
    -------
    data : dict
        The scenario, not checked yet.
    source : str
        File name for error messages; empty for unit lists.
    """
    from simcore.scenario import read_toml
    from simcore.sharing import is_shared, unshare

    source = ""
    if len(units) == 1 and is_shared(units[0]):
        data, source = unshare(units[0]), "shared scenario"
    elif len(units) == 1:
        path = Path(units[0])
        if re.match(r"\s*\d+\s*[A-Za-z]", units[0]) and not path.exists():
            raise ScenarioError(f'only one unit list, "{units[0]}": give the defender\'s too, or a file')
        data, source = read_toml(path), units[0]
        if "edition_file" in data:
            data["edition_file"] = _beside(path, data["edition_file"])
    elif len(units) == len(_SIDES):
        if any(text.endswith(".toml") for text in units):
            raise ScenarioError("give one scenario file, or two unit lists")
        data = {side: {"units": text} for side, text in zip(_SIDES, units, strict=True)}
    else:
        raise ScenarioError(f"give one scenario file, or two unit lists in quotes; got {len(units)} arguments")
    for key, value in (("ruleset", ruleset), ("edition", edition)):
        if value is not None:
            data[key] = value
    if edition_file is not None:
        data["edition_file"] = str(edition_file)
    _apply(data, settings)
    return data, source


def _numbers(battles: int | None, seed: int | None) -> dict[str, Any]:
    """Return the options that were given; the Python functions have the defaults."""
    given = {"battles": battles, "seed": seed}
    return {name: value for name, value in given.items() if value is not None}


def _check(data: Mapping[str, Any], source: str) -> ScenarioModel:
    """Check a scenario before anything is compiled, and name its file where it is wrong."""
    from simcore.scenario import load_scenario

    with _placed(source):
        return load_scenario(data)


def _announce_compilation() -> None:
    """Say what the first run after an installation waits for."""
    from simcore.core.jit import is_cache_cold

    if is_cache_cold():
        _note("compiling the battle kernels once (about 20 s; cached afterwards) ...")


def _print_version(wanted: bool) -> None:
    """Answer ``--version``."""
    if wanted:
        _say(f"simcore {simcore.__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Battle odds, nightly sweeps and balance statistics. Results go to stdout, progress to stderr."""


@app.command(cls=_Battle)
def odds(
    units: _Units,
    *,
    ruleset: _RulesetName = None,
    edition: _Edition = None,
    edition_file: _EditionFile = None,
    battles: _Battles = None,
    seed: _Seed = None,
    pairing: _Pairing = Pairing.MATCHUP,
    method: Annotated[
        Method,
        typer.Option(
            help="exact: solve the battle; simulate: fight battles; auto: solve it where that takes a second."
        ),
    ] = Method.AUTO,
    distribution: Annotated[
        bool, typer.Option("--distribution", help="Every way in which a battle that is solved may end.")
    ] = False,
    threads: _Threads = None,
    settings: _Settings = None,
    as_json: _Json = False,
) -> None:
    """Who wins one battle, how often and at what cost."""
    data, source = _scenario(units, ruleset=ruleset, edition=edition, edition_file=edition_file, settings=settings)
    _check(data, source)
    _announce_compilation()
    result = simcore.odds(
        scenario=data,
        method=method,
        distribution=distribution,
        pairing=pairing,
        threads=threads,
        **_numbers(battles, seed),
    )
    if as_json:
        _say_json(result.to_dict())
    else:
        _say(str(result))


@app.command(cls=_Battle)
def replay(
    units: _Units,
    *,
    battle: Annotated[int, typer.Option(min=0, max=2**62, metavar="N", help="Number of the battle, from 0.")] = 0,
    ruleset: _RulesetName = None,
    edition: _Edition = None,
    edition_file: _EditionFile = None,
    seed: _Seed = None,
    pairing: _Pairing = Pairing.MATCHUP,
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
    settings: _Settings = None,
    as_json: _Json = False,
) -> None:
    """Tell one battle step by step, the same battle that a sweep or odds counted."""
    data, source = _scenario(units, ruleset=ruleset, edition=edition, edition_file=edition_file, settings=settings)
    from analysis import script as scripts

    hits: list[int] | None = None
    if script is not None and script_file is not None:
        raise ScenarioError("give either --script or --script-file", field="--script-file")
    if script is not None:
        hits = scripts.parse_script(script, field="--script")
    elif script_file is not None:
        hits = scripts.read_script(script_file)
    scenario = _check(data, source)
    _announce_compilation()
    story = simcore.replay(scenario, battle=battle, pairing=pairing, script=hits, **_numbers(None, seed))
    if write_script is not None:
        scripts.write_script(write_script, story.draws, story.lines[0])
    if as_json:
        _say_json(story.to_dict())
    else:
        _say(story.to_text())


def _present(
    folder: Path, *, page: Path | None, report_wanted: bool, as_json: bool, against: Path | None = None
) -> None:
    """Print the summary of a finished sweep, write its report and say where everything lies."""
    import analysis

    again = f"the tables are complete, go on with: simcore report {_shown(folder)}"
    summary: Summary | None = None
    written: Path | None = None
    try:
        summary = analysis.summarize(folder)
        if not as_json:
            _say(summary.to_text(_columns()) + "\n")
        if report_wanted:
            written = analysis.report(summary, out=page, against=against)
    except KeyboardInterrupt:
        _stop(f"interrupted; {again}", _RESUMABLE)
    except StoreError as error:
        # A place that the user chose may be wrong for good, as a folder that cannot be read.
        if summary is not None and page is None and isinstance(error.__cause__, OSError):
            _stop(f"{error}; {again}", _RESUMABLE)
        raise
    tables = {table: folder / f"{table}.parquet" for table in _TABLES}
    if as_json:
        _say_json({"folder": folder, "tables": tables, "report": written, **summary.to_dict()})
        return
    for path in [*tables.values(), *([written] if written is not None else [])]:
        _say(str(path))


def _shown(path: Path) -> str:
    """Return a path as it can be typed in a shell."""
    return shlex.quote(str(path))


def _manifest(folder: Path) -> dict[str, Any]:
    """Read what a results folder was made with, whether the sweep is finished or not."""
    from simcore.run.manifest import DamagedManifestError, parse_manifest

    path = folder / "manifest.json"
    try:
        content = parse_manifest(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None
    except DamagedManifestError as error:
        raise StoreError(f"{path}: damaged ({error})") from None
    if "schema" not in content:
        raise StoreError(f"{path}: damaged, not the manifest of a sweep")
    return content


def _is_resumable(folder: Path) -> bool:
    """Return True when `folder` holds a sweep that was begun and not finished."""
    try:
        return _manifest(folder).get("state") == "running"
    except StoreError:
        return False


@contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """End with exit code 3 and the command to go on with when a run stops half-way."""
    try:
        yield
    except KeyboardInterrupt:
        if _is_resumable(folder):
            _stop(f"interrupted; continue with: simcore resume {_shown(folder)}", _RESUMABLE)
        _stop("interrupted before anything was stored", _RESUMABLE)
    except ClusterError as error:
        if _is_resumable(folder):
            _stop(f"{error}; continue with: simcore resume {_shown(folder)}", _RESUMABLE)
        raise
    except StoreError as error:
        # Without an error of the operating system behind it, going on would only fail again.
        if isinstance(error.__cause__, OSError) and _is_resumable(folder):
            _stop(f"{error}; continue with: simcore resume {_shown(folder)}", _RESUMABLE)
        raise


class _Progress:
    """Progress of a sweep; also says what a first run waits for, when all of its input is checked."""

    def __init__(self) -> None:
        from simcore.run.progress import choose_progress

        self._shown = choose_progress(asked=True)

    def start(self, name: str, total: int, unit: str) -> None:
        """Begin, just before the first battle."""
        _announce_compilation()
        self._shown.start(name, total, unit)

    def advance(self, done: float, *, is_new: bool) -> None:
        """Count what is done."""
        self._shown.advance(done, is_new=is_new)

    def stop(self) -> None:
        """End, at the last battle or earlier."""
        self._shown.stop()


def _read_sweep(file: Path, settings: list[str] | None, **numbers: float | None) -> dict[str, Any]:
    """Read a sweep file and lay the options over it."""
    from simcore.scenario import read_toml

    data = read_toml(file)
    table = data.get("sweep")
    if isinstance(table, dict):
        if "edition_file" in table:
            table["edition_file"] = _beside(file, table["edition_file"])
        table |= {name: value for name, value in numbers.items() if value is not None}
    _apply(data, settings)
    return data


def _finish(run: SweepResult, source: str, *, report_wanted: bool, as_json: bool) -> None:
    """Present a finished sweep; exit code 2 when matchups failed."""
    for line in run.reports:
        _note(f"warning: {line}")
    if run.imprecise:
        _note(
            f"warning: {run.imprecise:,} of {run.matchups:,} matchups have as many battles as are allowed and are not "
            "as precise as asked for; give more with: --battles N --top-up"
        )
    _present(run.out, page=None, report_wanted=report_wanted, as_json=as_json)
    if run.failed:
        _stop(
            f"{source}: {run.failed:,} of {run.matchups:,} matchups failed; "
            f'the column "error" of {run.out / "matchups.parquet"} says why'
        )


def _estimate(config: SweepFile, *, threads: int | None, as_json: bool) -> None:
    """Print what a sweep would take."""
    from simcore.run.estimate import estimate_sweep
    from simcore.run.plan import plan_sweep

    plan = plan_sweep(config)
    _announce_compilation()
    found = estimate_sweep(plan, threads)
    if as_json:
        _say_json(found.to_dict())
    else:
        _say(str(found))


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="The sweep file.", show_default=False)],
    *,
    out: _Out = None,
    resume: Annotated[
        bool,
        typer.Option("--resume/--fresh", help="Go on with what the folder holds, or compute all of it anew."),
    ] = True,
    top_up: Annotated[
        bool,
        typer.Option("--top-up", help="Add battles to a folder that was asked for fewer, or for a coarser precision."),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say how many matchups there are and what they would take; store nothing."),
    ] = False,
    battles: _SweepBattles = None,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Half-width at 95 % to which every outcome share is brought, as 0.001; --battles is then the most.",
            show_default="as the file says",
        ),
    ] = None,
    seed: _SweepSeed = None,
    threads: _Threads = None,
    scheduler: _Scheduler = None,
    workers: _Workers = None,
    settings: _SweepSettings = None,
    report_wanted: _Report = True,
    as_json: _Json = False,
) -> None:
    """Run all matchups of a sweep file: Parquet tables, a summary and an HTML report."""
    from simcore.run.executor import check_choice
    from simcore.run.session import results_folder
    from simcore.scenario import load_sweep

    data = _read_sweep(file, settings, battles=battles, seed=seed, precision=precision)
    with _placed(str(file)):
        config = load_sweep(data, source=str(file))
        folder = results_folder(config, out)
        if dry_run:
            check_choice(threads, scheduler, workers)
            _estimate(config, threads=threads, as_json=as_json)
            return
        with _resumable(folder):
            run = simcore.sweep(
                config,
                folder,
                resume=resume,
                top_up=top_up,
                threads=threads,
                scheduler=scheduler,
                workers=workers,
                progress=_Progress(),
            )
    _finish(run, str(file), report_wanted=report_wanted, as_json=as_json)


@app.command("resume")
def resume_sweep(
    folder: _Folder,
    *,
    threads: _Threads = None,
    scheduler: _Scheduler = None,
    workers: _Workers = None,
    report_wanted: _Report = True,
    as_json: _Json = False,
) -> None:
    """Go on with an interrupted sweep; the result is the same as that of an undisturbed run."""
    from simcore.run.session import resume

    with _resumable(folder):
        run = resume(folder, threads=threads, scheduler=scheduler, workers=workers, progress=_Progress())
    _finish(run, str(folder), report_wanted=report_wanted, as_json=as_json)


@app.command()
def nightly(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="The sweep file.", show_default=False)],
    *,
    results: Annotated[
        Path, typer.Option(metavar="DIR", parser=_place, help="Where the runs of all sweeps lie.")
    ] = Path("nights"),
    gates: _Gates = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Compare with this run.", show_default="the newest earlier run"),
    ] = None,
    battles: _SweepBattles = None,
    seed: _SweepSeed = None,
    threads: _Threads = None,
    settings: _SweepSettings = None,
    as_json: _Json = False,
) -> None:
    """Run or resume tonight's sweep, compare it with the run before, and judge it by its gates."""
    from datetime import UTC, datetime

    from analysis import night as nights
    from analysis.frames import load
    from analysis.gate import read_gates
    from simcore.run.session import results_folder
    from simcore.scenario import load_sweep

    limits = read_gates(gates) if gates is not None else None
    data = _read_sweep(file, settings, battles=battles, seed=seed)
    with _placed(str(file)):
        config = load_sweep(data, source=str(file))
        if against is not None:
            load(against)  # what cannot be compared with is to be known before a night is spent
        root = results_folder(config, results) / config.sweep.name
        today = datetime.now(UTC).astimezone().date()
        with nights.begin_night(root, today) as opened, _again(root):

            def resolve(config: Any, folder: Path) -> SweepResult:
                return simcore.sweep(config, folder, threads=threads, progress=_Progress())

            night, run, notes = nights.run_night(root, opened, config, today, resolve)
            for line in run.reports:
                _note(f"warning: {line}")
            outcome = nights.finish_night(root, night, failed=run.failed, gates=limits, against=against, notes=notes)
    if as_json:
        _say_json(nights.as_dict(night, outcome))
    else:
        _say(nights.plain_text(night, outcome, _columns()))
    if outcome.code:
        _stop(nights.reason(outcome, str(file)), outcome.code)


@contextmanager
def _again(root: Path) -> Iterator[None]:
    """End with exit code 3 when a nightly run stops half-way."""
    advice = "the same command goes on with this run"
    try:
        yield
    except KeyboardInterrupt:
        _stop(f"interrupted; {advice}", _RESUMABLE)
    except StoreError as error:
        # Without an error of the operating system behind it, going on would only fail again.
        if isinstance(error.__cause__, OSError) and root.is_dir():
            _stop(f"{error}; {advice}", _RESUMABLE)
        raise


@app.command()
def merge(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", parser=_place, help="Results folders of finished sweeps.", show_default=False
        ),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", parser=_place, help="Folder of the results, new or made by the same merge."),
    ],
    name: Annotated[str | None, typer.Option(help="Name of the merged run.", show_default="that of the first")] = None,
    report_wanted: _Report = True,
    as_json: _Json = False,
) -> None:
    """Combine runs of the same rules: other matchups, or the same with another seed; no battle counts twice."""
    from simcore.run.merge import merge_runs
    from simcore.run.store import is_out_of_room

    again = "give the same command again"
    try:
        run = merge_runs(folders, out, name=name)
    except KeyboardInterrupt:
        _stop(f"interrupted before the merged run was complete; {again}", _RESUMABLE)
    except StoreError as error:
        if is_out_of_room(error):
            _stop(f"{error}; {again}", _RESUMABLE)
        raise
    _finish(run, str(out), report_wanted=report_wanted, as_json=as_json)


@app.command("report")
def write_report(
    folder: _Folder,
    out: Annotated[
        Path | None,
        typer.Option(parser=_place, help="Where to write the page.", show_default="report.html in the folder"),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="An earlier run to compare with, in a section of its own.", show_default=False
        ),
    ] = None,
    as_json: _Json = False,
) -> None:
    """Write the HTML report of a finished sweep, and print its summary."""
    _present(folder, page=out, report_wanted=True, as_json=as_json, against=against)


def _columns() -> int:
    """Return how wide a text may be."""
    return min(shutil.get_terminal_size().columns, _WIDEST) if sys.stdout.isatty() else _NARROW


def _sizes(given: list[str] | None) -> dict[str, Any]:
    """Read the sizes that matter."""
    found: dict[str, Any] = {}
    for text in given or ():
        kind, equals, number = text.partition("=")
        try:
            found[kind.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise ScenarioError(f'"{text}" is not of the form KIND=NUMBER, as in share=0.02', field="--practical")
    return found


def _between(text: str | None) -> tuple[str, list[Any]] | None:
    """Read a grid key and two of its values."""
    if text is None:
        return None
    key, _, _ = text.partition("=")
    values = _parsed(text, "--between")[1]
    if not isinstance(values, list):
        raise ScenarioError(f"needs two values of {key.strip()}, as in KEY=[5, 6]", field="--between")
    return key.strip(), values


@app.command("compare")
def compare_runs(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="Results folder to compare with.", show_default=False)],
    second: Annotated[
        Path | None, typer.Argument(metavar="[SECOND]", help="Results folder that is compared.", show_default=False)
    ] = None,
    *,
    between: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=[A,B]", help="Two grid points of one run: 'edition.tank.cost=[5, 6]'.", show_default=False
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Metric to compare; may be repeated.", show_default="six of them"),
    ] = None,
    practical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=NUMBER",
            help="Size that matters of a share, a cost or a length; may be repeated.",
            show_default="share=0.01, cost=0.01, length=0.1",
        ),
    ] = None,
    fdr: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="False discoveries that are accepted.", show_default="0.05"),
    ] = None,
    correction: Annotated[
        Correction | None, typer.Option(help="How many tests at once are adjusted for.", show_default="auto")
    ] = None,
    gates: _Gates = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: _Json = False,
) -> None:
    """Tell what changed between two runs, or between two grid points of one, and how sure that is."""
    import analysis

    if as_markdown and as_json:
        raise ScenarioError("give either --markdown or --json", field="--markdown")
    from analysis.contrast import gate_lines
    from analysis.gate import judge, read_gates

    limits = read_gates(gates) if gates is not None else None
    options: dict[str, Any] = limits.compare.options() if limits is not None else {}
    given = {"metrics": metric, "fdr": fdr, "correction": None if correction is None else correction.value}
    options |= {name: value for name, value in given.items() if value is not None}
    options["practical"] = {**options.get("practical", {}), **_sizes(practical)}
    found = analysis.compare(first, second, between=_between(between), **options)
    judgements = judge(found, limits) if limits is not None else ()
    if as_json:
        _say_json({**found.to_dict(), "gates": [judgement.to_dict() for judgement in judgements]})
    elif as_markdown:
        _say("\n".join([found.to_markdown(), *gate_lines(judgements)]).rstrip("\n"))
    else:
        _say("\n".join([found.to_text(_columns()), *(["", *[j.text for j in judgements]] if judgements else [])]))
    failed = [judgement for judgement in judgements if not judgement.is_kept]
    if failed:
        _stop("; ".join(judgement.text for judgement in failed), _GATE_FAILED)


class Payoff(StrEnum):
    """What a game between mixes is played for."""

    WIN_SHARE = "win_share"
    LEAD = "lead"
    SWING = "swing"


@app.command("game")
def solve_game(
    folder: _Folder,
    *,
    payoff: Annotated[
        Payoff,
        typer.Option(help="What the attacker wants: his share of wins, his lead over the defender's, his swing."),
    ] = Payoff.WIN_SHARE,
    point: Annotated[int, typer.Option(min=0, metavar="N", help="Grid point, from 0.")] = 0,
    samples: Annotated[
        int | None,
        typer.Option(
            min=0, max=10_000, metavar="N", help="Games drawn anew for the intervals.", show_default="up to 100"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, metavar="N", help="Seed of these draws.")] = 1,
    as_json: _Json = False,
) -> None:
    """Show which mixes of a finished sweep best play picks, which are dominated, and a rating of each."""
    import analysis

    found = analysis.game(folder, payoff=payoff, point=point, samples=samples, seed=seed)
    if as_json:
        _say_json(found.to_dict())
    else:
        _say(found.to_text(_columns()))


class Side(StrEnum):
    """A side of a battle."""

    ATTACKER = "attacker"
    DEFENDER = "defender"


class Goal(StrEnum):
    """What a mix has to do."""

    WIN = "win"
    CAPTURE = "capture"
    HOLD = "hold"


_ScenarioFile = Annotated[
    Path | None,
    typer.Option(
        "--scenario", help="Scenario file with rules and policies; its units are ignored.", show_default=False
    ),
]


def _listed(text: str | None) -> list[str] | None:
    """Split a list of names."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _rules(
    file: Path | None,
    *,
    ruleset: str | None,
    edition: str | None,
    edition_file: Path | None,
    settings: list[str] | None,
) -> dict[str, Any]:
    """Return a scenario's table without units, from a file and options."""
    from simcore.scenario import read_toml

    data: dict[str, Any] = {} if file is None else read_toml(file)
    if file is not None and "edition_file" in data:
        data["edition_file"] = _beside(file, data["edition_file"])
    given = {"ruleset": ruleset, "edition": edition, "edition_file": edition_file and str(edition_file)}
    data |= {key: value for key, value in given.items() if value is not None}
    _apply(data, settings)
    return data


@app.command("price")
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
    scenario: _ScenarioFile = None,
    ruleset: _RulesetName = None,
    edition: _Edition = None,
    edition_file: _EditionFile = None,
    settings: _Settings = None,
    as_json: _Json = False,
) -> None:
    """Say what units would have to cost for their equal-cost duels to be even."""
    import analysis

    numbers = []
    for part in _listed(sizes) or []:
        if not (part.isascii() and part.isdecimal() and len(part) <= _LONGEST_SIZE):
            raise ScenarioError(f"must be whole numbers apart by commas, got {_quoted(part)}", field="--sizes")
        numbers.append(int(part))
    rules = _rules(scenario, ruleset=ruleset, edition=edition, edition_file=edition_file, settings=settings)
    if folder is not None:
        from analysis.pricing import price_run

        if rules:
            raise ScenarioError("a sweep has its own rules; leave them out, or the folder")
        run = analysis.load(folder)
        _announce_compilation()
        found = price_run(run, units=_listed(units), against=_listed(against), sizes=numbers)
    else:
        _announce_compilation()
        found = analysis.price(_listed(units), against=_listed(against), sizes=numbers, scenario=rules)
    if as_json:
        _say_json(found.to_dict())
    else:
        _say(found.to_text(_columns()))


@app.command("value", cls=_Battle)
def unit_value(
    battle: _Units,
    *,
    side: Annotated[Side, typer.Option(help="Whose units.")] = Side.ATTACKER,
    units: Annotated[
        str | None, typer.Option(help='Units to add: "tank, fighter".', show_default="all that the side may have")
    ] = None,
    ruleset: _RulesetName = None,
    edition: _Edition = None,
    edition_file: _EditionFile = None,
    settings: _Settings = None,
    as_json: _Json = False,
) -> None:
    """Say what one more of each unit adds to a side, and how much the order of losses matters."""
    import analysis

    data, source = _scenario(battle, ruleset=ruleset, edition=edition, edition_file=edition_file, settings=settings)
    _check(data, source)
    _announce_compilation()
    with _placed(source):
        found = analysis.value(scenario=data, side=side, units=_listed(units))
    if as_json:
        _say_json(found.to_dict())
    else:
        _say(found.to_text(_columns()))


def _weighted(text: str) -> dict[str, Any]:
    """Read an enemy: a unit list, or "2 * unit list" for a weight of 2."""
    weight, star, rest = text.partition("*")
    try:
        return {"units": rest.strip(), "weight": float(weight)} if star else {"units": text}
    except ValueError:
        return {"units": text}


@app.command("need", cls=_Battle)
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
        Goal, typer.Option(help="win; capture (as attacker); hold: keep the attacker from capturing.")
    ] = Goal.WIN,
    side: Annotated[Side, typer.Option(help="Whose mixes are looked for.")] = Side.ATTACKER,
    each: Annotated[
        bool, typer.Option("--each", help="Ask for the chance against every enemy, not on average.")
    ] = False,
    max_cost: Annotated[
        int | None, typer.Option(help="Most that a mix may cost.", show_default="3 times the dearest enemy")
    ] = None,
    max_units: Annotated[int, typer.Option(help="Most units of a mix.")] = 40,
    scenario: _ScenarioFile = None,
    ruleset: _RulesetName = None,
    edition: _Edition = None,
    edition_file: _EditionFile = None,
    settings: _Settings = None,
    as_json: _Json = False,
) -> None:
    """Find the cheapest mixes of some units that win, capture or hold with at least a stated chance."""
    import analysis

    rules = _rules(scenario, ruleset=ruleset, edition=edition, edition_file=edition_file, settings=settings)
    _announce_compilation()
    found = analysis.need(
        _listed(units) or [],
        [_weighted(enemy) for enemy in enemies],
        chance=chance,
        goal=goal,
        side=side,
        each=each,
        max_cost=max_cost,
        max_units=max_units,
        scenario=rules,
    )
    if as_json:
        _say_json(found.to_dict())
    else:
        _say(found.to_text(_columns()))


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Lay out rows under a header: the first column to the left, the others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


@app.command("export")
def export_tables(
    folder: _Folder,
    *,
    table: Annotated[
        str | None,
        typer.Option(
            help="matchups, mixes, survivors, game, restricted, residuals; comparison with --against.",
            show_default="all of them",
        ),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How tables are written.")] = Form.CSV,
    out: Annotated[
        Path | None,
        typer.Option(parser=_place, help="File to write, or folder for all tables.", show_default="standard output"),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="An earlier run, for the comparison.", show_default=False)
    ] = None,
) -> None:
    """Write the tables of a finished sweep as CSV or JSON."""
    import analysis
    from analysis.exporting import TABLES, table_of, write_table

    summary = analysis.summarize(folder)
    comparison = analysis.compare(against, summary.run) if against is not None else None
    if table is not None:
        frame = table_of(table, summary, comparison)
        if out is None:
            write_table(frame, sys.stdout, form.value)
            return
        with _written(out) as file:
            write_table(frame, file, form.value)
        _say(str(out))
        return
    if out is None:
        raise ScenarioError("needs --out with a folder, or one --table", field="--table")
    out.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        if name == "comparison" and comparison is None:
            continue
        path = out / f"{name}.{form.value}"
        try:
            frame = table_of(name, summary, comparison)
        except ScenarioError as error:  # a run may have no game, and has its other tables all the same
            _note(f"warning: {path.name} is left out: {error}")
            continue
        with _written(path) as file:
            write_table(frame, file, form.value)
        _say(str(path))


@contextmanager
def _written(path: Path) -> Iterator[IO[str]]:
    """Open a temporary file that takes the place of `path` when all of it is written."""
    if not path.name:
        raise StoreError(f"{path}: cannot be written: is a folder, not a file")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", errors="replace", newline="") as file:
            yield file
        temporary.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


@app.command("share", cls=_Battle)
def share_scenario(
    units: _Units,
    *,
    ruleset: _RulesetName = None,
    edition: _Edition = None,
    edition_file: _EditionFile = None,
    settings: _Settings = None,
    as_json: _Json = False,
) -> None:
    """Print a scenario as a short string that odds, replay and share take in place of a file."""
    from simcore.sharing import share

    data, source = _scenario(units, ruleset=ruleset, edition=edition, edition_file=edition_file, settings=settings)
    with _placed(source):
        text = share(data)
    if as_json:
        from simcore.sharing import unshare

        _say_json({"shared": text, "scenario": unshare(text)})
    else:
        _say(text)


@app.command()
def rulesets(
    ruleset: Annotated[
        str | None, typer.Argument(metavar="[RULESET]", help="Show one in detail.", show_default=False)
    ] = None,
    edition: _Edition = None,
    edition_file: _EditionFile = None,
    as_json: _Json = False,
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
        _say_json(found)
        return
    for name, facts in found.items():
        _say(f"{name}  {facts['title']} (version {facts['version']})")
        for known, title in facts["editions"].items():
            default = " (default)" if known == facts["default_edition"] else ""
            _say(f"  {known:<14}  {title}{default}")


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
        _say_json({"ruleset": ruleset, **chosen})
        return
    dice = f"; dice with {chosen['dice_sides']} sides" if "dice_sides" in chosen else ""
    _say(f"{ruleset}, edition {name}: {chosen['title']}{dice}\n")
    fields = tuple(next(iter(chosen["units"].values())))
    rows = [
        (unit, *("" if row[field] is None else _cell(row[field]) for field in fields))
        for unit, row in chosen["units"].items()
    ]
    _say(_table(("unit", *fields), rows))
    _say("")
    for switch, value in chosen.get("switches", chosen.get("options", {})).items():
        _say(f"{switch:<20}  {_cell(value)}")


def _cell(value: object) -> str:
    """Return a value of an edition as it would be written in a file, text without quotes."""
    return value if isinstance(value, str) else json.dumps(value)


@app.command()
def schema(
    kind: Annotated[Kind, typer.Argument(help="Which file.", show_default=False)],
    ruleset: _RulesetName = None,
) -> None:
    """Print the JSON Schema of scenario or sweep files, for editors and other programs."""
    from simcore.scenario import scenario_schema, sweep_schema

    if kind == Kind.SWEEP:
        if ruleset is not None:
            raise ScenarioError("all rulesets have the same form of sweep file", field="--ruleset")
        _say_json(sweep_schema())
    else:
        _say_json(scenario_schema() if ruleset is None else scenario_schema(ruleset))


def _facts() -> dict[str, Any]:
    """Collect what a report of a problem should name."""
    from importlib.metadata import version

    from simcore.core import jit
    from simcore.core.threads import usable_threads

    cache = jit.cache_directory()
    files = [path for path in cache.rglob("*") if path.is_file()]
    return {
        "versions": {
            "simcore": simcore.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _LIBRARIES},
        },
        "platform": platform.platform(),
        "sources": jit.source_digest(),
        "cache": {
            "folder": cache,
            "bytes": sum(path.stat().st_size for path in files),
            "compiled": not jit.is_cache_cold(),
        },
        "cpu_threads": usable_threads(),
        "terminal": {
            "stdout": sys.stdout.isatty(),
            "stderr": sys.stderr.isatty(),
            "columns": shutil.get_terminal_size().columns,
            "encoding": sys.stdout.encoding,
        },
    }


@app.command()
def doctor(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]",
            parser=_place,
            help="Say what this sweep was made with, and whether its files are whole.",
            show_default=False,
        ),
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove kernels of other versions.")] = False,
    as_json: _Json = False,
) -> None:
    """Show versions, the folder of compiled kernels, and threads."""
    from simcore.core import jit

    run = None
    if folder is not None:
        from simcore.run.check import check_folder

        run = check_folder(folder)
    pruned = jit.prune_cache() if prune else []
    facts = _facts()
    if run is not None:
        facts["run"] = {key: run.manifest[key] for key in _PROVENANCE if key in run.manifest} | _history(run.manifest)
        facts["files"] = {"parts": run.parts, **run.tables, "problems": run.problems}
    if prune:
        facts["pruned"] = pruned
    if as_json:
        _say_json(facts)
    else:
        _say_facts(facts)
    if folder is not None and run is not None and run.problems:
        for problem in run.problems:
            _note(problem)
        number = len(run.problems)
        mend = "merge it again" if run.manifest.get("merged_from") else f"mend with: simcore resume {_shown(folder)}"
        _stop(f"{folder}: {number} {'problem' if number == 1 else 'problems'} found; {mend}", _RESUMABLE)


def _history(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run was asked for before it was topped up, and which runs it was made of."""
    earlier = [entry for entry in manifest.get("earlier") or () if isinstance(entry, Mapping)]
    merged = [entry for entry in manifest.get("merged_from") or () if isinstance(entry, Mapping)]
    asked = {
        str(number): f"{entry.get('battles')} battles"
        + (f" to a precision of {entry['precision']}" if entry.get("precision") else "")
        for number, entry in enumerate(earlier, 1)
    }
    sources = {str(entry.get("folder")): f"seed {entry.get('seed')}" for entry in merged}
    return {key: value for key, value in (("earlier", asked), ("merged_from", sources)) if value}


def _say_facts(facts: Mapping[str, Any]) -> None:
    """Print what `doctor` found, one fact a line."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            _say(f"{name}:")
            for key, part in value.items():
                if isinstance(part, list):
                    continue  # told at the end
                text = ", ".join(f"{k} {v}" for k, v in part.items()) if isinstance(part, Mapping) else part
                _say(f"  {key:<16} {text}")
        elif isinstance(value, list):
            _say(f"{name + ':':<18} {len(value)} folders")
        else:
            _say(f"{name + ':':<18} {value}")


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Write a warning as one line."""
    _note(f"warning: {message}")


def _close_output(code: int | str | None) -> int | str | None:
    """Flush stdout and return the exit code; a reader that has gone is no error, a full disk is one."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is still buffered can never be written; without this the interpreter would try again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if code == 0 and not isinstance(error, BrokenPipeError):
            _note(f"standard output: {error.strerror}")
            return _BAD_INPUT
    return code


def main() -> NoReturn:
    """Run the console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    warnings.showwarning = _show_warning
    code: int | str | None = 0
    try:
        app(prog_name="simcore")
    except SystemExit as end:
        code = end.code
    sys.exit(_close_output(code))


if __name__ == "__main__":
    main()
