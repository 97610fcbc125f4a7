import { type LookupFunction, isIP } from "node:net";
import { lookup } from "node:dns";

/** The way to the platform's own hosts, as the machine's programs have it. */
export interface PlatformWay {
  readonly isPlatform: (host: string) => boolean;
  /** Resolves the platform's names; `*.localhost` is this machine (RFC 6761 §6.3), whatever the resolver says. */
  readonly lookup: LookupFunction;
  readonly port: number;
  readonly secure: boolean;
  /** File with an authority that platform's hosts are signed by beside those that Node.js knows, where there is one. */
  readonly authorityFile: string | undefined;
}

export function createPlatformWay(domain: string, publicUrl: string, authorityFile?: string): PlatformWay {
  const { protocol, port } = new URL(publicUrl);
  const own = domain.toLowerCase();
  return {
    authorityFile,
    secure: protocol === "https:",
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    isPlatform: (host) => host === own || host.endsWith(`.${own}`),
    lookup: (hostname, options, callback) => {
      if (hostname.endsWith(".localhost") && isIP(hostname) === 0) {
        if (options.all === true) {
          callback(null, [{ address: "127.0.0.1", family: 4 }]);
        } else {
          callback(null, "127.0.0.1", 4);
        }
        return;
      }
      lookup(hostname, options, callback as never);
    },
  };
}
