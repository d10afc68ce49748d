-- Version 4: notes on reports and their rows. Rows are only added: the last one of a person's machine counts, and
-- one without text deletes what it said before.
CREATE TABLE behaview.note (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, service text NOT NULL, machine text NOT NULL, number bigint NOT NULL,
    identifier bytea NOT NULL CHECK (octet_length(identifier) <= 1024), attribute bytea CHECK (octet_length(attribute) <= 1024),
    item bytea CHECK (octet_length(item) <= 4096), file text CHECK (octet_length(file) <= 64),
    text bytea NOT NULL CHECK (octet_length(text) <= 4096),
    person text NOT NULL DEFAULT session_user, pushed timestamptz NOT NULL DEFAULT now(), UNIQUE (person, machine, number),
    CHECK ((attribute IS NULL) = (item IS NULL) AND octet_length(service || machine) <= 256)
);
CREATE INDEX ON behaview.note (service, sha256(identifier));
ALTER TABLE behaview.note ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON behaview.note FOR SELECT USING (true);
CREATE POLICY add ON behaview.note FOR INSERT WITH CHECK (person = session_user);
GRANT SELECT ON behaview.note TO behaview_reader;
GRANT INSERT (service, machine, number, identifier, attribute, item, file, text) ON behaview.note TO behaview_analyst;
-- Who leads may remove what is too old or too much.
CREATE POLICY remove ON behaview.response FOR DELETE USING (pg_has_role(session_user, 'behaview_lead', 'MEMBER'));
GRANT DELETE ON behaview.response TO behaview_lead;
INSERT INTO behaview.version (version, oldest_client) VALUES (4, 1);
