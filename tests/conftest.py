"""Settings shared by all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# The same examples on every run, and no time limits: the machines that run the tests are shared.
settings.register_profile("default", derandomize=True, deadline=None, database=None, max_examples=50)
settings.register_profile("nightly", derandomize=False, deadline=None, max_examples=500, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
