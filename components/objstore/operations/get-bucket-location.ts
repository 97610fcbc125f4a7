import { send } from "../protocol/request.ts";
import type { Operation } from "./operation.ts";

export const getBucketLocation: Operation = {
  name: "GetBucketLocation",
  action: "s3:GetBucketLocation",
  handle: ({ request, region }) => {
    // The region of old is written as nothing.
    const text = region === "us-east-1" ? "" : region;
    const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${text}</LocationConstraint>`;
    send(request, 200, xml, "application/xml");
  },
};
