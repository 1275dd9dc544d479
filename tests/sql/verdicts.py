"""Every query of the list that was written before the translator, with its verdict: answered as DuckDB answers, or refused with words."""

SAME = {
    "sn01": "SELECT COUNT(*) AS n FROM people",
    "sn02": "SELECT sex, COUNT(*) AS n, AVG(age) AS mean_age FROM people GROUP BY sex ORDER BY sex",
    "sn03": "SELECT educ, COUNT(*) AS c FROM people GROUP BY educ HAVING COUNT(*) > 500 ORDER BY c DESC LIMIT 5",
    "sn04": "SELECT sex, married, race, SUM(income) AS total FROM people GROUP BY sex, married, race ORDER BY 1,2,3",
    "sn05": "SELECT AVG(a) AS m FROM (SELECT age + 5 AS a, income FROM people WHERE married = 1) AS t WHERE income > 20000",
    "sn06": "WITH adults AS (SELECT age, income AS pay FROM people WHERE age BETWEEN 25 AND 64) SELECT COUNT(*) AS n, AVG(pay) AS m FROM adults WHERE pay IS NOT NULL",
    "sn07": "SELECT AVG(2 * age - educ / 4.0) AS s, SUM(educ * educ) AS q FROM people",
    "sn08": "SELECT VAR_POP(age) AS v, STDDEV_POP(age) AS s, VARIANCE(educ) AS vs, VAR_SAMP(income) AS vi FROM people",
    "sn09": 'SELECT "Region", COUNT(*) AS N FROM People WHERE AGE > 30 AND "sex" = 1 GROUP BY region ORDER BY 1',
    "sn10": "SELECT COUNT(*) AS n FROM people WHERE race IN ('black','asian') OR NOT (educ < 9 OR married <> 1)",
    "sn11": "SELECT COUNT(*) AS n, COUNT(income) AS k, SUM(CASE WHEN income > 50000 THEN 1 ELSE 0 END) AS hi, COUNT(*) FILTER (WHERE NOT income > 50000) AS lo FROM people",
    "sn12": "SELECT married, COUNT(*) AS n FROM people WHERE income IS NULL GROUP BY married ORDER BY married",
    "sn13": "SELECT COUNT(DISTINCT custkey) AS people, COUNT(*) AS nrows FROM lineitem",
    "sn14": "SELECT SUM(income) / COUNT(income) AS m, 100.0 * COUNT(income) / COUNT(*) AS pct FROM people",
    "sn15": "SELECT * FROM (SELECT educ, COUNT(*) AS n FROM people GROUP BY educ) t WHERE n BETWEEN 500 AND 3000 ORDER BY n DESC",
    "sn16": "SELECT MEDIAN(age) AS med, QUANTILE_DISC(age, 0.25) AS q1, PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY educ) AS q9 FROM people",
    "sn17": "SELECT MODE(educ) AS m FROM people WHERE age >= 25",
    "sn18": "SELECT CORR(educ, age) AS r, COVAR_POP(educ, age) AS c FROM people",
    "sn19": "SELECT 3 AS three, married, AVG(age) AS a FROM people GROUP BY married ORDER BY married",
    "sn20": "SELECT educ FROM people GROUP BY educ ORDER BY educ",
    "sn21": "SELECT SUM(age) * 1 AS a, 1 + COUNT(*) AS c, POWER(AVG(age), 2) AS p FROM people",
    "sn22": "SELECT SUM(age + educ) AS s, SUM(age + 1) * 1 AS t FROM people",
    "sn23": "SELECT SUM(CASE WHEN age > 90 THEN 1 ELSE 0 END) AS old FROM people",
    "sn24": "SELECT COUNT(*) AS n FROM (SELECT * FROM people WHERE sex = 1) q",
    "sn25": "SELECT COUNT(*) AS s FROM people GROUP BY married, CASE WHEN age > 60 THEN 1 ELSE 0 END ORDER BY s",
    "sn26": "SELECT p.married, AVG(p.age) AS aa FROM people AS p GROUP BY p.married ORDER BY 1",
    "sn27": "SELECT STDDEV(educ) AS s, STDDEV_SAMP(age) AS t FROM people WHERE puma = 1101 AND age > 85",
    "h01": "SELECT returnflag, linestatus, SUM(quantity) AS sum_qty, SUM(extendedprice) AS base, SUM(extendedprice*(1-discount)) AS disc, SUM(extendedprice*(1-discount)*(1+tax)) AS charge, AVG(quantity) AS avg_qty, AVG(discount) AS avg_disc, COUNT(*) AS n FROM lineitem WHERE shipdate <= DATE '1998-12-01' - INTERVAL 90 DAY GROUP BY returnflag, linestatus HAVING COUNT(*) > 10 ORDER BY returnflag, linestatus",
    "h06": "SELECT SUM(extendedprice * discount) AS revenue FROM lineitem WHERE shipdate >= DATE '1994-01-01' AND shipdate < DATE '1994-01-01' + INTERVAL 1 YEAR AND discount BETWEEN 0.05 AND 0.07 AND quantity < 24",
    "h12": "SELECT shipmode, SUM(CASE WHEN brand = 'Brand#12' OR brand = 'Brand#23' THEN 1 ELSE 0 END) AS high, SUM(CASE WHEN brand <> 'Brand#12' AND brand <> 'Brand#23' THEN 1 ELSE 0 END) AS low FROM lineitem WHERE shipmode IN ('MAIL','SHIP') AND receiptdate >= DATE '1994-01-01' AND receiptdate < DATE '1995-01-01' GROUP BY shipmode HAVING COUNT(*) > 5 ORDER BY shipmode",
    "h14": "SELECT 100.00 * SUM(CASE WHEN brand LIKE 'PROMO%' THEN extendedprice * (1 - discount) ELSE 0 END) / SUM(extendedprice * (1 - discount)) AS promo FROM lineitem WHERE shipdate >= DATE '1995-09-01' AND shipdate < DATE '1996-01-01'",
    "h07": "SELECT EXTRACT(year FROM shipdate) AS y, SUM(extendedprice) AS v FROM lineitem WHERE shipdate < DATE '1999-01-01' GROUP BY 1 HAVING COUNT(*) > 10 ORDER BY 1",
    "h08": "SELECT DATE_TRUNC('month', shipdate) AS m, COUNT(*) AS n FROM lineitem WHERE shipdate >= DATE '1995-01-01' AND shipdate < DATE '1996-01-01' GROUP BY 1 HAVING COUNT(*) > 10 ORDER BY 1",
    "h19": "SELECT SUM(extendedprice * (1 - discount)) AS revenue FROM lineitem WHERE (brand = 'Brand#12' AND quantity BETWEEN 1 AND 11 AND shipmode IN ('AIR','REG AIR')) OR (brand = 'Brand#23' AND quantity >= 10 AND quantity <= 20) OR (brand = 'Brand#34' AND quantity BETWEEN 20 AND 30)",
    "h04": "SELECT AVG(receiptdate - shipdate) AS days, COUNT(*) FILTER (WHERE DATE_DIFF('day', shipdate, receiptdate) > 20) AS late FROM lineitem",
    "h13": "SELECT ISODOW(shipdate) AS wd, COUNT(*) AS n FROM lineitem GROUP BY wd ORDER BY wd",
    "c01": "SELECT CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'old' END AS band, COUNT(*) AS n, AVG(income) AS m FROM people GROUP BY 1 ORDER BY band",
    "c02": "SELECT age // 10 * 10 AS decade, COUNT(*) AS n FROM people GROUP BY ALL HAVING COUNT(*) > 0.5 ORDER BY decade",
    "c03": "SELECT FLOOR(age / 5) * 5 AS five, AVG(CASE WHEN married = 1 THEN 1.0 ELSE 0.0 END) AS share FROM people WHERE age < 90 GROUP BY 1 HAVING COUNT(*) > 0.5 ORDER BY 1",
    "c04": "SELECT income > 50000 AS rich, COUNT(*) AS n FROM people WHERE income IS NOT NULL GROUP BY rich ORDER BY rich",
    "c05": "SELECT AVG(COALESCE(income, 0)) AS m0, AVG(LEAST(income, 100000)) AS top, AVG(ABS(age - 40)) AS dev FROM people",
    "c06": "SELECT COUNT(CASE WHEN educ >= 13 THEN 1 END) AS college, AVG(CASE WHEN sex = 1 THEN income END) AS women FROM people",
    "c07": "SELECT age % 2 AS odd, AVG(FLOOR(change / 3)) AS f FROM people GROUP BY 1 ORDER BY 1",
    "c08": "SELECT COUNT(*) AS n FROM people WHERE age >= :low AND race = {{which}}",
    "c09": "SELECT puma, SUM(employed)::DOUBLE / COUNT(*) AS rate FROM people WHERE age BETWEEN 18 AND 64 GROUP BY puma ORDER BY rate DESC LIMIT 3",
    "c10": "SELECT COUNT(*) AS n FROM people WHERE income IS DISTINCT FROM 0",
    "c11": "SELECT CASE WHEN income < 20000 THEN 'low' WHEN income >= 80000 THEN 'high' ELSE 'rest' END AS g, COUNT(*) AS n FROM people GROUP BY g ORDER BY g",
    "c12": "SELECT COUNT_IF(married = 1 AND children = 1) AS k, AVG(age) FILTER (WHERE divorced = 1) AS d FROM people",
    "p01": "WITH v AS (SELECT person, SUM(minutes) AS t FROM visits GROUP BY person) SELECT AVG(t) AS m FROM v",
    "p02": "SELECT sex, SUM(v.minutes) AS t, COUNT(*) AS visits, AVG(v.minutes) AS per FROM hospital JOIN visits v USING (person) GROUP BY sex ORDER BY sex",
    "p03": "SELECT sex, AVG(t.k) AS m FROM hospital LEFT JOIN (SELECT person, COUNT(*) AS k FROM visits GROUP BY person) t ON hospital.person = t.person WHERE age > 50 GROUP BY sex ORDER BY sex",
}
"""Answered as DuckDB answers, at a loss with which noise is nothing."""

REFUSED = {
    "r01": (
        "SELECT * FROM people",
        "SELECT * shows rows, and no row leaves. Ask aggregates: SELECT COUNT(*), AVG(age) FROM people.",
    ),
    "r02": (
        "SELECT age, COUNT(*) FROM people",
        "age is one row's value. Aggregate it, or group by it: GROUP BY age.",
    ),
    "r03": (
        "SELECT MAX(income) FROM people",
        "MAX(income) is one person's value. Ask a quantile near the end: quantile_cont(income, 0.99); the declared bounds are public.",
    ),
    "r04": (
        "SELECT COUNT(DISTINCT educ) FROM people",
        "COUNT(DISTINCT educ): one person alone can add a value. The declared values are public; which of them many rows have: .frequent_values().",
    ),
    "r05": (
        "SELECT DISTINCT race FROM people",
        "SELECT DISTINCT lists values that rows have. Declared values are public; how many rows have each: GROUP BY with COUNT(*).",
    ),
    "r06": (
        "SELECT COUNT(*) FROM people a JOIN people b ON a.age = b.age",
        "people AS b is not a declared second table of people: a row that met many people's rows would let one person change what is asked of others. Declare [source.people], or join before you declare.",
    ),
    "r07": (
        "SELECT COUNT(*) FROM hospital JOIN orders USING (person)",
        "orders is not a declared second table of hospital: a row that met many people's rows would let one person change what is asked of others. Declare [source.orders], or join before you declare.",
    ),
    "r08": (
        "SELECT COUNT(*) FROM people WHERE income > (SELECT AVG(income) FROM people)",
        "A subquery inside an expression is a release of its own: m << SELECT AVG(income) FROM people; then write :m.",
    ),
    "r09": (
        "SELECT age, RANK() OVER (ORDER BY income) FROM people",
        "A window function ranks or accumulates single rows. Over released groups it is free: release, then use the frame.",
    ),
    "r10": (
        "SELECT AVG(age) FROM (SELECT age FROM people ORDER BY income LIMIT 100) t",
        "LIMIT, ORDER BY and DISTINCT on single rows would let one person decide about others. Leave them out, or filter with WHERE.",
    ),
    "r11": (
        "SELECT COUNT(DISTINCT custkey) FROM lineitem WHERE brand = 'Brand#12'",
        'How many people have such a row is not asked of single rows: of each person dpnb would have to look at all. Its owner declares [prepare] x = { any = "…", is = … }; COUNT(DISTINCT custkey) without WHERE and GROUP BY works.',
    ),
    "r12": (
        "SELECT AVG(income / age) FROM people",
        "income / age: division by a column could fail in some row. Divide by a constant, or divide two aggregates.",
    ),
    "r13": (
        "SELECT COUNT(*) FROM people UNION ALL SELECT COUNT(*) FROM lineitem",
        "A private cell answers one SELECT; UNION is not one. Ask each SELECT by itself; released frames are stacked free.",
    ),
    "r14": (
        "SELECT AVG(t) FROM (SELECT custkey, SUM(quantity) AS t FROM lineitem GROUP BY custkey) q",
        'One row of each person is made by its owner, before anybody asks: under [prepare] write quantity = { sum = "quantity", upper = … }. Then ask the column.',
    ),
    "r15": (
        'SELECT COUNT(*) FROM people WHERE race = "black"',
        "race and black are categories with different values and cannot be compared.",
    ),
    "r16": ("INSERT INTO people VALUES (1)", "A private cell answers one SELECT; INSERT is not one."),
    "r17": (
        "SELECT custkey, COUNT(*) FROM lineitem GROUP BY custkey",
        "custkey names people. It can be counted, COUNT(DISTINCT custkey), and nothing else.",
    ),
    "r18": (
        "SELECT SUM(change // 3) FROM people",
        "change // 3: of negative numbers DuckDB cuts toward zero and dpnb goes down. Write FLOOR(x / k), which means one thing.",
    ),
    "r19": (
        "SELECT sex, married, COUNT(*) FROM people GROUP BY ROLLUP (sex, married)",
        "ROLLUP adds margins of one table: ask GROUP BY the finest keys; .margin() of the answer is free.",
    ),
    "r20": (
        "SELECT income, COUNT(*) FROM people GROUP BY income",
        "people.income has 200,001 declared values; a key is limited to 100,000. Group by bins; or ask .frequent_values() in a budget with δ.",
    ),
    "r21": (
        "SELECT COUNT(*) FROM hospital h WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person = h.person AND ward = 'surgery')",
        'looks across tables. Its owner declares it: [prepare] x = { any = "visits.…", is = … }.',
    ),
    "r22": ("SELECT AVG(incme) FROM people", "people has no column incme. Did you mean income?"),
    "r23": (
        "SELECT COUNT(*) FROM people WHERE race = 'blue'",
        "race is declared asian/black/latino/white: it has no value 'blue'.",
    ),
    "r24": (
        "SELECT SUM(DISTINCT age) FROM people",
        "SUM(DISTINCT age) leaves out equal values of different people, so that one person's row depends on others'.",
    ),
    "r25": ("SELECT STRING_AGG(race, ',') FROM people", "LISTAGG(race, ',') shows single values."),
    "r27": (
        "SELECT SUM(SUM(age)) FROM people",
        "SUM(SUM(age)): an aggregate of an aggregate. Release the inner one; .sum() and .mean() of the answer are free.",
    ),
    "r28": ("SELECT 1", "Name the dataset: SELECT … FROM people."),
    "r29": (
        "SELECT CASE WHEN age > 90 THEN 1 ELSE 0 END AS old FROM people",
        "CASE WHEN age > 90 THEN 1 ELSE 0 END is one row's value. Aggregate it, or group by it: GROUP BY CASE WHEN age > 90 THEN 1 ELSE 0 END.",
    ),
    "r30": (
        "SELECT COUNT(*) FROM people, lineitem",
        "lineitem is not a declared second table of people: a row that met many people's rows would let one person change what is asked of others. Declare [source.lineitem], or join before you declare.",
    ),
    "r26": (
        "SELECT AVG(LN(income)) FROM people",
        "LN(income) is not in the column language. It has + - * / // %, CASE, COALESCE, GREATEST, LEAST, ABS, FLOOR and parts of dates.",
    ),
}
"""Refused, and what is said."""
