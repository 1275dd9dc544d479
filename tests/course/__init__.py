"""Checks of the course, and its kit."""
