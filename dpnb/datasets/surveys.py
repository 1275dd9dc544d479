"""``randhie``, ``fair`` and ``anes96``: three public surveys that statsmodels ships.

Bounds and codes are those of the codebooks; open-ended measures have generous round bounds. Where a codebook's
answers are midpoints of intervals (``fair``), the column is a number whose grid holds the midpoints.
"""

from __future__ import annotations

from functools import partial

from dpnb.datasets.study import Study, flag, public_study, read_delimited
from dpnb.trusted.schema import Column

RANDHIE = Study(
    public_study(
        "randhie",
        "RAND Health Insurance Experiment: visits to the doctor under different insurance plans",
        20_190,
        (
            Column.integer("mdvis", 0, 50, label="visits to a doctor in the year"),
            Column.number("lncoins", 0, 5, step="0.001", label="ln(coinsurance in percent + 1)"),
            flag("idp", "plan with an individual deductible (1 = yes)"),
            Column.number("lpi", 0, 8, step="0.001", label="ln(yearly participation payment), 0 if none"),
            Column.number(
                "fmde", 0, 10, step="0.001", label="ln(largest expenditure / coinsurance), 0 if none"
            ),
            Column.number(
                "physlm", 0, 1, step="0.01", label="has a physical limitation (1 = yes; imputed between)"
            ),
            Column.number("disea", 0, 60, step="0.1", label="index of chronic diseases"),
            flag("hlthg", "own health said to be good (1 = yes)"),
            flag("hlthf", "own health said to be fair (1 = yes)"),
            flag("hlthp", "own health said to be poor (1 = yes)"),
        ),
        description=(
            "Families were given insurance plans at random. A row is one person in one year and the file names no "
            "person: the guarantee shown here is for a row, not for all years of a person."
        ),
        source_note="The data set randhie of the Python package statsmodels, after Cameron and Trivedi",
        licence="Public domain",
        citation=(
            "Cameron, A. Colin, and Pravin K. Trivedi. 2005. Microeconometrics: Methods and Applications. "
            "Cambridge University Press. Data: RAND Health Insurance Experiment."
        ),
    ),
    partial(read_delimited, "statsmodels", "datasets", "randhie", "randhie.csv"),
)

FAIR = Study(
    public_study(
        "fair",
        "Marriage and affairs: a magazine's survey of 1974",
        6366,
        (
            Column.category(
                "rate_marriage", [1, 2, 3, 4, 5], label="marriage is (1 = very poor … 5 = very good)"
            ),
            Column.number("age", 15, 45, step="0.5", label="age in years (midpoints)"),
            Column.number("yrs_married", 0, 24, step="0.5", label="years married (midpoints)"),
            Column.number("children", 0, 6, step="0.5", label="number of children (5.5 = more than five)"),
            Column.category("religious", [1, 2, 3, 4], label="religious (1 = not … 4 = strongly)"),
            Column.integer("educ", 8, 20, label="education (9 = grade school … 20 = advanced degree)"),
            Column.category("occupation", [1, 2, 3, 4, 5, 6], label="own occupation (codebook 1 to 6)"),
            Column.category(
                "occupation_husb", [1, 2, 3, 4, 5, 6], label="husband's occupation (codebook 1 to 6)"
            ),
            Column.number("affairs", 0, 60, step="0.01", label="measure of time spent in affairs"),
        ),
        description="Answers of married women to a survey of Redbook magazine: volunteers, not a sample.",
        source_note="The data set fair of the Python package statsmodels",
        licence="Included in statsmodels with permission of the author",
        citation="Fair, Ray. 1978. A Theory of Extramarital Affairs. Journal of Political Economy 86 (1): 45-61.",
    ),
    partial(read_delimited, "statsmodels", "datasets", "fair", "fair.csv"),
)

_LEFT_RIGHT = [1, 2, 3, 4, 5, 6, 7]

ANES96 = Study(
    public_study(
        "anes96",
        "American National Election Study 1996: how people meant to vote",
        944,
        (
            flag("vote", "expected vote (0 = Clinton, 1 = Dole)"),
            Column.category(
                "PID", [0, 1, 2, 3, 4, 5, 6], label="party (0 = strong Democrat … 6 = strong Republican)"
            ),
            Column.category(
                "selfLR", _LEFT_RIGHT, label="own views (1 = very liberal … 7 = very conservative)"
            ),
            Column.category(
                "ClinLR", _LEFT_RIGHT, label="Clinton's views as seen (1 = liberal … 7 = conservative)"
            ),
            Column.category(
                "DoleLR", _LEFT_RIGHT, label="Dole's views as seen (1 = liberal … 7 = conservative)"
            ),
            Column.integer("age", 18, 98, label="age in years"),
            Column.category("educ", _LEFT_RIGHT, label="education (1 = grades 1 to 8 … 7 = doctorate)"),
            Column.category("income", list(range(1, 25)), label="household income (bracket 1 to 24)"),
            Column.category("TVnews", [0, 1, 2, 3, 4, 5, 6, 7], label="days a week with television news"),
            Column.integer("popul", 0, 8_000, label="population of the place, in thousands"),
        ),
        description="A part of the 1996 election study's respondents: those who named Clinton or Dole.",
        source_note="The data set anes96 of the Python package statsmodels",
        licence="Public domain",
        citation="The American National Election Studies (www.electionstudies.org): 1996 Time Series Study.",
    ),
    partial(read_delimited, "statsmodels", "datasets", "anes96", "anes96.csv", delimiter="\t"),
)
