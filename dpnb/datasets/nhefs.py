"""``nhefs``: does quitting smoking change weight? (the follow-up of a US health survey, 1971 to 1982.)

Bounds: the survey took adults up to 74; weights, heights, blood pressure and cholesterol are medical common sense.
A few of the file's 67 columns are declared, the ones that the textbook analyses use.
"""

from __future__ import annotations

from functools import partial

from dpnb.datasets.study import Study, flag, public_study, read_rows
from dpnb.trusted.schema import Column

_COLUMNS = (
    flag("qsmk", "quit smoking between 1971 and 1982 (1 = yes)"),
    Column.number("wt82_71", -50, 50, step="0.01", label="weight change 1971 to 1982, in kg"),
    Column.number("wt71", 30, 200, step="0.01", label="weight in 1971, in kg"),
    Column.number("wt82", 30, 200, step="0.01", label="weight in 1982, in kg"),
    flag("sex", "sex (0 = male, 1 = female)"),
    Column.integer("age", 20, 80, label="age in 1971, in years"),
    flag("race", "race (0 = white, 1 = black or other)"),
    Column.category(
        "education", [1, 2, 3, 4, 5], label="education (1 = 8th grade or less … 5 = college or more)"
    ),
    Column.integer("school", 0, 20, label="highest grade of school"),
    Column.number("ht", 120, 220, step="0.1", label="height in 1971, in cm"),
    Column.integer("smokeintensity", 0, 100, label="cigarettes a day in 1971"),
    Column.integer("smkintensity82_71", -100, 100, label="change in cigarettes a day, 1971 to 1982"),
    Column.integer("smokeyrs", 0, 70, label="years of smoking"),
    Column.category("exercise", [0, 1, 2], label="exercise (0 = much, 1 = moderate, 2 = little or none)"),
    Column.category(
        "active", [0, 1, 2], label="activity on a usual day (0 = very, 1 = moderate, 2 = inactive)"
    ),
    Column.integer("sbp", 60, 260, label="systolic blood pressure in 1982, in mmHg"),
    Column.integer("dbp", 30, 150, label="diastolic blood pressure in 1982, in mmHg"),
    Column.integer("cholesterol", 50, 500, label="cholesterol in 1971, in mg per 100 ml"),
    flag("asthma", "asthma diagnosed by 1971 (1 = yes)"),
    flag("death", "died by 1992 (1 = yes)"),
)

NHEFS = Study(
    public_study(
        "nhefs",
        "Quitting smoking and weight: the NHANES I follow-up study",
        1629,
        _COLUMNS,
        description="Smokers of the first national health and nutrition survey (1971 to 1975), seen again in 1982.",
        source_note="The file nhefs of the Python package causaldata, as used in Hernán and Robins, Causal Inference",
        licence="A work of the US government (CDC), public domain",
        citation=(
            "Hernán, Miguel A., and James M. Robins. 2020. Causal Inference: What If. Chapman & Hall/CRC. "
            "Data: National Center for Health Statistics, NHANES I Epidemiologic Follow-up Study."
        ),
    ),
    partial(read_rows, "nhefs"),
)
