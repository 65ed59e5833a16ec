"""The verb ``report``: one HTML file that needs nothing else, not even a network.

The page's content security policy allows exactly the scripts written here, by their digests, and no request of
any kind; so text that reached the page unescaped by mistake could still do nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from analysis.balance import Summary, summarize
from analysis.comparison import Comparison, compare
from analysis.reporting.content import page_content
from analysis.reporting.contrast import comparison_content
from analysis.writing import replacing
from simcore.argument import check_path
from simcore.errors import StoreError

if TYPE_CHECKING:
    from os import PathLike

    from analysis.frames import Run

__all__ = ["embedded_json", "render", "report"]

_TEMPLATES = Path(__file__).parent / "templates"
_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def report(
    folder: str | PathLike[str] | Run | Summary,
    out: str | PathLike[str] | None = None,
    *,
    against: str | PathLike[str] | Run | Comparison | None = None,
) -> Path:
    """Write the report of a run.

    Parameters
    ----------
    folder : path, Run or Summary
        A results folder, or what was made of it.
    out : path, optional
        The file to write; ``report.html`` in the results folder when left out.
    against : path, Run or Comparison, optional
        An earlier run to compare with, or a comparison that was already made.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    StoreError
        If the folder cannot be read or the file cannot be written.

    Examples
    --------
    >>> report("results/land-30")  # doctest: +SKIP
    PosixPath('results/land-30/report.html')
    """
    summary = folder if isinstance(folder, Summary) else summarize(folder)
    target = summary.run.path / "report.html" if out is None else check_path(out, "out", "a file")
    comparison = against if against is None or isinstance(against, Comparison) else compare(against, summary.run)
    if not target.name:
        raise StoreError(f"{target}: cannot be written: is a folder, not a file")
    page = render(summary, comparison)
    with replacing(target) as file:
        file.write(page.encode("utf-8", errors="replace"))
    return target


def render(summary: Summary, comparison: Comparison | None = None) -> str:
    """Return the report as HTML text.

    Parameters
    ----------
    summary : Summary
        From :func:`analysis.summarize`.
    comparison : Comparison, optional
        With another run.

    Returns
    -------
    str
    """
    scripts = {"plotly": _script(get_plotlyjs()), "page": _script((_TEMPLATES / "report.js").read_text("utf-8"))}
    return (
        _environment()
        .get_template("report.html")
        .render(
            **page_content(summary),
            comparison=comparison_content(comparison),
            style=Markup((_TEMPLATES / "report.css").read_text("utf-8")),  # noqa: S704 - our own file
            scripts={name: Markup(text) for name, text in scripts.items()},  # noqa: S704 - our own and plotly's
            policy=_policy(scripts.values()),
        )
    )


@cache
def _environment() -> Environment:
    """Return what reads the templates; they are compiled once."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["embedded"] = embedded_json
    return environment


def embedded_json(value: Any) -> Markup:
    r"""Return JSON that may stand inside a script element: nothing in it can end the element.

    Parameters
    ----------
    value : JSON-able
        NaN is refused.

    Examples
    --------
    >>> print(embedded_json("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_ESCAPES))  # noqa: S704 - escaped just now


def _script(text: str) -> str:
    """Return a script as the browser will see it, which is what its digest is taken of."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # "<\\/script" is the same to JavaScript and does not end the element.
    return text.replace("</script", "<\\/script")


def _policy(scripts: Any) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
