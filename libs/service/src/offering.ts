import { readList } from "./read-list.ts";
import { type Settings, defineSettings } from "./settings.ts";

/** Settings of services that read the object storage of a cloud provider's data offering. */
export const offeringSettings = defineSettings({
  CLOUDDATA_S3_ENDPOINT: { kind: "url", optional: true, description: "Object storage of a provider's data offering." },
  CLOUDDATA_S3_REGION: { kind: "string", default: "RegionOne", description: "Its region." },
  CLOUDDATA_S3_ACCESS_KEY: { kind: "string", default: "", description: "Access key there." },
  CLOUDDATA_S3_SECRET_KEY: { kind: "string", default: "", secret: true, description: "Its secret." },
  CLOUDDATA_S3_BUCKETS: {
    kind: "string",
    default: "eodata,DIAS,EODATA",
    description: "Buckets there, separated by commas.",
  },
});

/** Object storage of a provider's data offering, for its buckets alone. */
export interface OfferingStorage {
  readonly url: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly buckets: readonly string[];
}

/** The storage that the settings name; undefined: none. */
export function readOffering(settings: Settings<typeof offeringSettings>): OfferingStorage | undefined {
  return settings.CLOUDDATA_S3_ENDPOINT === undefined
    ? undefined
    : {
        url: settings.CLOUDDATA_S3_ENDPOINT,
        region: settings.CLOUDDATA_S3_REGION,
        accessKeyId: settings.CLOUDDATA_S3_ACCESS_KEY,
        secretAccessKey: settings.CLOUDDATA_S3_SECRET_KEY,
        buckets: readList(settings.CLOUDDATA_S3_BUCKETS),
      };
}
