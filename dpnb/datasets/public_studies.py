"""The public studies: two experiments (``hiv``; ``nsw`` with its counterpart ``cps``), and four surveys.

Where their bounds come from: ``hiv``, the design (vouchers worth nothing to three US dollars, result centres placed so that nearly
everybody lived within five kilometres, some 120 villages) and common sense (ages). ``nsw`` and ``cps``: the programme served
adults of working age; school years end at 20; yearly earnings above 50,000 dollars of the time count as 50,000; both have the same
columns, so that the trial and its observational counterpart can be compared. ``nhefs``: the survey took adults up to 74; weights, heights,
blood pressure and cholesterol are medical common sense; of the file's 67 columns those that the textbook analyses use are declared. ``randhie``,
``fair`` and ``anes96``: the codebooks; open-ended measures have generous round bounds, and where a codebook's answers are midpoints of
intervals (``fair``), the column is a number whose grid holds the midpoints.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpnb.datasets.study import Study, flag, public_study, read_delimited, read_rows
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


_NHEFS_COLUMNS = (
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
        _NHEFS_COLUMNS,
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


_HIV_SCHEMA = public_study(
    "hiv",
    "Collecting one's HIV result: an experiment with cash incentives in Malawi",
    4820,
    (
        flag("got", "collected the HIV test result (1 = yes)"),
        flag("any", "was offered any money for collecting it (1 = yes)"),
        Column.number("tinc", 0, 3, step="0.01", label="money offered, in US dollars"),
        Column.number("distvct", 0, 6, step="0.01", label="distance to the result centre, in kilometres"),
        Column.integer("age", 0, 100, label="age in years"),
        Column.category(
            "hiv2004",
            [-1, 0, 1],
            label="HIV test result in 2004 (1 = positive, 0 = negative, -1 = indeterminate)",
        ),
        Column.integer("villnum", 0, 200, label="village number"),
    ),
    description=(
        "People tested for HIV in rural Malawi drew a voucher of random value, nothing included, "
        "to be paid when they came for their result. Half of the columns are missing for those who were not "
        "followed up."
    ),
    source_note="The file thornton_hiv of the Python package causaldata, after Cunningham, Causal Inference: The Mixtape",
    licence="Replication data of a published article, distributed with causaldata under the MIT licence",
    citation=(
        "Thornton, Rebecca L. 2008. The Demand for, and Impact of, Learning HIV Status. "
        "American Economic Review 98 (5): 1829-1863."
    ),
)

HIV = Study(_HIV_SCHEMA, partial(read_rows, "hiv"))


_TRAINING_COLUMNS = (
    flag("treat", "took part in the training programme (1 = yes)"),
    Column.integer("age", 15, 65, label="age in years"),
    Column.integer("educ", 0, 20, label="years of school"),
    flag("black", "black (1 = yes)"),
    flag("hisp", "hispanic (1 = yes)"),
    flag("marr", "married (1 = yes)"),
    flag("nodegree", "has no school degree (1 = yes)"),
    Column.number("re74", 0, 50_000, step=1, label="earnings in 1974, in dollars"),
    Column.number("re75", 0, 50_000, step=1, label="earnings in 1975, in dollars"),
    Column.number("re78", 0, 50_000, step=1, label="earnings in 1978, in dollars"),
)
_TRAINING_CITATION = (
    "LaLonde, Robert. 1986. Evaluating the Econometric Evaluations of Training Programs with Experimental Data. "
    "American Economic Review 76 (4): 604-620. Dehejia, Rajeev, and Sadek Wahba. 1999. Causal Effects in "
    "Nonexperimental Studies. Journal of the American Statistical Association 94 (448): 1053-1062."
)

NSW = Study(
    public_study(
        "nsw",
        "National Supported Work: a trial of job training",
        445,
        _TRAINING_COLUMNS,
        description="The Dehejia-Wahba sample of the trial: people at random were guaranteed a job for some months.",
        source_note="The file nsw_mixtape of the Python package causaldata",
        licence="Replication data of a published article, distributed with causaldata under the MIT licence",
        citation=_TRAINING_CITATION,
    ),
    partial(read_rows, "nsw"),
)
CPS = Study(
    public_study(
        "cps",
        "Current Population Survey: the comparison group to the job-training trial",
        15_992,
        _TRAINING_COLUMNS,
        description="People of a national survey, none of them trained: the observational counterpart of nsw.",
        source_note="The file cps_mixtape of the Python package causaldata",
        licence="Public domain",
        citation=_TRAINING_CITATION,
    ),
    partial(read_rows, "cps"),
)


#: First and last year of age, and people: U.S. Census Bureau, Census 2000, Table DP-1, California (18 and 19 by difference).
GROUPS: tuple[tuple[int, int, int], ...] = (
    (18, 19, 984_742),
    (20, 24, 2_381_288),
    (25, 34, 5_229_062),
    (35, 44, 5_485_341),
    (45, 54, 4_331_635),
    (55, 59, 1_467_252),
    (60, 64, 1_146_841),
    (65, 74, 1_887_823),
    (75, 84, 1_282_178),
    (85, 94, 425_657),
)


def adult_ages() -> NDArray[np.int16]:
    """Return ages of adults in California with the frequencies of a published table, one for about every thousand adults.

    It replaces the census's own sample of persons, which a publication used and which is not included here. Within a group every
    year of age is taken to be as frequent as the others; the last, open group is taken to be as wide as the two before it.

    Examples
    --------
    >>> ages = adult_ages()
    >>> ages.size, round(float(ages.mean()), 1), round(float(ages.std()), 1)
    (24624, 43.9, 17.6)
    """
    years = [
        (age, people / (1 + last - first)) for first, last, people in GROUPS for age in range(first, last + 1)
    ]
    return np.repeat(
        np.array([age for age, _ in years], dtype=np.int16), [round(many / 1000) for _, many in years]
    )
