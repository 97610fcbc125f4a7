-- Bytes of the files that steps were given and left.
alter table job_step add bytes_in bigint, add bytes_out bigint;
