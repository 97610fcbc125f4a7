// Behaviours that conformance suites of S3 look at, each by a real client.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";

import * as s3 from "@aws-sdk/client-s3";

import { createS3Client } from "./s3-client.ts";
import { startObjstore } from "./start-objstore.ts";

let store: Awaited<ReturnType<typeof startObjstore>>;
let client: s3.S3Client;

before(async () => {
  store = await startObjstore();
  client = createS3Client(store);
});
after(async () => {
  client.destroy();
  await store.stop();
});

let buckets = 0;
async function newBucket(): Promise<string> {
  const Bucket = `behaviour-${(buckets += 1)}`;
  await client.send(new s3.CreateBucketCommand({ Bucket }));
  return Bucket;
}
const put = (Bucket: string, Key: string, Body: string | Buffer = Key, more: Partial<s3.PutObjectCommandInput> = {}) =>
  client.send(new s3.PutObjectCommand({ Bucket, Key, Body, ...more }));
const read = async (Bucket: string, Key: string, more: Partial<s3.GetObjectCommandInput> = {}) => {
  const { Body } = await client.send(new s3.GetObjectCommand({ Bucket, Key, ...more }));
  return (await Body?.transformToString()) ?? "";
};
const fails = (work: Promise<unknown>, name: string | undefined, status?: number) =>
  assert.rejects(work, (error: Error & { $metadata?: { httpStatusCode?: number } }) => {
    assert.ok(name === undefined || error.name === name, `${error.name}: ${error.message}`);
    assert.ok(status === undefined || error.$metadata?.httpStatusCode === status);
    return true;
  });
const keysOf = (page: { Contents?: { Key?: string | undefined }[] | undefined }) =>
  page.Contents?.map(({ Key }) => Key) ?? [];
const prefixesOf = (page: { CommonPrefixes?: { Prefix?: string | undefined }[] | undefined }) =>
  page.CommonPrefixes?.map(({ Prefix }) => Prefix) ?? [];

test("listing: delimiters of any kind, prefixes, markers that are no keys, sizes of pages", async () => {
  const Bucket = await newBucket();
  for (const key of [
    "asdf",
    "boo/bar",
    "boo/baz/xyzzy",
    "cquux/thud",
    "cquux/bla",
    "c%x",
    "d\n1",
    "bar",
    "baz",
    "cab",
  ]) {
    await put(Bucket, key);
  }
  const list = (input: Partial<s3.ListObjectsV2CommandInput> = {}) =>
    client.send(new s3.ListObjectsV2Command({ Bucket, ...input }));
  const folders = await list({ Delimiter: "/" });
  assert.deepEqual(keysOf(folders), ["asdf", "bar", "baz", "c%x", "cab", "d\n1"]);
  assert.deepEqual(prefixesOf(folders), ["boo/", "cquux/"]);
  assert.equal(folders.KeyCount, 8);
  assert.deepEqual(prefixesOf(await list({ Delimiter: "a", Prefix: "b" })), ["ba", "boo/ba"]);
  assert.deepEqual(prefixesOf(await list({ Delimiter: "%", Prefix: "c" })), ["c%"]);
  assert.deepEqual(prefixesOf(await list({ Delimiter: "\n" })), ["d\n"]);
  assert.deepEqual(keysOf(await list({ Delimiter: "#" })).length, 10, "a delimiter that no key has");
  assert.equal((await list({ Delimiter: "" })).Delimiter, undefined);
  assert.deepEqual(keysOf(await list({ Prefix: "nothing" })), []);
  assert.deepEqual(keysOf(await list({ Prefix: "boo/", Delimiter: "/" })), ["boo/bar"]);
  assert.deepEqual(keysOf(await list({ Prefix: "d\n" })), ["d\n1"]);
  assert.deepEqual(keysOf(await list({ StartAfter: "bas" }))[0], "baz", "after a key that is not there");
  assert.deepEqual(keysOf(await list({ StartAfter: "zzz" })), []);
  const none = await list({ MaxKeys: 0 });
  assert.deepEqual([keysOf(none), none.IsTruncated], [[], false]);
  const seen: (string | undefined)[] = [];
  let token: string | undefined;
  do {
    const page = await list({ MaxKeys: 1, Delimiter: "/", ContinuationToken: token });
    assert.equal(keysOf(page).length + prefixesOf(page).length, 1);
    seen.push(...keysOf(page), ...prefixesOf(page));
    token = page.NextContinuationToken;
  } while (token !== undefined);
  assert.deepEqual(seen, ["asdf", "bar", "baz", "boo/", "c%x", "cab", "cquux/", "d\n1"]);
  const first = await client.send(new s3.ListObjectsCommand({ Bucket, Delimiter: "/", MaxKeys: 4 }));
  assert.equal(first.NextMarker, "boo/");
  const rest = await client.send(new s3.ListObjectsCommand({ Bucket, Delimiter: "/", Marker: first.NextMarker }));
  assert.deepEqual(keysOf(rest), ["c%x", "cab", "d\n1"]);
  const owned = await list({ FetchOwner: true, MaxKeys: 1 });
  assert.equal(owned.Contents?.[0]?.Owner?.ID, "root");
  assert.equal((await list({ MaxKeys: 1 })).Contents?.[0]?.Owner, undefined);
  await fails(list({ Bucket: "no-such-bucket" }), "NoSuchBucket", 404);
  await fails(list({ EncodingType: "x" as "url" }), "InvalidArgument", 400);
  await fails(list({ ContinuationToken: "%%%" }), "InvalidArgument", 400);
});

test("keys with every odd character come back as they went, in both list forms and by raw requests", async () => {
  const Bucket = await newBucket();
  const keys = [
    ...Array.from({ length: 31 }, (_, code) => `c${String.fromCharCode(code + 1)}z`),
    "\u007f", "\u0080", "\ufffe", "\uffff", "\ud7ff", "\ue000", "🛰️/🌍", "e\u0301", "\u00e9", "ß", "İ",
    " ", "  lead", "trail  ", "+", "%2F", "%", "%zz", "%00", "&amp;", "<x>", '"', "'", "`", "\\", "|", "^", "~",
    "//", "/", "a/../b", "../", ".", "..", "./.", ";jsessionid", "?x=y", "#frag", "@", "=", ",", "(", ")", "*", "!",
    "x".repeat(1024), "é".repeat(512), "🌍".repeat(256),
  ]; // prettier-ignore
  for (const key of keys) {
    await put(Bucket, key, key);
    assert.equal(await read(Bucket, key), key, JSON.stringify(key));
  }
  const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const listed: string[] = [];
  for await (const page of s3.paginateListObjectsV2({ client, pageSize: 9 }, { Bucket, EncodingType: "url" })) {
    listed.push(...keysOf(page).map((key) => decodeURIComponent(key ?? "")));
  }
  assert.deepEqual(listed, sorted, "in the order of UTF-8 bytes");
  // What XML 1.0 cannot hold is why `encoding-type` exists; everything else is readable without it.
  const plain = await client.send(new s3.ListObjectsCommand({ Bucket, Prefix: "c" }));
  assert.equal(plain.Contents?.length, 31);
  await fails(put(Bucket, "é".repeat(513)), "KeyTooLongError", 400);
  const objects = keys.map((Key) => ({ Key }));
  const { Deleted } = await client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects: objects } }));
  assert.equal(Deleted?.length, keys.length);
  assert.equal((await client.send(new s3.ListObjectsV2Command({ Bucket }))).KeyCount, 0);
});

test("conditions of reads and writes", async () => {
  const Bucket = await newBucket();
  const { ETag } = await put(Bucket, "k", "one");
  const past = new Date(Date.now() - 3600_000);
  const future = new Date(Date.now() + 3600_000);
  assert.equal(await read(Bucket, "k", { IfMatch: ETag }), "one");
  await fails(read(Bucket, "k", { IfMatch: '"x"' }), "PreconditionFailed", 412);
  await fails(read(Bucket, "k", { IfNoneMatch: ETag }), undefined, 304);
  assert.equal(await read(Bucket, "k", { IfNoneMatch: '"x"' }), "one");
  assert.equal(await read(Bucket, "k", { IfModifiedSince: past }), "one");
  await fails(read(Bucket, "k", { IfModifiedSince: new Date() }), undefined, 304);
  await fails(read(Bucket, "k", { IfUnmodifiedSince: past }), "PreconditionFailed", 412);
  assert.equal(await read(Bucket, "k", { IfUnmodifiedSince: future }), "one");
  assert.equal(await read(Bucket, "k", { IfMatch: ETag, IfUnmodifiedSince: past }), "one", "RFC 9110 §13.2.2");
  await fails(put(Bucket, "k", "two", { IfNoneMatch: "*" }), "PreconditionFailed", 412);
  await fails(put(Bucket, "k", "two", { IfMatch: '"x"' }), "PreconditionFailed", 412);
  await fails(put(Bucket, "absent", "two", { IfMatch: ETag }), "NoSuchKey", 404);
  await put(Bucket, "k", "two", { IfMatch: ETag });
  await put(Bucket, "new", "three", { IfNoneMatch: "*" });
  assert.deepEqual([await read(Bucket, "k"), await read(Bucket, "new")], ["two", "three"]);
  const racers = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) => put(Bucket, "once", `racer ${n}`, { IfNoneMatch: "*" })),
  );
  assert.equal(racers.filter(({ status }) => status === "fulfilled").length, 1, "of many creators one wins");
});

test("ranges", async () => {
  const Bucket = await newBucket();
  const bytes = randomBytes(70_000).toString("hex");
  await put(Bucket, "k", bytes);
  await put(Bucket, "empty", "");
  for (const [range, from, to] of [
    ["bytes=4-7", 4, 8],
    ["bytes=139990-", 139_990, 140_000],
    ["bytes=-7", 139_993, 140_000],
    ["bytes=-5497558138880", 0, 140_000],
    ["bytes=5-5497558138879", 5, 140_000],
    ["bytes=0-0", 0, 1],
  ] as const) {
    const response = await client.send(new s3.GetObjectCommand({ Bucket, Key: "k", Range: range }));
    assert.equal(await response.Body?.transformToString(), bytes.slice(from, to), range);
    assert.equal(response.ContentRange, `bytes ${from}-${to - 1}/140000`);
    assert.equal(response.$metadata.httpStatusCode, 206);
  }
  await fails(read(Bucket, "k", { Range: "bytes=140000-" }), "InvalidRange", 416);
  await fails(read(Bucket, "k", { Range: "bytes=5497558138880-5497558138881" }), "InvalidRange", 416);
  await fails(read(Bucket, "empty", { Range: "bytes=0-5" }), "InvalidRange", 416);
  await fails(read(Bucket, "k", { Range: "bytes=0-5", PartNumber: 1 }), "InvalidRequest", 400);
  for (const ignored of ["bytes=9-3", "chapters=1-2", "bytes=x-y"]) {
    assert.equal(
      (await read(Bucket, "k", { Range: ignored })).length,
      140_000,
      `${ignored} is ignored (RFC 9110 §14.2)`,
    );
  }
});

test("metadata and headers are kept, replaced by a copy that says so, and bounded", async () => {
  const Bucket = await newBucket();
  await put(Bucket, "k", "x", {
    Metadata: { one: "1", Two: "zwei" },
    CacheControl: "max-age=14400",
    ContentDisposition: 'attachment; filename="x y"',
    ContentEncoding: "gzip",
    ContentLanguage: "de",
    Expires: new Date("2031-01-02T03:04:05Z"),
    Tagging: "a=1&b=%20x",
  });
  const head = await client.send(new s3.HeadObjectCommand({ Bucket, Key: "k" }));
  assert.deepEqual(head.Metadata, { one: "1", two: "zwei" });
  assert.deepEqual(
    [head.CacheControl, head.ContentDisposition, head.ContentEncoding, head.ContentLanguage, head.ContentType],
    ["max-age=14400", 'attachment; filename="x y"', "gzip", "de", "application/octet-stream"],
  );
  const CopySource = `${Bucket}/k`;
  await fails(client.send(new s3.CopyObjectCommand({ Bucket, Key: "k", CopySource })), "InvalidRequest", 400);
  const replace = { MetadataDirective: "REPLACE", Metadata: { three: "3" }, ContentType: "text/plain" } as const;
  await client.send(new s3.CopyObjectCommand({ Bucket, Key: "k", CopySource, ...replace }));
  const replaced = await client.send(new s3.HeadObjectCommand({ Bucket, Key: "k" }));
  assert.deepEqual(
    [replaced.Metadata, replaced.ContentType, replaced.CacheControl],
    [{ three: "3" }, "text/plain", undefined],
  );
  const { TagSet } = await client.send(new s3.GetObjectTaggingCommand({ Bucket, Key: "k" }));
  assert.deepEqual(TagSet, [
    { Key: "a", Value: "1" },
    { Key: "b", Value: " x" },
  ]);
  await put(Bucket, "k", "y");
  assert.deepEqual((await client.send(new s3.HeadObjectCommand({ Bucket, Key: "k" }))).Metadata, {});
  await fails(put(Bucket, "big", "", { Metadata: { m: "x".repeat(2100) } }), "MetadataTooLarge", 400);
  await fails(put(Bucket, "t", "", { Tagging: "a=1&a=2" }), "InvalidTag", 400);
  await fails(
    client.send(new s3.CopyObjectCommand({ Bucket, Key: "c", CopySource: `${Bucket}/absent` })),
    "NoSuchKey",
    404,
  );
  await fails(
    client.send(new s3.CopyObjectCommand({ Bucket, Key: "c", CopySource: "absent-bucket/k" })),
    "NoSuchBucket",
    404,
  );
});

test("multipart: what must be refused is refused, what is sent again replaces", async () => {
  const Bucket = await newBucket();
  const Key = "k";
  const start = async () =>
    (await client.send(new s3.CreateMultipartUploadCommand({ Bucket, Key, ContentType: "image/tiff" }))).UploadId;
  const part = async (UploadId: string | undefined, PartNumber: number, Body: Buffer) => ({
    PartNumber,
    ETag: (await client.send(new s3.UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }))).ETag,
  });
  const complete = (UploadId: string | undefined, Parts: s3.CompletedPart[], more = {}) =>
    client.send(new s3.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts }, ...more }));
  const five = randomBytes(5 << 20);
  const UploadId = await start();
  await fails(complete(UploadId, []), "MalformedXML", 400);
  await fails(complete(UploadId, [{ PartNumber: 1, ETag: '"0123456789abcdef0123456789abcdef"' }]), "InvalidPart", 400);
  const small = [await part(UploadId, 1, Buffer.from("a")), await part(UploadId, 2, Buffer.from("b"))];
  await fails(complete(UploadId, small), "EntityTooSmall", 400);
  const first = await part(UploadId, 1, five);
  await fails(complete(UploadId, [{ ...first, ETag: small[0]?.ETag }, small[1] ?? first]), "InvalidPart", 400);
  await fails(part(UploadId, 0, five.subarray(0, 1)), "InvalidArgument", 400);
  await fails(part(UploadId, 10_001, five.subarray(0, 1)), "InvalidArgument", 400);
  await fails(part("nonsense", 1, five.subarray(0, 1)), "NoSuchUpload", 404);
  await fails(
    complete(UploadId, [first, small[1] ?? first], { MpuObjectSize: 5_497_558_138_880 }),
    "InvalidRequest",
    400,
  );
  await fails(
    complete(UploadId, [first, small[1] ?? first], { IfNoneMatch: "*", IfMatch: undefined, Key: "other" }),
    "NoSuchUpload",
  );
  assert.equal((await client.send(new s3.ListPartsCommand({ Bucket, Key, UploadId, MaxParts: 1 }))).IsTruncated, true);
  await put(Bucket, Key, "before");
  const done = await complete(UploadId, [first, small[1] ?? first]);
  const head = await client.send(new s3.HeadObjectCommand({ Bucket, Key, PartNumber: 2 }));
  assert.deepEqual([head.PartsCount, head.ContentLength, head.ContentType], [2, 1, "image/tiff"]);
  const again = await complete(UploadId, [first, small[1] ?? first]);
  assert.equal(again.ETag, done.ETag, "who did not hear of it asks again");
  await put(Bucket, Key, "after");
  await fails(complete(UploadId, [first]), "NoSuchUpload", 404);
  const aborted = await start();
  await part(aborted, 1, five.subarray(0, 10));
  await client.send(new s3.AbortMultipartUploadCommand({ Bucket, Key, UploadId: aborted }));
  await fails(client.send(new s3.AbortMultipartUploadCommand({ Bucket, Key, UploadId: aborted })), "NoSuchUpload", 404);
  const open = await start();
  await fails(client.send(new s3.DeleteBucketCommand({ Bucket })), "BucketNotEmpty", 409);
  const { Uploads } = await client.send(new s3.ListMultipartUploadsCommand({ Bucket, Prefix: "k" }));
  assert.deepEqual(
    Uploads?.map((each) => each.UploadId),
    [open],
  );
});

test("versions: suspension, null versions, markers, removal of the newest brings back the one before", async () => {
  const Bucket = await newBucket();
  const setVersioning = (Status: "Enabled" | "Suspended") =>
    client.send(new s3.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
  const remove = (VersionId?: string) => client.send(new s3.DeleteObjectCommand({ Bucket, Key: "k", VersionId }));
  await put(Bucket, "k", "unversioned");
  await setVersioning("Enabled");
  const one = await put(Bucket, "k", "one");
  assert.equal(await read(Bucket, "k", { VersionId: "null" }), "unversioned");
  await setVersioning("Suspended");
  const none = await put(Bucket, "k", "suspended");
  assert.equal(none.VersionId, undefined, "what is overwritten has no name");
  const versions = async () =>
    ((await client.send(new s3.ListObjectVersionsCommand({ Bucket }))).Versions ?? []).map(
      ({ VersionId }) => VersionId,
    );
  assert.deepEqual(await versions(), ["null", one.VersionId], "the null version was replaced");
  const marker = await remove();
  assert.deepEqual([marker.DeleteMarker, marker.VersionId], [true, "null"]);
  await fails(read(Bucket, "k"), "NoSuchKey", 404);
  await remove("null");
  assert.equal(await read(Bucket, "k"), "one", "without its marker the key is back");
  await fails(read(Bucket, "k", { VersionId: "no-such-version" }), "NoSuchVersion", 404);
  await setVersioning("Enabled");
  const second = await remove();
  await fails(client.send(new s3.HeadObjectCommand({ Bucket, Key: "k", VersionId: second.VersionId })), undefined, 405);
  const { Deleted } = await client.send(
    new s3.DeleteObjectsCommand({
      Bucket,
      Delete: { Objects: [{ Key: "k", VersionId: second.VersionId }, { Key: "x" }] },
    }),
  );
  assert.deepEqual(Deleted?.map(({ DeleteMarker, Key }) => [Key, DeleteMarker]).sort(), [
    ["k", true],
    ["x", true],
  ]);
  assert.equal(await read(Bucket, "k"), "one");
  await Promise.all(Array.from({ length: 10 }, (_, n) => put(Bucket, "many", `v${n}`)));
  const page = await client.send(new s3.ListObjectVersionsCommand({ Bucket, Prefix: "many" }));
  assert.equal(new Set(page.Versions?.map(({ VersionId }) => VersionId)).size, 10);
  assert.equal(page.Versions?.filter(({ IsLatest }) => IsLatest).length, 1);
});

test("deleting many: absent keys count as deleted, quiet is quiet, more than a thousand are refused", async () => {
  const Bucket = await newBucket();
  await put(Bucket, "a");
  const send = (count: number, Quiet: boolean) => {
    const Objects = Array.from({ length: count }, (_, n) => ({ Key: n === 0 ? "a" : `absent-${n}` }));
    return client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet } }));
  };
  await fails(send(1001, false), "MalformedXML", 400);
  assert.equal((await send(1000, false)).Deleted?.length, 1000);
  assert.equal((await send(1000, true)).Deleted, undefined);
  await fails(read(Bucket, "a"), "NoSuchKey", 404);
  await client.send(new s3.DeleteObjectCommand({ Bucket, Key: "absent" }));
});

test("a browser is told what pages of other origins may send, names of fields in lower case", async () => {
  const Bucket = await newBucket();
  const CORSRules = [{ AllowedOrigins: ["https://a.example"], AllowedMethods: ["PUT"], AllowedHeaders: ["X-Amz-*"] }];
  await client.send(new s3.PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }));
  const ask = (fields: string, origin = "https://a.example") =>
    fetch(`${store.url}/${Bucket}/k`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "PUT", "access-control-request-headers": fields },
    });
  const allowed = await ask("X-Amz-Meta-Of, x-amz-date");
  assert.equal(allowed.status, 200);
  assert.equal(allowed.headers.get("access-control-allow-headers"), "x-amz-meta-of, x-amz-date");
  assert.deepEqual([(await ask("range")).status, (await ask("x-amz-date", "https://b.example")).status], [403, 403]);
});

test("buckets: names, existence, location", async () => {
  for (const name of [
    "ab",
    "UPPER",
    "-a",
    "a-",
    "a..b",
    "a.-b",
    "192.168.1.1",
    "under_score",
    "x".repeat(64),
    "xn--a",
  ]) {
    await fails(client.send(new s3.CreateBucketCommand({ Bucket: name })), "InvalidBucketName", 400);
  }
  const Bucket = await newBucket();
  await client.send(new s3.CreateBucketCommand({ Bucket }));
  await fails(client.send(new s3.HeadBucketCommand({ Bucket: "absent-bucket" })), "NotFound", 404);
  await fails(put("absent-bucket", "k"), "NoSuchBucket", 404);
  const located = await client.send(new s3.HeadBucketCommand({ Bucket }));
  assert.equal(located.BucketRegion, "us-east-1");
  await put(Bucket, "k");
  await fails(client.send(new s3.DeleteBucketCommand({ Bucket })), "BucketNotEmpty", 409);
  await client.send(new s3.DeleteObjectCommand({ Bucket, Key: "k" }));
  await client.send(new s3.DeleteBucketCommand({ Bucket }));
  await fails(client.send(new s3.DeleteBucketCommand({ Bucket })), "NoSuchBucket", 404);
});
