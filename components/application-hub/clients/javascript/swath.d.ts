/**
 * The platform's services for programs in JavaScript: search, read rasters as arrays, run processes. Needs nothing but `fetch`: Node.js 24
 * and every browser. Inside a server of the application hub, and in pages of its own sites in the browser, it knows where the platform is
 * and gets tokens by itself, again before they end. Elsewhere: `await login("https://eo.example.org")`, in Node.js, which logs you in with a
 * browser anywhere and remembers it, as the command swath login does; or `connect({ services: { … }, token: "…", user: "…" })`.
 *
 *     import * as swath from "/run/swath/javascript/swath.js"; // in a server of the hub; elsewhere from "swath-client"
 *     const [item] = await swath.search({ collections: ["sentinel-2"], limit: 1 });
 *     const red = await swath.open(item, "red", { maxSize: 256 });
 *     const job = await swath.run("ndvi", { scene: item });
 *     console.log((await job.wait()).status, await job.results());
 */
export type Environment = {
    user?: string;
    token?: string;
    expires?: string;
    services: Record<string, string>;
};
export type StorageKeys = import("./storage-request.js").StorageKeys;
export type Item = {
    id: string;
    collection?: string;
    links?: {
        rel: string;
        href: string;
    }[];
    assets: Record<string, {
        href: string;
    }>;
};
export type Band = Uint8Array | Int8Array | Uint16Array | Int16Array | Uint32Array | Int32Array | Float32Array | Float64Array;
/** A service refused; `status` and `detail` say why. */
export declare class SwathError extends Error {
    status: string | number;
    detail: string;
    /** @param {number | string} status @param {string} detail @param {string} url */
    constructor(status: number | string, detail: string, url: string);
}
/**
 * Uses these services instead of those of the environment.
 * @param {{ services: Record<string, string>, token?: string | (() => string | Promise<string>), user?: string }} options
 */
export declare function connect(options: {
    services: Record<string, string>;
    token?: string | (() => string | Promise<string>);
    user?: string;
}): void;
/** Who and where one is; asked again before the token ends. @returns {Promise<Environment>} */
export declare function environment(): Promise<Environment>;
/**
 * STAC items. `datetime` like "2020-01-01/2020-12-31", `filter` CQL2 text.
 * @param {{ collections?: string[], bbox?: number[], datetime?: string, query?: object, filter?: string, ids?: string[], limit?: number }} [options]
 * @returns {Promise<any[]>}
 */
export declare function search({ filter, limit, ...rest }?: {
    collections?: string[];
    bbox?: number[];
    datetime?: string;
    query?: object;
    filter?: string;
    ids?: string[];
    limit?: number;
}): Promise<any[]>;
/** Values of a raster, band by band: each band has width × height values, row by row from the top. */
export declare class Raster {
    bands: readonly Band[];
    width: number;
    height: number;
    /** @param {readonly Band[]} bands @param {number} width @param {number} height */
    constructor(bands: readonly Band[], width: number, height: number);
    /** Bands, rows, columns. */
    get shape(): number[];
}
/**
 * A raster as values, by data access: an item of `search` and the name of its asset, or an address (https://).
 * @param {Item | string} item
 * @param {string} [asset]
 * @param {{ bbox?: number[], maxSize?: number }} [options] `bbox` in degrees; `maxSize` pixels of the longer side
 */
export declare function open(item: Item | string, asset?: string, { bbox, maxSize }?: {
    bbox?: number[];
    maxSize?: number;
}): Promise<Raster>;
/** (nir - red) / (nir + red) as a raster of one band; 0 where both are 0. @param {Raster} red @param {Raster} nearInfrared */
export declare function ndvi(red: Raster, nearInfrared: Raster): Raster;
/** Ids and titles of the processes that one may run. @returns {Promise<{ id: string, title?: string }[]>} */
export declare function processes(): Promise<{
    id: string;
    title?: string;
}[]>;
/**
 * Starts a process; the job goes on by itself. Values, and { href } for files.
 * @param {string} process @param {Record<string, unknown>} [inputs]
 */
export declare function run(process: string, inputs?: Record<string, unknown>): Promise<Job>;
/** A job of the processing service. */
export declare class Job {
    id: string;
    /** @type {{ status?: string, message?: string, progress?: number }} */
    info: {
        status?: string;
        message?: string;
        progress?: number;
    };
    /** @param {string} id */
    constructor(id: string);
    get status(): string | undefined;
    /** Asks for its state; waits that many seconds for its end. @param {number} [seconds] */
    refresh(seconds?: number): Promise<this>;
    /** Until it has ended. @param {number} [timeoutMs] @throws {SwathError} where it failed */
    wait(timeoutMs?: number): Promise<this>;
    /** Its outputs by their names. @returns {Promise<Record<string, any>>} */
    results(): Promise<Record<string, any>>;
}
/** Files of a workspace, by S3 with its keys. */
export declare class Files {
    #private;
    /** @param {{ bucket?: string, keys?: StorageKeys }} [options] the bucket and keys of the user's own workspace where left out */
    constructor({ bucket, keys }?: {
        bucket?: string;
        keys?: StorageKeys;
    });
    /** Names of the files that begin so. @param {string} [prefix] @returns {Promise<string[]>} */
    list(prefix?: string): Promise<string[]>;
    /** @param {string} key @returns {Promise<Uint8Array>} */
    read(key: string): Promise<Uint8Array>;
    /** @param {string} key @param {string | Uint8Array} content @returns {Promise<void>} */
    write(key: string, content: string | Uint8Array): Promise<void>;
    /** @param {string} key @returns {Promise<void>} */
    delete(key: string): Promise<void>;
}
/**
 * Logs in to a platform (`https://eo.example.org`) and uses it from now on: with what an earlier login or the command swath login keeps, else
 * with a browser anywhere. In Node.js alone.
 * @param {string} [platform] the newest login where left out
 * @param {{ issuer?: string, say?: (text: string) => void }} [options] `say` gets the address to open
 * @returns {Promise<string>} the user's name
 */
export declare function login(platform?: string, options?: {
    issuer?: string;
    say?: (text: string) => void;
}): Promise<string>;
