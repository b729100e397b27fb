"""Statistics by place: grids, and coarser cells where they are unsafe."""

from diskret.spatial.grid import Grid as Grid
from diskret.spatial.points import locate as locate
from diskret.spatial.quadtree import quadtree as quadtree
