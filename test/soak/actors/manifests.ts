import { hash } from "node:crypto";

import { type Actor, type Place, untilAnswered } from "./actor.ts";
import { createWorkspace } from "./workspace.ts";

const IMAGE = "application/vnd.oci.image.manifest.v1+json";
const digestOf = (content: string): string => `sha256:${hash("sha256", content)}`;

/** Pushes small images to a workspace's project of the registry and reads older ones back, by tag and layer by layer. */
export function createManifestActor(place: Place): Actor {
  const { virtualUser, recorder, url, password } = place;
  const name = "manifests";
  const workspace = createWorkspace(place, name);
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString("base64")}`;
  const kept = new Map<string, { readonly manifest: string; readonly layer: string }>();
  const send = async (method: string, path: string, body?: string, type = "application/octet-stream") =>
    virtualUser.send(name, url("registry", `/v2/ws-eric/soak${path}`), {
      method,
      headers: { authorization, accept: IMAGE, ...(body !== undefined && { "content-type": type }) },
      ...(body !== undefined && { body }),
    });
  const pushBlob = async (content: string) =>
    (await send("POST", `/blobs/uploads/?digest=${digestOf(content)}`, content))?.status === 201;
  const check = async (tag: string) => {
    const { manifest, layer } = kept.get(tag) ?? { manifest: "", layer: "" };
    const parts = [
      [`/manifests/${tag}`, manifest],
      [`/blobs/${digestOf(layer)}`, layer],
    ] as const;
    for (const [path, expected] of parts) {
      const response = await send("GET", path);
      if (response === undefined) {
        return undefined;
      }
      if (response.status !== 200 || response.text !== expected) {
        recorder.broken(`${path} was acknowledged, and is answered ${response.status} with other content`);
      }
    }
    return true;
  };
  return {
    name,
    pauseMs: 500,
    act: async () => {
      if (!(await workspace.isReady())) {
        return;
      }
      const tag = `t${kept.size}-${Date.now()}`;
      const layer = `layer of ${tag}`;
      const config = JSON.stringify({ architecture: "amd64", os: "linux", tag });
      if (!(await pushBlob(layer)) || !(await pushBlob(config))) {
        return;
      }
      const describe = (mediaType: string, content: string) => ({
        mediaType,
        digest: digestOf(content),
        size: content.length,
      });
      const manifest = JSON.stringify({
        schemaVersion: 2,
        mediaType: IMAGE,
        config: describe("application/vnd.oci.image.config.v1+json", config),
        layers: [describe("application/vnd.oci.image.layer.v1.tar", layer)],
      });
      const response = await send("PUT", `/manifests/${tag}`, manifest, IMAGE);
      if (response?.status === 201) {
        kept.set(tag, { manifest, layer });
      } else if (response !== undefined) {
        recorder.broken(`a manifest was not accepted: ${response.status} ${response.text.slice(0, 200)}`);
      }
      const older = [...kept.keys()][Math.floor(Math.random() * kept.size)];
      if (older !== undefined) {
        await check(older);
      }
    },
    settle: async () => {
      for (const tag of kept.keys()) {
        if ((await untilAnswered(() => check(tag))) === undefined) {
          recorder.broken(`the image ${tag} could not be read at the end`);
        }
      }
      return `${kept.size} images acknowledged, each read back at the end`;
    },
  };
}
