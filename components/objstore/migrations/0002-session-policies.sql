-- What a session asked to be narrowed to when it was made (STS parameter Policy); null: nothing.
alter table access_keys add column session_policy text;
