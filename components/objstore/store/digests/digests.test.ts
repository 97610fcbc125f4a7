import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";

import { combineCrcs } from "./crc-combine.ts";
import { updateCrc32c } from "./crc32c.ts";
import { type DigestName, createDigests, prepareDigests } from "./digests.ts";

async function digest(name: DigestName, ...chunks: readonly Uint8Array[]): Promise<Buffer> {
  await prepareDigests([name]);
  const digests = createDigests([name]);
  for (const chunk of chunks) {
    digests.update(chunk);
  }
  return digests.finish()[name] as Buffer;
}

test("check values of the CRC catalogue for '123456789'", async () => {
  const nine = Buffer.from("123456789");
  assert.equal((await digest("crc32", nine)).toString("hex"), "cbf43926");
  assert.equal((await digest("crc32c", nine)).toString("hex"), "e3069283");
  assert.equal((await digest("crc64nvme", nine)).toString("hex"), "ae8b14860a799888");
});

test("RFC 3720 B.4: CRC-32C of 32 zero bytes and of 32 times 0xff", () => {
  assert.equal(updateCrc32c(Buffer.alloc(32), 0), 0x8a9136aa);
  assert.equal(updateCrc32c(Buffer.alloc(32, 255), 0), 0x62a8ab43);
});

test("a digest does not depend on how the bytes are cut", async () => {
  const bytes = randomBytes(1000);
  for (const name of [
    "md5",
    "sha1",
    "sha256",
    "sha512",
    "crc32",
    "crc32c",
    "crc64nvme",
    "xxhash64",
    "xxhash3",
    "xxhash128",
  ] as const) {
    const whole = await digest(name, bytes);
    const cut = await digest(
      name,
      bytes.subarray(0, 13),
      bytes.subarray(13, 13),
      bytes.subarray(13, 700),
      bytes.subarray(700),
    );
    assert.deepEqual(cut, whole, name);
  }
  assert.deepEqual(await digest("sha256", bytes), createHash("sha256").update(bytes).digest());
});

test("XXH64 and XXH3 of an empty text and of 'abc', as xxHash 0.8's specification and its xxhsum have them", async () => {
  const abc = Buffer.from("abc");
  assert.equal((await digest("xxhash64")).toString("hex"), "ef46db3751d8e999");
  assert.equal((await digest("xxhash64", abc)).toString("hex"), "44bc2cf5ad770999");
  assert.equal((await digest("xxhash3")).toString("hex"), "2d06800538d394c2");
  assert.equal((await digest("xxhash3", abc)).toString("hex"), "78af5f94892f3950");
  assert.equal((await digest("xxhash128")).toString("hex"), "99aa06d3014798d86001c324468d497f");
  assert.equal((await digest("xxhash128", abc)).toString("hex"), "06b05ab6733a618578af5f94892f3950");
});

test("streams that are hashed at the same time do not disturb each other", async () => {
  const texts = [randomBytes(3000), randomBytes(2000)] as const;
  for (const name of ["xxhash64", "xxhash3", "xxhash128", "crc64nvme"] as const) {
    await prepareDigests([name]);
    const [first, second] = [createDigests([name]), createDigests([name])];
    for (const at of [0, 1000]) {
      first.update(texts[0].subarray(at, at + 1000));
      second.update(texts[1].subarray(at, at + 1000));
    }
    first.update(texts[0].subarray(2000));
    const found = [second.finish()[name], first.finish()[name]];
    assert.deepEqual(found, [await digest(name, texts[1]), await digest(name, texts[0])], name);
  }
});

test("CRCs of parts combine to the CRC of the whole", async () => {
  const parts = [randomBytes(5000), randomBytes(0), randomBytes(1), randomBytes(77)];
  for (const name of ["crc32", "crc32c", "crc64nvme"] as const) {
    const values = await Promise.all(
      parts.map(async (part) => ({ value: await digest(name, part), size: part.length })),
    );
    assert.deepEqual(await combineCrcs(name, values), await digest(name, ...parts), name);
  }
});
