"""The people side's addresses, gathered from the modules that own them."""

from labeling import api
from labeling.views import auth, files, jobs, label, lead

urlpatterns = [
    *auth.urlpatterns,
    *label.urlpatterns,
    *lead.urlpatterns,
    *files.urlpatterns,
    *jobs.urlpatterns,
    *api.urlpatterns,
]
