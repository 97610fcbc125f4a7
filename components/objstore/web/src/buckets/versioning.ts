import { send } from "../s3/send.ts";

/** Begins or stops keeping old versions; those that are kept stay. @throws {RequestError} */
export async function setVersioning(bucket: string, isOn: boolean): Promise<void> {
  const status = isOn ? "Enabled" : "Suspended";
  const body = `<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>${status}</Status></VersioningConfiguration>`;
  await send({ method: "PUT", bucket, query: { versioning: "" } }, { body });
}
