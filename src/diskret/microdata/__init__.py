"""Methods that protect microdata: coded variables in, changed ones out."""

from diskret.microdata.pram_estimates import PramEstimate, pram_estimate
from diskret.microdata.transition_risk import TransitionRisk
from diskret.microdata.transitions import TransitionMatrix

__all__ = ["PramEstimate", "TransitionMatrix", "TransitionRisk", "pram_estimate"]
