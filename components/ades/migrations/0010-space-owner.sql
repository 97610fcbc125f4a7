-- Spaces are named after users, and names can pass from one person to another: the subject whose space it is.
create table space (
  name text primary key,
  subject text not null,
  claimed_at timestamptz not null default now()
);
