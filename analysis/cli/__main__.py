"""``python -m analysis.cli`` is the console script too."""

from __future__ import annotations

from analysis.cli.program import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
