import { RequestError } from "@swath/ui";

/** A page as it came, and where it came from in the end. */
export interface FetchedPage {
  readonly html: string;
  /** Path and query. */
  readonly address: string;
  readonly ok: boolean;
}

/**
 * Asks the service for a page, or sends a form to it. Where nobody is logged in any more, the browser goes to the login.
 * @throws {RequestError} status 0 when there was no answer
 */
export async function fetchPage(address: string, form?: URLSearchParams): Promise<FetchedPage> {
  let response: Response;
  try {
    response = await fetch(address, {
      headers: { accept: "text/html" },
      ...(form && { method: "POST", body: form }),
    });
  } catch (cause) {
    const detail =
      "There was no answer. The network is down, or the service is being restarted; try again in a moment.";
    throw new RequestError(0, { title: "No connection", detail }, { cause });
  }
  const { pathname, search, origin } = new URL(response.url);
  if (origin !== window.location.origin || !pathname.startsWith("/console")) {
    window.location.assign(form === undefined ? address : window.location.href);
    throw new RequestError(401, { title: "Not logged in", detail: "Going to the login." });
  }
  if (response.status >= 500) {
    throw new RequestError(response.status, {
      title: "The service failed",
      detail: `${pathname} answered with status ${response.status}. Try again in a moment.`,
    });
  }
  return { html: await response.text(), address: pathname + search, ok: response.ok };
}

/** An address without what it says of a change that is over. */
export function withoutDone(address: string): string {
  const [path = "", query = ""] = address.split("?");
  const parameters = new URLSearchParams(query);
  parameters.delete("done");
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}
