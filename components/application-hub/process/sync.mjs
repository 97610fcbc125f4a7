// The workspace as files, inside a server: the folder ~/workspace and the bucket are kept the same. It runs with the server's own
// rights, so that no link that a user makes leads to anything of the machine. Nothing but Node.js is there.
import { createHash, createHmac } from "node:crypto";
import fs from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const HUB = { host: "127.0.0.1", port: 8081 };
const STORE = { host: "127.0.0.1", port: 9000 };
const PUSH_MS = 3000;
const PULLS_EVERY = 5;
const MAX_FILES = 5000;
const MAX_FILE_BYTES = 2 ** 30;
const TIMEOUT_MS = 120_000;

// oxlint-disable-next-line node/no-process-env -- a program of its own
const { HOME: home, JUPYTERHUB_API_TOKEN: token } = process.env;
const root = path.join(home, "workspace");
const stateFile = path.join(home, ".swath", "workspace.json");
const log = (text) => process.stderr.write(`workspace: ${text}\n`);

/** What both sides had when they were last the same: key → { etag, size, mtime }. */
let state = {};
let known;
let working = Promise.resolve();

/** Keeps the folder and the bucket the same from now on; what is given back brings what changed to the bucket once more. */
export function startSync() {
  fs.mkdirSync(root, { recursive: true });
  fs.mkdirSync(path.dirname(stateFile), { recursive: true });
  try {
    state = JSON.parse(fs.readFileSync(stateFile, "utf8"));
  } catch {
    // The first time.
  }
  let rounds = 0;
  let said = "";
  let isTold = true;
  // The hub's pages show it: nobody reads the log of a server that seems to work.
  const tell = async (trouble) => {
    if (trouble !== said) {
      said = trouble;
      isTold = false;
      if (trouble !== "") {
        log(`${trouble}; trying again`);
      }
    }
    if (!isTold) {
      const body = Readable.from([JSON.stringify({ trouble })]);
      const headers = { authorization: `token ${token}`, "content-type": "application/json" };
      const answer = await exchange({
        ...HUB,
        method: "PUT",
        path: "/hub/api/swath/workspace-state",
        headers,
        body,
      }).catch(() => undefined);
      isTold = answer?.status === 204;
    }
  };
  const round = async (pulls) => {
    try {
      const keys = await findKeys();
      if (keys === undefined) {
        return;
      }
      await synchronize(keys, pulls);
      await tell("");
    } catch (error) {
      await tell(error.message);
    }
  };
  const tick = () => {
    working = working.then(() => round(rounds++ % PULLS_EVERY === 0));
    void working.then(() => setTimeout(tick, PUSH_MS).unref());
  };
  tick();
  return () => {
    working = working.then(() => round(false));
    return working;
  };
}

async function synchronize(keys, pulls) {
  const local = listLocal();
  const changed = [...local].filter(
    ([key, { size, mtime }]) => state[key]?.size !== size || state[key]?.mtime !== mtime,
  );
  const gone = Object.keys(state).filter((key) => !local.has(key));
  if (!pulls && changed.length === 0 && gone.length === 0) {
    return;
  }
  const remote = await listRemote(keys);
  for (const [key, info] of changed) {
    if (remote.get(key)?.etag !== state[key]?.etag) {
      // Changed on both sides: what was written here stays beside what came from the bucket.
      keepBeside(key);
    } else {
      await upload(keys, key, info);
    }
  }
  for (const key of gone) {
    if (remote.get(key)?.etag === state[key].etag) {
      await send(keys, "DELETE", key);
      remote.delete(key);
    }
    delete state[key];
  }
  if (pulls || changed.length > 0) {
    for (const [key, { etag, size }] of remote) {
      if (state[key]?.etag !== etag) {
        await download(keys, key, size);
      }
    }
    for (const key of Object.keys(state)) {
      const was = state[key];
      const now = statOf(key);
      if (!remote.has(key) && !changed.some(([each]) => each === key) && now?.mtime === was.mtime) {
        fs.rmSync(path.join(root, key), { force: true });
        delete state[key];
      }
    }
  }
  const temporary = `${stateFile}.new`;
  fs.writeFileSync(temporary, JSON.stringify(state));
  fs.renameSync(temporary, stateFile);
}

function listLocal() {
  const files = new Map();
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of fs.readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const key = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.name.startsWith(".~") || entry.name === ".ipynb_checkpoints") {
        continue;
      }
      if (entry.isDirectory()) {
        folders.push(key);
      } else if (entry.isFile() && files.size < MAX_FILES) {
        const info = statOf(key);
        if (info !== undefined) {
          files.set(key, info);
        }
      }
    }
  }
  return files;
}

function statOf(key) {
  const info = fs.lstatSync(path.join(root, key), { throwIfNoEntry: false });
  return info?.isFile() ? { size: info.size, mtime: info.mtimeMs } : undefined;
}

function keepBeside(key) {
  const { dir, name, ext } = path.parse(path.join(root, key));
  const moment = new Date().toISOString().slice(0, 19).replaceAll(":", "");
  fs.renameSync(path.join(root, key), path.join(dir, `${name} (changed here ${moment})${ext}`));
  delete state[key];
  log(`${key} was changed here and in the bucket; both are kept`);
}

async function upload(keys, key, { size, mtime }) {
  const body = fs.createReadStream(path.join(root, key), { flags: fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW });
  const answer = await send(keys, "PUT", key, { body, length: size });
  state[key] = { etag: answer.headers.etag, size, mtime };
}

async function download(keys, key, size) {
  if (!isSafe(key) || size > MAX_FILE_BYTES) {
    return;
  }
  const target = path.join(root, key);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  const temporary = path.join(path.dirname(target), `.~${path.basename(target).slice(0, 200)}`);
  const answer = await send(keys, "GET", key, { wantsStream: true });
  await pipeline(answer.stream, fs.createWriteStream(temporary));
  fs.renameSync(temporary, target);
  state[key] = { etag: answer.headers.etag, ...statOf(key) };
}

/** A key that is a path below the folder. */
const isSafe = (key) =>
  !key.includes("\0") &&
  key.split("/").every((part) => part !== "" && part !== "." && part !== ".." && Buffer.byteLength(part) <= 200);

async function listRemote(keys) {
  const found = new Map();
  let next = "";
  do {
    const query = { "list-type": "2", ...(next !== "" && { "continuation-token": next }) };
    const { text } = await send(keys, "GET", "", { query });
    for (const [, content] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const key = readTag(content, "Key");
      if (isSafe(key) && found.size < MAX_FILES) {
        found.set(key, { etag: readTag(content, "ETag"), size: Number(readTag(content, "Size")) });
      }
    }
    next = readTag(text, "NextContinuationToken");
  } while (next !== "");
  return found;
}

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
function readTag(text, name) {
  const [, inner = ""] = new RegExp(`<${name}>(.*?)</${name}>`, "s").exec(text) ?? [];
  return inner.replaceAll(/&(#x[\da-f]+|#\d+|\w+);/gi, (whole, code) =>
    code.startsWith("#x")
      ? String.fromCodePoint(Number.parseInt(code.slice(2), 16))
      : code.startsWith("#")
        ? String.fromCodePoint(Number(code.slice(1)))
        : (ENTITIES[code] ?? whole),
  );
}

/** Keys and place of the bucket, asked for again before they end; undefined without a workspace. */
async function findKeys() {
  if (known === undefined || Date.now() > known.until) {
    const headers = { authorization: `token ${token}` };
    const { status, text } = await exchange({ ...HUB, path: "/hub/api/swath/environment", headers });
    if (status !== 200) {
      throw new Error(JSON.parse(text).message ?? `the hub answers ${status}`);
    }
    const { s3, workspace, expires } = JSON.parse(text);
    known =
      s3?.access_key === undefined
        ? { until: Date.now() + 30_000 }
        : {
            ...s3,
            bucket: workspace.bucket,
            until: Math.min(Date.parse(s3.expires), Date.parse(expires) + 3_600_000) - 120_000,
          };
  }
  return known.bucket === undefined ? undefined : known;
}

/** A signed request of S3 (AWS Signature Version 4). @throws for what is refused */
async function send(keys, method, key, { query = {}, body, length, wantsStream = false } = {}) {
  const encode = (text) =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
  const uri = `/${[keys.bucket, ...(key === "" ? [] : key.split("/"))].map(encode).join("/")}`;
  const text = Object.entries(query)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join("&");
  const moment = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const signed = {
    host: new URL(keys.endpoint).host,
    "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
    "x-amz-date": moment,
    ...(keys.session_token && { "x-amz-security-token": keys.session_token }),
  };
  const names = Object.keys(signed).sort();
  const canonical = [
    method,
    uri,
    text,
    ...names.map((name) => `${name}:${signed[name]}`),
    "",
    names.join(";"),
    "UNSIGNED-PAYLOAD",
  ].join("\n");
  const scope = `${moment.slice(0, 8)}/${keys.region}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", moment, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  let secret = `AWS4${keys.secret_key}`;
  for (const part of [moment.slice(0, 8), keys.region, "s3", "aws4_request"]) {
    secret = createHmac("sha256", secret).update(part).digest();
  }
  const signature = createHmac("sha256", secret).update(toSign).digest("hex");
  const answer = await exchange({
    ...STORE,
    method,
    path: text === "" ? uri : `${uri}?${text}`,
    headers: {
      ...signed,
      authorization: `AWS4-HMAC-SHA256 Credential=${keys.access_key}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
      ...(length !== undefined && { "content-length": String(length) }),
    },
    body,
    wantsStream,
  });
  if (answer.status >= 300) {
    throw new Error(`the object storage refused ${method} ${key}: ${answer.status} ${readTag(answer.text, "Code")}`);
  }
  return answer;
}

function exchange({ body, wantsStream = false, ...options }) {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, agent: false, timeout: TIMEOUT_MS }, (answer) => {
      const head = { status: answer.statusCode, headers: answer.headers };
      if (wantsStream && answer.statusCode < 300) {
        resolve({ ...head, stream: answer });
        return;
      }
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part) => (text += part));
      answer.on("end", () => resolve({ ...head, text }));
      answer.on("error", reject);
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer in time")));
    outgoing.on("error", reject);
    if (body === undefined) {
      outgoing.end();
    } else {
      pipeline(body, outgoing).catch(reject);
    }
  });
}
