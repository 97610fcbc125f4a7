-- Which journal the index belongs to, and the last batch of changes that is in it.
create table journal (
  one integer primary key check (one = 1),
  id text not null,
  batch integer not null
);
insert into journal (one, id, batch) values (1, '', 0);
