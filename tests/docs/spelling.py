"""``python -m tests.docs.spelling`` adds the words of the pages to the list, and prints the new ones to be looked at."""

from __future__ import annotations

from tests.docs.test_site import HERE, PROSE, spelt, words_of

LIST = HERE / "words.txt"


def main() -> None:
    """Write the list anew, with the words that the pages have today."""
    known = set(LIST.read_text(encoding="utf-8").split()) if LIST.exists() else set()
    found = set().union(*(spelt(words_of(name)) for name in PROSE))
    print("\n".join(sorted(found - known)))
    LIST.write_text("\n".join(sorted(found)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
