"""Base of all input models: frozen, strict about unknown fields, with errors a user can act on."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from simcore.errors import ScenarioError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["FrozenModel", "parse_model", "shown"]

_Model = TypeVar("_Model", bound=BaseModel)
_SHOWN_LENGTH = 80


class FrozenModel(BaseModel):
    """Immutable model that refuses unknown fields and does not turn text into numbers or back."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields replaced, unchecked; what was derived from the old ones is left behind."""
        copy = super().model_copy(update=update, deep=deep)
        fields = type(copy).model_fields
        for name in [name for name in copy.__dict__ if name not in fields]:
            del copy.__dict__[name]
        return copy


def shown(value: object) -> str:
    """Return `value` as it would be written in TOML or JSON, cut to a readable length.

    Parameters
    ----------
    value : object
        Anything read from an input file.

    Returns
    -------
    str
        One line without control characters.
    """
    if isinstance(value, str):
        text = '"' + "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in value[:_SHOWN_LENGTH]) + '"'
        return text if len(value) <= _SHOWN_LENGTH else text[:-1] + '..."'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    try:
        text = repr(value)
    except ValueError:  # integers beyond Python's limit for decimal conversion
        return "a number with thousands of digits"
    except RecursionError:
        return "tables nested too deeply"
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= _SHOWN_LENGTH else text[:_SHOWN_LENGTH] + "..."


def _fields_at(model: type[BaseModel], path: Iterable[int | str]) -> list[str]:
    """Return the field names that are allowed at a path inside a model (empty when unknown)."""
    current: Any = model
    for part in path:
        fields = getattr(current, "model_fields", None)
        if fields is None or part not in fields:
            return []
        annotation = fields[part].annotation
        options = [annotation, *getattr(annotation, "__args__", ())]
        current = next((o for o in options if isinstance(o, type) and issubclass(o, BaseModel)), None)
        if current is None:
            return []
    fields = getattr(current, "model_fields", {})
    return sorted(name for name, field in fields.items() if not (field.json_schema_extra or {}).get("internal"))


def _problem(error: Mapping[str, Any], model: type[BaseModel]) -> str:  # noqa: PLR0911 - one return per kind
    """Turn one pydantic error into a sentence: what is wrong, the value, what is allowed."""
    kind = error["type"]
    context = error.get("ctx", {})
    value = shown(error.get("input"))
    if kind == "extra_forbidden":
        known = _fields_at(model, error["loc"][:-1])
        allowed = f"; allowed: {', '.join(known)}" if known else ""
        return f"unknown field{suggestion(str(error['loc'][-1]), known)}{allowed}"
    if kind == "missing":
        return "this field is required"
    if kind == "value_error":
        return str(context.get("error", error["msg"]))
    if kind in {"literal_error", "enum"}:
        allowed_values = str(context["expected"]).replace("'", '"')
        known = [part.strip(' "') for part in allowed_values.replace(" or ", ",").split(",")]
        given = error.get("input")
        near = suggestion(given, known) if isinstance(given, str) else ""
        return f"must be {allowed_values}, got {value}{near}"
    if kind in {"int_type", "int_from_float"}:
        return f"must be a whole number, got {value}"
    if kind == "float_type":
        return f"must be a number, got {value}"
    if kind in {
        "string_type",
        "bool_type",
        "dict_type",
        "list_type",
        "tuple_type",
        "model_type",
        "model_attributes_type",
    }:
        words = {
            "string_type": "text",
            "bool_type": "true or false",
            "list_type": "a list",
            "tuple_type": "a list",
            "dict_type": "a table",
        }
        return f"must be {words.get(kind, 'a table')}, got {value}"
    message = str(error["msg"])
    for start, words_ in (("Input should be ", "must be "), ("Value error, ", "")):
        if message.startswith(start):
            message = words_ + message.removeprefix(start)
    return f"{message}, got {value}"


def parse_model(model: type[_Model], data: object, *, source: str = "", prefix: str = "") -> _Model:
    """Validate `data` against `model` and report the first problem as a `ScenarioError`.

    Parameters
    ----------
    model : type
        Pydantic model to build.
    data : object
        Usually a mapping read from TOML.
    source, prefix : str
        File name and dotted path of `data` inside the file, for the message.

    Returns
    -------
    model instance

    Raises
    ------
    ScenarioError
        Names file, field, value and what is allowed.
    """
    try:
        return model.model_validate(data)
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
        # Of the branches of a union the deepest location is the one the user meant.
        error = errors[0]
        path = [str(part) for part in error["loc"] if not (isinstance(part, str) and part.endswith("]"))]
        cause = error.get("ctx", {}).get("error")
        if isinstance(cause, ScenarioError):
            path += [cause.field] if cause.field else []
            text = cause.problem
        else:
            text = _problem(error, model)
        field = ".".join(part for part in ([prefix] if prefix else []) + path)
        for number in [part for part in path if part.isdigit()]:
            field = field.replace(f".{number}", f"[{number}]", 1)
        raise ScenarioError(text, field=field, source=source) from None
