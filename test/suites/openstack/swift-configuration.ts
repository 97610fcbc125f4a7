import { join } from "node:path";

export const SERVERS = ["account", "container", "object"] as const;

/** Configuration of one of Swift's storage servers, with one device in a folder. */
export function toServerConfiguration(server: (typeof SERVERS)[number], port: number, folder: string): string {
  return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = root
swift_dir = ${folder}
devices = ${join(folder, "devices")}
mount_check = false
[pipeline:main]
pipeline = ${server}-server
[app:${server}-server]
use = egg:swift#${server}
`;
}

interface ProxyOptions {
  readonly port: number;
  readonly folder: string;
  readonly identityUrl: string;
  readonly password: string;
}

/**
 * Configuration of Swift's proxy: tokens and EC2 credentials of Keystone, its own S3, large objects. Its S3 wants a cache to be named; nobody
 * listens at this one, so each request is looked up at Keystone.
 */
export function toProxyConfiguration({ port, folder, identityUrl, password }: ProxyOptions): string {
  const account = `auth_url = ${identityUrl}
auth_type = password
username = swift
password = ${password}
project_name = service
user_domain_id = default
project_domain_id = default
`;
  const simple = ["catch_errors", "gatekeeper", "healthcheck", "bulk", "copy", "slo", "dlo"];
  return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = root
swift_dir = ${folder}
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache bulk authtoken s3api s3token keystoneauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
${simple.map((name) => `[filter:${name}]\nuse = egg:swift#${name}\n`).join("")}[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:s3token]
use = egg:swift#s3token
auth_uri = ${identityUrl}
http_timeout = 60
${account}[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
www_authenticate_uri = ${identityUrl}
delay_auth_decision = true
${account}[filter:keystoneauth]
use = egg:swift#keystoneauth
operator_roles = admin, member
`;
}
