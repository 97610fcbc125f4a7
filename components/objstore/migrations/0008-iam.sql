-- What the IAM API knows of users: a lasting id, a path, inline policies (JSON, name to document) and attached ones (JSON list of ARNs).
alter table users add column id text;
alter table users add column path text not null default '/';
alter table users add column policies text;
alter table users add column attached text;
update users set id = 'AIDA' || hex(randomblob(8));
create index users_lower on users (lower(name));
create index users_account on users (account, lower(name));
