"""The sea reference against the worked figures, and against what holds in every sea battle."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat import reference_sea as sea
from tests.rulesets.general_combat.reference_sea_exact import SeaDistribution, solve_at_sea
from tests.rulesets.general_combat.support import cases
from tests.rulesets.general_combat.test_reference import agrees
from tests.strategies import sea_scenarios

STEPS = {sea.STEP_STRIKE: "strike", ref.STEP_ATTACK: "attack", ref.STEP_DEFENCE: "defence"}
CLASS_AT = {address: kind for kind, address in sea.POOLED.items()}


def at_sea(attacker: str, defender: str, edition: str = "spring1942", **options: Any) -> dict[str, Any]:
    """Return a scenario; the options of a side are given as ``attacker_damaged="1 battleship"``."""
    scenario: dict[str, Any] = {
        "edition": edition,
        "terrain": "sea",
        "attacker": {"units": attacker},
        "defender": {"units": defender},
    }
    for name, value in options.items():
        side, _, field = name.partition("_")
        if side in ref.SIDES:
            scenario[side][field] = value
        else:
            scenario[name] = value
    return scenario


# --------------------------------------------------------------------------------------------------
# Worked figures
# --------------------------------------------------------------------------------------------------


def ending(found: dict[str, Any], apart: dict[str, Any]) -> tuple[object, ...]:
    """Return how a battle of a case ends; damage and submarines under water only where the case has them."""
    return (
        found["outcome"],
        *(frozenset(ref.parse_units(found[side]).items()) for side in ref.SIDES),
        *(frozenset(ref.parse_units(units).items()) for units in found.get("damaged", ()) if "damaged" in apart),
        *(found.get("submerged", ()) if "submerged" in apart else ()),
    )


def ended(battle: sea.SeaBattle, apart: dict[str, Any]) -> tuple[object, ...]:
    """Return the same of a battle of the reference."""
    return (
        battle.outcome,
        *(frozenset(survivors.items()) for survivors in battle.survivors),
        *(frozenset(damaged.items()) for damaged in battle.damaged if "damaged" in apart),
        *(battle.submerged if "submerged" in apart else ()),
    )


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases("sea")])
def test_worked_figures_at_sea(case: dict[str, Any]) -> None:
    solved, expect = solve_at_sea(case["scenario"]), case["expect"]
    if "outcomes" in expect:
        for name in ref.OUTCOMES:
            assert agrees(solved.outcome(name), expect["outcomes"].get(name, "0")), name
    if "endings" in expect:
        apart = expect["endings"][0]
        chances: Counter[tuple[object, ...]] = Counter()
        for battle, p in solved.endings:
            chances[ended(battle, apart)] += p  # type: ignore[assignment]  # fractions are counted as well
        assert chances == {ending(found, apart): Fraction(found["p"]) for found in expect["endings"]}
    if "swing" in expect:
        assert agrees(solved.mean(lambda battle: battle.swing), expect["swing"])
    for side, key in enumerate(("attackers_left", "defenders_left")):
        if key in expect:
            assert agrees(solved.survivors(side), expect[key]), key
    if "cycles" in expect:
        assert solved.mean_cycles == expect["cycles"]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases("sea_scripted")])
def test_scripted_cases_at_sea(case: dict[str, Any]) -> None:
    battle, dice = sea.scripted_at_sea(case["scenario"], case["script"])
    assert [
        [
            ref.SIDES[throw.side],
            throw.cycle,
            STEPS[throw.step],
            CLASS_AT.get(throw.group) or ref.UNITS[throw.group],
            throw.dice,
            str(throw.chance),
            hits,
        ]
        for throw, hits in dice.thrown
    ] == case["throws"]
    expect = case["expect"]
    assert (battle.outcome, battle.cycles, list(battle.survivors), list(battle.cost_lost)) == (
        expect["outcome"],
        expect["cycles"],
        expect["survivors"],
        expect["cost_lost"],
    )
    assert list(battle.submerged) == expect.get("submerged", [0, 0])
    assert list(battle.damaged) == expect.get("damaged", [{}, {}])


@pytest.mark.parametrize("edition", sea.SEA_EDITIONS)
def test_unit_tables_at_sea(edition: str) -> None:
    # Another copy of the table, in the order cost, attack, defence, hits.
    usual = {
        "submarine": (6, 2, 1, 1),
        "transport": (7, 0, 0, 1),
        "destroyer": (8, 2, 2, 1),
        "cruiser": (12, 3, 3, 1),
        "carrier": (14, 1, 2, 1),
        "battleship": (20, 4, 4, 2),
    }
    special: dict[str, dict[str, tuple[int, int, int, int]]] = {
        "revised": {
            "submarine": (8, 2, 2, 1),
            "transport": (8, 0, 1, 1),
            "destroyer": (12, 3, 3, 1),
            "carrier": (16, 1, 3, 1),
            "battleship": (24, 4, 4, 2),
        },
        "global40_2nd": usual | {"carrier": (16, 0, 2, 2)},
    }
    units = sea.SEA_EDITIONS[edition].units
    ships = {unit: row for unit, row in units.items() if isinstance(row, sea.SeaRow)}
    assert {unit: (row.cost, row.attack, row.defence, row.hits) for unit, row in ships.items()} == special.get(
        edition, usual
    )
    # On land and in the air nothing differs.
    assert {unit: row for unit, row in units.items() if unit not in ships} == ref.EDITIONS[edition].units


# --------------------------------------------------------------------------------------------------
# Giving out hits
# --------------------------------------------------------------------------------------------------

KIND = {"fighter": "aircraft", "submarine": "submarine", "cruiser": "rest", "transport": "rest"}


def caps_rule(places: tuple[str, ...], hits: sea.Hits, *, air_hits_subs: bool) -> tuple[bool, ...]:
    """Give out hits by counting: all of them, those that can fall on aircraft, those on submarines."""
    total = sum(hits)
    caps = {
        "aircraft": hits.air + hits.other,
        "submarine": hits.sub + hits.other + (hits.air if air_hits_subs else 0),
        "rest": total,
    }
    taken = []
    for unit in places:
        is_hit = total > 0 and caps[KIND[unit]] > 0
        total -= is_hit
        caps[KIND[unit]] -= is_hit
        taken.append(is_hit)
    return tuple(taken)


def all_assignments(places: tuple[str, ...], hits: sea.Hits, *, air_hits_subs: bool) -> set[tuple[bool, ...]]:
    """Return every set of places that the hits can fall on, by trying all ways."""
    ways: set[tuple[bool, ...]] = {(False,) * len(places)}
    for kind in hits.each():
        more = set()
        for taken in ways:
            for place, unit in enumerate(places):
                if not taken[place] and sea.may_hit(kind, unit, air_hits_subs=air_hits_subs):
                    more.add((*taken[:place], True, *taken[place + 1 :]))
        ways |= more
    return ways


few = st.builds(sea.Hits, *[st.integers(0, 3)] * 3)
some_places = st.lists(st.sampled_from(tuple(KIND)), max_size=7).map(tuple)


@settings(max_examples=300)
@given(places=some_places, hits=few, seen=st.booleans())
def test_hits_are_given_out_as_the_best_of_all_ways(places: tuple[str, ...], hits: sea.Hits, seen: bool) -> None:
    ways = all_assignments(places, hits, air_hits_subs=seen)
    most = max(map(sum, ways))
    # GC-4.8.4: as many as possible; GC-4.8.6: among those, what stands first in the order.
    best = max(way for way in ways if sum(way) == most)
    assert sea.take(places, hits, air_hits_subs=seen) == best


@settings(max_examples=300)
@given(places=some_places, hits=few, seen=st.booleans())
def test_transports_at_the_end_take_as_few_hits_as_possible(
    places: tuple[str, ...], hits: sea.Hits, seen: bool
) -> None:
    places = tuple(sorted(places, key="transport".__eq__))
    transports = [place for place, unit in enumerate(places) if unit == "transport"]
    ways = all_assignments(places, hits, air_hits_subs=seen)
    most = max(map(sum, ways))
    fewest = min(sum(way[place] for place in transports) for way in ways if sum(way) == most)
    taken = sea.take(places, hits, air_hits_subs=seen)
    assert sum(taken[place] for place in transports) == fewest


@settings(max_examples=500)
@given(
    places=st.lists(st.sampled_from(tuple(KIND)), max_size=40).map(tuple),
    hits=st.builds(sea.Hits, *[st.integers(0, 20)] * 3),
    seen=st.booleans(),
)
def test_matching_equals_the_rule_of_caps(places: tuple[str, ...], hits: sea.Hits, seen: bool) -> None:
    assert sea.take(places, hits, air_hits_subs=seen) == caps_rule(places, hits, air_hits_subs=seen)


@pytest.mark.parametrize(
    ("board", "hits", "seen", "left"),
    [
        ("1 cruiser, 2 submarine", sea.Hits(air=2, other=1), False, "1 submarine"),
        ("1 cruiser, 2 submarine", sea.Hits(air=2, other=1), True, ""),
        ("1 cruiser, 2 submarine", sea.Hits(air=3), False, "2 submarine"),
        ("1 fighter, 1 transport", sea.Hits(sub=1), False, "1 fighter"),
        ("1 fighter", sea.Hits(sub=2), False, "1 fighter"),
        ("1 submarine, 1 transport", sea.Hits(air=1), False, "1 submarine"),
        ("1 submarine, 1 transport", sea.Hits(air=1), True, "1 transport"),
        ("1 submarine, 1 fighter", sea.Hits(sub=1, air=1), False, ""),
        ("2 destroyer", sea.Hits(other=3), False, ""),
    ],
)
def test_hits_find_their_targets(board: str, hits: sea.Hits, seen: bool, left: str) -> None:
    scenario = sea.read_sea(at_sea("1 cruiser", board))
    fleet = sea.muster_fleet(scenario, ref.DEFENDER)
    sea.give_out(scenario, ref.DEFENDER, fleet, hits, air_hits_subs=seen)
    assert Counter(piece.unit for piece in fleet.board) == ref.parse_units(left)


@pytest.mark.parametrize("edition", ["spring1942", "global40_2nd"])
@pytest.mark.parametrize("order", ["default", ["battleship", "carrier:damage"], ["destroyer", "battleship:damage"]])
@pytest.mark.parametrize("damaged", ["", "1 battleship", "2 battleship"])
def test_damage_is_sane(edition: str, order: str | list[str], damaged: str) -> None:
    data = at_sea("1 cruiser", "2 battleship, 1 carrier, 1 destroyer", edition)
    data["defender"] |= {"loss_order": order, "damaged": damaged}
    scenario = sea.read_sea(data)
    strength = sum(piece.hits for piece in sea.muster_fleet(scenario, ref.DEFENDER).board)
    before = None
    for number in range(strength + 3):
        fleet = sea.muster_fleet(scenario, ref.DEFENDER)
        lost = sea.give_out(scenario, ref.DEFENDER, fleet, sea.Hits(other=number), air_hits_subs=False)
        assert all(0 < piece.hits <= scenario.hits_of(piece.unit) for piece in fleet.board)
        assert sum(piece.hits for piece in fleet.board) == max(strength - number, 0)
        units = Counter(piece.unit for piece in fleet.board)
        assert units + Counter(piece.unit for piece in lost) == ref.parse_units(data["defender"]["units"])
        # One more hit never brings anything back.
        assert before is None or not units - before
        before = units


# --------------------------------------------------------------------------------------------------
# What holds in every battle
# --------------------------------------------------------------------------------------------------


def fight(data: dict[str, Any], number: int) -> tuple[sea.SeaScenario, sea.SeaBattle, list[tuple[ref.Throw, int]]]:
    scenario = sea.read_sea(data)
    dice = ref.RandomDice(ref.random_key(scenario, 1), number)
    return scenario, sea.fight_at_sea(scenario, dice), dice.thrown


battles = st.tuples(sea_scenarios(), st.integers(0, 2**40))


@settings(max_examples=400)
@given(drawn=battles)
def test_nothing_is_lost_that_was_not_there(drawn: tuple[dict[str, Any], int]) -> None:
    scenario, battle, _ = fight(*drawn)
    for side, force in enumerate(scenario.forces):
        left, start = Counter(battle.survivors[side]), Counter(force.units)
        assert left <= start
        assert Counter(battle.damaged[side]) <= left
        assert all(scenario.hits_of(unit) == 2 for unit in battle.damaged[side])
        assert 0 <= battle.submerged[side] <= left["submarine"]
        price = sum(scenario.row(unit).cost * number for unit, number in (start - left).items())
        # The transports that are left carry the loads listed last.
        afloat = min(left["transport"], len(force.cargo))
        sunk = force.cargo[: len(force.cargo) - afloat]
        price += sum(scenario.row(unit).cost * number for load in sunk for unit, number in load.items())
        assert battle.cost_lost[side] == price
        # A ship that came damaged stays so.
        for unit, number in force.damaged.items():
            assert battle.damaged[side].get(unit, 0) >= min(number, left[unit]) - (start - left)[unit]


@settings(max_examples=400)
@given(drawn=battles)
def test_the_outcome_says_who_is_left(drawn: tuple[dict[str, Any], int]) -> None:
    scenario, battle, thrown = fight(*drawn)
    attackers, defenders = (
        Counter(survivors) - Counter(submarine=under)
        for survivors, under in zip(battle.survivors, battle.submerged, strict=True)
    )
    retreat = scenario.forces[ref.ATTACKER].retreat
    match battle.outcome:
        case "attacker_wins":
            assert attackers
            assert not defenders
        case "defender_wins":
            assert defenders
            assert not attackers
        case "both_destroyed":
            assert not any(battle.survivors)
        case "attacker_retreats":
            assert attackers
            assert defenders
            assert battle.cycles > 0
            assert retreat.possible or set(attackers) <= set(ref.AIRCRAFT)
        case "unfinished":
            assert attackers
            assert defenders
            assert battle.cycles == scenario.cycle_limit
        case outcome:
            assert outcome == "stand_off"
            assert bool(attackers) == bool(defenders)
            assert attackers or any(battle.submerged)
    assert (battle.cycles == 0) <= (not thrown)
    assert scenario.cycle_limit == 0 or battle.cycles <= scenario.cycle_limit
    assert (battle.captured_value, battle.guns, battle.complexes) == (0, 0, 0)


@settings(max_examples=300)
@given(drawn=battles)
def test_transports_go_last(drawn: tuple[dict[str, Any], int]) -> None:
    scenario, battle, _ = fight(*drawn)
    if not scenario.edition.tt_last:
        return
    for force, survivors in zip(scenario.forces, battle.survivors, strict=True):
        warships = set(survivors) - {"transport", "submarine", *ref.AIRCRAFT}
        if warships:
            assert survivors.get("transport", 0) == force.units.get("transport", 0)


@settings(max_examples=300)
@given(drawn=battles)
def test_every_piece_fires_once_a_cycle(drawn: tuple[dict[str, Any], int]) -> None:
    scenario, _, thrown = fight(*drawn)
    dice: Counter[tuple[int, int, int]] = Counter()
    for throw, _ in thrown:
        if throw.group < len(ref.UNITS):
            dice[throw.cycle, throw.side, throw.group] += throw.dice
    heavy = scenario.edition.heavy_bombers == "both_dice"
    for (_, side, group), number in dice.items():
        unit, force = ref.UNITS[group], scenario.forces[side]
        twice = unit == "bomber" and side == ref.ATTACKER and heavy and "heavy_bombers" in force.technologies
        assert 0 < number <= force.units[unit] * (1 + twice)
    # Only submarines strike, and only where no destroyer looks on, unless the edition lets them.
    for throw, _ in thrown:
        if throw.step == sea.STEP_STRIKE and scenario.edition.sub_first_strike != "always":
            assert throw.group in {ref.TYPE["submarine"], sea.POOLED["sub"]}
            if throw.cycle == 1:
                assert not scenario.forces[1 - throw.side].units.get("destroyer")


@settings(max_examples=200)
@given(drawn=battles)
def test_submarines_and_aircraft_that_never_meet(drawn: tuple[dict[str, Any], int]) -> None:
    scenario, battle, _ = fight(*drawn)
    for side, force in enumerate(scenario.forces):
        enemy = scenario.forces[1 - side].units
        if set(enemy) == {"submarine"}:
            for unit in ref.AIRCRAFT:
                assert battle.survivors[side].get(unit, 0) == force.units.get(unit, 0)
        only_aircraft = set(enemy) <= set(ref.AIRCRAFT)
        if only_aircraft and scenario.edition.air_hits_subs != "always":
            assert battle.survivors[side].get("submarine", 0) == force.units.get("submarine", 0)


@settings(max_examples=25)
@given(data=sea_scenarios(most=1))
def test_chances_add_up(data: dict[str, Any]) -> None:
    # A long fight of many types has fractions of thousands of digits.
    for side in ref.SIDES:
        units = list(data[side]["units"].items())[:3]
        data[side] = {"units": dict(units)} | {
            key: value for key, value in data[side].items() if key in {"submerge", "retreat", "technologies"}
        }
    solved = solve_at_sea(data)
    assert solved.mean(lambda _: 1) == 1
    assert all(p > 0 for _, p in solved.endings)
    assert all(battle.outcome in ref.OUTCOMES for battle, _ in solved.endings)


@pytest.mark.parametrize(
    "data",
    [
        at_sea("2 submarine, 1 destroyer, 1 fighter", "1 submarine, 1 carrier, 1 fighter, 2 transport"),
        at_sea("1 battleship, 2 submarine", "2 submarine, 1 destroyer, 1 transport", "revised"),
        at_sea("1 carrier, 2 tactical_bomber", "1 carrier, 1 cruiser", "global40_2nd", low_luck="combat"),
    ],
    ids=["spring1942", "revised", "global40_2nd"],
)
def test_random_sea_battles_follow_the_exact_distribution(data: dict[str, Any]) -> None:
    scenario = sea.read_sea(data)
    number = 800
    counts = Counter(sea.sea_battle(scenario, battle).outcome for battle in range(number))
    solved = solve_at_sea(scenario, exact=False)
    for name in ref.OUTCOMES:
        p = float(solved.outcome(name))
        assert abs(counts[name] - number * p) <= 4.5 * (number * p * (1 - p)) ** 0.5


# --------------------------------------------------------------------------------------------------
# Near misses: what looks alike and must differ, what differs and must be alike
# --------------------------------------------------------------------------------------------------


def same(one: SeaDistribution, other: SeaDistribution) -> bool:
    """Say whether two battles end in the same ways with the same chances."""

    def chances(solved: SeaDistribution) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for battle, p in solved.endings:
            found[repr(battle)] = found.get(repr(battle), 0) + p
        return found

    return chances(one) == chances(other) and one.mean_cycles == other.mean_cycles


BASE = at_sea("1 submarine, 1 cruiser", "1 submarine, 1 carrier, 1 fighter")


@pytest.mark.parametrize(
    ("data", "switches", "alike"),
    [
        # The order of strikes matters only where both sides strike.
        (at_sea("1 submarine", "1 submarine"), {"submarine_strikes": "attacker_first"}, False),
        (at_sea("1 submarine", "1 cruiser"), {"submarine_strikes": "attacker_first"}, True),
        (at_sea("1 submarine, 1 destroyer", "1 submarine"), {"submarine_strikes": "attacker_first"}, True),
        # A doomed destroyer matters only beside aircraft that face submarines.
        (at_sea("1 submarine", "1 destroyer, 1 fighter"), {"doomed_destroyer": "does_not"}, False),
        (at_sea("1 cruiser", "1 destroyer, 1 fighter"), {"doomed_destroyer": "does_not"}, True),
        (at_sea("1 submarine", "1 destroyer, 1 cruiser"), {"doomed_destroyer": "does_not"}, True),
        # An attacking destroyer is lost after its aircraft have fired.
        (at_sea("1 destroyer, 1 fighter", "1 submarine"), {"doomed_destroyer": "does_not"}, True),
        # Aircraft without a destroyer.
        (at_sea("1 fighter, 1 cruiser", "1 submarine"), {"air_hits_subs": "always"}, False),
        (at_sea("1 fighter, 1 destroyer", "1 submarine, 1 cruiser"), {"air_hits_subs": "always"}, False),
        (at_sea("1 submarine, 1 cruiser", "1 submarine, 1 carrier"), {"air_hits_subs": "always"}, True),
        # Strikes that an enemy destroyer stops.
        (at_sea("1 submarine", "1 cruiser"), {"sub_first_strike": "always"}, True),
        (at_sea("1 submarine", "1 destroyer"), {"sub_first_strike": "always"}, True),
        (at_sea("1 submarine, 1 destroyer", "1 submarine"), {"sub_first_strike": "always"}, False),
        # Transports.
        (at_sea("1 cruiser", "1 cruiser, 1 transport"), {"tt_last": False}, True),
        (at_sea("1 cruiser", "1 cruiser, 2 transport"), {"tt_swept": False}, False),
        (at_sea("1 cruiser, 2 transport", "1 cruiser"), {"tt_swept": False}, True),
        # No one submerges unless told to.
        (BASE, {"sub_submerge": "cycle_end"}, True),
        (BASE | {"attacker": BASE["attacker"] | {"submerge": "always"}}, {"sub_submerge": "cycle_end"}, False),
    ],
)
def test_switches_change_what_they_are_about(data: dict[str, Any], switches: dict[str, Any], alike: bool) -> None:
    assert same(solve_at_sea(data), solve_at_sea(data | {"switches": switches})) is alike


def test_tt_last_keeps_a_listed_transport_at_the_end() -> None:
    listed = at_sea("1 cruiser", "1 cruiser, 1 transport", defender_loss_order=["transport"])
    assert same(solve_at_sea(listed), solve_at_sea(at_sea("1 cruiser", "1 cruiser, 1 transport")))
    assert not same(solve_at_sea(listed), solve_at_sea(listed | {"switches": {"tt_last": False}}))


@pytest.mark.parametrize(
    ("attacker", "defender", "stand_off"),
    [
        ("1 fighter", "1 submarine", "1"),
        ("1 fighter", "2 submarine", "1"),
        ("1 fighter", "1 submarine, 1 transport", "1"),
        # The transport is sunk or withdrawn: it is no target for long.
        ("1 fighter, 1 transport", "1 submarine", "1"),
        # As in case 12: the defending submarine wins 2/7 and then meets the fighter alone.
        ("1 fighter, 1 cruiser", "1 submarine", "2/7"),
        # As in case 14: the defending submarine is left alone in 1/4.
        ("1 fighter, 1 submarine", "1 submarine", "1/4"),
        ("1 fighter, 1 destroyer", "1 submarine", "1/13"),
        # The carrier is hit before anything can be hit in return (case 24b).
        ("1 submarine", "1 fighter, 1 carrier", "3/5"),
    ],
)
def test_a_fighter_and_a_submarine_with_one_more_ship(attacker: str, defender: str, stand_off: str) -> None:
    assert solve_at_sea(at_sea(attacker, defender)).outcome("stand_off") == Fraction(stand_off)


def test_both_sides_powerless_end_at_once() -> None:
    for attacker, defender, edition in product(
        ("2 transport", "1 carrier", "1 carrier, 3 transport"), ("1 transport", "4 transport"), ("global40_2nd",)
    ):
        solved = solve_at_sea(at_sea(attacker, defender, edition, attacker_retreat={"after_cycles": 1}))
        assert [(battle.outcome, p) for battle, p in solved.endings] == [("stand_off", 1)]
        assert solved.mean_cycles == 0


@pytest.mark.parametrize(
    ("retreat", "outcome"),
    [
        ({}, "stand_off"),
        ({"after_cycles": 1}, "attacker_retreats"),
        ({"when_units_at_most": 1}, "attacker_retreats"),
        ({"after_cycles": 2}, "stand_off"),
        ({"when_only_aircraft": True}, "stand_off"),
        ({"after_cycles": 1, "possible": False}, "stand_off"),
    ],
)
def test_transports_left_on_both_sides(retreat: dict[str, Any], outcome: str) -> None:
    scenario = at_sea("1 cruiser, 1 transport", "1 cruiser, 1 transport", attacker_retreat=retreat)
    battle, _ = sea.scripted_at_sea(scenario, [1, 1])
    assert (battle.outcome, battle.cycles) == (outcome, 1)
    assert battle.survivors == ({"transport": 1}, {"transport": 1})


@pytest.mark.parametrize(
    ("retreat", "outcome", "cycles"),
    [
        ({"when_units_at_most": 1}, "attacker_retreats", 1),
        ({"when_units_at_most": 1, "possible": False}, "unfinished", 4),
        ({"when_only_aircraft": True, "possible": False}, "unfinished", 4),
        ({"after_cycles": 3}, "attacker_retreats", 3),
    ],
)
def test_retreats_at_sea(retreat: dict[str, Any], outcome: str, cycles: int) -> None:
    # The fighter and the transport are left; the transport does not count among the units.
    scenario = at_sea("1 fighter, 1 transport", "1 carrier", attacker_retreat=retreat, cycle_limit=4)
    battle, _ = sea.scripted_at_sea(scenario, [0] * 2 * cycles)
    assert (battle.outcome, battle.cycles) == (outcome, cycles)


@pytest.mark.parametrize(
    ("attacker", "defender", "script"),
    [
        # Only a submarine and aircraft are left.
        ("1 submarine", "1 carrier, 1 fighter", [1, 0]),
        ("1 fighter, 1 cruiser", "1 submarine", [1, 0]),
        # Only transports are left.
        ("1 cruiser", "1 destroyer, 1 transport", [1, 0]),
    ],
)
def test_no_retreat_once_nothing_can_fight_back(attacker: str, defender: str, script: list[int]) -> None:
    scenario = at_sea(attacker, defender, "1942_2nd", attacker_retreat={"after_cycles": 1})
    battle, dice = sea.scripted_at_sea(scenario, script)
    assert (battle.outcome, battle.cycles) in {("stand_off", 1), ("attacker_wins", 1)}
    assert len(dice.thrown) == len(script)


def test_aircraft_alone_need_no_space() -> None:
    scenario = at_sea("1 fighter", "1 carrier", attacker_retreat={"after_cycles": 1, "possible": False})
    assert sea.scripted_at_sea(scenario, [0, 0])[0].outcome == "attacker_retreats"


@pytest.mark.parametrize(("ratio", "cruisers", "goes"), [(1.1, 10, False), (1.1, 11, True), (0.5, 5, True)])
def test_outnumbered_compares_as_written(ratio: float, cruisers: int, goes: bool) -> None:
    data = at_sea(f"{cruisers} cruiser, 5 transport, 3 fighter", "10 submarine")
    data["defender"]["submerge"] = {"outnumbered": ratio}
    scenario = sea.read_sea(data)
    fleets = sea.muster_fleet(scenario, ref.ATTACKER), sea.muster_fleet(scenario, ref.DEFENDER)
    sea.submerge(scenario, fleets)
    assert fleets[ref.DEFENDER].submerged == (10 if goes else 0)


def test_the_defender_sees_what_the_attacker_submerged() -> None:
    data = at_sea("1 submarine, 1 fighter", "1 submarine", attacker_submerge="always")
    data["defender"]["submerge"] = "facing_aircraft"
    solved = solve_at_sea(data)
    assert [(battle.submerged, battle.outcome) for battle, _ in solved.endings] == [((1, 1), "attacker_wins")]
