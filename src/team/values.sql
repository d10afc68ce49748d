-- Version 7: the values of shared reports as hashes, by which colleagues see how common one is. File and
-- sandbox are hashes too. Every report has the hash 1, one that is cut short the hash 0. Version 6 counted more slowly.
DROP TABLE IF EXISTS behaview.report, behaview.value;
DROP FUNCTION IF EXISTS behaview.count_values, behaview.holders;
CREATE TABLE behaview.report (
    response bigint PRIMARY KEY REFERENCES behaview.response ON DELETE CASCADE, file bigint NOT NULL,
    sandbox bigint NOT NULL CHECK (sandbox <> 0),
    hashes bigint[] NOT NULL CHECK (cardinality(hashes) <= 10002 AND 1 = ANY (hashes))
);
CREATE INDEX ON behaview.report (file);
CREATE INDEX ON behaview.report USING gin (hashes) WITH (fastupdate = off);
-- How many files have a value in a sandbox; 0 in place of a sandbox is any.
CREATE TABLE behaview.value (hash bigint, sandbox bigint, files bigint NOT NULL, PRIMARY KEY (hash, sandbox));
-- The number of files, whose row is never removed: the trigger locks it, which no role may.
INSERT INTO behaview.value VALUES (1, 0, 0);

CREATE FUNCTION behaview.count_values() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET jit = off AS $$
DECLARE
    changed behaview.report;
    further bigint := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    IF TG_OP = 'INSERT' THEN
        changed := NEW;
        PERFORM set_config('lock_timeout', '2s', true);
    ELSE
        changed := OLD;
    END IF;
    -- Who adds or removes another report waits here, so that no file is counted twice. Who removes one has locked
    -- its response before.
    PERFORM FROM behaview.response r WHERE r.id = changed.response FOR KEY SHARE;
    PERFORM FROM behaview.value v WHERE v.hash = 1 AND v.sandbox = 0 FOR UPDATE;
    -- Of a file that is fetched again and again, the first reports are enough.
    IF TG_OP = 'INSERT' AND (EXISTS (SELECT FROM behaview.report r WHERE r.response = NEW.response)
        OR (SELECT count(*) FROM behaview.report r WHERE r.file = NEW.file) >= 50) THEN RETURN NULL; END IF;
    WITH own AS (SELECT unnest(changed.hashes) AS hash),
        other AS (SELECT unnest(r.hashes) AS hash, r.sandbox FROM behaview.report r
            WHERE r.file = changed.file AND r.response <> changed.response)
    INSERT INTO behaview.value AS v
        SELECT hash, 0, further FROM (SELECT hash FROM own EXCEPT SELECT hash FROM other) AS of_file
        UNION ALL SELECT hash, changed.sandbox, further FROM
            (SELECT hash FROM own EXCEPT SELECT hash FROM other WHERE sandbox = changed.sandbox) AS of_sandbox
        ON CONFLICT (hash, sandbox) DO UPDATE SET files = v.files + excluded.files;
    IF TG_OP = 'DELETE' THEN
        DELETE FROM behaview.value v WHERE v.hash = ANY (changed.hashes) AND v.files <= 0 AND (v.hash, v.sandbox) <> (1, 0);
    END IF;
    RETURN changed;
END $$;
-- Before: then it sees what the same statement has done to other rows.
CREATE TRIGGER count BEFORE INSERT OR DELETE ON behaview.report FOR EACH ROW EXECUTE FUNCTION behaview.count_values();

-- The reports that have a value; none of one that more than `most` files have. To compile the plan, or to start
-- processes for it, takes longer than to carry it out.
CREATE FUNCTION behaview.holders(of_service text, of_hash bigint, most bigint)
RETURNS TABLE (key bytea, person text, received bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog SET jit = off SET max_parallel_workers_per_gather = 0 AS $$
#variable_conflict use_column
BEGIN
    IF EXISTS (SELECT FROM behaview.value v WHERE v.hash = of_hash AND v.sandbox = 0 AND v.files > most) THEN RETURN; END IF;
    RETURN QUERY SELECT r.key, r.person, r.received FROM behaview.report p JOIN behaview.response r ON r.id = p.response
        WHERE r.service = of_service AND p.hashes @> ARRAY[of_hash] AND octet_length(r.key) <= 1100
        ORDER BY r.received DESC LIMIT most;
END $$;

ALTER TABLE behaview.report ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON behaview.report FOR SELECT USING (true);
CREATE POLICY add ON behaview.report FOR INSERT WITH CHECK (EXISTS (
    SELECT FROM behaview.response r WHERE r.id = response AND r.person = session_user
));
REVOKE ALL ON FUNCTION behaview.count_values, behaview.holders FROM PUBLIC;
GRANT EXECUTE ON FUNCTION behaview.holders TO behaview_reader;
GRANT SELECT ON behaview.report, behaview.value TO behaview_reader;
GRANT INSERT (response, file, sandbox, hashes) ON behaview.report TO behaview_analyst;
INSERT INTO behaview.version (version, oldest_client) VALUES (7, 1);
