-- Version 2: what each person's calls cost, without what they were about.
CREATE TABLE behaview.call (
    person text NOT NULL DEFAULT session_user, machine text NOT NULL, number bigint NOT NULL,
    at bigint NOT NULL, service text NOT NULL, operation text NOT NULL, unit text NOT NULL,
    charged bigint NOT NULL, saved bigint NOT NULL, PRIMARY KEY (person, machine, number)
);
ALTER TABLE behaview.call ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON behaview.call FOR SELECT
    USING (person = session_user OR pg_has_role(session_user, 'behaview_lead', 'MEMBER'));
CREATE POLICY add ON behaview.call FOR INSERT WITH CHECK (person = session_user);
CREATE POLICY settle ON behaview.call FOR UPDATE USING (person = session_user) WITH CHECK (person = session_user);
GRANT SELECT, INSERT (machine, number, at, service, operation, unit, charged, saved), UPDATE (charged, saved)
    ON behaview.call TO behaview_analyst;
INSERT INTO behaview.version (version, oldest_client) VALUES (2, 1);
