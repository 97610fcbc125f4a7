import { type Actor, type Place, untilAnswered } from "./actor.ts";
import { makeScene, makeSceneCollection } from "./scene.ts";

const COLLECTION = "soak-records";
const SCHEME = { "content-type": "application/json" };

/** Writes and changes records of the catalogue and reads older ones back. */
export function createRecordActor({ virtualUser, recorder, url }: Place): Actor {
  const name = "records";
  const collections = url("resource-catalogue-open", "/stac/collections");
  const items = `${collections}/${COLLECTION}/items`;
  const kept = new Set<string>();
  let hasCollection = false;
  const send = (address: string, method: string, body: object) =>
    virtualUser.send(name, address, { method, headers: SCHEME, body: JSON.stringify(body) });
  const check = async (id: string) => {
    const response = await virtualUser.send(name, `${items}/${id}`);
    if (response !== undefined && response.status !== 200) {
      recorder.broken(`record ${id} was acknowledged, and is answered ${response.status}`);
    }
    return response;
  };
  return {
    name,
    pauseMs: 200,
    act: async () => {
      if (!hasCollection) {
        const response = await send(collections, "POST", makeSceneCollection(COLLECTION));
        hasCollection = response?.status === 201 || response?.status === 409;
        return;
      }
      const id = `record-${kept.size}-${Date.now()}`;
      const response = await send(items, "POST", makeScene(id, COLLECTION));
      if (response?.status === 201) {
        kept.add(id);
      } else if (response !== undefined) {
        recorder.broken(`a record was not accepted: ${response.status} ${response.text.slice(0, 200)}`);
      }
      const older = [...kept][Math.floor(Math.random() * kept.size)];
      if (older !== undefined) {
        await check(older);
      }
    },
    settle: async () => {
      for (const id of kept) {
        if ((await untilAnswered(() => check(id))) === undefined) {
          recorder.broken(`record ${id} could not be read at the end`);
        }
      }
      return `${kept.size} records acknowledged, each read back at the end`;
    },
  };
}
