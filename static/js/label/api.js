// The page's calls to the server (docs/api.md): CSRF, time limits, retries with backoff.

export class Unreachable extends Error {} // no answer, or the server is not well: try again later
export class SignedOut extends Error {} // the session is over: sign in, then try again
export class Refused extends Error {
  constructor(status, data) {
    super(data.message || `HTTP ${status}`);
    this.status = status;
    this.code = data.code ?? "error";
    this.data = data;
  }
}

const RETRY_AFTER_MS = [300, 900, 2700];
const TIME_LIMIT_MS = 12_000;
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * `base`: address of the project's /next/. `token()`: the CSRF token as the cookie holds it now.
 * Every call may be repeated safely: submits carry a key, drafts a version.
 */
export function makeApi({ urls, token, fetch = globalThis.fetch.bind(globalThis), wait = sleep, retryAfter = RETRY_AFTER_MS }) {
  async function once(method, url, body, keepalive) {
    let response;
    try {
      response = await fetch(url, {
        method,
        body: JSON.stringify(body),
        headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": token() },
        credentials: "same-origin",
        redirect: "manual",
        keepalive,
        signal: keepalive ? undefined : AbortSignal.timeout(TIME_LIMIT_MS),
      });
    } catch (error) {
      throw new Unreachable(error.message);
    }
    return answer(response);
  }

  async function call(method, url, body, { tries = retryAfter.length + 1, keepalive = false } = {}) {
    for (let left = tries - 1; ; left -= 1) {
      try {
        return await once(method, url, body, keepalive);
      } catch (error) {
        if (!(error instanceof Unreachable) || left <= 0) throw error;
        await wait(retryAfter[retryAfter.length - left] ?? retryAfter.at(-1));
      }
    }
  }

  const at = (url, id) => url.replace("/0/", `/${id}/`);
  return {
    next: (have) => call("POST", urls.next, { have }),
    saveDraft: (id, version, draft, options) => call("PUT", at(urls.draft, id), { version, draft }, options),
    submit: (id, body, options) => call("POST", at(urls.submit, id), body, options),
    reopen: (label) => call("POST", at(urls.reopen, label), {}),
  };
}

async function answer(response) {
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) throw new SignedOut();
  const data = await json(response);
  if (response.ok && data) return data;
  if (response.status === 401 || (response.status === 403 && isSignIn(data))) throw new SignedOut();
  if (PASSING.has(response.status) || !data) throw new Unreachable(`HTTP ${response.status}`);
  throw new Refused(response.status, data);
}

// A session that ended also invalidates the CSRF token, which is then what the server complains of.
const isSignIn = (data) => !data || data.code === "not_authenticated" || /csrf/i.test(String(data.message));

async function json(response) {
  try {
    return await response.json();
  } catch {
    return null;
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
