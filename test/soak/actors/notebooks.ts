import type { TestResponse } from "../virtual-user.ts";
import { type Actor, type Place, createUser, untilAnswered } from "./actor.ts";
import { createWorkspace } from "./workspace.ts";

const SERVER = "soak";

/** Saves notebooks on a server of the hub, and starts the server again where it has ended. */
export function createNotebookActor(place: Place): Actor {
  const { virtualUser, recorder, url } = place;
  const name = "notebooks";
  const user = createUser(place, name, "eric");
  const workspace = createWorkspace(place, name);
  const kept = new Map<string, string>();
  let base: string | undefined;
  let xsrf = "";
  let starts = 0;
  const send = async (address: string, method = "GET", body?: object): Promise<TestResponse | undefined> => {
    const headers = await user();
    return headers === undefined
      ? undefined
      : await virtualUser.send(name, address, {
          method,
          headers: {
            ...headers,
            ...(xsrf !== "" && { cookie: `_xsrf=${xsrf}`, "x-xsrftoken": xsrf }),
            ...(body !== undefined && { "content-type": "application/json" }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
  };
  /** Where the server is, or undefined while it starts. */
  const open = async (): Promise<string | undefined> => {
    const hub = url("application-hub", "/hub/api/users/eric");
    const response = await send(hub);
    const server = response?.status === 200 ? response.json().servers?.[SERVER] : undefined;
    if (response !== undefined && server === undefined) {
      starts += (await send(`${hub}/servers/${SERVER}`, "POST", { profile: "notebook" })) === undefined ? 0 : 1;
    }
    return server?.ready === true ? (server.swath.opens as string).replace(/\/tree\b.*$/, "") : undefined;
  };
  const check = async (path: string) => {
    const response = base === undefined ? undefined : await send(`${base}/api/contents/${path}`);
    if (response?.status === 200 && JSON.stringify(response.json().content.cells) !== kept.get(path)) {
      recorder.broken(`notebook ${path} was saved, and has other cells`);
    }
    if (response?.status === 404) {
      recorder.broken(`notebook ${path} was saved, and is not there`);
    }
    return response?.status === 200 || response?.status === 404 ? response : undefined;
  };
  return {
    name,
    pauseMs: 1000,
    act: async () => {
      if (!(await workspace.isReady())) {
        return;
      }
      base = await open();
      if (base === undefined) {
        return;
      }
      xsrf = "";
      const page = await send(`${base}/tree`);
      xsrf = /_xsrf=([^;]+)/.exec(page?.cookies.join("\n") ?? "")?.[1] ?? "";
      const path = `note-${kept.size}-${Date.now()}.ipynb`;
      const cells = [{ cell_type: "markdown", id: `c${kept.size}`, metadata: {}, source: `number ${kept.size}` }];
      const response = await send(`${base}/api/contents/${path}`, "PUT", {
        type: "notebook",
        format: "json",
        content: { cells, metadata: {}, nbformat: 4, nbformat_minor: 5 },
      });
      if (response?.status === 201 || response?.status === 200) {
        kept.set(path, JSON.stringify(cells));
      } else if (response !== undefined) {
        recorder.failure(name, `saving was answered ${response.status}`);
      }
      const older = [...kept.keys()][Math.floor(Math.random() * kept.size)];
      if (older !== undefined) {
        await check(older);
      }
    },
    settle: async () => {
      base = await untilAnswered(open);
      for (const path of kept.keys()) {
        if ((await untilAnswered(() => check(path))) === undefined) {
          recorder.broken(`notebook ${path} could not be read at the end`);
        }
      }
      return `${kept.size} notebooks saved, each read back at the end; the server was started ${starts} times`;
    },
  };
}
