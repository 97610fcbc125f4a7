import { CLOUD_PLACEHOLDER } from "@swath/manifest";

import { derived, fixed, type VariableGroup } from "../define.ts";
import { secret, text, url } from "../value-types.ts";

const identifier = text({ pattern: /^[\w.:-]{1,128}$/, allowed: "an identifier: letters, digits and . _ : -" });

/** The infrastructure cloud that the bucket operator makes buckets in. */
export const cloudVariables = {
  CLOUD_IDENTITY_URL: {
    type: url(["https", "http"]),
    variants: ["B"],
    fallback: fixed("https://cf2.cloudferro.com:5000/v3"),
    meaning:
      "Identity service (Keystone v3) of the cloud. The default is what the bucket operator of the earlier release line knew alone.",
    aliases: ["OS_AUTH_URL"],
  },
  CLOUD_S3_URL: {
    type: url(["https", "http"]),
    variants: ["B"],
    fallback: derived(
      "the host of CLOUD_IDENTITY_URL with port 8080",
      ({ get }) =>
        `${new URL(get("CLOUD_IDENTITY_URL")).protocol}//${new URL(get("CLOUD_IDENTITY_URL")).hostname}:8080`,
    ),
    meaning: "S3 of the cloud, which the buckets are used by.",
  },
  CLOUD_DOMAINNAME: {
    type: text(),
    variants: ["B"],
    fallback: fixed(CLOUD_PLACEHOLDER),
    meaning: "Cloud domain of the administrator's account. The default is a placeholder.",
    aliases: ["OS_DOMAINNAME", "OPENSTACK_DOMAINNAME"],
  },
  CLOUD_USERNAME: {
    type: text(),
    variants: ["B"],
    fallback: fixed("user@cloud.com"),
    meaning: "Cloud administrator's name. The default is a placeholder.",
    aliases: ["OS_USERNAME", "OPENSTACK_USERNAME"],
  },
  CLOUD_PASSWORD: {
    type: secret(),
    variants: ["B"],
    fallback: fixed(undefined),
    meaning: "Cloud administrator's password.",
    aliases: ["OS_PASSWORD", "OPENSTACK_PASSWORD"],
  },
  CLOUD_MEMBERROLEID: {
    type: identifier,
    variants: ["B"],
    fallback: fixed(undefined),
    meaning: "ID of the role for operations users, for example the member role.",
    aliases: ["OS_MEMBERROLEID", "OPENSTACK_MEMBERROLEID"],
  },
  CLOUD_SERVICEPROJECTID: {
    type: identifier,
    variants: ["B"],
    fallback: fixed(undefined),
    meaning: "ID of the project that holds the identity which writes into the buckets of users.",
    aliases: ["OS_SERVICEPROJECTID", "OPENSTACK_SERVICEPROJECTID"],
  },
  USER_EMAIL_PATTERN: {
    type: text({
      pattern: /^[^@\s]*<name>[^@\s]*@[^@\s]+$/,
      allowed: "an e-mail address with <name> in front of the @",
    }),
    variants: ["B"],
    fallback: fixed("swath+<name>@platform.com"),
    meaning: "E-mail address of each user made in the cloud; <name> becomes the user's name.",
  },
} satisfies VariableGroup;
