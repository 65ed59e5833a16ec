"""The program: its verbs in the order of the help, and what becomes of errors."""

import io
import os
import re
import sys
import warnings
from typing import Annotated, Any, Final, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

import simcore
from analysis.cli import balance, battle, campaign, catalogue, contrast, evening, health, presentation, table
from analysis.cli.console import BAD_INPUT, RESUMABLE, note, say, stop
from analysis.cli.spread import spread
from simcore.errors import SimcoreError

__all__ = ["app", "main"]

_NEGATIVE: Final = re.compile(r"-[\d.]+(\s*[^\W\d]|\s*\*)")


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
            stop(error)
        except KeyboardInterrupt:
            stop("interrupted", RESUMABLE)
        except typer.BadParameter as error:
            message = _reworded(error.format_message())
            stop(f"{ctx.info_name} {ctx.invoked_subcommand}: {message}")
        except BrokenPipeError:
            raise typer.Exit from None  # the reader has seen enough
        except OSError as error:
            if error.strerror is None:
                raise
            # The only file without a name that a verb writes to.
            stop(f"{error.filename or 'standard output'}: {error.strerror}")


class _BattleCommand(TyperCommand):
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


def _print_version(wanted: bool) -> None:
    """Answer ``--version``."""
    if wanted:
        say(f"simcore {simcore.__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Battle odds, nightly sweeps and balance statistics. Results go to stdout, progress to stderr."""


_VERBS: Final = (
    ("odds", battle.odds, _BattleCommand),
    ("replay", battle.replay, _BattleCommand),
    ("sweep", campaign.sweep, None),
    ("resume", campaign.resume_sweep, None),
    ("nightly", evening.nightly, None),
    ("merge", campaign.merge, None),
    ("report", presentation.write_report, None),
    ("compare", contrast.compare_runs, None),
    ("game", balance.solve_game, None),
    ("price", balance.fair_price, None),
    ("value", balance.unit_value, _BattleCommand),
    ("need", balance.needed, _BattleCommand),
    ("export", table.export_tables, None),
    ("share", battle.share_scenario, _BattleCommand),
    ("rulesets", catalogue.rulesets, None),
    ("schema", catalogue.schema, None),
    ("doctor", health.doctor, None),
)
for _name, _verb, _kind in _VERBS:
    app.command(_name, cls=_kind)(spread(_verb))


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Write a warning as one line."""
    note(f"warning: {message}")


def _close_output(code: int | str | None) -> int | str | None:
    """Flush stdout and return the exit code; a reader that has gone is no error, a full disk is one."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is still buffered can never be written; without this the interpreter would try again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if code == 0 and not isinstance(error, BrokenPipeError):
            note(f"standard output: {error.strerror}")
            return BAD_INPUT
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
