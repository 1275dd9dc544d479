"""A workbook of Excel, written by hand: the few parts that a reader needs, and no library that would change a cell."""

from __future__ import annotations

import datetime as dt
import zipfile
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PARTS = "http://schemas.openxmlformats.org/package/2006"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_DAY_ZERO = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - a workbook knows no zone


def cell(value, place, large=False):
    """A cell as Excel writes it; whatever it has no number for is a text, and a pair is the attributes of a cell and what is in it."""
    if isinstance(value, tuple):
        return f'<c r="{place}" {value[0]}><v>{value[1]}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float) and (large or abs(value) < 2**53):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    if isinstance(value, dt.date):
        moment = dt.datetime.combine(value, dt.time()) if not isinstance(value, dt.datetime) else value
        days = (moment - _DAY_ZERO) / dt.timedelta(days=1)
        return f'<c r="{place}" s="{2 if isinstance(value, dt.datetime) else 1}"><v>{days!r}</v></c>'
    text = "" if value is None else "".join(one for one in str(value) if one >= " " or one in "\t\n\r")
    return (
        f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'
        if text
        else ""
    )


def letters(number):
    """The name of a column."""
    return chr(65 + number) if number < 26 else letters(number // 26 - 1) + chr(65 + number % 26)


def write_workbook(path, sheets, more=(), large=False):
    """Write sheets, each a list of rows; a number that no binary64 tells apart is a text, unless it is said to be a number."""
    named = [f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1)]
    links = [
        f'<Relationship Id="r{n}" Type="{_LINKS}/worksheet" Target="worksheets/s{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    ]
    links.append(f'<Relationship Id="r0" Type="{_LINKS}/styles" Target="styles.xml"/>')
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PARTS}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PARTS}/relationships"><Relationship Id="r1" Type="{_LINKS}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>{"".join(named)}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PARTS}/relationships">{"".join(links)}</Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/>'
        '<xf numFmtId="46"/></cellXfs></styleSheet>',
    }
    for number, rows in enumerate(sheets.values(), 1):
        lines = (
            f'<row r="{n}">{"".join(cell(value, f"{letters(place)}{n}", large) for place, value in enumerate(row))}</row>'
            for n, row in enumerate(rows, 1)
        )
        parts[f"xl/worksheets/s{number}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (*parts.items(), *more):
            archive.writestr(name, text)
