"""The bridge's addresses: the researcher's pages, and the endpoints for scores."""

from selection import api
from selection.views import generations, models, overview, pools

urlpatterns = [
    *overview.urlpatterns,
    *pools.urlpatterns,
    *models.urlpatterns,
    *generations.urlpatterns,
    *api.urlpatterns,
]
