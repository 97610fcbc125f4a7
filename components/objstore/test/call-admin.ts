import { ROOT, type startObjstore } from "./start-objstore.ts";

type Store = Awaited<ReturnType<typeof startObjstore>>;

/** Calls the administration API as the root user, or with `authorization`. */
export async function callAdmin(
  { consoleUrl }: Pick<Store, "consoleUrl">,
  method: string,
  path: string,
  body?: object,
  authorization = `Basic ${Buffer.from(`${ROOT.accessKeyId}:${ROOT.secretAccessKey}`).toString("base64")}`,
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
): Promise<{ readonly status: number; readonly body: any }> {
  const response = await fetch(`${consoleUrl}${path}`, {
    method,
    headers: { authorization, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}
