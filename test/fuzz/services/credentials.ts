import { Hash } from "@smithy/hash-node";
import { SignatureV4 } from "@smithy/signature-v4";

import type { Fetch } from "../../../cli/targets/deployment-fetch.ts";
import type { HostileRequest } from "./make-request.ts";

/** Gives the header fields that show who sends a request. */
export type Credential = (request: HostileRequest, url: string) => Promise<Readonly<Record<string, string>>>;

export const anonymous: Credential = async () => ({});
export const bearer =
  (token: string): Credential =>
  async () => ({ authorization: `Bearer ${token}` });
export const basic =
  (user: string, password: string): Credential =>
  async () => ({ authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` });
/** Of a browser; what it does not say of itself, forms are refused without. */
export const session =
  (cookie: string): Credential =>
  async ({ headers }, url) => ({
    cookie: [cookie, headers["cookie"]].filter(Boolean).join("; "),
    origin: new URL(url).origin,
    "sec-fetch-site": "same-origin",
  });

/** Signature Version 4, without the body; for IAM and STS where the request has a form. */
export function signature(accessKeyId: string, secretAccessKey: string): Credential {
  const signers = Object.fromEntries(
    ["s3", "iam"].map((service) => [
      service,
      new SignatureV4({
        credentials: { accessKeyId, secretAccessKey },
        region: "us-east-1",
        service,
        sha256: Hash.bind(null, "sha256"),
        uriEscapePath: false,
      }),
    ]),
  );
  return async ({ method, path, headers, type, body }, url) => {
    const { host, pathname, searchParams } = new URL(`${url}${path}`);
    const isForm = type === "application/x-www-form-urlencoded" && pathname === "/";
    const { headers: signed } = await signers[isForm ? "iam" : "s3"]!.sign({
      method,
      protocol: "http:",
      hostname: host,
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: {
        host,
        ...(!isForm && { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" }),
        ...Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("x-amz-"))),
      },
      ...(isForm && body !== undefined && { body }),
    });
    const { host: _, ...fields } = signed;
    return fields;
  };
}

const MAX_STEPS = 20;

/** Logs in as a browser does, from a page of a service that leads to the login. @returns the service's cookies */
export async function logInBrowser(send: Fetch, start: string, user: string, password: string): Promise<string> {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { host } = new URL(url);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    return jar;
  };
  const toCookie = (url: string) => [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join("; ");
  let target = start;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const response = await send(target, {
      method: form === undefined ? "GET" : "POST",
      redirect: "manual",
      headers: { cookie: toCookie(target), accept: "text/html", origin: new URL(target).origin },
      ...(form && { body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]*)=([^;]*)/.exec(cookie) ?? [];
      if (value === "") {
        jarOf(target).delete(name);
      } else {
        jarOf(target).set(name, value);
      }
    }
    const text = await response.text();
    const location = response.headers.get("location");
    form = undefined;
    if (location !== null && response.status < 400) {
      target = new URL(location, target).href;
      continue;
    }
    const action = /<form method="post" action="([^"]+)"/.exec(text)?.[1];
    if (action?.includes("/login-actions/") !== true) {
      return toCookie(start);
    }
    target = new URL(action.replaceAll("&amp;", "&"), target).href;
    // The one with a password comes first.
    const hidden = (text.split("</form>", 1)[0] ?? "").matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
    form = new URLSearchParams(Object.fromEntries([...hidden].map(([, name = "", value = ""]) => [name, value])));
    form.set("username", user);
    form.set("password", password);
  }
  throw new Error(`the login of ${user} at ${start} does not end`);
}
