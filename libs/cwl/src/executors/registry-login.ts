import { readFileSync } from "node:fs";
import { CwlError, messageOf } from "../errors.ts";
import { isObject } from "../model/values.ts";

export interface RegistryLogin {
  readonly username: string;
  readonly password: string;
}

const DOCKER_HUB = "docker.io";

/**
 * The login that a file of registry credentials (containers-auth.json, or docker's config.json) holds for an image; of several
 * that match, the one for the longest part of its name. undefined where it holds none. Throws `invalid-inputs` for a file that cannot
 * be read and `unsupported` for a login that another program keeps.
 */
export function findLogin(authFile: string, image: string): RegistryLogin | undefined {
  const auths = readAuths(authFile);
  const name = qualified(image);
  const [found] = Object.keys(auths)
    .filter((key) => name === plainKey(key) || name.startsWith(`${plainKey(key)}/`))
    .toSorted((a, b) => plainKey(b).length - plainKey(a).length);
  if (found === undefined) {
    return undefined;
  }
  const entry = auths[found];
  const text = isObject(entry) && typeof entry["auth"] === "string" ? entry["auth"] : "";
  const [, username = "", password = ""] = /^([^:]+):(.+)$/s.exec(Buffer.from(text, "base64").toString()) ?? [];
  if (password === "") {
    throw new CwlError(
      "unsupported",
      `${authFile} holds no password for ${found}: those of credential helpers and identity tokens are not read; log in with the engine itself`,
    );
  }
  return { username, password };
}

function readAuths(authFile: string): { readonly [registry: string]: unknown } {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(authFile, "utf8"));
  } catch (error) {
    const why = error instanceof SyntaxError ? "it is not JSON" : messageOf(error);
    throw new CwlError("invalid-inputs", `cannot read the registry credentials in ${authFile}: ${why}`);
  }
  const auths = isObject(content) ? (content["auths"] ?? {}) : undefined;
  if (!isObject(auths)) {
    throw new CwlError("invalid-inputs", `${authFile} is no file of registry credentials: it needs an object "auths"`);
  }
  return auths;
}

/** An image's name with its registry, without tag and digest. */
function qualified(image: string): string {
  const name = image
    .replace(/^[a-z-]+:\/\//, "")
    .replace(/@.*$/, "")
    .replace(/:[^/]*$/, "");
  const [first = "", ...rest] = name.split("/");
  return rest.length > 0 && /[.:]|^localhost$/.test(first)
    ? name
    : `${DOCKER_HUB}/${rest.length === 0 ? "library/" : ""}${name}`;
}

/** docker writes the address of its hub's first interface. */
function plainKey(key: string): string {
  const plain = key.replace(/^https?:\/\//, "").replace(/\/(?:v[12]\/)?$/, "");
  return plain === "index.docker.io" || plain === "index.docker.io/v1" ? DOCKER_HUB : plain;
}
