"""The lenses as the report compares them."""

from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.ratings.ties import TiePolicy

LENSES = INDEPENDENT
AUTOMATIC = (Lens.NUGGET, Lens.JUDGE)
POLICY = TiePolicy.HALF  # how all ratings of a report count ties
