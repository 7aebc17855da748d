"""What the name of a column says: whole words, in the languages our users write.

A word with a star stands for all words that begin (`educ*`) or end (`*income`) so; a name that is written in one word
although it is made of two (`zipcode`) is listed.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_WEIGHT = "weight weights weighting wt wts wgt wgts gewicht gewichte poids peso"
_OF_A_SAMPLE = (
    "sampling sample survey final person persons people individual design analysis analytic population pop frequency "
    "expansion calibrated calibration replicate base cross longitudinal household hh haushalt"
)
_WEIGHTS = (
    "fnlwgt finalwgt finalweight samplingweight surveyweight sampleweight designweight personweight perwt hhwt hwt "
    "pwt pweight pweights hweight hweights wtfinl asecwt wtsupp hochrechnungsfaktor stichprobengewicht "
    "personengewicht haushaltsgewicht"
)
_FACTORS = "expansion factor|raising factor|grossing factor|weighting factor|factor expansion|facteur extrapolation"
_HOUSEHOLD = "household hh hhwt hwt hweight hweights haushalt haushaltsgewicht"
_OF_A_BODY = "body kg kgs kilo kilos lb lbs pound pounds birth koerper korper current baseline admission usual"
_BODIES = "height bmi kg waist stature groesse grosse korpergrosse koerpergroesse taille altura estatura"

_NUMBERED = "id ids nbr no nr num number nummer key pseudonym"
_PEOPLE = "patient person participant subject respondent customer client member user pers personen patienten"
_PERSON_IDS = (
    "patientid personid participantid subjectid respondentid customerid clientid memberid userid patid "
    "patientennummer personennummer patientno patientnr personnr"
)

_IDENTIFIERS = (
    "name names firstname lastname surname surnames forename fullname familyname givenname maidenname middlename "
    "username nickname patientname streetname clientname customername kundenname personname childname studentname "
    "employeename membername parentname mothername fathername spousename doctorname physicianname "
    "nom prenom vorname nachname familienname geburtsname rufname strassenname apellido apellidos nombre cognome "
    "email* mail mails *mail phone phones *phone telephone* telefon* tel fax mobile handy "
    "ssn* socialsecurity* passport* iban account accounts bankaccount creditcard* license "
    "licence licenses licences licenseplate licenceplate numberplate kennzeichen nhs mrn dni nif cpf curp bsn pesel "
    "imei street streets *address *addresses *addr *adress *adresse *adressen direccion direcciones anschrift* "
    "strasse *strasse url urls uuid guid photo photos photograph biometric* fingerprint fingerprints "
    "hid hhid householdid hhnr"
)
_IDENTIFYING = (
    "social security|e mail|medical record|ip addr|(?:device|national|health|household|hh|haushalts?) ?id"
    "|(?:account|acct|konto|card|karten|kredit[a-z]*|passport|reisepass|ausweis|tax|steuer|insurance|[a-z]*versicher[a-z]*"
    "|policy|tel|telephone|telefon|phone|mobile|handy|fax|national|health|household|hh|haushalts?|serial|serien"
    "|registration|plate|house|haus|medicare|medicaid) ?(?:no|nr|num|number|nummer|id|n)"
)
_THINGS = (
    "drug drugs product hospital company firm business brand generic trade medicine medication substance ingredient "
    "file column variable field table dataset data city town country county state region province district area place "
    "location site facility clinic ward department school university institution organisation organization org agency "
    "employer study trial test lab procedure treatment disease diagnosis symptom item category class group type "
    "course project event campaign model device vehicle store shop branch bank team job occupation species gene "
    "station airport vendor supplier manufacturer plan policy program programme service domain host server language "
    "month day unit code label stage round sample"
)
_ABOUT = (
    "type kind count counts class status flag brand category balance amount year date country opt consent length calls "
    "state city region verified known available missing valid sent opened domain provider quality score level use "
    "usage age months years changed"
)
_COUNTED = "has|is|any|count|counts|number of|no of|nr of|(?:num|n)(?= .*[^s]s$)"

_SENSITIVE = (
    "diag* disease* illness* icd condition conditions hiv aids cancer* tumor* tumour* diabet* asthma* disab* handicap* "
    "medic* med meds drug drugs treatment* treated therap* procedure procedures symptom* surg* injur* allerg* vaccin* "
    "health depress* anxi* mental psych* suicid* pregnan* abort* alcohol* alc *abuse abuse* addict* smok* tobacco "
    "cigarette* bmi obes* blood glucose serum cholesterol insulin dead death died deceased mortality salar* *income "
    "incomes earn earning* wage wages charge charges cost costs debt* wealth* saving* expend* credit* loan loans price "
    "amount amounts balance pension* welfare benefit benefits relig* politic* party vote votes voted voting sexual* "
    "orientation crim* convict* offence* offense* union genetic* genotype* lab labs *result *results readmi* outcome* "
    "score scores grade acarbose einkommen gehalt lohn krankheit* diagnose* revenu* salaire* maladie* ingreso* "
    "enfermedad*"
)
_DRUGS = (  # stems by which substances are named (WHO, international nonproprietary names)
    "[a-z]{2,}(?:formin|glinide|gliptin|glipton|glitazone|glitol|statin|sartan|prazole|tinib|cillin|mycin|cycline"
    "|azepam|oxetine|triptan|dipine|profen|amide|buride|pizide|piride|lukast|parin)"
)

_QUASI_IDENTIFIERS = (
    "age ages aged agegr agegroup agegrp agecat ageband ageyrs alter edad birth* *birth dob yob born geburt* geb "
    "naiss* nacimiento sex sexe sexo gender geschlecht genre zip *zip zipcode* zips postal* postcode* postleitzahl "
    "plz county counties cnty *cnty city cities hometown town ville ciudad ort wohnort municip* gemeinde region "
    "regions province state states statefips fips district* urban rural urbrur place places placesize commune country "
    "countries nation nations nationality nationalities citizen* race races racegroup ethn* origin origins hispanic "
    "language languages lang *lang marital* married marriage famstand civil *civil familystatus hsize hhsize household "
    "households edu* bildung degree degrees school* student nivetud occup* job jobs jobtitle beruf profession* socprof "
    "workclass employ* unemp* ecostat industry industries qualif* rank hospital* oshpd admission* admit* adm "
    "discharge* visit* los date dates datum birthdate admdate admitdate visitdate startdate enddate deathdate year "
    "years *year jahr annee quarter qtr month months monat height heights groesse grosse taille altura hair eye eyes "
    "latitude longitude lat lon lng coordinates "
    "veteran* child children kids freres soeurs sibling* relat relation* relative relatives vehicle* modelyr"
)
_QUASI_PHRASES = (
    "post code|family status|labou?r status|eco stat|hh size|work class|length of stay|hours per week|time in hospital"
)


def words_of(name: str) -> str:
    """The words of a column's name, small, without accents and numbers, a space between them.

    >>> words_of("dateOfBirth"), words_of("freres.soeurs"), words_of("Prénom_2")
    ('date of birth', 'freres soeurs', 'prenom')
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return re.sub(r"[\W\d_]+", " ", apart).strip().lower()


def says_weight(words: str) -> str | None:
    """What kind of weight a name says: "sampling", "household", "plain" (nothing else), "body", or None for no weight.

    >>> [says_weight(name) for name in ("fnlwgt", "sampling weight", "weight", "body weight", "weight loss")]
    ['sampling', 'sampling', 'plain', 'body', None]
    """
    parts = set(words.split())
    a_weight = bool(parts & set(_WEIGHT.split()))
    if parts & set(_WEIGHTS.split()) or (a_weight and parts & set(_OF_A_SAMPLE.split())) or _found(_FACTORS, words):
        return "household" if parts & set(_HOUSEHOLD.split()) else "sampling"
    if not a_weight:
        return "body" if parts & {"bodyweight", "korpergewicht", "koerpergewicht", "birthweight"} else None
    others = parts - set(_WEIGHT.split())
    return "plain" if not others else "body" if others & set(_OF_A_BODY.split()) else None


def says_bodies(words: str) -> bool:
    """Whether a column says that bodies are measured in this table, so that a weight is one in kilograms."""
    return bool(set(words.split()) & set(_BODIES.split()))


def says_person(words: str) -> bool:
    """Whether a name says whose record it is, as patient_id does.

    >>> says_person("hospital patient id"), says_person("visit id")
    (True, False)
    """
    return _found(f"(?:{_any(_PEOPLE)}) (?:{_any(_NUMBERED)})$|(?:{_any(_PERSON_IDS)})$", words)


def says_one_of_many(words: str) -> bool:
    """Whether a name is a person's word and nothing else: `user`, `patient`."""
    return words in {"patient", "person", "participant", "respondent", "customer", "client", "user"}


def says_number(words: str) -> bool:
    """Whether a name says that records or cases are numbered: an id first or last."""
    return _found(r"^ids?(?= |$)|(?<![^ ])ids?$", words)


def says_identifier(words: str) -> bool:
    """Whether a name says that people are named; the name of a thing, or what there is to say of an address, is not.

    >>> [says_identifier(name) for name in ("last name", "drug name", "phone", "phone brand", "has email")]
    [True, False, True, False, False]
    """
    parts = words.split()
    if not parts or _found(f"^(?:{_COUNTED})(?= )", words) or (len(parts) > 1 and parts[-1] in _ABOUT.split()):
        return False
    of_a_thing = parts[-1] in {"name", "names"} and bool(set(parts[:-1]) & set(_THINGS.split()))
    if of_a_thing:
        words = " ".join(parts[:-1])
    return _found(f"{_any(_IDENTIFIERS)}|{_IDENTIFYING}", words)


def says_sensitive(words: str) -> bool:
    """Whether people keep such a thing to themselves."""
    return _found(f"{_any(_SENSITIVE)}|{_DRUGS}", words)


def says_quasi_identifier(words: str) -> bool:
    """Whether others may know such a thing about a person."""
    return _found(f"{_any(_QUASI_IDENTIFIERS)}|{_QUASI_PHRASES}", words)


def _any(listed: str) -> str:
    return "|".join(word.replace("*", "[^ ]*") for word in listed.split())


def _found(pattern: str, words: str) -> bool:
    """Whether whole words match."""
    return _whole(pattern).search(words) is not None


@cache
def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(f"(?<![^ ])(?:{pattern})(?![^ ])")
