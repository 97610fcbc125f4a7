-- Passwords that a user had before, so that they are not taken again.
create table password_history (
  id bigint generated always as identity primary key,
  user_id uuid not null references app_user on delete cascade,
  password_hash text not null
);
create index password_history_user on password_history (user_id, id desc);
insert into password_history (user_id, password_hash) select user_id, password_hash from credential;
