/** Kind, group and version of the resources that ask for buckets. */
export const BUCKET_VERSION = "v1alpha1";
const PLURAL = "buckets";

/** The definition that makes `kubectl get buckets` work. */
export function bucketDefinition(group: string): object {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${PLURAL}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: PLURAL, singular: "bucket", kind: "Bucket", listKind: "BucketList" },
      versions: [
        {
          name: BUCKET_VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: "Bucket", type: "string", jsonPath: ".spec.bucketName" },
            { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
            { name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
            { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
          ],
          schema: { openAPIV3Schema: SCHEMA },
        },
      ],
    },
  };
}

const NAME = { type: "string", minLength: 1, maxLength: 253, pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$" };

const SCHEMA = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      required: ["bucketName"],
      properties: {
        bucketName: {
          type: "string",
          minLength: 3,
          maxLength: 63,
          pattern: "^[a-z0-9][a-z0-9.-]*[a-z0-9]$",
          description: "Name of the bucket; it cannot be changed.",
        },
        secretName: { ...NAME, description: "Secret that the keys are put into." },
        secretNamespace: { ...NAME, maxLength: 63, description: "Its namespace; the resource's own when left out." },
        deletionPolicy: {
          type: "string",
          enum: ["Retain", "Delete"],
          default: "Retain",
          description: "What deletion does with the data. The keys are taken away in both cases.",
        },
      },
    },
    status: {
      type: "object",
      properties: {
        observedGeneration: { type: "integer" },
        conditions: {
          type: "array",
          items: {
            type: "object",
            required: ["type", "status", "lastTransitionTime", "reason", "message"],
            properties: {
              type: { type: "string" },
              status: { type: "string", enum: ["True", "False", "Unknown"] },
              observedGeneration: { type: "integer" },
              lastTransitionTime: { type: "string", format: "date-time" },
              reason: { type: "string" },
              message: { type: "string" },
            },
          },
        },
      },
    },
  },
};
