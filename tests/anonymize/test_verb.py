"""Methods of microdata are functions of other modules, imported when they are first used."""

import subprocess
import sys

from diskret import Microdata
from diskret.anonymize.recode import drop

LATER = """
import sys
from diskret import Microdata
name = "diskret.anonymize.pram"
assert name not in sys.modules
assert Microdata.pram.__module__ == name and name in sys.modules
"""


def test_a_method_is_the_function_of_its_module():
    assert Microdata.drop is drop


def test_modules_are_imported_when_they_are_first_used():
    subprocess.run([sys.executable, "-c", LATER], check=True)
