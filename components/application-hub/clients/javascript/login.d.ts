export type Login = {
    platform: string;
    issuer: string;
    client?: string;
    user: string;
    refreshToken: string;
    accessToken: string;
    accessTokenEnds: number;
};
export type LoginFile = {
    current?: string;
    logins: Login[];
};
/** The identity service refused; `reason` is its error code. */
export declare class LoginError extends Error {
    reason: string;
    /** @param {string} reason @param {string} [description] */
    constructor(reason: string, description?: string);
}
/**
 * @param {string | undefined} platform @param {{ issuer?: string, say?: (text: string) => void }} options
 * @returns {Promise<{ user: string, services: Record<string, string>, token: () => Promise<string> }>}
 */
export declare function logIn(platform: string | undefined, { issuer, say }: {
    issuer?: string;
    say?: (text: string) => void;
}): Promise<{
    user: string;
    services: Record<string, string>;
    token: () => Promise<string>;
}>;
