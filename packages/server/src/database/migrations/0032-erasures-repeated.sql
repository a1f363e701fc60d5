-- After a restore a person is erased again of whom the hashes of the identifiers alone are known.
alter table person_erasures
  add column digests text[],
  drop constraint person_erasures_check,
  add check ((finished_at is null) = (sealed_reference is not null or digests is not null));
