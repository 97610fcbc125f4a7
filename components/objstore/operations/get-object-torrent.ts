import { S3Error } from "../errors.ts";
import { type Operation, keyOf } from "./operation.ts";

/** No object has a torrent here: there is nobody to share it with. */
export const getObjectTorrent: Operation = {
  name: "GetObjectTorrent",
  action: "s3:GetObjectTorrent",
  handle: (context) => {
    throw new S3Error("NoSuchKey", "Objects of this store have no torrents.", { details: { Key: keyOf(context) } });
  },
};
