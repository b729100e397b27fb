"""Statistics by place: grids, wider cells where they are unsafe, several geographies at once."""

from diskret.spatial.correspondence import correspondence as correspondence
from diskret.spatial.differences import Difference as Difference
from diskret.spatial.differences import Differences as Differences
from diskret.spatial.differences import differences as differences
from diskret.spatial.grid import Grid as Grid
from diskret.spatial.points import locate as locate
from diskret.spatial.quadtree import quadtree as quadtree
from diskret.spatial.repair import Repair as Repair
from diskret.spatial.repair import repair as repair
