"""Tests of sweeps: plan, store, tables, resumption."""
