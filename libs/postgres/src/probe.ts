import { type NetConnectOpts, connect } from "node:net";

/**
 * Whether a PostgreSQL server takes sessions, found out as libpq's PQping does: it answers a start-up message with a request
 * to authenticate, or with any error but "the database system is starting up" (SQLSTATE 57P03).
 * Rejects with the reason while it does not.
 */
export function probePostgres(address: NetConnectOpts, timeout = 3000): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(address, () => socket.write(startupMessage()));
    const end = (error?: Error) => {
      socket.destroy();
      if (error) {
        reject(error);
      } else {
        resolve();
      }
    };
    socket.setTimeout(timeout, () => end(new Error("PostgreSQL does not answer")));
    socket.once("error", end);
    socket.once("close", () => end(new Error("PostgreSQL closed the connection")));
    socket.once("data", (response) => {
      const isStarting = response[0] === "E".charCodeAt(0) && response.includes("C57P03\0");
      end(isStarting ? new Error("PostgreSQL is starting up") : undefined);
    });
  });
}

/** StartupMessage of protocol 3.0 for a role that need not exist. */
function startupMessage(): Buffer {
  const parameters = Buffer.from("user\0probe\0database\0postgres\0\0");
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + parameters.length, 0);
  head.writeInt32BE(196_608, 4);
  return Buffer.concat([head, parameters]);
}
