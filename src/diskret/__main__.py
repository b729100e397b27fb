"""``python -m diskret``: the program ``diskret``, where it is not on the path."""

from diskret.cli import run

if __name__ == "__main__":
    run()
