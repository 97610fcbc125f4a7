import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";

/**
 * Sends the first bytes of many bodies that do not go on, so that the service holds a place for each.
 * @returns lets go of all
 */
export async function holdRequests(
  count: number,
  url: string,
  {
    method,
    headers,
    begin,
  }: { readonly method: string; readonly headers: Record<string, string>; readonly begin: string },
): Promise<() => void> {
  const held: ClientRequest[] = [];
  for (let index = 0; index < count; index += 1) {
    const outgoing = request(url, { method, headers: { ...headers, "content-length": "1000000" }, agent: false });
    // They are broken off in the end.
    outgoing.on("error", () => {});
    outgoing.write(begin);
    const [socket] = (await once(outgoing, "socket")) as [NodeJS.EventEmitter];
    await once(socket, "connect");
    held.push(outgoing);
  }
  return () => held.forEach((outgoing) => outgoing.destroy());
}

const ANSWER_MS = 1000;

/** Sends one such request, for a second. @returns what it was answered before its body is whole; undefined where it was taken */
export async function sendHeld(
  url: string,
  { method, headers, begin }: Parameters<typeof holdRequests>[2],
): Promise<{ readonly status: number; readonly retryAfter: string | undefined; readonly text: string } | undefined> {
  const outgoing = request(url, { method, headers: { ...headers, "content-length": "1000000" }, agent: false });
  outgoing.write(begin);
  try {
    const [response] = (await once(outgoing, "response", { signal: AbortSignal.timeout(ANSWER_MS) })) as [
      IncomingMessage,
    ];
    const text = (await response.setEncoding("utf8").toArray()).join("");
    return { status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"], text };
  } catch (error) {
    if ((error as Error).name === "AbortError") {
      return undefined;
    }
    throw error;
  } finally {
    // It is broken off, whatever came.
    outgoing.on("error", () => {});
    outgoing.destroy();
  }
}
