"""What a kernel asks for: measurements with their noise, never a sensitivity; and what they cost by the curator's own count.

A plan crosses the wire as JSON. It is read strictly, held against the public schema and the limits on work, and priced by
:func:`dpnb.trusted.measurements.loss` alone. What a kernel calls a question is a label: it is kept beside, and nothing follows from it.
"""

from __future__ import annotations

from dpnb.trusted.query.plan import EVERYTHING, Plan, Question, Share
from dpnb.trusted.query.plan_record import measured, read_parts, written
from dpnb.trusted.query.price import Charged, ChargedPlan, charged_for, together, whole

__all__ = [
    "EVERYTHING",
    "Charged",
    "ChargedPlan",
    "Plan",
    "Question",
    "Share",
    "charged_for",
    "measured",
    "read_parts",
    "together",
    "whole",
    "written",
]
