-- How many events wait for each target: asked for after each batch of changes, so it is not counted anew.
create table event_targets (
  target text primary key,
  waiting integer not null
) without rowid;
insert into event_targets select target, count(*) from events group by target;
create trigger events_added after insert on events begin
  insert into event_targets values (new.target, 1) on conflict (target) do update set waiting = waiting + 1;
end;
create trigger events_removed after delete on events begin
  update event_targets set waiting = waiting - 1 where target = old.target;
end;
create index events_created on events (created);
