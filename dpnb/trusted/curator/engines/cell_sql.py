"""The reading of a cell in SQL, type by type: :mod:`dpnb.trusted.schema.cell` over again, equal to it bit for bit.

Each function takes a column's quoted name (or any cheap expression) and its type as DuckDB's DESCRIBE names it, and
returns an expression. Types are public facts of a file; no expression looks at another row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from dpnb.trusted.schema.calendar import DAY, FIRST_DAY, LAST_DAY, MINUTES, MOMENT, ZONE
from dpnb.trusted.schema.cell import BLANK, FALSE, LARGEST_WHOLE, MOST_ZEROS, NUMBER, PARTS, PLAIN_WHOLE, TRUE
from dpnb.trusted.schema.free_text import BYTES, FreeText
from dpnb.trusted.schema.text_rules import LOWER, TIMES, TextRule

_SMALL_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"}
_LARGE_INTEGERS = {"BIGINT", "UBIGINT"}
_HUGE_INTEGERS = {"HUGEINT", "UHUGEINT", "BIGNUM", "VARINT"}
_FLOATS = {"FLOAT", "DOUBLE"}
_TEXTS = {"VARCHAR", "JSON", "UUID"}
_COARSE = {"TIMESTAMP_S", "TIMESTAMP_MS"}
_MOMENTS = {"DATE", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"} | _COARSE
DATED = "STRUCT(day DATE, other VARCHAR)"
"""Days where a cell is one in its declared form, and the texts of all others (:func:`dated`)."""
_EPOCH = "DATE '1970-01-01'"
_NULL = '"NULL"'

_BEGINS_A_NUMBER = f"^[{BLANK}]*[-+.0-9iItTfF]"
_INFINITE = "[+-]?[iI].*"


def literal(text: str) -> str:
    """A text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def readable(kind: str) -> bool:
    """Whether cells of a type are numbers, texts or dates; all other types (nested, binary, spans of time) are refused."""
    if kind.endswith("]"):
        return False
    plain = _SMALL_INTEGERS | _LARGE_INTEGERS | _HUGE_INTEGERS | _FLOATS | _TEXTS | _MOMENTS
    return kind in plain | {"BOOLEAN", _NULL} or kind.startswith(("DECIMAL(", "ENUM("))


def is_small(kind: str) -> bool:
    """Whether a type holds whole numbers of at most 32 bits."""
    return kind in _SMALL_INTEGERS or kind == "BOOLEAN"


def is_integer(kind: str) -> bool:
    """Whether a type holds integers of at most 64 bits."""
    return kind in _SMALL_INTEGERS | _LARGE_INTEGERS


def has_point(kind: str) -> bool:
    """Whether a type holds numbers whose texts may have a point."""
    return kind in _FLOATS or (kind.startswith("DECIMAL(") and not kind.endswith(",0)"))


def is_text(kind: str) -> bool:
    """Whether a type holds texts."""
    return kind in _TEXTS or kind.startswith("ENUM(")


def has_moments(kind: str) -> bool:
    """Whether a type holds dates or times of day on a date."""
    return kind in _MOMENTS


def text_sql(sql: str, kind: str) -> str:
    """A cell's own text: :func:`dpnb.datasets.cell_text.text_of`.

    A type that is not :func:`readable` has the text that the engine gives it.
    """
    if kind in _FLOATS:
        return _number_text(f"CAST({sql} AS DOUBLE)")
    if kind == "BOOLEAN":
        return f"CAST(CAST({sql} AS TINYINT) AS VARCHAR)"
    if kind.startswith("DECIMAL(") and not kind.endswith(",0)"):
        return f"rtrim(rtrim(CAST({sql} AS VARCHAR), '0'), '.')"
    if kind in _MOMENTS:
        return _moment_text(sql, kind)
    return f"nullif(CAST({sql} AS VARCHAR), '')"


@cache
def number_sql(sql: str, kind: str) -> str:
    """The binary64 that a cell is, or NULL (a NaN stays): :func:`dpnb.trusted.schema.cell.number_of` of its text.

    A text without blanks is read first: taking them off costs more than all the rest.
    """
    if kind in _SMALL_INTEGERS | _LARGE_INTEGERS | _FLOATS:
        return f"CAST({sql} AS DOUBLE)"
    if kind == "BOOLEAN":
        return f"CAST(CAST({sql} AS TINYINT) AS DOUBLE)"
    if kind in _HUGE_INTEGERS or kind.startswith("DECIMAL("):
        return f"CAST(CAST({sql} AS VARCHAR) AS DOUBLE)"
    if kind in _MOMENTS or kind == _NULL or not readable(kind):
        return "CAST(NULL AS DOUBLE)"
    bare = f"CAST({sql} AS VARCHAR)"
    text = f"trim({bare}, {_blank_sql()})"
    return (
        f"CASE WHEN regexp_full_match({bare}, {literal(NUMBER)}) THEN TRY_CAST({bare} AS DOUBLE) "
        f"WHEN regexp_full_match({text}, {literal(NUMBER)}) THEN TRY_CAST({text} AS DOUBLE) "
        f"WHEN regexp_full_match({text}, {literal(TRUE)}) THEN 1.0::DOUBLE "
        f"WHEN regexp_full_match({text}, {literal(FALSE)}) THEN 0.0::DOUBLE END"
    )


def moment_sql(sql: str, kind: str, step: str) -> str:
    """The number of the step that a cell falls in, as binary64, or NULL: :func:`dpnb.trusted.schema.calendar.place_of`."""
    if kind == DATED:
        other, day = moment_sql(f"{sql}.other", "VARCHAR", step), f"({sql}.day - {_EPOCH})"
        known = _place_sql(f"{day} * 1440", day, step, "true")
        return f"CASE WHEN {day} IS NULL THEN {other} ELSE {known} END"
    if not is_text(kind) and not has_moments(kind):
        return "CAST(NULL AS DOUBLE)"
    if kind == "DATE":
        day = f"({sql} - {_EPOCH})"
        return _place_sql(f"{day} * 1440", day, step, f"isfinite({sql})")
    own = text_sql(sql, kind)
    text = f"trim({own}, {_blank_sql()})"
    date, alone = f"TRY_CAST(substr({text}, 1, 10) AS DATE)", f"(TRY_CAST({own} AS DATE) - {_EPOCH})"
    minutes = f"(({date} - {_EPOCH}) * 1440 + {_whole(text, 12)} * 60 + {_whole(text, 15)} - {_shift(text)})"
    whole = _place_sql(
        minutes, f"floor({minutes} / 1440.0)", step, f"regexp_full_match({text}, {literal(MOMENT)})"
    )
    bare = f"regexp_full_match({own}, {literal(DAY)})"  # most are a day alone, which is read in a tenth of the time
    return f"CASE WHEN {bare} THEN {_place_sql(f'{alone} * 1440', alone, step, 'true')} ELSE {whole} END"


def _place_sql(minutes: str, day: str, step: str, known: str) -> str:
    date = f"({_EPOCH} + CAST({day} AS INTEGER))"
    place = f"year({date}) * 12 + month({date}) - 1" if step == "month" else steps_sql(minutes, step)
    exists = f"{day} BETWEEN {FIRST_DAY} AND {LAST_DAY}"
    return f"CASE WHEN {known} THEN CASE WHEN {exists} THEN CAST({place} AS DOUBLE) END END"


def steps_sql(minutes: str, step: str) -> str:
    """The number of the step that a minute lies in: the same words in every engine."""
    length, before = MINUTES[step]
    return f"floor(({minutes} + {before}) / {length}.0)"


def _whole(text: str, at: int) -> str:
    return f"coalesce(TRY_CAST(substr({text}, {at}, 2) AS BIGINT), 0)"


def _shift(text: str) -> str:
    """The minutes by which a zone is ahead of universal time."""
    sign, hours, minutes = (f"regexp_extract({text}, {literal(ZONE)}, {group})" for group in (1, 2, 3))
    ahead = f"TRY_CAST({sign} || '1' AS BIGINT) * (TRY_CAST({hours} AS BIGINT) * 60 + TRY_CAST({minutes} AS BIGINT))"
    return f"coalesce({ahead}, 0)"


def label_sql(sql: str, kind: str, text: FreeText) -> str:
    """The label of a cell, NULL or empty where it has none: :meth:`dpnb.trusted.schema.free_text.FreeText.label_of`."""
    read = text_sql(sql, kind)
    for rule in text.rules:
        read = RULES[rule.kind](read, rule)
    return read


def _letters(sql: str, rule: TextRule) -> str:
    """A translation letter by letter is far slower than the engine's own change of case, which ASCII allows."""
    case = "lower" if rule.becoming == LOWER else "upper"
    other = f"translate({sql}, {literal(rule.characters)}, {literal(rule.becoming)})"
    return f"CASE WHEN {_is_ascii(sql)} THEN {case}({sql}) ELSE {other} END"


def _is_ascii(sql: str) -> str:
    """Whether a text has as many bytes as letters, which costs less to count than a pattern does to match."""
    return f"strlen({sql}) = length({sql})"


def _class(characters: str) -> str:
    """Characters inside of a regular expression's brackets."""
    return "".join(f"\\x{{{ord(letter):x}}}" for letter in characters)


def _within(sql: str, rule: TextRule) -> str:
    pattern = f"^[{_class(rule.characters)}]{{1,{rule.length}}}$"
    return f"regexp_extract({sql}, {literal(pattern)})"


def _trim(sql: str, _: TextRule | None = None) -> str:
    """To look at both ends costs less than to take blanks off."""
    return f"CASE WHEN ord({sql}) <= 32 OR ord(right({sql}, 1)) <= 32 THEN trim({sql}, {_blank_sql()}) ELSE {sql} END"


def _date(sql: str, rule: TextRule) -> str:
    """The pattern decides what is read, so that the engine's own reading of a date meets nothing but texts of it."""
    date, text = rule.unnamed, f"trim({sql}, {_blank_sql()})"
    timed = f"^({date})(?:{TIMES[rule.length]})?$"
    found, hour, rest, half = (f"regexp_extract({text}, {literal(timed)}, {group})" for group in (1, 2, 3, 4))
    if rule.length == 12:
        hours = f"TRY_CAST({hour} AS INTEGER) % 12 + CASE WHEN lower({half}) = 'p' THEN 12 ELSE 0 END"
        hour = f"CAST({hours} AS VARCHAR)"

    time = f"CASE WHEN {rest} = '' THEN '' ELSE ' ' || lpad({hour}, 2, '0') || {rest} END"
    day, other = (f"CAST({_day(one, rule)} AS VARCHAR)" for one in (sql, found))
    return (
        f"CASE WHEN regexp_full_match({sql}, {literal(date)}) THEN coalesce({day}, {sql}) "
        f"WHEN regexp_full_match({text}, {literal(timed)}) THEN coalesce({other} || {time}, {sql}) ELSE {sql} END"
    )


def _day(text: str, rule: TextRule) -> str:
    return f"CAST(try_strptime({text}, {literal(rule.becoming)}) AS DATE)"


def dated(sql: str, rule: TextRule) -> str:
    """The day of a cell in its declared form, of which no text is written only to be read again, and the cell itself."""
    return f"{{'day': CASE WHEN regexp_full_match({sql}, {literal(rule.unnamed)}) THEN {_day(sql, rule)} END, 'other': {sql}}}"


def otherwise_dated(sql: str, rule: TextRule) -> str:
    """The same where that day is known, and otherwise what the rule makes of the cell."""
    return f"CASE WHEN {sql}.day IS NULL THEN {{'day': NULL::DATE, 'other': {_date(f'{sql}.other', rule)}}} ELSE {sql} END"


def _number(sql: str, rule: TextRule) -> str:
    """What stands beside and between the digits is taken out: no word of it can stand within a number."""
    pattern = literal(rule.unnamed)
    text = f"trim({sql}, {_blank_sql()})"  # which takes longer than to find that most need it not
    return (
        f"CASE WHEN regexp_full_match({sql}, {pattern}) THEN {_plain(sql, rule)} "
        f"WHEN regexp_full_match({text}, {pattern}) THEN {_plain(text, rule)} "
        f"WHEN regexp_full_match({text}, {literal(TRUE)}) THEN '1' WHEN regexp_full_match({text}, {literal(FALSE)}) THEN '0' ELSE '' END"
    )


def _plain(sql: str, rule: TextRule) -> str:
    wide = "".join(letter for letter in rule.characters if not letter.isascii())
    plain = _without(sql, (*rule.words, *filter(str.isascii, rule.characters)))
    if wide:
        plain = f"CASE WHEN {_is_ascii(sql)} THEN {plain} ELSE {_without(plain, wide)} END"
    if rule.becoming != ".":
        plain = f"replace({plain}, {literal(rule.becoming)}, '.')"
    if "negative" in rule.pattern:
        plain = f"CASE WHEN contains({sql}, '(') THEN '-' ELSE '' END || {plain}"
    if rule.length:
        plain = f"{plain} || CASE WHEN contains({sql}, '%') THEN 'e-{rule.length}' ELSE '' END"
    return plain


def _without(sql: str, words: Iterable[str]) -> str:
    for word in words:
        sql = f"replace({sql}, {literal(word)}, '')"
    return sql


RULES: Mapping[str, Callable[[str, TextRule], str]] = {
    "trim": _trim,
    "letters": _letters,
    "only": lambda sql, rule: f"regexp_replace({sql}, {literal(f'[^{_class(rule.characters)}]')}, '', 'g')",
    "cut": lambda sql, rule: f"substr({sql}, 1, {rule.length})",
    "within": _within,
    "date": _date,
    "number": _number,
}
"""How each kind of rule is written in SQL, from the rule's own data; an empty text and NULL are missing."""


def word_sql(label: str, place: int, text: FreeText) -> str:
    """One of the whole numbers of a label, NULL where it is none or empty."""
    filled = f"hex(nullif({label}, '')) || repeat('0', {2 * BYTES * text.words})"
    return f"CAST('0x' || substr({filled}, {2 * BYTES * place + 1}, {2 * BYTES}) AS BIGINT)"


@cache
def canonical_sql(sql: str, kind: str) -> str:
    """A cell's canonical text, NULL where it is missing: :func:`dpnb.datasets.cell_text.canonical`."""
    if kind in _SMALL_INTEGERS or kind == "BOOLEAN" or kind in _MOMENTS or kind == _NULL:
        return text_sql(sql, kind)
    if kind in _LARGE_INTEGERS:
        small = f"{sql} > -{LARGEST_WHOLE} AND {sql} < {LARGEST_WHOLE}"
        return (
            f"CASE WHEN {small} THEN CAST({sql} AS VARCHAR) ELSE CAST(CAST({sql} AS DOUBLE) AS VARCHAR) END"
        )
    if is_text(kind) or not readable(kind):
        return _canonical_text(f"CAST({sql} AS VARCHAR)")
    return _number_text(number_sql(sql, kind))


def unit_sql(sql: str, kind: str, declared: str | None) -> str:
    """The unit that a cell names, by the unit's declared type, or NULL: :func:`dpnb.datasets.cell_text.unit_of`."""
    text = text_sql(sql, kind)
    if kind in _FLOATS:
        whole = f" AND {sql} = trunc({sql})" if declared == "integer" else ""
        return f"CASE WHEN abs({sql}) < {LARGEST_WHOLE}{whole} THEN {text} END"
    if declared == "text" or is_integer(kind) or is_small(kind):
        return text
    number, other = number_sql(text, "VARCHAR"), text
    small, large = _number_text(number), _large_sql(text)
    if declared == "integer":
        other, small = "NULL", f"CASE WHEN {number} = trunc({number}) THEN {small} END"
        large = f"nullif(regexp_extract({large}, '^-?[0-9]+(e[0-9]+)?$'), '')"
    begins = f"regexp_matches({text}, {literal(_BEGINS_A_NUMBER)})"  # far cheaper than all the rest
    return (
        f"CASE WHEN NOT {begins} THEN {other} WHEN regexp_full_match({text}, {literal(PLAIN_WHOLE)}) THEN {text} "
        f"WHEN {number} IS NULL THEN {other} WHEN abs({number}) < {LARGEST_WHOLE} THEN {small} "
        f"ELSE coalesce({large}, {other}) END"
    )


def _large_sql(sql: str) -> str:
    """A number's text with every digit, without zeros around but those of a whole number; of an infinity its sign; else NULL."""
    text = f"trim({sql}, {_blank_sql()})"
    whole, part, power = (f"regexp_extract({text}, '^{PARTS}$', {group})" for group in (1, 2, 3))
    led = f"ltrim({whole} || {part}, '0')"
    shift = f"coalesce(TRY_CAST(nullif({power}, '') AS HUGEINT), CASE WHEN {power} = '' THEN 0 END)"
    zeros = f"({shift} - length({part}) + length({led}) - length(rtrim({led}, '0')))"
    written = f"repeat('0', CAST(least(greatest({zeros}, 0), {MOST_ZEROS}) AS BIGINT))"
    after = f"CASE WHEN {zeros} BETWEEN 0 AND {MOST_ZEROS} THEN {written} ELSE 'e' || {zeros} END"
    sign = f"CASE WHEN {text} LIKE '-%' THEN '-' ELSE '' END"
    return f"CASE WHEN regexp_full_match({text}, '{_INFINITE}') THEN {sign} || 'inf' ELSE {sign} || rtrim({led}, '0') || {after} END"


def _canonical_text(text: str) -> str:
    """Most texts cannot be a number by how they begin; the others are parsed once (the list binds that number)."""
    number = f"list_transform([{number_sql(text, 'VARCHAR')}], lambda d: {_number_text('d')})[1]"
    return (
        f"CASE WHEN {text} = '' THEN NULL WHEN NOT regexp_matches({text}, {literal(_BEGINS_A_NUMBER)}) THEN {text} "
        f"WHEN regexp_full_match({text}, {literal(PLAIN_WHOLE)}) THEN {text} ELSE coalesce({number}, {text}) END"
    )


def _number_text(number: str) -> str:
    whole = f"{number} = trunc({number}) AND abs({number}) < {LARGEST_WHOLE}"
    return (
        f"CASE WHEN isnan({number}) THEN NULL WHEN {whole} THEN CAST(TRY_CAST({number} AS BIGINT) AS VARCHAR) "
        f"{_misprinted(number)} ELSE CAST({number} AS VARCHAR) END"
    )


def _misprinted(number: str) -> str:
    """The numbers that DuckDB 2.0 prints wrongly, two of them as others; every power of two is tested."""
    values = (sign * 2.0**power for power in (81, 91, 807) for sign in (1, -1))
    return " ".join(f"WHEN {number} = CAST('{x!r}' AS DOUBLE) THEN '{x!r}'" for x in values)


def _moment_text(sql: str, kind: str) -> str:
    """A moment that has no count of microseconds is missing by itself: a plain cast refuses every row for it."""
    moment = f"make_timestamp(epoch_us({sql}))" if kind == "TIMESTAMP WITH TIME ZONE" else sql
    if kind in _COARSE:
        moment = f"TRY_CAST({sql} AS TIMESTAMP)"
    text = f"regexp_replace(CAST({moment} AS VARCHAR), ' 00:00:00$', '')"
    return f"CASE WHEN year({moment}) BETWEEN 1 AND 9999 THEN {text} END"


def _blank_sql() -> str:
    return "(" + " || ".join(f"chr({ord(blank)})" for blank in BLANK) + ")"
