/** Requests to an S3 storage, with what every JavaScript has. */
export type StorageKeys = {
    endpoint: string;
    region: string;
    accessKey: string;
    secretKey: string;
    sessionToken?: string;
    via?: string;
};
/** @typedef {{ endpoint: string, region: string, accessKey: string, secretKey: string, sessionToken?: string, via?: string }} StorageKeys `via`: where requests go, where that is not the endpoint they are signed for */
/**
 * A request with AWS Signature Version 4.
 * @param {StorageKeys} keys
 * @param {{ method: string, bucket: string, key: string, query?: Record<string, string>, body?: Uint8Array }} request
 * @returns {Promise<Response>}
 */
export declare function sendToStorage(keys: StorageKeys, { method, bucket, key, query, body }: {
    method: string;
    bucket: string;
    key: string;
    query?: Record<string, string>;
    body?: Uint8Array;
}): Promise<Response>;
