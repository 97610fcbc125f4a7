import type { RequestOptions } from "node:https";
import { PassThrough, type Readable } from "node:stream";

import { type RawData, WebSocket } from "ws";

import type { Connection } from "../api/connection.ts";
import { KubernetesError } from "../kubernetes-error.ts";

/** The channels of a connection; the first byte of every message says which one it is of. */
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const CLOSE = 255;
/** The first one can close a channel, the other one is understood since Kubernetes 1.4. */
const PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
/** Bytes of one message: API servers have a limit. */
const CHUNK = 32 * 1024;
/** Bytes that wait for their reader before no more is taken from the connection. */
const AHEAD = 1 << 20;
/** Characters kept of what the program says of its errors. */
const EXPLANATION = 2000;

interface PodProgram {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Never has secrets: everybody who may look at processes sees it. */
  readonly command: readonly string[];
  /** Its standard input. It may not be told of the end; the program has to know it itself. */
  readonly input?: AsyncIterable<Uint8Array>;
}

/**
 * Runs a program in a pod beside its own. The stream is its standard output, at the pace at which it is read; it ends when the program
 * has ended well, and breaks with what the program said when it has not.
 */
export async function runInPod(connection: Connection, program: PodProgram): Promise<Readable> {
  const { namespace, pod } = program;
  const socket = await open(connection, program);
  const output = new PassThrough({ highWaterMark: AHEAD });
  let explanation = "";
  let status: { readonly status?: string; readonly message?: string } | undefined;
  const fail = (reason: string) => output.destroy(new KubernetesError(`pod ${namespace}/${pod}: ${reason}`));
  socket.on("message", (data: RawData) => {
    const message = data as Buffer;
    const content = message.subarray(1);
    switch (message[0]) {
      case STDOUT:
        if (!output.write(content)) {
          socket.pause();
        }
        break;
      case STDERR:
        explanation = `${explanation}${content.toString("utf8")}`.slice(-EXPLANATION);
        break;
      case STATUS:
        status = JSON.parse(content.toString("utf8")) as typeof status;
        socket.close();
        break;
      default:
    }
  });
  output.on("drain", () => socket.resume());
  // Whoever stops reading wants no more of it.
  output.on("close", () => socket.terminate());
  socket.on("error", (error) => fail(error.message));
  socket.on("close", () => {
    if (status?.status === "Success") {
      output.end();
    } else {
      fail(explanation.trim() || status?.message || "the connection ended before the program did");
    }
  });
  if (program.input !== undefined) {
    send(socket, program.input).catch((error: unknown) => fail(explanation.trim() || (error as Error).message));
  }
  return output;
}

async function open({ config, server }: Connection, program: PodProgram): Promise<WebSocket> {
  const { namespace, pod, container, command, input } = program;
  const query = new URLSearchParams([
    ["container", container],
    ["stdin", String(input !== undefined)],
    ["stdout", "true"],
    ["stderr", "true"],
    ...command.map((part): [string, string] => ["command", part]),
  ]);
  const url = `${server.replace(/\/$/, "").replace(/^http/, "ws")}/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query.toString()}`;
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const socket = new WebSocket(url, PROTOCOLS, options as never);
  // What comes before somebody listens would be lost.
  socket.on("open", () => socket.pause());
  await new Promise<void>((resolve, reject) => {
    const refuse = (why: string) =>
      reject(new KubernetesError(`no program can be started in pod ${namespace}/${pod}: ${why}`));
    socket.once("open", resolve);
    socket.once("error", (error) => refuse(error.message));
    socket.once("unexpected-response", (_, response) => {
      const forbidden = "the user of this context may not create pods/exec";
      refuse(response.statusCode === 403 ? forbidden : `the API server answers with status ${response.statusCode}`);
      response.destroy();
      socket.terminate();
    });
  });
  setImmediate(() => socket.resume());
  return socket;
}

/** Passes the input on at the pace of the connection. */
async function send(socket: WebSocket, input: AsyncIterable<Uint8Array>): Promise<void> {
  const pass = (channel: number, content: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      socket.send(Buffer.concat([Buffer.of(channel), content]), (error) => (error ? reject(error) : resolve()));
    });
  for await (const chunk of input) {
    for (let from = 0; from < chunk.length; from += CHUNK) {
      await pass(STDIN, chunk.subarray(from, from + CHUNK));
    }
  }
  if (socket.protocol === PROTOCOLS[0] && socket.readyState === WebSocket.OPEN) {
    await pass(CLOSE, Buffer.of(STDIN));
  }
}
