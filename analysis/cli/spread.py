"""Groups of options that several verbs share.

A group is a dataclass whose fields are annotated options. A verb takes a group as one parameter; `spread` gives typer
the options one by one in its place.
"""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any

__all__ = ["spread"]


def spread(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb as typer can read it: every parameter that is a group of options becomes its options.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Dice:
    ...     number: int = 1
    ...     faces: int = 6
    >>> def throw(name: str, *, dice: Dice) -> None:
    ...     print(name, dice.number * dice.faces)
    >>> list(inspect.signature(spread(throw)).parameters)
    ['name', 'number', 'faces']
    >>> spread(throw)(name="most", number=2, faces=6)
    most 12
    """
    groups: dict[str, type[Any]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(verb).parameters.values():
        kind = parameter.annotation
        if not (isinstance(kind, type) and is_dataclass(kind)):
            parameters.append(parameter)
            continue
        groups[parameter.name] = kind
        parameters += [
            inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
            for field in fields(kind)
        ]

    @wraps(verb)
    def call(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        verb(**given)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call
