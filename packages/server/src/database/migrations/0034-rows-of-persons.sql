-- The hash by which an erased person is known again, as `digestOf` of the service makes it.
create function person_digest(salt uuid, kind text, identifier text) returns text
  language sql immutable strict parallel safe
  return left(
    translate(
      encode(sha256(
        convert_to(salt::text, 'UTF8') || '\x00'::bytea || convert_to(kind, 'UTF8') || '\x00'::bytea
          || convert_to(identifier, 'UTF8')), 'base64'),
      '+/', '-_'),
    22);
