// What every page needs: confirmations, the CSRF header for htmx, the browser's time zone, mathematics.
import "./confirm.js";
import "./htmx-csrf.js";
import "./timezone.js";
import "./math-page.js";
