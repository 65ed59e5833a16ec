"""The verb compare."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from analysis.cli import option
from analysis.cli.console import GATE_FAILED, columns, say, say_json, stop
from analysis.cli.delivery import Tables, answer, table_option
from analysis.cli.reading import given, read_setting
from simcore.errors import ScenarioError

__all__ = ["compare_runs"]


def _sizes(texts: list[str] | None) -> dict[str, Any]:
    """Read the sizes that matter."""
    found: dict[str, Any] = {}
    for text in texts or ():
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
    values = read_setting(text, "--between")[1]
    if not isinstance(values, list):
        raise ScenarioError(f"needs two values of {key.strip()}, as in KEY=[5, 6]", field="--between")
    return key.strip(), values


@dataclass(frozen=True, kw_only=True)
class CompareTables(Tables):
    """Tables of a comparison."""

    names: ClassVar = ("comparison", "mix_comparison", "verdicts", "changes")
    table: Annotated[str | None, table_option(*names)] = None


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
        option.Correction | None, typer.Option(help="How many tests at once are adjusted for.", show_default="auto")
    ] = None,
    gates: option.Gates = None,
    tables: CompareTables,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: option.Json = False,
) -> None:
    """Tell what changed between two runs, or between two grid points of one, and how sure that is."""
    import analysis

    if as_markdown and as_json:
        raise ScenarioError("give either --markdown or --json", field="--markdown")
    if as_markdown and tables.are_wanted:
        raise ScenarioError("is a text; leave it out where tables are wanted", field="--markdown")
    tables.check(as_json=as_json)
    from analysis.contrast import gate_lines
    from analysis.gate import judge, read_gates

    limits = read_gates(gates) if gates is not None else None
    options: dict[str, Any] = limits.compare.options() if limits is not None else {}
    options |= given(metrics=metric, fdr=fdr, correction=None if correction is None else correction.value)
    options["practical"] = {**options.get("practical", {}), **_sizes(practical)}
    found = analysis.compare(first, second, between=_between(between), **options)
    judgements = judge(found, limits) if limits is not None else ()
    if tables.are_wanted:
        answer(found, tables, as_json=as_json)
    elif as_json:
        say_json({**found.to_dict(), "gates": [judgement.to_dict() for judgement in judgements]})
    elif as_markdown:
        say("\n".join([found.to_markdown(), *gate_lines(judgements)]).rstrip("\n"))
    else:
        say("\n".join([found.to_text(columns()), *(["", *[j.text for j in judgements]] if judgements else [])]))
    failed = [judgement for judgement in judgements if not judgement.is_kept]
    if failed:
        stop("; ".join(judgement.text for judgement in failed), GATE_FAILED)
