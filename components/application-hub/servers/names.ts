import { Problem } from "@swath/service";
import { hash } from "node:crypto";

/** Characters of a host's label (RFC 1035 §2.3.4). */
const MAX_LABEL_CHARACTERS = 63;
const MAX_PLAIN_CHARACTERS = 28;

/**
 * The first label of a server's host: `eric`, `eric--lab`. Names that do not fit into a host's name become a part of them and a
 * hash, so that no two servers share a label.
 */
export function toLabel(user: string, name: string): string {
  const isPlain = (text: string) =>
    text.length <= MAX_PLAIN_CHARACTERS && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) && !text.startsWith("xn-");
  if (isPlain(user) && (name === "" || isPlain(name))) {
    return name === "" ? user : `${user}--${name}`;
  }
  const part = `${user} ${name}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 40)
    .replace(/-+$/, "");
  const digest = hash("sha256", `${user}\0${name}`).slice(0, 16);
  return `${part === "" ? "u" : part}---${digest}`.slice(0, MAX_LABEL_CHARACTERS);
}

/** @throws {Problem} 400 */
export function checkServerName(name: string): void {
  if (!/^[\p{L}\p{N}._-]{0,60}$/u.test(name)) {
    throw new Problem(
      400,
      `"${name.slice(0, 60)}" is not a server name; allowed: up to 60 letters, digits, ".", "_" and "-".`,
    );
  }
}

/** `/user/eric/lab/`: where a server that JupyterHub's clients know has its root. */
export const servicePrefix = (user: string, name: string): string =>
  `/user/${encodeURIComponent(user)}/${name === "" ? "" : `${encodeURIComponent(name)}/`}`;
