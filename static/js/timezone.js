// Tells the server the browser's time zone, for people who chose none in their settings.
import { cookie } from "./cookie.js";

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
if (zone && cookie("tz") !== zone) {
  document.cookie = `tz=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=lax`;
}
