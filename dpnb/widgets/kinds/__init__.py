"""The interactions themselves: a file for each, with its class; :mod:`dpnb.widgets.registry` lists them.

``seesaw.py`` defines ``Seesaw``, ``%dp seesaw`` shows it, ``labextension/src/widgets/seesaw`` draws it.
"""
