"""What an analyst types: handles that contain no data, sessions, and plain functions for what the cell magic does.

This package sees only public facts (schemas, prices, released integers). It finds or starts the curator and talks to it.
It never opens a protected file, never draws noise, and never keeps a budget of its own.
"""
