"""What a page of ours may do: run the scripts that it was written with, and ask nobody for anything.

A browser holds the page to it, whatever text should ever have become markup in it. The scripts are named by their digests,
taken when they are written and never read back from the finished page.

References
----------
.. [1] W3C, "Content Security Policy Level 3".
"""

from __future__ import annotations

import base64
import hashlib

from dpnb.cards.markup import Markup, el

_REST = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def policy(*scripts: str) -> Markup:
    """Return the ``meta`` element that comes before everything else which a page loads.

    Parameters
    ----------
    scripts : str
        The text of each inline script, as it stands between its tags.

    Examples
    --------
    >>> print(policy())
    <meta http-equiv="Content-Security-Policy" content="default-src &#x27;none&#x27;; style-src ...
    """
    run = f"script-src {' '.join(map(_digest, scripts))}; " if scripts else ""
    return el("meta", http_equiv="Content-Security-Policy", content=f"default-src 'none'; {run}{_REST}")


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}'"
