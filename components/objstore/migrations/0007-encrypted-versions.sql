-- Encrypted versions are found at once when the deployment's key changes.
create index versions_encrypted on versions (bucket, key, seq) where encryption is not null;
