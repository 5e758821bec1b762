// Reads one cookie; "" when there is none.
export function cookie(name, jar = document.cookie) {
  for (const part of jar.split("; ")) {
    const cut = part.indexOf("=");
    if (part.slice(0, cut) === name) return decodeURIComponent(part.slice(cut + 1));
  }
  return "";
}
