"""Released files checked against their certificate, as anyone can; more, as the office can."""
