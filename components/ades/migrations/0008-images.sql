-- Digests of images of the platform's registry, by the names that the package has for them: what was deployed stays what runs.
alter table process add column images jsonb not null default '{}';
