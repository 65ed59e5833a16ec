"""The battle systems, one folder each; `simcore.registry` finds them by name."""
