"""Synthetic rows from which inference is valid: measured two-way tables, a model of them, tables drawn from it, combined intervals.

``people.synthetic("age", "educ", "married")`` asks one noised two-way table for each pair of columns, all with equal noise
(:mod:`dpnb.synthetic.synthetic`). Everything here is computed from what was released, and costs nothing:

``asked``      the questions: two-way tables, each with an equal part of one share
``design``     the columns as they were measured (levels, bins), the pairs, how good a table is (σ, g, promised level), refusals
``effects``    the tables as one vector of contrasts with independent noise
``posterior``  log-linear models that agree with it: the mode, and draws around it
``rows``       tables of rows drawn from the models
``combine``    one estimate and one interval out of the same analysis of every table

An analysis is supported if and only if every pair among its columns was measured: the model holds the columns of any other
pair independent given the rest, and no interval would notice. What needs three columns at once is modelled, not measured.

*Held by other rooms.* A :class:`~dpnb.synthetic.synthetic.Synthetic` is pending or released. ``tables`` are its questions, one estimate for each pair;
``columns`` the :class:`~dpnb.synthetic.design.Variable` of each column; ``rows(m)`` the columns of table m as arrays, ``frames()`` DataFrames. ``record()``
is everything but the rows as plain JSON values, and ``Synthetic.read(record, tables)`` is the same result again, where ``tables`` has
for each of them its columns as arrays by name. :func:`~dpnb.synthetic.design.forecast` says what a loss would buy.
"""
