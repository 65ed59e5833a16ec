"""The battle systems, one folder each; `simcore.registry` finds them by name.

The folder has the name of the public verb ``simcore.rulesets()``, and importing a package binds its name in
its parent. So that the verb stays the verb whatever was imported first, the package itself can be called.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self) -> dict[str, dict[str, Any]]:
        """Return what ``simcore.api.rulesets()`` returns."""
        # By name: the package lies below the module that it hands over to.
        found: dict[str, dict[str, Any]] = importlib.import_module("simcore.api").rulesets()
        return found


sys.modules[__name__].__class__ = _CallablePackage
