"""The errors of diskret: what was wrong, where, and what to do about it."""


class DiskretError(Exception):
    """Base of every error that diskret raises on purpose."""


class InputError(DiskretError):
    """Records, cells, codes, files or options that cannot be used as they are."""


class HierarchyError(InputError):
    """A code tree that is no tree, or codes that do not belong to it."""


class AdditivityError(InputError):
    """Totals of an already tabulated file that are not the sum of their parts."""


class MeasureError(InputError):
    """Measures or periods that tell of each other although nothing that is said ties them."""


def said_of(error: Exception) -> str:
    """What a reader is told of an error; of one of the system's, which file it is about and why."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: cannot be read or written ({error.strerror})"
    return str(error)


class JobError(InputError):
    """A job file that cannot be carried out; names line, key and admissible values."""


class KeyFileError(DiskretError):
    """The secret key file is missing, damaged or readable by others."""


class ContradictionError(DiskretError):
    """Published values that no table can satisfy: nothing can be proven about them."""


class ProtectionError(DiskretError):
    """No pattern satisfies the requirements, e.g. because of frozen cells.

    Parameters
    ----------
    message
        What was wrong, where, and what to do.
    blamed
        An irreducible set of frozen cells that make protection impossible: positions in C
        order, ascending, each in its own table; empty if no frozen cell is to blame.
    blamed_in
        Name of the table of each blamed cell; empty where the tables have no names yet.
    """

    def __init__(self, message: str, blamed: tuple[int, ...] = (), blamed_in: tuple[str, ...] = ()):
        super().__init__(message)
        self.blamed = blamed
        self.blamed_in = blamed_in


class ProofError(DiskretError):
    """A claim could not be proven; nothing was written."""


class VerificationError(DiskretError):
    """Released files that do not agree with their certificate, or a ledger with its seals."""
