import type { Settings } from "@swath/service";
import { readOffering } from "@swath/service/offering";

import type { workerSettings } from "../config.ts";
import type { CloudData } from "../harvest/cloud-data.ts";
import type { PeerSettings, StoreSettings } from "../sources/source-types.ts";

type Given = Settings<typeof workerSettings>;

/** The storages that are read: a provider's data offering, and the deployment's own. */
export function toStores(settings: Given): readonly StoreSettings[] {
  const { OBJSTORE_URL: own } = settings;
  const offering = readOffering(settings);
  return [
    ...(offering === undefined ? [] : [{ ...offering, isShared: true }]),
    ...(own === undefined
      ? []
      : [
          {
            url: own,
            publicUrl: settings.OBJSTORE_PUBLIC_URL ?? own,
            region: settings.S3_REGION,
            accessKeyId: settings.OBJSTORE_ROOT_USER,
            secretAccessKey: settings.OBJSTORE_ROOT_PASSWORD,
            ...(settings.OBJSTORE_EVENT_TARGET !== undefined && { eventTarget: settings.OBJSTORE_EVENT_TARGET }),
          },
        ]),
  ];
}

/** The provider's offering that is harvested; undefined: none. */
export function toCloudData(settings: Given): CloudData | undefined {
  const { CLOUDDATA: isOn, CLOUDDATA_CATALOGUE_URL: url } = settings;
  const [begin = "", end = ".."] = settings.CLOUDDATA_TIME.split("/");
  return !isOn || url === undefined
    ? undefined
    : {
        url,
        type: settings.CLOUDDATA_CATALOGUE_TYPE as CloudData["type"],
        area: settings.CLOUDDATA_AREA,
        time: { ...(begin !== "" && { begin }), ...(end !== ".." && { end }) },
        schedule: settings.CLOUDDATA_SCHEDULE,
      };
}

/** Services of the deployment whose public addresses are read from inside. */
export function toPeers(settings: Given): readonly PeerSettings[] {
  return [
    ...toPeer(settings.ADES_URL, settings.ADES_PUBLIC_URL, settings.ADES_OPEN_HOST),
    ...toPeer(settings.CATALOGUE_API_URL, settings.CATALOGUE_PUBLIC_URL, settings.CATALOGUE_OPEN_HOST),
  ];
}

function toPeer(
  peerUrl: string | undefined,
  publicUrl: string | undefined,
  open: string | undefined,
): readonly PeerSettings[] {
  if (peerUrl === undefined || publicUrl === undefined) {
    return [];
  }
  const { protocol, port } = new URL(publicUrl);
  return [
    { publicUrl, peerUrl },
    ...(open === undefined ? [] : [{ publicUrl: `${protocol}//${open}${port === "" ? "" : `:${port}`}`, peerUrl }]),
  ];
}
