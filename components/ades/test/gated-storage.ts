import { type IncomingMessage, type ServerResponse, createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";

/** An object storage that can be stopped in the middle of a request: everything goes through, but what is to be held. */
export interface GatedStorage {
  readonly url: string;
  /** Holds requests that match from now on; resolves when the first of them is here. */
  readonly hold: (matches: (request: IncomingMessage) => boolean) => Promise<void>;
  /** Lets all go on. */
  readonly release: () => void;
  readonly close: () => void;
}

/** @param target of the real storage, as it is when a request comes */
export async function openGatedStorage(target: () => string): Promise<GatedStorage> {
  let matches: ((request: IncomingMessage) => boolean) | undefined;
  let arrived = Promise.withResolvers<void>();
  let released = Promise.withResolvers<void>();
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    if (matches?.(request) === true) {
      arrived.resolve();
      await released.promise;
    }
    const { hostname, port } = new URL(target());
    const { method, url: path, headers } = request;
    const onward = forward({ hostname, port, method, path, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
      reply.once("error", () => response.destroy());
    });
    // Whoever asked sees a storage that is away.
    onward.once("error", () => response.destroy());
    response.once("close", () => onward.destroy());
    request.pipe(onward);
  };
  const server = createServer((request, response) => void pass(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (which) => {
      [arrived, released, matches] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), which];
      return arrived.promise;
    },
    release: () => {
      matches = undefined;
      released.resolve();
    },
    close: () => {
      released.resolve();
      server.closeAllConnections();
      server.close();
    },
  };
}
