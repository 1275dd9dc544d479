"""What an owner does at a terminal to a home and its ledger: it writes what a curator trusts, and no running curator loads it.

An act needs the home's files, which only their user can write: no message on the wire carries one.
"""
