-- Version 1. Roles belong to the whole server, so another database may have made them already.
DO $$ DECLARE role text; BEGIN
    FOREACH role IN ARRAY ARRAY['behaview_reader', 'behaview_analyst', 'behaview_lead'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
            BEGIN EXECUTE format('CREATE ROLE %I', role);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END;
        END IF;
    END LOOP;
END $$;
GRANT behaview_reader TO behaview_analyst;
GRANT behaview_analyst TO behaview_lead;

CREATE SCHEMA behaview;
-- A program refuses a schema whose oldest_client is above its own version; it uses any other, however new.
CREATE TABLE behaview.version (
    version integer NOT NULL, oldest_client integer NOT NULL, made timestamptz NOT NULL DEFAULT now()
);
-- Rows are only added. The key is the question's; the bytes are compressed, digest and length are of the original.
CREATE TABLE behaview.response (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, service text NOT NULL, key bytea NOT NULL,
    received bigint NOT NULL, digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    length bigint NOT NULL CHECK (length >= 0), packed bytea NOT NULL,
    person text NOT NULL DEFAULT session_user, pushed timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE behaview.response ALTER packed SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX ON behaview.response (service, sha256(key), received, digest);
-- One row for each question that is in flight; one that is not renewed may be taken by others.
CREATE TABLE behaview.claim (
    service text NOT NULL, key bytea NOT NULL, token text NOT NULL, person text NOT NULL DEFAULT session_user,
    renewed timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (service, key)
);
CREATE FUNCTION behaview.stamp() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$ BEGIN
    NEW.person := session_user;
    NEW.renewed := clock_timestamp();
    RETURN NEW;
END $$;
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON behaview.claim FOR EACH ROW EXECUTE FUNCTION behaview.stamp();

ALTER TABLE behaview.response ENABLE ROW LEVEL SECURITY;
ALTER TABLE behaview.claim ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON behaview.response FOR SELECT USING (true);
CREATE POLICY add ON behaview.response FOR INSERT WITH CHECK (
    person = session_user AND received < (extract(epoch FROM now()) + 86400) * 1000
);
CREATE POLICY read ON behaview.claim FOR SELECT USING (true);
CREATE POLICY add ON behaview.claim FOR INSERT WITH CHECK (person = session_user);
CREATE POLICY renew ON behaview.claim FOR UPDATE
    USING (person = session_user OR renewed < now() - interval '15 seconds') WITH CHECK (person = session_user);
CREATE POLICY release ON behaview.claim FOR DELETE USING (person = session_user);

-- A person cannot be named: the columns that may be written are listed.
GRANT USAGE ON SCHEMA behaview TO behaview_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA behaview TO behaview_reader;
GRANT INSERT (service, key, received, digest, length, packed) ON behaview.response TO behaview_analyst;
GRANT INSERT (service, key, token), UPDATE (token), DELETE ON behaview.claim TO behaview_analyst;
INSERT INTO behaview.version (version, oldest_client) VALUES (1, 1);
