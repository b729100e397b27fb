"""Methods that protect microdata: coded variables in, changed ones out."""

from diskret.microdata.pram_estimates import pram_estimate
from diskret.microdata.transition_figures import PramEstimate, TransitionRisk
from diskret.microdata.transitions import TransitionMatrix

__all__ = ["PramEstimate", "TransitionMatrix", "TransitionRisk", "pram_estimate"]
