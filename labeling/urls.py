"""The people side's addresses, gathered from the modules that own them."""

from labeling import api
from labeling.views import auth, files, jobs, label, lead, lead_answers, lead_problems, projects

urlpatterns = [
    *auth.urlpatterns,
    *label.urlpatterns,
    *lead.urlpatterns,
    *lead_answers.urlpatterns,
    *lead_problems.urlpatterns,
    *projects.urlpatterns,
    *files.urlpatterns,
    *jobs.urlpatterns,
    *api.urlpatterns,
]
