// A fresh idempotency key. crypto.randomUUID exists only on https and localhost; random bytes everywhere.
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
