import { send } from "../protocol/request.ts";
import type { Operation } from "./operation.ts";

export const headBucket: Operation = {
  name: "HeadBucket",
  action: "s3:ListBucket",
  handle: ({ request, region }) => {
    request.response.setHeader("x-amz-bucket-region", region);
    send(request, 200, "", "application/xml");
  },
};
