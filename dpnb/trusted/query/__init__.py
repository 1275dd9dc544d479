"""What a kernel asks for: measurements with their noise, never a sensitivity; and what they cost by the curator's own count.

A plan crosses the wire as JSON. It is read strictly, held against the public schema and the limits on work, and priced by
:func:`dpnb.trusted.measurements.events` alone. What a kernel calls a question is a label: it is kept beside, and nothing follows from it.
"""
