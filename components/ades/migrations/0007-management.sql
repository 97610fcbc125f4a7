-- Jobs that are made and not started yet (OGC API Processes Part 4).
alter table job drop constraint job_status_check;
alter table job add constraint job_status_check
  check (status in ('created', 'accepted', 'running', 'successful', 'failed', 'dismissed'));

-- What steps and jobs used, as far as it was seen.
alter table job_step add cpu_seconds real, add peak_memory_bytes bigint, add wall_seconds real;
alter table job add bytes_in bigint, add bytes_out bigint;

-- Nobody is told of a job that is made or started: the kinds of news are those of its course and its end.
drop trigger job_queues_deliveries on job;
create trigger job_queues_deliveries after update of status on job for each row
  when (old.status is distinct from new.status and new.status not in ('created', 'accepted')) execute function queue_deliveries();
