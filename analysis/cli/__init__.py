"""The console script ``simcore``.

Verbs lie in modules by what they are about: `battle` (odds, replay, share), `campaign` (sweep, resume, merge),
`evening` (nightly), `presentation` (report), `contrast` (compare), `balance` (game, price, value, need), `table`
(export), `catalogue` (rulesets, schema) and `health` (doctor). They share how options are declared (`option`,
`spread`), how input is read (`reading`) and how the user is spoken to (`console`); `program` puts them together.

Everything heavy (numba, pandas, pydantic, pyarrow) is imported inside the functions, so that ``--help`` and shell
completion answer at once. Results go to stdout; progress, warnings and errors go to stderr, so that the output of
``--json`` can be piped on. Exit codes: 0 done, 2 the input cannot be used, 3 incomplete but resumable, 4 a gate failed,
1 a bug.
"""

from __future__ import annotations

from analysis.cli.program import app, main

__all__ = ["app", "main"]
