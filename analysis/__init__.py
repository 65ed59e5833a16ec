"""Balance statistics of sweeps: read a results folder, condense it, write a report.

The public names are resolved on first use (PEP 562), so that importing the package, and with it the
command line's ``--help``, loads neither pandas nor plotly.

Examples
--------
>>> import analysis
>>> sorted(analysis.__all__)
['compare', 'game', 'load', 'need', 'price', 'report', 'summarize', 'value']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.balance import summarize
    from analysis.comparison import compare
    from analysis.contest import game
    from analysis.frames import load
    from analysis.marginal import value
    from analysis.pricing import price
    from analysis.reporting.document import report
    from analysis.requirement import need

__all__ = ["compare", "game", "load", "need", "price", "report", "summarize", "value"]

_HOME = {
    "compare": "analysis.comparison",
    "game": "analysis.contest",
    "load": "analysis.frames",
    "need": "analysis.requirement",
    "price": "analysis.pricing",
    "report": "analysis.reporting.document",
    "summarize": "analysis.balance",
    "value": "analysis.marginal",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module the first time it is asked for."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names although they are not loaded yet."""
    return sorted({*globals(), *__all__})
