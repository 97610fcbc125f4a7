/**
 * `fetch`, whose error says which address did not answer, and why.
 * @param {string} url @param {RequestInit} [init]
 */
export declare function reach(url: string, init?: RequestInit): Promise<Response>;
