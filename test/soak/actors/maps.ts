import { readFileSync } from "node:fs";
import { join } from "node:path";

import { type Actor, type Place, createUser } from "./actor.ts";
import { BUCKET, SIGNER } from "./objects.ts";

const RASTER = join(import.meta.dirname, "../../../examples/scenes/lommel/B04.tif");
const COLLECTION = "soak-maps";
const ITEM = "S2_20190411T105029_B04";

/** Looks at one scene, in other sizes again and again: the same map has to be the same picture at all times. */
export function createMapActor(place: Place): Actor {
  const { virtualUser, recorder, url } = place;
  const name = "maps";
  const operator = createUser(place, name, "admin");
  const seen = new Map<number, string>();
  let step: "upload" | "register" | "look" = "upload";
  let turns = 0;
  const upload = async () => {
    const target = url("objstore", `/${BUCKET}/${ITEM}.tif`);
    const headers = await SIGNER.sign({ method: "PUT", url: target });
    const response = await virtualUser.send(name, target, { method: "PUT", headers, body: readFileSync(RASTER) });
    return response?.status === 200;
  };
  const register = async () => {
    const headers = await operator();
    const document = { type: "stac-item", url: `s3://${BUCKET}/${ITEM}.tif`, parent_identifier: COLLECTION };
    const response =
      headers &&
      (await virtualUser.send(name, url("registration-api", "/register"), {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(document),
      }));
    return response?.status === 202;
  };
  const look = async () => {
    const size = 64 + (turns % 16) * 8;
    const map = url("data-access-open", `/collections/${COLLECTION}__${ITEM}/map?width=${size}&height=${size}&f=png`);
    const response = await virtualUser.send(name, map);
    if (response?.status === 200) {
      const earlier = seen.get(size) ?? response.text;
      seen.set(size, earlier);
      if (earlier !== response.text) {
        recorder.broken(`the map of ${size} pixels has become another picture`);
      }
      turns += 1;
    } else if (response !== undefined && turns > 0) {
      recorder.broken(`a map that was shown is answered ${response.status}: ${response.text.slice(0, 200)}`);
    }
  };
  return {
    name,
    pauseMs: 300,
    act: async () => {
      if (step === "upload") {
        step = (await upload()) ? "register" : step;
      } else if (step === "register") {
        step = (await register()) ? "look" : step;
      } else {
        await look();
      }
    },
    settle: async () => {
      if (turns === 0) {
        recorder.broken("no map was ever shown");
      }
      return `${turns} maps of ${seen.size} sizes, each the same at all times`;
    },
  };
}
