import { hash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { createS3Signer } from "@swath/s3";

import type { Actor, Place } from "./actor.ts";

export const BUCKET = "soak";
export const SIGNER = createS3Signer({ accessKeyId: "swath", secretAccessKey: "changeme", region: "us-east-1" });

/** Writes objects and reads older ones back. */
export function createUploadActor({ virtualUser, recorder, url }: Place): Actor {
  const name = "objects";
  const kept = new Map<string, string>();
  let hasBucket = false;
  const send = async (method: string, path: string, body?: Buffer) => {
    const target = url("objstore", path);
    const headers = await SIGNER.sign({ method, url: target });
    return virtualUser.send(name, target, { method, headers, ...(body && { body }) });
  };
  const check = async (key: string) => {
    const target = url("objstore", `/${BUCKET}/${key}`);
    const response = await virtualUser.send(name, target, { headers: await SIGNER.sign({ url: target }) });
    if (response !== undefined && (response.status !== 200 || hash("sha256", response.text) !== kept.get(key))) {
      recorder.broken(`object ${key} was acknowledged, and is answered ${response.status} with other content`);
    }
    return response !== undefined;
  };
  return {
    name,
    pauseMs: 200,
    act: async () => {
      if (!hasBucket) {
        hasBucket = (await send("PUT", `/${BUCKET}`)) !== undefined;
        return;
      }
      const key = `object-${kept.size}-${randomBytes(4).toString("hex")}`;
      const text = randomBytes(kept.size % 10 === 0 ? 300_000 : 2000).toString("hex");
      const response = await send("PUT", `/${BUCKET}/${key}`, Buffer.from(text));
      if (response?.status === 200) {
        kept.set(key, hash("sha256", text));
      }
      const older = [...kept.keys()][Math.floor(Math.random() * kept.size)];
      if (older !== undefined) {
        await check(older);
      }
    },
    settle: async () => {
      for (const key of kept.keys()) {
        for (let attempt = 0; !(await check(key)); attempt += 1) {
          if (attempt === 20) {
            recorder.broken(`object ${key} could not be read at the end`);
            break;
          }
          await sleep(500);
        }
      }
      return `${kept.size} objects acknowledged, each read back at the end`;
    },
  };
}
