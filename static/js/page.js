// What every page needs: confirmations, the CSRF header for htmx, the browser's time zone, mathematics.
import "./confirm.js";
import "./htmx-csrf.js";
import "./timezone.js";
import "./math-page.js";

// On a narrow screen the bar scrolls: the present page's entry must be in sight.
document.querySelector(".topnav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
