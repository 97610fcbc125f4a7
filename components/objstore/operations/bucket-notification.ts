import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { parseNotification } from "../protocol/notification.ts";
import { send } from "../protocol/request.ts";
import { type Operation, bucketOf } from "./operation.ts";

const EMPTY = '<NotificationConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>';

export const getBucketNotificationConfiguration: Operation = {
  name: "GetBucketNotificationConfiguration",
  action: "s3:GetBucketNotification",
  handle: (context) => send(context.request, 200, bucketOf(context).notification ?? EMPTY, "application/xml"),
};

/** PutBucketNotificationConfiguration: destinations are webhooks that the deployment knows; each is sent a test event. */
export const putBucketNotificationConfiguration: Operation = {
  name: "PutBucketNotificationConfiguration",
  action: "s3:PutBucketNotification",
  handle: async (context) => {
    const { store, request, eventTargets } = context;
    const text = (await readDocument(request, 64 << 10)).toString();
    const rules = parseNotification(text);
    const unknown = rules.find(({ target }) => !eventTargets.has(target));
    if (unknown !== undefined) {
      throw new S3Error(
        "InvalidArgument",
        `Unable to validate the following destination configurations: this deployment has no webhook named ${unknown.target}; OBJSTORE_EVENT_TARGETS names them.`,
      );
    }
    const { name } = bucketOf(context);
    await store.buckets.set(name, "notification", rules.length === 0 ? null : text);
    await store.index.mutate(() => {
      const bucket = store.buckets.get(name);
      for (const target of new Set(rules.map((rule) => rule.target))) {
        store.events.recordTest(bucket, target, request.requestId);
      }
    });
    send(request, 200);
  },
};
