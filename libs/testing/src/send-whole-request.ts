import { type NetConnectOpts, connect } from "node:net";

/** Sends a whole request before it looks at the response, as proxies and many clients do. @returns what the response begins with */
export async function sendWholeRequest(to: NetConnectOpts, head: string, body: Buffer): Promise<string> {
  const socket = connect(to);
  socket.pause();
  try {
    socket.write(head);
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.write(body, () => resolve());
    });
    return await new Promise<string>((resolve, reject) => {
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("the connection ended without a response")));
      socket.once("data", (chunk: Buffer) => resolve(chunk.toString("latin1")));
      socket.resume();
    });
  } finally {
    socket.destroy();
  }
}
