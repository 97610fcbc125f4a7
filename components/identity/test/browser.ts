/** As much of a browser as the login pages need: cookies, redirects, forms. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies;
  }

  /** Takes somebody else's cookies over. */
  adopt(cookies: ReadonlyMap<string, string>): void {
    for (const [name, value] of cookies) {
      this.#cookies.set(name, value);
    }
  }

  /** Goes to an address and follows redirects while they stay below `origin`. */
  async open(
    url: string,
    {
      form,
      origin = new URL(url).origin,
      headers = {},
    }: { form?: Record<string, string>; origin?: string; headers?: Record<string, string> } = {},
  ): Promise<Page> {
    let target = url;
    let body = form;
    for (let hops = 0; hops < 10; hops += 1) {
      const response = await fetch(target, {
        method: body ? "POST" : "GET",
        redirect: "manual",
        headers: { cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; "), ...headers },
        ...(body && { body: new URLSearchParams(body) }),
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [pair = ""] = cookie.split(";");
        const name = pair.slice(0, pair.indexOf("="));
        const value = pair.slice(pair.indexOf("=") + 1);
        if (value === "" || /expires=Thu, 01 Jan 1970/i.test(cookie)) {
          this.#cookies.delete(name);
        } else {
          this.#cookies.set(name, value);
        }
      }
      const location = response.headers.get("location");
      if (location === null || response.status < 300 || response.status > 399) {
        return { url: target, status: response.status, headers: response.headers, text: await response.text() };
      }
      await response.arrayBuffer();
      target = new URL(location, target).href;
      body = undefined;
      if (new URL(target).origin !== origin) {
        return { url: target, status: response.status, headers: response.headers, text: "" };
      }
    }
    throw new Error(`too many redirects from ${url}`);
  }
}

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Fields of the first form of a page that are hidden, and where it goes. */
export function readPageForm(page: Page): { readonly action: string; readonly fields: Record<string, string> } {
  const action = /<form method="post" action="([^"]+)"/.exec(page.text)?.[1];
  if (action === undefined) {
    throw new Error(`there is no form on ${page.url}: ${page.text.slice(0, 300)}`);
  }
  const form = page.text.slice(
    page.text.indexOf('<form method="post"'),
    page.text.indexOf("</form>", page.text.indexOf('<form method="post"')),
  );
  const fields = Object.fromEntries(
    [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );
  return { action: new URL(action, page.url).href, fields };
}
