"""What a column seems to hold, by its name and its storage type: a guess for an owner to correct, never a look at a value.

A bound that stands in a guess is common sense about a word (nobody is younger than 0, a year has twelve months). Words are English,
German and French, without their accents; another language is a row more of the table.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_STORED: Final[Mapping[str, str]] = {
    **dict.fromkeys((*_INTEGERS, *("U" + name for name in _INTEGERS)), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "REAL", "DECIMAL"), "number"),
    **dict.fromkeys(("VARCHAR", "ENUM"), "category"),
    "BOOLEAN": "boolean",
    "DATE": "date",
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "datetime"),
}


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column seems to be.

    Parameters
    ----------
    kind : str
        ``"integer"``, ``"number"``, ``"category"``, ``"boolean"``, ``"text"`` (labels that are too many to list), ``"date"``,
        ``"datetime"``, ``"person"`` (it names somebody), ``"identifier"`` (it names something, or not surely one person), ``"index"``
        (pandas wrote it) or ``"unknown"``.
    lower, upper : int, optional
        Bounds that follow from the word alone.
    stored : bool
        Whether the storage type says so.
    """

    kind: str
    lower: int | None = None
    upper: int | None = None
    stored: bool = field(default=False, repr=False)


UNDRAFTED: Final = ("person", "identifier", "index")
"""Kinds of columns that no draft declares."""


_PEOPLE: Final = "person patient customer client user member respondent participant pupil employee"
_NAMED_BY_IDS: Final = frozenset(
    (
        f"{_PEOPLE} subject case passenger student teacher worker staff resident citizen voter driver tenant inmate donor applicant "
        "borrower taxpayer household hh resp pat pers cust emp citizen individual account my the row record unique "
        "kunden patienten personen personal teilnehmer mitarbeiter schueler fall haushalt personne salarie eleve foyer"
    ).split()
)
"""Whom or what a column ending in *id* may name where people are the unit; of anything else (AgencyID) it names the thing."""
_INDEX: Final = re.compile(r"Unnamed: \d+(_level_\d+)?|__index_level_\d+__")


def _each(words: str, guess: Guess) -> dict[str, Guess]:
    return dict.fromkeys(words.split(), guess)


_BY_WORD: Final[Mapping[str, Guess]] = {
    **_each("id uid uuid guid idcode caseid ssn email mail phone telephone", Guess("person")),
    **_each("telefon tel handy courriel identifiant matricule matrikelnummer", Guess("person")),
    **_each("kundennummer patientennummer personalnummer versichertennummer", Guess("person")),
    **_each("address street surname firstname lastname fullname url ip", Guess("identifier")),
    **_each("adresse anschrift strasse hausnummer vorname nachname familienname", Guess("identifier")),
    **_each("rue prenom nomdefamille", Guess("identifier")),
    **_each(_PEOPLE, Guess("person")),
    **_each("kunde patientin mitarbeiter mitarbeiterin teilnehmer personne", Guess("person")),
    **_each("date dob birthday birthdate born admitted discharged admission discharge", Guess("date")),
    **_each("joined enrolled hired", Guess("date")),
    **_each("datum geburtsdatum geburtstag geboren aufnahme entlassung", Guess("date")),
    **_each("naissance entree sortie", Guess("date")),
    **_each("timestamp datetime zeitstempel zeitpunkt horodatage", Guess("datetime")),
    **_each("age ages alter lebensalter", Guess("integer", 0, 120)),
    **_each("month monat mois", Guess("integer", 1, 12)),
    **_each("hour stunde heure", Guess("integer", 0, 23)),
    **_each("year jahr jahrgang geburtsjahr baujahr annee", Guess("integer")),
    **_each(
        "count number num n nr children kids rooms visits quantity qty persons size", Guess("integer", 0)
    ),
    **_each("anzahl zahl nummer kinder kinderzahl zimmer besuche menge personen", Guess("integer", 0)),
    **_each("nombre nb enfants pieces visites quantite personnes", Guess("integer", 0)),
    **_each(
        "income salary pay wage wages earnings price cost costs charge charges amount revenue rent fee spent",
        Guess("number", 0),
    ),
    **_each("einkommen bruttoeinkommen nettoeinkommen gehalt lohn preis kosten betrag", Guess("number", 0)),
    **_each("umsatz miete gebuehr revenu revenus salaire prix cout montant loyer", Guess("number", 0)),
    **_each("height weight bmi dose duration minutes hours days distance area", Guess("number", 0)),
    **_each(
        "gewicht groesse grosse koerpergroesse dauer minuten stunden tage entfernung", Guess("number", 0)
    ),
    **_each("flaeche wohnflaeche poids taille duree heures jours surface", Guess("number", 0)),
    **_each("length stay laenge aufenthalt longueur sejour", Guess("number", 0)),
    **_each("percent percentage pct prozent anteil pourcentage", Guess("number", 0, 100)),
    **_each("score rate ratio temperature latitude longitude balance change", Guess("number")),
    **_each(
        "punkte punktzahl temperatur breitengrad laengengrad saldo kontostand taux solde", Guess("number")
    ),
    **_each("any married smoker smokes employed insured treated paid active flag", Guess("boolean")),
    **_each("ja nein verheiratet raucher raucherin erwerbstaetig versichert bezahlt", Guess("boolean")),
    **_each("yes oui non marie mariee fumeur fumeuse assure assuree", Guess("boolean")),
    **_each("sex gender race ethnicity religion language marital education educ degree", Guess("category")),
    **_each("geschlecht sprache familienstand bildung schulabschluss abschluss", Guess("category")),
    **_each("nationalitaet staatsangehoerigkeit sexe genre langue nationalite diplome", Guess("category")),
    **_each(
        "region state county country province city town district department ward insurance school",
        Guess("category"),
    ),
    **_each("land bundesland kreis landkreis stadt ort wohnort gemeinde bezirk station", Guess("category")),
    **_each("krankenkasse schule pays departement commune ville quartier ecole", Guess("category")),
    **_each("status type kind category group class code level grade sector channel", Guess("category")),
    **_each("typ kategorie gruppe klasse stufe branche statut categorie", Guess("category")),
    **_each("groupe classe niveau secteur", Guess("category")),
    **_each(
        "postcode postalcode zip zipcode diagnosis icd product brand item occupation job title", Guess("text")
    ),
    **_each("plz postleitzahl diagnose produkt marke artikel beruf", Guess("text")),
    **_each("codepostal postal diagnostic produit marque profession metier lieu", Guess("text")),
}
"""What a word of a name makes of a column; two words that follow each other stand as one (``codepostal``)."""
_OF: Final = frozenset(["of", "de", "du", "des", "la", "le", "d", "l", "von", "vom", "zur", "zum"])
"""Words after which stands whose or of what something is: in ``age_du_patient`` the age is the thing."""
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})
_UNKNOWN: Final = Guess("unknown")


def guess(name: str, stored: str = "unknown") -> Guess:
    """Say what a column seems to hold.

    Parameters
    ----------
    name : str
        The column's name.
    stored : str
        Its storage type, as its engine names it (``"INTEGER"``); ``"unknown"`` where a file has none.

    Returns
    -------
    Guess
        The storage type decides what it can be, the name what it is.

    Examples
    --------
    >>> guess("age_at_visit", "BIGINT")
    Guess(kind='integer', lower=0, upper=120)
    >>> guess("visit_date").kind
    'date'
    """
    by_name = _by_name(name)
    if stored == "unknown":
        return by_name
    known = _STORED.get(stored.split("(", maxsplit=1)[0].upper(), "unknown")
    if by_name.kind in _MAY_BE[known]:
        return by_name
    bounds = (
        (by_name.lower, by_name.upper) if {known, by_name.kind} <= {"integer", "number"} else (None, None)
    )
    return Guess(known, *bounds, stored=True)


_MAY_BE: Final[Mapping[str, tuple[str, ...]]] = {
    "integer": ("integer", "category", "text", "boolean", *UNDRAFTED),
    "number": ("number", "category", "boolean", *UNDRAFTED),
    "category": ("category", "text", "boolean", "date", "datetime", *UNDRAFTED),
    "boolean": (),
    "date": ("date",),
    "datetime": ("datetime",),
    "unknown": (),
}
"""What a name may make of a storage type: numbers are often codes, in statistics packages all of them, and texts often dates."""


def _by_name(name: str) -> Guess:
    words = _words(name)
    if _INDEX.fullmatch(name):
        return Guess("index")
    if words[:1] in (["is"], ["has"]):
        return Guess("boolean")
    if words in (["name"], ["nom"]):
        return Guess("identifier")
    if len(words) > 1 and words[-1] in ("id", "uid", "uuid", "guid"):
        return Guess("person" if _NAMED_BY_IDS & set(words) else "identifier")
    if len(words) > 1 and words[-1] in ("on", "at"):
        return Guess("date" if words[-1] == "on" else "datetime")
    if words[-1:] and words[-1].endswith("datum"):
        return Guess("date")
    found = [_BY_WORD[word] for part in _parted(words) for word in _most_telling(part) if word in _BY_WORD]
    return found[0] if found else _UNKNOWN


def _words(name: str) -> list[str]:
    """The words of a name, small and without accents; ö is oe, as it is where a file can hold no ö."""
    german = name.translate(_UMLAUTS)
    plain = "".join(one for one in unicodedata.normalize("NFKD", german) if not unicodedata.combining(one))
    return [word.lower() for word in _WORD.findall(plain)]


def _parted(words: list[str]) -> list[list[str]]:
    """The words that name the thing, and those that say whose it is."""
    place = next((at for at, word in enumerate(words) if at and word in _OF), len(words))
    return [words[:place], [word for word in words[place:] if word not in _OF]]


def _most_telling(words: list[str]) -> list[str]:
    """Words in the order in which they are believed: two that may be one, post_code; then the last, which is the thing, and the first, which says more of it: `customer_age` is an age, `age_group` a group."""
    pairs = ["".join(pair) for pair in reversed(list(itertools.pairwise(words)))]
    return [*pairs, *reversed(words[1:]), *words[:1]]
