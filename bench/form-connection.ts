import { once } from "node:events";
import { type Socket, connect } from "node:net";

/** One kept connection that posts forms, with next to no work of its own: what is measured is the service. */
export interface FormConnection {
  /** The JSON of the answer. @throws where the answer is not 200 */
  readonly post: (form: Readonly<Record<string, string>>) => Promise<Record<string, string>>;
  readonly close: () => void;
}

export async function openFormConnection(endpoint: string): Promise<FormConnection> {
  const { hostname, port, host, pathname } = new URL(endpoint);
  const socket: Socket = connect(Number(port), hostname).setNoDelay(true).setEncoding("latin1");
  await once(socket, "connect");
  let text = "";
  let response: { resolve: (body: string) => void; reject: (reason: Error) => void } | undefined;
  const fail = (reason: Error) => response?.reject(reason);
  socket.on("error", fail).on("close", () => fail(new Error("the service closed the connection")));
  socket.on("data", (chunk: string) => {
    text += chunk;
    const end = text.indexOf("\r\n\r\n");
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1]);
    if (end < 0 || text.length < end + 4 + length) {
      return;
    }
    const body = text.slice(end + 4);
    const isGood = text.startsWith("HTTP/1.1 200 ");
    text = "";
    if (isGood) {
      response?.resolve(body);
    } else {
      fail(new Error(`the token endpoint answers ${body}`));
    }
  });
  return {
    post: async (form) => {
      const content = new URLSearchParams(form).toString();
      const body = new Promise<string>((resolve, reject) => {
        response = { resolve, reject };
      });
      socket.write(
        `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
          `Content-Length: ${content.length}\r\n\r\n${content}`,
      );
      return JSON.parse(await body) as Record<string, string>;
    },
    close: () => socket.destroy(),
  };
}
