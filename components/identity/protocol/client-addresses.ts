import { createAddressGuard } from "@swath/addresses";

import { requestGuarded } from "../guarded-request.ts";

/** Requests to addresses that clients gave: strangers may have registered them. */
export interface ClientAddresses {
  /** @throws {Error} for an address that must not be asked, and for one that does not answer in time */
  readonly send: (url: string, request?: ClientRequest) => Promise<ClientResponse>;
}

interface ClientRequest {
  /** Fields of a form, which make it a POST. */
  readonly form?: Readonly<Record<string, string>>;
}

interface ClientResponse {
  readonly status: number;
  readonly text: string;
}

interface ClientAddressesOptions {
  /** Hosts and networks that are not public and may be asked all the same. */
  readonly allowPrivate: readonly string[];
  readonly publicUrl: string;
  /** Domain of the deployment: its hosts may be asked wherever they are, by way of its ingress. */
  readonly domain: string;
}

const TIMEOUT_MS = 5000;

/** Redirects are not followed: they would lead to addresses that nobody registered. */
export function createClientAddresses({ allowPrivate, publicUrl, domain }: ClientAddressesOptions): ClientAddresses {
  const own = new URL(publicUrl);
  const guard = createAddressGuard({
    allowPrivate,
    refuse: (where, address) =>
      new Error(`${where} leads to ${address}, which is not public; CLIENT_ALLOW_PRIVATE can allow it`),
  });
  const isOwn = ({ protocol, hostname, port }: URL) =>
    protocol === own.protocol && port === own.port && hostname.endsWith(`.${domain.toLowerCase()}`);
  return {
    send: async (url, { form } = {}) => {
      const target = new URL(url);
      return requestGuarded(target, {
        guard: isOwn(target) ? undefined : guard,
        headers: {
          accept: "application/json",
          ...(form && { "content-type": "application/x-www-form-urlencoded" }),
        },
        body: form && new URLSearchParams(form).toString(),
        timeoutMs: TIMEOUT_MS,
      });
    },
  };
}
