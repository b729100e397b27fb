"""Texts for readers: one catalogue a subject and language, which a translator can open.

``en/report.toml`` and ``de/report.toml`` hold the same keys with the same blanks in braces. A text
that depends on a number stands twice, as ``one`` and ``other``, and says ``by`` which blank it is
counted. What is raised as an error is English in the code; `diskret.texts.messages` has the German.
"""

from diskret.texts.catalogue import LANGUAGES as LANGUAGES
from diskret.texts.catalogue import Statement as Statement
from diskret.texts.catalogue import Words as Words
from diskret.texts.catalogue import check_language as check_language
from diskret.texts.catalogue import in_languages as in_languages
from diskret.texts.catalogue import sentence as sentence
from diskret.texts.catalogue import words_in as words_in
from diskret.texts.numbers import Figure as Figure
from diskret.texts.numbers import number as number
from diskret.texts.numbers import percent as percent
from diskret.texts.numbers import scaled as scaled
