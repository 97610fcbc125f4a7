import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import { extract } from "tar-stream";

import type { RegistryClient } from "../registry-client.ts";
import { digestOf } from "../registry-client.ts";
import type { RegistryWriter } from "../registry-writer.ts";
import { buildImage } from "./build-image.ts";
import { expandVariables, parseContainerfile } from "./containerfile.ts";

const FILE = `# syntax of today's builders
ARG WHO=world
FROM scratch
ENV HELLO="hello \${WHO}" PATH=/opt/bin:/bin
LABEL org.opencontainers.image.title='costs $5' \\
      version=1
WORKDIR /opt
COPY --chmod=755 bin/*.sh bin/
COPY --chown=1000:1000 ["data", "/data"]
COPY one.txt two.txt
WORKDIR sub
USER 1000
EXPOSE 8080
ENTRYPOINT ["/opt/bin/run.sh", "--flag"]
CMD echo $HELLO
`;

function makeFolder(t: { readonly after: (end: () => void) => void }): string {
  const folder = mkdtempSync(join(tmpdir(), "swath-build-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "bin"));
  mkdirSync(join(folder, "data/deep"), { recursive: true });
  for (const [name, text] of Object.entries({
    "bin/run.sh": "#!/bin/sh\n",
    "bin/notes.md": "no",
    "data/deep/a.txt": "a",
    "data/empty": "",
    "data/secret.key": "no",
    "one.txt": "one",
    ".containerignore": "# keys\n**/*.key\n",
  })) {
    writeFileSync(join(folder, name), text);
  }
  symlinkSync("deep/a.txt", join(folder, "data/link"));
  symlinkSync("/etc/passwd", join(folder, "leak"));
  chmodSync(join(folder, "one.txt"), 0o640);
  utimesSync(join(folder, "one.txt"), 1_700_000_000, 1_700_000_000);
  return folder;
}

/** What was pushed, by digest, and the manifest. */
function createMemory() {
  const blobs = new Map<string, Buffer>();
  const mounted: string[] = [];
  let manifest: Buffer = Buffer.alloc(0);
  const writer: RegistryWriter = {
    pushBlob: async (_repository, { digest, from, open }) => {
      if (from === undefined) {
        const content = await open();
        blobs.set(digest, Buffer.isBuffer(content) ? content : await buffer(content));
      } else {
        mounted.push(`${from} ${digest}`);
      }
      return true;
    },
    pushManifest: async (_repository, _reference, _type, content) => {
      manifest = content;
    },
  };
  return { blobs, mounted, writer, manifest: () => manifest };
}

async function build(folder: string, text: string, base?: Parameters<typeof buildImage>[0]["base"], args = {}) {
  const memory = createMemory();
  const digest = await buildImage({
    file: parseContainerfile(text),
    folder,
    base,
    writer: memory.writer,
    target: { repository: "ws-eric/tool", tag: "1" },
    arguments: new Map(Object.entries(args)),
  });
  assert.equal(digest, digestOf(memory.manifest()));
  const { config, layers } = JSON.parse(memory.manifest().toString());
  for (const { digest: each, size } of [config, ...layers]) {
    const content = memory.blobs.get(each);
    assert.ok(content === undefined || (digestOf(content) === each && content.length === size));
  }
  return { ...memory, digest, layers, config: JSON.parse(memory.blobs.get(config.digest)?.toString() ?? "") };
}

async function listLayer(content: Buffer | undefined): Promise<readonly string[]> {
  const entries: string[] = [];
  const reader = Readable.from([gunzipSync(content ?? Buffer.alloc(0))]).pipe(extract());
  for await (const entry of reader) {
    const { type, name, mode, uid, linkname, size } = entry.header;
    entries.push(`${type} ${name} ${mode?.toString(8)} ${uid} ${linkname ?? size}`);
    entry.resume();
  }
  return entries;
}

test("files and settings become an image, the same again for the same files", async (t) => {
  const folder = makeFolder(t);
  const built = await build(folder, FILE, undefined, { WHO: "eric" });
  const [scripts, data, one] = await Promise.all(
    built.layers.map(({ digest }: { digest: string }) => listLayer(built.blobs.get(digest))),
  );
  assert.deepEqual(scripts, ["file opt/bin/run.sh 755 0 10"]);
  assert.deepEqual(data, [
    "directory data/deep 755 1000 0",
    "file data/deep/a.txt 644 1000 1",
    "file data/empty 644 1000 0",
    "symlink data/link 777 1000 deep/a.txt",
  ]);
  assert.deepEqual(one, ["file opt/two.txt 640 0 3"]);
  const { config, rootfs, history, os } = built.config;
  assert.deepEqual(config, {
    Env: ["HELLO=hello eric", "PATH=/opt/bin:/bin"],
    Labels: { "org.opencontainers.image.title": "costs $5", version: "1" },
    WorkingDir: "/opt/sub",
    User: "1000",
    ExposedPorts: { "8080/tcp": {} },
    Entrypoint: ["/opt/bin/run.sh", "--flag"],
    Cmd: ["/bin/sh", "-c", "echo $HELLO"],
  });
  assert.equal(os, "linux");
  assert.deepEqual(
    rootfs.diff_ids,
    built.layers.map(({ digest }: { digest: string }) => digestOf(gunzipSync(built.blobs.get(digest) ?? ""))),
  );
  assert.equal(history.filter((each: { empty_layer?: boolean }) => each.empty_layer !== true).length, 3);
  const again = await build(folder, FILE, undefined, { WHO: "eric" });
  assert.deepEqual(again.layers, built.layers);
});

test("an image is built on another one: its layers are mounted, its settings kept or replaced", async (t) => {
  const folder = makeFolder(t);
  const [layer, config] = [
    Buffer.from("a layer"),
    Buffer.from(
      JSON.stringify({
        architecture: "amd64",
        os: "linux",
        config: { Env: ["PATH=/bin", "LANG=C"], Entrypoint: ["/old"], Cmd: ["old"], WorkingDir: "/home" },
        rootfs: { type: "layers", diff_ids: ["sha256:abc"] },
      }),
    ),
  ];
  const docker = "application/vnd.docker.image.rootfs.diff.tar.gzip";
  const document = {
    config: { mediaType: "x", digest: digestOf(config), size: config.length },
    layers: [{ mediaType: docker, digest: digestOf(layer), size: layer.length }],
  };
  const client = {
    readManifest: async () => ({ digest: "sha256:m", mediaType: "m", content: Buffer.from(""), document }),
    readBlob: async (_: string, digest: string) => Readable.from([digest === digestOf(layer) ? layer : config]),
  } as unknown as RegistryClient;
  const base = { client, repository: "library/base", reference: "1" };
  const text = 'FROM base:1\nENV PATH=/opt:$PATH\nCOPY one.txt .\nENTRYPOINT ["/new"]\n';
  const same = await build(folder, text, { ...base, isSameRegistry: true });
  assert.deepEqual(same.mounted, [`library/base ${digestOf(layer)}`]);
  assert.equal(same.layers[0].mediaType, "application/vnd.oci.image.layer.v1.tar+gzip");
  assert.deepEqual(same.config.config, {
    Env: ["PATH=/opt:/bin", "LANG=C"],
    Entrypoint: ["/new"],
    WorkingDir: "/home",
  });
  assert.deepEqual(await listLayer(same.blobs.get(same.layers[1].digest)), ["file home/one.txt 640 0 3"]);
  const other = await build(folder, text, { ...base, isSameRegistry: false });
  assert.equal(other.blobs.get(digestOf(layer))?.toString(), "a layer");
  const artifact = { ...document, layers: [] };
  const none = {
    ...client,
    readManifest: async () => ({ ...(await client.readManifest("", "")), document: artifact }),
  };
  await assert.rejects(build(folder, text, { ...base, client: none, isSameRegistry: true }), /is an artifact/);
});

test("what only a builder can do, and mistakes, are named with their lines", async (t) => {
  for (const [text, message] of [
    ["FROM a\nRUN apt-get update", /line 2: RUN needs a builder/],
    ["FROM a\nFROM b", /line 2: a second FROM/],
    ["COPY a b", /line 1: FROM comes first/],
    ["", /there is no FROM/],
    ["FROM --platform=linux/arm64 a", /flags are not known/],
    ["FROM a\nCOPY --from=b x y", /COPY --from is not known/],
    ["FROM a\nCOPY --chown=eric x y", /takes numbers/],
    ["FROM a\nCOPY x", /takes files of the folder/],
    ["FROM a\nADD https://example.org/x /x", /line 2: ADD is not one of those/],
    ["FROM a\nENV", /takes NAME=VALUE/],
    ["FROM a\nEXPOSE many", /takes ports/],
    ["FROM a\nWORKDIR", /takes one value/],
  ] as const) {
    assert.throws(() => parseContainerfile(text), message, text);
  }
  const folder = makeFolder(t);
  const copy = (source: string) => build(folder, `FROM scratch\nCOPY ${source} /x/`);
  await assert.rejects(copy("../x"), /line 2: \.\.\/x is outside of the folder/);
  await assert.rejects(copy("leak"), /leads out of the folder/);
  await assert.rejects(copy("leak*"), /leads out of the folder/);
  await assert.rejects(copy("missing"), /there is no missing/);
  await assert.rejects(copy("data/secret.key"), /or it is ignored/);
});

test("variables", () => {
  const values = new Map([["A", "1"]]);
  assert.equal(expandVariables("$A ${A} ${B:-two} ${A:+yes}${B:+no} \\$A $B.", values), "1 1 two yes $A .");
});
