-- How many contents, parts and labels are made of a file: one, unless a restored snapshot shares it.
alter table files add column refs integer not null default 1;
