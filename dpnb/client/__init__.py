"""What an analyst types: handles that hold no data, sessions, and the plain twins of the cell magic.

The room knows public facts alone (schemas, prices, released integers). It finds or starts the curator and talks to it;
it never opens a protected file, never draws noise, and never keeps a budget of its own.
"""
