/** On a Secret that the operator writes: the bucket whose keys it holds. */
export const BUCKET_LABEL = "swath.io/bucket";
