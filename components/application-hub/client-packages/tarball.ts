import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import type { ClientPackage } from "./client-package.ts";

const SOURCE = join(import.meta.dirname, "../clients/javascript");
const FILES = [
  "package.json",
  ...["swath", "login", "storage-request", "reach"].flatMap((name) => [`${name}.js`, `${name}.d.ts`]),
];
const BLOCK = 512;

/** The JavaScript client as npm takes it: a tar file (POSIX ustar) of `package/`, the same bytes each time. */
export function buildTarball(version: string): ClientPackage {
  const blocks = FILES.flatMap((name) => {
    const bytes = readFileSync(join(SOURCE, name));
    return [toHeader(`package/${name}`, bytes.length), bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)];
  });
  return { name: `swath-client-${version}.tgz`, bytes: gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)])) };
}

function toHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const write = (text: string, at: number) => header.write(text, at, "latin1");
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  write(name, 0);
  write(octal(0o644, 7), 100);
  write(octal(0, 7), 108);
  write(octal(0, 7), 116);
  write(octal(size, 11), 124);
  write(octal(0, 11), 136);
  // The sum is taken with blanks in its own place.
  write("        ", 148);
  write("0", 156);
  write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
