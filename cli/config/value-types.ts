import { isIP } from "node:net";

import { type PlatformSecret, isHostName } from "@swath/manifest";
import { BASE_MAP_FORM, parseBaseMaps } from "@swath/service/base-maps";
import { parseCpus, parseSize, type SizeDialect } from "./quantities.ts";

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

/** How the text of a variable becomes a value. */
export interface ValueType<T> {
  /** One word for the reference page. */
  readonly name: string;
  /** What is allowed, as it completes "allowed: …". */
  readonly allowed: string;
  readonly secret?: true;
  readonly parse: (text: string) => Parsed<T>;
}

export const boolean: ValueType<boolean> = {
  name: "boolean",
  allowed: "true or false",
  parse: (text) =>
    text === "true" || text === "false"
      ? { value: text === "true" }
      : { problem: /^(true|false)$/i.test(text.trim()) ? "is not written in lower case" : "is neither" },
};

/** A text of one line. `pattern` must match all of it; `allowed` says in words what it asks for. */
export function text(options: { pattern?: RegExp; allowed?: string } = {}): ValueType<string> {
  const { pattern, allowed = "a text of one line" } = options;
  return {
    name: "text",
    allowed,
    parse: (value) => {
      if (/[\0\r\n]/.test(value)) {
        return { problem: "holds a line break" };
      }
      return pattern === undefined || pattern.test(value) ? { value } : { problem: "is not of that form" };
    },
  };
}

/** Base maps as `@swath/service/base-maps` reads them. */
export const baseMaps: ValueType<string> = {
  name: "text",
  allowed: BASE_MAP_FORM,
  parse: (value) => {
    try {
      parseBaseMaps(value);
      return { value };
    } catch (error) {
      return {
        problem: `is no list of base maps: ${(error as Error).message.replace(/^base maps: |; each is .*$/g, "")}`,
      };
    }
  },
};

/** One of a few words. `synonyms` are the known product's words for the same choice. */
export function choice<const T extends string>(
  values: readonly T[],
  synonyms: Readonly<Record<string, T>> = {},
): ValueType<T> {
  return {
    name: "choice",
    allowed: [...values, ...Object.keys(synonyms)].join(", "),
    parse: (value) => {
      const found =
        values.find((one) => one === value) ?? (Object.hasOwn(synonyms, value) ? synonyms[value] : undefined);
      return found === undefined ? { problem: "is none of them" } : { value: found };
    },
  };
}

/** Hosts and networks, separated by commas: names, addresses, and ranges of addresses (CIDR). */
export const hosts: ValueType<string> = {
  name: "hosts",
  allowed: "host names, addresses and networks (10.1.0.0/16), separated by commas",
  parse: (value) => {
    const wrong = value
      .split(",")
      .map((part) => part.trim())
      .find((part) => !isHost(part));
    return wrong === undefined
      ? { value }
      : { problem: wrong === "" ? "has an empty entry" : `has the entry ${wrong}, which is none of these` };
  },
};

function isHost(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (bits !== undefined) {
    const isWidth = /^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (family === 4 ? 32 : 128);
    return family !== 0 && isWidth && rest.length === 0;
  }
  return family !== 0 || isHostName(text);
}

export function integer(minimum: number, maximum: number): ValueType<number> {
  return {
    name: "integer",
    allowed: `a whole number from ${minimum} to ${maximum}`,
    parse: (value) =>
      /^\d{1,15}$/.test(value) && Number(value) >= minimum && Number(value) <= maximum
        ? { value: Number(value) }
        : { problem: "is not such a number" },
  };
}

/** A number of bytes with a unit, kept as it was written. */
export function size(dialect: SizeDialect): ValueType<string> {
  return {
    name: "size",
    allowed: dialect === "tool" ? "a size like 12g, 8192m or 8Gi, or max" : "a quantity like 8Gi or 512Mi",
    parse: (value) => (parseSize(value, dialect) === undefined ? { problem: "is not a size above zero" } : { value }),
  };
}

/** A number of processors, kept as it was written. */
export const cpus: ValueType<string> = {
  name: "processors",
  allowed: "a number like 4 or 2.5, or max",
  parse: (value) => (parseCpus(value) === undefined ? { problem: "is not such a number" } : { value }),
};

/** A password or key. `minimum` is its least length in characters. */
export function secret(minimum = 1): ValueType<PlatformSecret> {
  return {
    name: "secret",
    allowed: minimum > 1 ? `at least ${minimum} characters, no line break` : "a text of one line",
    secret: true,
    parse: (value) => {
      if (/[\0\r\n]/.test(value)) {
        return { problem: "holds a line break" };
      }
      return value.length < minimum ? { problem: "is too short" } : { value: { kind: "given", value } };
    },
  };
}

/** A URL of one of the given schemes, without the slash at its end. */
export function url(schemes: readonly string[]): ValueType<string> {
  return {
    name: "URL",
    allowed: `a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`,
    parse: (value) => {
      if (!URL.canParse(value) || !schemes.includes(new URL(value).protocol.slice(0, -1))) {
        return { problem: "is not such a URL" };
      }
      const { username, password, hostname } = new URL(value);
      if (hostname === "") {
        return { problem: "names no host" };
      }
      return username + password === ""
        ? { value: value.replace(/\/+$/, "") }
        : { problem: "holds a user name or password, which belong in variables of their own" };
    },
  };
}

/** A URL whose password makes all of it a secret. */
export function secretUrl(schemes: readonly string[]): ValueType<PlatformSecret> {
  return {
    name: "secret URL",
    allowed: `a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`,
    secret: true,
    parse: (value) =>
      URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1))
        ? { value: { kind: "given", value } }
        : { problem: "is not such a URL" },
  };
}
