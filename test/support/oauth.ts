/** Plays the person with a browser in an OAuth login: signs in at the PDS and answers what it asks. */
import type { Account } from "../../scripts/sandbox/state.ts";

/** What the person does. */
export interface Consent {
  readonly account: Account;
  /** The scopes granted of those asked for; all without it. */
  readonly scope?: string;
  /** Says no in place of granting anything. */
  readonly reject?: boolean;
}

const answerLimit = 30_000;

/** The cookies and headers of one browser window. */
class Window {
  private readonly cookies = new Map<string, string>();

  async open(url: URL, headers: Record<string, string>, input?: unknown): Promise<Response> {
    const response = await fetch(url, {
      ...(input !== undefined && { method: "POST", body: JSON.stringify(input) }),
      headers: {
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        "user-agent": "Mozilla/5.0",
        ...headers,
      },
      redirect: "manual",
      signal: AbortSignal.timeout(answerLimit),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ""] = cookie.split(";");
      const end = pair.indexOf("=");
      this.cookies.set(pair.slice(0, end), pair.slice(end + 1));
    }
    return response;
  }

  /** Follows a link, from another page of the same site when there is a `referer`. */
  navigate(url: URL, referer?: URL): Promise<Response> {
    return this.open(url, {
      "sec-fetch-site": referer ? "same-origin" : "none",
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "document",
      ...(referer && { referer: referer.href }),
    });
  }

  /** Does what a button of the page does. */
  async press<T>(page: URL, name: string, input: unknown): Promise<T> {
    const url = new URL(`/@atproto/oauth-provider/~api/${name}`, page);
    const response = await this.open(url, {
      "content-type": "application/json",
      "x-csrf-token": this.cookies.get("csrf-token") ?? "",
      origin: page.origin,
      referer: page.href,
      "sec-fetch-site": "same-origin",
      "sec-fetch-mode": "same-origin",
      "sec-fetch-dest": "empty",
    }, input);
    if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
    return await response.json();
  }
}

async function readLocation(response: Response): Promise<URL> {
  const location = response.headers.get("location");
  const text = await response.text();
  if (!location) throw new Error(`no redirect but ${response.status} ${text.slice(0, 300)}`);
  return new URL(location);
}

/**
 * Opens the authorization URL that a client shows, signs in and answers. Gives the URL that the
 * browser is sent back to, which a person could paste; opening it is left to the caller.
 */
export async function answerAuthorization(
  url: string,
  { account, scope, reject = false }: Consent,
): Promise<URL> {
  const window = new Window();
  const page = new URL(url);
  const shown = await window.navigate(page);
  // A request that cannot be granted goes straight back to the client.
  if (!shown.ok) return await readLocation(shown);
  await shown.text();
  await window.press(page, "sign-in", {
    locale: "en",
    username: account.handle,
    password: account.password,
    remember: true,
  });
  const next = reject
    ? await window.press<{ url: string }>(page, "reject", {})
    : await window.press<{ url: string }>(page, "consent", {
      did: account.did,
      ...(scope && { scope }),
    });
  return await readLocation(await window.navigate(new URL(next.url), page));
}

/** Answers as above and lets the browser go back to the client; gives what the client shows. */
export async function followAuthorization(
  url: string,
  consent: Consent,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(await answerAuthorization(url, consent), {
    signal: AbortSignal.timeout(answerLimit),
  });
  return { status: response.status, text: await response.text() };
}
