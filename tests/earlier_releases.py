"""A ledger that stores nothing, for tests of what is done beside earlier releases."""

from diskret.tables import Earlier


class Before:
    """Tables that were published before, all of them, whatever is asked for."""

    def __init__(self, *entries: Earlier):
        self.entries = [*entries]

    @property
    def position(self) -> str:
        return str(len(self.entries))

    def earlier(self, tables, sums) -> list[Earlier]:
        return self.entries

    def publish(self, release, *results):
        self.entries += [as_published(release, result) for result in results]


def as_published(release, result):
    """A result as a ledger remembers it."""
    certificate = result.certificate
    return Earlier(
        release,
        result.published,
        result.table.measure.sum,
        certificate.requirements,
        sums=certificate.proof.publication.sums,
    )
