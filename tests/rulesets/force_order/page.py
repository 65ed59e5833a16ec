"""The tables and pictures of the page on force order, made from the compiled rules.

``python -m tests.rulesets.force_order.page`` writes the tables into the page and the pictures beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simcore.api import Encoded, stream_keys
from simcore.registry import get_ruleset
from simcore.rulesets.force_order.attack import resolve_rows
from simcore.rulesets.force_order.edition import UNITS
from simcore.rulesets.force_order.rows import attack_rows
from simcore.rulesets.force_order.skirmish.drive import trace_game
from simcore.rulesets.force_order.skirmish.encoding import encode
from simcore.rulesets.force_order.skirmish.layout import Event, PieceColumn, TraceColumn
from simcore.scenario import load_scenario

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "force-order.md"
IMAGES = ROOT / "docs" / "images"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"

Piece = dict[str, Any]
SOLDIER: Piece = {"kind": "soldier"}
SABOTEUR: Piece = {"kind": "saboteur"}
BOAT: Piece = {"kind": "boat", "place": "sea"}
PLANE: Piece = {"kind": "plane"}
AT_SEA: Piece = {"place": "sea"}
ON_BOAT: Piece = {"mount": "boat_tip", "place": "sea"}
ATTACKERS: dict[str, Piece] = {
    "soldier on land": SOLDIER,
    "soldier on a tip": SOLDIER | ON_BOAT,
    "soldier aboard, not on the tip": SOLDIER | {"mount": "hold", "place": "sea"},
    "boat": BOAT,
    "boat with a soldier on its tip": BOAT | {"cargo": True, "tip_soldier": True},
    "boat on a boat's tip": BOAT | ON_BOAT,
    "plane": PLANE,
    "plane on a boat's tip": PLANE | ON_BOAT,
    "saboteur on land or at sea": SABOTEUR,
    "saboteur on a tip": SABOTEUR | ON_BOAT,
}
TARGETS: dict[str, Piece] = {
    "soldier": SOLDIER,
    "saboteur, land": SABOTEUR,
    "saboteur, sea": SABOTEUR | AT_SEA,
    "plane, land": PLANE,
    "plane, sea": PLANE | AT_SEA,
    "boat, lifeboat": BOAT,
    "flag, land": {"kind": "flag"},
    "flag, sea": {"kind": "flag"} | AT_SEA,
    "mine, land": {"kind": "mine"},
    "mine, sea": {"kind": "mine"} | AT_SEA,
}
WINNERS: dict[str, Piece] = {
    "soldier": SOLDIER,
    "boat": BOAT | {"cargo": True, "tip_soldier": True},
    "plane": PLANE,
    "saboteur": SABOTEUR,
}
LOSERS: dict[str, Piece] = {
    "soldier": SOLDIER,
    "soldier with a mine": SOLDIER | {"mine": True},
    "soldier with the flag": SOLDIER | {"flag": True},
    "saboteur, land": SABOTEUR,
    "saboteur, sea": SABOTEUR | AT_SEA,
    "saboteur with the flag, sea": SABOTEUR | AT_SEA | {"flag": True},
    "plane, land": PLANE,
    "plane with pieces, land": PLANE | {"cargo": True},
    "plane, sea": PLANE | AT_SEA,
    "plane with pieces, sea": PLANE | AT_SEA | {"cargo": True},
    "boat": BOAT,
    "boat with pieces": BOAT | {"cargo": True},
    "boat with a lifeboat and pieces": BOAT | {"cargo": True, "lifeboat": True},
    "boat with the flag and pieces": BOAT | {"cargo": True, "flag": True},
    "boat with the flag, a lifeboat and pieces": BOAT | {"cargo": True, "flag": True, "lifeboat": True},
    "lifeboat alone": {"kind": "lifeboat"} | AT_SEA,
    "flag alone, land": {"kind": "flag"},
    "flag alone, sea": {"kind": "flag"} | AT_SEA,
    "mine alone": {"kind": "mine"},
}
POSITIONS = {"take": "takes the square", "stay": "stays", "beside": "stands beside it"}
PARTS = {"dies": "dies", "left": "stays", "on_lifeboat": "stays on the lifeboat"}


def ask(attacker: Piece, target: Piece, **row: Any) -> dict[str, Any]:
    """Return the answer to one attack from one column to the left."""
    columns = {f"attacker.{name}": [value] for name, value in attacker.items()}
    columns |= {f"target.{name}": [value] for name, value in target.items()}
    columns |= {name: [value] for name, value in ({"columns": 1, "result": "win"} | row).items()}
    return resolve_rows(attack_rows(columns), threads=1).describe(0)


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows))


def _permission(told: dict[str, Any]) -> str:
    return "no" if told["outcome"] == "illegal" else next(c for c in told["clauses"] if c in _LICENCES)


_LICENCES = {f"FO-{n}" for n in (1, 8, 10, 19, 20, 25, 26, 32)}


def _fate(told: dict[str, Any]) -> str:
    if told["outcome"] == "illegal":
        return "may not attack"
    said = [POSITIONS[told["position"]]]
    if told["outcome"] == "flag_taken":
        said.append("takes the flag" + (" on its tip" if told["target"]["flag"] == "on_tip" else ""))
    else:
        said += [
            f"{held} {PARTS[told['target'][held]]}"
            for held in ("mine", "cargo", "lifeboat", "flag")
            if told["target"][held] != "none"
        ]
    clauses = [clause.removeprefix("FO-") for clause in told["clauses"] if clause not in _LICENCES]
    return "; ".join(said) + f" ({', '.join(clauses)})"


def tables() -> str:
    """Return the tables of the page."""
    may = [
        [f"**{name}**", *(_permission(ask(attacker, target)) for target in TARGETS.values())]
        for name, attacker in ATTACKERS.items()
    ]
    wins = [
        [f"**{name}**", *(_fate(ask(attacker, target)) for attacker in WINNERS.values())]
        for name, target in LOSERS.items()
    ]
    return "\n\n".join(
        (
            "### Who may attack what\n\nThe clause that allows it, under the default readings.",
            _table(["", *TARGETS], may),
            "### When the attacker wins\n\nThe target dies, unless it is a flag. Numbers are those of clauses (`FO-`).",
            _table(["target", *WINNERS], wins),
        )
    )


SQUARE = 44
COLOURS = {"land": "#e9e2c8", "sea": "#bcd8ea"}


def _svg(width: int, height: int, body: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="white"/>', *body, "</svg>"]) + "\n"


def _square(x: int, y: int, place: str) -> str:
    box = f'x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}"'
    return f'<rect {box} fill="{COLOURS[place]}" stroke="#666"/>'


def _token(x: int, y: int, text: str, *, own: bool) -> str:
    fill = "#2b5f9e" if own else "#a8322d"
    middle = f'x="{x + SQUARE // 2}" y="{y + SQUARE // 2 + 4}"'
    circle = f'<circle cx="{x + SQUARE // 2}" cy="{y + SQUARE // 2}" r="17" fill="{fill}"/>'
    return f'{circle}<text {middle} font-size="11" fill="white" text-anchor="middle">{text}</text>'


def board() -> str:
    """Return a picture of land and sea, and of how far pieces attack."""
    size, land = 8, 5
    body = [
        _square(column * SQUARE, row * SQUARE, "land" if column < land else "sea")
        for row in range(size)
        for column in range(size)
    ]
    plane, soldier, boat = (3, 2), (6, 1), (6, 6)
    marks = [(r, plane[1]) for r in range(size)] + [(plane[0], c) for c in range(size)]
    marks += [(soldier[0] + r, soldier[1] + c) for r, c in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    marks += [(boat[0] + r, boat[1] + c) for r, c in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    body += [
        f'<rect x="{c * SQUARE + 15}" y="{r * SQUARE + 15}" width="14" height="14" fill="#2b5f9e" opacity="0.35"/>'
        for r, c in marks
        if (r, c) not in {plane, soldier, boat}
    ]
    for (row, column), text in ((plane, "plane"), (soldier, "sold."), (boat, "boat")):
        body.append(_token(column * SQUARE, row * SQUARE, text, own=True))
    return _svg(size * SQUARE, size * SQUARE, body)


RULINGS = (
    ("soldier v soldier", SOLDIER, SOLDIER, ("land", "land"), 1),
    ("soldier v soldier with the flag", SOLDIER, SOLDIER | {"flag": True}, ("land", "land"), 1),
    ("boat v boat with a lifeboat", BOAT, BOAT | {"lifeboat": True, "cargo": True}, ("sea", "sea"), 1),
    ("plane v boat with a lifeboat", PLANE, BOAT | {"lifeboat": True, "cargo": True}, ("land", "sea"), 3),
)
SHORT = {"soldier": "sold.", "boat": "boat", "plane": "plane"}


def rulings() -> str:
    """Return pictures of a few attacks that are won: before and after."""
    height = 2 * SQUARE + 40
    body = []
    for number, (title, attacker, target, places, distance) in enumerate(RULINGS):
        told = ask(attacker, target, columns=distance)
        top = number * height + 18
        body.append(f'<text x="4" y="{top}" font-size="13">{title}, the attacker wins</text>')
        for line, is_after in enumerate((False, True)):
            y = top + 6 + line * (SQUARE + 4)
            shore = distance if distance == 1 else distance - 1
            body += [_square(c * SQUARE, y, places[0] if c < shore else places[1]) for c in range(distance + 1)]
            at = told["square"][1] if is_after else 0
            body.append(_token(at * SQUARE, y, SHORT[attacker["kind"]], own=True))
            left = next((held for held in ("lifeboat", "flag") if told["target"][held] == "left"), None)
            if not is_after:
                body.append(_token(distance * SQUARE, y, SHORT[target["kind"]], own=False))
            elif left is not None:
                body.append(_token(distance * SQUARE, y, "life" if left == "lifeboat" else "flag", own=False))
            said = "after" if is_after else "before"
            body.append(f'<text x="{(distance + 1) * SQUARE + 8}" y="{y + 26}" font-size="12">{said}</text>')
    return _svg(5 * SQUARE + 40, len(RULINGS) * height + 10, body)


GAME, TURN = 10, 84
"""Game of the example, and the turn after which it is shown."""
MARGIN = 26


def _flag(x: int, y: int, *, own: bool) -> str:
    """Return a flag that stands on a square, in the colour of its owner."""
    fill = "#2b5f9e" if own else "#a8322d"
    pole = f'<line x1="{x + 14}" y1="{y + 9}" x2="{x + 14}" y2="{y + 37}" stroke="#333" stroke-width="2"/>'
    return pole + f'<path d="M{x + 15} {y + 9} l18 7 l-18 7 z" fill="{fill}"/>'


def _load(x: int, y: int, texts: list[str]) -> str:
    """Return what a piece holds, in a small box at its corner."""
    width = 8 + 7 * len(" ".join(texts))
    box = (
        f'<rect x="{x + SQUARE - width - 1}" y="{y + 1}" width="{width}" height="13" rx="3" fill="#fff" stroke="#666"/>'
    )
    middle = f'x="{x + SQUARE - 1 - width / 2}" y="{y + 11}"'
    return box + f'<text {middle} font-size="9" text-anchor="middle">{" ".join(texts)}</text>'


def skirmish() -> str:
    """Return a picture of a board in the middle of a game."""
    scenario: Any = load_scenario(ROOT / "examples" / "force-skirmish.toml")
    games = encode([scenario])
    key = stream_keys(Encoded(get_ruleset("force_order").of_kind("skirmish"), (scenario,), games), 1, "matchup")[0]
    trace, _, _ = trace_game(games, key, GAME, None)
    row = trace[trace[:, TraceColumn.EVENT] == Event.ACTED][TURN - 1].tolist()
    places = [row[at : at + 2] for at in range(TraceColumn.PIECES, len(row), 2)]
    units = [UNITS[unit] for unit in games.pieces[0, :, PieceColumn.UNIT].tolist()]
    sides = games.pieces[0, :, PieceColumn.SIDE].tolist()
    options = scenario.rules.options
    rows, columns = options.rows, options.columns
    body = [
        _square(MARGIN + column * SQUARE, MARGIN + line * SQUARE, "land" if column < options.land_columns else "sea")
        for line in range(rows)
        for column in range(columns)
    ]
    for line, fill in ((0, "#2b5f9e"), (rows - 1, "#a8322d")):
        box = f'x="{MARGIN + 1}" y="{MARGIN + line * SQUARE + 1}" width="{columns * SQUARE - 2}" height="{SQUARE - 2}"'
        body.append(f'<rect {box} fill="none" stroke="{fill}" stroke-width="3"/>')
    for number in range(columns):
        middle = MARGIN + number * SQUARE + SQUARE // 2
        body.append(f'<text x="{middle}" y="{MARGIN - 8}" font-size="12" text-anchor="middle">{number}</text>')
    for number in range(rows):
        middle = MARGIN + number * SQUARE + SQUARE // 2 + 4
        body.append(f'<text x="{MARGIN - 10}" y="{middle}" font-size="12" text-anchor="middle">{number}</text>')
    for p, (square, _) in enumerate(places):
        if square < 0:
            continue
        x, y = MARGIN + square % columns * SQUARE, MARGIN + square // columns * SQUARE
        own = sides[p] == 0
        if units[p] == "flag":
            body.append(_flag(x, y, own=own))
            continue
        body.append(_token(x, y, NAMES.get(units[p], units[p].replace("soldier", "sold. ")), own=own))
        held = [NAMES.get(units[q], units[q]) for q, (_, carrier) in enumerate(places) if carrier == p]
        if held:
            body.append(_load(x, y, held))
    return _svg(columns * SQUARE + 2 * MARGIN, rows * SQUARE + 2 * MARGIN - 16, body)


NAMES = {"saboteur": "sab.", "boat_small": "boat 1", "boat_medium": "boat 2", "boat_large": "boat 3"}
NAMES |= {"lifeboat": "life", "plane_scout": "plane 1", "plane_fighter": "plane 2"}
PICTURES = {
    "force-order-reach.svg": board,
    "force-order-rulings.svg": rulings,
    "force-order-board.svg": skirmish,
}


def main() -> None:
    """Write tables and pictures."""
    head, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    tail = rest.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n\n{tables()}\n\n{END}{tail}", encoding="utf-8")
    for name, draw in PICTURES.items():
        (IMAGES / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
