// Who is signed in now? On a shared browser another person may have signed in since this page was opened.

/** `read()` gives the owner that the server names now, "" when it names none. */
export function makeIdentity({ owner, read, reload }) {
  return {
    /** True when the page still belongs to who is signed in; another person's page is loaded anew. */
    async isSame() {
      const now = await read().catch(() => "");
      if (now && now !== owner) reload();
      return now === owner;
    },
  };
}

/** The owner as the labeling page itself says it. */
export async function ownerOf(address) {
  const response = await fetch(address, { credentials: "same-origin", headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const config = page.getElementById("label-config");
  return config ? JSON.parse(config.textContent).owner : "";
}
