// Gives htmx requests the CSRF token of the cookie.
import { cookie } from "./cookie.js";

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRFToken"] = cookie("csrftoken");
});
