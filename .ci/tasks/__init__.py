"""What the targets of the Makefile do. Each module needs the standard library alone."""
