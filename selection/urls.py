"""The bridge's addresses: the researcher's pages."""

from selection.views import generations, models, overview, pools

urlpatterns = [
    *overview.urlpatterns,
    *pools.urlpatterns,
    *models.urlpatterns,
    *generations.urlpatterns,
]
