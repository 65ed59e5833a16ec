"""Parts are resolved so that one bad matchup does not stop the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore import api
from simcore.errors import KernelStatusError
from simcore.run.executor import Job, LocalExecutor, resolve_part
from simcore.scenario import load_scenario
from tests.run.sweeps import drawn, planned

if TYPE_CHECKING:
    import pytest

TOTAL = 3_000


def make_job(**changes: Any) -> Job:
    plan = planned()
    (segments,) = plan.parts(drawn)
    fields: dict[str, Any] = {
        "name": "ab" * 32,
        "segments": segments,
        "scenarios": {number: load_scenario(plan.scenario(number)) for number in range(len(plan))},
        "errors": {},
        "battles": TOTAL,
        "seed": 7,
        "pairing": "matchup",
        "ruleset": "general_combat",
    }
    return Job(**{**fields, **changes})


def test_rows_are_the_tallies_of_their_battles() -> None:
    job = make_job()
    rows = resolve_part(job, threads=1)
    assert rows.errors == {}
    assert rows.tallies[:, 0].tolist() == [TOTAL] * 6
    for number, scenario in job.scenarios.items():
        alone = api.simulate(api.encode([scenario]), battles=TOTAL, seed=7, threads=1)
        assert np.array_equal(rows.tallies[number, : alone.tally.shape[1]], alone.tally[0])


def test_jobs_are_resolved_one_by_one() -> None:
    taken = []

    def jobs() -> Any:
        for name in ("a", "b"):
            taken.append(name)
            yield make_job(name=name)

    results = LocalExecutor(threads=1).run(jobs())
    first, _ = next(results)
    assert (first.name, taken) == ("a", ["a"])
    assert [job.name for job, _ in results] == ["b"]


def test_a_matchup_that_could_not_be_parsed_keeps_its_error() -> None:
    job = make_job()
    scenarios = {number: scenario for number, scenario in job.scenarios.items() if number != 2}
    rows = resolve_part(make_job(scenarios=scenarios, errors={2: "no such policy"}), threads=1)
    assert rows.errors == {2: "no such policy"}
    assert not rows.tallies[2].any()
    assert rows.tallies[:, 0].tolist() == [TOTAL, TOTAL, 0, TOTAL, TOTAL, TOTAL]


def test_a_part_without_any_possible_matchup() -> None:
    errors = dict.fromkeys(range(6), "impossible")
    rows = resolve_part(make_job(scenarios={}, errors=errors), threads=1)
    assert rows.errors == errors
    assert not rows.tallies.any()


def test_sums_that_could_overflow_are_refused_for_the_whole_matchup() -> None:
    rows = resolve_part(make_job(battles=10**17), threads=1)
    assert sorted(rows.errors) == list(range(6))
    assert all("must stay below 2^63" in text for text in rows.errors.values())
    assert not rows.tallies.any()


def test_a_battle_that_cannot_be_resolved_fails_its_matchup_only(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = api.tally

    def sometimes(encoded: api.Encoded, segments: npt.NDArray[np.int64], **options: Any) -> npt.NDArray[np.int64]:
        texts = [encoded.scenarios[row].unit_text(0) for row in segments[:, 0]]
        if "2 tank" in texts:
            raise KernelStatusError("RUNAWAY: battle 5")
        return tally(encoded, segments, **options)

    monkeypatch.setattr(api, "tally", sometimes)
    rows = resolve_part(make_job(), threads=1)
    assert rows.errors == {2: "RUNAWAY: battle 5", 3: "RUNAWAY: battle 5"}
    assert rows.tallies[:, 0].tolist() == [TOTAL, TOTAL, 0, 0, TOTAL, TOTAL]


def test_battles_that_went_missing_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = api.tally
    monkeypatch.setattr(api, "tally", lambda *data, **options: tally(*data, **options) // 2)
    rows = resolve_part(make_job(), threads=1)
    assert all("internal error" in text for text in rows.errors.values())
    assert len(rows.errors) == 6
