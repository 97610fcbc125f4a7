import { gunzipSync, gzipSync } from "node:zlib";

import type { KubernetesObject } from "@swath/kubernetes";

import type { Connection } from "../api/connection.ts";
import { applyObject, readObject } from "../api/objects.ts";
import { commonLabels } from "../render/labels.ts";
import { RECORD_NAMESPACE } from "./names.ts";

/** A value that the deployment tool keeps in the cluster, so that every machine that reaches it finds it. */
interface PackedSecret<T> {
  readonly read: (connection: Connection) => Promise<T | undefined>;
  readonly write: (connection: Connection, clusterName: string, value: T) => Promise<void>;
}

/** JSON, compressed, in one entry of a Secret: such values hold the operator's passwords. */
export function packedSecret<T>(name: string, entry: string): PackedSecret<T> {
  const identity = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: RECORD_NAMESPACE } } as const;
  return {
    read: async (connection) => {
      const secret = await readObject(connection, identity);
      const packed = (secret?.["data"] as Record<string, string> | undefined)?.[entry];
      return packed === undefined
        ? undefined
        : (JSON.parse(gunzipSync(Buffer.from(packed, "base64")).toString("utf8")) as T);
    },
    write: async (connection, clusterName, value) => {
      const packed = gzipSync(JSON.stringify(value), { level: 9 }).toString("base64");
      const object: KubernetesObject = {
        ...identity,
        metadata: { ...identity.metadata, labels: commonLabels({ clusterName }) },
        type: "Opaque",
        data: { [entry]: packed },
      };
      await applyObject(connection, object);
    },
  };
}
