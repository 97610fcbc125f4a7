export { type RelayedRequest, forward } from "./forward.ts";
export { type ForwardProxyOptions, createForwardProxy } from "./forward-proxy.ts";
export { FROM_INGRESS, HOP_BY_HOP, connectionNames, returnedHeaders } from "./hop-by-hop.ts";
export { SocketAgent } from "./socket-agent.ts";
export { openTunnel } from "./tunnel.ts";
export { type Upstream, type Upstreams, createUpstreams } from "./upstream.ts";
