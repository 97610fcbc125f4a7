import { setTimeout as sleep } from "node:timers/promises";

import { type Actor, type Place, createUser, untilAnswered } from "./actor.ts";
import { makeScene, makeSceneCollection } from "./scene.ts";

const COLLECTION = "soak-registrations";
const SECONDS_TO_SETTLE = 180;

/** Registers scenes; every one that was accepted must be in the catalogue in the end. */
export function createRegistrationActor(place: Place): Actor {
  const { virtualUser, recorder, url } = place;
  const name = "registrations";
  const operator = createUser(place, name, "admin");
  const accepted = new Map<string, string>();
  let hasCollection = false;
  const send = async (path: string, document?: object) => {
    const headers = await operator();
    return headers === undefined
      ? undefined
      : await virtualUser.send(name, url("registration-api", path), {
          headers: { ...headers, "content-type": "application/json" },
          ...(document !== undefined && { method: "POST", body: JSON.stringify(document) }),
        });
  };
  return {
    name,
    pauseMs: 700,
    act: async () => {
      if (!hasCollection) {
        hasCollection = (await send("/register-collection", makeSceneCollection(COLLECTION)))?.status === 202;
        return;
      }
      const id = `scene-${accepted.size}-${Date.now()}`;
      const response = await send("/register-json", makeScene(id, COLLECTION));
      if (response?.status === 202) {
        accepted.set(id, new URL(response.location ?? "", "http://registration").pathname);
      } else if (response !== undefined) {
        recorder.broken(`a registration was not accepted: ${response.status} ${response.text.slice(0, 200)}`);
      }
    },
    settle: async () => {
      const deadline = Date.now() + SECONDS_TO_SETTLE * 1000;
      let found = 0;
      for (const [id, task] of accepted) {
        const address = url("resource-catalogue-open", `/stac/collections/${COLLECTION}/items/${id}`);
        let status: number | undefined;
        do {
          status = (await untilAnswered(() => virtualUser.send(name, address)))?.status;
        } while (status !== 200 && Date.now() < deadline && (await sleep(500, true)));
        if (status === 200) {
          found += 1;
        } else {
          const response = await untilAnswered(() => send(task));
          recorder.broken(`scene ${id} was accepted and is not in the catalogue (${status}): ${response?.text}`);
        }
      }
      return `${accepted.size} registrations accepted, ${found} in the catalogue`;
    },
  };
}
